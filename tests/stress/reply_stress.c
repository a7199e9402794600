/* Races of what replies share: kept answers asked for, put and thrown out by many threads, and
 * streams that are read, waited for and abandoned while workers make them. A plain program, for the
 * thread sanitizer. */
#include "server/base/arena.h"
#include "server/http/answer_cache.h"
#include "server/http/stream.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define ROUNDS  6000
#define BLOCKS  5
#define BLOCK   3000

static atomic_int faults;
static void fault(const char *text)
{
    fprintf(stderr, "%s\n", text);
    faults++;
}

static unsigned draw(unsigned *state)
{
    return *state = *state * 1103515245u + 12345u, *state >> 16;
}

static struct answer_cache *cache;

static void *ask(void *closure)
{
    unsigned state = (unsigned)(uintptr_t)closure;
    for (int i = 0; i < ROUNDS * 4; i++) {
        unsigned number = draw(&state) % 400;
        char tag[40];
        const char *note;
        snprintf(tag, sizeof(tag), "\"%022u\"", number);
        struct answer_key key = {tag, false};
        struct reply reply = {.encoded = true};
        if (!answer_cache_find(cache, &key, &reply, &note)) {
            size_t length = 200 + number * 7;
            char *bytes = buf_reserve(&reply.body, length);
            memset(bytes, (int)('A' + number % 26), length);
            reply.body.length = length;
            answer_cache_put(cache, &key, &reply, "note");
        }
        const char *bytes = reply.fixed != NULL ? (const char *)reply.fixed : reply.body.data;
        size_t length = reply.fixed != NULL ? reply.fixed_length : reply.body.length;
        if (length != 200 + number * 7 || bytes[0] != (char)('A' + number % 26) ||
            bytes[length - 1] != bytes[0])
            fault("another answer's bytes");
        if (answer_cache_bytes(cache) > 70000 + THREADS * 4000)
            fault("more bytes than allowed");
        if (reply.fixed_release != NULL)
            reply.fixed_release(reply.fixed_owner);
        buf_free(&reply.body);
    }
    return NULL;
}

/* A source of some blocks of known bytes. */
struct source {
    unsigned made;
    bool fails;
};
static atomic_int sources;

static enum stream_step produce(void *closure, struct worker *worker, struct buf *out)
{
    struct source *source = closure;
    (void)worker;
    char *bytes = buf_reserve(out, BLOCK);
    memset(bytes, (int)('a' + source->made), BLOCK);
    out->length += BLOCK;
    if (source->fails && source->made == BLOCKS / 2)
        return STREAM_FAILED;
    return ++source->made == BLOCKS ? STREAM_END : STREAM_MORE;
}

static void free_source(void *closure)
{
    free(closure);
    sources--;
}

static struct workers *workers;

/* A connection that is suspended on a semaphore. */
static void suspend(void *connection)
{
    (void)connection;
}
static void resume(void *connection)
{
    sem_post(connection);
}
static void freed(void *owner)
{
    (void)owner;
}

static void read_one(unsigned *state)
{
    struct source *source = xcalloc(1, sizeof(*source));
    char bytes[1024];
    size_t total = 0, length,
           give_up = draw(state) % 3 == 0 ? draw(state) % (BLOCKS * BLOCK) : SIZE_MAX;
    bool gzip = draw(state) % 4 == 0;
    sem_t resumed;
    source->fails = draw(state) % 8 == 0;
    sources++;
    sem_init(&resumed, 0, 0);
    const struct reply_stream reply = {produce, free_source, source};
    const struct stream_connection connection = {suspend, resume, &resumed, freed, NULL};
    bool fails = source->fails;
    struct stream *stream = stream_start(&reply, gzip, workers, &connection);
    enum stream_state last = STREAM_DATA;
    while (last != STREAM_DONE && last != STREAM_BROKEN && total < give_up) {
        last = stream_read(stream, bytes, 1 + draw(state) % sizeof(bytes), &length);
        for (size_t i = 0; i < length && !gzip; i++) {
            if (bytes[i] != (char)('a' + (total + i) / BLOCK))
                fault("bytes out of order");
        }
        total += length;
        if (last == STREAM_WAIT)
            sem_wait(&resumed);
    }
    if (last == STREAM_DONE && (fails || (!gzip && total != BLOCKS * BLOCK)))
        fault("a whole that is none");
    if (last == STREAM_BROKEN && !fails)
        fault("broken without reason");
    stream_end(stream);
    sem_destroy(&resumed);
}

static void *read_streams(void *closure)
{
    unsigned state = (unsigned)(uintptr_t)closure * 77 + 1;
    for (int i = 0; i < ROUNDS / 2; i++)
        read_one(&state);
    return NULL;
}

static void *begin(void *closure)
{
    return closure;
}
static void end(void *closure, void *context)
{
    (void)closure;
    (void)context;
}

static void run(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, body, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    const struct worker_hooks hooks = {begin, end, NULL};
    cache = answer_cache_new(70000);
    workers = workers_start(2, 64, &hooks);
    run(ask);
    run(read_streams);
    workers_stop(workers);
    answer_cache_free(cache);
    if (sources != 0)
        fault("sources are left");
    printf("reply_stress: %d faults\n", (int)faults);
    return faults != 0;
}
