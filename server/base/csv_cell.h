/* Cells of CSV files that spreadsheets open. Pure; any thread. */
#ifndef RACKRATE_BASE_CSV_CELL_H
#define RACKRATE_BASE_CSV_CELL_H

#include "server/base/buf.h"

/* A cell that a spreadsheet would run as a formula (it starts with = + - @ or a control byte,
 * apostrophes aside) is written with an apostrophe before it, and read without. Numbers are never
 * written so. */
bool csv_text_looks_like_formula(const char *text);

/* Adds a cell's text, quoted where RFC 4180 asks for it (or outer spaces would be lost), and made
 * harmless to spreadsheets with `harmless`. `text` ends with a NUL that `length` does not count. */
void csv_add_cell(struct buf *out, const char *text, size_t length, bool harmless);

#endif
