/* Reading, cleaning and indexing the rows; what they mean is decided in skypilot.c. */
#include "server/inventory/skypilot_table.h"

#include "server/base/csv_cell.h"
#include "server/inventory/csv_columns.h"
#include "server/inventory/row.h"

#include <stdlib.h>
#include <string.h>

const char *const catalogue_column_names[COLUMNS] = {
    "InstanceType", "AcceleratorName", "AcceleratorCount", "vCPUs",
    "MemoryGiB",    "StorageGiB",      "GpuInfo",          "Price",
    "SpotPrice",    "Region",          "AvailabilityZone",
};

/* Machine types of Google whose accelerator is fixed: prefix, accelerator, and how many of it (0:
 * the number in the type). */
static const struct {
    const char *prefix;
    const char *accelerator;
    int count;
} machines[] = {
    {"a2-highgpu-", "A100", 0},  {"a2-megagpu-", "A100", 0},      {"a2-ultragpu-", "A100-80GB", 0},
    {"a3-highgpu-", "H100", 0},  {"a3-megagpu-", "H100-MEGA", 0}, {"a3-ultragpu-", "H200", 0},
    {"a4-highgpu-", "B200", 0},  {"g2-standard-4", "L4", 1},      {"g2-standard-8", "L4", 1},
    {"g2-standard-12", "L4", 1}, {"g2-standard-16", "L4", 1},     {"g2-standard-24", "L4", 2},
    {"g2-standard-32", "L4", 1}, {"g2-standard-48", "L4", 4},     {"g2-standard-96", "L4", 8},
};

int catalogue_whole(const char *text)
{
    int value = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        value = value > 100000 ? 1000000 : value * 10 + (*text - '0');
    return value;
}

bool catalogue_machine(const char *type, const char **ret_name, int *ret_count)
{
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        size_t length = strlen(machines[i].prefix);
        if (strncmp(type, machines[i].prefix, length) != 0)
            continue;
        if (machines[i].count > 0 && type[length] != '\0')
            continue;
        *ret_name = machines[i].accelerator;
        *ret_count = machines[i].count > 0 ? machines[i].count : catalogue_whole(type + length);
        if (*ret_count > 0 && *ret_count <= 1000)
            return true;
    }
    return false;
}

const char *catalogue_place(const struct catalogue_row *row)
{
    return row->cells[COLUMN_ZONE] != NULL ? row->cells[COLUMN_ZONE] : row->cells[COLUMN_REGION];
}

static enum decode_status read_header(struct catalogue *catalogue)
{
    struct decoding *decoding = catalogue->decoding;
    struct csv_slice slice;
    struct csv_row row;
    bool seen[COLUMNS] = {false};
    if (csv_table_next(&catalogue->table, &slice) != CSV_STEP_ROW ||
        csv_table_cells(&catalogue->table, &slice, &decoding->scratch, &row) != NULL) {
        decoding_fail(decoding, 1, "This is no catalogue: it starts with no CSV header.");
        return DECODE_MALFORMED;
    }
    catalogue->width = row.count;
    for (size_t c = 0; c < row.count; c++) {
        catalogue->map[c] = -1;
        for (int k = 0; k < COLUMNS; k++) {
            if (strcmp(row.cells[c], catalogue_column_names[k]) != 0)
                continue;
            if (seen[k]) {
                decoding_fail(decoding, 1, "The column %s stands twice in the header.",
                              row.cells[c]);
                return DECODE_MALFORMED;
            }
            catalogue->map[c] = k;
            seen[k] = true;
        }
    }
    if (seen[COLUMN_TYPE] && seen[COLUMN_NAME] && seen[COLUMN_COUNT] && seen[COLUMN_PRICE] &&
        seen[COLUMN_REGION])
        return DECODE_OK;
    decoding_fail(decoding, 1,
                  "This is no SkyPilot catalogue: the header needs InstanceType, AcceleratorName, "
                  "AcceleratorCount, Price and Region.");
    return DECODE_MALFORMED;
}

static void keep_row(struct catalogue *catalogue, int64_t number,
                     const char *const cells[static COLUMNS])
{
    if (catalogue->count == catalogue->capacity) {
        catalogue->capacity = catalogue->capacity == 0 ? 256 : catalogue->capacity * 2;
        catalogue->rows = xrealloc(catalogue->rows, catalogue->capacity * sizeof(*catalogue->rows));
    }
    struct catalogue_row *kept = &catalogue->rows[catalogue->count++];
    kept->number = number;
    for (int k = 0; k < COLUMNS; k++)
        kept->cells[k] = cells[k] == NULL ? NULL
                                          : text_pool_keep(&catalogue->texts, &catalogue->arena,
                                                           cells[k], strlen(cells[k]));
}

/* A count of 0 or 0.0 says there is no accelerator. */
static bool is_zero(const char *count)
{
    return strspn(count, "0.") == strlen(count);
}

static enum decode_status take_row(struct catalogue *catalogue, const struct csv_slice *slice)
{
    struct decoding *decoding = catalogue->decoding;
    struct csv_row row;
    const char *cells[COLUMNS] = {NULL};
    arena_reset(&decoding->scratch);
    if (!decoding_count_row(decoding, (size_t)(slice->bytes - decoding->bytes)))
        return DECODE_TOO_LARGE;
    const char *problem = csv_table_cells(&catalogue->table, slice, &decoding->scratch, &row);
    if (problem == NULL && !slice->ended)
        problem = "it is the last and has no line end; the file may be cut short.";
    if (problem != NULL) {
        decoding_fail(decoding, slice->number, "Row %lld: %s", (long long)slice->number, problem);
        return DECODE_MALFORMED;
    }
    /* One field more than the header is Azure's unquoted `V1,V2` in its last column. */
    if (row.count < catalogue->width || row.count > catalogue->width + 1) {
        decoding_fail(decoding, slice->number, "Row %lld has %zu fields, the header has %zu.",
                      (long long)slice->number, row.count, catalogue->width);
        return DECODE_MALFORMED;
    }
    for (size_t c = 0; c < catalogue->width; c++) {
        if (catalogue->map[c] < 0 || row.lengths[c] == 0)
            continue;
        bool guarded = *row.cells[c] == '\'' && csv_text_looks_like_formula(row.cells[c]);
        cells[catalogue->map[c]] = row.cells[c] + guarded;
    }
    const char *name;
    int count;
    bool accelerated = cells[COLUMN_NAME] != NULL &&
                       (cells[COLUMN_COUNT] == NULL || !is_zero(cells[COLUMN_COUNT]));
    bool machine = !accelerated && cells[COLUMN_TYPE] != NULL &&
                   catalogue_machine(cells[COLUMN_TYPE], &name, &count);
    if (accelerated || machine)
        keep_row(catalogue, slice->number, cells);
    else
        decoding->upload->skipped++; /* a machine without a GPU is no offer */
    return DECODE_OK;
}

static enum decode_status read_rows(struct catalogue *catalogue)
{
    struct decoding *decoding = catalogue->decoding;
    struct csv_slice slice;
    for (;;) {
        enum decode_status status;
        switch (csv_table_next(&catalogue->table, &slice)) {
        case CSV_STEP_ROW:
            status = take_row(catalogue, &slice);
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
            decoding_fail(decoding, slice.number,
                          "Row %lld: the file ends inside quotes; it may be cut short.",
                          (long long)slice.number);
            return DECODE_MALFORMED;
        }
    }
}

static int compare_cells(const struct catalogue_row *left, const struct catalogue_row *right)
{
    for (int k = 0; k < COLUMNS; k++) {
        const char *x = left->cells[k] == NULL ? "" : left->cells[k],
                   *y = right->cells[k] == NULL ? "" : right->cells[k];
        int order = x == y ? 0 : strcmp(x, y);
        if (order != 0)
            return order;
    }
    return 0;
}

static int compare_rows(const void *a, const void *b)
{
    const struct catalogue_row *left = a, *right = b;
    int order = compare_cells(left, right);
    return order != 0 ? order : (left->number > right->number) - (left->number < right->number);
}

/* Exact repetitions are skipped, each with a word. */
static void drop_repetitions(struct catalogue *catalogue)
{
    size_t kept = 0;
    if (catalogue->count > 1)
        qsort(catalogue->rows, catalogue->count, sizeof(*catalogue->rows), compare_rows);
    for (size_t i = 0; i < catalogue->count; i++) {
        if (kept > 0 && compare_cells(&catalogue->rows[kept - 1], &catalogue->rows[i]) == 0) {
            struct row row;
            row_begin(&row, catalogue->decoding, catalogue->rows[i].number, "");
            row_warning(&row, "", "exact_duplicate", "Row %lld says exactly the same.",
                        (long long)catalogue->rows[kept - 1].number);
            catalogue->decoding->upload->skipped++;
            continue;
        }
        catalogue->rows[kept++] = catalogue->rows[i];
    }
    catalogue->count = kept;
}

/* Order of the join: name, place, count. */
static int compare_wanted(const struct catalogue_row *row, const char *name, const char *place,
                          int count)
{
    int order = strcmp(row->cells[COLUMN_NAME], name);
    if (order == 0)
        order = strcmp(catalogue_place(row), place);
    if (order == 0)
        order = catalogue_whole(row->cells[COLUMN_COUNT]) - count;
    return order;
}

static int compare_accelerators(const void *a, const void *b, void *closure)
{
    const struct catalogue_row *rows = closure;
    const struct catalogue_row *left = &rows[*(const size_t *)a],
                               *right = &rows[*(const size_t *)b];
    int order = compare_wanted(left, right->cells[COLUMN_NAME], catalogue_place(right),
                               catalogue_whole(right->cells[COLUMN_COUNT]));
    return order != 0 ? order : (left->number > right->number) - (left->number < right->number);
}

const struct catalogue_row *catalogue_accelerator(const struct catalogue *catalogue,
                                                  const char *name, int count, const char *place)
{
    for (size_t low = 0, high = catalogue->accelerator_count; low < high;) {
        size_t middle = low + (high - low) / 2;
        const struct catalogue_row *row = &catalogue->rows[catalogue->accelerators[middle]];
        int order = compare_wanted(row, name, place, count);
        if (order == 0)
            return row;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void index_accelerators(struct catalogue *catalogue)
{
    catalogue->accelerators = xcalloc(catalogue->count + 1, sizeof(*catalogue->accelerators));
    for (size_t i = 0; i < catalogue->count; i++) {
        const struct catalogue_row *row = &catalogue->rows[i];
        if (row->cells[COLUMN_TYPE] == NULL && row->cells[COLUMN_NAME] != NULL &&
            row->cells[COLUMN_COUNT] != NULL && catalogue_place(row) != NULL)
            catalogue->accelerators[catalogue->accelerator_count++] = i;
    }
    qsort_r(catalogue->accelerators, catalogue->accelerator_count, sizeof(*catalogue->accelerators),
            compare_accelerators, catalogue->rows);
}

enum decode_status catalogue_read(struct catalogue *catalogue, struct decoding *decoding)
{
    *catalogue = (struct catalogue){.decoding = decoding};
    csv_table_open(&catalogue->table, decoding->bytes, decoding->length);
    enum decode_status status = read_header(catalogue);
    if (status == DECODE_OK)
        status = read_rows(catalogue);
    if (status != DECODE_OK)
        return status;
    drop_repetitions(catalogue);
    index_accelerators(catalogue);
    return DECODE_OK;
}

void catalogue_free(struct catalogue *catalogue)
{
    csv_table_close(&catalogue->table);
    arena_free(&catalogue->arena);
    free(catalogue->accelerators);
    free(catalogue->rows);
}
