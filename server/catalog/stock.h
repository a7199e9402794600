/* Where enough of a GPU is in stock, by place: what choosing a place for a service begins with. */
#ifndef RACKRATE_CATALOG_STOCK_H
#define RACKRATE_CATALOG_STOCK_H

#include "server/catalog/query.h"

/* The cheapest offer of a place that has as many GPUs at hand. */
struct stock {
    uint16_t place;
    int64_t per_gpu_hour_microusd;
    char id[OFFER_ID_TEXT_LENGTH + 1];
    const char *provider; /* slug */
    const char *external_id;
    int64_t gpus_available;
    size_t offers; /* of the place that have them */
};

/* Offers that match the query (whose `gpus` says how many must be in stock), at a known place,
 * `available` or `limited`, whose claimed place nothing contradicts: one stock a place, in order of
 * place, in the arena. Samples count as in any search. */
size_t snapshot_stock(struct snapshot *snapshot, const struct query *query, int64_t now_us,
                      struct arena *arena, struct stock **ret_stocks);

#endif
