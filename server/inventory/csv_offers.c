/* Rackrate's own CSV: one price a row, rows with the same external_id are one offer. Each group of
 * rows becomes the JSON shape, so that one set of rules decides what is valid. */
#include "server/inventory/csv_table.h"
#include "server/inventory/decoders.h"
#include "server/inventory/offer_json.h"

#include "server/base/decimal.h"
#include "server/base/nearest.h"

#include <stdlib.h>
#include <string.h>

/* Where a column goes: `object` "" is the offer, "prices" its price. Numbers are checked as plain
 * decimals first. */
static const struct column {
    const char *name;
    const char *object;
    const char *member;
    bool number;
} columns[] = {
    {"external_id", "", "external_id", false},
    {"gpu", "", "gpu", false},
    {"gpu_count", "", "gpu_count", true},
    {"vram_gb", "", "vram_gb", true},
    {"vcpus", "node", "vcpus", true},
    {"memory_gib", "node", "memory_gib", true},
    {"storage_gb", "node", "storage_gb", true},
    {"interconnect", "", "interconnect", false},
    {"fabric", "", "fabric", false},
    {"fabric_gbps", "", "fabric_gbps", true},
    {"region", "", "region", false},
    {"zone", "", "zone", false},
    {"status", "availability", "status", false},
    {"gpus_available", "availability", "gpus_available", true},
    {"lead_time_days", "availability", "lead_time_days", true},
    {"billing", "prices", "billing", false},
    {"term_months", "prices", "term_months", true},
    {"plan", "prices", "plan", false},
    {"price_per_gpu_hour", "prices", "price_per_gpu_hour", true},
    {"price_per_node_hour", "prices", "price_per_node_hour", true},
    {"min_gpus", "prices", "min_gpus", true},
    {"max_gpus", "prices", "max_gpus", true},
    {"upfront_percent", "prices", "upfront_percent", true},
    {"currency", "prices", "currency", false},
    {"order_url", "", "order_url", false},
    {"source_url", "", "source_url", false},
    {"attribution", "", "attribution", false},
    {"observed_at", "", "observed_at", false},
};
#define COLUMN_COUNT (sizeof(columns) / sizeof(columns[0]))

struct held_row {
    const char *cells[COLUMN_COUNT]; /* NULL where empty or no such column */
    int64_t number;
};

struct reading {
    struct decoding *decoding;
    int map[CSV_COLUMNS_MAX]; /* of the file's columns */
    size_t width;
    struct held_row *rows;
    size_t count, capacity;
    enum decode_status status;
};

static bool take_header(struct reading *reading, const struct csv_row *row)
{
    const char *names[COLUMN_COUNT];
    bool seen[COLUMN_COUNT] = {false};
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        names[i] = columns[i].name;
    reading->width = row->count;
    for (size_t c = 0; c < row->count; c++) {
        int found = -1;
        for (size_t i = 0; i < COLUMN_COUNT && found < 0; i++) {
            if (strcmp(row->cells[c], names[i]) == 0)
                found = (int)i;
        }
        if (found < 0) {
            const char *near = nearest_name(row->cells[c], names, COLUMN_COUNT);
            decoding_fail(reading->decoding, 1,
                          near == NULL ? "No column is called \"%.80s\"."
                                       : "No column is called \"%.80s\"; did you mean %s?",
                          row->cells[c], near);
            return false;
        }
        if (seen[found]) {
            decoding_fail(reading->decoding, 1, "The column %s stands twice in the header.",
                          names[found]);
            return false;
        }
        seen[found] = true;
        reading->map[c] = found;
    }
    if (!seen[0] || !seen[1] || !seen[2]) {
        decoding_fail(reading->decoding, 1, "The header needs external_id, gpu and gpu_count.");
        return false;
    }
    return true;
}

static bool take_row(void *closure, const struct csv_row *row)
{
    struct reading *reading = closure;
    struct decoding *decoding = reading->decoding;
    if (row->number == 1) {
        if (take_header(reading, row))
            return true;
        reading->status = DECODE_MALFORMED;
        return false;
    }
    if (row->count == 1 && row->lengths[0] == 0)
        return true; /* an empty line */
    if (!decoding_count_row(decoding, 0)) {
        reading->status = DECODE_TOO_LARGE;
        return false;
    }
    if (row->count != reading->width) {
        decoding_fail(decoding, row->number, "Row %lld has %zu fields, the header has %zu.",
                      (long long)row->number, row->count, reading->width);
        reading->status = DECODE_MALFORMED;
        return false;
    }
    if (reading->count == reading->capacity) {
        reading->capacity = reading->capacity == 0 ? 256 : reading->capacity * 2;
        reading->rows = xrealloc(reading->rows, reading->capacity * sizeof(*reading->rows));
    }
    struct held_row *held = &reading->rows[reading->count++];
    *held = (struct held_row){.number = row->number};
    for (size_t c = 0; c < row->count; c++) {
        if (row->lengths[c] > 0)
            held->cells[reading->map[c]] =
                arena_strndup(decoding->arena, row->cells[c], row->lengths[c]);
    }
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    const struct held_row *left = a, *right = b;
    const char *x = left->cells[0] == NULL ? "" : left->cells[0],
               *y = right->cells[0] == NULL ? "" : right->cells[0];
    int order = strcmp(x, y);
    return order != 0 ? order : (left->number > right->number) - (left->number < right->number);
}

static struct json_value *add_member(struct arena *arena, struct json_value *object,
                                     const char *name, enum json_type type, const char *text)
{
    struct json_value *value = arena_calloc(arena, 1, sizeof(*value));
    value->type = type;
    value->name = name;
    value->text = text;
    value->length = text == NULL ? 0 : strlen(text);
    struct json_value **at = &object->first;
    while (*at != NULL)
        at = &(*at)->next;
    *at = value;
    object->length++;
    return value;
}

/* A cell that should be a number: plain decimals only; a decimal comma is named as such. */
static bool check_number(struct row *row, const struct column *column, const char *cell)
{
    int64_t value;
    enum decimal_status status = decimal_parse(cell, strlen(cell), 6, false, &value);
    if (status != DECIMAL_MALFORMED)
        return true; /* ranges and precision are the offer's business */
    if (strchr(cell, ',') != NULL)
        row_error(row, column->name, "decimal_comma",
                  "%s is written with a decimal comma (%.40s); use a point.", column->name, cell);
    else
        row_error(row, column->name, "not_a_number",
                  "%s must be a plain decimal number, not %.40s.", column->name, cell);
    return false;
}

/* The rows of one offer, as the JSON shape. False where a cell is no number or two rows disagree.
 */
static bool build(struct decoding *decoding, const struct held_row *rows, size_t count,
                  struct json_value *offer)
{
    struct arena *arena = decoding->arena;
    struct json_value *node = NULL, *availability = NULL;
    struct json_value *prices = add_member(arena, offer, "prices", JSON_TYPE_ARRAY, NULL);
    bool good = true;
    for (size_t r = 0; r < count; r++) {
        struct row row;
        row_begin(&row, arena, decoding->upload, decoding->options, rows[r].number, "");
        row.external_id = rows[r].cells[0];
        struct json_value *price = add_member(arena, prices, NULL, JSON_TYPE_OBJECT, NULL);
        for (size_t c = 0; c < COLUMN_COUNT; c++) {
            const struct column *column = &columns[c];
            const char *cell = rows[r].cells[c], *first = rows[0].cells[c];
            bool of_price = strcmp(column->object, "prices") == 0;
            if (!of_price && r > 0) {
                if ((cell == NULL) != (first == NULL) ||
                    (cell != NULL && strcmp(cell, first) != 0)) {
                    row_error(&row, column->name, "rows_disagree",
                              "Rows of one offer must agree on %s; row %lld says otherwise.",
                              column->name, (long long)rows[0].number);
                    good = false;
                }
                continue;
            }
            if (cell == NULL)
                continue;
            if (column->number && !check_number(&row, column, cell)) {
                good = false;
                continue;
            }
            struct json_value *target = offer;
            if (of_price)
                target = price;
            else if (strcmp(column->object, "node") == 0)
                target = node != NULL
                             ? node
                             : (node = add_member(arena, offer, "node", JSON_TYPE_OBJECT, NULL));
            else if (strcmp(column->object, "availability") == 0)
                target = availability != NULL
                             ? availability
                             : (availability = add_member(arena, offer, "availability",
                                                          JSON_TYPE_OBJECT, NULL));
            add_member(arena, target, column->member,
                       column->number ? JSON_TYPE_NUMBER : JSON_TYPE_STRING, cell);
        }
    }
    return good;
}

enum decode_status decode_csv(struct decoding *decoding)
{
    struct reading reading = {.decoding = decoding};
    int64_t line;
    const char *problem =
        csv_table_read(decoding->bytes, decoding->length, take_row, &reading, &line);
    if (problem != NULL) {
        decoding_fail(decoding, line, "Row %lld: %s", (long long)line, problem);
        reading.status = DECODE_MALFORMED;
    } else if (reading.width == 0 && reading.status == DECODE_OK) {
        decoding_fail(decoding, 1, "The body is empty; a CSV inventory starts with a header.");
        reading.status = DECODE_MALFORMED;
    }
    if (reading.status == DECODE_OK && reading.count > 1)
        qsort(reading.rows, reading.count, sizeof(*reading.rows), compare_rows);
    for (size_t i = 0; reading.status == DECODE_OK && i < reading.count;) {
        size_t next = i + 1;
        while (next < reading.count && reading.rows[i].cells[0] != NULL &&
               reading.rows[next].cells[0] != NULL &&
               strcmp(reading.rows[i].cells[0], reading.rows[next].cells[0]) == 0)
            next++;
        struct json_value shape = {.type = JSON_TYPE_OBJECT};
        struct offer offer;
        struct row row;
        bool good = build(decoding, &reading.rows[i], next - i, &shape);
        row_begin(&row, decoding->arena, decoding->upload, decoding->options,
                  reading.rows[i].number, "");
        if (good && offer_from_json(&row, &shape, &offer))
            decoding_add(decoding, &row, &offer);
        else
            decoding->upload->rejected++;
        i = next;
    }
    free(reading.rows);
    return reading.status;
}
