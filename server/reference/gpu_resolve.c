/* From a raw name to a variant. The name is cut into tokens; vendor and filler words go; tokens for
 * form factor and memory are set aside; what is left, joined, must be exactly a model's key. So L4
 * is never found inside L40S, nor 4090 inside 4090D. */
#include "server/reference/gpu_table.h"

#include "server/base/decimal.h"
#include "server/model/offer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TOKENS_MAX  24
#define TOKEN_BYTES 32
#define KEY_BYTES   64

struct tokens {
    char text[TOKENS_MAX][TOKEN_BYTES];
    size_t count;
};

struct parsed_name {
    char key[KEY_BYTES];
    int form;              /* enum form_factor, or -1 */
    int64_t vram_gb_milli; /* UNKNOWN where the name has none */
    bool hbm3;
};

static const char *const filler_words[] = {
    "nvidia",    "amd",    "intel",     "google",   "aws",         "amazon",       "qualcomm",
    "habana",    "tesla",  "geforce",   "radeon",   "instinct",    "gpu",          "gpus",
    "tensor",    "core",   "cores",     "edition",  "accelerator", "accelerators", "generation",
    "graphics",  "card",   "hbm2",      "hbm2e",    "hbm3",        "hbm3e",        "gddr5",
    "gddr5x",    "gddr6",  "gddr6x",    "gddr7",    "cloud",       "mega",         "grid",
    "blackwell", "hopper", "ampere",    "lovelace", "turing",      "volta",        "series",
    "with",      "secure", "community", "data",     "center",      "alveo",        "device",
    "chip",      "mod",    "modded",    "vram",     "memory",
};

static bool is_filler(const char *token)
{
    for (size_t i = 0; i < sizeof(filler_words) / sizeof(filler_words[0]); i++) {
        if (strcmp(token, filler_words[i]) == 0)
            return true;
    }
    /* Counts: 8x, x8. */
    size_t length = strlen(token);
    if (length >= 2 && token[0] == 'x' && strspn(token + 1, "0123456789") == length - 1)
        return true;
    return length >= 2 && token[length - 1] == 'x' && strspn(token, "0123456789") == length - 1;
}

static void add_token(struct tokens *tokens, const char *text, size_t length)
{
    if (length == 0 || tokens->count == TOKENS_MAX)
        return;
    if (length >= TOKEN_BYTES)
        length = TOKEN_BYTES - 1;
    memcpy(tokens->text[tokens->count], text, length);
    tokens->text[tokens->count++][length] = '\0';
}

/* Cuts a form factor off the end of a token: h100sxm5 is h100 and sxm5. */
static void split_token(struct tokens *tokens, const char *text, size_t length)
{
    static const char *const endings[] = {"sxm2", "sxm3", "sxm4", "sxm5", "sxm6",
                                          "sxm",  "pcie", "nvl",  "oam"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && memcmp(text + length - ending, endings[i], ending) == 0) {
            add_token(tokens, text, length - ending);
            add_token(tokens, text + length - ending, ending);
            return;
        }
    }
    add_token(tokens, text, length);
}

static void tokenize(const char *raw, struct tokens *tokens)
{
    char lower[256];
    size_t length = 0;
    for (; raw[length] != '\0' && length < sizeof(lower) - 1; length++)
        lower[length] = (char)tolower((unsigned char)raw[length]);
    lower[length] = '\0';
    tokens->count = 0;
    size_t start = 0;
    for (size_t i = 0; i <= length; i++) {
        bool inside =
            i < length && (isalnum((unsigned char)lower[i]) ||
                           (lower[i] == '.' && i > 0 && isdigit((unsigned char)lower[i - 1]) &&
                            isdigit((unsigned char)lower[i + 1])));
        if (inside)
            continue;
        split_token(tokens, lower + start, i - start);
        start = i + 1;
    }
}

/* 80gb, 80g, 80gib as thousandths of a GB; UNKNOWN for anything else. `next` may be the unit of a
 * bare number. */
static int64_t memory_of(const char *token, const char *next, bool *ret_used_next)
{
    size_t digits = strspn(token, "0123456789.");
    const char *unit = token + digits;
    int64_t value;
    *ret_used_next = false;
    if (digits == 0 || decimal_parse(token, digits, 3, false, &value) != DECIMAL_OK)
        return UNKNOWN;
    if (*unit == '\0' && next != NULL && (strcmp(next, "gb") == 0 || strcmp(next, "gib") == 0)) {
        *ret_used_next = true;
        return value;
    }
    return strcmp(unit, "gb") == 0 || strcmp(unit, "gib") == 0 || strcmp(unit, "g") == 0 ? value
                                                                                         : UNKNOWN;
}

static int form_of(const char *token)
{
    if (strncmp(token, "sxm", 3) == 0 &&
        (token[3] == '\0' || (isdigit((unsigned char)token[3]) && token[4] == '\0')))
        return FORM_SXM;
    if (strcmp(token, "hgx") == 0 || strcmp(token, "dgx") == 0)
        return FORM_SXM; /* both boards carry SXM modules only */
    if (strcmp(token, "pcie") == 0)
        return FORM_PCIE;
    if (strcmp(token, "nvl") == 0)
        return FORM_NVL;
    if (strcmp(token, "oam") == 0)
        return FORM_OAM;
    return -1;
}

static void parse_name(const char *raw, struct parsed_name *ret)
{
    struct tokens tokens;
    tokenize(raw, &tokens);
    *ret = (struct parsed_name){.form = -1, .vram_gb_milli = UNKNOWN};
    size_t length = 0;
    bool tpu = tokens.count > 0 && (strcmp(tokens.text[0], "tpu") == 0 ||
                                    (tokens.count > 1 && strcmp(tokens.text[1], "tpu") == 0));
    for (size_t i = 0; i < tokens.count; i++) {
        const char *token = tokens.text[i];
        const char *next = i + 1 < tokens.count ? tokens.text[i + 1] : NULL;
        bool used_next;
        int64_t memory = memory_of(token, next, &used_next);
        ret->hbm3 = ret->hbm3 || strcmp(token, "hbm3") == 0;
        if (memory != UNKNOWN) {
            ret->vram_gb_milli = memory;
            i += used_next;
            continue;
        }
        if (form_of(token) >= 0) {
            ret->form = form_of(token);
            continue;
        }
        if (is_filler(token))
            continue;
        /* The last number of tpu-v3-32 counts cores or chips of the slice. */
        if (tpu && i == tokens.count - 1 && i > 1 && strspn(token, "0123456789") == strlen(token))
            continue;
        size_t add = strlen(token);
        if (length + add < KEY_BYTES) {
            memcpy(ret->key + length, token, add);
            length += add;
        }
    }
    ret->key[length] = '\0';
}

size_t gpu_name_fold(const char *raw, char *out, size_t size)
{
    struct tokens tokens;
    tokenize(raw, &tokens);
    size_t length = 0;
    for (size_t i = 0; i < tokens.count; i++) {
        if (is_filler(tokens.text[i]))
            continue;
        for (const char *c = tokens.text[i]; *c != '\0' && length + 1 < size; c++)
            out[length++] = *c;
    }
    out[length] = '\0';
    return length;
}

/* Keys that are not simply a slug without hyphens. A key followed by a size names the size too
 * (a100-pcie-80 at one catalogue). */
static const struct {
    const char *key;
    const char *slug;
} keys[] = {
    {"tpuv5litepod", "tpu-v5e"},
    {"tpuv5lite", "tpu-v5e"},
    {"v5litepod", "tpu-v5e"},
    {"trillium", "tpu-v6e"},
    {"ironwood", "tpu-v7"},
    {"trainium1", "trainium"},
    {"trn1", "trainium"},
    {"trn2", "trainium-2"},
    {"inferentia1", "inferentia"},
    {"inf1", "inferentia"},
    {"inf2", "inferentia-2"},
    {"inf", "inferentia"},
    {"gaudi1", "gaudi"},
    {"gaudihl205", "gaudi"},
    {"hl205", "gaudi"},
    {"gaudihl225", "gaudi-2"},
    {"prov520", "v520"},
    {"prov620", "v620"},
    {"prov710", "v710"},
    {"prow7900", "w7900"},
    {"max1100", "max-1100"},
    {"max1550", "max-1550"},
    {"3080ti", "rtx-3080-ti"},
    {"3070ti", "rtx-3070-ti"},
    {"3060ti", "rtx-3060-ti"},
    {"3090ti", "rtx-3090-ti"},
    {"3090", "rtx-3090"},
    {"3080", "rtx-3080"},
    {"3070", "rtx-3070"},
    {"3060", "rtx-3060"},
    {"4090", "rtx-4090"},
    {"4090d", "rtx-4090-d"},
    {"4080", "rtx-4080"},
    {"4080super", "rtx-4080-super"},
    {"4080s", "rtx-4080-super"},
    {"rtx4080s", "rtx-4080-super"},
    {"4070", "rtx-4070"},
    {"4070ti", "rtx-4070-ti"},
    {"4070super", "rtx-4070-super"},
    {"rtx4070s", "rtx-4070-super"},
    {"4070s", "rtx-4070-super"},
    {"rtx4070sti", "rtx-4070-ti-super"},
    {"4070sti", "rtx-4070-ti-super"},
    {"4070tisuper", "rtx-4070-ti-super"},
    {"rtx4070superti", "rtx-4070-ti-super"},
    {"4060", "rtx-4060"},
    {"4060ti", "rtx-4060-ti"},
    {"5090", "rtx-5090"},
    {"5090d", "rtx-5090-d"},
    {"5080", "rtx-5080"},
    {"5070", "rtx-5070"},
    {"5070ti", "rtx-5070-ti"},
    {"5060", "rtx-5060"},
    {"5060ti", "rtx-5060-ti"},
    {"2080ti", "rtx-2080-ti"},
    {"1080ti", "gtx-1080-ti"},
    {"a4000", "rtx-a4000"},
    {"a4500", "rtx-a4500"},
    {"a5000", "rtx-a5000"},
    {"a5500", "rtx-a5500"},
    {"a6000", "rtx-a6000"},
    {"a2000", "rtx-a2000"},
    {"quadrortxa6000", "rtx-a6000"},
    {"6000ada", "rtx-6000-ada"},
    {"5000ada", "rtx-5000-ada"},
    {"4000ada", "rtx-4000-ada"},
    {"rtxada6000", "rtx-6000-ada"},
    {"rtx6000ada", "rtx-6000-ada"},
    {"4500ada", "rtx-4500-ada"},
    {"2000ada", "rtx-2000-ada"},
    {"5880ada", "rtx-5880-ada"},
    {"rtx4000adasff", "rtx-4000-sff-ada"},
    {"rtxpro6000ws", "rtx-pro-6000-workstation"},
    {"rtxpro6000wk", "rtx-pro-6000-workstation"},
    {"rtxpro6000se", "rtx-pro-6000-server"},
    {"rtxpro6000s", "rtx-pro-6000-server"},
    {"rtxpro6000maxqworkstation", "rtx-pro-6000-maxq"},
    {"rtxpro6000workstationmaxq", "rtx-pro-6000-maxq"},
    {"pro6000", "rtx-pro-6000"},
    {"pro6000workstation", "rtx-pro-6000-workstation"},
    {"pro6000server", "rtx-pro-6000-server"},
    {"pro6000maxq", "rtx-pro-6000-maxq"},
    {"rtx8000", "quadro-rtx-8000"},
    {"gh200superchip", "gh200"},
    {"gracehopper", "gh200"},
    {"gh200grace", "gh200"},
    {"gb200nvl72", "gb200"},
    {"gb200superchip", "gb200"},
    {"gb300nvl72", "gb300"},
    {"b300ultra", "b300"},
    {"u30media", "u30"},
    {"v100s32", "v100s"},
    {"titanrtx", "titan-rtx"},
    {"7900xtx", "rx-7900-xtx"},
};

/* The Turing Quadro RTX 4000, 5000 and 6000 share their bare names with Ada cards that dropped the
 * word Quadro. Size decides (8, 16 and 24 GB are Turing; 20, 32 and 48 GB Ada); without one the
 * name is open. */
static const struct {
    const char *key;
    int64_t vram_gb_milli;
    const char *slug;
} sized_keys[] = {
    {"rtx4000", 8000, "quadro-rtx-4000"},  {"rtx4000", 20000, "rtx-4000-ada"},
    {"rtx5000", 16000, "quadro-rtx-5000"}, {"rtx5000", 32000, "rtx-5000-ada"},
    {"rtx6000", 24000, "quadro-rtx-6000"}, {"rtx6000", 48000, "rtx-6000-ada"},
    {"rtx6000", 96000, "rtx-pro-6000"},
};

/* Compares a key with a slug, its hyphens passed over. */
static bool same_without_hyphens(const char *key, const char *slug)
{
    while (*slug != '\0') {
        if (*slug == '-') {
            slug++;
            continue;
        }
        if (*key++ != *slug++)
            return false;
    }
    return *key == '\0';
}

static uint16_t find_key(const char *key)
{
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strcmp(keys[i].key, key) == 0)
            return gpu_find(keys[i].slug);
    }
    for (uint16_t i = 0; i < gpu_count(); i++) {
        if (same_without_hyphens(key, gpu_at(i)->slug) ||
            same_without_hyphens(key, gpu_at(i)->family))
            return same_without_hyphens(key, gpu_at(i)->slug) ? i : gpu_find(gpu_at(i)->family);
    }
    return INDEX_NONE;
}

/* A reported size meets a nominal one: drivers report 1 to 7 % less (ECC, firmware), in binary
 * units up to 2 % more. */
static bool same_size(int64_t nominal_milli, int64_t reported_milli)
{
    int64_t difference = nominal_milli - reported_milli;
    return difference * 100 <= nominal_milli * 8 && -difference * 100 <= nominal_milli * 4;
}

static bool sized(const char *key, int64_t vram_gb_milli, uint16_t *ret)
{
    bool known = false;
    *ret = INDEX_NONE;
    for (size_t i = 0; i < sizeof(sized_keys) / sizeof(sized_keys[0]); i++) {
        if (strcmp(sized_keys[i].key, key) != 0)
            continue;
        known = true;
        if (vram_gb_milli != UNKNOWN && same_size(sized_keys[i].vram_gb_milli, vram_gb_milli))
            *ret = gpu_find(sized_keys[i].slug);
    }
    return known;
}

static void note_size(struct gpu_match *match, int64_t size_milli)
{
    for (size_t i = 0; i < match->known_size_count; i++) {
        if (match->known_sizes_milli[i] == size_milli)
            return;
    }
    if (size_milli != UNKNOWN && match->known_size_count < 8)
        match->known_sizes_milli[match->known_size_count++] = size_milli;
}

/* Narrows a family to the variants with the stated form factor and size; one left is the answer. */
static void narrow(uint16_t found, int form, int64_t vram_gb_milli, struct gpu_match *ret)
{
    const struct gpu *start = gpu_at(found);
    const char *family = start->family;
    bool exact =
        !start->is_family && strcmp(start->slug, family) != 0; /* the name was a full variant's */
    uint16_t left = INDEX_NONE;
    size_t count = 0;
    int64_t nominal = UNKNOWN;
    for (uint16_t i = 0; i < gpu_count(); i++) {
        const struct gpu *gpu = gpu_at(i);
        if (gpu->is_family || (exact ? i != found : strcmp(gpu->family, family) != 0))
            continue;
        note_size(ret, gpu->vram_gb_milli);
        if (form >= 0 && (int)gpu->form_factor != form &&
            !(form == FORM_SXM && strcmp(gpu->slug, gpu->family) == 0))
            continue;
        bool size_fits = vram_gb_milli == UNKNOWN || gpu->vram_gb_milli == UNKNOWN ||
                         same_size(gpu->vram_gb_milli, vram_gb_milli);
        if (vram_gb_milli != UNKNOWN && gpu->vram_gb_milli != UNKNOWN && size_fits)
            nominal = gpu->vram_gb_milli;
        if (!size_fits)
            continue;
        /* The plain product of a family stands for it unless a size says otherwise (RTX 4090
         * against its 48 GB conversion). */
        if (vram_gb_milli == UNKNOWN && strcmp(gpu->slug, family) == 0) {
            left = i;
            count = 1;
            break;
        }
        left = i;
        count++;
    }
    ret->vram_fits = vram_gb_milli == UNKNOWN || nominal != UNKNOWN || ret->known_size_count == 0;
    ret->gpu = count == 1 ? left : exact ? found : gpu_find(family);
    ret->vram_gb_milli = gpu_at(ret->gpu)->vram_gb_milli;
    if (ret->vram_gb_milli == UNKNOWN)
        ret->vram_gb_milli = nominal != UNKNOWN ? nominal : vram_gb_milli;
}

void gpu_resolve(const char *raw, int64_t vram_hint_gb_milli, const struct alias_set *extra,
                 struct gpu_match *ret_match)
{
    struct parsed_name name;
    char folded[128];
    *ret_match = (struct gpu_match){.vram_fits = true, .vram_gb_milli = vram_hint_gb_milli};
    parse_name(raw, &name);
    int64_t vram = name.vram_gb_milli != UNKNOWN ? name.vram_gb_milli : vram_hint_gb_milli;
    gpu_name_fold(raw, folded, sizeof(folded));
    const char *alias = alias_set_find(extra, folded);
    uint16_t found = alias == NULL ? INDEX_NONE : gpu_find(alias);
    uint16_t by_size;
    if (found == INDEX_NONE && name.key[0] != '\0') {
        if (sized(name.key, vram, &by_size)) {
            found = by_size;
        } else {
            found = find_key(name.key);
            /* a100-pcie-80: the number behind is the size. */
            size_t length = strlen(name.key);
            for (size_t digits = 2; found == INDEX_NONE && digits <= 3 && length > digits + 1;
                 digits++) {
                char shorter[KEY_BYTES];
                int64_t size;
                memcpy(shorter, name.key, length - digits);
                shorter[length - digits] = '\0';
                if (decimal_parse(name.key + length - digits, digits, 0, false, &size) !=
                        DECIMAL_OK ||
                    name.form < 0)
                    continue;
                found = find_key(shorter);
                if (found != INDEX_NONE)
                    vram = size * 1000;
            }
        }
    }
    if (found == INDEX_NONE || found == gpu_unrecognized()) {
        ret_match->gpu = gpu_unrecognized();
        return;
    }
    /* Drivers print `NVIDIA H100 80GB HBM3` for the SXM module; PCIe and NVL cards name themselves
     * so. */
    if (name.hbm3 && name.form < 0 && strcmp(gpu_at(found)->slug, "h100") == 0)
        name.form = FORM_SXM;
    narrow(found, name.form, vram, ret_match);
}
