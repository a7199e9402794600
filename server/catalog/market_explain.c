/* The index laid open: every price of a GPU with the reason why it counts or does not, found by the
 * functions that make the figures. */
#include "server/base/decimal.h"
#include "server/catalog/market.h"
#include "server/catalog/market_tally.h"
#include "server/catalog/rank.h"

#include <stdlib.h>
#include <string.h>

/* Votes of each commitment, settled, in order of slot. */
struct settled {
    struct index_vote *votes;
    size_t count;
};

static int compare_providers(const void *a, const void *b)
{
    uint32_t x = ((const struct index_vote *)a)->provider,
             y = ((const struct index_vote *)b)->provider;
    return (x > y) - (x < y);
}

static void settle(const struct market_source *source, uint16_t rank, struct arena *arena,
                   struct settled settled[static COMMITMENT_COUNT])
{
    struct market_slots slots = market_slots_make(source->snapshot);
    struct tally_room room = {.slots = &slots};
    struct market_tally *tally = market_tally_of(source, rank, &room);
    struct index_figures figures;
    for (unsigned c = 0; tally != NULL && c < COMMITMENT_COUNT; c++) {
        size_t count = market_tally_votes(&tally->cells[CELL_TERM(c)], &room, &figures);
        if (count == 0)
            continue;
        settled[c].votes = arena_calloc(arena, count, sizeof(*settled[c].votes));
        settled[c].count = count;
        memcpy(settled[c].votes, room.votes, count * sizeof(*room.votes));
        qsort(settled[c].votes, count, sizeof(*settled[c].votes), compare_providers);
    }
    market_tally_free(tally);
    tally_room_free(&room);
    market_slots_free(&slots);
}

static const struct index_vote *vote_of(const struct settled *settled, uint16_t slot)
{
    size_t low = 0, high = settled->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (settled->votes[middle].provider < slot)
            low = middle + 1;
        else
            high = middle;
    }
    return low < settled->count && settled->votes[low].provider == slot ? &settled->votes[low]
                                                                        : NULL;
}

static void explain_row(const struct market_source *source, const struct segment *segment,
                        uint32_t row, unsigned commitment_bits, const struct settled *settled,
                        struct market_explanation *list, size_t *count)
{
    for (uint32_t e = segment->entry_start[row]; e < segment->entry_start[row + 1]; e++) {
        enum commitment commitment =
            (enum commitment)(segment->entry_market[e] / CLUSTER_SIZE_COUNT);
        if ((commitment_bits >> commitment & 1) == 0)
            continue;
        const struct index_vote *vote = vote_of(&settled[commitment], segment->provider[row]);
        enum index_reason reason = market_reason(source, segment, row, e);
        if (list != NULL) {
            struct market_explanation *to = &list[*count];
            *to = (struct market_explanation){
                .provider = &source->snapshot->slots[segment->provider[row]]->provider,
                .external_id = segment_external_id(segment, row),
                .number = e - segment->entry_start[row],
                .commitment = commitment,
                .term_months = segment->entry_term[e],
                .cluster_size = (enum cluster_size)(segment->entry_market[e] % CLUSTER_SIZE_COUNT),
                .continent = (enum continent)segment->continent[row],
                .microusd = segment->entry_microusd[e],
                .vote_microusd = vote == NULL ? UNKNOWN : vote->microusd,
                .reason = reason == INDEX_INCLUDED && vote != NULL ? vote->reason : reason,
            };
            offer_id(to->provider->slug, to->external_id, to->offer_id);
        }
        ++*count;
    }
}

static size_t explain_all(const struct market_source *source, uint16_t rank,
                          unsigned commitment_bits, const struct settled *settled,
                          struct market_explanation *list)
{
    const struct snapshot *snapshot = source->snapshot;
    size_t count = 0;
    for (size_t s = 0; s < snapshot->segment_count; s++) {
        const struct segment *segment = snapshot->segments[s];
        for (uint32_t row = segment->gpu_start[rank]; row < segment->gpu_start[rank + 1]; row++) {
            if (alive_has(snapshot->alive[s], row) &&
                !snapshot->slots[segment->provider[row]]->provider.suspended)
                explain_row(source, segment, row, commitment_bits, settled, list, &count);
        }
    }
    return count;
}

static int compare_explanations(const void *a, const void *b)
{
    const struct market_explanation *x = a, *y = b;
    if (x->commitment != y->commitment)
        return x->commitment < y->commitment ? -1 : 1;
    int order = strcmp(x->provider->slug, y->provider->slug);
    if (order != 0)
        return order;
    if (x->microusd != y->microusd)
        return x->microusd < y->microusd ? -1 : 1;
    order = memcmp(x->offer_id, y->offer_id, OFFER_ID_BYTES);
    return order != 0 ? order : (x->number > y->number) - (x->number < y->number);
}

size_t snapshot_market_explain(struct snapshot *snapshot, uint16_t gpu_index,
                               unsigned commitment_bits, int64_t now_us, struct arena *arena,
                               struct market_explanation **ret)
{
    uint16_t rank = gpu_rank(gpu_index);
    const struct moment *moment = snapshot_moment(snapshot, now_us);
    const struct market_source source = {snapshot, snapshot->alive, moment->cutoff_us};
    struct settled settled[COMMITMENT_COUNT] = {0};
    *ret = NULL;
    if (moment->market[rank] == NULL)
        return 0;
    settle(&source, rank, arena, settled);
    size_t count = explain_all(&source, rank, commitment_bits, settled, NULL);
    *ret = arena_calloc(arena, count, sizeof(**ret));
    (void)explain_all(&source, rank, commitment_bits, settled, *ret);
    qsort(*ret, count, sizeof(**ret), compare_explanations);
    return count;
}
