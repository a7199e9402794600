/* Volume tiers: which of an offer's prices hold for an order of so many GPUs. Pure; any thread. */
#ifndef RACKRATE_MARKET_TIER_H
#define RACKRATE_MARKET_TIER_H

#include "server/model/price.h"

/* Whole nodes that hold `gpus` GPUs; gpu_count_milli as in struct offer. */
int64_t nodes_for(int64_t gpus, int32_t gpu_count_milli);

/* The smallest order a price is for, in GPUs: its own minimum, or a whole node (an eighth of a GPU
 * counts as one). */
int64_t price_smallest_order(const struct price *price, int32_t gpu_count_milli);

/* Whether an order of `gpus` is within the price's minimum and maximum. */
bool price_takes(const struct price *price, int64_t gpus);

/* The cheapest price of that billing that takes an order of `gpus`; NULL none. */
const struct price *price_cheapest(const struct price *prices, size_t count, enum billing billing,
                                   int64_t gpus);

#endif
