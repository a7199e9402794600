/* What people write for one end of a round trip: a region, a provider's region, coordinates. Pure;
 * any thread. */
#ifndef RACKRATE_REFERENCE_LATENCY_WHERE_H
#define RACKRATE_REFERENCE_LATENCY_WHERE_H

#include "server/reference/alias.h"
#include "server/reference/latency.h"

#include <stdbool.h>

struct arena;

struct latency_where {
    uint16_t place; /* INDEX_NONE where it is a point */
    struct geo_point point;
};

/* Reads `us-east`, `Frankfurt`, `US, Dallas, TX`, `aws:eu-west-1` (a provider's region in its own
 * vocabulary) or `50.11,8.68` (latitude first; without a blank behind the comma or with). A name
 * without a provider is taken in the vocabulary of `provider` (may be NULL) first. `names` are
 * operators' names of places (may be NULL). NULL on success; else why not, a sentence in the arena,
 * with the nearest known name where there is one; *ret_code is out_of_range or unknown_value. */
const char *latency_where_parse(const char *text, const char *provider,
                                const struct alias_set *names, struct arena *arena,
                                struct latency_where *ret_where, const char **ret_code);

/* Slug of a place, or `lat,lon` of a point in the arena: one spelling for all that mean the same.
 */
const char *latency_where_name(const struct latency_where *where, struct arena *arena);

#endif
