/* CSV in two steps: finding where each row begins and ends (quotes respected), and splitting a row
 * into cells by libcsv. So a reader can hold rows as slices of the body and look at them again.
 * Rows end in LF, CR LF or CR; blank lines count but are passed over. */
#ifndef RACKRATE_INVENTORY_CSV_TABLE_H
#define RACKRATE_INVENTORY_CSV_TABLE_H

#include "server/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CSV_COLUMNS_MAX 64

/* A row as it stands in the body, without its line end. */
struct csv_slice {
    const char *bytes;
    size_t length;
    int64_t number; /* from 1; the header is row 1 */
    bool ended;     /* a line end follows; false only of a last row, which may be cut short */
};

struct csv_row {
    const char *cells[CSV_COLUMNS_MAX]; /* NUL-terminated, "" where empty; in the arena given */
    size_t lengths[CSV_COLUMNS_MAX];
    size_t count;
};

struct csv_table {
    const char *at, *end;
    int64_t number; /* of the row before `at` */
    void *parser;
};

void csv_table_open(struct csv_table *table, const char *bytes, size_t length);
void csv_table_close(struct csv_table *table);

enum csv_step { CSV_STEP_ROW, CSV_STEP_END, CSV_STEP_TOO_LONG, CSV_STEP_OPEN_QUOTE };

/* The next row that is not blank. TOO_LONG: over 64 KiB; OPEN_QUOTE: the body ends inside quotes
 * that this row opened; ret_slice->number says which. */
enum csv_step csv_table_next(struct csv_table *table, struct csv_slice *ret_slice);

/* Cuts a row into cells; NULL on success, else what is wrong with it (static text). */
const char *csv_table_cells(struct csv_table *table, const struct csv_slice *slice,
                            struct arena *arena, struct csv_row *ret_row);

#endif
