/* Binary search over a sorted array, and the keys it is sorted by. */
#include "server/reference/alias.h"

#include "server/model/offer.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <stdio.h>
#include <string.h>

const char *alias_set_find(const struct alias_set *set, const char *folded_key)
{
    size_t low = 0, high = set == NULL ? 0 : set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(set->items[middle].key, folded_key);
        if (order == 0)
            return set->items[middle].slug;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const char *alias_kind_name(enum alias_kind kind)
{
    return kind == ALIAS_GPU ? "gpu" : "place";
}

bool alias_kind_parse(const char *text, enum alias_kind *ret)
{
    *ret = strcmp(text, "place") == 0 ? ALIAS_PLACE : ALIAS_GPU;
    return strcmp(text, alias_kind_name(*ret)) == 0;
}

bool alias_key(enum alias_kind kind, const char *provider, const char *name,
               char out[static ALIAS_KEY_SIZE])
{
    if (kind == ALIAS_GPU)
        return gpu_name_fold(name, out, ALIAS_KEY_SIZE) > 0;
    int length = snprintf(out, ALIAS_KEY_SIZE, "%.63s/", provider == NULL ? "" : provider);
    place_name_fold(name, out + length, ALIAS_KEY_SIZE - (size_t)length);
    return out[length] != '\0';
}

bool alias_target_is_known(enum alias_kind kind, const char *slug)
{
    if (kind == ALIAS_PLACE)
        return place_find(slug) != INDEX_NONE;
    uint16_t gpu = gpu_find(slug);
    return gpu != INDEX_NONE && gpu != gpu_unrecognized();
}

const char *alias_nearest_target(enum alias_kind kind, const char *name)
{
    return kind == ALIAS_GPU ? gpu_nearest(name) : place_nearest(name);
}
