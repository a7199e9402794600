/* The search itself. Matching: block by block, a byte a row. Counting: the sum of the bytes.
 * Ordering: the best limit + 1 in a heap, into which a block's rows go only if a narrow column says
 * that they may be better than its worst. Rows of one GPU lie in order of their cheapest price:
 * once that is above the heap's worst, the rest of the GPU is only counted, and where no filter is
 * set not even looked at. */
#include "server/catalog/search.h"

#include "server/catalog/top.h"
#include "server/reference/gpu.h"

#include <string.h>

struct run {
    struct plan plan;
    struct top top;
    size_t total;
    uint32_t segment_index;
    struct segment_view view;
    bool in_price_order; /* the rows at hand are of one GPU and sorted as asked for */
};

/* The exact key of a matching row. */
static int64_t key_of(const struct run *run, uint32_t row)
{
    const struct query *query = run->plan.query;
    const struct segment *segment = run->view.segment;
    int64_t value = 0;
    switch (query->sort) {
    case SORT_PRICE:
    case SORT_COUNT:
        value = query->price_filtered
                    ? segment->entry_microusd[match_entry(&run->plan, segment, row)]
                    : segment->cheapest_microusd[row];
        break;
    case SORT_VRAM:
        value = segment->vram_gb_milli[row];
        break;
    case SORT_UPDATED:
        value = segment->updated_at_us[row];
        break;
    case SORT_LATENCY:
        value = query->latency->centi[segment->place_rank[row]];
        break;
    }
    if (value < 0)
        return INT64_MAX;
    return query->reversed ? -value : value;
}

static void offer_row(struct run *run, uint32_t row, int64_t key)
{
    struct hit hit = {
        .key = key, .id = run->view.segment->id[row], .segment = run->segment_index, .row = row};
    top_offer(&run->top, hit);
}

/* Clears rows that are certainly worse than the heap's worst, by the column that sorts. */
static void drop_worse(const struct run *run, struct block *block, const int32_t *prices)
{
    const struct query *query = run->plan.query;
    const struct segment *segment = run->view.segment;
    int64_t ceiling = top_ceiling(&run->top);
    if (ceiling == INT64_MAX)
        return;
    /* Values from low to high may be taken; unknown ones (below 0) sort behind the ceiling. */
    int64_t low = query->reversed ? -ceiling : 0, high = query->reversed ? INT64_MAX : ceiling;
    switch (query->sort) {
    case SORT_PRICE:
    case SORT_COUNT:
        kernel_range32(block->mask, prices, block->count, price_cut(low), price_cut(high));
        break;
    case SORT_VRAM:
        kernel_range32(block->mask, segment->vram_gb_milli + block->first, block->count,
                       (int32_t)low, high > INT32_MAX ? INT32_MAX : (int32_t)high);
        break;
    case SORT_UPDATED:
        kernel_range64(block->mask, segment->updated_at_us + block->first, block->count, low, high);
        break;
    case SORT_LATENCY:
        for (size_t i = 0; i < block->count; i++)
            block->latency[i] = query->latency->centi[segment->place_rank[block->first + i]];
        kernel_range32(block->mask, block->latency, block->count, (int32_t)low,
                       high > INT32_MAX ? INT32_MAX : (int32_t)high);
        break;
    }
}

/* Offers the block's matches to the heap. */
static void take_best(struct run *run, struct block *block)
{
    const struct query *query = run->plan.query;
    const int32_t *prices =
        query->price_filtered ? block->prices : run->view.segment->cheapest_cut + block->first;
    bool by_price = query->sort == SORT_PRICE;
    drop_worse(run, block, prices);
    FOR_EACH_ROW(block->mask, block->count, i)
    {
        uint32_t row = (uint32_t)(block->first + i);
        int64_t key = by_price && prices[i] < PRICE_CUT_DEAR
                          ? (query->reversed ? -(int64_t)prices[i] : prices[i])
                          : key_of(run, row);
        if (top_may_take(&run->top, key, run->view.segment->id[row]))
            offer_row(run, row, key);
    }
}

/* Rows first … last of the segment. */
static void match_rows(struct run *run, size_t first, size_t last)
{
    struct block block;
    const struct segment *segment = run->view.segment;
    const uint64_t *words = run->view.alive == NULL ? NULL : run->view.alive->words;
    for (size_t at = first - first % 8; at < last; at += BLOCK_ROWS) {
        block.first = at;
        block.count = last - at < BLOCK_ROWS ? last - at : BLOCK_ROWS;
        kernel_load(block.mask, words, at, block.count);
        if (at < first)
            memset(block.mask, 0, first - at);
        match_block(&run->view, &block);
        size_t matches = kernel_count(block.mask, block.count);
        run->total += matches;
        size_t lowest = at < first ? first : at;
        if (matches > 0 &&
            !(run->in_price_order && segment->cheapest_microusd[lowest] > top_ceiling(&run->top)))
            take_best(run, &block);
    }
}

static void match_segment(struct run *run)
{
    const struct plan *plan = &run->plan;
    const struct segment *segment = run->view.segment;
    bool cheapest_first = plan->query->sort == SORT_PRICE && !plan->query->reversed;
    run->view.extra_gpus = plan_extra_rows(plan, &plan->query->gpus, segment, true);
    run->view.extra_places = plan_extra_rows(plan, &plan->query->places, segment, false);
    run->in_price_order = false;
    if (plan->gpus == NULL) {
        match_rows(run, 0, segment->row_count);
        return;
    }
    for (uint16_t rank = 0, ranks = gpu_count(); rank < ranks; rank++) {
        if (plan->gpus[rank] == 0 || segment->gpu_start[rank] == segment->gpu_start[rank + 1])
            continue;
        uint32_t first = segment->gpu_start[rank], last = segment->gpu_start[rank + 1];
        run->in_price_order = cheapest_first && last - first > BLOCK_ROWS;
        while (!run->in_price_order && rank + 1 < ranks && plan->gpus[rank + 1] != 0)
            last = segment->gpu_start[++rank + 1];
        match_rows(run, first, last);
    }
}

/* First row of [first, last) whose cheapest price is at least `price`. */
static uint32_t lower_bound(const struct segment *segment, uint32_t first, uint32_t last,
                            int64_t price)
{
    while (first < last) {
        uint32_t middle = first + (last - first) / 2;
        if (segment->cheapest_microusd[middle] < price)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

/* Without filters, by price: from each GPU's rows in order, as long as they can be among the best.
 */
static void walk_gpu(struct run *run, uint32_t first, uint32_t last)
{
    const struct query *query = run->plan.query;
    const struct segment *segment = run->view.segment;
    if (query->has_cursor && !query->reversed)
        first = lower_bound(segment, first, last, query->cursor_key);
    if (query->has_cursor && query->reversed)
        last = lower_bound(segment, first, last, -query->cursor_key + 1);
    for (uint32_t left = last - first; left > 0; left--) {
        uint32_t row = query->reversed ? first + left - 1 : last - left;
        int64_t key =
            query->reversed ? -segment->cheapest_microusd[row] : segment->cheapest_microusd[row];
        if (key > top_ceiling(&run->top))
            return;
        if (alive_has(run->view.alive, row))
            offer_row(run, row, key);
    }
}

static void walk_segment(struct run *run)
{
    for (uint16_t rank = 0, ranks = gpu_count(); rank < ranks; rank++)
        walk_gpu(run, run->view.segment->gpu_start[rank], run->view.segment->gpu_start[rank + 1]);
}

struct search_result search_run(struct snapshot *snapshot, const struct query *query,
                                int64_t now_us, struct arena *arena)
{
    struct run run = {.top = {.capacity = query->limit + 1,
                              .has_floor = query->has_cursor,
                              .floor_key = query->cursor_key,
                              .floor_id = query->cursor_id}};
    run.top.heap = arena_calloc(arena, run.top.capacity, sizeof(*run.top.heap));
    plan_make(&run.plan, snapshot, query, now_us, arena);
    bool walk = run.plan.all_visible && query->sort == SORT_PRICE;
    for (size_t i = 0; i < snapshot->segment_count && !run.plan.finds_nothing; i++) {
        run.segment_index = (uint32_t)i;
        run.view =
            (struct segment_view){&run.plan, snapshot->segments[i], snapshot->alive[i], NULL, NULL};
        if (walk)
            walk_segment(&run);
        else
            match_segment(&run);
    }
    if (walk)
        run.total = snapshot->live;
    top_sort(&run.top);
    for (size_t i = 0; i < run.top.count; i++) {
        struct hit *hit = &run.top.heap[i];
        const struct segment *segment = snapshot->segments[hit->segment];
        hit->entry = query->price_filtered ? match_entry(&run.plan, segment, hit->row)
                                           : segment->entry_start[hit->row];
    }
    return (struct search_result){run.top.heap, run.top.count, run.total};
}
