/* Which rows of a block match: one vectorised pass a filter; only rows with a price below
 * min_price, and searches by term or verdict, look at their prices one by one. */
#include "server/catalog/market_table.h"
#include "server/catalog/search.h"

/* A column of the segment, from the block's first row. */
static const void *column_at(const struct segment_view *view, const struct block *block,
                             size_t column, size_t width)
{
    const char *start = *(char *const *)(const void *)((const char *)view->segment + column);
    return start + block->first * width;
}

static void apply_filter(const struct segment_view *view, struct block *block,
                         const struct filter *filter)
{
    uint8_t *mask = block->mask;
    size_t count = block->count;
    switch (filter->kind) {
    case FILTER_BITS:
        kernel_any_bit(mask, column_at(view, block, filter->column, 1), count, filter->bits);
        break;
    case FILTER_RANGE32:
        kernel_range32(mask, column_at(view, block, filter->column, 4), count, (int32_t)filter->low,
                       (int32_t)filter->high);
        break;
    case FILTER_RANGE64:
        kernel_range64(mask, column_at(view, block, filter->column, 8), count, filter->low,
                       filter->high);
        break;
    case FILTER_LIST32:
        kernel_in_list32(mask, column_at(view, block, filter->column, 4), count, filter->values,
                         filter->count);
        break;
    case FILTER_RUNS:
        kernel_in_runs(mask, column_at(view, block, filter->column, 2), count, filter->runs,
                       filter->count);
        break;
    case FILTER_TABLE:
        kernel_in_table16(mask, column_at(view, block, filter->column, 2), count, filter->table);
        break;
    }
}

static void keep_both(uint8_t *restrict mask, const uint8_t *restrict other, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mask[i] &= other[i];
}

static bool verdict_matches(const struct plan *plan, const struct segment *segment, uint32_t row,
                            uint32_t entry)
{
    const char *text;
    const struct market_comparables *against =
        market_comparables_of(plan->moment->market, segment, row, entry, &text);
    return (plan->query->verdict_bits >>
                price_verdict(&against->comparables, segment->entry_microusd[entry]) &
            1) != 0;
}

uint32_t match_entry(const struct plan *plan, const struct segment *segment, uint32_t row)
{
    return match_entry_from(plan, segment, row, segment->entry_start[row]);
}

uint32_t match_entry_from(const struct plan *plan, const struct segment *segment, uint32_t row,
                          uint32_t first)
{
    const struct query *query = plan->query;
    for (uint32_t entry = first; entry < segment->entry_start[row + 1]; entry++) {
        if (segment->entry_microusd[entry] > query->max_price_microusd)
            return UINT32_MAX; /* the others are dearer */
        if (segment->entry_microusd[entry] >= query->min_price_microusd &&
            (query->billing_bits == 0 ||
             (segment->entry_billing[entry] & query->billing_bits) != 0) &&
            (query->terms == NULL || query->terms[segment->entry_term[entry]] != 0) &&
            (query->verdict_bits == 0 || verdict_matches(plan, segment, row, entry)))
            return entry;
    }
    return UINT32_MAX;
}

/* Each row's cheapest price among the billings asked for, cut. */
static void cheapest_of_billings(const struct segment_view *view, struct block *block)
{
    const struct segment *segment = view->segment;
    const int32_t *columns[BILLING_COUNT] = {segment->on_demand_cut, segment->spot_cut,
                                             segment->reserved_cut};
    uint8_t bits = view->plan->query->billing_bits;
    if (bits == 0) {
        memcpy(block->prices, segment->cheapest_cut + block->first, block->count * sizeof(int32_t));
        return;
    }
    int first = __builtin_ctz(bits);
    memcpy(block->prices, columns[first] + block->first, block->count * sizeof(int32_t));
    for (int i = first + 1; i < BILLING_COUNT; i++) {
        if ((bits >> i & 1) != 0)
            kernel_min32(block->prices, columns[i] + block->first, block->count);
    }
}

/* Filters that must hold on one and the same price. */
static void match_prices(const struct segment_view *view, struct block *block)
{
    const struct query *query = view->plan->query;
    const struct segment *segment = view->segment;
    size_t first = block->first, count = block->count;
    int32_t low = price_cut(query->min_price_microusd), high = price_cut(query->max_price_microusd);
    cheapest_of_billings(view, block);
    /* Nothing the cheapest of these billings says no to is cheaper. */
    kernel_range32(block->mask, block->prices, count, 0, high);
    if (query->terms == NULL && query->verdict_bits == 0) {
        memcpy(block->rest, block->mask, (count + 7) / 8 * 8);
        kernel_range32(block->mask, block->prices, count, low, PRICE_CUT_DEAR - 1);
        /* What the columns can't tell: the cheapest is below the minimum, or too dear for the
         * column. */
        for (size_t i = 0; i < count; i++)
            block->rest[i] = (uint8_t)(block->rest[i] & (block->mask[i] ^ 1) &
                                       (segment->has_more_prices[first + i] |
                                        (block->prices[i] == PRICE_CUT_DEAR)));
    } else {
        memcpy(block->rest, block->mask, (count + 7) / 8 * 8);
        memset(block->mask, 0, count);
    }
    FOR_EACH_ROW(block->rest, count, i)
    {
        uint32_t entry = match_entry(view->plan, segment, (uint32_t)(first + i));
        if (entry == UINT32_MAX)
            continue;
        block->mask[i] = 1;
        block->prices[i] = price_cut(segment->entry_microusd[entry]);
    }
}

void match_block(const struct segment_view *view, struct block *block)
{
    const struct plan *plan = view->plan;
    const struct segment *segment = view->segment;
    for (size_t i = 0; i < plan->filter_count; i++)
        apply_filter(view, block, &plan->filters[i]);
    if (view->extra_gpus != NULL)
        keep_both(block->mask, view->extra_gpus + block->first, block->count);
    if (view->extra_places != NULL)
        keep_both(block->mask, view->extra_places + block->first, block->count);
    if (plan->hides_stale)
        kernel_fresh(block->mask, segment->own_us + block->first, segment->is_sample + block->first,
                     segment->provider + block->first, plan->moment->cutoff_us, block->count);
    if (plan->query->price_filtered)
        match_prices(view, block);
}
