/* Inside of the book: one series. Only files of this room include it. */
#ifndef RACKRATE_MARKET_BOOK_SERIES_H
#define RACKRATE_MARKET_BOOK_SERIES_H

#include "server/market/book.h"

#include <stdatomic.h>

struct book_series {
    _Atomic size_t references;
    size_t count, capacity;
    struct book_point *points;                             /* by day */
    _Atomic(struct book_rows *) rows[BOOK_INTERVAL_COUNT]; /* made when first asked for */
};

struct book_series *book_series_reference(struct book_series *series); /* NULL of NULL */
void book_series_release(struct book_series *series);                  /* NULL is fine */
/* A copy that its maker may change until it is shared; of NULL an empty one. */
struct book_series *book_series_copy(const struct book_series *series);

bool book_series_has(const struct book_series *series, int32_t day);
void book_series_remove(struct book_series *series, int32_t day);
/* Puts a point in its place by day, instead of one that is there. */
void book_series_put(struct book_series *series, const struct book_point *point);

const struct book_rows *book_series_rows(struct book_series *series, enum book_interval interval);

#endif
