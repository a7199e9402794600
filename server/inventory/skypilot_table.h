/* The rows of a catalogue that matter: those with an accelerator, and machines that wait for one.
 * Private to the catalogue's decoder. */
#ifndef RACKRATE_INVENTORY_SKYPILOT_TABLE_H
#define RACKRATE_INVENTORY_SKYPILOT_TABLE_H

#include "server/inventory/csv_table.h"
#include "server/inventory/decoding.h"

enum catalogue_column {
    COLUMN_TYPE,
    COLUMN_NAME,
    COLUMN_COUNT,
    COLUMN_VCPUS,
    COLUMN_MEMORY,
    COLUMN_STORAGE,
    COLUMN_INFO,
    COLUMN_PRICE,
    COLUMN_SPOT,
    COLUMN_REGION,
    COLUMN_ZONE,
    COLUMNS,
};
extern const char *const catalogue_column_names[COLUMNS];

struct catalogue_row {
    const char *cells[COLUMNS]; /* NULL where empty; in the catalogue's arena */
    int64_t number;
};

struct catalogue {
    struct decoding *decoding;
    struct csv_table table;
    struct arena arena;
    struct text_pool texts;
    int map[CSV_COLUMNS_MAX]; /* enum catalogue_column, or -1 */
    size_t width;
    struct catalogue_row *rows;
    size_t count, capacity;
    size_t *accelerators; /* indexes of rows without a type, sorted for the join */
    size_t accelerator_count;
};

/* Reads header and rows, drops exact repetitions, sorts what the join looks up. */
enum decode_status catalogue_read(struct catalogue *catalogue, struct decoding *decoding);
void catalogue_free(struct catalogue *catalogue);

/* Zone, else region; may be NULL. */
const char *catalogue_place(const struct catalogue_row *row);

/* The accelerator a machine type of Google carries; false where none is fixed. */
bool catalogue_machine(const char *type, const char **ret_name, int *ret_count);

/* The accelerator row of (name, count) in a place, or NULL. */
const struct catalogue_row *catalogue_accelerator(const struct catalogue *catalogue,
                                                  const char *name, int count, const char *place);

/* A whole number at the start of the text, 0 where there is none, at most 1,000,000. */
int catalogue_whole(const char *text);

#endif
