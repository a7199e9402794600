/* Where a node keeps the book of fixings, and when it publishes. Inside of the sync room. */
#ifndef RACKRATE_SYNC_FIXING_SHELF_H
#define RACKRATE_SYNC_FIXING_SHELF_H

#include "server/market/book.h"
#include "server/sync/fixing.h"

#include <pthread.h>

struct fixing_shelf {
    struct book *book;
    pthread_mutex_t mutex; /* held to exchange the book or to reference it, nothing else */
};
void fixing_shelf_init(struct fixing_shelf *shelf); /* an empty book */
void fixing_shelf_free(struct fixing_shelf *shelf);

/* The book, reference taken. Any thread. */
struct book *fixing_shelf_take(struct fixing_shelf *shelf);

/* Fetches what was published up to `version` since; everything again where the database is another
 * one or an older state (`anew`, or the version went back). False where the database did not
 * answer. One thread at a time. */
bool fixing_shelf_catch_up(struct fixing_shelf *shelf, struct db_connection *connection,
                           int64_t version, bool anew);

/* When to look whether a day is due. */
struct fixing_clock {
    bool on;
    int64_t next_us; /* monotonic */
};
/* Publishes a day where one is due; now and then, and as long as days are due one a call, so that
 * versions are polled in between. */
void fixing_clock_tick(struct fixing_clock *clock, struct node *node,
                       struct db_connection *connection);

#endif
