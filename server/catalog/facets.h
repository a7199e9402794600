/* Facets: how many offers a search would find for each value of something, and what they cost. Each
 * is counted under the query's other filters, without its own, so that a choice can be widened.
 * Exact. Only files of this room include it. */
#ifndef RACKRATE_CATALOG_FACETS_H
#define RACKRATE_CATALOG_FACETS_H

#include "server/catalog/search.h"

/* name, and the parameters that are its own */
#define FACETS(X)                                                                                  \
    X(GPU, "gpu", "gpu", NULL, NULL)                                                               \
    X(VENDOR, "vendor", "vendor", NULL, NULL)                                                      \
    X(FORM_FACTOR, "form_factor", "form_factor", NULL, NULL)                                       \
    X(GPU_COUNT, "gpu_count", "gpu_count", "min_gpu_count", "max_gpu_count")                       \
    X(BILLING, "billing", "billing", NULL, NULL)                                                   \
    X(TERM_MONTHS, "term_months", "term_months", "max_term_months", NULL)                          \
    X(FABRIC, "fabric", "fabric", NULL, NULL)                                                      \
    X(INTERCONNECT, "interconnect", "interconnect", NULL, NULL)                                    \
    X(REGION, "region", "region", NULL, NULL)                                                      \
    X(COUNTRY, "country", "country", NULL, NULL)                                                   \
    X(CONTINENT, "continent", "continent", NULL, NULL)                                             \
    X(LATENCY, "latency", "max_latency_ms", NULL, NULL)                                            \
    X(PROVIDER, "provider", "provider", NULL, NULL)                                                \
    X(PROVIDER_KIND, "provider_kind", "provider_kind", NULL, NULL)                                 \
    X(AVAILABILITY, "availability", "availability", NULL, NULL)

enum facet {
#define X(name, text, first, second, third) FACET_##name,
    FACETS(X)
#undef X
        FACET_COUNT
};

/* `gpu`, `vendor` … */
const char *facet_name(enum facet facet);

/* Whether the parameter is one of the facet's own. */
bool facet_owns(enum facet facet, const char *parameter);

/* Writes `{"gpu":[{"value":…,"offers":…,"min_price_per_gpu_hour":…,"median_price_per_gpu_hour":…},
 * …],…}` of the facets the query asks for. Values come by offers, most first, then by value;
 * `value` is null where it is unknown. An offer counts once a value; of `billing` and `term_months`
 * it may have several. The price is the matching one, of a billing or term the cheapest of that. */
void facets_write(struct snapshot *snapshot, const struct query *query, int64_t now_us,
                  struct arena *arena, struct buf *out);

#endif
