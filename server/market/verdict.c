/* Bounds are made once a median, so that judging a price is two comparisons. */
#include "server/market/verdict.h"

#include "server/base/decimal.h"

const char *price_verdict_name(enum price_verdict verdict)
{
    static const char *const names[VERDICT_COUNT] = {"below_market", "typical", "above_market",
                                                     "insufficient_data"};
    return names[verdict];
}

const char *comparables_level_name(enum comparables_level level)
{
    static const char *const names[COMPARABLES_LEVEL_COUNT] = {"cluster_size", "term", "billing"};
    return names[level];
}

struct comparables comparables_choose(const struct index_figures *const *by_level, size_t count)
{
    size_t level = 0;
    while (level + 1 < count && by_level[level]->providers < VERDICT_PROVIDERS_MIN)
        level++;
    const struct index_figures *figures = by_level[level];
    struct comparables result = {
        .level = (enum comparables_level)level,
        .providers = figures->providers,
        .median_microusd = UNKNOWN,
    };
    if (figures->providers >= VERDICT_PROVIDERS_MIN) {
        result.median_microusd = figures->median;
        /* price < 0.8 x median, whole numbers: price < ceil(4 x median / 5). */
        result.below_microusd = (figures->median * 4 + 4) / 5;
        /* price > 1.25 x median: price > floor(5 x median / 4). */
        result.above_microusd = figures->median * 5 / 4;
    }
    return result;
}

int64_t price_ratio_to_median(const struct comparables *comparables, int64_t microusd)
{
    if (comparables->median_microusd < 0)
        return UNKNOWN;
    return decimal_muldiv_half_even(microusd, 10000, comparables->median_microusd, NULL);
}
