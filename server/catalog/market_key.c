/* Which price counts, and as what. */
#include "server/catalog/market_key.h"

#include "server/catalog/rank.h"

/* Why all prices of a row are left out, or INDEX_INCLUDED. */
static enum index_reason row_reason(const int64_t *cutoff_us, const struct segment *segment,
                                    uint32_t row)
{
    enum index_reason of_gpu = index_gpu_reason(gpu_of_rank(segment->gpu_rank[row]));
    if (of_gpu != INDEX_INCLUDED)
        return of_gpu;
    if (segment->is_sample[row] != 0)
        return INDEX_SAMPLE;
    return cutoff_us != NULL && segment->own_us[row] < cutoff_us[segment->provider[row]]
               ? INDEX_STALE
               : INDEX_INCLUDED;
}

static enum index_reason entry_reason(const struct segment *segment, uint32_t row, uint32_t entry)
{
    return (segment->doubtful_bits[row] != 0 &&
            (segment->doubtful_bits[row] & segment->entry_billing[entry]) != 0) ||
                   segment->entry_microusd[entry] > INDEX_PRICE_MAX_MICROUSD
               ? INDEX_SUSPICIOUS
               : INDEX_INCLUDED;
}

enum index_reason market_reason(const struct market_source *source, const struct segment *segment,
                                uint32_t row, uint32_t entry)
{
    enum index_reason of_row = row_reason(source->cutoff_us, segment, row);
    return of_row != INDEX_INCLUDED ? of_row : entry_reason(segment, row, entry);
}

size_t market_row_keys(const int64_t *cutoff_us, const struct segment *segment, uint32_t row,
                       uint64_t keys[static ROW_KEYS_MAX])
{
    enum index_reason of_row = row_reason(cutoff_us, segment, row);
    unsigned seen = 0, seen_out = 0, seen_sized = 0;
    size_t count = 0;
    for (uint32_t e = segment->entry_start[row]; e < segment->entry_start[row + 1]; e++) {
        unsigned cell = segment->entry_market[e], commitment = cell / CLUSTER_SIZE_COUNT;
        enum index_reason reason =
            of_row != INDEX_INCLUDED ? of_row : entry_reason(segment, row, e);
        uint64_t group = (uint64_t)commitment << KEY_COMMITMENT_SHIFT;
        if (reason != INDEX_INCLUDED) {
            if ((seen_out >> commitment & 1) == 0)
                keys[count++] = group | (uint64_t)reason;
            seen_out |= 1U << commitment;
            continue;
        }
        uint64_t amount = (uint64_t)segment->entry_microusd[e] << KEY_AMOUNT_SHIFT;
        uint64_t first = (seen >> commitment & 1) == 0 ? KEY_FIRST : 0;
        uint64_t first_sized = (seen_sized >> cell & 1) == 0 ? KEY_FIRST_SIZED : 0;
        keys[count++] = group | amount | first | first_sized |
                        (uint64_t)(cell % CLUSTER_SIZE_COUNT) << KEY_SIZE_SHIFT |
                        (uint64_t)segment->continent[row] << KEY_CONTINENT_SHIFT;
        seen |= 1U << commitment;
        seen_sized |= 1U << cell;
        if (commitment < COMMITMENT_RESERVED_1)
            continue;
        keys[count++] = (uint64_t)KEY_RESERVED << KEY_COMMITMENT_SHIFT | amount |
                        ((seen >> KEY_RESERVED & 1) == 0 ? KEY_FIRST : 0);
        seen |= 1U << KEY_RESERVED;
    }
    return count;
}
