/* What others ask for the same thing: the median that an upload's prices are held against. Computed
 * from the columns when asked, for one GPU at a time; an upload asks once per kind of price. */
#include "server/base/decimal.h"
#include "server/catalog/rank.h"
#include "server/catalog/snapshot.h"

#include <stdlib.h>
#include <string.h>

#define PRICES_MIN 5    /* fewer say nothing about a market */
#define PRICES_MAX 8192 /* a median of so many does not move with more */

static int compare_prices(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

int64_t snapshot_price_median(const struct snapshot *snapshot, uint16_t gpu_index,
                              enum billing billing, int32_t term_months,
                              const char *except_provider)
{
    uint16_t rank = gpu_rank(gpu_index);
    int64_t *prices = xmalloc(PRICES_MAX * sizeof(*prices));
    size_t count = 0;
    for (size_t s = 0; s < snapshot->segment_count; s++) {
        const struct segment *segment = snapshot->segments[s];
        for (uint32_t row = segment->gpu_start[rank]; row < segment->gpu_start[rank + 1]; row++) {
            const struct provider *provider = &snapshot->slots[segment->provider[row]]->provider;
            if (!alive_has(snapshot->alive[s], row) || segment->is_sample[row] ||
                provider->suspended || strcmp(provider->slug, except_provider) == 0)
                continue;
            for (uint32_t e = segment->entry_start[row]; e < segment->entry_start[row + 1]; e++) {
                if (segment->entry_billing[e] == (1U << billing) &&
                    segment->entry_term[e] == term_months && count < PRICES_MAX)
                    prices[count++] = segment->entry_microusd[e];
            }
        }
    }
    int64_t median = UNKNOWN;
    if (count >= PRICES_MIN) {
        qsort(prices, count, sizeof(*prices), compare_prices);
        median = prices[count / 2];
    }
    free(prices);
    return median;
}
