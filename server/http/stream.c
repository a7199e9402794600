/* Two blocks, `front` being sent and `back` being made. One mutex is held for a swap or a look; the
 * producer runs without it. Who finds the other late leaves a word: the loop suspends its
 * connection and says so under the lock, the worker that ends the block resumes it. Two references,
 * the connection's and the running job's: the last one frees. */
#include "server/http/stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Made at once by default sources; compressed, about a tenth of it. */
#define DEFLATE_BLOCK_BYTES ((size_t)64 << 10)

struct deflater {
    bool used;
    z_stream zlib;
    struct buf plain;
};

struct stream {
    struct reply_stream source;
    struct stream_connection connection;
    struct workers *workers;
    struct deflater deflater;
    struct buf front; /* the loop's alone */
    size_t front_at;

    pthread_mutex_t mutex; /* what is below */
    struct buf back;       /* the job's while one runs */
    unsigned references;
    bool making;  /* a job runs or waits in line */
    bool waiting; /* the connection is suspended */
    bool abandoned;
    enum stream_step step; /* of the last block made */
};

static void deflater_start(struct deflater *deflater)
{
    if (deflateInit2(&deflater->zlib, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort(); /* out of memory, as xmalloc does */
    deflater->used = true;
}

static void deflater_end(struct deflater *deflater)
{
    if (deflater->used)
        deflateEnd(&deflater->zlib);
    buf_free(&deflater->plain);
}

/* Adds the plain block to `out`, compressed; with `last`, and the end of the format. */
static void deflater_add(struct deflater *deflater, bool last, struct buf *out)
{
    z_stream *zlib = &deflater->zlib;
    zlib->next_in = (z_const Bytef *)deflater->plain.data;
    zlib->avail_in = (uInt)deflater->plain.length;
    do {
        zlib->next_out = (Bytef *)buf_reserve(out, DEFLATE_BLOCK_BYTES);
        zlib->avail_out = (uInt)DEFLATE_BLOCK_BYTES;
        (void)deflate(zlib, last ? Z_FINISH : Z_NO_FLUSH);
        out->length += DEFLATE_BLOCK_BYTES - zlib->avail_out;
    } while (zlib->avail_out == 0);
    buf_clear(&deflater->plain);
}

/* One block into `out`; compressed, there may be nothing yet to send. */
static enum stream_step make(const struct reply_stream *source, struct deflater *deflater,
                             struct worker *worker, struct buf *out)
{
    enum stream_step step;
    do {
        step = source->produce(source->closure, worker, deflater->used ? &deflater->plain : out);
        if (deflater->used && step != STREAM_FAILED)
            deflater_add(deflater, step == STREAM_END, out);
    } while (step == STREAM_MORE && out->length == 0);
    return step;
}

static void unreference(struct stream *stream)
{
    pthread_mutex_lock(&stream->mutex);
    bool last = --stream->references == 0;
    pthread_mutex_unlock(&stream->mutex);
    if (!last)
        return;
    stream->source.free(stream->source.closure);
    deflater_end(&stream->deflater);
    buf_free(&stream->front);
    buf_free(&stream->back);
    pthread_mutex_destroy(&stream->mutex);
    stream->connection.freed(stream->connection.owner);
    free(stream);
}

static void make_on_worker(void *closure, void *thread_context)
{
    struct stream *stream = closure;
    pthread_mutex_lock(&stream->mutex);
    bool abandoned = stream->abandoned;
    pthread_mutex_unlock(&stream->mutex);
    enum stream_step step =
        abandoned ? STREAM_FAILED
                  : make(&stream->source, &stream->deflater, thread_context, &stream->back);
    pthread_mutex_lock(&stream->mutex);
    stream->step = step;
    stream->making = false;
    if (stream->waiting && !stream->abandoned)
        stream->connection.resume(stream->connection.connection);
    stream->waiting = false;
    pthread_mutex_unlock(&stream->mutex);
    unreference(stream);
}

/* Has the next block made, under the lock. Where no worker takes it (the server stops), the stream
 * breaks off. */
static void begin_block(struct stream *stream)
{
    buf_clear(&stream->back);
    stream->making = true;
    stream->references++;
    if (workers_submit(stream->workers, make_on_worker, stream))
        return;
    stream->references--;
    stream->making = false;
    stream->step = STREAM_FAILED;
}

struct stream *stream_start(const struct reply_stream *source, bool gzip, struct workers *workers,
                            const struct stream_connection *connection)
{
    struct stream *stream = xcalloc(1, sizeof(*stream));
    if (gzip)
        deflater_start(&stream->deflater);
    stream->source = *source;
    stream->connection = *connection;
    stream->workers = workers;
    stream->references = 1;
    stream->step = STREAM_MORE;
    pthread_mutex_init(&stream->mutex, NULL);
    pthread_mutex_lock(&stream->mutex);
    begin_block(stream);
    pthread_mutex_unlock(&stream->mutex);
    return stream;
}

/* Takes the next block, if it is there. */
static enum stream_state next_block(struct stream *stream)
{
    enum stream_state state = STREAM_DATA;
    pthread_mutex_lock(&stream->mutex);
    if (stream->making) {
        stream->connection.suspend(stream->connection.connection);
        stream->waiting = true;
        state = STREAM_WAIT;
    } else if (stream->back.length > 0 && stream->step != STREAM_FAILED) {
        struct buf sent = stream->front;
        stream->front = stream->back;
        stream->front_at = 0;
        stream->back = sent;
        buf_clear(&stream->back);
        if (stream->step == STREAM_MORE)
            begin_block(stream);
    } else {
        state = stream->step == STREAM_END ? STREAM_DONE : STREAM_BROKEN;
    }
    pthread_mutex_unlock(&stream->mutex);
    return state;
}

enum stream_state stream_read(struct stream *stream, char *out, size_t size, size_t *ret_length)
{
    *ret_length = 0;
    while (*ret_length < size) {
        size_t left = stream->front.length - stream->front_at;
        if (left > 0) {
            size_t taken = size - *ret_length < left ? size - *ret_length : left;
            memcpy(out + *ret_length, stream->front.data + stream->front_at, taken);
            stream->front_at += taken;
            *ret_length += taken;
            continue;
        }
        if (*ret_length > 0)
            break; /* rather a short read now than a wait */
        enum stream_state state = next_block(stream);
        if (state != STREAM_DATA)
            return state;
    }
    return STREAM_DATA;
}

void stream_end(struct stream *stream)
{
    pthread_mutex_lock(&stream->mutex);
    stream->abandoned = true;
    pthread_mutex_unlock(&stream->mutex);
    unreference(stream);
}

bool stream_drain(const struct reply_stream *source, bool gzip, struct worker *worker,
                  struct buf *out)
{
    struct deflater deflater = {0};
    struct buf block = {0};
    enum stream_step step = STREAM_MORE;
    if (gzip)
        deflater_start(&deflater);
    while (step == STREAM_MORE) {
        buf_clear(&block);
        step = make(source, &deflater, worker, &block);
        if (step != STREAM_FAILED)
            buf_add(out, block.data, block.length);
    }
    buf_free(&block);
    deflater_end(&deflater);
    source->free(source->closure);
    return step == STREAM_END;
}
