/* The search itself. Matching: block by block, a bit a row. Counting: the number of bits. Ordering:
 * the best limit + 1 in a heap, into which a block's rows go only if a narrow column says that they
 * may be better than its worst. Rows of one GPU lie in order of their cheapest price: once that is
 * above the heap's worst, the rest of the GPU is only counted, and where nothing but the GPU is
 * asked for not even looked at. */
#include "server/catalog/search.h"

#include "server/catalog/sort_key.h"
#include "server/catalog/top.h"
#include "server/reference/gpu.h"

#include <stdlib.h>
#include <string.h>

struct run {
    struct plan plan;
    struct top top;
    size_t total;
    struct segment_view view; /* of the segment at hand; views point to `plan` */
};

static void offer_row(struct run *run, uint32_t row, int64_t key)
{
    struct hit hit = {
        .key = key, .id = run->view.segment->id[row], .segment = run->view.index, .row = row};
    top_offer(&run->top, hit);
}

/* The exact key of a matching row. */
static int64_t key_of(const struct run *run, const struct block *block, size_t i)
{
    const struct query *query = run->plan.query;
    const struct segment *segment = run->view.segment;
    uint32_t row = (uint32_t)(block->first + i);
    if (query->sort == SORT_PRICE && block->prices[i] < PRICE_CUT_DEAR && !block->least_only)
        return query->reversed ? -(int64_t)block->prices[i] : block->prices[i];
    uint32_t entry =
        query->price_filtered ? match_entry(&run->plan, segment, row) : segment->entry_start[row];
    return sort_key(&run->plan, segment, row, entry);
}

/* Offers the block's matches to the heap. */
static void take_best(struct run *run, struct block *block)
{
    const struct top *top = &run->top;
    sort_drop_outside(&run->plan, run->view.segment, block,
                      top->has_floor ? top->floor_key : INT64_MIN, top_ceiling(top));
    FOR_EACH_ROW(block->mask, block_words(block), i)
    {
        uint32_t row = (uint32_t)(block->first + i);
        int64_t key = key_of(run, block, i);
        if (top_may_take(top, key, run->view.segment->id[row]))
            offer_row(run, row, key);
    }
}

/* Counts the matches of a run and, unless `count_only`, offers them. */
static void match_run(struct run *run, const struct row_run *rows, bool count_only)
{
    const struct query *query = run->plan.query;
    const struct segment *segment = run->view.segment;
    bool cheapest_first = query->sort == SORT_PRICE && !query->reversed;
    struct block block;
    for (size_t at = rows->first; at < rows->last; at = block.first + block.count) {
        match_block(&run->view, rows, at, &block);
        size_t matches = kernel_count(block.mask, block_words(&block));
        run->total += matches;
        bool behind = cheapest_first && rows->one_gpu &&
                      segment->cheapest_microusd[at] > top_ceiling(&run->top);
        if (matches > 0 && !behind && !count_only)
            take_best(run, &block);
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

/* Live rows of one GPU in the order they lie in, which is that of what sorts, as long as they can
 * be among the best. */
static void walk_rows(struct run *run, uint32_t first, uint32_t last)
{
    const struct query *query = run->plan.query;
    const struct segment *segment = run->view.segment;
    if (query->sort == SORT_PRICE && query->has_cursor && !query->reversed)
        first = lower_bound(segment, first, last, query->cursor_key);
    if (query->sort == SORT_PRICE && query->has_cursor && query->reversed)
        last = lower_bound(segment, first, last, -query->cursor_key + 1);
    for (uint32_t left = last - first; left > 0; left--) {
        uint32_t row = query->reversed ? first + left - 1 : last - left;
        if (!alive_has(run->view.alive, row))
            continue;
        int64_t key = sort_key(&run->plan, segment, row, segment->entry_start[row]);
        if (key > top_ceiling(&run->top))
            return;
        offer_row(run, row, key);
    }
}

/* Live rows of [first, last). */
static size_t count_live(const struct alive *alive, uint32_t first, uint32_t last)
{
    if (alive == NULL || first == last)
        return last - first;
    size_t from = first / WORD_ROWS, to = (last - 1) / WORD_ROWS;
    uint64_t head = ~UINT64_C(0) << (first % WORD_ROWS),
             tail = ~UINT64_C(0) >> (WORD_ROWS - 1 - (last - 1) % WORD_ROWS);
    uint64_t ends[2] = {alive->words[from] & head & (from == to ? tail : ~UINT64_C(0)),
                        from == to ? 0 : alive->words[to] & tail};
    return kernel_count(ends, 2) +
           (to > from + 1 ? kernel_count(alive->words + from + 1, to - from - 1) : 0);
}

/* A run of one of the segments, and below which no key of it is. */
struct task {
    struct row_run rows;
    uint32_t segment;
    int64_t least_key;
};

static int compare_tasks(const void *a, const void *b)
{
    const struct task *x = a, *y = b;
    return x->least_key < y->least_key ? -1 : x->least_key > y->least_key;
}

/* The most promising run first: the heap's ceiling is soon low, and the others are only counted. */
static void run_tasks(struct run *run, const struct segment_view *views, struct task *tasks,
                      size_t count)
{
    const struct plan *plan = &run->plan;
    if (count == 0)
        return;
    qsort(tasks, count, sizeof(*tasks), compare_tasks);
    for (size_t i = 0; i < count; i++) {
        const struct row_run *rows = &tasks[i].rows;
        run->view = views[tasks[i].segment];
        uint16_t rank = run->view.segment->gpu_rank[rows->first];
        bool behind = tasks[i].least_key > top_ceiling(&run->top);
        bool walks = rows->one_gpu && sort_follows_price(plan, run->view.segment, rank);
        if (plan->only_gpus && (behind || walks)) {
            if (!behind)
                walk_rows(run, rows->first, rows->last);
            run->total += count_live(run->view.alive, rows->first, rows->last);
        } else {
            match_run(run, rows, behind);
        }
    }
}

/* All runs of all segments, by what sorts. */
static void search_by_tasks(struct run *run, const struct segment_view *views, size_t view_count)
{
    size_t count = 0, capacity = 0;
    struct task *tasks = NULL;
    for (size_t i = 0; i < view_count; i++) {
        for (struct row_run rows = {0}; plan_next_run(&views[i], true, &rows);) {
            if (rows.first == rows.last)
                continue;
            if (count == capacity) {
                struct task *more =
                    arena_calloc(run->plan.arena, capacity * 2 + 256, sizeof(*more));
                if (count > 0)
                    memcpy(more, tasks, count * sizeof(*more));
                tasks = more;
                capacity = capacity * 2 + 256;
            }
            tasks[count++] = (struct task){rows, (uint32_t)i,
                                           sort_least_key(&run->plan, views[i].segment, &rows)};
        }
    }
    run_tasks(run, views, tasks, count);
}

/* By price without other filters than the GPU, each GPU's rows are walked in turn. */
static void search_by_walking(struct run *run, const struct segment_view *views, size_t view_count)
{
    const uint8_t *gpus = run->plan.gpus;
    for (size_t i = 0; i < view_count; i++) {
        const uint32_t *start = views[i].segment->gpu_start;
        run->view = views[i];
        for (uint16_t rank = 0, ranks = gpu_count(); rank < ranks; rank++) {
            if (start[rank] == start[rank + 1] || (gpus != NULL && gpus[rank] == 0))
                continue;
            walk_rows(run, start[rank], start[rank + 1]);
            if (gpus != NULL)
                run->total += count_live(run->view.alive, start[rank], start[rank + 1]);
        }
    }
    if (gpus == NULL)
        run->total = run->plan.snapshot->live;
}

static void match_all(struct run *run, const struct segment_view *views, size_t view_count,
                      bool count_only)
{
    const struct query *query = run->plan.query;
    for (size_t i = 0; i < view_count; i++) {
        run->view = views[i];
        bool cheapest_first = query->sort == SORT_PRICE && !query->reversed;
        for (struct row_run rows = {0}; plan_next_run(&run->view, cheapest_first, &rows);) {
            if (count_only && run->plan.only_gpus)
                run->total += count_live(run->view.alive, rows.first, rows.last);
            else
                match_run(run, &rows, count_only);
        }
    }
}

/* By latency, the places that are likely to give the best are looked at first; where they give
 * enough, all others are only counted. */
static void search_by_latency(struct run *run, const struct segment_view *views, size_t view_count)
{
    struct plan *plan = &run->plan;
    struct plan whole = *plan;
    plan_near_places(plan, run->top.capacity);
    if (!plan->finds_nothing)
        match_all(run, views, view_count, false);
    *plan = whole;
    run->total = 0;
    bool enough = run->top.count == run->top.capacity;
    if (!enough)
        run->top.count = 0;
    match_all(run, views, view_count, enough);
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
    size_t view_count = run.plan.finds_nothing ? 0 : snapshot->segment_count;
    struct segment_view *views = arena_calloc(arena, view_count, sizeof(*views));
    for (size_t i = 0; i < view_count; i++)
        views[i] = plan_view(&run.plan, i);
    if (run.plan.only_gpus && query->sort == SORT_PRICE)
        search_by_walking(&run, views, view_count);
    else if (query->sort == SORT_LATENCY)
        search_by_latency(&run, views, view_count);
    else if (query->sort == SORT_VRAM || sort_is_quotient(query->sort))
        search_by_tasks(&run, views, view_count);
    else
        match_all(&run, views, view_count, false);
    top_sort(&run.top);
    for (size_t i = 0; i < run.top.count; i++) {
        struct hit *hit = &run.top.heap[i];
        const struct segment *segment = snapshot->segments[hit->segment];
        hit->entry = query->price_filtered ? match_entry(&run.plan, segment, hit->row)
                                           : segment->entry_start[hit->row];
    }
    return (struct search_result){run.top.heap, run.top.count, run.total};
}
