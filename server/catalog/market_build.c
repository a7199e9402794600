/* Building the tables. For each GPU the prices of the providers that changed are gathered as one
 * 64-bit key each, which sorts by commitment and amount and carries the rest behind; the provider's
 * votes are the middles of runs of keys. The others' contributions are taken over. From all
 * contributions together come the figures. */
#include "server/base/decimal.h"
#include "server/base/sort.h"
#include "server/catalog/market_table.h"
#include "server/catalog/rank.h"
#include "server/reference/gpu.h"

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

struct item {
    uint64_t key;
    uint16_t slot;
};

/* What changes in a cell: a contribution that goes, comes, or becomes another. */
struct cell_change {
    struct contribution now; /* offers 0: it goes */
    uint16_t cell;
};

struct build {
    const struct market_source *source;
    const uint8_t *wanted; /* by slot: gather its prices; NULL: everybody's */
    struct item *items;
    size_t item_count, item_capacity;
    uint64_t *keys, *scratch; /* room for keys, and for three times as many */
    size_t key_capacity;
    uint32_t *slot_counts;        /* by slot; all 0 between GPUs */
    uint16_t *slots;              /* those with items */
    struct provider_part **parts; /* of the wanted providers now, by slot; room for all slots */
    size_t part_count;
    struct part_item made[CELL_COUNT]; /* of the provider at hand */
    size_t made_count;
    struct cell_change *changes;
    size_t change_count, change_capacity;
    uint16_t *stamps; /* by slot: 1 + the cell in which it changes */
    struct contribution *merged;
    struct market_slots order;
    struct index_vote *votes;
    uint64_t *vote_scratch;
    size_t vote_capacity;
};

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

static void change(struct build *build, uint16_t slot, const struct part_item *now, uint16_t cell)
{
    if (build->change_count == build->change_capacity) {
        build->change_capacity = build->change_capacity * 2 + 256;
        build->changes = xrealloc(build->changes, build->change_capacity * sizeof(*build->changes));
    }
    struct cell_change *to = &build->changes[build->change_count++];
    *to = (struct cell_change){.now = {.slot = slot}, .cell = cell};
    if (now != NULL)
        to->now = (struct contribution){now->microusd, now->offers, slot};
}

/* What differs between a provider's part of before and of now; either may be NULL. */
static void compare_parts(struct build *build, const struct provider_part *before,
                          const struct provider_part *now)
{
    uint16_t slot = now != NULL ? now->slot : before->slot;
    size_t old_count = before == NULL ? 0 : before->count, new_count = now == NULL ? 0 : now->count;
    for (size_t i = 0, j = 0; i < old_count || j < new_count;) {
        const struct part_item *x = i < old_count ? &before->items[i] : NULL;
        const struct part_item *y = j < new_count ? &now->items[j] : NULL;
        if (y == NULL || (x != NULL && x->cell < y->cell)) {
            change(build, slot, NULL, x->cell);
            i++;
            continue;
        }
        if (x == NULL || y->cell < x->cell || x->microusd != y->microusd || x->offers != y->offers)
            change(build, slot, y, y->cell);
        i += x != NULL && x->cell == y->cell;
        j++;
    }
}

/* All parts after the change, by slot; the changes of cells are noted on the way. */
static void combine_parts(struct build *build, const struct gpu_market *base,
                          struct gpu_market *market)
{
    size_t old_count = base == NULL ? 0 : base->part_count, next = 0;
    market->parts = xcalloc(old_count + build->part_count, sizeof(struct provider_part *));
    build->change_count = 0;
    for (size_t i = 0; i < old_count; i++) {
        struct provider_part *old = base->parts[i], *now = NULL;
        for (; next < build->part_count && build->parts[next]->slot < old->slot; next++) {
            compare_parts(build, NULL, build->parts[next]);
            market->parts[market->part_count++] = build->parts[next];
        }
        if (build->wanted != NULL && build->wanted[old->slot] == 0) {
            atomic_fetch_add_explicit(&old->references, 1, memory_order_relaxed);
            market->parts[market->part_count++] = old;
            continue;
        }
        if (next < build->part_count && build->parts[next]->slot == old->slot)
            now = market->parts[market->part_count++] = build->parts[next++];
        compare_parts(build, old, now);
    }
    for (; next < build->part_count; next++) {
        compare_parts(build, NULL, build->parts[next]);
        market->parts[market->part_count++] = build->parts[next];
    }
}

static bool comes_before(const struct contribution *a, const struct contribution *b)
{
    return a->microusd < b->microusd || (a->microusd == b->microusd && a->slot < b->slot);
}

static int compare_changes(const void *a, const void *b)
{
    const struct cell_change *x = a, *y = b;
    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return comes_before(&x->now, &y->now) ? -1 : comes_before(&y->now, &x->now);
}

/* The contributions of a cell after its changes (in order), into build->merged. */
static size_t merge_cell(struct build *build, const struct market_cell *base,
                         const struct cell_change *changes, size_t change_count)
{
    size_t old_count = base == NULL ? 0 : base->count, count = 0, next = 0;
    uint16_t stamp = (uint16_t)(changes[0].cell + 1);
    for (size_t i = 0; i < change_count; i++)
        build->stamps[changes[i].now.slot] = stamp;
    while (next < change_count && changes[next].now.offers == 0)
        next++; /* those that only go come first: their amount is 0 */
    for (size_t i = 0; i < old_count; i++) {
        const struct contribution *old = &base->contributions[i];
        if (build->stamps[old->slot] == stamp)
            continue;
        while (next < change_count && comes_before(&changes[next].now, old)) {
            if (changes[next].now.offers > 0)
                build->merged[count++] = changes[next].now;
            next++;
        }
        build->merged[count++] = *old;
    }
    for (; next < change_count; next++) {
        if (changes[next].now.offers > 0)
            build->merged[count++] = changes[next].now;
    }
    for (size_t i = 0; i < change_count; i++)
        build->stamps[changes[i].now.slot] = 0;
    return count;
}

static struct market_cell *make_cell(struct build *build, unsigned at, size_t count)
{
    struct market_cell *cell = xcalloc(1, sizeof(*cell) + count * sizeof(struct contribution));
    atomic_init(&cell->references, 1);
    cell->count = (uint32_t)count;
    memcpy(cell->contributions, build->merged, count * sizeof(struct contribution));
    for (size_t i = 0; i < count; i++)
        cell->offers += cell->contributions[i].offers;
    if (at >= CELL_VOTES)
        return cell;
    market_settle(cell, &build->order, build->votes, build->vote_scratch, &cell->figures);
    for (size_t i = 0; i < count; i++) {
        cell->resold += build->votes[i].reason == INDEX_RESOLD ? build->votes[i].offers : 0;
        cell->outliers += build->votes[i].reason == INDEX_OUTLIER ? build->votes[i].offers : 0;
    }
    return cell;
}

/* The cell after its changes. */
static struct market_cell *build_cell(struct build *build, const struct market_cell *base,
                                      const struct cell_change *changes, size_t change_count)
{
    size_t room = (base == NULL ? 0 : base->count) + change_count;
    if (room > build->vote_capacity) {
        build->vote_capacity = room * 2;
        build->votes = xrealloc(build->votes, build->vote_capacity * sizeof(*build->votes));
        build->merged = xrealloc(build->merged, build->vote_capacity * sizeof(*build->merged));
        build->vote_scratch =
            xrealloc(build->vote_scratch, 2 * build->vote_capacity * sizeof(*build->vote_scratch));
    }
    size_t count = merge_cell(build, base, changes, change_count);
    return count == 0 ? NULL : make_cell(build, changes[0].cell, count);
}

/* All cells after the changes; those without any are the base's own. */
static void build_cells(struct build *build, const struct gpu_market *base,
                        struct gpu_market *market)
{
    if (build->change_count > 1)
        qsort(build->changes, build->change_count, sizeof(*build->changes), compare_changes);
    for (size_t cell = 0, from = 0, next; cell < CELL_COUNT; cell++, from = next) {
        struct market_cell *old = base == NULL ? NULL : base->cells[cell];
        for (next = from; next < build->change_count && build->changes[next].cell == cell; next++)
            ;
        market->cells[cell] =
            next == from ? old : build_cell(build, old, build->changes + from, next - from);
        if (next == from && old != NULL)
            atomic_fetch_add_explicit(&old->references, 1, memory_order_relaxed);
    }
}

static void write_comparables(struct buf *text, const struct comparables *comparables)
{
    buf_add_string(text, "\"comparables\":{");
    buf_add_json_member_string(text, "level", comparables_level_name(comparables->level));
    buf_add_json_member_int(text, "providers", comparables->providers);
    buf_add_json_member_decimal(text, "median_price_per_gpu_hour", comparables->median_microusd, 6);
    buf_add_char(text, '}');
}

static bool same_comparables(const struct comparables *a, const struct comparables *b)
{
    return a->level == b->level && a->providers == b->providers &&
           a->median_microusd == b->median_microusd;
}

/* What each price is held against; what did not change since `base` keeps its text. */
static void judge(struct gpu_market *market, const struct gpu_market *base, struct buf *text)
{
    for (unsigned cell = 0; cell < COMMITMENT_COUNT * CLUSTER_SIZE_COUNT; cell++) {
        unsigned commitment = cell / CLUSTER_SIZE_COUNT;
        struct market_comparables *to = &market->comparables[cell];
        const struct index_figures *levels[COMPARABLES_LEVEL_COUNT] = {
            market_cell_figures(market->cells[cell]),
            market_cell_figures(market->cells[CELL_TERM(commitment)]),
            market_cell_figures(market->cells[CELL_RESERVED]),
        };
        to->comparables = comparables_choose(
            levels, commitment >= COMMITMENT_RESERVED_1 ? COMPARABLES_LEVEL_COUNT : 2);
        to->text = (uint32_t)text->length;
        const struct market_comparables *old = base == NULL ? NULL : &base->comparables[cell];
        if (old != NULL && same_comparables(&old->comparables, &to->comparables))
            buf_add(text, base->text + old->text, old->text_length);
        else
            write_comparables(text, &to->comparables);
        to->text_length = (uint32_t)(text->length - to->text);
    }
}

/* Whether nothing that the JSON of a commitment says has changed. */
static bool same_row(const struct gpu_market *a, const struct gpu_market *b, unsigned commitment)
{
    bool same = a->cells[CELL_TERM(commitment)] == b->cells[CELL_TERM(commitment)];
    for (unsigned i = 0; i < INDEX_REASON_COUNT && same; i++)
        same = a->cells[CELL_EXCLUDED(commitment, i)] == b->cells[CELL_EXCLUDED(commitment, i)];
    return same;
}

static void write_texts(struct gpu_market *market, const struct gpu_market *base, uint16_t rank)
{
    struct buf text = {0};
    size_t length;
    (void)buf_reserve(&text, 8192);
    judge(market, base, &text);
    for (unsigned c = 0; c < COMMITMENT_COUNT; c++) {
        market->row[c] = (uint32_t)text.length;
        if (base != NULL && same_row(market, base, c))
            buf_add(&text, base->text + base->row[c], base->row_length[c]);
        else
            market_write_row(market, gpu_of_rank(rank), (enum commitment)c, CONTINENT_COUNT, &text);
        market->row_length[c] = (uint32_t)(text.length - market->row[c]);
    }
    market->text = buf_detach(&text, &length);
}

/* The market of one GPU, or NULL where it has no offers. */
static struct gpu_market *build_gpu(struct build *build, uint16_t rank, struct gpu_market *base)
{
    gather(build, rank);
    contribute_items(build);
    struct gpu_market *market = xcalloc(1, sizeof(*market));
    atomic_init(&market->references, 1);
    combine_parts(build, base, market);
    build_cells(build, base, market);
    if (market->part_count == 0) {
        gpu_market_release(market);
        return NULL;
    }
    write_texts(market, base, rank);
    return market;
}

static int compare_pairs(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Rebuilds the GPUs that pairs name, for the providers they name. */
static void build_changed(struct build *build, struct gpu_market *const *base,
                          struct market_changes *changes, struct gpu_market **table)
{
    uint8_t *wanted = xcalloc(build->source->snapshot->slot_count + 1, 1);
    qsort(changes->pairs, changes->count, sizeof(*changes->pairs), compare_pairs);
    build->wanted = wanted;
    for (size_t i = 0, next; i < changes->count; i = next) {
        uint16_t rank = (uint16_t)(changes->pairs[i] >> 16);
        for (next = i; next < changes->count && changes->pairs[next] >> 16 == rank; next++)
            wanted[changes->pairs[next] & 0xffff] = 1;
        gpu_market_release(table[rank]);
        table[rank] = build_gpu(build, rank, base[rank]);
        for (size_t at = i; at < next; at++)
            wanted[changes->pairs[at] & 0xffff] = 0;
    }
    build->wanted = NULL;
    free(wanted);
}

struct gpu_market **market_table_build(const struct market_source *source,
                                       struct gpu_market *const *base,
                                       struct market_changes *changes)
{
    struct gpu_market **table = xcalloc(gpu_count(), sizeof(struct gpu_market *));
    bool all = base == NULL || changes->all;
    for (uint16_t rank = 0; rank < gpu_count() && !all; rank++) {
        table[rank] = base[rank];
        if (base[rank] != NULL)
            atomic_fetch_add_explicit(&base[rank]->references, 1, memory_order_relaxed);
    }
    if (!all && changes->count == 0)
        return table;
    struct build build = {
        .source = source,
        .slot_counts = xcalloc(source->snapshot->slot_count + 1, sizeof(uint32_t)),
        .slots = xcalloc(source->snapshot->slot_count + 1, sizeof(uint16_t)),
        .parts = xcalloc(source->snapshot->slot_count + 1, sizeof(struct provider_part *)),
        .stamps = xcalloc(source->snapshot->slot_count + 1, sizeof(uint16_t)),
        .order = market_slots_make(source->snapshot),
    };
    for (uint16_t rank = 0; rank < gpu_count() && all; rank++)
        table[rank] = build_gpu(&build, rank, NULL);
    if (!all)
        build_changed(&build, base, changes, table);
    market_slots_free(&build.order);
    free(build.items);
    free(build.keys);
    free(build.scratch);
    free(build.slot_counts);
    free(build.slots);
    free(build.parts);
    free(build.stamps);
    free(build.changes);
    free(build.merged);
    free(build.votes);
    free(build.vote_scratch);
    return table;
}
