/* Every match of a query is looked at, block by block. */
#include "server/catalog/stock.h"

#include "server/base/decimal.h"
#include "server/catalog/search.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <stdlib.h>
#include <string.h>

struct gathering {
    struct plan plan;
    struct segment_view view;
    struct stock *by_rank; /* offers 0: none yet */
    struct offer_key *ids;
    struct arena *arena;
};

static void take(struct gathering *gathering, uint32_t row)
{
    const struct segment *segment = gathering->view.segment;
    const uint8_t has_stock = 1 << AVAILABILITY_AVAILABLE | 1 << AVAILABILITY_LIMITED;
    uint16_t rank = segment->place_rank[row];
    if (rank == RANK_NONE || (segment->availability_bit[row] & has_stock) == 0)
        return;
    struct fragment_splice splice = {0};
    splice_contradiction(gathering->plan.snapshot, segment, row, gathering->arena, &splice);
    if (splice.evidence != NULL)
        return;
    struct stock *stock = &gathering->by_rank[rank];
    uint32_t entry = match_entry(&gathering->plan, segment, row);
    if (entry == UINT32_MAX)
        return;
    int64_t price = segment->entry_microusd[entry];
    stock->offers++;
    if (stock->offers > 1 && (stock->per_gpu_hour_microusd < price ||
                              (stock->per_gpu_hour_microusd == price &&
                               offer_key_compare(gathering->ids[rank], segment->id[row]) < 0)))
        return;
    gathering->ids[rank] = segment->id[row];
    stock->place = place_of_rank(rank);
    stock->per_gpu_hour_microusd = price;
    stock->gpus_available = segment->gpus_available[row];
    stock->provider = gathering->plan.snapshot->slots[segment->provider[row]]->provider.slug;
    stock->external_id = segment->text[row].bytes + segment->text[row].length;
    memcpy(stock->id, segment->text[row].bytes + 7, OFFER_ID_TEXT_LENGTH);
}

static void gather_segment(struct gathering *gathering)
{
    struct block block;
    for (struct row_run run = {0}; plan_next_run(&gathering->view, false, &run);) {
        for (size_t at = run.first; at < run.last; at = block.first + block.count) {
            match_block(&gathering->view, &run, at, &block);
            FOR_EACH_ROW(block.mask, block_words(&block), i)
            {
                take(gathering, (uint32_t)(block.first + i));
            }
        }
    }
}

static int compare_places(const void *a, const void *b)
{
    return (int)((const struct stock *)a)->place - (int)((const struct stock *)b)->place;
}

size_t snapshot_stock(struct snapshot *snapshot, const struct query *query, int64_t now_us,
                      struct arena *arena, struct stock **ret_stocks)
{
    struct gathering gathering = {.arena = arena};
    size_t count = 0;
    gathering.by_rank = arena_calloc(arena, place_count(), sizeof(*gathering.by_rank));
    gathering.ids = arena_calloc(arena, place_count(), sizeof(*gathering.ids));
    plan_make(&gathering.plan, snapshot, query, now_us, arena);
    for (size_t i = 0; i < snapshot->segment_count && !gathering.plan.finds_nothing; i++) {
        gathering.view = plan_view(&gathering.plan, i);
        gather_segment(&gathering);
    }
    for (uint16_t rank = 0; rank < place_count(); rank++) {
        if (gathering.by_rank[rank].offers > 0)
            gathering.by_rank[count++] = gathering.by_rank[rank];
    }
    qsort(gathering.by_rank, count, sizeof(*gathering.by_rank), compare_places);
    *ret_stocks = gathering.by_rank;
    return count;
}
