/* CSV by libcsv, row by row: cells as NUL-terminated text in an arena that is reset for each row.
 */
#ifndef RACKRATE_INVENTORY_CSV_TABLE_H
#define RACKRATE_INVENTORY_CSV_TABLE_H

#include "server/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CSV_COLUMNS_MAX 64

struct csv_row {
    const char *cells[CSV_COLUMNS_MAX]; /* "" where empty */
    size_t lengths[CSV_COLUMNS_MAX];
    size_t count;
    int64_t number; /* from 1; the header is row 1 */
};

/* Calls `take` for each row, the header too; a false return stops. NULL on success (or when
 * stopped), else what is wrong (static text) and the row in *ret_row. */
const char *csv_table_read(const char *bytes, size_t length,
                           bool (*take)(void *closure, const struct csv_row *row), void *closure,
                           int64_t *ret_row);

#endif
