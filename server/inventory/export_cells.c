/* RFC 4180: quotes around what holds a comma, a quote, a line end or outer spaces. */
#include "server/inventory/export_cells.h"

#include "server/base/decimal.h"
#include "server/inventory/csv_columns.h"

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
    size_t length = strlen(text);
    bool quoted = strpbrk(text, ",\"\r\n") != NULL || strchr(" \t", text[0]) != NULL ||
                  strchr(" \t", text[length - 1]) != NULL;
    if (quoted)
        buf_add_char(out, '"');
    if (harmless && csv_text_looks_like_formula(text))
        buf_add_char(out, '\'');
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"')
            buf_add_char(out, '"');
        buf_add_char(out, *c);
    }
    if (quoted)
        buf_add_char(out, '"');
}

void cell_decimal(struct buf *out, bool *first, int64_t value, unsigned decimals)
{
    cell_empty(out, first);
    if (value != UNKNOWN)
        buf_add_decimal(out, value, decimals);
}
