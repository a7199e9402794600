/* Random markets and random searches, for tests that compare the catalogue with something simpler.
 * The same seed gives the same market. Values are drawn from few choices, so that ties, unknowns
 * and empty answers are common. */
#ifndef RACKRATE_TESTS_SUPPORT_RANDOM_MARKET_H
#define RACKRATE_TESTS_SUPPORT_RANDOM_MARKET_H

#include "server/base/arena.h"
#include "server/catalog/catalog.h"
#include "server/catalog/query.h"

/* The moment all random markets are seen at, unless a test moves the clock. */
#define MARKET_NOW_US INT64_C(1790000000000000)

struct random {
    uint64_t state;
};
/* 0 … below - 1. */
uint32_t random_below(struct random *random, uint32_t below);
/* True once in `times`. */
bool random_once_in(struct random *random, uint32_t times);

#define MARKET_PROVIDERS_MAX 16

struct market_provider {
    struct provider facts;
    struct offer *offers;
    size_t offer_count;
};

struct market {
    struct arena arena;
    struct random random;
    struct market_provider providers[MARKET_PROVIDERS_MAX];
    size_t provider_count;
    struct latency_book *latency; /* some pairs of its places are measured */
};

/* From where random searches measure: single ends, of which `near` names one or several. */
#define MARKET_ENDS 6
extern const char *const market_ends[MARKET_ENDS];

/* A market of some providers (one suspended, some with stale offers, one that never turns stale).
 */
void market_make(struct market *market, uint64_t seed, size_t provider_count, size_t offers_each);
void market_free(struct market *market);

/* A random offer with this external_id. */
void market_random_offer(struct market *market, const char *external_id, struct offer *ret_offer);

/* The whole market as one batch of reloads. */
bool market_load(struct catalog *catalog, const struct market *market);

/* A random search of up to 10 parameters; values live in the market's arena. */
#define MARKET_PARAMETERS_MAX 14
size_t market_random_query(struct market *market,
                           struct query_parameter parameters[static MARKET_PARAMETERS_MAX]);

/* "name=value&…" for messages. */
const char *market_query_text(struct arena *arena, const struct query_parameter *parameters,
                              size_t count);

#endif
