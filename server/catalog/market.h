/* What the offers of a snapshot say about prices: figures by GPU variant and commitment, and the
 * verdict on each price. Kept up to date with every publish, so that readers only look up. Any
 * thread. */
#ifndef RACKRATE_CATALOG_MARKET_H
#define RACKRATE_CATALOG_MARKET_H

#include "server/catalog/catalog.h"
#include "server/market/verdict.h"

/* The figures now of a GPU variant (index into server/reference) under a commitment, of one
 * continent or, with CONTINENT_COUNT, of all. False where there is no vote: figures are UNKNOWN,
 * counts 0. */
bool snapshot_market_figures(struct snapshot *snapshot, uint16_t gpu_index,
                             enum commitment commitment, enum continent continent, int64_t now_us,
                             struct index_figures *ret_figures);

/* The same as a JSON object (gpu, billing, term_bucket, continent, price_per_gpu_hour, offers,
 * providers, excluded by reason). False, and nothing written, where nobody has such a price at all,
 * not even one that is left out. `excluded` is null for a single continent. */
bool snapshot_market_write(struct snapshot *snapshot, uint16_t gpu_index,
                           enum commitment commitment, enum continent continent, int64_t now_us,
                           struct buf *out);

/* One price and why it counts in the figures of its GPU and commitment, or does not. */
struct market_explanation {
    const struct provider *provider; /* of the snapshot */
    const char *external_id;
    uint32_t number; /* of the price among its offer's, cheapest first */
    uint8_t offer_id[OFFER_ID_BYTES];
    enum commitment commitment;
    int32_t term_months;
    enum cluster_size cluster_size;
    enum continent continent;
    int64_t microusd;      /* per GPU-hour */
    int64_t vote_microusd; /* its provider's vote; UNKNOWN where that has none */
    enum index_reason reason;
};
/* Every price of a GPU under the commitments whose bits (1 << commitment) are set, ordered by
 * commitment, provider, amount, offer. Looks at all offers of the GPU: not for an event loop. Lives
 * in the arena and as long as the snapshot is held. */
size_t snapshot_market_explain(struct snapshot *snapshot, uint16_t gpu_index,
                               unsigned commitment_bits, int64_t now_us, struct arena *arena,
                               struct market_explanation **ret);

#endif
