/* Writing the rows of an answer, whole or in the chosen fields. Only files of this room include it.
 */
#ifndef RACKRATE_CATALOG_ROWS_H
#define RACKRATE_CATALOG_ROWS_H

#include "server/catalog/search.h"

/* Writes the rows of some hits in the query's format: in JSON with commas between them, else a line
 * each. The arena takes what is spliced in. */
void rows_write(struct snapshot *snapshot, const struct query *query, const struct hit *hits,
                size_t count, int64_t now_us, struct arena *arena, struct buf *out);

/* The line above all rows, where the format has one. */
void rows_write_header(const struct query *query, struct buf *out);

#endif
