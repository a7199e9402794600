/* Binary search over a sorted array. */
#include "server/reference/alias.h"

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
