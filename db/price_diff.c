/* A merge of two sorted lists of prices. */
#include "db/price_diff.h"

static bool same(const struct price *a, const struct price *b)
{
    return a->quoted_microusd == b->quoted_microusd && a->quoted_per == b->quoted_per &&
           a->max_gpus == b->max_gpus && a->per_gpu_hour_microusd == b->per_gpu_hour_microusd &&
           a->per_node_hour_microusd == b->per_node_hour_microusd;
}

void price_diff(const struct price *before, size_t before_count, const struct price *after,
                size_t after_count, price_diff_take *take, void *closure)
{
    size_t b = 0, a = 0;
    while (b < before_count || a < after_count) {
        int order = b == before_count  ? 1
                    : a == after_count ? -1
                                       : price_compare_identity(&before[b], &after[a]);
        if (order < 0) {
            take(closure, &before[b++], NULL);
        } else if (order > 0) {
            take(closure, NULL, &after[a++]);
        } else {
            if (!same(&before[b], &after[a]))
                take(closure, &before[b], &after[a]);
            b++;
            a++;
        }
    }
}
