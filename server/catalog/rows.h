/* Writing the rows of an answer, whole or in the chosen fields. Only files of this room include it.
 */
#ifndef RACKRATE_CATALOG_ROWS_H
#define RACKRATE_CATALOG_ROWS_H

#include "server/catalog/search.h"

/* Writes the rows of `count` hits with `separator` between them; the arena takes what is spliced
 * in. */
void rows_write(struct snapshot *snapshot, const struct query *query, const struct hit *hits,
                size_t count, char separator, int64_t now_us, struct arena *arena, struct buf *out);

#endif
