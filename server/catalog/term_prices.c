/* Prices that count are gathered with the provider they come from, sorted, and settled run by run.
 */
#include "server/catalog/term_prices.h"

#include "server/base/decimal.h"
#include "server/catalog/market_table.h"
#include "server/catalog/rank.h"

#include <stdlib.h>
#include <string.h>

struct counted {
    uint8_t billing;
    uint16_t term;
    uint16_t slot;
    uint8_t size;
    uint32_t offer; /* numbered as they are found */
    int64_t microusd;
};

struct gathering {
    struct counted *items;
    size_t count, capacity;
    uint32_t offers;
    uint32_t *excluded;
};

/* What settling needs at hand. */
struct settling {
    struct market_slots slots;
    struct index_vote *votes;
    uint64_t *scratch;
    uint32_t *seen; /* by offer: the last run it was counted in */
    uint32_t run;
};

static void gather_row(struct gathering *gathering, const struct market_source *source,
                       const struct segment *segment, uint32_t row)
{
    for (uint32_t e = segment->entry_start[row]; e < segment->entry_start[row + 1]; e++) {
        enum index_reason reason = market_reason(source, segment, row, e);
        if (reason != INDEX_INCLUDED) {
            gathering->excluded[reason]++;
            continue;
        }
        if (gathering->count == gathering->capacity) {
            gathering->capacity = gathering->capacity * 2 + 64;
            gathering->items =
                xrealloc(gathering->items, gathering->capacity * sizeof(*gathering->items));
        }
        gathering->items[gathering->count++] = (struct counted){
            .billing = (uint8_t)__builtin_ctz(segment->entry_billing[e]),
            .term = segment->entry_term[e],
            .slot = segment->provider[row],
            .size = (uint8_t)(segment->entry_market[e] % CLUSTER_SIZE_COUNT),
            .offer = gathering->offers,
            .microusd = segment->entry_microusd[e],
        };
    }
    gathering->offers++;
}

static void gather(struct gathering *gathering, const struct market_source *source,
                   uint16_t gpu_rank_wanted, const uint8_t *inside)
{
    const struct snapshot *snapshot = source->snapshot;
    for (size_t s = 0; s < snapshot->segment_count; s++) {
        const struct segment *segment = snapshot->segments[s];
        for (uint32_t row = segment->gpu_start[gpu_rank_wanted];
             row < segment->gpu_start[gpu_rank_wanted + 1]; row++) {
            uint16_t place = segment->place_rank[row];
            if (inside != NULL && (place == RANK_NONE || inside[place] == 0))
                continue;
            if (alive_has(snapshot->alive[s], row) &&
                !snapshot->slots[segment->provider[row]]->provider.suspended)
                gather_row(gathering, source, segment, row);
        }
    }
}

static int compare_prices(const struct counted *x, const struct counted *y)
{
    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    return x->microusd < y->microusd ? -1 : x->microusd > y->microusd;
}

static int compare_terms(const struct counted *x, const struct counted *y)
{
    if (x->billing != y->billing)
        return x->billing < y->billing ? -1 : 1;
    return x->term < y->term ? -1 : x->term > y->term;
}

static int by_term(const void *a, const void *b)
{
    int order = compare_terms(a, b);
    return order != 0 ? order : compare_prices(a, b);
}

static int by_term_and_size(const void *a, const void *b)
{
    const struct counted *x = a, *y = b;
    int order = compare_terms(x, y);
    if (order == 0 && x->size != y->size)
        order = x->size < y->size ? -1 : 1;
    return order != 0 ? order : compare_prices(x, y);
}

/* Figures of prices sorted by provider and amount: one vote a provider, its median. */
static struct index_figures settle(struct settling *with, const struct counted *items, size_t count)
{
    size_t voters = 0;
    with->run++;
    for (size_t i = 0, end; i < count; i = end) {
        struct index_vote *vote = &with->votes[voters++];
        *vote = (struct index_vote){
            .provider = items[i].slot,
            .origin = with->slots.origin[items[i].slot],
            .order = with->slots.order[items[i].slot],
        };
        for (end = i; end < count && items[end].slot == items[i].slot; end++) {
            with->scratch[end - i] = (uint64_t)items[end].microusd;
            vote->offers += with->seen[items[end].offer] != with->run;
            with->seen[items[end].offer] = with->run;
        }
        vote->microusd = index_median(with->scratch, end - i);
    }
    return index_settle(with->votes, voters, with->scratch);
}

/* The last of the items that belong together with the first, by term or by term and size. */
static size_t run_end(const struct counted *items, size_t count, size_t first, bool sized)
{
    size_t end = first;
    while (end < count && compare_terms(&items[end], &items[first]) == 0 &&
           (!sized || items[end].size == items[first].size))
        end++;
    return end;
}

static int by_place_in_list(const void *a, const void *b)
{
    const struct term_prices *x = a, *y = b;
    if (x->billing != y->billing)
        return x->billing < y->billing ? -1 : 1;
    if (x->term_months != y->term_months)
        return x->term_months < y->term_months ? -1 : 1;
    /* All together comes first. */
    return (int)((x->cluster_size + 1) % (CLUSTER_SIZE_COUNT + 1)) -
           (int)((y->cluster_size + 1) % (CLUSTER_SIZE_COUNT + 1));
}

size_t snapshot_term_prices(struct snapshot *snapshot, uint16_t gpu_index, uint16_t place_index,
                            int64_t now_us, struct arena *arena, struct term_prices **ret,
                            uint32_t excluded[static INDEX_REASON_COUNT])
{
    const struct moment *moment = snapshot_moment(snapshot, now_us);
    const struct market_source source = {snapshot, snapshot->alive, moment->cutoff_us};
    struct gathering gathering = {.excluded = excluded};
    size_t count = 0;
    memset(excluded, 0, INDEX_REASON_COUNT * sizeof(*excluded));
    gather(&gathering, &source, gpu_rank(gpu_index),
           place_index == INDEX_NONE ? NULL : places_inside(place_rank(place_index)));
    *ret = NULL;
    if (gathering.count == 0)
        return 0;
    struct settling with = {
        .slots = market_slots_make(snapshot),
        .votes = xcalloc(gathering.count, sizeof(*with.votes)),
        .scratch = xcalloc(3 * gathering.count, sizeof(*with.scratch)),
        .seen = xcalloc(gathering.offers, sizeof(*with.seen)),
    };
    for (int sized = 0; sized < 2; sized++) {
        qsort(gathering.items, gathering.count, sizeof(*gathering.items),
              sized ? by_term_and_size : by_term);
        size_t runs = 0;
        for (size_t i = 0; i < gathering.count; runs++)
            i = run_end(gathering.items, gathering.count, i, sized);
        struct term_prices *list = arena_calloc(arena, count + runs, sizeof(*list));
        if (count > 0)
            memcpy(list, *ret, count * sizeof(*list));
        *ret = list;
        for (size_t i = 0, end; i < gathering.count; i = end) {
            end = run_end(gathering.items, gathering.count, i, sized);
            const struct counted *first = &gathering.items[i];
            list[count++] = (struct term_prices){
                .billing = (enum billing)first->billing,
                .term_months = first->term,
                .cluster_size = sized ? (enum cluster_size)first->size : CLUSTER_SIZE_COUNT,
                .figures = settle(&with, first, end - i),
            };
        }
    }
    qsort(*ret, count, sizeof(**ret), by_place_in_list);
    free(with.seen);
    free(with.scratch);
    free(with.votes);
    market_slots_free(&with.slots);
    free(gathering.items);
    return count;
}
