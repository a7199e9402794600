/* The search itself. Matching: block by block, a byte a row, one vectorised pass a filter.
 * Counting: the sum of the bytes. Ordering: the best limit + 1 in a heap, into which a block's rows
 * go only if they are better than its worst. Rows of one GPU lie in order of their cheapest price,
 * so where no filter is set only the first rows of each GPU are looked at. */
#include "server/catalog/search.h"

#include "server/reference/gpu.h"

#include <stdlib.h>
#include <string.h>

struct run {
    struct plan plan;
    struct hit *heap; /* the worst on top */
    size_t capacity;
    size_t count;
    size_t total;
    /* Of the segment at hand. */
    uint32_t segment_index;
    const struct segment *segment;
    const struct alive *alive;
    const uint8_t *extra_gpus;
    const uint8_t *extra_places;
};

/* One block of rows on its way through the filters. */
struct block {
    size_t first;
    size_t count;
    _Alignas(32) uint8_t mask[BLOCK_ROWS];
    _Alignas(32) uint8_t rest[BLOCK_ROWS];
    _Alignas(32) uint8_t chosen[BLOCK_ROWS]; /* which of its prices matched, from its cheapest */
    _Alignas(32) int64_t keys[BLOCK_ROWS];
};

static void sift_down(struct hit *heap, size_t count, struct hit hit)
{
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count &&
            hit_compare(heap[child + 1].key, heap[child + 1].id, &heap[child]) > 0)
            child++;
        if (hit_compare(heap[child].key, heap[child].id, &hit) <= 0)
            break;
        heap[at] = heap[child];
    }
    heap[at] = hit;
}

/* Takes a hit if it is after the cursor and among the best. */
static void offer_hit(struct run *run, int64_t key, uint32_t row, uint32_t entry)
{
    const struct query *query = run->plan.query;
    struct offer_key id = run->segment->id[row];
    if (query->has_cursor &&
        (key < query->cursor_key ||
         (key == query->cursor_key && offer_key_compare(id, query->cursor_id) <= 0)))
        return;
    struct hit hit = {key, id, run->segment_index, row, entry};
    if (run->count == run->capacity) {
        if (hit_compare(key, id, &run->heap[0]) < 0)
            sift_down(run->heap, run->count, hit);
        return;
    }
    size_t at = run->count++;
    for (; at > 0 && hit_compare(hit.key, hit.id, &run->heap[(at - 1) / 2]) > 0; at = (at - 1) / 2)
        run->heap[at] = run->heap[(at - 1) / 2];
    run->heap[at] = hit;
}

/* A column of the segment, from the block's first row. */
static const void *column_at(const struct run *run, const struct block *block, size_t column,
                             size_t width)
{
    const char *start = *(char *const *)(const void *)((const char *)run->segment + column);
    return start + block->first * width;
}

static void apply_filter(const struct run *run, struct block *block, const struct filter *filter)
{
    switch (filter->kind) {
    case FILTER_BITS:
        kernel_any_bit(block->mask, column_at(run, block, filter->column, 1), block->count,
                       filter->bits);
        break;
    case FILTER_RANGE32:
        kernel_range32(block->mask, column_at(run, block, filter->column, 4), block->count,
                       (int32_t)filter->low, (int32_t)filter->high);
        break;
    case FILTER_RANGE64:
        kernel_range64(block->mask, column_at(run, block, filter->column, 8), block->count,
                       filter->low, filter->high);
        break;
    case FILTER_LIST32:
        kernel_in_list32(block->mask, column_at(run, block, filter->column, 4), block->count,
                         filter->values, filter->count);
        break;
    case FILTER_RUNS:
        kernel_in_runs(block->mask, column_at(run, block, filter->column, 2), block->count,
                       filter->runs, filter->count);
        break;
    case FILTER_TABLE:
        kernel_in_table16(block->mask, column_at(run, block, filter->column, 2), block->count,
                          filter->table);
        break;
    }
}

static void keep_both(uint8_t *restrict mask, const uint8_t *restrict other, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mask[i] &= other[i];
}

/* Calls for each row of the block that is 1 in the mask, eight at a time where none is. */
#define FOR_EACH_ROW(mask, size, index)                                                            \
    for (size_t group_ = 0; group_ < (size); group_ += 8)                                          \
        for (uint64_t bytes_ = group_of(mask, group_, size), index;                                \
             bytes_ != 0 && (index = group_ + (size_t)__builtin_ctzll(bytes_) / 8, true);          \
             bytes_ &= bytes_ - 1)

static inline uint64_t group_of(const uint8_t *mask, size_t at, size_t count)
{
    uint64_t bytes = 0;
    memcpy(&bytes, mask + at, count - at < 8 ? count - at : 8);
    return bytes;
}

static bool entry_passes(const struct query *query, const struct segment *segment, uint32_t entry)
{
    return (query->billing_bits == 0 ||
            (segment->entry_billing[entry] & query->billing_bits) != 0) &&
           (query->terms == NULL || query->terms[segment->entry_term[entry]] != 0) &&
           segment->entry_microusd[entry] >= query->min_price_microusd &&
           segment->entry_microusd[entry] <= query->max_price_microusd;
}

/* Rows whose cheapest price fails but that have others: the cheapest of these that passes, if any.
 */
static void match_other_prices(const struct run *run, struct block *block)
{
    const struct segment *segment = run->segment;
    FOR_EACH_ROW(block->rest, block->count, i)
    {
        size_t row = block->first + i;
        uint32_t start = segment->entry_start[row], entry = start + 1,
                 end = segment->entry_start[row + 1];
        while (entry < end && !entry_passes(run->plan.query, segment, entry))
            entry++;
        if (entry == end)
            continue;
        block->mask[i] = 1;
        block->chosen[i] = (uint8_t)(entry - start);
        block->keys[i] = segment->entry_microusd[entry];
    }
}

/* Filters that must hold on one and the same price. Leaves the price of each row in keys and which
 * it is in chosen. */
static void match_prices(const struct run *run, struct block *block)
{
    const struct query *query = run->plan.query;
    const struct segment *segment = run->segment;
    size_t first = block->first, count = block->count;
    memset(block->chosen, 0, count);
    memcpy(block->keys, segment->cheapest_microusd + first, count * sizeof(int64_t));
    if (query->billing_bits != 0)
        kernel_any_bit(block->mask, segment->billing_bits + first, count, query->billing_bits);
    kernel_range64(block->mask, block->keys, count, 0, query->max_price_microusd);
    memcpy(block->rest, block->mask, count);
    if (query->billing_bits != 0)
        kernel_any_bit(block->mask, segment->cheapest_billing + first, count, query->billing_bits);
    if (query->terms != NULL)
        kernel_in_table16(block->mask, segment->cheapest_term + first, count, query->terms);
    if (query->min_price_microusd > 0)
        kernel_range64(block->mask, block->keys, count, query->min_price_microusd, INT64_MAX);
    for (size_t i = 0; i < count; i++)
        block->rest[i] =
            (uint8_t)(block->rest[i] & (block->mask[i] ^ 1) & segment->has_more_prices[first + i]);
    match_other_prices(run, block);
}

/* Sort keys of the block, in its own array or straight from the column. */
static const int64_t *keys_of(const struct run *run, struct block *block)
{
    const struct query *query = run->plan.query;
    const struct segment *segment = run->segment;
    switch (query->sort) {
    case SORT_VRAM:
        kernel_keys32(block->keys, segment->vram_gb_milli + block->first, block->count,
                      query->reversed);
        return block->keys;
    case SORT_UPDATED:
        kernel_keys64(block->keys, segment->updated_at_us + block->first, block->count,
                      query->reversed);
        return block->keys;
    case SORT_PRICE:
    case SORT_COUNT:
        break;
    }
    if (query->reversed) {
        const int64_t *prices =
            query->price_filtered ? block->keys : segment->cheapest_microusd + block->first;
        for (size_t i = 0; i < block->count; i++)
            block->keys[i] = -prices[i];
        return block->keys;
    }
    return query->price_filtered ? block->keys : segment->cheapest_microusd + block->first;
}

/* Offers the block's matches to the heap. */
static void take_best(struct run *run, struct block *block)
{
    const struct query *query = run->plan.query;
    const int64_t *keys = keys_of(run, block);
    if (run->count == run->capacity)
        kernel_range64(block->mask, keys, block->count, INT64_MIN, run->heap[0].key);
    if (query->has_cursor)
        kernel_range64(block->mask, keys, block->count, query->cursor_key, INT64_MAX);
    FOR_EACH_ROW(block->mask, block->count, i)
    {
        if (run->count == run->capacity && keys[i] > run->heap[0].key)
            continue;
        uint32_t row = (uint32_t)(block->first + i);
        uint32_t entry =
            run->segment->entry_start[row] + (query->price_filtered ? block->chosen[i] : 0u);
        offer_hit(run, keys[i], row, entry);
    }
}

static void match_block(struct run *run, struct block *block)
{
    const struct plan *plan = &run->plan;
    const struct segment *segment = run->segment;
    for (size_t i = 0; i < plan->filter_count; i++)
        apply_filter(run, block, &plan->filters[i]);
    if (run->extra_gpus != NULL)
        keep_both(block->mask, run->extra_gpus + block->first, block->count);
    if (run->extra_places != NULL)
        keep_both(block->mask, run->extra_places + block->first, block->count);
    if (plan->hides_stale)
        kernel_fresh(block->mask, segment->own_us + block->first, segment->is_sample + block->first,
                     segment->provider + block->first, plan->moment->cutoff_us, block->count);
    if (plan->query->price_filtered)
        match_prices(run, block);
    size_t matches = kernel_count(block->mask, block->count);
    run->total += matches;
    if (matches > 0)
        take_best(run, block);
}

/* Rows first … last of the segment. */
static void match_rows(struct run *run, size_t first, size_t last)
{
    struct block block;
    const uint64_t *words = run->alive == NULL ? NULL : run->alive->words;
    for (size_t at = first - first % 8; at < last; at += BLOCK_ROWS) {
        block.first = at;
        block.count = last - at < BLOCK_ROWS ? last - at : BLOCK_ROWS;
        kernel_load(block.mask, words, at, block.count);
        if (at < first)
            memset(block.mask, 0, first - at);
        match_block(run, &block);
    }
}

static void match_segment(struct run *run)
{
    const struct plan *plan = &run->plan;
    const struct segment *segment = run->segment;
    run->extra_gpus = plan_extra_rows(plan, &plan->query->gpus, segment, true);
    run->extra_places = plan_extra_rows(plan, &plan->query->places, segment, false);
    if (plan->gpus == NULL) {
        match_rows(run, 0, segment->row_count);
        return;
    }
    for (uint16_t rank = 0; rank < gpu_count(); rank++) {
        if (plan->gpus[rank] == 0 || segment->gpu_start[rank] == segment->gpu_start[rank + 1])
            continue;
        uint32_t first = segment->gpu_start[rank];
        while (rank + 1 < gpu_count() && plan->gpus[rank + 1] != 0)
            rank++;
        match_rows(run, first, segment->gpu_start[rank + 1]);
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
    const struct segment *segment = run->segment;
    if (query->has_cursor && !query->reversed)
        first = lower_bound(segment, first, last, query->cursor_key);
    if (query->has_cursor && query->reversed)
        last = lower_bound(segment, first, last, -query->cursor_key + 1);
    for (uint32_t left = last - first; left > 0; left--) {
        uint32_t row = query->reversed ? first + left - 1 : last - left;
        int64_t key =
            query->reversed ? -segment->cheapest_microusd[row] : segment->cheapest_microusd[row];
        if (run->count == run->capacity && key > run->heap[0].key)
            return;
        if (alive_has(run->alive, row))
            offer_hit(run, key, row, segment->entry_start[row]);
    }
}

static void walk_segment(struct run *run)
{
    for (uint16_t rank = 0; rank < gpu_count(); rank++)
        walk_gpu(run, run->segment->gpu_start[rank], run->segment->gpu_start[rank + 1]);
}

static int compare_hits(const void *a, const void *b)
{
    const struct hit *x = a;
    return hit_compare(x->key, x->id, b);
}

struct search_result search_run(struct snapshot *snapshot, const struct query *query,
                                int64_t now_us, struct arena *arena)
{
    struct run run = {.capacity = query->limit + 1};
    run.heap = arena_calloc(arena, run.capacity, sizeof(*run.heap));
    plan_make(&run.plan, snapshot, query, now_us, arena);
    bool walk = run.plan.all_visible && query->sort == SORT_PRICE;
    for (size_t i = 0; i < snapshot->segment_count && !run.plan.finds_nothing; i++) {
        run.segment_index = (uint32_t)i;
        run.segment = snapshot->segments[i];
        run.alive = snapshot->alive[i];
        if (walk)
            walk_segment(&run);
        else
            match_segment(&run);
    }
    if (walk)
        run.total = snapshot->live;
    qsort(run.heap, run.count, sizeof(*run.heap), compare_hits);
    return (struct search_result){run.heap, run.count, run.total};
}
