/* The whole result of a search, a piece at a time, all of one snapshot: pages of many rows are
 * searched for one after the other, each from where the last one ended, so that memory does not
 * grow with the result. Belongs to one thread at a time. */
#ifndef RACKRATE_CATALOG_ROW_STREAM_H
#define RACKRATE_CATALOG_ROW_STREAM_H

#include "server/catalog/query.h"

struct row_stream;

/* Takes over a reference to the snapshot and the arena that the query lives in. The rows are as of
 * now_us throughout. */
struct row_stream *row_stream_new(struct snapshot *snapshot, const struct query *query,
                                  struct arena *arena, int64_t now_us);
void row_stream_free(struct row_stream *stream);

/* Appends the next rows until `out` holds about `bytes`; false when these were the last. */
bool row_stream_next(struct row_stream *stream, size_t bytes, struct buf *out);

#endif
