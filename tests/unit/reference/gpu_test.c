/* The GPU table: what every entry must keep, and look-up by slug. */
#include "server/reference/gpu.h"

#include "server/base/decimal.h"
#include "server/model/offer.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(gpu, .timeout = 20);

static bool slug_is_clean(const char *slug)
{
    size_t length = strlen(slug);
    return length > 0 && strspn(slug, "abcdefghijklmnopqrstuvwxyz0123456789-") == length &&
           slug[0] != '-' && slug[length - 1] != '-' && strstr(slug, "--") == NULL;
}

static void expect_sourced(const struct gpu *gpu, const char *what, int64_t value,
                           const char *source)
{
    cr_expect((value == UNKNOWN) == (source == NULL), "%s: %s %ld, source %s", gpu->slug, what,
              (long)value, source == NULL ? "none" : source);
    cr_expect(value == UNKNOWN || value > 0, "%s: %s is 0 or less", gpu->slug, what);
    cr_expect(source == NULL || *source != '\0', "%s: %s has an empty source", gpu->slug, what);
}

Test(gpu, every_entry_is_whole_and_every_figure_has_its_source)
{
    static const char *const vendors[] = {"nvidia", "amd", "intel", "google", "aws", "qualcomm"};
    for (uint16_t i = 0; i < gpu_count(); i++) {
        const struct gpu *gpu = gpu_at(i);
        bool vendor = i == gpu_unrecognized() && gpu->vendor[0] == '\0';
        for (size_t k = 0; k < sizeof(vendors) / sizeof(vendors[0]); k++)
            vendor = vendor || strcmp(gpu->vendor, vendors[k]) == 0;
        cr_expect(slug_is_clean(gpu->slug) && gpu->name[0] != '\0' && vendor, "%s", gpu->slug);
        cr_expect(gpu_find(gpu->slug) == i, "%s is found, and stands once", gpu->slug);
        cr_expect(gpu_find(gpu->family) != INDEX_NONE, "%s: family %s", gpu->slug, gpu->family);
        cr_expect(gpu->form_factor < FORM_COUNT &&
                      (gpu->form_factor != FORM_UNDISCLOSED || gpu->is_family),
                  "%s: a variant has a form factor", gpu->slug);
        expect_sourced(gpu, "vram", gpu->vram_gb_milli, gpu->sources.vram);
        expect_sourced(gpu, "bandwidth", gpu->memory_bandwidth_gb_per_s_milli,
                       gpu->sources.memory_bandwidth);
        expect_sourced(gpu, "bf16", gpu->bf16_dense_tflops_milli, gpu->sources.bf16);
        expect_sourced(gpu, "fp8", gpu->fp8_dense_tflops_milli, gpu->sources.fp8);
        expect_sourced(gpu, "tdp", gpu->tdp_watts, gpu->sources.tdp);
        expect_sourced(gpu, "nvlink", gpu->nvlink_gb_per_s_milli, gpu->sources.nvlink);
        expect_sourced(gpu, "year", gpu->year, gpu->sources.year);
        cr_expect(gpu->is_family || gpu->vram_gb_milli != UNKNOWN, "%s: VRAM", gpu->slug);
        cr_expect(gpu->year == UNKNOWN || (gpu->year >= 2010 && gpu->year <= 2030), "%s",
                  gpu->slug);
        cr_expect(gpu->fp8_dense_tflops_milli == UNKNOWN ||
                      gpu->fp8_dense_tflops_milli >= gpu->bf16_dense_tflops_milli,
                  "%s: FP8 is never slower than BF16", gpu->slug);
    }
}

/* A value of the family against what its variants say. */
static void expect_shared(const struct gpu *family, const char *what, int64_t kept, int64_t lowest,
                          int64_t highest)
{
    int64_t shared = lowest == highest ? lowest : UNKNOWN;
    cr_expect(kept == shared, "%s: %s is %ld, its variants share %ld", family->slug, what,
              (long)kept, (long)shared);
}

#define LEAST(a, b)    ((a) < (b) ? (a) : (b))
#define GREATEST(a, b) ((a) > (b) ? (a) : (b))

Test(gpu, a_family_keeps_what_all_its_variants_share_and_no_more)
{
    size_t families = 0, variants = 0;
    for (uint16_t i = 0; i < gpu_count(); i++) {
        const struct gpu *family = gpu_at(i);
        variants += !family->is_family;
        if (!family->is_family || i == gpu_unrecognized())
            continue;
        int64_t vram[2] = {INT64_MAX, -2}, bandwidth[2] = {INT64_MAX, -2},
                bf16[2] = {INT64_MAX, -2}, tdp[2] = {INT64_MAX, -2};
        size_t members = 0;
        bool same_form = true;
        enum form_factor form = FORM_COUNT;
        for (uint16_t k = 0; k < gpu_count(); k++) {
            const struct gpu *gpu = gpu_at(k);
            if (gpu->is_family || !gpu_in_family(k, family->slug))
                continue;
            members++;
            same_form = same_form && (form == FORM_COUNT || form == gpu->form_factor);
            form = gpu->form_factor;
            vram[0] = LEAST(vram[0], gpu->vram_gb_milli);
            vram[1] = GREATEST(vram[1], gpu->vram_gb_milli);
            bandwidth[0] = LEAST(bandwidth[0], gpu->memory_bandwidth_gb_per_s_milli);
            bandwidth[1] = GREATEST(bandwidth[1], gpu->memory_bandwidth_gb_per_s_milli);
            bf16[0] = LEAST(bf16[0], gpu->bf16_dense_tflops_milli);
            bf16[1] = GREATEST(bf16[1], gpu->bf16_dense_tflops_milli);
            tdp[0] = LEAST(tdp[0], gpu->tdp_watts);
            tdp[1] = GREATEST(tdp[1], gpu->tdp_watts);
        }
        families++;
        cr_expect(members >= 2, "%s: a family of one is that variant", family->slug);
        cr_expect(strcmp(family->slug, family->family) == 0, "%s", family->slug);
        cr_expect(family->form_factor == (same_form ? form : FORM_UNDISCLOSED), "%s", family->slug);
        expect_shared(family, "vram", family->vram_gb_milli, vram[0], vram[1]);
        expect_shared(family, "bandwidth", family->memory_bandwidth_gb_per_s_milli, bandwidth[0],
                      bandwidth[1]);
        expect_shared(family, "bf16", family->bf16_dense_tflops_milli, bf16[0], bf16[1]);
        expect_shared(family, "tdp", family->tdp_watts, tdp[0], tdp[1]);
    }
    cr_expect(variants >= 120, "%zu variants", variants);
    cr_expect(families >= 15, "%zu families", families);
}

Test(gpu, sxm_and_pcie_are_different_products)
{
    const struct gpu *sxm = gpu_at(gpu_find("h100-sxm")), *pcie = gpu_at(gpu_find("h100-pcie"));
    cr_expect(sxm->memory_bandwidth_gb_per_s_milli == 3350000);
    cr_expect(pcie->memory_bandwidth_gb_per_s_milli == 2040000);
    cr_expect(sxm->form_factor == FORM_SXM && pcie->form_factor == FORM_PCIE);
    cr_expect(sxm->bf16_dense_tflops_milli == 989400, "dense, not 1,979 with sparsity");
    cr_expect(gpu_at(gpu_find("h100"))->form_factor == FORM_UNDISCLOSED);
    cr_expect(gpu_at(gpu_find("h100"))->vram_gb_milli == UNKNOWN, "NVL has 94 GB");
}

Test(gpu, what_the_market_rents_is_there)
{
    static const char *const slugs[] = {"h100-sxm",
                                        "h100-pcie",
                                        "h100-nvl",
                                        "h200-sxm",
                                        "h200-nvl",
                                        "h20",
                                        "h800-sxm",
                                        "a800",
                                        "b200",
                                        "b300",
                                        "gb200",
                                        "gb300",
                                        "gh200",
                                        "gh200-96gb",
                                        "gh200-144gb",
                                        "a100-sxm-80gb",
                                        "a100-sxm-40gb",
                                        "a100-pcie-80gb",
                                        "a100-pcie-40gb",
                                        "l4",
                                        "l40",
                                        "l40s",
                                        "a2",
                                        "a10",
                                        "a10g",
                                        "a16",
                                        "a30",
                                        "a40",
                                        "t4",
                                        "t4g",
                                        "v100-sxm-16gb",
                                        "v100-sxm-32gb",
                                        "v100-pcie-16gb",
                                        "v100-pcie-32gb",
                                        "v100s",
                                        "rtx-5090",
                                        "rtx-4090",
                                        "rtx-4090-d",
                                        "rtx-4090-48gb",
                                        "rtx-4070-ti-super",
                                        "rtx-4060-ti",
                                        "rtx-3090",
                                        "rtx-2080-ti",
                                        "gtx-1080-ti",
                                        "gtx-1660-super",
                                        "rtx-a2000",
                                        "rtx-a4000",
                                        "rtx-a4500",
                                        "rtx-a5000",
                                        "rtx-a6000",
                                        "rtx-4000-ada",
                                        "rtx-5000-ada",
                                        "rtx-6000-ada",
                                        "rtx-pro-6000",
                                        "rtx-pro-6000-workstation",
                                        "rtx-pro-6000-maxq",
                                        "rtx-pro-6000-server",
                                        "quadro-rtx-6000",
                                        "quadro-rtx-8000",
                                        "p4",
                                        "p40",
                                        "p100",
                                        "k80",
                                        "m60",
                                        "k520",
                                        "v520",
                                        "v710",
                                        "mi25",
                                        "mi50",
                                        "mi60",
                                        "mi100",
                                        "mi210",
                                        "mi250",
                                        "mi250x",
                                        "mi300x",
                                        "mi300a",
                                        "mi325x",
                                        "mi350x",
                                        "mi355x",
                                        "gaudi",
                                        "gaudi-2",
                                        "gaudi-3",
                                        "tpu-v2",
                                        "tpu-v3",
                                        "tpu-v4",
                                        "tpu-v5e",
                                        "tpu-v5p",
                                        "tpu-v6e",
                                        "tpu-v7",
                                        "inferentia",
                                        "inferentia-2",
                                        "trainium",
                                        "trainium-2",
                                        "ai-100"};
    for (size_t i = 0; i < sizeof(slugs) / sizeof(slugs[0]); i++)
        cr_expect(gpu_find(slugs[i]) != INDEX_NONE, "%s", slugs[i]);
    cr_expect(gpu_find("") == INDEX_NONE && gpu_find("h1000") == INDEX_NONE &&
              gpu_find("H100-SXM") == INDEX_NONE);
    cr_expect_str_eq(gpu_at(gpu_unrecognized())->slug, "unrecognized");
}

Test(gpu, families_hold_their_variants_only)
{
    static const struct {
        const char *slug, *family;
        bool holds;
    } cases[] = {
        {"h100-sxm", "h100", true},
        {"h100", "h100", true},
        {"gh200", "h200", false},
        {"l40s", "l40", false},
        {"a10g", "a10", false},
        {"rtx-4090-48gb", "rtx-4090", true},
        {"rtx-4090-d", "rtx-4090", false},
        {"h20-3e", "h20", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        cr_expect(gpu_in_family(gpu_find(cases[i].slug), cases[i].family) == cases[i].holds,
                  "%s in %s", cases[i].slug, cases[i].family);
}

Test(gpu, a_mistyped_name_is_led_back)
{
    static const struct {
        const char *typed, *near; /* NULL: nothing is near */
    } cases[] = {
        {"h1000", "h100"},
        {"h100-smx", "h100-sxm"},
        {"rtx-409", "rtx-4090"},
        {"NVIDIA RTX 4091", "rtx-4090"},
        {"A100_SXM_80G8", "a100-sxm-80gb"},
        {"unrecognised", NULL},
        {"quantum-flux-9", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *near = gpu_nearest(cases[i].typed);
        if (cases[i].near == NULL)
            cr_expect(near == NULL, "%s leads to %s", cases[i].typed, near);
        else
            cr_expect(near != NULL && gpu_find(near) != INDEX_NONE &&
                          strncmp(near, cases[i].near, 4) == 0,
                      "%s leads to %s", cases[i].typed, near == NULL ? "nothing" : near);
    }
    cr_expect_str_eq(gpu_nearest("h100-smx"), "h100-sxm");
    cr_expect_str_eq(gpu_nearest("RTX 4O90"), "rtx-4090");
}

Test(gpu, form_factors_have_words)
{
    enum form_factor form;
    for (int i = 0; i < FORM_COUNT; i++) {
        form = FORM_COUNT;
        cr_expect(form_factor_parse(form_factor_name((enum form_factor)i), &form) &&
                  (int)form == i);
    }
    cr_expect(!form_factor_parse("SXM", &form) && !form_factor_parse("", &form) &&
              !form_factor_parse("sxm5", &form));
}
