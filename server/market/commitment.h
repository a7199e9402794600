/* What prices are compared within: how one commits (billing and term) and how much one takes at
 * least. Pure; any thread. */
#ifndef RACKRATE_MARKET_COMMITMENT_H
#define RACKRATE_MARKET_COMMITMENT_H

#include "server/model/price.h"

/* Billing with its term bucket: a reservation of 12 months is compared with those of 12 to 23. */
enum commitment {
    COMMITMENT_ON_DEMAND,
    COMMITMENT_SPOT,
    COMMITMENT_RESERVED_1,  /* 1-2 months */
    COMMITMENT_RESERVED_3,  /* 3-5 */
    COMMITMENT_RESERVED_6,  /* 6-11 */
    COMMITMENT_RESERVED_12, /* 12-23 */
    COMMITMENT_RESERVED_24, /* 24-35 */
    COMMITMENT_RESERVED_36, /* 36 and more */
    COMMITMENT_COUNT,
};

/* term_months is 0 unless reserved, then 1 to PRICE_TERM_MONTHS_MAX. */
enum commitment commitment_of(enum billing billing, int32_t term_months);
enum billing commitment_billing(enum commitment commitment);
/* Months from which the bucket counts: 0, 1, 3, 6, 12, 24, 36. */
int32_t commitment_months_from(enum commitment commitment);
/* The bucket as printed: `0`, `1-2`, `3-5`, `6-11`, `12-23`, `24-35`, `36+`. */
const char *commitment_term_name(enum commitment commitment);

/* The smallest order a price is for, in GPUs: a whole node or the price's own minimum, whichever is
 * more. */
enum cluster_size { CLUSTER_1, CLUSTER_9, CLUSTER_64, CLUSTER_513, CLUSTER_SIZE_COUNT };
/* gpu_count_milli is the node's, in thousandths; min_gpus UNKNOWN (-1) if not given. */
enum cluster_size cluster_size_of(int32_t gpu_count_milli, int32_t min_gpus);
/* `1-8`, `9-63`, `64-512`, `513+`. */
const char *cluster_size_name(enum cluster_size size);

/* Continents by the letters of server/reference/place.h; CONTINENT_UNKNOWN where a place is not
 * known. */
enum continent {
    CONTINENT_AF,
    CONTINENT_AN,
    CONTINENT_AS,
    CONTINENT_EU,
    CONTINENT_NA,
    CONTINENT_OC,
    CONTINENT_SA,
    CONTINENT_UNKNOWN,
    CONTINENT_COUNT,
};
/* `AF` … `SA`; NULL of CONTINENT_UNKNOWN, and back: CONTINENT_UNKNOWN of any other text and of
 * NULL. */
const char *continent_code(enum continent continent);
enum continent continent_of(const char *code);

#endif
