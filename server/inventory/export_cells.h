/* Cells of a CSV being written. Private to the writers. */
#ifndef RACKRATE_INVENTORY_EXPORT_CELLS_H
#define RACKRATE_INVENTORY_EXPORT_CELLS_H

#include "server/base/buf.h"

#include <stdbool.h>

/* Each adds a cell, with a comma before it unless it is the first of its row (`*first` says so and
 * is cleared). NULL and unknown are empty cells. Texts are quoted where they must be, and made
 * harmless to spreadsheets with `harmless`. */
void cell_text(struct buf *out, bool *first, const char *text, bool harmless);
void cell_decimal(struct buf *out, bool *first, int64_t value, unsigned decimals);
void cell_empty(struct buf *out, bool *first);

#endif
