/* NVIDIA workstation cards: RTX A, Ada, PRO (Blackwell) and Quadro. Figures are dense, never with
 * sparsity; each says where it was read; a family keeps what all its variants share. */
#include "server/reference/gpu_table.h"

/* clang-format off */
static const char *const aliases_rtx_a4000[] = {"A4000", NULL};
static const char *const aliases_rtx_a5000[] = {"A5000", NULL};
static const char *const aliases_rtx_a6000[] = {"A6000", "Quadro RTX A6000", NULL};
static const char *const aliases_rtx_4000_ada[] = {"RTX 4000 Ada Generation", NULL};
static const char *const aliases_rtx_5000_ada[] = {"RTX 5000 Ada Generation", NULL};
static const char *const aliases_rtx_6000_ada[] = {"RTX 6000 Ada Generation", "6000Ada", NULL};
static const char *const aliases_rtx_pro_6000_workstation[] = {
    "RTX PRO 6000 Blackwell Workstation Edition", "RTX PRO 6000 WS", NULL};
static const char *const aliases_rtx_pro_6000_maxq[] = {
    "RTX PRO 6000 Blackwell Max-Q Workstation Edition", NULL};
static const char *const aliases_rtx_pro_6000_server[] = {
    "RTX PRO 6000 Blackwell Server Edition", "RTX PRO 6000 SE", NULL};
static const char *const aliases_quadro_rtx_8000[] = {"RTX 8000", NULL};
static const char *const aliases_rtx_pro_6000[] = {"RTX PRO 6000 Blackwell", NULL};

/* slug, family, vendor, name, is_family, form factor,
 * VRAM, bandwidth, BF16, FP8 (thousandths), TDP, NVLink (thousandths), year,
 * where each of these seven was read, aliases */
const struct gpu gpu_table_workstation[] = {
    {"rtx-a2000-6gb", "rtx-a2000", "nvidia", "NVIDIA RTX A2000 6 GB",
     false, FORM_PCIE, 6000, 288000, 31900, -1, 70, -1, 2021,
     {DATASHEET, DATASHEET, DATASHEET, NULL, DATASHEET, NULL, DATASHEET}, NULL},
    {"rtx-a2000-12gb", "rtx-a2000", "nvidia", "NVIDIA RTX A2000 12 GB",
     false, FORM_PCIE, 12000, 288000, 31900, -1, 70, -1, 2021,
     {DATASHEET, DATASHEET, DATASHEET, NULL, DATASHEET, NULL, DATASHEET}, NULL},
    {"rtx-a4500", "rtx-a4500", "nvidia", "NVIDIA RTX A4500",
     false, FORM_PCIE, 20000, 640000, 94600, -1, 200, 112500, 2021,
     {COMPILATION, COMPILATION, DATASHEET, NULL, COMPILATION, DATASHEET, COMPILATION}, NULL},
    {"rtx-a5500", "rtx-a5500", "nvidia", "NVIDIA RTX A5500",
     false, FORM_PCIE, 24000, 768000, 136400, -1, 230, 112500, 2022,
     {DATASHEET, DATASHEET, DATASHEET, NULL, DATASHEET, DATASHEET, DATASHEET}, NULL},
    {"rtx-a4000", "rtx-a4000", "nvidia", "NVIDIA RTX A4000",
     false, FORM_PCIE, 16000, 448000, 76700, -1, 140, -1, 2021,
     {EPOCH, EPOCH, DATASHEET, NULL, EPOCH, NULL, EPOCH}, aliases_rtx_a4000},
    {"rtx-a5000", "rtx-a5000", "nvidia", "NVIDIA RTX A5000",
     false, FORM_PCIE, 24000, 768000, 111000, -1, 230, 112500, 2021,
     {EPOCH, EPOCH, DUMA, NULL, EPOCH, DATASHEET, EPOCH}, aliases_rtx_a5000},
    {"rtx-a6000", "rtx-a6000", "nvidia", "NVIDIA RTX A6000",
     false, FORM_PCIE, 48000, 768000, 154800, -1, 300, 112500, 2020,
     {EPOCH, EPOCH, DATASHEET, NULL, EPOCH, DATASHEET, EPOCH}, aliases_rtx_a6000},
    {"rtx-2000-ada", "rtx-2000-ada", "nvidia", "NVIDIA RTX 2000 Ada",
     false, FORM_PCIE, 16000, 224000, 48000, 96000, 70, -1, 2024,
     {DATASHEET, DATASHEET, DATASHEET, DATASHEET, DATASHEET, NULL, DATASHEET}, NULL},
    {"rtx-4000-ada", "rtx-4000-ada", "nvidia", "NVIDIA RTX 4000 Ada",
     false, FORM_PCIE, 20000, 360000, -1, -1, 130, -1, 2023,
     {COMPILATION, COMPILATION, NULL, NULL, COMPILATION, NULL, COMPILATION}, aliases_rtx_4000_ada},
    {"rtx-4000-sff-ada", "rtx-4000-sff-ada", "nvidia", "NVIDIA RTX 4000 SFF Ada",
     false, FORM_PCIE, 20000, 280000, 76700, 153400, 70, -1, 2023,
     {DATASHEET, DATASHEET, DATASHEET, DATASHEET, DATASHEET, NULL, DATASHEET}, NULL},
    {"rtx-4500-ada", "rtx-4500-ada", "nvidia", "NVIDIA RTX 4500 Ada",
     false, FORM_PCIE, 24000, 432000, 158500, 317000, 210, -1, 2023,
     {DATASHEET, DATASHEET, DATASHEET, DATASHEET, DATASHEET, NULL, DATASHEET}, NULL},
    {"rtx-5000-ada", "rtx-5000-ada", "nvidia", "NVIDIA RTX 5000 Ada",
     false, FORM_PCIE, 32000, 576000, 261100, 522200, 250, -1, 2023,
     {COMPILATION, COMPILATION, DATASHEET, DATASHEET, COMPILATION, NULL, COMPILATION},
     aliases_rtx_5000_ada},
    {"rtx-5880-ada", "rtx-5880-ada", "nvidia", "NVIDIA RTX 5880 Ada",
     false, FORM_PCIE, 48000, 960000, 277000, 554000, 285, -1, 2024,
     {DUMA, DUMA, DUMA, DUMA, DUMA, NULL, DATASHEET}, NULL},
    {"rtx-6000-ada", "rtx-6000-ada", "nvidia", "NVIDIA RTX 6000 Ada",
     false, FORM_PCIE, 48000, 960000, 364000, 728000, 300, -1, 2022,
     {COMPILATION, COMPILATION, DUMA, DUMA, COMPILATION, NULL, COMPILATION}, aliases_rtx_6000_ada},
    {"rtx-pro-2000", "rtx-pro-2000", "nvidia", "NVIDIA RTX PRO 2000 (Blackwell)",
     false, FORM_PCIE, 16000, 288000, -1, -1, 70, -1, 2025,
     {DATASHEET, DATASHEET, NULL, NULL, DATASHEET, NULL, DATASHEET}, NULL},
    {"rtx-pro-4000", "rtx-pro-4000", "nvidia", "NVIDIA RTX PRO 4000 (Blackwell)",
     false, FORM_PCIE, 24000, 672000, -1, -1, 140, -1, 2025,
     {DATASHEET, DATASHEET, NULL, NULL, DATASHEET, NULL, DATASHEET}, NULL},
    {"rtx-pro-4000-sff", "rtx-pro-4000-sff", "nvidia", "NVIDIA RTX PRO 4000 SFF (Blackwell)",
     false, FORM_PCIE, 24000, 432000, -1, -1, 70, -1, 2025,
     {DATASHEET, DATASHEET, NULL, NULL, DATASHEET, NULL, DATASHEET}, NULL},
    {"rtx-pro-4500", "rtx-pro-4500", "nvidia", "NVIDIA RTX PRO 4500 (Blackwell)",
     false, FORM_PCIE, 32000, 896000, -1, -1, 200, -1, 2025,
     {DATASHEET, DATASHEET, NULL, NULL, DATASHEET, NULL, DATASHEET}, NULL},
    {"rtx-pro-5000-48gb", "rtx-pro-5000", "nvidia", "NVIDIA RTX PRO 5000 48 GB (Blackwell)",
     false, FORM_PCIE, 48000, 1344000, -1, -1, 300, -1, 2025,
     {DATASHEET, DATASHEET, NULL, NULL, DATASHEET, NULL, DATASHEET}, NULL},
    {"rtx-pro-5000-72gb", "rtx-pro-5000", "nvidia", "NVIDIA RTX PRO 5000 72 GB (Blackwell)",
     false, FORM_PCIE, 72000, 1344000, -1, -1, 300, -1, 2025,
     {DATASHEET, DATASHEET, NULL, NULL, DATASHEET, NULL, DATASHEET}, NULL},
    {"rtx-pro-6000-workstation", "rtx-pro-6000", "nvidia",
     "NVIDIA RTX PRO 6000 Workstation (Blackwell)",
     false, FORM_PCIE, 96000, 1790000, 500000, 1000000, 600, -1, 2025,
     {COMPILATION, COMPILATION, DUMA, DUMA, COMPILATION, NULL, COMPILATION},
     aliases_rtx_pro_6000_workstation},
    {"rtx-pro-6000-maxq", "rtx-pro-6000", "nvidia", "NVIDIA RTX PRO 6000 Max-Q (Blackwell)",
     false, FORM_PCIE, 96000, 1792000, -1, -1, 300, -1, 2025,
     {DATASHEET, DATASHEET, NULL, NULL, DATASHEET, NULL, DATASHEET}, aliases_rtx_pro_6000_maxq},
    {"rtx-pro-6000-server", "rtx-pro-6000", "nvidia", "NVIDIA RTX PRO 6000 Server (Blackwell)",
     false, FORM_PCIE, 96000, 1790000, -1, -1, 600, -1, 2025,
     {COMPILATION, COMPILATION, NULL, NULL, COMPILATION, NULL, COMPILATION},
     aliases_rtx_pro_6000_server},
    {"quadro-rtx-4000", "quadro-rtx-4000", "nvidia", "NVIDIA Quadro RTX 4000",
     false, FORM_PCIE, 8000, 416000, 57000, -1, 160, -1, 2018,
     {DATASHEET, DATASHEET, DATASHEET, NULL, DATASHEET, NULL, DATASHEET}, NULL},
    {"quadro-rtx-5000", "quadro-rtx-5000", "nvidia", "NVIDIA Quadro RTX 5000",
     false, FORM_PCIE, 16000, 448000, 89200, -1, 230, 50000, 2018,
     {DATASHEET, DATASHEET, DATASHEET, NULL, DATASHEET, DATASHEET, DATASHEET}, NULL},
    {"quadro-rtx-6000", "quadro-rtx-6000", "nvidia", "NVIDIA Quadro RTX 6000",
     false, FORM_PCIE, 24000, 672000, 130500, -1, 260, 100000, 2018,
     {EPOCH, EPOCH, DATASHEET, NULL, EPOCH, DATASHEET, EPOCH}, NULL},
    {"quadro-rtx-8000", "quadro-rtx-8000", "nvidia", "NVIDIA Quadro RTX 8000",
     false, FORM_PCIE, 48000, 672000, 130500, -1, 260, 100000, 2018,
     {DATASHEET, DATASHEET, DATASHEET, NULL, DATASHEET, DATASHEET, DATASHEET},
     aliases_quadro_rtx_8000},
    {"quadro-p4000", "quadro-p4000", "nvidia", "NVIDIA Quadro P4000",
     false, FORM_PCIE, 8000, 243000, -1, -1, 105, -1, 2017,
     {DATASHEET, DATASHEET, NULL, NULL, DATASHEET, NULL, DATASHEET}, NULL},
    {"quadro-p5000", "quadro-p5000", "nvidia", "NVIDIA Quadro P5000",
     false, FORM_PCIE, 16000, 288000, -1, -1, 180, -1, 2016,
     {DATASHEET, DATASHEET, NULL, NULL, DATASHEET, NULL, DATASHEET}, NULL},
    {"quadro-p6000", "quadro-p6000", "nvidia", "NVIDIA Quadro P6000",
     false, FORM_PCIE, 24000, 432000, -1, -1, 250, -1, 2016,
     {DATASHEET, DATASHEET, NULL, NULL, DATASHEET, NULL, DATASHEET}, NULL},
    {"quadro-m4000", "quadro-m4000", "nvidia", "NVIDIA Quadro M4000",
     false, FORM_PCIE, 8000, 192000, -1, -1, 120, -1, 2015,
     {DATASHEET, DATASHEET, NULL, NULL, DATASHEET, NULL, DATASHEET}, NULL},
    {"rtx-a2000", "rtx-a2000", "nvidia", "NVIDIA RTX A2000 (variant not stated)",
     true, FORM_PCIE, -1, 288000, 31900, -1, 70, -1, 2021,
     {NULL, SHARED, SHARED, NULL, SHARED, NULL, SHARED}, NULL},
    {"rtx-pro-5000", "rtx-pro-5000", "nvidia", "NVIDIA RTX PRO 5000 (variant not stated)",
     true, FORM_PCIE, -1, 1344000, -1, -1, 300, -1, 2025,
     {NULL, SHARED, NULL, NULL, SHARED, NULL, SHARED}, NULL},
    {"rtx-pro-6000", "rtx-pro-6000", "nvidia", "NVIDIA RTX PRO 6000 (variant not stated)",
     true, FORM_PCIE, 96000, -1, -1, -1, -1, -1, 2025,
     {SHARED, NULL, NULL, NULL, NULL, NULL, SHARED}, aliases_rtx_pro_6000},
};
/* clang-format on */

const size_t gpu_table_workstation_count =
    sizeof(gpu_table_workstation) / sizeof(gpu_table_workstation[0]);
