/* A ring of jobs under one mutex; workers wait on one condition. Jobs are heavy (a parse, a
 * transaction), so the lock is cold. */
#include "server/base/workers.h"

#include "server/base/arena.h"
#include "server/base/metrics.h"

#include <pthread.h>
#include <stdlib.h>

struct job {
    worker_job *run;
    void *closure;
};

struct workers {
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    struct job *ring;
    size_t limit, first, count;
    bool stopping;
    struct worker_hooks hooks;
    pthread_t *threads;
    unsigned thread_count;
};

static void *worker_main(void *argument)
{
    struct workers *workers = argument;
    void *context = workers->hooks.begin(workers->hooks.closure);
    pthread_mutex_lock(&workers->mutex);
    for (;;) {
        while (workers->count == 0 && !workers->stopping)
            pthread_cond_wait(&workers->filled, &workers->mutex);
        if (workers->count == 0)
            break;
        struct job job = workers->ring[workers->first];
        workers->first = (workers->first + 1) % workers->limit;
        workers->count--;
        metric_add(METRIC_QUEUE_DEPTH, -1);
        pthread_mutex_unlock(&workers->mutex);
        job.run(job.closure, context);
        pthread_mutex_lock(&workers->mutex);
    }
    pthread_mutex_unlock(&workers->mutex);
    workers->hooks.end(workers->hooks.closure, context);
    return NULL;
}

struct workers *workers_start(unsigned count, size_t queue_limit, const struct worker_hooks *hooks)
{
    struct workers *workers = xcalloc(1, sizeof(*workers));
    pthread_mutex_init(&workers->mutex, NULL);
    pthread_cond_init(&workers->filled, NULL);
    workers->limit = queue_limit == 0 ? 1 : queue_limit;
    workers->ring = xcalloc(workers->limit, sizeof(*workers->ring));
    workers->hooks = *hooks;
    workers->threads = xcalloc(count, sizeof(*workers->threads));
    for (unsigned i = 0; i < count; i++) {
        if (pthread_create(&workers->threads[i], NULL, worker_main, workers) != 0)
            break;
        workers->thread_count++;
    }
    if (workers->thread_count == 0) {
        workers_stop(workers);
        return NULL;
    }
    return workers;
}

bool workers_submit(struct workers *workers, worker_job *run, void *closure)
{
    pthread_mutex_lock(&workers->mutex);
    bool taken = workers->count < workers->limit && !workers->stopping;
    if (taken) {
        workers->ring[(workers->first + workers->count) % workers->limit] =
            (struct job){run, closure};
        workers->count++;
        metric_add(METRIC_QUEUE_DEPTH, 1);
        pthread_cond_signal(&workers->filled);
    }
    pthread_mutex_unlock(&workers->mutex);
    return taken;
}

size_t workers_waiting(struct workers *workers)
{
    pthread_mutex_lock(&workers->mutex);
    size_t count = workers->count;
    pthread_mutex_unlock(&workers->mutex);
    return count;
}

void workers_drain(struct workers *workers)
{
    pthread_mutex_lock(&workers->mutex);
    workers->stopping = true;
    pthread_cond_broadcast(&workers->filled);
    pthread_mutex_unlock(&workers->mutex);
    for (unsigned i = 0; i < workers->thread_count; i++)
        pthread_join(workers->threads[i], NULL);
    workers->thread_count = 0;
}

void workers_stop(struct workers *workers)
{
    if (workers == NULL)
        return;
    workers_drain(workers);
    pthread_cond_destroy(&workers->filled);
    pthread_mutex_destroy(&workers->mutex);
    free(workers->ring);
    free(workers->threads);
    free(workers);
}
