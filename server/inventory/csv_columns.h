/* The columns of Rackrate's own CSV, for reading and writing. */
#ifndef RACKRATE_INVENTORY_CSV_COLUMNS_H
#define RACKRATE_INVENTORY_CSV_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

/* Where a column belongs in the JSON shape: `object` "" is the offer, "prices" its price. */
struct csv_column {
    const char *name;
    const char *object;
    bool number;
};

/* In the order they are written. */
#define CSV_COLUMN_COUNT 29
extern const struct csv_column csv_columns[CSV_COLUMN_COUNT];

/* Those with a meaning to the reader of a file. */
enum { CSV_COLUMN_EXTERNAL_ID, CSV_COLUMN_GPU, CSV_COLUMN_GPU_COUNT };
#define CSV_COLUMN_PROVIDER (CSV_COLUMN_COUNT - 1)

#endif
