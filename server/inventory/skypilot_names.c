/* Names in catalogues lose suffixes; instance types and GPU info often still have them. */
#include "server/inventory/skypilot_names.h"

#include "server/base/decimal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The text of `'key': '…'`, or NULL. */
static const char *quoted_after(const char *text, const char *key, struct arena *arena)
{
    const char *at = strstr(text, key);
    if (at == NULL)
        return NULL;
    at += strlen(key);
    at += strspn(at, ": ");
    if (*at != '\'' && *at != '"')
        return NULL;
    const char *end = strchr(at + 1, *at);
    return end == NULL || end == at + 1 ? NULL
                                        : arena_strndup(arena, at + 1, (size_t)(end - at - 1));
}

void gpu_info_read(const char *text, struct arena *arena, struct gpu_info *ret_info)
{
    *ret_info = (struct gpu_info){.size_mib = UNKNOWN};
    if (text == NULL || *text == '\0')
        return;
    if (*text != '{') {
        ret_info->name = text;
        return;
    }
    ret_info->name = quoted_after(text, "'Name'", arena);
    const char *size = strstr(text, "'SizeInMiB'");
    if (size == NULL)
        return;
    size += strlen("'SizeInMiB'");
    size += strspn(size, ": ");
    int64_t value;
    size_t digits = strspn(size, "0123456789.");
    if (digits > 0 && decimal_parse(size, digits, 0, true, &value) <= DECIMAL_ROUNDED && value > 0)
        ret_info->size_mib = value;
    /* The one catalogue that gives the total of all GPUs here is also the only one that leaves the
     * manufacturer out. */
    ret_info->size_is_total =
        strstr(text, "'Manufacturer'") == NULL && strstr(text, "'Count'") != NULL;
}

/* 4x-RTX_4070S_Ti-32-65536, gpu_1x_h100_sxm5, gpu-h100-sxm_1gpu-16vcpu-200gb, 1x_A100-80GB_SECURE:
 * the name inside. NULL where the type isn't built so. */
static const char *name_in_type(const char *type, struct arena *arena)
{
    const char *at = type;
    if (strncmp(at, "gpu_", 4) == 0 || strncmp(at, "gpu-", 4) == 0)
        at += 4;
    size_t digits = strspn(at, "0123456789");
    bool counted =
        digits > 0 && at[digits] == 'x' && (at[digits + 1] == '-' || at[digits + 1] == '_');
    if (counted)
        at += digits + 2;
    if (at == type)
        return NULL;
    char *name = arena_strdup(arena, at);
    char *gpus = strstr(name, "gpu-");
    if (!counted && gpus != NULL && gpus > name && isdigit((unsigned char)gpus[-1])) {
        while (gpus > name && isdigit((unsigned char)gpus[-1]))
            gpus--;
        if (gpus > name)
            gpus[-1] = '\0';
        return name;
    }
    for (int cuts = 0; cuts < 2; cuts++) {
        char *hyphen = strrchr(name, '-');
        if (hyphen == NULL || hyphen[1] == '\0' ||
            strspn(hyphen + 1, "0123456789") != strlen(hyphen + 1))
            break;
        *hyphen = '\0';
    }
    return name;
}

/* Whether `more` is the same product said more exactly than `less`. */
static bool says_more(uint16_t less, uint16_t more)
{
    const struct gpu *a = gpu_at(less), *b = gpu_at(more);
    if (more == less || more == gpu_unrecognized())
        return false;
    if (less == gpu_unrecognized())
        return true;
    if (strcmp(a->family, b->family) == 0)
        return a->is_family && !b->is_family;
    /* A lost suffix: rtx-4070 where the type says rtx-4070-ti-super. */
    size_t length = strlen(a->family);
    return strncmp(b->family, a->family, length) == 0 && b->family[length] == '-';
}

/* The size of one GPU in thousandths of a GB that fits the named product: as reported, divided by
 * the count, or meant as GB; UNKNOWN where nothing was reported. *ret_fits is false when none of
 * these is a known size. */
static int64_t vram_of(struct decoding *decoding, const char *name, const struct gpu_info *info,
                       int32_t gpu_count_milli, bool *ret_fits)
{
    *ret_fits = true;
    if (info->size_mib == UNKNOWN || info->size_mib > INT32_MAX)
        return UNKNOWN;
    bool overflow;
    int64_t as_mib = info->size_mib * 1000 / 1024;
    if (decoding_resolve_gpu(decoding, name, UNKNOWN)->gpu == gpu_unrecognized())
        return gpu_count_milli == 1000 && as_mib >= 1000 ? as_mib : UNKNOWN;
    int64_t of_all = gpu_count_milli > 1000
                         ? decimal_muldiv_half_even(as_mib, 1000, gpu_count_milli, &overflow)
                         : -1;
    const int64_t readings[] = {
        info->size_is_total ? of_all : as_mib, info->size_is_total ? as_mib : of_all,
        info->size_mib < 1000 ? info->size_mib * 1000 : -1, /* GB */
    };
    for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++) {
        if (readings[i] >= 1000 && /* no accelerator has less than 1 GB */
            decoding_resolve_gpu(decoding, name, readings[i])->vram_fits)
            return readings[i];
    }
    *ret_fits = false;
    return UNKNOWN;
}

void skypilot_refine(struct decoding *decoding, const char *accelerator,
                     const struct gpu_info *info, const char *instance_type,
                     int32_t gpu_count_milli, struct named_gpu *ret)
{
    const char *candidates[2] = {
        info->name, instance_type == NULL ? NULL : name_in_type(instance_type, &decoding->scratch)};
    ret->raw = decoding_keep(decoding, accelerator);
    ret->vram_gb_milli = vram_of(decoding, ret->raw, info, gpu_count_milli, &ret->fits);
    const struct gpu_match *match = decoding_resolve_gpu(decoding, ret->raw, ret->vram_gb_milli);
    uint16_t best = match->gpu;
    int64_t size = ret->vram_gb_milli != UNKNOWN ? ret->vram_gb_milli : match->vram_gb_milli;
    for (size_t i = 0; i < 2; i++) {
        if (candidates[i] == NULL || strlen(candidates[i]) > OFFER_RAW_NAME_MAX_BYTES ||
            !text_is_clean(candidates[i], strlen(candidates[i])))
            continue;
        const char *name = decoding_keep(decoding, candidates[i]);
        match = decoding_resolve_gpu(decoding, name, size);
        bool sized = match->vram_fits;
        if (!sized) /* another product than the short name: its own sizes count */
            match = decoding_resolve_gpu(decoding, name, UNKNOWN);
        if (!says_more(best, match->gpu))
            continue;
        best = match->gpu;
        ret->raw = name;
        ret->vram_gb_milli = vram_of(decoding, name, info, gpu_count_milli, &ret->fits);
        /* What the shorter name said of the size ("A100-80GB" against "A100 PCIe") stays known. */
        if (ret->vram_gb_milli == UNKNOWN && sized)
            ret->vram_gb_milli = size;
    }
}
