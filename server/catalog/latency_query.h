/* Latency in a search: from one or several places (`near`) to the place of each row. */
#ifndef RACKRATE_CATALOG_LATENCY_QUERY_H
#define RACKRATE_CATALOG_LATENCY_QUERY_H

#include "server/catalog/rank.h"
#include "server/catalog/snapshot.h"

#define LATENCY_UNKNOWN UINT32_MAX /* a cell: no `near`, or a row without a known place */

struct parse;
struct query;

/* What a query with `near` knows: by rank, RANK_NONE + 1 of them. Where several places are near,
 * the worst of them. Lives in the query's arena. */
struct query_latency {
    latency_cell cells[RANK_NONE + 1];
    int32_t centi[RANK_NONE + 1]; /* the same to sort by; -1 unknown */
};

static inline latency_cell query_latency_cell(const struct query_latency *latency, uint16_t rank)
{
    return latency == NULL ? LATENCY_UNKNOWN : latency->cells[rank];
}

/* Refuses sort=latency and max_latency_ms without near. `max_given` tells whether the latter is
 * there. */
void latency_check(struct parse *parse, bool max_given);

/* Latency bands for facets: the upper bounds in milliseconds, ascending; what is above the last is
 * a band of its own. */
#define LATENCY_BAND_COUNT 7
extern const int32_t latency_band_ms[LATENCY_BAND_COUNT - 1];
/* Band of a cell: 0 … LATENCY_BAND_COUNT-1, or -1 where it is unknown. */
int latency_band(latency_cell cell);
/* `0-10`, `10-25`, … `300+`. */
const char *latency_band_name(int band);

/* Where a measurement contradicts the place of a row: flags it `location_contradicted` and gives
 * the evidence, both in the arena. Nothing where none does. */
void splice_contradiction(const struct snapshot *snapshot, const struct segment *segment,
                          uint32_t row, struct arena *arena, struct fragment_splice *splice);

#endif
