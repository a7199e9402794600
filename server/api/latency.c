/* Round trips between places: one pair with all that is known of it, or many to many as a matrix.
 */
#include "server/api/latency.h"
#include "server/api/app.h"
#include "server/api/resources.h"

#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/model/offer.h"
#include "server/reference/place.h"

#include <math.h>
#include <string.h>

static const char *const parameter_names[] = {"from", "to", NULL};

static void refuse(struct request *request, struct reply *reply, const char *parameter,
                   const char *code, const char *message)
{
    const struct problem_item item = {.parameter = parameter, .code = code, .message = message};
    reply_problem(request, reply, 400, "bad-parameter", message, &item, 1);
}

bool latency_ends_parse(struct request *request, struct reply *reply, const char *parameter,
                        const char *text, const struct snapshot *snapshot, size_t limit,
                        struct latency_ends *ret_ends)
{
    struct arena *arena = &request->arena;
    size_t count = 1;
    for (const char *c = text; *c != '\0'; c++)
        count += *c == ';';
    *ret_ends =
        (struct latency_ends){.items = arena_calloc(arena, count, sizeof(*ret_ends->items))};
    if (count > limit) {
        refuse(request, reply, parameter, "too_many_values",
               arena_printf(arena, "%s takes at most %zu places.", parameter, limit));
        return false;
    }
    for (const char *at = text;; at++) {
        const char *end = strchrnul(at, ';'), *code;
        struct latency_item *item = &ret_ends->items[ret_ends->count++];
        char *word = arena_strndup(arena, at, (size_t)(end - at));
        if (*word == '\0') {
            refuse(request, reply, parameter, "empty_value",
                   arena_printf(arena, "%s is one place, or several with ; between.", parameter));
            return false;
        }
        const char *why = latency_where_parse(
            word, NULL, &snapshot_operator_names(snapshot)->places, arena, &item->where, &code);
        if (why != NULL) {
            refuse(request, reply, parameter, code, arena_printf(arena, "%s: %s", parameter, why));
            return false;
        }
        item->name = latency_where_name(&item->where, arena);
        if (item->where.place == INDEX_NONE) {
            struct latency_place *place = arena_alloc(arena, sizeof(*place));
            latency_place_at(item->where.point, place);
            item->place = place;
        } else {
            item->place = latency_place(item->where.place);
        }
        if (*end == '\0')
            return true;
        at = end;
    }
}

latency_cell latency_between(const struct latency_book *book, const struct latency_item *from,
                             const struct latency_item *to)
{
    if (from->where.place != INDEX_NONE && to->where.place != INDEX_NONE)
        return latency_book_row(book, from->where.place)[to->where.place];
    return latency_cell_of(from->place, to->place);
}

void buf_add_json_member_ms(struct buf *out, const char *key, double ms)
{
    buf_add_json_member_decimal(out, key, llround(ms * LATENCY_CENTI), 2);
}

/* ---- one pair ---- */

static void write_end(struct buf *out, const char *key, const struct latency_item *item)
{
    const struct place *place =
        item->where.place == INDEX_NONE ? NULL : place_at(item->where.place);
    buf_add_json_key(out, key);
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "slug", place == NULL ? NULL : place->slug);
    buf_add_json_member_string(out, "name", place == NULL ? NULL : place->name);
    buf_add_json_member_string(out, "precision",
                               place == NULL ? "point" : place_precision_name(place->precision));
    buf_add_json_key(out, "lat");
    buf_add_decimal(out, llround(item->place->end.point.latitude * 1e6), 6);
    buf_add_json_key(out, "lon");
    buf_add_decimal(out, llround(item->place->end.point.longitude * 1e6), 6);
    buf_add_char(out, '}');
}

void latency_write_measurement(struct buf *out, const struct latency_measurement *measurement,
                               int64_t now_us)
{
    char at[TIMESTAMP_TEXT_SIZE];
    timestamp_print(measurement->measured_at_us, at);
    buf_add_char(out, '{');
    buf_add_json_member_int(out, "id", measurement->id);
    buf_add_json_member_string(out, "from", place_at(measurement->from)->slug);
    buf_add_json_member_string(out, "to", place_at(measurement->to)->slug);
    buf_add_json_member_string(out, "provider", measurement->provider);
    buf_add_json_member_string(out, "zone", measurement->zone);
    buf_add_json_member_decimal(out, "median_ms", measurement->median_us, 3);
    buf_add_json_member_decimal(out, "p95_ms", measurement->p95_us, 3);
    buf_add_json_member_int(out, "samples", measurement->samples);
    buf_add_json_member_string(out, "measured_at", at);
    buf_add_json_member_string(out, "measured_by",
                               measurement->measured_by == NULL ? "operator"
                                                                : measurement->measured_by);
    buf_add_json_member_string(out, "source", measurement->source);
    buf_add_json_member_bool(out, "old", latency_is_old(measurement, now_us));
    buf_add_json_member_decimal(out, "light_in_fibre_ms", measurement->floor_us, 3);
    buf_add_json_member_bool(out, "contradicts", latency_contradicts(measurement));
    buf_add_char(out, '}');
}

static void write_pair(struct request *request, struct reply *reply,
                       const struct latency_book *book, const struct latency_item *from,
                       const struct latency_item *to)
{
    struct buf *out = &reply->body;
    struct latency_estimate estimate = latency_estimate(from->place, to->place);
    latency_cell cell = latency_between(book, from, to),
                 estimated = latency_cell_of(from->place, to->place);
    bool reversed = false;
    const struct latency_measurement *measurement =
        LATENCY_CELL_MEASURED(cell)
            ? latency_book_find(book, from->where.place, to->where.place, &reversed)
            : NULL;
    buf_add_char(out, '{');
    write_end(out, "from", from);
    write_end(out, "to", to);
    buf_add_json_member_decimal(out, "rtt_ms", LATENCY_CELL_CENTI(cell), 2);
    buf_add_json_member_string(out, "kind", measurement != NULL ? "measured" : "estimated");
    buf_add_json_key(out, "measurement");
    if (measurement != NULL)
        latency_write_measurement(out, measurement, request->received_at_us);
    else
        buf_add_string(out, "null");
    if (measurement != NULL)
        buf_add_json_member_bool(out, "other_direction", reversed);
    else
        buf_add_json_member_tristate(out, "other_direction", UNKNOWN);
    buf_add_json_key(out, "estimate");
    buf_add_char(out, '{');
    buf_add_json_member_decimal(out, "rtt_ms", LATENCY_CELL_CENTI(estimated), 2);
    buf_add_json_member_ms(out, "low_ms", estimate.low_ms);
    buf_add_json_member_ms(out, "high_ms", estimate.high_ms);
    buf_add_char(out, '}');
    buf_add_json_member_decimal(out, "distance_km", llround(estimate.distance_km * 10), 1);
    buf_add_json_member_ms(out, "light_in_fibre_ms", estimate.distance_km * FIBRE_MS_PER_KM);
    buf_add_char(out, '}');
    reply->status = 200;
}

/* ---- many to many ---- */

/* Whole numbers below 1,000 and hundredths as text, made once: a number is two copies of four
 * bytes. */
struct digits {
    char text[3];
    uint8_t length;
};
static struct digits wholes[1000], hundredths[LATENCY_CENTI];

__attribute__((constructor)) static void make_digits(void)
{
    for (unsigned i = 0; i < 1000; i++) {
        char text[32];
        wholes[i].length = (uint8_t)decimal_print(i, 0, text);
        memcpy(wholes[i].text, text, sizeof(wholes[i].text));
    }
    for (unsigned i = 1; i < LATENCY_CENTI; i++) {
        char text[32];
        size_t length = decimal_print(i, 2, text) - 1; /* behind the 0 */
        hundredths[i].length = (uint8_t)length;
        memcpy(hundredths[i].text, text + 1, sizeof(hundredths[i].text));
    }
}

#define NUMBER_BYTES 16 /* of one number, its comma and what is written too far */

static inline char *put_number(char *at, uint32_t centi)
{
    uint32_t whole = centi / LATENCY_CENTI, rest = centi % LATENCY_CENTI;
    if (__builtin_expect(whole >= 1000, 0)) {
        char text[32];
        size_t length = decimal_print(whole, 0, text);
        memcpy(at, text, length);
        at += length;
    } else {
        memcpy(at, &wholes[whole], 4);
        at += wholes[whole].length;
    }
    memcpy(at, &hundredths[rest], 4);
    return at + hundredths[rest].length;
}

static void write_names(struct buf *out, const char *key, const struct latency_ends *ends)
{
    buf_add_json_key(out, key);
    buf_add_char(out, '[');
    for (size_t i = 0; i < ends->count; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        buf_add_json_string(out, ends->items[i].name);
    }
    buf_add_char(out, ']');
}

/* The cells of one row. */
static void gather_row(const struct latency_book *book, const struct latency_item *from,
                       const struct latency_ends *to, latency_cell *cells)
{
    if (from->where.place == INDEX_NONE || to->any_point) {
        for (size_t i = 0; i < to->count; i++)
            cells[i] = latency_between(book, from, &to->items[i]);
        return;
    }
    const latency_cell *row = latency_book_row(book, from->where.place);
    for (size_t i = 0; i < to->count; i++)
        cells[i] = row[to->items[i].where.place];
}

static void write_matrix(struct request *request, struct reply *reply,
                         const struct latency_book *book, const struct latency_ends *from,
                         const struct latency_ends *to)
{
    struct buf *out = &reply->body;
    latency_cell *cells = arena_calloc(&request->arena, from->count * to->count, sizeof(*cells));
    buf_add_char(out, '{');
    write_names(out, "from", from);
    write_names(out, "to", to);
    buf_add_json_key(out, "rtt_ms");
    buf_add_char(out, '[');
    char *start = buf_reserve(out, from->count * (to->count * NUMBER_BYTES + 4)), *at = start;
    for (size_t i = 0; i < from->count; i++) {
        latency_cell *row = cells + i * to->count;
        gather_row(book, &from->items[i], to, row);
        if (i > 0)
            *at++ = ',';
        *at++ = '[';
        for (size_t j = 0; j < to->count; j++) {
            at = put_number(at, LATENCY_CELL_CENTI(row[j]));
            *at++ = ',';
        }
        at[-1] = ']';
    }
    out->length += (size_t)(at - start);
    buf_add_char(out, ']');
    buf_add_json_key(out, "kind");
    buf_add_char(out, '[');
    start = at = buf_reserve(out, from->count * (to->count + 4));
    for (size_t i = 0; i < from->count; i++) {
        if (i > 0)
            *at++ = ',';
        *at++ = '"';
        for (size_t j = 0; j < to->count; j++)
            *at++ = LATENCY_CELL_MEASURED(cells[i * to->count + j]) ? 'm' : 'e';
        *at++ = '"';
    }
    out->length += (size_t)(at - start);
    buf_add_string(out, "]}");
    reply->status = 200;
}

const char *latency_etag(struct request *request, const struct latency_book *book,
                         const char *canonical)
{
    struct crypt_hasher hasher;
    uint64_t state = latency_book_hash(book);
    uint8_t hash[16];
    char text[CRYPT_BASE64_SIZE(sizeof(hash)) + 4];
    crypt_hasher_init(&hasher, sizeof(hash));
    crypt_hasher_add(&hasher, &state, sizeof(state));
    crypt_hasher_add(&hasher, request->path, strlen(request->path) + 1);
    crypt_hasher_add(&hasher, canonical, strlen(canonical));
    crypt_hasher_finish(&hasher, hash);
    crypt_base64url(hash, sizeof(hash), text);
    return arena_printf(&request->arena, "\"%s\"", text);
}

/* What the answer depends on beside what is measured. */
static const char *canonical_of(struct request *request, const struct latency_book *book,
                                const struct latency_ends *from, const struct latency_ends *to)
{
    struct buf text = {0};
    for (size_t i = 0; i < from->count; i++)
        buf_printf(&text, "%s;", from->items[i].name);
    buf_add_char(&text, '>');
    for (size_t i = 0; i < to->count; i++)
        buf_printf(&text, "%s;", to->items[i].name);
    bool reversed;
    const struct latency_measurement *measurement =
        from->count == 1 && to->count == 1 && !from->any_point && !to->any_point
            ? latency_book_find(book, from->items[0].where.place, to->items[0].where.place,
                                &reversed)
            : NULL;
    if (measurement != NULL && latency_is_old(measurement, request->received_at_us))
        buf_add_string(&text, "old");
    const char *canonical = arena_strndup(&request->arena, text.data, text.length);
    buf_free(&text);
    return canonical;
}

static void note_points(struct latency_ends *ends)
{
    for (size_t i = 0; i < ends->count; i++)
        ends->any_point |= ends->items[i].where.place == INDEX_NONE;
}

static void answer(struct request *request, struct reply *reply, const struct snapshot *snapshot)
{
    const char *from_text = request_parameter(request, "from"),
               *to_text = request_parameter(request, "to");
    const struct latency_book *book = snapshot_latency(snapshot);
    struct latency_ends from, to;
    if (from_text == NULL) {
        refuse(
            request, reply, "from", "missing_parameter",
            "from is required: a region, a provider's region (aws:eu-west-1) or lat,lon; several "
            "with ; between.");
        return;
    }
    if (!latency_ends_parse(request, reply, "from", from_text, snapshot, LATENCY_ENDS_MAX, &from))
        return;
    if (to_text == NULL && from.count == 1) {
        refuse(request, reply, "to", "missing_parameter",
               "to is required; without it, several places in from are answered among themselves.");
        return;
    }
    to = from;
    if (to_text != NULL &&
        !latency_ends_parse(request, reply, "to", to_text, snapshot, LATENCY_ENDS_MAX, &to))
        return;
    bool pair = from.count == 1 && to.count == 1;
    if (pair && strcmp(from.items[0].name, to.items[0].name) == 0) {
        refuse(request, reply, "to", "same_place",
               arena_printf(&request->arena,
                            "from and to both are %s; a round trip is between two places.",
                            to.items[0].name));
        return;
    }
    note_points(&from);
    note_points(&to);
    reply->etag = latency_etag(request, book, canonical_of(request, book, &from, &to));
    if (reply_not_modified(request, reply, reply->etag))
        return;
    if (pair)
        write_pair(request, reply, book, &from.items[0], &to.items[0]);
    else
        write_matrix(request, reply, book, &from, &to);
}

void latency_get(struct request *request, struct reply *reply)
{
    struct app *app = request->app;
    if (!request_check_parameters(request, reply, parameter_names))
        return;
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    answer(request, reply, snapshot);
    snapshot_release(snapshot);
}
