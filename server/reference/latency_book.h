/* What was measured: round trips by pair of places, and which of them contradict a claimed place.
 * Immutable once made, with counted references; any thread. */
#ifndef RACKRATE_REFERENCE_LATENCY_BOOK_H
#define RACKRATE_REFERENCE_LATENCY_BOOK_H

#include "server/reference/latency.h"

#include <stdbool.h>
#include <stdint.h>

/* The median of round trips from a place to a machine at another, as somebody measured it. */
struct latency_measurement {
    int64_t id;
    uint16_t from, to;       /* places; never the same */
    const char *provider;    /* slug of whose machine answered at `to`; NULL unknown */
    const char *zone;        /* that provider's name for where; NULL any */
    const char *measured_by; /* slug of the provider that measured; NULL an operator */
    int32_t median_us;
    int32_t p95_us;  /* UNKNOWN */
    int32_t samples; /* UNKNOWN */
    int64_t measured_at_us;
    const char *source; /* free words or a URL; NULL */
    int32_t floor_us;   /* what light in fibre takes at least, as computed when it came in */
};

/* Faster than light allows: one of the two ends is not where it is said to be. */
static inline bool latency_contradicts(const struct latency_measurement *measurement)
{
    return measurement->median_us < measurement->floor_us;
}

/* Whether it is too old to be taken as it is today. */
bool latency_is_old(const struct latency_measurement *measurement, int64_t now_us);

struct latency_book;

/* Copies the measurements. Of several for one direction of a pair the one that counts is: an
 * operator's, unless a provider's is LATENCY_FRESH_DAYS younger; then the youngest; then the one
 * with the lowest id. Those that contradict never count. */
struct latency_book *latency_book_new(int64_t version, const struct latency_measurement *list,
                                      size_t count);
/* One more reference; one less. NULL is a book without measurements. */
struct latency_book *latency_book_reference(struct latency_book *book);
void latency_book_release(struct latency_book *book);

int64_t latency_book_version(const struct latency_book *book); /* 0 of NULL */
/* Of all that is measured and of the model: the same on every node and after a restart. */
uint64_t latency_book_hash(const struct latency_book *book);

/* Round trips from a place to all places: place_count() cells, valid as long as the book. */
const latency_cell *latency_book_row(const struct latency_book *book, uint16_t from);

/* The measurement behind a cell, or NULL where it is an estimate. *ret_reversed tells that only the
 * other direction was measured. */
const struct latency_measurement *latency_book_find(const struct latency_book *book, uint16_t from,
                                                    uint16_t to, bool *ret_reversed);

/* All measurements in order of id. */
size_t latency_book_list(const struct latency_book *book,
                         const struct latency_measurement **ret_list);

/* The measurement that contradicts a provider's claim that a zone (may be NULL) is at a place: an
 * operator's or the provider's own; of several the one furthest below its floor. NULL: none. */
const struct latency_measurement *latency_book_contradiction(const struct latency_book *book,
                                                             const char *provider, uint16_t place,
                                                             const char *zone);
/* Whether anything contradicts any claim of the provider (cheap: asked for each row). */
bool latency_book_doubts(const struct latency_book *book, const char *provider);

#endif
