/* Cuts raw names into words and sorts the words by what they say. A word is never cut inside,
 * except where a count, a size or a form factor is glued to it (8xH100, H100SXM5, H100PCIe80GB). */
#include "server/reference/gpu_name.h"

#include "server/base/decimal.h"
#include "server/model/offer.h"

#include <stdlib.h>
#include <string.h>

#define RAW_BYTES_MAX 256

typedef void take_word(void *context, const char *word, size_t length);

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Bytes of other scripts belong to words: a word nobody knows must not vanish. */
static bool is_word_byte(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
}

static size_t count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

static bool all_digits(const char *text)
{
    return *text != '\0' && text[count_digits(text)] == '\0';
}

/* ---- cutting ---- */

/* Signs that stand in product names without meaning, and the multiplication sign. */
static const struct {
    const char *bytes;
    char stands_for;
} signs[] = {
    {"\xe2\x84\xa2", ' '}, {"\xc2\xae", ' '},     {"\xc2\xa9", ' '},     {"\xc2\xa0", ' '},
    {"\xe2\x80\x93", ' '}, {"\xe2\x80\x94", ' '}, {"\xe2\x80\x91", ' '}, {"\xc3\x97", 'x'},
    {"(r)", ' '},          {"(R)", ' '},          {"(tm)", ' '},         {"(TM)", ' '},
    {"(c)", ' '},          {"(C)", ' '},
};

/* Lower case, signs replaced. False where `raw` didn't fit. */
static bool normalise(const char *raw, char *out, size_t size)
{
    size_t length = 0;
    while (*raw != '\0' && length + 1 < size) {
        size_t used = 1;
        char c = *raw >= 'A' && *raw <= 'Z' ? (char)(*raw - 'A' + 'a') : *raw;
        bool may_be_sign = (unsigned char)c >= 0x80 || c == '(';
        for (size_t i = 0; may_be_sign && i < sizeof(signs) / sizeof(signs[0]); i++) {
            if (strncmp(raw, signs[i].bytes, strlen(signs[i].bytes)) == 0) {
                used = strlen(signs[i].bytes);
                c = signs[i].stands_for;
            }
        }
        out[length++] = c;
        raw += used;
    }
    out[length] = '\0';
    return *raw == '\0';
}

/* Length of a count glued to the front (8x of 8xh100), 0 without. */
static size_t count_in_front(const char *word)
{
    size_t digits = count_digits(word);
    bool counts = digits > 0 && digits <= 3 && word[digits] == 'x' && word[digits + 1] != '\0' &&
                  word[digits + 2] != '\0';
    return counts ? digits + 1 : 0;
}

/* Where a count glued to the end begins (x8 of h100x8), or `length`. The X of AMD's names and of
 * tpu7x is no count. */
static size_t count_behind(const char *word, size_t length)
{
    size_t at = length;
    while (at > 0 && is_digit(word[at - 1]))
        at--;
    bool counts = at >= 3 && length - at >= 1 && length - at <= 2 && word[at - 1] == 'x' &&
                  is_digit(word[at - 2]) && strncmp(word, "mi", 2) != 0;
    return counts ? at - 1 : length;
}

/* Where a size glued to the end begins (80gb of pcie80gb), or `length`. */
static size_t size_behind(const char *word, size_t length)
{
    size_t unit = length >= 3 && strcmp(word + length - 3, "gib") == 0  ? 3
                  : length >= 2 && strcmp(word + length - 2, "gb") == 0 ? 2
                                                                        : 0;
    size_t at = length - unit;
    while (unit > 0 && at > 0 && (is_digit(word[at - 1]) || word[at - 1] == '.'))
        at--;
    if (unit == 0 || at == 0 || at == length - unit)
        return length;
    /* sxm480gb: the first figure is the socket's. */
    if (at >= 3 && strncmp(word + at - 3, "sxm", 3) == 0 && length - unit - at >= 3)
        at++;
    return at;
}

static size_t form_behind(const char *word, size_t length)
{
    static const char *const endings[] = {"sxm2", "sxm3", "sxm4", "sxm5", "sxm6",
                                          "sxm",  "pcie", "nvl",  "oam"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && strncmp(word + length - ending, endings[i], ending) == 0)
            return length - ending;
    }
    return length;
}

static void split_word(const char *text, size_t length, take_word *take, void *context)
{
    char word[GPU_NAME_WORD_BYTES];
    if (length >= sizeof(word)) {
        take(context, text, length);
        return;
    }
    memcpy(word, text, length);
    word[length] = '\0';
    size_t front = count_in_front(word);
    char *rest = word + front;
    size_t rest_length = length - front;
    size_t behind = size_behind(rest, rest_length);
    if (behind == rest_length)
        behind = count_behind(rest, rest_length);
    rest[behind] = '\0';
    /* `text` still has what was cut off. */
    const size_t cuts[] = {0, front, front + form_behind(rest, behind), front + behind, length};
    for (size_t i = 0; i + 1 < sizeof(cuts) / sizeof(cuts[0]); i++) {
        if (cuts[i + 1] > cuts[i])
            take(context, text + cuts[i], cuts[i + 1] - cuts[i]);
    }
}

/* Gives the words of a normalised name one by one. */
static void each_word(const char *name, take_word *take, void *context)
{
    size_t start = 0;
    for (size_t i = 0;; i++) {
        bool point = name[i] == '.' && i > start && is_digit(name[i - 1]) && is_digit(name[i + 1]);
        if (name[i] != '\0' && (is_word_byte(name[i]) || point))
            continue;
        if (i > start)
            split_word(name + start, i - start, take, context);
        if (name[i] == '\0')
            return;
        start = i + 1;
    }
}

/* ---- what words say ---- */

/* Words that name no product; in order of bytes. */
static const char *const filler_words[] = {
    "accelerator", "accelerators", "alveo",      "amazon",   "amd",        "aws",      "card",
    "center",      "chip",         "chips",      "cloud",    "community",  "core",     "cores",
    "corporation", "data",         "datacenter", "device",   "edition",    "gddr5",    "gddr5x",
    "gddr6",       "gddr6x",       "gddr7",      "geforce",  "generation", "google",   "gpu",
    "gpus",        "graphics",     "grid",       "habana",   "hbm2",       "instance", "instinct",
    "intel",       "labs",         "me",         "memory",   "mig",        "nvidia",   "nvlink",
    "of",          "per",          "podslice",   "qualcomm", "radeon",     "secure",   "series",
    "slice",       "superchip",    "tensor",     "tesla",    "vgpu",       "vram",     "with",
};

static int compare_words(const void *word, const void *filler)
{
    return strcmp(word, *(const char *const *)filler);
}

static bool is_filler(const char *word)
{
    size_t digits = count_digits(word);
    if (digits > 0 && strcmp(word + digits, "x") == 0)
        return true; /* 8x */
    if (word[0] == 'x' && all_digits(word + 1))
        return true; /* x8 */
    if (strncmp(word, "nvl", 3) == 0 && all_digits(word + 3))
        return true; /* the rack: NVL72 */
    return bsearch(word, filler_words, sizeof(filler_words) / sizeof(filler_words[0]),
                   sizeof(filler_words[0]), compare_words) != NULL;
}

static enum form_factor form_of(const char *word)
{
    if (strncmp(word, "sxm", 3) == 0 && (word[3] == '\0' || (is_digit(word[3]) && word[4] == '\0')))
        return FORM_SXM;
    if (strcmp(word, "hgx") == 0 || strcmp(word, "dgx") == 0)
        return FORM_SXM; /* both boards carry SXM modules only */
    if (strcmp(word, "pcie") == 0 || strcmp(word, "pci") == 0)
        return FORM_PCIE;
    if (strcmp(word, "nvl") == 0)
        return FORM_NVL;
    return strcmp(word, "oam") == 0 ? FORM_OAM : FORM_COUNT;
}

static enum gpu_era era_of(const char *word)
{
    static const struct {
        const char *word;
        enum gpu_era era;
    } eras[] = {
        {"turing", ERA_TURING},       {"ampere", ERA_AMPERE}, {"lovelace", ERA_ADA},
        {"blackwell", ERA_BLACKWELL}, {"volta", ERA_UNSAID},  {"hopper", ERA_UNSAID},
    };
    for (size_t i = 0; i < sizeof(eras) / sizeof(eras[0]); i++) {
        if (strcmp(word, eras[i].word) == 0)
            return eras[i].era;
    }
    return ERA_UNSAID;
}

static bool is_era(const char *word)
{
    return era_of(word) != ERA_UNSAID || strcmp(word, "volta") == 0 || strcmp(word, "hopper") == 0;
}

/* 80gb, 80g, 80gib, 81559mib as thousandths of a GB; UNKNOWN for anything else. `next` may be the
 * unit of a bare number, "" without. */
static int64_t size_of(const char *word, const char *next, bool *ret_used_next)
{
    size_t digits = strspn(word, "0123456789.");
    const char *unit = word[digits] == '\0' ? next : word + digits;
    int64_t value;
    *ret_used_next = false;
    if (digits == 0 || decimal_parse(word, digits, 3, false, &value) != DECIMAL_OK)
        return UNKNOWN;
    bool gb = strcmp(unit, "gb") == 0 || strcmp(unit, "gib") == 0 ||
              (strcmp(unit, "g") == 0 && unit != next);
    bool mib = strcmp(unit, "mib") == 0;
    if (!gb && !mib)
        return UNKNOWN;
    *ret_used_next = unit == next;
    return gb ? value : value / 1024;
}

/* ---- a name taken apart ---- */

struct word_list {
    char words[GPU_NAME_WORDS_MAX + 1][GPU_NAME_WORD_BYTES]; /* the last one stays empty */
    size_t count;
    bool too_long;
};

static void collect(void *context, const char *word, size_t length)
{
    struct word_list *list = context;
    if (list->count == GPU_NAME_WORDS_MAX || length >= GPU_NAME_WORD_BYTES) {
        list->too_long = true;
        return;
    }
    memcpy(list->words[list->count], word, length);
    list->words[list->count++][length] = '\0';
}

/* Two different form factors leave it open; an NVL card is a PCIe card too. */
static void note_form(struct gpu_name *name, enum form_factor form, bool *ambiguous)
{
    bool nvl = (name->form == FORM_NVL && form == FORM_PCIE) ||
               (name->form == FORM_PCIE && form == FORM_NVL);
    if (nvl)
        form = FORM_NVL;
    *ambiguous = *ambiguous || (name->form != FORM_COUNT && name->form != form && !nvl);
    name->form = form;
}

/* Takes in what isn't the model: gives how many words were used, 0 for a word of the model. */
static size_t note_fact(struct gpu_name *name, const char (*words)[GPU_NAME_WORD_BYTES],
                        bool *ambiguous)
{
    const char *word = words[0], *next = words[1];
    bool used_next;
    size_t digits = count_digits(word);
    /* A partition, 1g.10gb, is a share of the GPU and no size of it. */
    if (digits > 0 && strcmp(word + digits, "g") == 0 && size_of(next, "", &used_next) != UNKNOWN)
        return 2;
    if (strcmp(word, "of") == 0 && all_digits(next))
        return 2; /* per GPU of 4 */
    if (all_digits(word) && strcmp(next, "x") == 0)
        return 2; /* 2 x */
    int64_t size = size_of(word, next, &used_next);
    if (size != UNKNOWN) {
        name->vram_gb_milli = size;
        return used_next ? 2 : 1;
    }
    if (form_of(word) != FORM_COUNT) {
        note_form(name, form_of(word), ambiguous);
        bool spelled_out =
            strcmp(word, "pci") == 0 && (strcmp(next, "e") == 0 || strcmp(next, "express") == 0);
        return spelled_out ? 2 : 1;
    }
    if (is_era(word)) {
        name->era = era_of(word);
        return 1;
    }
    if (strcmp(word, "hbm3") == 0 || strcmp(word, "hbm3e") == 0 || strcmp(word, "hbm2e") == 0) {
        name->memory = strcmp(word, "hbm2e") == 0 ? MEMORY_HBM2E : MEMORY_HBM3;
        return 1;
    }
    if (strcmp(word, "mod") == 0 || strcmp(word, "modded") == 0 || strcmp(word, "modified") == 0) {
        name->modified = true;
        return 1;
    }
    return is_filler(word) ? 1 : 0;
}

void gpu_name_parse(const char *raw, struct gpu_name *ret_name)
{
    char normal[RAW_BYTES_MAX];
    struct word_list list = {.count = 0};
    bool ambiguous = false;
    *ret_name = (struct gpu_name){.form = FORM_COUNT, .vram_gb_milli = UNKNOWN};
    ret_name->too_long = !normalise(raw, normal, sizeof(normal));
    each_word(normal, collect, &list);
    ret_name->too_long = ret_name->too_long || list.too_long;
    for (size_t i = 0; i < list.count;) {
        size_t used =
            note_fact(ret_name, (const char(*)[GPU_NAME_WORD_BYTES]) & list.words[i], &ambiguous);
        if (used == 0)
            memcpy(ret_name->words[ret_name->word_count++], list.words[i], GPU_NAME_WORD_BYTES);
        i += used == 0 ? 1 : used;
    }
    if (ambiguous)
        ret_name->form = FORM_COUNT;
}

void gpu_name_key(const struct gpu_name *name, size_t count, char ret_key[GPU_NAME_KEY_BYTES])
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        size_t add = strlen(name->words[i]);
        if (length + add + 2 > GPU_NAME_KEY_BYTES) {
            length = 0; /* longer than any key */
            break;
        }
        if (length > 0 && is_digit(ret_key[length - 1]) && is_digit(name->words[i][0]))
            ret_key[length++] = ' ';
        memcpy(ret_key + length, name->words[i], add);
        length += add;
    }
    ret_key[length] = '\0';
}

/* ---- folding ---- */

struct folding {
    char *out;
    size_t size, length;
};

static void keep_word(void *context, const char *text, size_t length)
{
    struct folding *folding = context;
    for (size_t i = 0; i < length && folding->length + 1 < folding->size; i++)
        folding->out[folding->length++] = text[i];
}

static void keep_unless_filler(void *context, const char *text, size_t length)
{
    char word[GPU_NAME_WORD_BYTES];
    if (length < sizeof(word)) {
        memcpy(word, text, length);
        word[length] = '\0';
        if (is_filler(word))
            return;
    }
    keep_word(context, text, length);
}

size_t gpu_name_fold(const char *raw, char *out, size_t size)
{
    char normal[RAW_BYTES_MAX];
    struct folding folding = {.out = out, .size = size};
    normalise(raw, normal, sizeof(normal));
    each_word(normal, keep_unless_filler, &folding);
    /* A name of nothing but filler is told from others by its filler. */
    if (folding.length == 0)
        each_word(normal, keep_word, &folding);
    out[folding.length] = '\0';
    return folding.length;
}
