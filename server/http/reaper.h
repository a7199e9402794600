/* The reaper: shuts down sockets whose request isn't complete in time. The library's own timeout
 * only notices silence, so a client that drips a byte a second would stay for ever. */
#ifndef RACKRATE_HTTP_REAPER_H
#define RACKRATE_HTTP_REAPER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A connection under watch, one per open socket. */
struct watched {
    struct watched *previous, *next;
    int fd;
    _Atomic int64_t deadline_us; /* monotonic; INT64_MAX: not now (a worker has the request) */
};

struct reaper;

/* Starts the thread. NULL where it can't. */
struct reaper *reaper_start(void);
void reaper_stop(struct reaper *reaper);

/* Watches a socket from now on, with a first deadline. Any thread. */
struct watched *reaper_add(struct reaper *reaper, int fd, int64_t deadline_us);

/* Ends the watch; call before the socket is closed, so that no other socket with its number is ever
 * shut down. */
void reaper_remove(struct reaper *reaper, struct watched *watched);

/* Sets the moment by which something must have happened. */
static inline void watched_set_deadline(struct watched *watched, int64_t deadline_us)
{
    atomic_store_explicit(&watched->deadline_us, deadline_us, memory_order_relaxed);
}

#endif
