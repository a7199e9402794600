/* Places are few hundred: extents, ends and all estimates are made once. */
#include "server/reference/latency.h"

#include "server/model/offer.h"
#include "server/reference/place.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Data centres named after a city lie in and around it. */
#define CITY_SPREAD_KM 15.0
#define CITY_REACH_KM  100.0
/* A state or a country without any known city. */
#define WIDE_SPREAD_KM 200.0
#define WIDE_REACH_KM  600.0

static struct place_extent *extents;
static struct latency_place *ends;
static latency_cell *estimates;
static pthread_once_t ends_once = PTHREAD_ONCE_INIT, estimates_once = PTHREAD_ONCE_INIT;

static struct geo_point table_point(const struct place *place)
{
    return (struct geo_point){place->latitude_microdegrees / 1e6,
                              place->longitude_microdegrees / 1e6};
}

static double between(struct geo_point a, struct geo_point b)
{
    return geo_distance_km(a.latitude, a.longitude, b.latitude, b.longitude);
}

static bool is_city(const struct place *place)
{
    return place->kind == PLACE_POINT && place->precision <= PRECISION_CITY;
}

/* The middle of the cities in a wider place: their mean on the sphere. False where none is known.
 */
static bool middle_of(uint16_t wide, struct geo_point *ret_point)
{
    const double radians = M_PI / 180.0;
    double x = 0, y = 0, z = 0;
    for (uint16_t i = 0; i < place_count(); i++) {
        if (!is_city(place_at(i)) || !place_contains(wide, i))
            continue;
        struct geo_point point = table_point(place_at(i));
        x += cos(point.latitude * radians) * cos(point.longitude * radians);
        y += cos(point.latitude * radians) * sin(point.longitude * radians);
        z += sin(point.latitude * radians);
    }
    if (x == 0 && y == 0 && z == 0)
        return false;
    *ret_point = (struct geo_point){atan2(z, hypot(x, y)) / radians, atan2(y, x) / radians};
    return true;
}

static struct place_extent extent_of(uint16_t index)
{
    const struct place *place = place_at(index);
    struct place_extent extent = {table_point(place), CITY_SPREAD_KM, CITY_REACH_KM};
    if (is_city(place))
        return extent;
    extent.spread_km = WIDE_SPREAD_KM;
    extent.reach_km = WIDE_REACH_KM;
    if (place->precision == PRECISION_STATE || !middle_of(index, &extent.point))
        return extent;
    double squares = 0, farthest = place->precision == PRECISION_AREA
                                       ? 0
                                       : between(extent.point, table_point(place));
    size_t cities = 0;
    for (uint16_t i = 0; i < place_count(); i++) {
        if (!is_city(place_at(i)) || !place_contains(index, i))
            continue;
        double km = between(extent.point, table_point(place_at(i)));
        squares += km * km;
        farthest = fmax(farthest, km);
        cities++;
    }
    /* One city says little about how large a country is. */
    extent.spread_km =
        cities < 2 ? WIDE_SPREAD_KM : CITY_SPREAD_KM + sqrt(squares / (double)cities);
    extent.reach_km = WIDE_REACH_KM + farthest;
    return extent;
}

static void make_ends(void)
{
    uint16_t count = place_count();
    extents = calloc(count, sizeof(*extents));
    ends = calloc(count, sizeof(*ends));
    if (extents == NULL || ends == NULL)
        abort();
    for (uint16_t i = 0; i < count; i++) {
        extents[i] = extent_of(i);
        ends[i].place = i;
        ends[i].spread_km = extents[i].spread_km;
        latency_end_make(&latency_model, extents[i].point, &ends[i].end);
    }
}

const struct place_extent *place_extent(uint16_t place)
{
    pthread_once(&ends_once, make_ends);
    return &extents[place];
}

const struct latency_place *latency_place(uint16_t place)
{
    pthread_once(&ends_once, make_ends);
    return &ends[place];
}

void latency_place_at(struct geo_point point, struct latency_place *ret_place)
{
    ret_place->place = INDEX_NONE;
    ret_place->spread_km = 0;
    latency_end_make(&latency_model, point, &ret_place->end);
}

struct latency_estimate latency_estimate(const struct latency_place *a,
                                         const struct latency_place *b)
{
    double error;
    struct latency_estimate estimate = {
        .rtt_ms = latency_model_estimate(&latency_model, &a->end, &b->end, &error),
        .distance_km = between(a->end.point, b->end.point),
    };
    /* Where in their places the two ends are adds to it, independently. */
    double spread_ms = hypot(a->spread_km, b->spread_km) * latency_model.detour * FIBRE_MS_PER_KM;
    double lower = hypot(estimate.rtt_ms * error / (1 + error), spread_ms);
    double upper = hypot(estimate.rtt_ms * error, spread_ms);
    double nearest_km = fmax(0, estimate.distance_km - a->spread_km - b->spread_km);
    estimate.low_ms = fmax(estimate.rtt_ms - lower, nearest_km * FIBRE_MS_PER_KM);
    estimate.high_ms = estimate.rtt_ms + upper;
    return estimate;
}

double latency_floor_ms(uint16_t a, uint16_t b)
{
    const struct place_extent *from = place_extent(a), *to = place_extent(b);
    double km = between(from->point, to->point) - from->reach_km - to->reach_km;
    return km <= 0 || a == b ? 0 : km * FIBRE_MS_PER_KM;
}

/* Rounded up: never below light in fibre. */
latency_cell latency_cell_of(const struct latency_place *a, const struct latency_place *b)
{
    double ms = latency_model_estimate(&latency_model, &a->end, &b->end, NULL);
    return LATENCY_CELL(ceil(ms * LATENCY_CENTI - 1e-6), false);
}

static void make_estimates(void)
{
    uint16_t count = place_count();
    latency_cell *made = calloc((size_t)count * count, sizeof(*made));
    if (made == NULL)
        abort();
    for (uint16_t a = 0; a < count; a++) {
        for (uint16_t b = a; b < count; b++)
            made[(size_t)a * count + b] = made[(size_t)b * count + a] =
                latency_cell_of(latency_place(a), latency_place(b));
    }
    estimates = made;
}

const latency_cell *latency_estimates(void)
{
    pthread_once(&estimates_once, make_estimates);
    return estimates;
}

void latency_estimates_from(const struct latency_place *from, latency_cell *cells)
{
    for (uint16_t i = 0; i < place_count(); i++)
        cells[i] = latency_cell_of(from, latency_place(i));
}
