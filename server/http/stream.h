/* A body made while it is sent. A worker makes the next block while the event loop sends the one
 * before: the loop only copies, memory holds two blocks however long the body is, and nothing is
 * made for a reader that does not read. */
#ifndef RACKRATE_HTTP_STREAM_H
#define RACKRATE_HTTP_STREAM_H

#include "server/base/workers.h"
#include "server/http/http.h"

struct stream;

/* What the connection does for its stream. `suspend` and `resume` are called with the stream
 * locked: they must not call it back. */
struct stream_connection {
    void (*suspend)(void *connection); /* on the loop's thread, within stream_read */
    void (*resume)(void *connection);  /* on a worker's */
    void *connection;
    void (*freed)(void *owner); /* the stream is no more; on any thread, without the lock */
    void *owner;
};

/* Takes the source over, compresses it if asked to, and has the first block made. */
struct stream *stream_start(const struct reply_stream *source, bool gzip, struct workers *workers,
                            const struct stream_connection *connection);

enum stream_state {
    STREAM_DATA,
    STREAM_WAIT, /* the connection was suspended; it is resumed when there is more */
    STREAM_DONE,
    STREAM_BROKEN, /* what was sent is not the whole body: cut the connection, so that it shows */
};

/* Copies up to `size` bytes that come next. On the loop's thread. */
enum stream_state stream_read(struct stream *stream, char *out, size_t size, size_t *ret_length);

/* The connection is gone: whatever is still being made is thrown away when it is done. Never waits.
 */
void stream_end(struct stream *stream);

/* Makes a whole body on the calling thread (the loopback); the source is freed. False where it
 * broke off. */
bool stream_drain(const struct reply_stream *source, bool gzip, struct worker *worker,
                  struct buf *out);

#endif
