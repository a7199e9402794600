/* Which rows of a block match: one vectorised pass a filter; only rows with a price below
 * min_price, and searches by term, verdict or number of GPUs, look at their prices one by one. */
#include "server/catalog/market_table.h"
#include "server/catalog/search.h"
#include "server/catalog/tier.h"

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
    uint64_t *mask = block->mask;
    size_t count = block_words(block);
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

static void keep_both(uint64_t *mask, const uint64_t *other, size_t words)
{
    for (size_t i = 0; i < words; i++)
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

/* Whether a price of the row meets the query's filters on prices, its upper bound aside. */
static inline bool entry_matches(const struct plan *plan, const struct segment *segment,
                                 uint32_t row, uint32_t entry, const struct tier *tier)
{
    const struct query *query = plan->query;
    if (segment->entry_microusd[entry] < query->min_price_microusd ||
        (query->billing_bits != 0 && (segment->entry_billing[entry] & query->billing_bits) == 0) ||
        (query->terms != NULL && query->terms[segment->entry_term[entry]] == 0))
        return false;
    if (query->gpus_milli >= 0 && !tier_covers(tier, segment, entry))
        return false;
    if (query->max_total_microusd != INT64_MAX) {
        int64_t total = tier_total_microusd(tier, segment->entry_node_microusd[entry]);
        if (total < 0 || total > query->max_total_microusd)
            return false;
    }
    return query->verdict_bits == 0 || verdict_matches(plan, segment, row, entry);
}

bool match_one_entry(const struct plan *plan, const struct segment *segment, uint32_t row,
                     uint32_t entry)
{
    struct tier tier = tier_of(segment->gpu_count_milli[row], plan->query->gpus_milli);
    return segment->entry_microusd[entry] <= plan->query->max_price_microusd &&
           entry_matches(plan, segment, row, entry, &tier);
}

uint32_t match_entry(const struct plan *plan, const struct segment *segment, uint32_t row)
{
    const struct query *query = plan->query;
    struct tier tier = {0};
    if (query->gpus_milli >= 0 || query->max_total_microusd != INT64_MAX)
        tier = tier_of(segment->gpu_count_milli[row], query->gpus_milli);
    if (query->gpus_milli >= 0 && !tier_in_stock(&tier, segment->gpus_available[row]))
        return UINT32_MAX;
    for (uint32_t entry = segment->entry_start[row]; entry < segment->entry_start[row + 1];
         entry++) {
        if (segment->entry_microusd[entry] > query->max_price_microusd)
            return UINT32_MAX; /* the others are dearer */
        if (entry_matches(plan, segment, row, entry, &tier))
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
    if (bits == 0)
        return; /* any: match_block has set the cheapest of all */
    int first = __builtin_ctz(bits);
    block->prices = columns[first] + block->first;
    if ((bits & (bits - 1)) == 0)
        return;
    memcpy(block->own_prices, block->prices, block->count * sizeof(int32_t));
    block->prices = block->own_prices;
    for (int i = first + 1; i < BILLING_COUNT; i++) {
        if ((bits >> i & 1) != 0)
            kernel_min32(block->own_prices, columns[i] + block->first, block->count);
    }
}

/* Asks the prices of the rows in `rest` one by one. */
static void match_one_by_one(const struct segment_view *view, struct block *block,
                             const uint64_t *rest)
{
    size_t words = block_words(block);
    if (kernel_count(rest, words) == 0)
        return;
    if (block->prices != block->own_prices) {
        memcpy(block->own_prices, block->prices, block->count * sizeof(int32_t));
        block->prices = block->own_prices;
    }
    FOR_EACH_ROW(rest, words, i)
    {
        uint32_t entry = match_entry(view->plan, view->segment, (uint32_t)(block->first + i));
        if (entry == UINT32_MAX)
            continue;
        block->mask[i / WORD_ROWS] |= UINT64_C(1) << (i % WORD_ROWS);
        block->own_prices[i] = price_cut(view->segment->entry_microusd[entry]);
    }
}

/* Keeps rows with stock for the whole nodes that are wanted. */
static void match_stock(const struct segment_view *view, struct block *block)
{
    const struct segment *segment = view->segment;
    struct tier_memo *memo = view->plan->tiers;
    FOR_EACH_ROW(block->mask, block_words(block), i)
    {
        size_t row = block->first + i;
        size_t tier =
            tier_recall(memo, segment->gpu_count_milli[row], view->plan->query->gpus_milli);
        if (segment->gpus_available[row] < memo->slots[tier].whole_gpus)
            mask_clear(block->mask, i);
    }
}

/* Keeps rows of which some price has one of the terms, as far as their bits tell; whether these
 * tell all: then any such price is the row's match, the cheapest of them unknown. */
static bool match_terms(const struct segment_view *view, struct block *block)
{
    const struct query *query = view->plan->query;
    size_t words = block_words(block);
    kernel_any_bit(block->mask, view->segment->term_bits + block->first, words, query->term_bits);
    return (query->term_bits & TERM_OTHER) == 0 && query->term_bits_tell;
}

/* Filters that must hold on one and the same price. */
static void match_prices(const struct segment_view *view, struct block *block)
{
    const struct query *query = view->plan->query;
    const struct segment *segment = view->segment;
    size_t words = block_words(block), first = block->first;
    int32_t low = price_cut(query->min_price_microusd), high = price_cut(query->max_price_microusd);
    bool bounded = query->max_price_microusd != INT64_MAX || query->min_price_microusd > 0;
    bool one_by_one = query->verdict_bits != 0 || query->max_total_microusd != INT64_MAX;
    uint64_t rest[BLOCK_WORDS];
    cheapest_of_billings(view, block);
    /* Nothing the cheapest of these billings says no to is cheaper. */
    kernel_range32(block->mask, block->prices, words, 0, high);
    if (query->gpus_milli >= 0)
        match_stock(view, block);
    if (query->terms != NULL) {
        bool tell = match_terms(view, block);
        block->least_only = tell && !one_by_one && !bounded && query->gpus_milli < 0;
        if (block->least_only)
            return;
        one_by_one = true;
    }
    memcpy(rest, block->mask, words * sizeof(rest[0]));
    if (one_by_one) {
        memset(block->mask, 0, words * sizeof(block->mask[0]));
        match_one_by_one(view, block, rest);
        return;
    }
    kernel_range32(block->mask, block->prices, words, low, PRICE_CUT_DEAR - 1);
    /* What the columns can't tell: the cheapest is below the minimum, or too dear for the column,
     * or prices are for some numbers of GPUs only. */
    if (query->gpus_milli >= 0)
        kernel_no_bit(block->mask, segment->has_tiers + first, words, 1);
    for (size_t i = 0; i < words; i++)
        rest[i] &= ~block->mask[i];
    FOR_EACH_ROW(rest, words, i)
    {
        if (segment->has_more_prices[first + i] == 0 && segment->has_tiers[first + i] == 0 &&
            block->prices[i] != PRICE_CUT_DEAR)
            mask_clear(rest, i);
    }
    match_one_by_one(view, block, rest);
}

/* Live rows of [first, last) as bits of the block. */
static void load_live(const struct alive *alive, struct block *block, size_t first, size_t last)
{
    size_t words = block_words(block), end = block->first + block->count;
    if (alive == NULL)
        memset(block->mask, 0xff, words * sizeof(block->mask[0]));
    else
        memcpy(block->mask, alive->words + block->first / WORD_ROWS,
               words * sizeof(block->mask[0]));
    if (first > block->first)
        block->mask[0] &= ~UINT64_C(0) << (first - block->first);
    if (end == last && end % WORD_ROWS != 0)
        block->mask[words - 1] &= ~(~UINT64_C(0) << (end % WORD_ROWS));
}

void match_block(const struct segment_view *view, const struct row_run *run, size_t at,
                 struct block *block)
{
    const struct plan *plan = view->plan;
    const struct segment *segment = view->segment;
    block->first = at - at % WORD_ROWS;
    block->count = run->last - block->first < BLOCK_ROWS ? run->last - block->first : BLOCK_ROWS;
    block->prices = segment->cheapest_cut + block->first;
    block->least_only = false;
    size_t words = block_words(block), first = block->first;
    load_live(view->alive, block, at, run->last);
    for (size_t i = 0; i < plan->filter_count; i++)
        apply_filter(view, block, &plan->filters[i]);
    if (view->extra_gpus != NULL)
        keep_both(block->mask, view->extra_gpus + first / WORD_ROWS, words);
    if (view->extra_places != NULL)
        keep_both(block->mask, view->extra_places + first / WORD_ROWS, words);
    if (plan->has_words)
        kernel_words(block->mask, segment->gpu_rank + first, segment->place_rank + first,
                     segment->provider + first, &plan->words.tables, words);
    if (plan->hides_stale)
        kernel_fresh(block->mask, segment->own_us + first, segment->is_sample + first,
                     segment->provider + first, plan->moment->cutoff_us, words);
    if (plan->query->price_filtered)
        match_prices(view, block);
}
