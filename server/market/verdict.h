/* Whether a price is fair: against the median of what it can be compared with. Pure; any thread. */
#ifndef RACKRATE_MARKET_VERDICT_H
#define RACKRATE_MARKET_VERDICT_H

#include "server/market/index.h"

enum price_verdict {
    VERDICT_BELOW_MARKET, /* under 0.8 times the median */
    VERDICT_TYPICAL,
    VERDICT_ABOVE_MARKET,      /* over 1.25 times the median */
    VERDICT_INSUFFICIENT_DATA, /* fewer than VERDICT_PROVIDERS_MIN providers at every level */
    VERDICT_COUNT,
};
const char *price_verdict_name(enum price_verdict verdict);

#define VERDICT_PROVIDERS_MIN 5

/* How near the comparables are. All are of the same GPU variant and billing; the first level with
 * enough providers is used. */
enum comparables_level {
    COMPARABLES_CLUSTER_SIZE, /* same term bucket and cluster size */
    COMPARABLES_TERM,         /* same term bucket, any cluster size */
    COMPARABLES_BILLING,      /* reserved only: any term, any cluster size */
    COMPARABLES_LEVEL_COUNT,
};
const char *comparables_level_name(enum comparables_level level);

/* What a price is held against. */
struct comparables {
    enum comparables_level level; /* the one used; the last tried where none had enough */
    uint32_t providers;           /* at that level */
    int64_t median_microusd;      /* UNKNOWN where there are too few providers */
    int64_t below_microusd;       /* prices under it are below the market; 0 with no median */
    int64_t above_microusd;       /* prices over it are above the market */
};

/* Chooses among the figures of each level, nearest first; `count` of them (1 to
 * COMPARABLES_LEVEL_COUNT). */
struct comparables comparables_choose(const struct index_figures *const *by_level, size_t count);

/* The verdict on a price in micro-dollars per GPU-hour. */
static inline enum price_verdict price_verdict(const struct comparables *comparables,
                                               int64_t microusd)
{
    if (comparables->median_microusd < 0)
        return VERDICT_INSUFFICIENT_DATA;
    return microusd < comparables->below_microusd   ? VERDICT_BELOW_MARKET
           : microusd > comparables->above_microusd ? VERDICT_ABOVE_MARKET
                                                    : VERDICT_TYPICAL;
}

/* price / median in ten-thousandths, half-even; UNKNOWN without a median. */
int64_t price_ratio_to_median(const struct comparables *comparables, int64_t microusd);

#endif
