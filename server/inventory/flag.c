/* Doubts that only the market can raise. Reference medians come from the caller; where there are
 * none, the upload's own prices of the same kind stand in, so that a sentinel in a large catalogue
 * is seen on the first import. */
#include "server/inventory/inventory.h"

#include "server/base/decimal.h"
#include "server/reference/gpu.h"

#include <stdlib.h>

#define FAR_FACTOR      20 /* CASES 13: a monthly figure entered as hourly is 730 times too large */
#define OWN_PRICES_MIN  8
#define NODE_GPUS_MILLI 2000 /* nodes of fewer GPUs cost about what a GPU does */

/* A price as the upload's own medians group it. */
struct own_price {
    uint16_t gpu;
    uint8_t billing;
    int32_t term_months;
    int64_t per_gpu_hour_microusd;
};

struct own_prices {
    struct own_price *items; /* sorted */
    size_t count;
};

static int compare_kind(const struct own_price *a, const struct own_price *b)
{
    if (a->gpu != b->gpu)
        return a->gpu < b->gpu ? -1 : 1;
    if (a->billing != b->billing)
        return a->billing < b->billing ? -1 : 1;
    return (a->term_months > b->term_months) - (a->term_months < b->term_months);
}

static int compare_own(const void *a, const void *b)
{
    const struct own_price *left = a, *right = b;
    int order = compare_kind(left, right);
    return order != 0 ? order
                      : (left->per_gpu_hour_microusd > right->per_gpu_hour_microusd) -
                            (left->per_gpu_hour_microusd < right->per_gpu_hour_microusd);
}

static struct own_prices gather(const struct upload *upload)
{
    struct own_prices own = {0};
    size_t total = 0;
    for (size_t i = 0; i < upload->offer_count; i++)
        total += upload->offers[i].price_count;
    own.items = xmalloc((total + 1) * sizeof(*own.items));
    for (size_t i = 0; i < upload->offer_count; i++) {
        const struct offer *offer = &upload->offers[i];
        for (size_t k = 0; k < offer->price_count; k++)
            own.items[own.count++] = (struct own_price){
                .gpu = offer->gpu,
                .billing = (uint8_t)offer->prices[k].billing,
                .term_months = offer->prices[k].term_months,
                .per_gpu_hour_microusd = offer->prices[k].per_gpu_hour_microusd,
            };
    }
    qsort(own.items, own.count, sizeof(*own.items), compare_own);
    return own;
}

/* First index whose kind is not before (or, with `past`, is after) the wanted one. */
static size_t bound(const struct own_prices *own, const struct own_price *wanted, bool past)
{
    size_t low = 0, high = own->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_kind(&own->items[middle], wanted);
        if (order < 0 || (past && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t own_median(const struct own_prices *own, uint16_t gpu, const struct price *price)
{
    struct own_price wanted = {
        .gpu = gpu, .billing = (uint8_t)price->billing, .term_months = price->term_months};
    size_t begin = bound(own, &wanted, false), end = bound(own, &wanted, true);
    return end - begin < OWN_PRICES_MIN
               ? UNKNOWN
               : own->items[begin + (end - begin) / 2].per_gpu_hour_microusd;
}

/* Whether a quoted node price is near the median of one GPU (a third to one and a half of it) while
 * its share is under a third. */
static bool looks_per_gpu(const struct offer *offer, const struct price *price, int64_t median)
{
    return price->quoted_per == PRICE_PER_NODE && offer->gpu_count_milli >= NODE_GPUS_MILLI &&
           price->quoted_microusd <= median / 2 * 3 && price->quoted_microusd >= median / 3 &&
           price->per_gpu_hour_microusd < median / 3;
}

static uint32_t flags_of(const struct offer *offer, const struct price *price, int64_t median)
{
    uint32_t flags = 0;
    if (price->per_gpu_hour_microusd / FAR_FACTOR > median)
        flags |= OFFER_FLAG(PRICE_FAR_ABOVE_MEDIAN);
    if (price->per_gpu_hour_microusd < median / FAR_FACTOR)
        flags |= OFFER_FLAG(PRICE_FAR_BELOW_MEDIAN);
    if (looks_per_gpu(offer, price, median))
        flags |= OFFER_FLAG(NODE_PRICE_LOOKS_PER_GPU);
    return flags;
}

void inventory_flag(struct upload *upload, median_lookup *median, void *closure)
{
    struct own_prices own = gather(upload);
    for (size_t i = 0; i < upload->offer_count; i++) {
        struct offer *offer = &upload->offers[i];
        offer->flags &= ~OFFER_FLAGS_OF_MARKET;
        /* Names that mean many products have no median. */
        if (offer->gpu == gpu_unrecognized())
            continue;
        for (size_t k = 0; k < offer->price_count; k++) {
            const struct price *price = &offer->prices[k];
            int64_t reference = median == NULL ? UNKNOWN : median(closure, offer->gpu, price);
            if (reference <= 0)
                reference = own_median(&own, offer->gpu, price);
            if (reference > 0)
                offer->flags |= flags_of(offer, price, reference);
        }
    }
    free(own.items);
}
