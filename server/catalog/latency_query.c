/* A search with `near` computes one small table by rank, once; filtering, sorting and printing look
 * rows up in it. */
#include "server/catalog/latency_query.h"

#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/catalog/facets.h"
#include "server/catalog/parameter.h"
#include "server/reference/latency_where.h"
#include "server/reference/place.h"

#include <stdlib.h>
#include <string.h>

#define NEAR_PLACES_MAX 20
#define POINTS_KEPT     8
#define FLAG            "\"location_contradicted\""

/* Round trips from coordinates to all places cost a thousand small estimates: the last few points
 * are kept, each thread for itself, since a page asks for the same ones again and again. */
struct kept_point {
    struct geo_point point;
    latency_cell *cells; /* NULL: free */
};

static const latency_cell *cells_of_point(struct geo_point point)
{
    static _Thread_local struct kept_point kept[POINTS_KEPT];
    static _Thread_local unsigned next;
    for (size_t i = 0; i < POINTS_KEPT; i++) {
        if (kept[i].cells != NULL && memcmp(&kept[i].point, &point, sizeof(point)) == 0)
            return kept[i].cells;
    }
    struct kept_point *to = &kept[next++ % POINTS_KEPT];
    struct latency_place place;
    if (to->cells == NULL)
        to->cells = xcalloc(place_count(), sizeof(*to->cells));
    latency_place_at(point, &place);
    latency_estimates_from(&place, to->cells);
    to->point = point;
    return to->cells;
}

static void add_near(struct query_latency *latency, const struct latency_book *book,
                     const struct latency_where *where, bool first)
{
    const latency_cell *cells = where->place != INDEX_NONE ? latency_book_row(book, where->place)
                                                           : cells_of_point(where->point);
    uint16_t count = place_count();
    for (uint16_t rank = 0; rank < count; rank++) {
        latency_cell cell = cells[place_of_rank(rank)];
        if (first || LATENCY_CELL_CENTI(cell) > LATENCY_CELL_CENTI(latency->cells[rank]))
            latency->cells[rank] = cell;
    }
}

bool read_near(struct parse *parse, const struct parameter *parameter, const char *value)
{
    struct query *query = parse->query;
    const struct alias_set *names = &snapshot_operator_names(parse->snapshot)->places;
    const char **spellings = arena_calloc(parse->arena, NEAR_PLACES_MAX, sizeof(*spellings));
    struct query_latency *latency = arena_alloc(parse->arena, sizeof(*latency));
    size_t count = 0;
    for (const char *at = value;; at++) {
        const char *end = strchrnul(at, ';'), *code;
        struct latency_where where;
        if (end == at || count == NEAR_PLACES_MAX)
            return parse_refuse(
                parse, parameter->name, end == at ? "empty_value" : "too_many_values",
                arena_printf(parse->arena, "near is one place or up to %d with ; between.",
                             NEAR_PLACES_MAX));
        const char *word = arena_strndup(parse->arena, at, (size_t)(end - at));
        const char *why = latency_where_parse(word, NULL, names, parse->arena, &where, &code);
        if (why != NULL)
            return parse_refuse(parse, parameter->name, code,
                                arena_printf(parse->arena, "near: %s", why));
        add_near(latency, snapshot_latency(parse->snapshot), &where, count == 0);
        spellings[count++] = latency_where_name(&where, parse->arena);
        if (*end == '\0')
            break;
        at = end;
    }
    for (size_t rank = 0; rank <= RANK_NONE; rank++) {
        bool known = rank < place_count();
        if (!known)
            latency->cells[rank] = LATENCY_UNKNOWN;
        latency->centi[rank] = known ? (int32_t)LATENCY_CELL_CENTI(latency->cells[rank]) : -1;
    }
    query->latency = latency;
    parse_write_names(parse, spellings, count);
    return true;
}

bool read_max_latency(struct parse *parse, const struct parameter *parameter, const char *value)
{
    int64_t bound;
    const struct query_latency *latency = parse->query->latency;
    if (!parse_number(parse, parameter, value, &bound))
        return false;
    buf_add_decimal(&parse->json, bound, parameter->decimals);
    if (latency == NULL)
        return true; /* latency_check says so */
    uint8_t *keep = arena_calloc(parse->arena, place_count(), 1);
    for (uint16_t rank = 0; rank < place_count(); rank++)
        keep[rank] = latency->centi[rank] <= bound;
    parse_narrow(parse, &parse->query->places, keep, place_count());
    return true;
}

void latency_check(struct parse *parse, bool max_given)
{
    /* A near that was refused has said so itself. */
    if (parse->query->latency != NULL || parse->error_count > 0)
        return;
    if (max_given)
        parse_refuse(parse, "max_latency_ms", "needs_near",
                     "max_latency_ms is a round trip from somewhere: say near=us-east, a city or "
                     "lat,lon.");
    if ((parse->query->facets >> FACET_LATENCY & 1) != 0)
        parse_refuse(parse, "facets", "needs_near",
                     "facets=latency counts by the round trip from somewhere: say near=us-east, a "
                     "city or lat,lon.");
    if (parse->query->sort == SORT_LATENCY)
        parse_refuse(
            parse, "sort", "needs_near",
            "sort=latency is by the round trip from somewhere: say near=us-east, a city or "
            "lat,lon.");
}

/* ---- bands ---- */

const int32_t latency_band_ms[LATENCY_BAND_COUNT - 1] = {10, 25, 50, 100, 200, 300};

int latency_band(latency_cell cell)
{
    int band = 0;
    if (cell == LATENCY_UNKNOWN)
        return -1;
    while (band < LATENCY_BAND_COUNT - 1 &&
           LATENCY_CELL_CENTI(cell) > (uint32_t)latency_band_ms[band] * LATENCY_CENTI)
        band++;
    return band;
}

const char *latency_band_name(int band)
{
    static const char *const names[LATENCY_BAND_COUNT] = {"0-10",    "10-25",   "25-50", "50-100",
                                                          "100-200", "200-300", "300+"};
    return names[band];
}

/* ---- contradicted places ---- */

/* The zone in a row's own text, `"zone":"…"` of its region; false where it is null or too long. */
static bool zone_of(const struct row_text *text, char *zone, size_t size)
{
    static const char key[] = "\"zone\":\"";
    const char *at = memmem(text->bytes, text->length, key, sizeof(key) - 1);
    size_t length = 0;
    if (at == NULL)
        return false;
    at += sizeof(key) - 1;
    /* Zones with escaped characters are told apart by their escapes. */
    while (at[length] != '"' && length + 2 < size) {
        zone[length] = at[length];
        length++;
        if (at[length - 1] == '\\') {
            zone[length] = at[length];
            length++;
        }
    }
    zone[length] = '\0';
    return at[length] == '"';
}

/* The measurement that contradicts where a row is said to be, or NULL; costs next to nothing where
 * nothing contradicts its provider. */
static const struct latency_measurement *
contradiction_of(const struct snapshot *snapshot, const struct segment *segment, uint32_t row)
{
    char zone[512];
    const char *provider = snapshot->slots[segment->provider[row]]->provider.slug;
    uint16_t rank = segment->place_rank[row];
    if (rank == RANK_NONE || !latency_book_doubts(snapshot->latency, provider))
        return NULL;
    bool zoned = zone_of(&segment->text[row], zone, sizeof(zone));
    return latency_book_contradiction(snapshot->latency, provider, place_of_rank(rank),
                                      zoned ? zone : NULL);
}

/* A row's text with one flag more, in the arena. */
static const struct row_text *with_flag(const struct row_text *text, struct arena *arena)
{
    static const char behind[] = "],\"updated_at\":";
    struct row_text *flagged = arena_alloc(arena, sizeof(*flagged));
    *flagged = *text;
    /* The flags are near the end: behind them comes the time of the last update, and nothing else
     * has its key. */
    size_t from = text->length > 100 ? text->length - 100 : 0;
    const char *at = memmem(text->bytes + from, text->length - from, behind, sizeof(behind) - 1);
    if (at == NULL)
        return text;
    size_t before = (size_t)(at - text->bytes), comma = at[-1] != '[';
    flagged->length = text->length + (uint32_t)(sizeof(FLAG) - 1 + comma);
    char *bytes = arena_alloc(arena, flagged->length);
    memcpy(bytes, text->bytes, before);
    if (comma)
        bytes[before] = ',';
    memcpy(bytes + before + comma, FLAG, sizeof(FLAG) - 1);
    memcpy(bytes + before + comma + sizeof(FLAG) - 1, at, text->length - before);
    flagged->bytes = bytes;
    return flagged;
}

static void write_evidence(struct buf *out, const struct latency_measurement *against)
{
    char at[TIMESTAMP_TEXT_SIZE];
    timestamp_print(against->measured_at_us, at);
    buf_add_char(out, '{');
    buf_add_json_member_int(out, "measurement", against->id);
    buf_add_json_member_string(out, "from", place_at(against->from)->slug);
    buf_add_json_member_decimal(out, "median_ms", against->median_us, 3);
    buf_add_json_member_decimal(out, "light_in_fibre_ms", against->floor_us, 3);
    buf_add_json_member_string(out, "measured_at", at);
    buf_add_json_member_string(out, "measured_by",
                               against->measured_by == NULL ? "operator" : against->measured_by);
    buf_add_char(out, '}');
}

void splice_contradiction(const struct snapshot *snapshot, const struct segment *segment,
                          uint32_t row, struct arena *arena, struct fragment_splice *splice)
{
    const struct latency_measurement *against = contradiction_of(snapshot, segment, row);
    if (against == NULL)
        return;
    struct buf text = {0};
    write_evidence(&text, against);
    splice->evidence = arena_strndup(arena, text.data, text.length);
    splice->evidence_length = text.length;
    splice->text = with_flag(splice->text != NULL ? splice->text : &segment->text[row], arena);
    buf_free(&text);
}
