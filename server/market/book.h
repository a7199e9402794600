/* The book of fixings: what was published of each closed day, as series by GPU variant, commitment
 * and continent. A book is immutable; a newer one shares the series that did not change. Any thread
 * may read; references are counted. */
#ifndef RACKRATE_MARKET_BOOK_H
#define RACKRATE_MARKET_BOOK_H

#include "server/market/index.h"

#define BOOK_HASH_BYTES 32

/* One figure of one day. */
struct book_point {
    int32_t day; /* after 1970-01-01 */
    int32_t revision;
    int32_t method_version;
    struct index_figures figures;
    uint8_t input_hash[BOOK_HASH_BYTES];
};

struct book;
struct book *book_new(void); /* empty, of version 0 */
struct book *book_reference(struct book *book);
void book_release(struct book *book); /* NULL is fine */

/* Version of what was published last; 0 of an empty book. */
int64_t book_version(const struct book *book);
/* The last day published; INT32_MIN of an empty book. */
int32_t book_last_day(const struct book *book);

/* A book to be: starts as another one, which stays as it is. One thread. */
struct book_edit;
struct book_edit *book_edit_new(const struct book *from);
/* Begins a day: what an earlier revision of it said is forgotten. */
void book_edit_day(struct book_edit *edit, int64_t version, int32_t day, int32_t revision);
/* Adds a figure of the day begun last. */
void book_edit_add(struct book_edit *edit, uint16_t gpu, enum commitment commitment,
                   enum continent continent, const struct book_point *point);
/* The finished book; the edit is gone. Or throws it away. */
struct book *book_edit_finish(struct book_edit *edit);
void book_edit_abandon(struct book_edit *edit);

/* ---- reading ---- */

enum book_interval { BOOK_DAY, BOOK_WEEK, BOOK_MONTH, BOOK_INTERVAL_COUNT };
const char *book_interval_name(enum book_interval interval);
bool book_interval_parse(const char *text, enum book_interval *ret_interval);

/* The points of a series, oldest first; 0 where there are none. Live as long as the book. continent
 * CONTINENT_COUNT: all. */
size_t book_points(const struct book *book, uint16_t gpu, enum commitment commitment,
                   enum continent continent, const struct book_point **ret_points);

/* A series by days, weeks (from Monday) or months, as JSON objects, newest first, made when first
 * asked for. `text` holds them with commas between; object i begins at offset[i] and ends before
 * the comma at offset[i + 1] - 1. */
struct book_rows {
    size_t count;
    int32_t *first_day; /* of each period */
    uint32_t *offset;   /* count + 1 */
    char *text;
};
/* NULL where there is no such series. Lives as long as the book. */
const struct book_rows *book_rows(const struct book *book, uint16_t gpu, enum commitment commitment,
                                  enum continent continent, enum book_interval interval);

#endif
