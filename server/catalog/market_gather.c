/* From prices to votes: the prices of the providers that changed are gathered as one 64-bit key
 * each, which sorts by commitment and amount and carries the rest behind; a provider's votes are
 * the middles of runs of keys. */
#include "server/base/decimal.h"
#include "server/base/sort.h"
#include "server/catalog/market_build.h"
#include "server/catalog/rank.h"

#include <stdlib.h>
#include <string.h>

/* A key: commitment (3 bits), amount (44), and 17 bits that don't matter to the order. An amount of
 * 0 stands for an offer that is left out, its reason behind it. */
#define KEY_COMMITMENT_SHIFT 61
#define KEY_AMOUNT_SHIFT     17
#define KEY_AMOUNT_MASK      ((UINT64_C(1) << 44) - 1)
#define KEY_SIZE_SHIFT       6
#define KEY_CONTINENT_SHIFT  3
#define KEY_FIRST            UINT64_C(1) /* of its offer under this commitment */
#define KEY_FIRST_SIZED      UINT64_C(2) /* and of this cluster size */
#define KEY_FIRST_RESERVED   UINT64_C(4) /* of its offer's reserved prices */

enum index_reason market_reason(const struct market_source *source, const struct segment *segment,
                                uint32_t row, uint32_t entry)
{
    enum index_reason of_gpu = index_gpu_reason(gpu_of_rank(segment->gpu_rank[row]));
    if (of_gpu != INDEX_INCLUDED)
        return of_gpu;
    if (segment->is_sample[row] != 0)
        return INDEX_SAMPLE;
    if (source->cutoff_us != NULL &&
        segment->own_us[row] < source->cutoff_us[segment->provider[row]])
        return INDEX_STALE;
    return (segment->doubtful_bits[row] & segment->entry_billing[entry]) != 0 ||
                   segment->entry_microusd[entry] > INDEX_PRICE_MAX_MICROUSD
               ? INDEX_SUSPICIOUS
               : INDEX_INCLUDED;
}

static void add_item(struct build *build, uint16_t slot, uint64_t key)
{
    if (build->item_count == build->item_capacity) {
        build->item_capacity = build->item_capacity * 2 + 256;
        build->items = xrealloc(build->items, build->item_capacity * sizeof(*build->items));
    }
    build->items[build->item_count++] = (struct item){key, slot};
    build->slot_counts[slot]++;
}

static void gather_row(struct build *build, const struct segment *segment, uint32_t row)
{
    unsigned seen = 0, seen_out = 0, seen_sized = 0;
    bool seen_reserved = false;
    uint16_t slot = segment->provider[row];
    for (uint32_t e = segment->entry_start[row]; e < segment->entry_start[row + 1]; e++) {
        unsigned cell = segment->entry_market[e], commitment = cell / CLUSTER_SIZE_COUNT;
        enum index_reason reason = market_reason(build->source, segment, row, e);
        uint64_t key = (uint64_t)commitment << KEY_COMMITMENT_SHIFT;
        if (reason != INDEX_INCLUDED) {
            if ((seen_out >> commitment & 1) == 0)
                add_item(build, slot, key | (uint64_t)reason);
            seen_out |= 1U << commitment;
            continue;
        }
        key |= (uint64_t)segment->entry_microusd[e] << KEY_AMOUNT_SHIFT |
               (uint64_t)(cell % CLUSTER_SIZE_COUNT) << KEY_SIZE_SHIFT |
               (uint64_t)segment->continent[row] << KEY_CONTINENT_SHIFT;
        if ((seen >> commitment & 1) == 0)
            key |= KEY_FIRST;
        if ((seen_sized >> cell & 1) == 0)
            key |= KEY_FIRST_SIZED;
        if (!seen_reserved && commitment >= COMMITMENT_RESERVED_1) {
            key |= KEY_FIRST_RESERVED;
            seen_reserved = true;
        }
        seen |= 1U << commitment;
        seen_sized |= 1U << cell;
        add_item(build, slot, key);
    }
}

static void gather(struct build *build, uint16_t rank)
{
    const struct snapshot *snapshot = build->source->snapshot;
    build->item_count = 0;
    for (size_t s = 0; s < snapshot->segment_count; s++) {
        const struct segment *segment = snapshot->segments[s];
        for (uint32_t row = segment->gpu_start[rank]; row < segment->gpu_start[rank + 1]; row++) {
            uint16_t slot = segment->provider[row];
            if ((build->wanted == NULL || build->wanted[slot] != 0) &&
                alive_has(build->source->alive[s], row) &&
                !snapshot->slots[slot]->provider.suspended)
                gather_row(build, segment, row);
        }
    }
}

static void contribute(struct build *build, unsigned cell, uint32_t offers, int64_t microusd)
{
    build->made[build->made_count++] = (struct part_item){microusd, offers, (uint16_t)cell};
}

static uint64_t amount_of(uint64_t key)
{
    return key >> KEY_AMOUNT_SHIFT & KEY_AMOUNT_MASK;
}

/* The vote of sorted keys whose bits under `mask` are `value`, with the offers that `first` marks.
 */
static void vote(struct build *build, unsigned cell, const uint64_t *keys, size_t count,
                 uint64_t mask, uint64_t value, uint64_t first)
{
    size_t kept = 0;
    uint32_t offers = 0;
    for (size_t i = 0; i < count; i++) {
        if ((keys[i] & mask) != value)
            continue;
        build->scratch[kept++] = amount_of(keys[i]);
        offers += (keys[i] & first) != 0;
    }
    if (kept > 0)
        contribute(build, cell, offers, index_median(build->scratch, kept));
}

/* The votes of one provider under one commitment. */
static void vote_commitment(struct build *build, unsigned commitment, const uint64_t *keys,
                            size_t count)
{
    const uint64_t size_mask = UINT64_C(3) << KEY_SIZE_SHIFT,
                   continent_mask = UINT64_C(7) << KEY_CONTINENT_SHIFT;
    unsigned sizes = 0, continents = 0;
    for (size_t i = 0; i < count; i++) {
        sizes |= 1U << (keys[i] >> KEY_SIZE_SHIFT & 3);
        continents |= 1U << (keys[i] >> KEY_CONTINENT_SHIFT & 7);
    }
    vote(build, CELL_TERM(commitment), keys, count, 0, 0, KEY_FIRST);
    for (unsigned i = 0; i < CLUSTER_SIZE_COUNT; i++) {
        if ((sizes >> i & 1) != 0)
            vote(build, CELL_SIZED(commitment, i), keys, count, size_mask,
                 (uint64_t)i << KEY_SIZE_SHIFT, KEY_FIRST_SIZED);
    }
    for (unsigned i = 0; i < CONTINENT_COUNT; i++) {
        if ((continents >> i & 1) != 0)
            vote(build, CELL_CONTINENT(commitment, i), keys, count, continent_mask,
                 (uint64_t)i << KEY_CONTINENT_SHIFT, KEY_FIRST);
    }
}

/* Offers of a provider left out of one commitment: keys with amount 0 and their reason. */
static void count_excluded(struct build *build, unsigned commitment, const uint64_t *keys,
                           size_t count)
{
    uint32_t offers[INDEX_REASON_COUNT] = {0};
    for (size_t i = 0; i < count; i++)
        offers[keys[i] & 0xff]++;
    for (unsigned reason = 0; reason < INDEX_REASON_COUNT; reason++) {
        if (offers[reason] > 0)
            contribute(build, CELL_EXCLUDED(commitment, reason), offers[reason], 0);
    }
}

static void vote_reserved(struct build *build, const uint64_t *keys, size_t count)
{
    size_t kept = 0;
    uint32_t offers = 0;
    uint64_t *amounts = build->scratch;
    for (size_t i = 0; i < count; i++) {
        if (keys[i] >> KEY_COMMITMENT_SHIFT < COMMITMENT_RESERVED_1 || amount_of(keys[i]) == 0)
            continue;
        amounts[kept++] = amount_of(keys[i]);
        offers += (keys[i] & KEY_FIRST_RESERVED) != 0;
    }
    if (kept == 0)
        return;
    sort_u64(amounts, amounts + kept, kept);
    contribute(build, CELL_RESERVED, offers, index_median(amounts, kept));
}

static int compare_items(const void *a, const void *b)
{
    return ((const struct part_item *)a)->cell - ((const struct part_item *)b)->cell;
}

/* All that one provider contributes to the GPU at hand; its keys are sorted here. */
static struct provider_part *make_part(struct build *build, uint16_t slot, uint64_t *keys,
                                       size_t count)
{
    build->made_count = 0;
    sort_u64(keys, build->scratch, count);
    for (size_t at = 0, next; at < count; at = next) {
        unsigned commitment = (unsigned)(keys[at] >> KEY_COMMITMENT_SHIFT);
        size_t priced = at;
        for (next = at; next < count && keys[next] >> KEY_COMMITMENT_SHIFT == commitment; next++)
            priced += amount_of(keys[next]) == 0;
        count_excluded(build, commitment, keys + at, priced - at);
        if (priced < next)
            vote_commitment(build, commitment, keys + priced, next - priced);
    }
    vote_reserved(build, keys, count);
    qsort(build->made, build->made_count, sizeof(build->made[0]), compare_items);
    struct provider_part *part =
        xcalloc(1, sizeof(*part) + build->made_count * sizeof(struct part_item));
    atomic_init(&part->references, 1);
    part->slot = slot;
    part->count = (uint16_t)build->made_count;
    memcpy(part->items, build->made, build->made_count * sizeof(struct part_item));
    return part;
}

static int compare_slots(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* What the gathered items come to, by slot. */
static void contribute_items(struct build *build)
{
    size_t slot_count = 0, start = 0;
    if (build->item_count > build->key_capacity) {
        build->key_capacity = build->item_count + build->item_count / 2;
        build->keys = xrealloc(build->keys, build->key_capacity * sizeof(*build->keys));
        build->scratch =
            xrealloc(build->scratch, 2 * build->key_capacity * sizeof(*build->scratch));
    }
    /* The counts become where each provider's keys go; `slots` is in order of slot. */
    for (size_t i = 0; i < build->item_count; i++) {
        uint16_t slot = build->items[i].slot;
        if (build->slot_counts[slot] >> 31 == 0) {
            build->slots[slot_count++] = slot;
            build->slot_counts[slot] |= UINT32_C(1) << 31;
        }
    }
    qsort(build->slots, slot_count, sizeof(*build->slots), compare_slots);
    uint32_t *ends = build->slot_counts;
    for (size_t i = 0; i < slot_count; i++) {
        size_t count = ends[build->slots[i]] & INT32_MAX;
        ends[build->slots[i]] = (uint32_t)start;
        start += count;
    }
    for (size_t i = 0; i < build->item_count; i++)
        build->keys[ends[build->items[i].slot]++] = build->items[i].key;
    start = 0;
    for (size_t i = 0; i < slot_count; i++) {
        size_t end = ends[build->slots[i]];
        build->parts[i] = make_part(build, build->slots[i], build->keys + start, end - start);
        start = end;
    }
    for (size_t i = 0; i < slot_count; i++)
        build->slot_counts[build->slots[i]] = 0;
    build->part_count = slot_count;
}

void market_gather(struct build *build, uint16_t rank)
{
    gather(build, rank);
    contribute_items(build);
}
