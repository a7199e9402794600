/* Steps of a search each, rendered a batch of rows at a time. */
#include "server/catalog/row_stream.h"

#include "server/catalog/rows.h"

#include <stdlib.h>

/* Rows a search brings: each search looks at the market again, so not few; each keeps that many
 * hits, so not many. */
#define STEP_ROWS 16384
/* Rows written at once: what is fetched ahead of its use fits the caches. */
#define BATCH_ROWS 64

struct row_stream {
    struct snapshot *snapshot;
    struct arena arena; /* of the query */
    struct query query; /* of the next step */
    int64_t now_us;
    struct arena step;  /* of the step's hits */
    struct arena batch; /* of what is spliced into rows */
    struct search_result result;
    size_t shown; /* of the step's hits that are no more than the step */
    size_t at;
    bool started;
};

struct row_stream *row_stream_new(struct snapshot *snapshot, const struct query *query,
                                  struct arena *arena, int64_t now_us)
{
    struct row_stream *stream = xcalloc(1, sizeof(*stream));
    stream->snapshot = snapshot;
    stream->query = *query;
    stream->query.limit = STEP_ROWS;
    stream->now_us = now_us;
    arena_adopt(&stream->arena, arena);
    return stream;
}

void row_stream_free(struct row_stream *stream)
{
    if (stream == NULL)
        return;
    snapshot_release(stream->snapshot);
    arena_free(&stream->arena);
    arena_free(&stream->step);
    arena_free(&stream->batch);
    free(stream);
}

static void search_on(struct row_stream *stream)
{
    if (stream->shown > 0) {
        const struct hit *last = &stream->result.hits[stream->shown - 1];
        stream->query.has_cursor = true;
        stream->query.cursor_key = last->key;
        stream->query.cursor_id = last->id;
    }
    arena_reset(&stream->step);
    stream->result = search_run(stream->snapshot, &stream->query, stream->now_us, &stream->step);
    stream->shown = stream->result.hit_count > STEP_ROWS ? STEP_ROWS : stream->result.hit_count;
    stream->at = 0;
}

bool row_stream_next(struct row_stream *stream, size_t bytes, struct buf *out)
{
    if (!stream->started) {
        stream->started = true;
        rows_write_header(&stream->query, out);
        search_on(stream);
    }
    while (out->length < bytes) {
        if (stream->at == stream->shown) {
            if (stream->result.hit_count <= stream->shown)
                return false;
            search_on(stream);
        }
        size_t left = stream->shown - stream->at, count = left < BATCH_ROWS ? left : BATCH_ROWS;
        arena_reset(&stream->batch);
        rows_write(stream->snapshot, &stream->query, stream->result.hits + stream->at, count,
                   stream->now_us, &stream->batch, out);
        stream->at += count;
    }
    return stream->at < stream->shown || stream->result.hit_count > stream->shown;
}
