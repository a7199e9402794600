/* Rows of cells; how a cell is quoted is base/csv_cell.c's business. */
#include "server/inventory/export_cells.h"

#include "server/base/csv_cell.h"
#include "server/base/decimal.h"

#include <string.h>

void cell_empty(struct buf *out, bool *first)
{
    if (!*first)
        buf_add_char(out, ',');
    *first = false;
}

void cell_text(struct buf *out, bool *first, const char *text, bool harmless)
{
    cell_empty(out, first);
    if (text == NULL || *text == '\0')
        return;
    csv_add_cell(out, text, strlen(text), harmless);
}

void cell_decimal(struct buf *out, bool *first, int64_t value, unsigned decimals)
{
    cell_empty(out, first);
    if (value != UNKNOWN)
        buf_add_decimal(out, value, decimals);
}
