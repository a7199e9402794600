/* Places, countries and areas, and the words providers use for them. Compiled in and constant;
 * slugs are what is stored, indexes hold for this build only. Pure; any thread. */
#ifndef RACKRATE_REFERENCE_PLACE_H
#define RACKRATE_REFERENCE_PLACE_H

#include "server/reference/alias.h"

#include <stdbool.h>
#include <stdint.h>

enum place_kind { PLACE_AREA, PLACE_COUNTRY, PLACE_POINT };
/* How exact a place is: a city's centre, the middle of a state or province, the middle of a
 * country, or a whole area. */
enum place_precision {
    PRECISION_BUILDING,
    PRECISION_CITY,
    PRECISION_STATE,
    PRECISION_COUNTRY,
    PRECISION_AREA
};

struct place {
    const char *slug; /* area: `us-east`; country: `se`; place: `se-stockholm` */
    const char *name;
    enum place_kind kind;
    enum place_precision precision;
    const char *country;   /* ISO 3166 alpha-2, upper case; NULL of an area over several */
    const char *continent; /* AF AN AS EU NA OC SA; NULL never */
    const char *parent; /* slug of the area it lies in; NULL of areas and of countries that several
                           areas share */
    int32_t latitude_microdegrees, longitude_microdegrees; /* 0, 0 of areas */
};

/* Entries are numbered 0 … place_count()-1. */
uint16_t place_count(void);
const struct place *place_at(uint16_t index);

/* Index by exact slug; INDEX_NONE (UINT16_MAX) where there is none. */
uint16_t place_find(const char *slug);

/* What a provider's words mean: the zone first, if it says more, then the region; in the provider's
 * own vocabulary, then globally; INDEX_NONE where nobody knows. Never guesses: a country stays a
 * country, and a code that clouds use for different places is known only to them. provider_slug,
 * zone and extra may be NULL. `extra` holds operators' names for places (alias_key), consulted
 * first. */
uint16_t place_resolve(const char *provider_slug, const char *region, const char *zone,
                       const struct alias_set *extra);

/* Slugs of the clouds whose own words for places are known, one after the other; NULL behind the
 * last. */
const char *place_vocabulary(size_t index);

/* The key under which spellings meet: lower case, runs of other characters one hyphen. `out` holds
 * at least 1 byte. */
void place_name_fold(const char *raw, char *out, size_t size);

/* Whether `inner` is `outer` or lies in it. */
bool place_contains(uint16_t outer, uint16_t inner);

/* The known slug nearest to a mistyped one, or NULL. */
const char *place_nearest(const char *text);

/* Whether alpha-2 (any case) is a country known here; its continent, or NULL. */
bool country_is_known(const char *alpha2);

const char *place_precision_name(enum place_precision precision);

/* The mean radius of the Earth by the IUGG (GRS 80). */
#define EARTH_RADIUS_KM 6371.0088

/* Great-circle distance in kilometres between two points in degrees, on a sphere. */
double geo_distance_km(double latitude_a, double longitude_a, double latitude_b,
                       double longitude_b);

#endif
