/* Counts of GPUs are fractions: an order is compared with them multiplied out. */
#include "server/market/tier.h"

int64_t nodes_for(int64_t gpus, int32_t gpu_count_milli)
{
    int64_t numerator, denominator;
    gpu_count_fraction(gpu_count_milli, &numerator, &denominator);
    return (gpus * denominator + numerator - 1) / numerator;
}

int64_t price_smallest_order(const struct price *price, int32_t gpu_count_milli)
{
    int64_t node = ((int64_t)gpu_count_milli + 999) / 1000;
    return price->min_gpus > node ? price->min_gpus : node;
}

bool price_takes(const struct price *price, int64_t gpus)
{
    return (price->min_gpus < 0 || gpus >= price->min_gpus) &&
           (price->max_gpus < 0 || gpus <= price->max_gpus);
}

const struct price *price_cheapest(const struct price *prices, size_t count, enum billing billing,
                                   int64_t gpus)
{
    const struct price *cheapest = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct price *price = &prices[i];
        if (price->billing == billing && price_takes(price, gpus) &&
            (cheapest == NULL || price->per_gpu_hour_microusd < cheapest->per_gpu_hour_microusd))
            cheapest = price;
    }
    return cheapest;
}
