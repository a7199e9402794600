/* Rackrate's own CSV: one price a row, rows with the same external_id are one offer, wherever they
 * stand. Rows are held as slices and sorted; each group becomes the JSON shape, so that one set of
 * rules decides what is valid. */
#include "server/inventory/csv_columns.h"
#include "server/inventory/csv_table.h"
#include "server/inventory/offer_json.h"

#include "server/base/csv_cell.h"
#include "server/base/decimal.h"
#include "server/base/nearest.h"

#include <stdlib.h>
#include <string.h>

struct held_row {
    struct csv_slice slice;
    const char *external_id; /* NULL where empty */
};

struct reading {
    struct decoding *decoding;
    struct csv_table table;
    int map[CSV_COLUMNS_MAX]; /* of the file's columns */
    size_t width;
    struct held_row *rows;
    size_t count, capacity;
};

static enum decode_status fail_row(struct decoding *decoding, const struct csv_slice *slice,
                                   const char *problem)
{
    decoding_fail(decoding, slice->number, "Row %lld: %s", (long long)slice->number, problem);
    return DECODE_MALFORMED;
}

static bool map_column(struct reading *reading, const char *name, size_t index, bool *seen)
{
    const char *names[CSV_COLUMN_COUNT];
    for (size_t i = 0; i < CSV_COLUMN_COUNT; i++) {
        names[i] = csv_columns[i].name;
        if (strcmp(name, names[i]) != 0)
            continue;
        if (seen[i])
            decoding_fail(reading->decoding, 1, "The column %s stands twice in the header.", name);
        reading->map[index] = (int)i;
        return !seen[i] && (seen[i] = true);
    }
    const char *near = nearest_name(name, names, CSV_COLUMN_COUNT);
    if (near == NULL)
        decoding_fail(reading->decoding, 1, "No column is called \"%.80s\".", name);
    else
        decoding_fail(reading->decoding, 1, "No column is called \"%.80s\"; did you mean %s?", name,
                      near);
    return false;
}

static enum decode_status read_header(struct reading *reading)
{
    struct decoding *decoding = reading->decoding;
    struct csv_slice slice;
    struct csv_row row;
    bool seen[CSV_COLUMN_COUNT] = {false};
    enum csv_step step = csv_table_next(&reading->table, &slice);
    if (step != CSV_STEP_ROW) {
        decoding_fail(decoding, 1,
                      step == CSV_STEP_END
                          ? "The body is empty; a CSV inventory starts with a header."
                          : "The header has no end: a quote may be open.");
        return DECODE_MALFORMED;
    }
    const char *problem = csv_table_cells(&reading->table, &slice, &decoding->scratch, &row);
    if (problem != NULL)
        return fail_row(decoding, &slice, problem);
    reading->width = row.count;
    for (size_t c = 0; c < row.count; c++) {
        if (!map_column(reading, row.cells[c], c, seen))
            return DECODE_MALFORMED;
    }
    if (!seen[CSV_COLUMN_EXTERNAL_ID] || !seen[CSV_COLUMN_GPU] || !seen[CSV_COLUMN_GPU_COUNT]) {
        decoding_fail(decoding, 1, "The header needs external_id, gpu and gpu_count.");
        return DECODE_MALFORMED;
    }
    return DECODE_OK;
}

/* The cells of a row by column, NULL where empty; apostrophes against formulas are taken off. */
static const char *spread(struct reading *reading, const struct csv_slice *slice,
                          const char *cells[CSV_COLUMN_COUNT], size_t *ret_count)
{
    struct csv_row row;
    memset(cells, 0, CSV_COLUMN_COUNT * sizeof(*cells));
    const char *problem =
        csv_table_cells(&reading->table, slice, &reading->decoding->scratch, &row);
    *ret_count = row.count;
    for (size_t c = 0; c < row.count && c < reading->width && problem == NULL; c++) {
        const char *cell = row.cells[c];
        if (*cell == '\'' && csv_text_looks_like_formula(cell))
            cell++;
        if (*cell != '\0')
            cells[reading->map[c]] = cell;
    }
    return problem;
}

static bool is_elsewhere(const struct decode_options *options, const char *provider)
{
    return options->others_pass && provider != NULL &&
           strcmp(provider, options->provider_slug) != 0;
}

/* Holds a row, or refuses it where it has too few or too many fields. */
static enum decode_status hold_row(struct reading *reading, const struct csv_slice *slice)
{
    struct decoding *decoding = reading->decoding;
    const char *cells[CSV_COLUMN_COUNT];
    size_t count;
    if (!decoding_count_row(decoding, (size_t)(slice->bytes - decoding->bytes)))
        return DECODE_TOO_LARGE;
    const char *problem = spread(reading, slice, cells, &count);
    if (problem != NULL)
        return fail_row(decoding, slice, problem);
    if (count != reading->width && !slice->ended) {
        decoding_fail(decoding, slice->number,
                      "Row %lld, the last, has %zu fields, the header has %zu; the body may be cut "
                      "short.",
                      (long long)slice->number, count, reading->width);
        return DECODE_MALFORMED;
    }
    if (is_elsewhere(decoding->options, cells[CSV_COLUMN_PROVIDER])) {
        decoding->upload->rows_read--;
        return DECODE_OK;
    }
    const char *id = cells[CSV_COLUMN_EXTERNAL_ID];
    id = id == NULL ? NULL : arena_strdup(decoding->arena, id);
    if (count != reading->width) {
        struct row row;
        row_begin(&row, decoding, slice->number, "");
        row.external_id = id;
        row_error(&row, "", "wrong_field_count", "The row has %zu fields, the header has %zu.",
                  count, reading->width);
        decoding->upload->rejected++;
        return DECODE_OK;
    }
    if (!slice->ended) {
        struct row row;
        row_begin(&row, decoding, slice->number, "");
        row.external_id = id;
        row_warning(&row, "", "no_line_end",
                    "The last row has no line end; if the body was cut short, so is its last "
                    "field.");
    }
    if (reading->count == reading->capacity) {
        reading->capacity = reading->capacity == 0 ? 256 : reading->capacity * 2;
        reading->rows = xrealloc(reading->rows, reading->capacity * sizeof(*reading->rows));
    }
    reading->rows[reading->count++] = (struct held_row){*slice, id};
    return DECODE_OK;
}

static enum decode_status hold_rows(struct reading *reading)
{
    struct decoding *decoding = reading->decoding;
    struct csv_slice slice;
    for (;;) {
        enum decode_status status;
        arena_reset(&decoding->scratch);
        switch (csv_table_next(&reading->table, &slice)) {
        case CSV_STEP_ROW:
            status = hold_row(reading, &slice);
            if (status != DECODE_OK)
                return status;
            break;
        case CSV_STEP_END:
            return DECODE_OK;
        case CSV_STEP_TOO_LONG:
            decoding_fail(decoding, slice.number,
                          "Row %lld is longer than 64 KiB; a quote may have no end.",
                          (long long)slice.number);
            return DECODE_TOO_LARGE;
        case CSV_STEP_OPEN_QUOTE:
            return fail_row(decoding, &slice, "the body ends inside quotes; it may be cut short.");
        }
    }
}

static int compare_rows(const void *a, const void *b)
{
    const struct held_row *left = a, *right = b;
    const char *x = left->external_id == NULL ? "" : left->external_id,
               *y = right->external_id == NULL ? "" : right->external_id;
    int order = strcmp(x, y);
    return order != 0 ? order
                      : (left->slice.number > right->slice.number) -
                            (left->slice.number < right->slice.number);
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
static bool check_number(struct row *row, const char *name, const char *cell)
{
    int64_t value;
    enum decimal_status status = decimal_parse(cell, strlen(cell), 6, false, &value);
    if (status != DECIMAL_MALFORMED)
        return true; /* ranges and precision are the offer's business */
    if (strchr(cell, ',') != NULL)
        row_error(row, name, "decimal_comma",
                  "%s is written with a decimal comma (%.40s); use a point.", name, cell);
    else
        row_error(row, name, "not_a_number", "%s must be a plain decimal number, not %.40s.", name,
                  cell);
    return false;
}

/* An offer out of its rows. */
struct building {
    struct row row; /* of the row in hand */
    struct json_value *offer, *node, *availability, *price;
    const char *said[CSV_COLUMN_COUNT]; /* of the offer, by an earlier row */
    int64_t said_in[CSV_COLUMN_COUNT];
};

static struct json_value *target_of(struct building *building, const struct csv_column *column)
{
    struct arena *arena = &building->row.decoding->scratch;
    struct json_value **object;
    if (*column->object == '\0')
        return building->offer;
    if (strcmp(column->object, "prices") == 0)
        return building->price;
    object = strcmp(column->object, "node") == 0 ? &building->node : &building->availability;
    if (*object == NULL)
        *object = add_member(arena, building->offer, column->object, JSON_TYPE_OBJECT, NULL);
    return *object;
}

/* A cell into the shape. What a later row says of the offer must not differ from an earlier one. */
static void build_cell(struct building *building, size_t index, const char *cell)
{
    const struct csv_column *column = &csv_columns[index];
    if (strcmp(column->object, "prices") != 0) {
        if (building->said[index] != NULL) {
            if (strcmp(cell, building->said[index]) != 0)
                row_error(&building->row, column->name, "rows_disagree",
                          "Rows of one offer must agree on %s; row %lld says otherwise.",
                          column->name, (long long)building->said_in[index]);
            return;
        }
        building->said[index] = cell;
        building->said_in[index] = building->row.number;
    }
    if (column->number && !check_number(&building->row, column->name, cell))
        return;
    add_member(&building->row.decoding->scratch, target_of(building, column), column->name,
               column->number ? JSON_TYPE_NUMBER : JSON_TYPE_STRING, cell);
}

/* The rows of one offer, as the JSON shape. */
static void build(struct reading *reading, const struct held_row *rows, size_t count,
                  struct json_value *offer)
{
    struct decoding *decoding = reading->decoding;
    struct building building = {.offer = offer};
    struct json_value *prices =
        add_member(&decoding->scratch, offer, "prices", JSON_TYPE_ARRAY, NULL);
    for (size_t r = 0; r < count; r++) {
        const char *cells[CSV_COLUMN_COUNT];
        size_t fields;
        row_begin(&building.row, decoding, rows[r].slice.number, "");
        building.row.external_id = rows[r].external_id;
        spread(reading, &rows[r].slice, cells, &fields);
        building.price = add_member(&decoding->scratch, prices, NULL, JSON_TYPE_OBJECT, NULL);
        for (size_t c = 0; c < CSV_COLUMN_COUNT; c++) {
            if (cells[c] != NULL)
                build_cell(&building, c, cells[c]);
        }
    }
}

static void take_group(struct reading *reading, const struct held_row *rows, size_t count)
{
    struct decoding *decoding = reading->decoding;
    struct json_value shape = {.type = JSON_TYPE_OBJECT};
    struct offer offer;
    struct row row;
    arena_reset(&decoding->scratch);
    row_begin(&row, decoding, rows[0].slice.number, "");
    row.external_id = rows[0].external_id;
    if (count > OFFER_PRICES_MAX) {
        row_error(&row, "", "out_of_range", "An offer may have %d prices, one a row; this has %zu.",
                  OFFER_PRICES_MAX, count);
        decoding->upload->rejected++;
        return;
    }
    int64_t *numbers = arena_alloc(&decoding->scratch, count * sizeof(*numbers));
    for (size_t i = 0; i < count; i++)
        numbers[i] = rows[i].slice.number;
    row.price_rows = numbers;
    build(reading, rows, count, &shape);
    if (!row_failed(&row) && offer_from_json(&row, &shape, &offer))
        decoding_add(decoding, row.number, &offer);
    else
        decoding->upload->rejected++;
}

static void take_groups(struct reading *reading)
{
    struct held_row *rows = reading->rows;
    if (reading->count > 1)
        qsort(rows, reading->count, sizeof(*rows), compare_rows);
    decoding_reserve(reading->decoding, reading->count);
    for (size_t i = 0; i < reading->count;) {
        size_t next = i + 1;
        while (next < reading->count && rows[i].external_id != NULL &&
               rows[next].external_id != NULL &&
               strcmp(rows[i].external_id, rows[next].external_id) == 0)
            next++;
        take_group(reading, &rows[i], next - i);
        i = next;
    }
}

enum decode_status decode_csv(struct decoding *decoding)
{
    struct reading reading = {.decoding = decoding};
    csv_table_open(&reading.table, decoding->bytes, decoding->length);
    enum decode_status status = read_header(&reading);
    if (status == DECODE_OK)
        status = hold_rows(&reading);
    if (status == DECODE_OK)
        take_groups(&reading);
    csv_table_close(&reading.table);
    free(reading.rows);
    return status;
}
