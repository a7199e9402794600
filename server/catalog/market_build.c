/* Building the tables: for each GPU the parts of the providers that changed are made anew
 * (market_gather.c), the others' taken over; what differs tells which cells change, and from these
 * come the figures. */
#include "server/catalog/market_build.h"
#include "server/base/decimal.h"
#include "server/catalog/rank.h"
#include "server/reference/gpu.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

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

/* What differs between a provider's part of before and of now. */
static void compare_parts(struct build *build, uint16_t slot, const struct provider_part *before,
                          const struct provider_part *now)
{
    size_t i = 0, j = 0;
    while (i < before->count || j < now->count) {
        unsigned was = i < before->count ? before->items[i].cell : UINT_MAX;
        unsigned is = j < now->count ? now->items[j].cell : UINT_MAX;
        if (was < is) {
            change(build, slot, NULL, (uint16_t)was);
            i++;
            continue;
        }
        if (is < was || before->items[i].microusd != now->items[j].microusd ||
            before->items[i].offers != now->items[j].offers)
            change(build, slot, &now->items[j], (uint16_t)is);
        i += is == was;
        j++;
    }
}

static const struct provider_part nothing;

/* All parts after the change, by slot; the changes of cells are noted on the way. */
static void combine_parts(struct build *build, const struct gpu_market *base,
                          struct gpu_market *market)
{
    size_t old_count = base == NULL ? 0 : base->part_count, next = 0;
    market->parts = xcalloc(old_count + build->part_count, sizeof(struct provider_part *));
    build->change_count = 0;
    for (size_t i = 0; i < old_count; i++) {
        struct provider_part *old = base->parts[i];
        const struct provider_part *now = &nothing;
        for (; next < build->part_count && build->parts[next]->slot < old->slot; next++) {
            compare_parts(build, build->parts[next]->slot, &nothing, build->parts[next]);
            market->parts[market->part_count++] = build->parts[next];
        }
        if (build->wanted != NULL && build->wanted[old->slot] == 0) {
            atomic_fetch_add_explicit(&old->references, 1, memory_order_relaxed);
            market->parts[market->part_count++] = old;
            continue;
        }
        if (next < build->part_count && build->parts[next]->slot == old->slot) {
            now = build->parts[next];
            market->parts[market->part_count++] = build->parts[next++];
        }
        compare_parts(build, old->slot, old, now);
    }
    for (; next < build->part_count; next++) {
        compare_parts(build, build->parts[next]->slot, &nothing, build->parts[next]);
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
    market_gather(build, rank);
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
