/* What each way to pay costs for a GPU in a region: figures by billing, term and cluster size, by
 * the method of the index (server/market/index.h). Any thread, but not an event loop: it looks at
 * all offers of the GPU. */
#ifndef RACKRATE_CATALOG_TERM_PRICES_H
#define RACKRATE_CATALOG_TERM_PRICES_H

#include "server/catalog/catalog.h"
#include "server/market/index.h"

struct term_prices {
    enum billing billing;
    int32_t term_months;
    enum cluster_size cluster_size; /* CLUSTER_SIZE_COUNT: all together */
    struct index_figures figures;   /* effective prices, upfront included */
};

/* The figures of a GPU (index into server/reference) within a place (INDEX_NONE: anywhere), in
 * order of billing, term and cluster size, all together first. `excluded` counts the prices that
 * are left out, by reason. Lives in the arena. */
size_t snapshot_term_prices(struct snapshot *snapshot, uint16_t gpu_index, uint16_t place_index,
                            int64_t now_us, struct arena *arena, struct term_prices **ret,
                            uint32_t excluded[static INDEX_REASON_COUNT]);

#endif
