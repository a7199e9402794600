/* A list under a mutex, scanned a few times a second: thousands of entries take microseconds, and
 * no timer wheel can be wrong. */
#include "server/http/reaper.h"

#include "server/base/arena.h"
#include "server/base/metrics.h"
#include "server/base/timestamp.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#define SCAN_INTERVAL_NS 200000000L

struct reaper {
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    pthread_t thread;
    struct watched *first;
    bool stopping;
};

static void scan(struct reaper *reaper)
{
    int64_t now_us = monotonic_now_us();
    for (struct watched *watched = reaper->first; watched != NULL; watched = watched->next) {
        if (atomic_load_explicit(&watched->deadline_us, memory_order_relaxed) > now_us)
            continue;
        shutdown(watched->fd, SHUT_RDWR);
        watched_set_deadline(watched, INT64_MAX);
        metric_add(METRIC_HTTP_REAPED, 1);
    }
}

static void *reaper_main(void *argument)
{
    struct reaper *reaper = argument;
    pthread_mutex_lock(&reaper->mutex);
    while (!reaper->stopping) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += SCAN_INTERVAL_NS;
        if (until.tv_nsec >= 1000000000L) {
            until.tv_nsec -= 1000000000L;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&reaper->wake, &reaper->mutex, &until);
        scan(reaper);
    }
    pthread_mutex_unlock(&reaper->mutex);
    return NULL;
}

struct reaper *reaper_start(void)
{
    struct reaper *reaper = xcalloc(1, sizeof(*reaper));
    pthread_mutex_init(&reaper->mutex, NULL);
    pthread_cond_init(&reaper->wake, NULL);
    if (pthread_create(&reaper->thread, NULL, reaper_main, reaper) == 0)
        return reaper;
    free(reaper);
    return NULL;
}

void reaper_stop(struct reaper *reaper)
{
    if (reaper == NULL)
        return;
    pthread_mutex_lock(&reaper->mutex);
    reaper->stopping = true;
    pthread_cond_signal(&reaper->wake);
    pthread_mutex_unlock(&reaper->mutex);
    pthread_join(reaper->thread, NULL);
    pthread_cond_destroy(&reaper->wake);
    pthread_mutex_destroy(&reaper->mutex);
    free(reaper);
}

struct watched *reaper_add(struct reaper *reaper, int fd, int64_t deadline_us)
{
    struct watched *watched = xcalloc(1, sizeof(*watched));
    watched->fd = fd;
    watched->deadline_us = deadline_us;
    pthread_mutex_lock(&reaper->mutex);
    watched->next = reaper->first;
    if (reaper->first != NULL)
        reaper->first->previous = watched;
    reaper->first = watched;
    pthread_mutex_unlock(&reaper->mutex);
    return watched;
}

void reaper_remove(struct reaper *reaper, struct watched *watched)
{
    if (watched == NULL)
        return;
    pthread_mutex_lock(&reaper->mutex);
    if (watched->previous != NULL)
        watched->previous->next = watched->next;
    else
        reaper->first = watched->next;
    if (watched->next != NULL)
        watched->next->previous = watched->previous;
    pthread_mutex_unlock(&reaper->mutex);
    free(watched);
}
