/* Both forms become a row of texts, which one function validates. */
#include "server/inventory/latency_rows.h"

#include "server/base/decimal.h"
#include "server/base/nearest.h"
#include "server/base/timestamp.h"
#include "server/inventory/csv_table.h"
#include "server/inventory/text.h"
#include "server/model/offer.h"
#include "server/reference/latency_where.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum member { FROM, TO, MEDIAN, P95, SAMPLES, MEASURED_AT, PROVIDER, ZONE, SOURCE, MEMBER_COUNT };
static const char *const member_names[MEMBER_COUNT] = {
    "from", "to", "median_ms", "p95_ms", "samples", "measured_at", "provider", "zone", "source"};

#define ZONE_MAX_BYTES   200
#define SOURCE_MAX_BYTES 500
#define CLOCK_SLACK_US   (INT64_C(300) * 1000000)

struct reading {
    const struct latency_decode *decode;
    struct arena *arena;
    struct latency_rows *rows;
    int64_t number; /* of the row */
    bool csv;
    const char *texts[MEMBER_COUNT]; /* NULL: not given */
    bool good;
};

static void refuse(struct reading *reading, const char *member, const char *code,
                   const char *message)
{
    const char *pointer = member;
    if (!reading->csv)
        pointer = arena_printf(reading->arena, "/measurements/%lld%s%s", (long long)reading->number,
                               *member == '\0' ? "" : "/", member);
    row_issues_add(reading->arena, &reading->rows->errors, reading->number, NULL, pointer, code,
                   message);
    reading->good = false;
}

static void refuse_member(struct reading *reading, enum member member, const char *code,
                          const char *message)
{
    refuse(reading, member_names[member], code, message);
}

static uint16_t read_place(struct reading *reading, enum member member, const char *provider)
{
    struct latency_where where;
    const char *code;
    if (reading->texts[member] == NULL) {
        refuse_member(reading, member, "missing_field",
                      "A measurement is from a place to a place.");
        return INDEX_NONE;
    }
    const char *why = latency_where_parse(reading->texts[member], provider, reading->decode->names,
                                          reading->arena, &where, &code);
    if (why != NULL) {
        refuse_member(reading, member, code, why);
        return INDEX_NONE;
    }
    if (where.place == INDEX_NONE)
        refuse_member(reading, member, "not_allowed",
                      "Measurements are kept by place: name the region, not coordinates.");
    return where.place;
}

/* Thousandths of a millisecond; UNKNOWN where not given or refused. */
static int32_t read_ms(struct reading *reading, enum member member)
{
    int64_t us;
    const char *text = reading->texts[member];
    if (text == NULL)
        return UNKNOWN;
    switch (decimal_parse_json(text, strlen(text), 3, true, &us)) {
    case DECIMAL_OK:
    case DECIMAL_ROUNDED:
        if (us > 0 && us <= (int64_t)LATENCY_MAX_MS * 1000)
            return (int32_t)us;
        break;
    case DECIMAL_OUT_OF_RANGE:
    case DECIMAL_TOO_PRECISE:
        break;
    case DECIMAL_MALFORMED:
        refuse_member(reading, member, "not_a_number", "This is a number of milliseconds.");
        return UNKNOWN;
    }
    refuse_member(reading, member, "out_of_range",
                  "A round trip takes more than 0 and at most 10,000 milliseconds.");
    return UNKNOWN;
}

static int32_t read_samples(struct reading *reading)
{
    int64_t samples;
    const char *text = reading->texts[SAMPLES];
    if (text == NULL)
        return UNKNOWN;
    if (decimal_parse(text, strlen(text), 0, false, &samples) == DECIMAL_OK && samples >= 1 &&
        samples <= 1000000000)
        return (int32_t)samples;
    refuse_member(reading, SAMPLES, "out_of_range",
                  "samples is a whole number from 1 to 1000000000.");
    return UNKNOWN;
}

static int64_t read_time(struct reading *reading)
{
    int64_t at_us;
    const char *text = reading->texts[MEASURED_AT];
    if (text == NULL)
        return reading->decode->default_us;
    if (!timestamp_parse(text, strlen(text), &at_us))
        refuse_member(reading, MEASURED_AT, "not_a_timestamp",
                      "measured_at is an RFC 3339 time such as 2026-11-30T12:00:00Z.");
    else if (at_us > reading->decode->now_us + CLOCK_SLACK_US)
        refuse_member(reading, MEASURED_AT, "out_of_range", "measured_at is in the future.");
    else if (at_us < 0)
        refuse_member(reading, MEASURED_AT, "out_of_range", "measured_at is before 1970.");
    else
        return at_us;
    return 0;
}

static const char *read_text(struct reading *reading, enum member member, size_t max_bytes)
{
    const char *text = reading->texts[member];
    if (text == NULL)
        return NULL;
    size_t length = strlen(text);
    if (length > 0 && length <= max_bytes && text_is_clean(text, length))
        return text;
    refuse_member(reading, member, "out_of_range",
                  arena_printf(reading->arena,
                               "This must be 1 to %zu bytes without control or invisible "
                               "characters, and no mere blanks.",
                               max_bytes));
    return NULL;
}

/* Whose machine answered. */
static const char *read_provider(struct reading *reading)
{
    const struct latency_decode *decode = reading->decode;
    const char *slug = reading->texts[PROVIDER];
    if (slug == NULL)
        return decode->measured_by != NULL ? decode->measured_by : decode->provider;
    if (decode->measured_by != NULL && strcmp(decode->measured_by, slug) != 0) {
        reading->rows->forbidden = true;
        refuse_member(reading, PROVIDER, "forbidden",
                      "This key's provider can tell of its own machines only.");
    } else if (!decode->knows_provider(decode->closure, slug)) {
        refuse_member(reading, PROVIDER, "unknown_value", "No provider has this slug.");
    }
    return slug;
}

static void read_row(struct reading *reading, size_t capacity)
{
    reading->good = true;
    const char *provider = read_provider(reading);
    const char *words = provider != NULL ? provider : reading->decode->vocabulary;
    struct latency_measurement row = {
        .provider = provider,
        .measured_by = reading->decode->measured_by,
        .from = read_place(reading, FROM, words),
        .to = read_place(reading, TO, words),
        .zone = read_text(reading, ZONE, ZONE_MAX_BYTES),
        .source = read_text(reading, SOURCE, SOURCE_MAX_BYTES),
        .median_us = read_ms(reading, MEDIAN),
        .p95_us = read_ms(reading, P95),
        .samples = read_samples(reading),
        .measured_at_us = read_time(reading),
    };
    bool itself = row.from != INDEX_NONE && row.from == row.to;
    if (itself && reading->csv && reading->good)
        return;
    if (itself)
        refuse_member(reading, TO, "same_place",
                      "from and to are the same place; a measurement is between two.");
    if (reading->texts[MEDIAN] == NULL)
        refuse_member(reading, MEDIAN, "missing_field",
                      "median_ms is required: the median round trip in milliseconds.");
    if (row.zone != NULL && row.provider == NULL)
        refuse_member(reading, ZONE, "not_allowed",
                      "A zone is some provider's: name the provider too.");
    if (row.median_us != UNKNOWN && row.p95_us != UNKNOWN && row.p95_us < row.median_us)
        refuse_member(reading, P95, "out_of_range", "p95_ms is at least median_ms.");
    if (!reading->good || reading->rows->count == capacity)
        return;
    row.floor_us = (int32_t)floor(latency_floor_ms(row.from, row.to) * 1000);
    reading->rows->list[reading->rows->count++] = row;
}

/* A JSON value as text; false where it is neither text nor number nor null. */
static bool text_of(struct arena *arena, const json_t *value, bool number, const char **ret_text)
{
    *ret_text = NULL;
    if (json_is_null(value))
        return true;
    if (json_is_string(value) && !number)
        *ret_text = arena_strdup(arena, json_string_value(value));
    else if (json_is_integer(value) && number)
        *ret_text = arena_printf(arena, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value) && number)
        *ret_text = arena_printf(arena, "%.15g", json_real_value(value));
    return *ret_text != NULL;
}

static void read_object(struct reading *reading, json_t *object, size_t capacity)
{
    const char *name;
    json_t *value;
    memset(reading->texts, 0, sizeof(reading->texts));
    if (!json_is_object(object)) {
        refuse(reading, "", "wrong_type", "A measurement is an object.");
        return;
    }
    size_t errors = reading->rows->errors.count;
    json_object_foreach(object, name, value)
    {
        size_t i = 0;
        while (i < MEMBER_COUNT && strcmp(member_names[i], name) != 0)
            i++;
        if (i == MEMBER_COUNT) {
            const char *nearest = nearest_name(name, member_names, MEMBER_COUNT);
            refuse(reading, arena_strdup(reading->arena, name), "unknown_member",
                   nearest == NULL
                       ? "Nothing is called so here."
                       : arena_printf(reading->arena, "Nothing is called so here; did you mean %s?",
                                      nearest));
            continue;
        }
        bool number = i == MEDIAN || i == P95 || i == SAMPLES;
        if (!text_of(reading->arena, value, number, &reading->texts[i]))
            refuse_member(reading, (enum member)i, "wrong_type",
                          number ? "This must be a number." : "This must be a string.");
    }
    if (reading->rows->errors.count == errors)
        read_row(reading, capacity);
}

const char *latency_decode_json(const struct latency_decode *decode, const char *body,
                                size_t length, struct arena *arena, struct latency_rows *ret_rows)
{
    json_error_t error;
    *ret_rows = (struct latency_rows){0};
    json_t *root = json_loadb(body, length, JSON_REJECT_DUPLICATES, &error), *list, *item, *other;
    const char *why = NULL, *name;
    size_t i;
    if (root == NULL)
        return arena_printf(arena, "The body is no JSON: line %d, column %d: %s.", error.line,
                            error.column, error.text);
    list = json_object_get(root, "measurements");
    size_t count = json_array_size(list);
    json_object_foreach(root, name, other)
    {
        if (strcmp(name, "measurements") != 0)
            why = arena_printf(arena,
                               "Nothing is called %.60s here; the body is "
                               "{\"measurements\": […]}.",
                               name);
    }
    if (!json_is_array(list) || count == 0)
        why = "The body is {\"measurements\": […]} with at least one measurement.";
    else if (count > LATENCY_ROWS_MAX)
        why = "One request takes at most 1,000 measurements; send the rest in another.";
    if (why == NULL) {
        struct reading reading = {.decode = decode, .arena = arena, .rows = ret_rows};
        ret_rows->list = arena_calloc(arena, count, sizeof(*ret_rows->list));
        ret_rows->rows_read = (int64_t)count;
        json_array_foreach(list, i, item)
        {
            reading.number = (int64_t)i;
            read_object(&reading, item, count);
        }
    }
    json_decref(root);
    return why;
}

/* ---- CSV ---- */

/* Which member a column is; MEMBER_COUNT none. */
static size_t column_of(const char *name)
{
    static const struct {
        const char *name;
        enum member member;
    } others[] = {{"src", FROM}, {"dst", TO}, {"rtt_ms", MEDIAN}};
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        if (strcmp(member_names[i], name) == 0)
            return i;
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strcmp(others[i].name, name) == 0)
            return others[i].member;
    }
    return MEMBER_COUNT;
}

static const char *read_header(const struct csv_row *row, struct arena *arena, size_t *columns)
{
    bool seen[MEMBER_COUNT] = {false};
    for (size_t i = 0; i < row->count; i++) {
        columns[i] = column_of(row->cells[i]);
        if (columns[i] == MEMBER_COUNT)
            return arena_printf(arena,
                                "No column is called \"%.40s\" here; they are from, to, median_ms, "
                                "p95_ms, samples, measured_at, provider, zone and source.",
                                row->cells[i]);
        if (seen[columns[i]])
            return arena_printf(arena, "The column %s is there twice.", member_names[columns[i]]);
        seen[columns[i]] = true;
    }
    return seen[FROM] && seen[TO] && seen[MEDIAN] ? NULL
                                                  : "The header names from, to and median_ms "
                                                    "(or src, dst and rtt_ms).";
}

static const char *read_csv(struct reading *reading, struct csv_table *table)
{
    struct csv_slice slice;
    struct csv_row row;
    size_t columns[CSV_COLUMNS_MAX], column_count = 0, capacity = 0;
    const char *why = NULL;
    enum csv_step step;
    while (why == NULL && (step = csv_table_next(table, &slice)) != CSV_STEP_END) {
        if (step != CSV_STEP_ROW)
            return arena_printf(reading->arena, "Row %lld is too long or its quotes stay open.",
                                (long long)slice.number);
        reading->number = slice.number;
        const char *bad = csv_table_cells(table, &slice, reading->arena, &row);
        if (column_count == 0) {
            why = bad != NULL ? bad : read_header(&row, reading->arena, columns);
            column_count = row.count;
            continue;
        }
        reading->rows->rows_read++;
        if (bad == NULL && row.count != column_count)
            bad = "The row has more or fewer fields than the header.";
        if (bad != NULL) {
            refuse(reading, "", "malformed_row", bad);
            continue;
        }
        if (reading->rows->count == capacity) {
            struct latency_measurement *grown =
                arena_calloc(reading->arena, 2 * capacity + 256, sizeof(*grown));
            if (capacity > 0)
                memcpy(grown, reading->rows->list, capacity * sizeof(*grown));
            reading->rows->list = grown;
            capacity = 2 * capacity + 256;
        }
        memset(reading->texts, 0, sizeof(reading->texts));
        for (size_t i = 0; i < row.count; i++)
            reading->texts[columns[i]] = row.lengths[i] == 0 ? NULL : row.cells[i];
        read_row(reading, capacity);
    }
    return why != NULL ? why : column_count == 0 ? "The file is empty." : NULL;
}

const char *latency_decode_csv(const struct latency_decode *decode, const char *body, size_t length,
                               struct arena *arena, struct latency_rows *ret_rows)
{
    struct csv_table table;
    *ret_rows = (struct latency_rows){0};
    struct reading reading = {.decode = decode, .arena = arena, .rows = ret_rows, .csv = true};
    csv_table_open(&table, body, length);
    const char *why = read_csv(&reading, &table);
    csv_table_close(&table);
    return why;
}
