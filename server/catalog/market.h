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

/* Commitments under which anybody offers a GPU, counted or left out, as bits 1 << commitment. */
unsigned snapshot_market_commitments(struct snapshot *snapshot, uint16_t gpu_index, int64_t now_us);

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

/* ---- how it was ---- */

/* What differed at a moment from the offers of a snapshot. */
struct market_past {
    int64_t at_us;
    /* When each provider (by index in the snapshot) had last confirmed all it has by then;
     * TIMESTAMP_UNKNOWN never. */
    const int64_t *confirmed_us;
    /* Offers that were other then, or were not: by id, in any order. */
    const struct market_past_offer *offers;
    size_t offer_count;
};
struct market_past_offer {
    uint8_t id[OFFER_ID_BYTES];
    size_t provider_index;
    const struct offer
        *offer; /* NULL: it was not there; observed_at_us is when it was last seen by then */
};

/* One figure of the past. */
struct market_figure {
    uint16_t gpu;
    enum commitment commitment;
    enum continent continent; /* CONTINENT_COUNT: all */
    struct index_figures figures;
    uint8_t input_hash[32]; /* BLAKE2b-256 over what it is about and all votes, by provider: slug,
                               amount, offers, reason */
};

/* All figures that have a vote, as they were at a moment, by GPU slug, commitment and continent, in
 * the arena. Providers count with their facts of now (suspension, whom they resell, freshness).
 * Looks at every offer: not for an event loop. */
size_t snapshot_market_past(struct snapshot *snapshot, const struct market_past *past,
                            struct arena *arena, struct market_figure **ret);

/* Ids of offers that were seen only after `after_us` and that no confirmation covers at
 * past->at_us: whether they were fresh then, the snapshot does not know. */
size_t snapshot_market_unsure(const struct snapshot *snapshot, const struct market_past *past,
                              int64_t after_us, struct arena *arena,
                              uint8_t (**ret_ids)[OFFER_ID_BYTES]);

#endif
