/* Keys are integers, so that a cursor holds one exactly; what sorts by a quotient sorts by the
 * rounded micro-dollars that are printed. */
#include "server/catalog/sort_key.h"

#include "server/base/decimal.h"
#include "server/catalog/latency_query.h"
#include "server/catalog/tier.h"
#include "server/market/unit_price.h"

static bool sorts_by_unit(enum query_sort sort, enum unit_price *ret_unit)
{
    switch (sort) {
    case SORT_PER_VRAM_GB:
        *ret_unit = UNIT_VRAM_GB;
        return true;
    case SORT_PER_TFLOP:
        *ret_unit = UNIT_TFLOP;
        return true;
    case SORT_PER_TBPS:
        *ret_unit = UNIT_TBPS;
        return true;
    case SORT_PRICE:
    case SORT_TOTAL_PRICE:
    case SORT_LATENCY:
    case SORT_VRAM:
    case SORT_UPDATED:
    case SORT_COUNT:
        break;
    }
    return false;
}

bool sort_is_quotient(enum query_sort sort)
{
    enum unit_price unit;
    return sorts_by_unit(sort, &unit);
}

/* How much of the unit the row's GPU has. */
static int64_t quantity_of(const struct segment *segment, enum unit_price unit, uint32_t row)
{
    return unit_price_quantity(unit, gpu_at(gpu_of_rank(segment->gpu_rank[row])),
                               segment->vram_gb_milli[row]);
}

static int64_t total_price(const struct query *query, const struct segment *segment, uint32_t row,
                           uint32_t entry)
{
    struct tier tier = tier_of(segment->gpu_count_milli[row], query->gpus_milli);
    return tier_total_microusd(&tier, segment->entry_node_microusd[entry]);
}

int64_t sort_key(const struct plan *plan, const struct segment *segment, uint32_t row,
                 uint32_t entry)
{
    const struct query *query = plan->query;
    enum unit_price unit;
    int64_t value = UNKNOWN;
    switch (query->sort) {
    case SORT_PRICE:
    case SORT_COUNT:
        value = segment->entry_microusd[entry];
        break;
    case SORT_TOTAL_PRICE:
        value = total_price(query, segment, row, entry);
        break;
    case SORT_PER_VRAM_GB:
    case SORT_PER_TFLOP:
    case SORT_PER_TBPS:
        if (sorts_by_unit(query->sort, &unit))
            value = unit_price_microusd(unit, segment->entry_microusd[entry],
                                        quantity_of(segment, unit, row));
        break;
    case SORT_LATENCY:
        value = query->latency->centi[segment->place_rank[row]];
        break;
    case SORT_VRAM:
        value = segment->vram_gb_milli[row];
        break;
    case SORT_UPDATED:
        value = segment->updated_at_us[row];
        break;
    }
    if (value < 0)
        return INT64_MAX;
    return query->reversed ? -value : value;
}

/* By estimates in floating point, which err by less than one micro-dollar each way. */
static void drop_by_unit(const struct plan *plan, const struct segment *segment,
                         struct block *block, enum unit_price unit, double ceiling)
{
    double scale = (double)unit_price_scale(unit), sign = plan->query->reversed ? -1 : 1;
    double quotient = 0;
    uint16_t of_rank = RANK_NONE;
    FOR_EACH_ROW(block->mask, block_words(block), i)
    {
        uint32_t row = (uint32_t)(block->first + i);
        if (unit == UNIT_VRAM_GB || segment->gpu_rank[row] != of_rank) {
            of_rank = segment->gpu_rank[row];
            quotient = scale / (double)quantity_of(segment, unit, row);
        }
        /* An unknown quantity (below 0) sorts behind the ceiling. */
        if (!(quotient > 0) ||
            (block->prices[i] < PRICE_CUT_DEAR && sign * block->prices[i] * quotient > ceiling + 1))
            mask_clear(block->mask, i);
    }
}

/* A node's price is at most half a micro-dollar for each GPU below the price per GPU times its
 * GPUs: half the smallest price there is. */
static void drop_by_total(const struct plan *plan, const struct segment *segment,
                          struct block *block, double ceiling)
{
    struct tier_memo *memo = plan->tiers;
    FOR_EACH_ROW(block->mask, block_words(block), i)
    {
        size_t row = block->first + i;
        size_t tier = tier_recall(memo, segment->gpu_count_milli[row], plan->query->gpus_milli);
        double least = ((double)block->prices[i] - 1) * memo->slots[tier].gpus;
        if (block->prices[i] < PRICE_CUT_DEAR && least > ceiling + 1)
            mask_clear(block->mask, i);
    }
}

static void drop_by_latency(const struct query *query, const struct segment *segment,
                            struct block *block, int64_t low, int64_t high)
{
    FOR_EACH_ROW(block->mask, block_words(block), i)
    {
        int64_t centi = query->latency->centi[segment->place_rank[block->first + i]];
        if (centi < low || centi > high)
            mask_clear(block->mask, i);
    }
}

static bool by_price(enum query_sort sort)
{
    return sort <= SORT_PER_TBPS;
}

static int32_t cut32(int64_t value)
{
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

void sort_drop_outside(const struct plan *plan, const struct segment *segment, struct block *block,
                       int64_t floor, int64_t ceiling)
{
    const struct query *query = plan->query;
    enum unit_price unit;
    if (ceiling == INT64_MAX)
        return; /* there is room for all, and for what is unknown */
    if (block->least_only && by_price(query->sort)) {
        if (query->reversed)
            return;
        floor = INT64_MIN;
    }
    if (sorts_by_unit(query->sort, &unit)) {
        drop_by_unit(plan, segment, block, unit, (double)ceiling);
        return;
    }
    if (query->sort == SORT_TOTAL_PRICE) {
        if (!query->reversed)
            drop_by_total(plan, segment, block, (double)ceiling);
        return;
    }
    /* Values from low to high may be taken; unknown ones (below 0) sort behind the ceiling. */
    int64_t low = query->reversed ? -ceiling : floor,
            high = query->reversed ? (floor == INT64_MIN ? INT64_MAX : -floor) : ceiling;
    if (low < 0)
        low = 0;
    switch (query->sort) {
    case SORT_PRICE:
    case SORT_COUNT:
        kernel_range32(block->mask, block->prices, block_words(block), price_cut(low),
                       price_cut(high));
        break;
    case SORT_VRAM:
        kernel_range32(block->mask, segment->vram_gb_milli + block->first, block_words(block),
                       cut32(low), cut32(high));
        break;
    case SORT_UPDATED:
        kernel_range64(block->mask, segment->updated_at_us + block->first, block_words(block), low,
                       high);
        break;
    case SORT_LATENCY:
        drop_by_latency(query, segment, block, low, high);
        break;
    case SORT_TOTAL_PRICE: /* done above */
    case SORT_PER_VRAM_GB:
    case SORT_PER_TFLOP:
    case SORT_PER_TBPS:
        break;
    }
}

/* The largest or smallest quantity that rows of a GPU have; UNKNOWN where some may have none. */
static int64_t extreme_quantity(const struct segment *segment, enum unit_price unit, uint16_t rank,
                                bool largest)
{
    if (unit != UNIT_VRAM_GB)
        return unit_price_quantity(unit, gpu_at(gpu_of_rank(rank)), UNKNOWN);
    return segment->vram_least[rank] < 0 ? UNKNOWN
           : largest                     ? segment->vram_most[rank]
                                         : segment->vram_least[rank];
}

bool sort_follows_price(const struct plan *plan, const struct segment *segment, uint16_t rank)
{
    enum unit_price unit;
    if (plan->query->sort == SORT_PRICE)
        return true;
    return sorts_by_unit(plan->query->sort, &unit) &&
           extreme_quantity(segment, unit, rank, true) > 0 &&
           extreme_quantity(segment, unit, rank, false) ==
               extreme_quantity(segment, unit, rank, true);
}

int64_t sort_least_key(const struct plan *plan, const struct segment *segment,
                       const struct row_run *run)
{
    const struct query *query = plan->query;
    uint16_t rank = segment->gpu_rank[run->first];
    enum unit_price unit;
    if (!run->one_gpu)
        return INT64_MIN;
    if (query->sort == SORT_VRAM) {
        int32_t most = segment->vram_most[rank], least = segment->vram_least[rank];
        if (query->reversed)
            return most < 0 ? INT64_MAX : -(int64_t)most;
        return least < 0 ? INT64_MIN : least;
    }
    if (query->reversed || query->sort == SORT_TOTAL_PRICE || !by_price(query->sort))
        return INT64_MIN;
    if (!sorts_by_unit(query->sort, &unit))
        return segment->cheapest_microusd[run->first];
    int64_t quantity = extreme_quantity(segment, unit, rank, true);
    if (quantity <= 0)
        return unit == UNIT_VRAM_GB ? INT64_MIN : INT64_MAX;
    return unit_price_microusd(unit, segment->cheapest_microusd[run->first], quantity);
}
