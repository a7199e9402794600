/* The shelf and the clock. */
#include "server/sync/fixing_shelf.h"

#include "server/base/log.h"
#include "server/base/metrics.h"
#include "server/base/timestamp.h"

#define INTERVAL_US (INT64_C(5) * 1000000)

void fixing_shelf_init(struct fixing_shelf *shelf)
{
    shelf->book = book_new();
    pthread_mutex_init(&shelf->mutex, NULL);
}

void fixing_shelf_free(struct fixing_shelf *shelf)
{
    book_release(shelf->book);
    pthread_mutex_destroy(&shelf->mutex);
}

struct book *fixing_shelf_take(struct fixing_shelf *shelf)
{
    pthread_mutex_lock(&shelf->mutex);
    struct book *book = book_reference(shelf->book);
    pthread_mutex_unlock(&shelf->mutex);
    return book;
}

bool fixing_shelf_catch_up(struct fixing_shelf *shelf, struct db_connection *connection,
                           int64_t version, bool anew)
{
    struct book *held = fixing_shelf_take(shelf);
    anew = anew || version < book_version(held);
    bool good = true;
    if (anew || version > book_version(held)) {
        struct book *book = fixing_load(connection, held, anew), *old = NULL;
        good = book != NULL;
        if (good) {
            pthread_mutex_lock(&shelf->mutex);
            old = shelf->book;
            shelf->book = book;
            pthread_mutex_unlock(&shelf->mutex);
            if (book_version(book) > 0)
                metric_set(METRIC_FIXINGS_LAST_DAY, book_last_day(book));
        }
        book_release(old);
    }
    book_release(held);
    return good;
}

void fixing_clock_tick(struct fixing_clock *clock, struct node *node,
                       struct db_connection *connection)
{
    int64_t now_us = monotonic_now_us();
    if (!clock->on || now_us < clock->next_us)
        return;
    switch (fixing_publish_next(node, connection, timestamp_now_us(), false, "server")) {
    case FIXING_PUBLISHED:
        return;
    case FIXING_FAILED:
        log_warning("the fixings of a day could not be published; it is tried again", NULL);
        break;
    case FIXING_NOTHING_DUE:
    case FIXING_BUSY:
        break;
    }
    clock->next_us = now_us + INTERVAL_US;
}
