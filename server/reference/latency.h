/* Distance and estimated round trips between places of the table, and what a measured round trip
 * can say about a claimed place. Pure; any thread. */
#ifndef RACKRATE_REFERENCE_LATENCY_H
#define RACKRATE_REFERENCE_LATENCY_H

#include "server/reference/latency_model.h"

#include <stdint.h>

/* A measured round trip counts as old after so long. */
#define LATENCY_FRESH_DAYS 90
/* Nothing on Earth takes longer; a longer one is a mistake. */
#define LATENCY_MAX_MS 10000
/* Hundredths of a millisecond, which tables keep. */
#define LATENCY_CENTI 100

/* Where a place is. A word for many places (a country, an area) stands for the middle of the cities
 * known in it. */
struct place_extent {
    struct geo_point point;
    double spread_km; /* how far off the point a machine there usually is */
    double reach_km;  /* and at most, as far as is known */
};
const struct place_extent *place_extent(uint16_t place);

/* An end of pairs: a place of the table, or a point given by coordinates (place INDEX_NONE). */
struct latency_place {
    uint16_t place;
    struct latency_end end;
    double spread_km;
};
/* By index; made once, never freed. */
const struct latency_place *latency_place(uint16_t place);
/* Of coordinates. */
void latency_place_at(struct geo_point point, struct latency_place *ret_place);

struct latency_estimate {
    double rtt_ms;
    double low_ms, high_ms; /* nine of ten are within */
    double distance_km;
};
struct latency_estimate latency_estimate(const struct latency_place *a,
                                         const struct latency_place *b);

/* The shortest round trip that light in fibre allows between two places, wherever in them the two
 * ends are; 0 where they may be neighbours. A shorter one says that one of the two is elsewhere. */
double latency_floor_ms(uint16_t a, uint16_t b);

/* A round trip as tables keep it: hundredths of a millisecond, and whether it was measured. */
typedef uint32_t latency_cell;
#define LATENCY_CELL(centi, measured) ((latency_cell)(centi) << 1 | (measured))
#define LATENCY_CELL_CENTI(cell)      ((cell) >> 1)
#define LATENCY_CELL_MEASURED(cell)   ((cell)&1)

/* Estimated round trips between all places: place_count() rows of place_count() cells; made on
 * first use. Same place: what a round trip within it takes. */
const latency_cell *latency_estimates(void);
/* One of them, of any two ends. */
latency_cell latency_cell_of(const struct latency_place *a, const struct latency_place *b);
/* Of a point: place_count() cells into `cells`. */
void latency_estimates_from(const struct latency_place *from, latency_cell *cells);

#endif
