/* NVIDIA data-centre modules and cards. Figures are dense, never with sparsity; each says where it
 * was read; a family keeps what all its variants share. */
#include "server/reference/gpu_table.h"

/* clang-format off */
static const char *const aliases_h100_sxm[] = {
    "H100 SXM5", "H100_SXM5", "NVIDIA H100 80GB HBM3", "HGX H100", NULL};
static const char *const aliases_h100_pcie[] = {"NVIDIA H100 PCIe", "H100 80GB HBM2e", NULL};
static const char *const aliases_h100_nvl[] = {"NVIDIA H100 NVL", "H100 94GB", NULL};
static const char *const aliases_h200_sxm[] = {"H200 SXM5", "HGX H200", NULL};
static const char *const aliases_h200_nvl[] = {"NVIDIA H200 NVL", NULL};
static const char *const aliases_h20_3e[] = {"NVIDIA H20-3e", "H20 141GB", NULL};
static const char *const aliases_b200[] = {"NVIDIA B200", "B200 SXM6", "HGX B200", NULL};
static const char *const aliases_b300[] = {"NVIDIA B300", "B300 SXM6", "HGX B300", NULL};
static const char *const aliases_gb200[] = {"NVIDIA GB200", "GB200 NVL72", NULL};
static const char *const aliases_gb300[] = {"NVIDIA GB300", "GB300 NVL72", NULL};
static const char *const aliases_gh200_96gb[] = {"NVIDIA GH200 480GB", NULL};
static const char *const aliases_gh200_144gb[] = {"NVIDIA GH200 144G HBM3e", NULL};
static const char *const aliases_a100_sxm_80gb[] = {"NVIDIA A100-SXM4-80GB", "A100 SXM 80GB", NULL};
static const char *const aliases_a100_sxm_40gb[] = {"NVIDIA A100-SXM4-40GB", "A100 SXM 40GB", NULL};
static const char *const aliases_a100_pcie_80gb[] = {
    "NVIDIA A100 80GB PCIe", "NVIDIA A100-PCIE-80GB", NULL};
static const char *const aliases_a100_pcie_40gb[] = {"NVIDIA A100-PCIE-40GB", NULL};
static const char *const aliases_v100_sxm_16gb[] = {"Tesla V100-SXM2-16GB", NULL};
static const char *const aliases_v100_sxm_32gb[] = {"Tesla V100-SXM2-32GB", NULL};
static const char *const aliases_v100_pcie_16gb[] = {"Tesla V100-PCIE-16GB", NULL};
static const char *const aliases_v100_pcie_32gb[] = {"Tesla V100-PCIE-32GB", NULL};
static const char *const aliases_v100s[] = {"Tesla V100S-PCIE-32GB", NULL};
static const char *const aliases_t4[] = {"Tesla T4", "NVIDIA T4 Tensor Core", NULL};
static const char *const aliases_t4g[] = {"NVIDIA T4G Tensor Core", NULL};
static const char *const aliases_p40[] = {"Tesla P40", NULL};
static const char *const aliases_p4[] = {"Tesla P4", NULL};
static const char *const aliases_p100_sxm_16gb[] = {"Tesla P100-SXM2-16GB", NULL};
static const char *const aliases_p100_pcie_16gb[] = {"Tesla P100-PCIE-16GB", NULL};
static const char *const aliases_p100_pcie_12gb[] = {"Tesla P100-PCIE-12GB", NULL};
static const char *const aliases_k80[] = {"Tesla K80", NULL};
static const char *const aliases_m60[] = {"Tesla M60", NULL};
static const char *const aliases_k520[] = {"GRID K520", NULL};
static const char *const aliases_a100[] = {"NVIDIA A100", "A100-80GB", "A100-40GB", NULL};
static const char *const aliases_gh200[] = {"NVIDIA GH200", "GH200 Grace Hopper Superchip", NULL};
static const char *const aliases_h100[] = {"NVIDIA H100", "H100-80GB", "H100-MEGA", NULL};
static const char *const aliases_h200[] = {"NVIDIA H200", "NVIDIA H200 141GB HBM3e", NULL};
static const char *const aliases_p100[] = {"Tesla P100", NULL};
static const char *const aliases_v100[] = {"Tesla V100", "V100-32GB", NULL};

/* slug, family, vendor, name, is_family, form factor,
 * VRAM, bandwidth, BF16, FP8 (thousandths), TDP, NVLink (thousandths), year,
 * where each of these seven was read, aliases */
const struct gpu gpu_table_datacenter[] = {
    {"h100-sxm", "h100", "nvidia", "NVIDIA H100 SXM",
     false, FORM_SXM, 80000, 3350000, 989400, 1978900, 700, 900000, 2022,
     {EPOCH, EPOCH, EPOCH, DATASHEET, EPOCH, EPOCH, EPOCH}, aliases_h100_sxm},
    {"h100-pcie", "h100", "nvidia", "NVIDIA H100 PCIe",
     false, FORM_PCIE, 80000, 2040000, 756000, 1513000, 350, 600000, 2022,
     {EPOCH, EPOCH, EPOCH, DUMA, EPOCH, EPOCH, EPOCH}, aliases_h100_pcie},
    {"h100-nvl", "h100", "nvidia", "NVIDIA H100 NVL",
     false, FORM_NVL, 94000, 3938000, 835500, 1671000, 400, 600000, 2024,
     {EPOCH, EPOCH, EPOCH, DATASHEET, EPOCH, DATASHEET, EPOCH}, aliases_h100_nvl},
    {"h200-sxm", "h200", "nvidia", "NVIDIA H200 SXM",
     false, FORM_SXM, 141000, 4800000, 989500, 1979000, 700, 900000, 2024,
     {EPOCH, EPOCH, EPOCH, EPOCH, EPOCH, DATASHEET, EPOCH}, aliases_h200_sxm},
    {"h200-nvl", "h200", "nvidia", "NVIDIA H200 NVL",
     false, FORM_NVL, 141000, 4915000, 835000, 1671000, 600, 900000, 2024,
     {GMASSE, GMASSE, DUMA, DUMA, GMASSE, DATASHEET, COMPILATION}, aliases_h200_nvl},
    {"h20", "h20", "nvidia", "NVIDIA H20",
     false, FORM_SXM, 96000, 4000000, 148000, 296000, 400, 900000, 2023,
     {EPOCH, EPOCH, EPOCH, DUMA, EPOCH, DATASHEET, EPOCH}, NULL},
    {"h20-3e", "h20-3e", "nvidia", "NVIDIA H20-3e 141 GB",
     false, FORM_SXM, 141000, 4800000, 148000, 296000, 400, 900000, -1,
     {DATASHEET, DATASHEET, DATASHEET, DATASHEET, DATASHEET, DATASHEET, NULL}, aliases_h20_3e},
    {"h800-sxm", "h800", "nvidia", "NVIDIA H800 SXM",
     false, FORM_SXM, 80000, 3360000, 989000, 1979000, 700, 400000, 2023,
     {EPOCH, EPOCH, EPOCH, DATASHEET, EPOCH, DATASHEET, EPOCH}, NULL},
    {"h800-pcie", "h800", "nvidia", "NVIDIA H800 PCIe",
     false, FORM_PCIE, 80000, 2040000, -1, -1, 350, 400000, 2023,
     {COMPILATION, COMPILATION, NULL, NULL, COMPILATION, DATASHEET, COMPILATION}, NULL},
    {"a800-sxm-80gb", "a800", "nvidia", "NVIDIA A800 SXM 80 GB",
     false, FORM_SXM, 80000, 2040000, 311800, -1, 400, 400000, 2022,
     {EPOCH, EPOCH, EPOCH, NULL, EPOCH, DATASHEET, EPOCH}, NULL},
    {"a800-sxm-40gb", "a800", "nvidia", "NVIDIA A800 SXM 40 GB",
     false, FORM_SXM, 40000, -1, -1, -1, -1, -1, -1,
     {DATASHEET, NULL, NULL, NULL, NULL, NULL, NULL}, NULL},
    {"a800-pcie-80gb", "a800", "nvidia", "NVIDIA A800 PCIe 80 GB",
     false, FORM_PCIE, 80000, 1940000, 312000, -1, 300, 400000, 2022,
     {COMPILATION, EPOCH, EPOCH, NULL, DATASHEET, DATASHEET, EPOCH}, NULL},
    {"a800-pcie-40gb", "a800", "nvidia", "NVIDIA A800 PCIe 40 GB",
     false, FORM_PCIE, 40000, 1560000, 311800, -1, 250, 400000, 2022,
     {COMPILATION, EPOCH, EPOCH, NULL, EPOCH, DATASHEET, EPOCH}, NULL},
    {"b200", "b200", "nvidia", "NVIDIA B200",
     false, FORM_SXM, 180000, 7700000, 2250000, 4500000, 1000, 1800000, 2024,
     {EPOCH, EPOCH, EPOCH, EPOCH, EPOCH, DATASHEET, EPOCH}, aliases_b200},
    {"b300", "b300", "nvidia", "NVIDIA B300",
     false, FORM_SXM, 270000, 7700000, 2250000, 4500000, 1100, 1800000, 2025,
     {EPOCH, EPOCH, EPOCH, EPOCH, EPOCH, EPOCH, EPOCH}, aliases_b300},
    {"gb200", "gb200", "nvidia", "NVIDIA GB200",
     false, FORM_OTHER, 186000, 8000000, 2500000, 5000000, 1200, 1800000, 2025,
     {EPOCH, EPOCH, EPOCH, EPOCH, EPOCH, DATASHEET, EPOCH}, aliases_gb200},
    {"gb300", "gb300", "nvidia", "NVIDIA GB300",
     false, FORM_OTHER, 287500, 8000000, 2500000, 5000000, 1400, 1800000, 2025,
     {EPOCH, EPOCH, EPOCH, EPOCH, EPOCH, EPOCH, EPOCH}, aliases_gb300},
    {"gh200-96gb", "gh200", "nvidia", "NVIDIA GH200 96 GB",
     false, FORM_OTHER, 96000, 4000000, 989500, 1979000, 700, -1, 2023,
     {GPUHUNT, DATASHEET, EPOCH, DATASHEET, EPOCH, NULL, EPOCH}, aliases_gh200_96gb},
    {"gh200-144gb", "gh200", "nvidia", "NVIDIA GH200 144 GB",
     false, FORM_OTHER, 144000, 4900000, 989500, 1979000, -1, -1, 2024,
     {DATASHEET, DATASHEET, DATASHEET, DATASHEET, NULL, NULL, DATASHEET}, aliases_gh200_144gb},
    {"a100-sxm-80gb", "a100", "nvidia", "NVIDIA A100 SXM 80 GB",
     false, FORM_SXM, 80000, 2039000, 312000, -1, 400, 600000, 2020,
     {EPOCH, EPOCH, EPOCH, NULL, EPOCH, EPOCH, EPOCH}, aliases_a100_sxm_80gb},
    {"a100-sxm-40gb", "a100", "nvidia", "NVIDIA A100 SXM 40 GB",
     false, FORM_SXM, 40000, 1560000, 312000, -1, 400, 600000, 2020,
     {EPOCH, EPOCH, EPOCH, NULL, EPOCH, EPOCH, EPOCH}, aliases_a100_sxm_40gb},
    {"a100-pcie-80gb", "a100", "nvidia", "NVIDIA A100 PCIe 80 GB",
     false, FORM_PCIE, 80000, 1935000, 312000, -1, 300, 600000, 2021,
     {GMASSE, GMASSE, GMASSE, NULL, GMASSE, DATASHEET, COMPILATION}, aliases_a100_pcie_80gb},
    {"a100-pcie-40gb", "a100", "nvidia", "NVIDIA A100 PCIe 40 GB",
     false, FORM_PCIE, 40000, 1555000, 312000, -1, 250, 600000, 2020,
     {GMASSE, GMASSE, GMASSE, NULL, GMASSE, DATASHEET, COMPILATION}, aliases_a100_pcie_40gb},
    {"v100-sxm-16gb", "v100", "nvidia", "NVIDIA V100 SXM2 16 GB",
     false, FORM_SXM, 16000, 897000, 125000, -1, 300, 300000, 2017,
     {COMPILATION, EPOCH, EPOCH, NULL, EPOCH, EPOCH, EPOCH}, aliases_v100_sxm_16gb},
    {"v100-sxm-32gb", "v100", "nvidia", "NVIDIA V100 SXM2 32 GB",
     false, FORM_SXM, 32000, 898000, 125000, -1, 300, 300000, 2018,
     {EPOCH, EPOCH, EPOCH, NULL, EPOCH, EPOCH, EPOCH}, aliases_v100_sxm_32gb},
    {"v100-pcie-16gb", "v100", "nvidia", "NVIDIA V100 PCIe 16 GB",
     false, FORM_PCIE, 16000, 897000, 112000, -1, 250, -1, 2017,
     {EPOCH, EPOCH, EPOCH, NULL, EPOCH, NULL, EPOCH}, aliases_v100_pcie_16gb},
    {"v100-pcie-32gb", "v100", "nvidia", "NVIDIA V100 PCIe 32 GB",
     false, FORM_PCIE, 32000, 897000, 112000, -1, 250, -1, 2018,
     {EPOCH, EPOCH, EPOCH, NULL, EPOCH, NULL, EPOCH}, aliases_v100_pcie_32gb},
    {"v100s", "v100s", "nvidia", "NVIDIA V100S PCIe 32 GB",
     false, FORM_PCIE, 32000, 1130000, 130000, -1, 250, -1, 2019,
     {EPOCH, EPOCH, EPOCH, NULL, EPOCH, NULL, EPOCH}, aliases_v100s},
    {"a10", "a10", "nvidia", "NVIDIA A10",
     false, FORM_PCIE, 24000, 600200, 125000, -1, 150, -1, 2021,
     {EPOCH, EPOCH, GMASSE, NULL, EPOCH, NULL, EPOCH}, NULL},
    {"a10g", "a10g", "nvidia", "NVIDIA A10G",
     false, FORM_PCIE, 24000, 600200, 70000, -1, 150, -1, 2021,
     {EPOCH, EPOCH, DATASHEET, NULL, EPOCH, NULL, EPOCH}, NULL},
    {"a30", "a30", "nvidia", "NVIDIA A30",
     false, FORM_PCIE, 24000, 933100, 165000, -1, 165, 200000, 2021,
     {COMPILATION, COMPILATION, ROOFLINE, NULL, COMPILATION, DATASHEET, COMPILATION}, NULL},
    {"a40", "a40", "nvidia", "NVIDIA A40",
     false, FORM_PCIE, 48000, 695800, 149700, -1, 300, 112500, 2020,
     {EPOCH, EPOCH, EPOCH, NULL, EPOCH, DATASHEET, EPOCH}, NULL},
    {"l4", "l4", "nvidia", "NVIDIA L4",
     false, FORM_PCIE, 24000, 300100, 121000, 242000, 72, -1, 2023,
     {EPOCH, EPOCH, EPOCH, GMASSE, EPOCH, NULL, EPOCH}, NULL},
    {"l40", "l40", "nvidia", "NVIDIA L40",
     false, FORM_PCIE, 48000, 864000, 181000, 362000, 300, -1, 2022,
     {EPOCH, EPOCH, EPOCH, DATASHEET, EPOCH, NULL, EPOCH}, NULL},
    {"l40s", "l40s", "nvidia", "NVIDIA L40S",
     false, FORM_PCIE, 48000, 864000, 362000, 733000, 300, -1, 2022,
     {GMASSE, GMASSE, GMASSE, GMASSE, GMASSE, NULL, COMPILATION}, NULL},
    {"t4", "t4", "nvidia", "NVIDIA T4",
     false, FORM_PCIE, 16000, 320000, 65130, -1, 70, -1, 2018,
     {EPOCH, EPOCH, EPOCH, NULL, EPOCH, NULL, EPOCH}, aliases_t4},
    {"t4g", "t4g", "nvidia", "NVIDIA T4G",
     false, FORM_PCIE, 16000, 320000, -1, -1, 70, -1, 2018,
     {COMPILATION, COMPILATION, NULL, NULL, COMPILATION, NULL, COMPILATION}, aliases_t4g},
    {"p40", "p40", "nvidia", "NVIDIA P40",
     false, FORM_PCIE, 24000, 694300, -1, -1, 250, -1, 2016,
     {EPOCH, EPOCH, NULL, NULL, EPOCH, NULL, EPOCH}, aliases_p40},
    {"p4", "p4", "nvidia", "NVIDIA P4",
     false, FORM_PCIE, 8000, 192300, -1, -1, 75, -1, 2016,
     {EPOCH, EPOCH, NULL, NULL, EPOCH, NULL, EPOCH}, aliases_p4},
    {"a16", "a16", "nvidia", "NVIDIA A16",
     false, FORM_PCIE, 16000, 200100, 17900, -1, -1, -1, 2021,
     {COMPILATION, COMPILATION, DATASHEET, NULL, NULL, NULL, COMPILATION}, NULL},
    {"a2", "a2", "nvidia", "NVIDIA A2",
     false, FORM_PCIE, 16000, 200000, 18000, -1, 60, -1, 2021,
     {DATASHEET, DATASHEET, DATASHEET, NULL, DATASHEET, NULL, DATASHEET}, NULL},
    {"p100-sxm-16gb", "p100", "nvidia", "NVIDIA P100 SXM2 16 GB",
     false, FORM_SXM, 16000, 732200, -1, -1, 300, 160000, 2016,
     {COMPILATION, COMPILATION, NULL, NULL, COMPILATION, DATASHEET, COMPILATION},
     aliases_p100_sxm_16gb},
    {"p100-pcie-16gb", "p100", "nvidia", "NVIDIA P100 PCIe 16 GB",
     false, FORM_PCIE, 16000, 732200, -1, -1, 250, -1, 2016,
     {COMPILATION, EPOCH, NULL, NULL, EPOCH, NULL, EPOCH}, aliases_p100_pcie_16gb},
    {"p100-pcie-12gb", "p100", "nvidia", "NVIDIA P100 PCIe 12 GB",
     false, FORM_PCIE, 12000, 549000, -1, -1, 250, -1, 2016,
     {DATASHEET, DATASHEET, NULL, NULL, DATASHEET, NULL, DATASHEET}, aliases_p100_pcie_12gb},
    {"k80", "k80", "nvidia", "NVIDIA K80",
     false, FORM_PCIE, 12000, 240600, -1, -1, -1, -1, 2014,
     {COMPILATION, COMPILATION, NULL, NULL, NULL, NULL, COMPILATION}, aliases_k80},
    {"k40", "k40", "nvidia", "NVIDIA K40",
     false, FORM_PCIE, 12000, 288000, -1, -1, 235, -1, 2013,
     {DATASHEET, DATASHEET, NULL, NULL, DATASHEET, NULL, DATASHEET}, NULL},
    {"m60", "m60", "nvidia", "NVIDIA M60",
     false, FORM_PCIE, 8000, 160400, -1, -1, -1, -1, 2015,
     {COMPILATION, COMPILATION, NULL, NULL, NULL, NULL, COMPILATION}, aliases_m60},
    {"m40-12gb", "m40", "nvidia", "NVIDIA M40 12 GB",
     false, FORM_PCIE, 12000, 288000, -1, -1, 250, -1, 2015,
     {DATASHEET, DATASHEET, NULL, NULL, DATASHEET, NULL, DATASHEET}, NULL},
    {"m40-24gb", "m40", "nvidia", "NVIDIA M40 24 GB",
     false, FORM_PCIE, 24000, 288000, -1, -1, 250, -1, 2015,
     {DATASHEET, DATASHEET, NULL, NULL, DATASHEET, NULL, DATASHEET}, NULL},
    {"k520", "k520", "nvidia", "NVIDIA GRID K520",
     false, FORM_PCIE, 4000, -1, -1, -1, -1, -1, 2013,
     {DATASHEET, NULL, NULL, NULL, NULL, NULL, DATASHEET}, aliases_k520},
    {"a100", "a100", "nvidia", "NVIDIA A100 (variant not stated)",
     true, FORM_UNDISCLOSED, -1, -1, 312000, -1, -1, 600000, -1,
     {NULL, NULL, SHARED, NULL, NULL, SHARED, NULL}, aliases_a100},
    {"a800", "a800", "nvidia", "NVIDIA A800 (variant not stated)",
     true, FORM_UNDISCLOSED, -1, -1, -1, -1, -1, -1, -1,
     {NULL, NULL, NULL, NULL, NULL, NULL, NULL}, NULL},
    {"gh200", "gh200", "nvidia", "NVIDIA GH200 (variant not stated)",
     true, FORM_OTHER, -1, -1, 989500, 1979000, -1, -1, -1,
     {NULL, NULL, SHARED, SHARED, NULL, NULL, NULL}, aliases_gh200},
    {"h100", "h100", "nvidia", "NVIDIA H100 (variant not stated)",
     true, FORM_UNDISCLOSED, -1, -1, -1, -1, -1, -1, -1,
     {NULL, NULL, NULL, NULL, NULL, NULL, NULL}, aliases_h100},
    {"h200", "h200", "nvidia", "NVIDIA H200 (variant not stated)",
     true, FORM_UNDISCLOSED, 141000, -1, -1, -1, -1, 900000, 2024,
     {SHARED, NULL, NULL, NULL, NULL, SHARED, SHARED}, aliases_h200},
    {"h800", "h800", "nvidia", "NVIDIA H800 (variant not stated)",
     true, FORM_UNDISCLOSED, 80000, -1, -1, -1, -1, 400000, 2023,
     {SHARED, NULL, NULL, NULL, NULL, SHARED, SHARED}, NULL},
    {"m40", "m40", "nvidia", "NVIDIA M40 (variant not stated)",
     true, FORM_PCIE, -1, 288000, -1, -1, 250, -1, 2015,
     {NULL, SHARED, NULL, NULL, SHARED, NULL, SHARED}, NULL},
    {"p100", "p100", "nvidia", "NVIDIA P100 (variant not stated)",
     true, FORM_UNDISCLOSED, -1, -1, -1, -1, -1, -1, 2016,
     {NULL, NULL, NULL, NULL, NULL, NULL, SHARED}, aliases_p100},
    {"v100", "v100", "nvidia", "NVIDIA V100 (variant not stated)",
     true, FORM_UNDISCLOSED, -1, -1, -1, -1, -1, -1, -1,
     {NULL, NULL, NULL, NULL, NULL, NULL, NULL}, aliases_v100},
};
/* clang-format on */

const size_t gpu_table_datacenter_count =
    sizeof(gpu_table_datacenter) / sizeof(gpu_table_datacenter[0]);
