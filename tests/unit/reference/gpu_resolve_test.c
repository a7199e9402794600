/* Names as drivers, clouds and people write them, and what each must and must not mean. */
#include "server/reference/gpu.h"

#include "server/base/decimal.h"
#include "server/model/offer.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(gpu_resolve, .timeout = 20);

#define NO_HINT UNKNOWN

static struct gpu_match resolve(const char *raw, int64_t hint_milli)
{
    struct gpu_match match;
    gpu_resolve(raw, hint_milli, NULL, &match);
    return match;
}

static const char *slug_of(const char *raw)
{
    return gpu_at(resolve(raw, NO_HINT).gpu)->slug;
}

struct name_case {
    const char *raw, *slug;
};

static void expect_slugs(const struct name_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cr_expect(strcmp(slug_of(cases[i].raw), cases[i].slug) == 0, "`%s` is %s, not %s",
                  cases[i].raw, cases[i].slug, slug_of(cases[i].raw));
}
#define EXPECT_SLUGS(cases) expect_slugs(cases, sizeof(cases) / sizeof((cases)[0]))

Test(gpu_resolve, what_drivers_print)
{
    static const struct name_case cases[] = {
        {"NVIDIA H100 80GB HBM3", "h100-sxm"},
        {"NVIDIA H100 PCIe", "h100-pcie"},
        {"NVIDIA H100 NVL", "h100-nvl"},
        {"NVIDIA H200", "h200"},
        {"NVIDIA H200 NVL", "h200-nvl"},
        {"NVIDIA H20", "h20"},
        {"NVIDIA H20-3e", "h20-3e"},
        {"NVIDIA GH200 480GB", "gh200-96gb"},
        {"NVIDIA GH200 144G HBM3e", "gh200-144gb"},
        {"NVIDIA B200", "b200"},
        {"NVIDIA B300 SXM6 AC", "b300"},
        {"NVIDIA GB200", "gb200"},
        {"NVIDIA A100-SXM4-80GB", "a100-sxm-80gb"},
        {"NVIDIA A100-SXM4-40GB", "a100-sxm-40gb"},
        {"NVIDIA A100 80GB PCIe", "a100-pcie-80gb"},
        {"NVIDIA A100-PCIE-40GB", "a100-pcie-40gb"},
        {"Tesla V100-SXM2-16GB", "v100-sxm-16gb"},
        {"Tesla V100-SXM2-32GB", "v100-sxm-32gb"},
        {"Tesla V100S-PCIE-32GB", "v100s"},
        {"Tesla T4", "t4"},
        {"Tesla P100-PCIE-16GB", "p100-pcie-16gb"},
        {"NVIDIA GeForce RTX 4090", "rtx-4090"},
        {"NVIDIA GeForce RTX 4090 D", "rtx-4090-d"},
        {"NVIDIA GeForce RTX 3080 Ti", "rtx-3080-ti"},
        {"NVIDIA RTX A6000", "rtx-a6000"},
        {"NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada"},
        {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtx-pro-6000-workstation"},
        {"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "rtx-pro-6000-maxq"},
        {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000-server"},
        {"Quadro RTX 6000", "quadro-rtx-6000"},
        {"AMD Instinct MI300X OAM", "mi300x"},
        {"AMD Radeon RX 7900 XTX", "rx-7900-xtx"},
        {"Intel(R) Data Center GPU Max 1100", "max-1100"},
        {"Intel Data Center GPU Max 1550", "max-1550"},
        {"NVIDIA A100-SXM4-40GB MIG 1g.5gb", "a100-sxm-40gb"},
        {"NVIDIA H100 80GB HBM3 MIG 3g.40gb", "h100-sxm"},
        {"MIG 1g.10gb+me H100 PCIe", "h100-pcie"},
        {"GRID A100-40C", "a100"},
        {"NVIDIA A10-24Q", "a10"},
        {"GRID T4-16Q", "t4"},
        {"A100-4-20C", "a100"},
        {"NVIDIA TITAN RTX", "titan-rtx"},
    };
    EXPECT_SLUGS(cases);
}

Test(gpu_resolve, what_price_lists_say)
{
    static const struct name_case cases[] = {
        {"H100 SXM5", "h100-sxm"},
        {"H100_SXM5", "h100-sxm"},
        {"h100sxm5", "h100-sxm"},
        {"H100-SXM", "h100-sxm"},
        {"HGX H100", "h100-sxm"},
        {"H100 HGX (80GB)", "h100-sxm"},
        {"8xH100", "h100"},
        {"8x H100 SXM", "h100-sxm"},
        {"8 x H100 SXM", "h100-sxm"},
        {"8\xc3\x97H100 SXM", "h100-sxm"},
        {"H100x8", "h100"},
        {"H100PCIe80GB", "h100-pcie"},
        {"H100 PCI-E", "h100-pcie"},
        {"H100 PCI Express", "h100-pcie"},
        {"H100-80G-PCIe-NVLink", "h100-pcie"},
        {"H100 NVL 94GB", "h100-nvl"},
        {"H100 94GB HBM3", "h100-nvl"},
        {"H100 80GB HBM2e", "h100-pcie"},
        {"H100-MEGA", "h100"},
        {"H100 SXM/PCIe", "h100"},
        {"A100-80GB", "a100"},
        {"A100 (80 GB)", "a100"},
        {"a100-pcie-80", "a100-pcie-80gb"},
        {"a100-sxm-40", "a100-sxm-40gb"},
        {"a100sxm480gb", "a100-sxm-80gb"},
        {"DGX A100 80GB", "a100-sxm-80gb"},
        {"V100-32GB", "v100"},
        {"v100-sxm2", "v100"},
        {"NVIDIA T4 Tensor Core", "t4"},
        {"GB200 NVL72", "gb200"},
        {"GeForce\xc2\xae RTX\xe2\x84\xa2 4090", "rtx-4090"},
        {"RTX4070", "rtx-4070"},
        {"RTX_4070S_Ti", "rtx-4070-ti-super"},
        {"RTX_4070_Ti_Super", "rtx-4070-ti-super"},
        {"4070 Super Ti", "rtx-4070-ti-super"},
        {"RTX 4070S", "rtx-4070-super"},
        {"RTX 2060 Super", "rtx-2060-super"},
        {"rtx 4080s", "rtx-4080-super"},
        {"3080Ti (12 GB)", "rtx-3080-ti"},
        {"4090", "rtx-4090"},
        {"RTX 4090 48GB mod", "rtx-4090-48gb"},
        {"4090 48 GB", "rtx-4090-48gb"},
        {"RTX 3080 20GB modded", "rtx-3080-20gb"},
        {"RTX 3080", "rtx-3080"},
        {"RTX 4060 Ti", "rtx-4060-ti"},
        {"RTX 4060 Ti 16GB", "rtx-4060-ti-16gb"},
        {"A4000 (16 GB)", "rtx-a4000"},
        {"RTXA6000", "rtx-a6000"},
        {"A6000", "rtx-a6000"},
        {"RTX6000-Ada", "rtx-6000-ada"},
        {"6000 Ada", "rtx-6000-ada"},
        {"RTX 6000 Ada Lovelace", "rtx-6000-ada"},
        {"RTX 6000 Blackwell", "rtx-pro-6000"},
        {"RTX 5000 Turing", "quadro-rtx-5000"},
        {"RTXPRO6000WS", "rtx-pro-6000-workstation"},
        {"rtx-pro-6000-wk", "rtx-pro-6000-workstation"},
        {"RTX5000 (16 GB)", "quadro-rtx-5000"},
        {"RTX 6000 24GB", "quadro-rtx-6000"},
        {"RTX 6000 48GB", "rtx-6000-ada"},
        {"RTX 8000", "quadro-rtx-8000"},
        {"NVIDIA GRID K520", "k520"},
        {"AMD Radeon Pro V520", "v520"},
        {"MI300Xx8", "unrecognized"},
        {"8xMI300X", "mi300x"},
        {"Habana Gaudi HL-205", "gaudi"},
        {"Intel Gaudi2", "gaudi-2"},
        {"GAUDI 3", "gaudi-3"},
        {"tpu-v3-32", "tpu-v3"},
        {"TPU v4", "tpu-v4"},
        {"tpu-v5litepod-16", "tpu-v5e"},
        {"v5litepod-8", "tpu-v5e"},
        {"tpu-v5p-10880", "tpu-v5p"},
        {"TPU v6e (Trillium)", "tpu-v6e"},
        {"tpu-v6e-256", "tpu-v6e"},
        {"tpu7x", "tpu-v7"},
        {"tpu-v5-lite-podslice", "tpu-v5e"},
        {"AWS Inferentia", "inferentia"},
        {"AWS Inferentia2", "inferentia-2"},
        {"Trainium1", "trainium"},
        {"AWS Trainium2", "trainium-2"},
        {"Qualcomm AI 100 Accelerators", "ai-100"},
        {"K80 (per GPU of 2)", "k80"},
    };
    EXPECT_SLUGS(cases);
}

Test(gpu_resolve, no_name_is_found_inside_another)
{
    static const struct name_case cases[] = {
        {"L4", "l4"},
        {"L40", "l40"},
        {"L40S", "l40s"},
        {"L 40S", "l40s"},
        {"A10", "a10"},
        {"A100", "a100"},
        {"A10G", "a10g"},
        {"A1000", "unrecognized"},
        {"A10 0", "unrecognized"},
        {"H200", "h200"},
        {"GH200", "gh200"},
        {"B200", "b200"},
        {"GB200", "gb200"},
        {"B20", "unrecognized"},
        {"H20", "h20"},
        {"H2", "unrecognized"},
        {"4090", "rtx-4090"},
        {"4090D", "rtx-4090-d"},
        {"4090 D", "rtx-4090-d"},
        {"T4", "t4"},
        {"T4G", "t4g"},
        {"T40", "unrecognized"},
        {"P4", "p4"},
        {"P40", "p40"},
        {"P4 0", "unrecognized"},
        {"P4000", "quadro-p4000"},
        {"MI250", "mi250"},
        {"MI250X", "mi250x"},
        {"MI300", "unrecognized"},
        {"V100", "v100"},
        {"V100S", "v100s"},
        {"RTX 4090 Laptop GPU", "unrecognized"},
        {"RTX 4080 Ti", "unrecognized"},
        {"RTX 6000", "unrecognized"},
        {"RTX 4000", "unrecognized"},
        {"RTX A6000 Ada", "unrecognized"},
        {"RTX 4090 mod", "unrecognized"},
        {"RTX 4090 24GB mod", "unrecognized"},
        {"L40S SXM", "unrecognized"},
        {"H20 PCIe", "unrecognized"},
        {"B200 PCIe", "unrecognized"},
        {"RTX 4090 \xe6\x94\xb9", "unrecognized"},
        {"H100 and A100", "unrecognized"},
        {"", "unrecognized"},
        {"GPU", "unrecognized"},
        {"NVIDIA", "unrecognized"},
        {"80GB", "unrecognized"},
        {"8x", "unrecognized"},
        {"unrecognized", "unrecognized"},
        {"H100 H100", "unrecognized"},
        {"tpu", "unrecognized"},
        {"tpu-v3-abc", "unrecognized"},
        {"A100-17", "unrecognized"},
        {"Quantum Accelerator 9", "unrecognized"},
    };
    EXPECT_SLUGS(cases);
}

Test(gpu_resolve, sizes_choose_and_unknown_stays_unknown)
{
    static const struct {
        const char *raw;
        int64_t hint_milli;
        const char *slug;
        int64_t vram_milli;
        bool fits;
    } cases[] = {
        {"H100", NO_HINT, "h100", UNKNOWN, true},
        {"H100", 80000, "h100", 80000, true},
        {"H100", 94000, "h100-nvl", 94000, true},
        {"H100", 81559 * 1000LL / 1024, "h100", 80000, true},
        {"H100", 640000, "h100", UNKNOWN, false},
        {"NVIDIA H100 80GB HBM3", 640000, "h100-sxm", 80000, false},
        {"NVIDIA H100 80GB HBM3", 80000, "h100-sxm", 80000, true},
        {"h100-nvl", 80000, "h100-nvl", 94000, false},
        {"H200", NO_HINT, "h200", 141000, true},
        {"H200", 143771 * 1000LL / 1024, "h200", 141000, true},
        {"A100", 40000, "a100", 40000, true},
        {"A100 PCIe", NO_HINT, "a100", UNKNOWN, true},
        {"A100 PCIe", 80000, "a100-pcie-80gb", 80000, true},
        {"A100 PCIe", 64000, "a100", UNKNOWN, false},
        {"A100 80GB", 40000, "a100", 80000, false},
        {"L4", 22888 * 1000LL / 1024, "l4", 24000, true},
        {"L40S", 45776 * 1000LL / 1024, "l40s", 48000, true},
        {"A10G", 22731 * 1000LL / 1024, "a10g", 24000, true},
        {"T4", 15109 * 1000LL / 1024, "t4", 16000, true},
        {"GH200", 96000, "gh200-96gb", 96000, true},
        {"GH200", NO_HINT, "gh200", UNKNOWN, true},
        {"RTX 4060 Ti", NO_HINT, "rtx-4060-ti", UNKNOWN, true},
        {"RTX 4060 Ti", 8000, "rtx-4060-ti-8gb", 8000, true},
        {"RTX 4090", 24564 * 1000LL / 1024, "rtx-4090", 24000, true},
        {"RTX 4090", 49140 * 1000LL / 1024, "rtx-4090-48gb", 48000, true},
        {"RTX 4090", 96000, "rtx-4090", 24000, false},
        {"RTX6000", 24000, "quadro-rtx-6000", 24000, true},
        {"RTX 6000", 96000, "rtx-pro-6000", 96000, true},
        {"B200", 192000, "b200", 180000, true},
        {"B200 192GB", NO_HINT, "b200", 180000, true},
        {"B200 180GB", 192000, "b200", 180000, true},
        {"B300", 288000, "b300", 270000, true},
        {"H20 141GB", NO_HINT, "h20-3e", 141000, true},
        {"Quantum 9", 64000, "unrecognized", 64000, true},
        {"Quantum 9 32GB", NO_HINT, "unrecognized", 32000, true},
        {"H100", INT64_MAX, "h100", UNKNOWN, false},
        {"H100", 0, "h100", UNKNOWN, false},
        {"H100", INT64_MIN, "h100", UNKNOWN, false},
        {"v100-sxm2", 16000, "v100-sxm-16gb", 16000, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gpu_match match = resolve(cases[i].raw, cases[i].hint_milli);
        cr_expect(
            strcmp(gpu_at(match.gpu)->slug, cases[i].slug) == 0 &&
                match.vram_gb_milli == cases[i].vram_milli && match.vram_fits == cases[i].fits,
            "case %zu, `%s` with %ld: %s, %ld, fits %d", i, cases[i].raw, (long)cases[i].hint_milli,
            gpu_at(match.gpu)->slug, (long)match.vram_gb_milli, match.vram_fits);
    }
}

Test(gpu_resolve, a_size_meets_the_nominal_one_within_bounds)
{
    static const int64_t nominals[] = {16000, 32000, 64000, 80000};
    static const char *const names[] = {"rtx-a4000", "rtx-5090", "mi210", "h800-sxm"};
    for (size_t i = 0; i < 4; i++) {
        int64_t nominal = nominals[i];
        const struct {
            int64_t hint;
            bool fits;
        } edges[] = {{nominal, true},
                     {nominal - nominal * 8 / 100, true},
                     {nominal - nominal * 8 / 100 - 1, false},
                     {nominal + nominal * 4 / 100, true},
                     {nominal + nominal * 4 / 100 + 1, false}};
        for (size_t k = 0; k < sizeof(edges) / sizeof(edges[0]); k++) {
            struct gpu_match match = resolve(names[i], edges[k].hint);
            cr_expect(match.vram_fits == edges[k].fits, "%s with %ld", names[i],
                      (long)edges[k].hint);
            cr_expect(match.vram_gb_milli == nominal, "%s with %ld", names[i], (long)edges[k].hint);
        }
    }
}

Test(gpu_resolve, known_sizes_are_told_in_order)
{
    struct gpu_match match = resolve("H100", 50000);
    cr_expect(match.known_size_count == 2 && match.known_sizes_milli[0] == 80000 &&
              match.known_sizes_milli[1] == 94000);
    match = resolve("RTX 3080", NO_HINT);
    cr_expect(match.known_size_count == 3 && match.known_sizes_milli[0] == 10000 &&
              match.known_sizes_milli[1] == 12000 && match.known_sizes_milli[2] == 20000);
    match = resolve("l4", NO_HINT);
    cr_expect(match.known_size_count == 1 && match.known_sizes_milli[0] == 24000);
    match = resolve("Quantum 9", 50000);
    cr_expect(match.known_size_count == 0);
}

Test(gpu_resolve, the_stated_form_factor_is_told)
{
    static const struct {
        const char *raw;
        enum form_factor form;
    } cases[] = {{"A100 PCIe", FORM_PCIE},      {"A100", FORM_COUNT},
                 {"H100 SXM/PCIe", FORM_COUNT}, {"HGX A100", FORM_SXM},
                 {"H100 NVL", FORM_NVL},        {"H100 NVL PCIe", FORM_NVL},
                 {"MI300X OAM", FORM_OAM},      {"GB200 NVL72", FORM_COUNT}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        cr_expect(resolve(cases[i].raw, NO_HINT).form == cases[i].form, "%s", cases[i].raw);
}

Test(gpu_resolve, every_slug_name_and_alias_leads_to_its_entry)
{
    for (uint16_t i = 0; i < gpu_count(); i++) {
        const struct gpu *gpu = gpu_at(i);
        cr_expect(strcmp(slug_of(gpu->slug), gpu->slug) == 0, "slug %s leads to %s", gpu->slug,
                  slug_of(gpu->slug));
        if (!gpu->is_family)
            cr_expect(strcmp(slug_of(gpu->name), gpu->slug) == 0, "name %s leads to %s", gpu->name,
                      slug_of(gpu->name));
        for (size_t k = 0; gpu->aliases != NULL && gpu->aliases[k] != NULL; k++)
            cr_expect(strcmp(slug_of(gpu->aliases[k]), gpu->slug) == 0, "alias %s leads to %s",
                      gpu->aliases[k], slug_of(gpu->aliases[k]));
    }
}

/* Upper case, other separators, a vendor's word in front, doubled spaces: the same product. */
static void respell(const char *slug, int how, char out[128])
{
    size_t length = 0;
    if (how >= 2)
        length = (size_t)sprintf(out, "NVIDIA  ");
    for (const char *c = slug; *c != '\0'; c++) {
        char written = *c;
        if (*c == '-')
            written = " _+/"[how % 4];
        else if (how % 2 == 0 && *c >= 'a' && *c <= 'z')
            written = (char)(*c - 'a' + 'A');
        out[length++] = written;
        if (*c == '-' && how >= 4)
            out[length++] = ' ';
    }
    out[length] = '\0';
}

Test(gpu_resolve, spelling_does_not_matter)
{
    for (uint16_t i = 0; i < gpu_count(); i++) {
        if (i == gpu_unrecognized())
            continue;
        for (int how = 0; how < 8; how++) {
            char text[128];
            respell(gpu_at(i)->slug, how, text);
            cr_expect(strcmp(slug_of(text), gpu_at(i)->slug) == 0, "`%s` leads to %s", text,
                      slug_of(text));
        }
    }
}

Test(gpu_resolve, operators_aliases_come_first)
{
    static const struct alias items[] = {{"bigiron", "h100"},
                                         {"gone", "no-such-gpu"},
                                         {"l4", "t4"},
                                         {"mystery", "l40s"} /* a card: filler */};
    struct alias_set set = {items, 4};
    static const struct {
        const char *raw;
        int64_t hint_milli;
        const char *slug;
    } cases[] = {{"Mystery_Card", NO_HINT, "l40s"},
                 {"NVIDIA mystery card GPU", NO_HINT, "l40s"},
                 {"L4", NO_HINT, "t4"},
                 {"L40", NO_HINT, "l40"},
                 {"Big Iron", 94000, "h100-nvl"},
                 {"Big Iron", NO_HINT, "h100"},
                 {"gone", NO_HINT, "unrecognized"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gpu_match match;
        gpu_resolve(cases[i].raw, cases[i].hint_milli, &set, &match);
        cr_expect(strcmp(gpu_at(match.gpu)->slug, cases[i].slug) == 0, "`%s` is %s", cases[i].raw,
                  gpu_at(match.gpu)->slug);
    }
}
