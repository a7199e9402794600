/* Coordinates are told from names by their shape: two numbers and a comma are never a name. */
#include "server/reference/latency_where.h"

#include "server/base/arena.h"
#include "server/base/decimal.h"
#include "server/model/offer.h"
#include "server/reference/place.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_BYTES 60

/* A degree as micro-degrees; false where the text is no plain number. Digits beyond a tenth of a
 * metre say nothing. */
static bool parse_degrees(const char *text, size_t length, int64_t *ret_micro)
{
    while (length > 0 && *text == ' ') {
        text++;
        length--;
    }
    while (length > 0 && text[length - 1] == ' ')
        length--;
    switch (decimal_parse(text, length, 6, true, ret_micro)) {
    case DECIMAL_OK:
    case DECIMAL_ROUNDED:
        return true;
    case DECIMAL_OUT_OF_RANGE:
        *ret_micro = INT64_MAX;
        return true;
    case DECIMAL_MALFORMED:
    case DECIMAL_TOO_PRECISE:
        break;
    }
    return false;
}

static bool within(int64_t micro, int64_t degrees)
{
    return micro >= -degrees * 1000000 && micro <= degrees * 1000000;
}

static const char *parse_point(int64_t latitude, int64_t longitude, struct arena *arena,
                               struct latency_where *ret_where, const char **ret_code)
{
    *ret_code = "out_of_range";
    if (!within(latitude, 90) && within(latitude, 180) && within(longitude, 90))
        return arena_strdup(arena, "A latitude is -90 to 90, and it comes first: these two look "
                                   "swapped.");
    if (!within(latitude, 90))
        return arena_strdup(arena, "A latitude, which comes first, is -90 to 90.");
    if (!within(longitude, 180))
        return arena_strdup(arena, "A longitude, which comes second, is -180 to 180.");
    *ret_where = (struct latency_where){
        .place = INDEX_NONE,
        .point = {(double)latitude / 1e6, (double)longitude / 1e6},
    };
    return NULL;
}

const char *latency_where_parse(const char *text, const char *provider,
                                const struct alias_set *names, struct arena *arena,
                                struct latency_where *ret_where, const char **ret_code)
{
    const char *comma = strchr(text, ','), *colon = strchr(text, ':'), *name = text;
    int64_t latitude, longitude;
    if (comma != NULL && parse_degrees(text, (size_t)(comma - text), &latitude) &&
        parse_degrees(comma + 1, strlen(comma + 1), &longitude))
        return parse_point(latitude, longitude, arena, ret_where, ret_code);
    if (colon != NULL) {
        provider = arena_strndup(arena, text, (size_t)(colon - text));
        name = colon + 1;
    }
    uint16_t place = provider == NULL ? place_find(name) : INDEX_NONE;
    if (place == INDEX_NONE)
        place = place_resolve(provider, name, NULL, names);
    *ret_where = (struct latency_where){.place = place};
    if (place != INDEX_NONE)
        return NULL;
    *ret_code = "unknown_value";
    const char *nearest = place_nearest(name);
    return arena_printf(
        arena, "\"%.*s\" is no region known here, nor coordinates such as 50.11,8.68%s%s%s",
        SHOWN_BYTES, text, nearest == NULL ? "." : "; did you mean ",
        nearest == NULL ? "" : nearest, nearest == NULL ? "" : "?");
}

const char *latency_where_name(const struct latency_where *where, struct arena *arena)
{
    char latitude[32], longitude[32];
    if (where->place != INDEX_NONE)
        return place_at(where->place)->slug;
    decimal_print(llround(where->point.latitude * 1e6), 6, latitude);
    decimal_print(llround(where->point.longitude * 1e6), 6, longitude);
    return arena_printf(arena, "%s,%s", latitude, longitude);
}
