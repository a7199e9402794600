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
    int64_t gpus;
    struct arena *arena;
};

/* A whole number that a row's own text gives behind a key; UNKNOWN where it is null. */
static int64_t number_of(const char *text, size_t length, const char *key)
{
    const char *at = memmem(text, length, key, strlen(key));
    if (at == NULL || at[strlen(key)] == 'n')
        return UNKNOWN;
    return strtol(at + strlen(key), NULL, 10);
}

/* The cheapest price that matches and is for so many GPUs; UINT32_MAX none. */
static uint32_t entry_for(const struct gathering *gathering, const struct segment *segment,
                          uint32_t row)
{
    uint32_t entry = segment->entry_start[row];
    for (;; entry++) {
        entry = match_entry_from(&gathering->plan, segment, row, entry);
        if (entry == UINT32_MAX)
            return entry;
        const char *text = segment->text[row].bytes + segment->entry_text[entry];
        size_t length = segment->entry_length[entry];
        int64_t least = number_of(text, length, "\"min_gpus\":"),
                most = number_of(text, length, "\"max_gpus\":");
        if (least <= gathering->gpus && (most == UNKNOWN || most >= gathering->gpus))
            return entry;
    }
}

static void take(struct gathering *gathering, uint32_t row)
{
    const struct segment *segment = gathering->view.segment;
    const uint8_t has_stock = 1 << AVAILABILITY_AVAILABLE | 1 << AVAILABILITY_LIMITED;
    uint16_t rank = segment->place_rank[row];
    if (rank == RANK_NONE || (segment->availability_bit[row] & has_stock) == 0)
        return;
    int64_t at_hand =
        number_of(segment->text[row].bytes, segment->text[row].length, "\"gpus_available\":");
    struct fragment_splice splice = {0};
    if (at_hand < gathering->gpus)
        return;
    splice_contradiction(gathering->plan.snapshot, segment, row, gathering->arena, &splice);
    if (splice.evidence != NULL)
        return;
    struct stock *stock = &gathering->by_rank[rank];
    uint32_t entry = entry_for(gathering, segment, row);
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
    stock->gpus_available = at_hand;
    stock->provider = gathering->plan.snapshot->slots[segment->provider[row]]->provider.slug;
    stock->external_id = segment->text[row].bytes + segment->text[row].length;
    memcpy(stock->id, segment->text[row].bytes + 7, OFFER_ID_TEXT_LENGTH);
}

static void gather_segment(struct gathering *gathering)
{
    const struct segment *segment = gathering->view.segment;
    const struct alive *alive = gathering->view.alive;
    struct block block;
    for (uint16_t rank = 0; rank < gpu_count(); rank++) {
        if (gathering->plan.gpus != NULL && gathering->plan.gpus[rank] == 0)
            continue;
        uint32_t first = segment->gpu_start[rank], last = segment->gpu_start[rank + 1];
        for (size_t at = first - first % 8; at < last; at += BLOCK_ROWS) {
            block.first = at;
            block.count = last - at < BLOCK_ROWS ? last - at : BLOCK_ROWS;
            kernel_load(block.mask, alive == NULL ? NULL : alive->words, at, block.count);
            if (at < first)
                memset(block.mask, 0, first - at);
            match_block(&gathering->view, &block);
            FOR_EACH_ROW(block.mask, block.count, i)
            {
                take(gathering, (uint32_t)(at + i));
            }
        }
    }
}

static int compare_places(const void *a, const void *b)
{
    return (int)((const struct stock *)a)->place - (int)((const struct stock *)b)->place;
}

size_t snapshot_stock(struct snapshot *snapshot, const struct query *query, int64_t gpus,
                      int64_t now_us, struct arena *arena, struct stock **ret_stocks)
{
    struct gathering gathering = {.gpus = gpus, .arena = arena};
    size_t count = 0;
    gathering.by_rank = arena_calloc(arena, place_count(), sizeof(*gathering.by_rank));
    gathering.ids = arena_calloc(arena, place_count(), sizeof(*gathering.ids));
    plan_make(&gathering.plan, snapshot, query, now_us, arena);
    for (size_t i = 0; i < snapshot->segment_count && !gathering.plan.finds_nothing; i++) {
        const struct segment *segment = snapshot->segments[i];
        gathering.view =
            (struct segment_view){&gathering.plan, segment, snapshot->alive[i],
                                  plan_extra_rows(&gathering.plan, &query->gpus, segment, true),
                                  plan_extra_rows(&gathering.plan, &query->places, segment, false)};
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
