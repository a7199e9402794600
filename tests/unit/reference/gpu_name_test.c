/* Names taken apart, and the key under which spellings meet. */
#include "server/reference/gpu_name.h"

#include "server/base/decimal.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(gpu_name, .timeout = 10);

Test(gpu_name, words_sizes_and_form_factors_are_told_apart)
{
    static const struct {
        const char *raw, *key;
        enum form_factor form;
        int64_t vram_milli;
    } cases[] = {
        {"NVIDIA A100-SXM4-80GB", "a100", FORM_SXM, 80000},
        {"H100PCIe80GB", "h100", FORM_PCIE, 80000},
        {"8xH100SXM5", "h100", FORM_SXM, UNKNOWN},
        {"L40Sx4", "l40sx4", FORM_COUNT, UNKNOWN},
        {"T4x2", "t4", FORM_COUNT, UNKNOWN},
        {"MI300Xx8", "mi300xx8", FORM_COUNT, UNKNOWN},
        {"GB300 287.5 GB", "gb300", FORM_COUNT, 287500},
        {"H100 81559MiB", "h100", FORM_COUNT, 79647},
        {"RTX 4090 24G", "rtx4090", FORM_COUNT, 24000},
        {"A10 0", "a10 0", FORM_COUNT, UNKNOWN},
        {"A100 1g.5gb", "a100", FORM_COUNT, UNKNOWN},
        {"66X00", "00", FORM_COUNT, UNKNOWN},
        {"7900XTX", "7900xtx", FORM_COUNT, UNKNOWN},
        {"...---///", "", FORM_COUNT, UNKNOWN},
        {"80.5.1GB", "80.5.1gb", FORM_COUNT, UNKNOWN},
        {"99999999999999999999GB", "99999999999999999999gb", FORM_COUNT, UNKNOWN},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gpu_name name;
        char key[GPU_NAME_KEY_BYTES];
        gpu_name_parse(cases[i].raw, &name);
        gpu_name_key(&name, name.word_count, key);
        cr_expect(strcmp(key, cases[i].key) == 0 && name.form == cases[i].form &&
                      name.vram_gb_milli == cases[i].vram_milli && !name.too_long,
                  "`%s`: %s, form %d, %ld", cases[i].raw, key, (int)name.form,
                  (long)name.vram_gb_milli);
    }
}

Test(gpu_name, what_is_too_long_is_said_to_be)
{
    char text[600];
    struct gpu_name name;
    memset(text, 'a', sizeof(text));
    text[599] = '\0';
    gpu_name_parse(text, &name);
    cr_expect(name.too_long);
    text[GPU_NAME_WORD_BYTES] = '\0';
    gpu_name_parse(text, &name);
    cr_expect(name.too_long, "a word of %d bytes", GPU_NAME_WORD_BYTES);
    text[GPU_NAME_WORD_BYTES - 1] = '\0';
    gpu_name_parse(text, &name);
    cr_expect(!name.too_long && name.word_count == 1);
    gpu_name_parse("a b c d e f g h i j k l m n o p q", &name);
    cr_expect(name.too_long, "17 words");
}

static void fold(const char *raw, char out[64])
{
    size_t length = gpu_name_fold(raw, out, 64);
    cr_expect(length == strlen(out), "`%s`", raw);
}

Test(gpu_name, spellings_meet_and_products_do_not)
{
    static const struct {
        const char *a, *b;
        bool meet;
    } cases[] = {
        {"H100_SXM5", "NVIDIA  h100 sxm5 GPU", true},
        {"A100-80GB", "a100 80gb", true},
        {"8x H100", "H100", true},
        {"GeForce\xc2\xae RTX 4090", "rtx-4090", true},
        {"H100 80GB", "H100 80GB HBM3", false}, /* the latter is SXM */
        {"RTX 6000", "RTX 6000 Ada", false},
        {"RTX 4090 48GB", "RTX 4090 48GB mod", false},
        {"NVIDIA GPU", "AMD GPU", false},
        {"\xe6\x98\xbe\xe5\x8d\xa1", "\xe7\x81\xab", false},
        {"Quantum 9", "quantum_9", true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char a[64], b[64];
        fold(cases[i].a, a);
        fold(cases[i].b, b);
        cr_expect((strcmp(a, b) == 0) == cases[i].meet, "`%s` folds to %s, `%s` to %s", cases[i].a,
                  a, cases[i].b, b);
    }
}

Test(gpu_name, folding_is_bounded_and_settles)
{
    static const char *const names[] = {
        "NVIDIA H100 80GB HBM3", "RTX_4070S_Ti", "8xH100SXM5", "GPU", "tpu-v5p-10880", ""};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char whole[64], again[64];
        fold(names[i], whole);
        for (size_t size = 1; size < 20; size++) {
            char part[64];
            memset(part, '#', sizeof(part));
            size_t length = gpu_name_fold(names[i], part, size);
            cr_expect(length < size && part[length] == '\0' && part[size] == '#' &&
                          strncmp(part, whole, length) == 0,
                      "`%s` in %zu bytes", names[i], size);
        }
        fold(whole, again);
        cr_expect(strcmp(whole, again) == 0 || strlen(again) < strlen(whole),
                  "`%s` folds to %s, that to %s", names[i], whole, again);
    }
}
