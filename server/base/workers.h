/* Worker threads behind one bounded queue, first come first served. Submitting never blocks: a full
 * queue says no. */
#ifndef RACKRATE_BASE_WORKERS_H
#define RACKRATE_BASE_WORKERS_H

#include <stdbool.h>
#include <stddef.h>

struct workers;

/* A job: `run` is called once on a worker thread with that thread's own context. */
typedef void worker_job(void *closure, void *thread_context);

struct worker_hooks {
    void *(*begin)(void *closure); /* on each thread as it starts: gives its context */
    void (*end)(void *closure, void *thread_context);
    void *closure;
};

/* Starts `count` threads. NULL where threads can't be made. */
struct workers *workers_start(unsigned count, size_t queue_limit, const struct worker_hooks *hooks);

/* Queues a job; false when the queue is full or stopping. Any thread. */
bool workers_submit(struct workers *workers, worker_job *run, void *closure);

/* Jobs waiting now. */
size_t workers_waiting(struct workers *workers);

/* Runs what is queued and ends the threads; from then on submitting says no. The struct stays until
 * workers_stop, for those who may still submit. */
void workers_drain(struct workers *workers);

/* Drains, then frees everything: nobody may submit any more. */
void workers_stop(struct workers *workers);

#endif
