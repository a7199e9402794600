/* Search the slow way: every offer is held against every parameter, straight from the text of the
 * query and the structs of the model, and all matches are sorted. Shares no code with the
 * catalogue. Also reads what the catalogue answers. */
#ifndef RACKRATE_TESTS_SUPPORT_SEARCH_ORACLE_H
#define RACKRATE_TESTS_SUPPORT_SEARCH_ORACLE_H

#include "tests/support/random_market.h"

/* What is compared of a row. */
struct found {
    char id[OFFER_ID_TEXT_LENGTH + 1];
    int64_t per_gpu_hour_microusd; /* of the price that matched */
    enum billing billing;
    int32_t term_months;
    bool stale;
    int64_t gpus_milli;       /* of whole nodes, in thousandths */
    int64_t total_microusd;   /* of all nodes, an hour */
    int64_t unit_microusd[3]; /* per GB of memory, TFLOP/s and TB/s; UNKNOWN where null */
    int64_t latency_centi;    /* hundredths of a millisecond; UNKNOWN where null */
    bool measured;
};

/* The worst round trip from the ends of a `near` to a place, each looked up or estimated by itself;
 * UNKNOWN of INDEX_NONE. *ret_measured (may be NULL) tells whether it was measured. */
int64_t oracle_latency_centi(const struct market *market, const char *near, uint16_t place,
                             bool *ret_measured);

/* All rows that should be found, in order, in the arena. */
size_t oracle_search(const struct market *market, const struct query_parameter *parameters,
                     size_t count, int64_t now_us, struct arena *arena, struct found **ret_rows);

/* All rows the catalogue finds, page by page to the end, in the arena; *ret_total is the total that
 * every page said (pages that disagree, errors and answers that are no JSON fail the test). */
size_t catalog_search(struct catalog *catalog, const struct query_parameter *parameters,
                      size_t count, int64_t now_us, struct arena *arena, struct found **ret_rows,
                      size_t *ret_total);

/* Compares the two; false where they differ, with the query and the first difference on standard
 * error. */
bool oracle_agrees(struct catalog *catalog, const struct market *market,
                   const struct query_parameter *parameters, size_t count, int64_t now_us);

#endif
