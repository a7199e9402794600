/* Measured round trips from outside: the body of POST /v1/latency, and CSV for the command line.
 * Each row is validated on its own; everything wrong with it is said. Pure; any thread. */
#ifndef RACKRATE_INVENTORY_LATENCY_ROWS_H
#define RACKRATE_INVENTORY_LATENCY_ROWS_H

#include "server/model/change_set.h"
#include "server/reference/alias.h"
#include "server/reference/latency_book.h"

#define LATENCY_ROWS_MAX 1000 /* of one request */

struct latency_decode {
    const char *measured_by; /* slug of the provider whose key sends them; NULL an operator */
    const char *provider;    /* of rows that name none; NULL none */
    const char
        *vocabulary; /* whose words for places rows without a provider use; NULL: everybody's */
    const struct alias_set *names; /* operators' names of places */
    int64_t now_us;                /* what no measured_at may be after */
    int64_t default_us;            /* measured_at of rows without */
    bool (*knows_provider)(void *closure, const char *slug);
    void *closure;
};

struct latency_rows {
    struct latency_measurement *list; /* floor_us is set, ids are 0 */
    size_t count;
    struct row_issues errors; /* pointer: /measurements/N/member, or a CSV's column */
    bool forbidden;           /* some row speaks for another provider */
    int64_t rows_read;
};

/* {"measurements": [{"from", "to", "median_ms", "p95_ms", "samples", "measured_at", "provider",
 * "zone", "source"}, …]}. NULL, or why the body as a whole is none (static or in the arena). */
const char *latency_decode_json(const struct latency_decode *decode, const char *body,
                                size_t length, struct arena *arena, struct latency_rows *ret_rows);

/* A CSV with a header of the same names; src, dst and rtt_ms stand for from, to and median_ms. Rows
 * from a place to itself are counted and left out: they tell what measuring takes, no way. */
const char *latency_decode_csv(const struct latency_decode *decode, const char *body, size_t length,
                               struct arena *arena, struct latency_rows *ret_rows);

#endif
