/* From a raw name to an entry: the words of the model, joined, must be exactly a key. So L4 is
 * never found inside L40S, nor 4090 inside 4090D. Form factor and size then choose among the
 * variants of the family; what they leave open stays open. */
#include "server/reference/gpu_keys.h"

#include "server/base/decimal.h"
#include "server/model/offer.h"

#include <stdlib.h>
#include <string.h>

#define SIZES_MAX (sizeof(((struct gpu_match *)NULL)->known_sizes_milli) / sizeof(int64_t))

/* Where a name led before form factor and size have chosen. */
struct finding {
    uint16_t gpu;
    int64_t vram_gb_milli; /* the size to choose by: the name's own before the hinted one */
    bool settled;          /* a size that isn't the nominal one led here: it has done its work */
};

static bool is_figure(const char *word)
{
    return *word != '\0' && word[strspn(word, "0123456789")] == '\0';
}

/* 24q, 40c: what vGPU software hangs behind the board's name. */
static bool is_vgpu_profile(const char *word)
{
    size_t digits = strspn(word, "0123456789");
    return digits > 0 && digits <= 2 && word[digits] != '\0' && word[digits + 1] == '\0' &&
           strchr("abcq", word[digits]) != NULL;
}

static uint16_t find_words(const struct gpu_name *name, size_t count, struct finding *finding)
{
    char key[GPU_NAME_KEY_BYTES];
    bool by_size;
    gpu_name_key(name, count, key);
    uint16_t found = gpu_key_find_conditional(key, finding->vram_gb_milli, name->era, &by_size);
    if (found == INDEX_NONE)
        return gpu_key_find(key);
    finding->settled = by_size;
    return found;
}

static bool family_has_size(uint16_t gpu, int64_t vram_gb_milli)
{
    size_t count;
    const uint16_t *variants = gpu_family_variants(gpu, &count);
    for (size_t i = 0; i < count; i++) {
        if (gpu_at(variants[i])->vram_gb_milli == vram_gb_milli)
            return true;
    }
    return false;
}

/* The last word may be no part of the model: the size (a100-pcie-80), the chips or cores of a TPU
 * slice (tpu-v3-32), a vGPU profile (A100-40C). */
static void find_without_last(const struct gpu_name *name, struct finding *finding)
{
    size_t count = name->word_count - 1;
    const char *last = name->words[count];
    if (is_vgpu_profile(last)) {
        finding->gpu = find_words(name, count, finding);
        if (finding->gpu == INDEX_NONE && count > 1 && is_figure(name->words[count - 1]))
            finding->gpu = find_words(name, count - 1, finding); /* A100-4-20C */
        return;
    }
    int64_t figure;
    if (!is_figure(last) || decimal_parse(last, strlen(last), 3, false, &figure) != DECIMAL_OK)
        return;
    uint16_t found = find_words(name, count, finding);
    if (found == INDEX_NONE)
        return;
    if (name->vram_gb_milli == UNKNOWN && family_has_size(found, figure)) {
        finding->gpu = found;
        finding->vram_gb_milli = figure;
    } else if (strncmp(gpu_at(found)->slug, "tpu-", 4) == 0) {
        finding->gpu = found;
    }
}

/* Drivers print `NVIDIA H100 80GB HBM3` for the SXM module; the PCIe card has HBM2e, and the NVL
 * card, which has HBM3 too, says NVL. */
static enum form_factor form_by_memory(const struct gpu_name *name, const struct finding *finding)
{
    bool h100 = strcmp(gpu_at(finding->gpu)->slug, "h100") == 0;
    if (!h100 || name->form != FORM_COUNT || name->memory == MEMORY_UNSAID ||
        (finding->vram_gb_milli != UNKNOWN && !gpu_same_size(80000, finding->vram_gb_milli)))
        return name->form;
    return name->memory == MEMORY_HBM3 ? FORM_SXM : FORM_PCIE;
}

static void note_size(struct gpu_match *match, int64_t size_milli)
{
    size_t at = 0;
    while (at < match->known_size_count && match->known_sizes_milli[at] < size_milli)
        at++;
    if (size_milli == UNKNOWN || match->known_size_count == SIZES_MAX ||
        (at < match->known_size_count && match->known_sizes_milli[at] == size_milli))
        return;
    memmove(&match->known_sizes_milli[at + 1], &match->known_sizes_milli[at],
            (match->known_size_count - at) * sizeof(int64_t));
    match->known_sizes_milli[at] = size_milli;
    match->known_size_count++;
}

/* Whether a product can't have the stated form factor: a module is no card. Superchips and others
 * are called by many names. */
static bool contradicts(enum form_factor stated, enum form_factor form)
{
    bool module = form == FORM_SXM || form == FORM_OAM;
    bool stated_module = stated == FORM_SXM || stated == FORM_OAM;
    bool stated_card = stated == FORM_PCIE || stated == FORM_NVL;
    return (stated_module && form == FORM_PCIE) || (stated_card && module);
}

/* The variants still possible. */
struct choice {
    const uint16_t *variants;
    size_t count;
    enum form_factor form; /* FORM_COUNT: any */
};

static bool allows(const struct choice *choice, const struct gpu *gpu)
{
    return choice->form == FORM_COUNT || gpu->form_factor == choice->form;
}

/* The one variant left, by size where there is one; INDEX_NONE where none or several are.
 * `ret_size` becomes the nominal size met nearest, or UNKNOWN. */
static uint16_t choose(const struct choice *choice, int64_t vram_gb_milli, int64_t *ret_size)
{
    uint16_t left = INDEX_NONE;
    size_t count = 0;
    int64_t nearest = INT64_MAX;
    *ret_size = UNKNOWN;
    for (size_t i = 0; i < choice->count; i++) {
        const struct gpu *gpu = gpu_at(choice->variants[i]);
        int64_t size = gpu->vram_gb_milli;
        if (!allows(choice, gpu))
            continue;
        if (vram_gb_milli != UNKNOWN) {
            if (size == UNKNOWN || !gpu_same_size(size, vram_gb_milli) ||
                llabs(size - vram_gb_milli) > nearest)
                continue;
            if (llabs(size - vram_gb_milli) < nearest)
                count = 0;
            nearest = llabs(size - vram_gb_milli);
            *ret_size = size;
        } else if (strcmp(gpu->slug, gpu->family) == 0) {
            return choice->variants[i]; /* the plain product, unless a size says otherwise */
        }
        left = choice->variants[i];
        count++;
    }
    return count == 1 ? left : INDEX_NONE;
}

/* Narrows what was found to one variant, or to the family where several are left. */
static void narrow(const struct finding *finding, enum form_factor form, struct gpu_match *ret)
{
    const struct gpu *found = gpu_at(finding->gpu);
    struct choice choice = {.variants = &finding->gpu, .count = 1, .form = FORM_COUNT};
    int64_t size = finding->settled ? UNKNOWN : finding->vram_gb_milli, met;
    uint16_t family = gpu_find(found->family);
    if (found->is_family || finding->gpu == family)
        choice.variants = gpu_family_variants(finding->gpu, &choice.count);
    for (size_t i = 0; i < choice.count; i++) {
        const struct gpu *gpu = gpu_at(choice.variants[i]);
        note_size(ret, gpu->vram_gb_milli);
        if (gpu->form_factor == form)
            choice.form = form;
    }
    if (form != FORM_COUNT && choice.form == FORM_COUNT && !gpu_at(family)->is_family &&
        contradicts(form, found->form_factor)) {
        ret->gpu = gpu_unrecognized(); /* a product nobody knows, not another one */
        ret->vram_gb_milli = size;
        ret->known_size_count = 0;
        return;
    }
    ret->gpu = choose(&choice, size, &met);
    ret->vram_fits = size == UNKNOWN || met != UNKNOWN || ret->known_size_count == 0;
    if (ret->gpu == INDEX_NONE && !ret->vram_fits) {
        int64_t ignored;
        ret->gpu = choose(&choice, UNKNOWN, &ignored); /* what form factor alone decides */
    }
    if (ret->gpu == INDEX_NONE)
        ret->gpu = family;
    int64_t nominal = gpu_at(ret->gpu)->vram_gb_milli;
    ret->vram_gb_milli = nominal != UNKNOWN ? nominal : met;
}

/* A hinted size beside a size in the name must fit too. */
static void check_hint(int64_t hint_milli, const struct gpu_name *name, struct gpu_match *match)
{
    bool by_size;
    char key[GPU_NAME_KEY_BYTES];
    if (hint_milli == UNKNOWN || match->vram_gb_milli == UNKNOWN || !match->vram_fits)
        return;
    gpu_name_key(name, name->word_count, key);
    match->vram_fits =
        gpu_same_size(match->vram_gb_milli, hint_milli) ||
        (gpu_key_find_conditional(key, hint_milli, ERA_UNSAID, &by_size) != INDEX_NONE);
}

void gpu_resolve(const char *raw, int64_t vram_hint_gb_milli, const struct alias_set *extra,
                 struct gpu_match *ret_match)
{
    struct gpu_name name;
    char folded[ALIAS_KEY_SIZE];
    *ret_match = (struct gpu_match){.gpu = gpu_unrecognized(), .vram_fits = true};
    gpu_name_parse(raw, &name);
    ret_match->form = name.form;
    struct finding finding = {.gpu = INDEX_NONE};
    finding.vram_gb_milli = name.vram_gb_milli != UNKNOWN ? name.vram_gb_milli : vram_hint_gb_milli;
    ret_match->vram_gb_milli = finding.vram_gb_milli;
    if (extra != NULL && extra->count > 0) {
        gpu_name_fold(raw, folded, sizeof(folded));
        const char *slug = alias_set_find(extra, folded);
        finding.gpu = slug == NULL ? INDEX_NONE : gpu_find(slug);
    }
    bool by_operator = finding.gpu != INDEX_NONE;
    if (finding.gpu == INDEX_NONE && name.word_count > 0 && !name.too_long) {
        finding.gpu = find_words(&name, name.word_count, &finding);
        if (finding.gpu == INDEX_NONE && name.word_count > 1)
            find_without_last(&name, &finding);
    }
    if (finding.gpu == INDEX_NONE || finding.gpu == gpu_unrecognized())
        return;
    struct gpu_match match = *ret_match;
    narrow(&finding, form_by_memory(&name, &finding), &match);
    /* A modification whose size isn't a known one's is nobody's product, unless an operator says
     * whose. */
    if (!by_operator && name.modified &&
        strcmp(gpu_at(match.gpu)->slug, gpu_at(match.gpu)->family) == 0)
        return;
    if (name.vram_gb_milli != UNKNOWN)
        check_hint(vram_hint_gb_milli, &name, &match);
    *ret_match = match;
}
