/* Books share series; a series changes by being copied once an edit. */
#include "server/market/book.h"

#include "server/base/arena.h"
#include "server/market/book_series.h"
#include "server/reference/gpu.h"

#include <stdlib.h>
#include <string.h>

#define SERIES_PER_GPU (COMMITMENT_COUNT * (CONTINENT_COUNT + 1))

struct book {
    _Atomic size_t references;
    int64_t version;
    int32_t last_day;
    struct book_series *
        *series; /* by GPU, commitment, continent; NULL where nothing was published */
};

struct book_edit {
    struct book *book;
    bool *owned; /* series that only this edit has */
    int32_t day;
};

static size_t series_count(void)
{
    return (size_t)gpu_count() * SERIES_PER_GPU;
}

static size_t series_at(uint16_t gpu, enum commitment commitment, enum continent continent)
{
    return ((size_t)gpu * COMMITMENT_COUNT + commitment) * (CONTINENT_COUNT + 1) + continent;
}

struct book *book_new(void)
{
    struct book *book = xcalloc(1, sizeof(*book));
    atomic_init(&book->references, 1);
    book->last_day = INT32_MIN;
    book->series = xcalloc(series_count(), sizeof(struct book_series *));
    return book;
}

struct book *book_reference(struct book *book)
{
    atomic_fetch_add_explicit(&book->references, 1, memory_order_relaxed);
    return book;
}

void book_release(struct book *book)
{
    if (book == NULL || atomic_fetch_sub_explicit(&book->references, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < series_count(); i++)
        book_series_release(book->series[i]);
    free(book->series);
    free(book);
}

int64_t book_version(const struct book *book)
{
    return book->version;
}

int32_t book_last_day(const struct book *book)
{
    return book->last_day;
}

struct book_edit *book_edit_new(const struct book *from)
{
    struct book_edit *edit = xcalloc(1, sizeof(*edit));
    edit->book = book_new();
    edit->owned = xcalloc(series_count(), sizeof(*edit->owned));
    edit->book->version = from->version;
    edit->book->last_day = from->last_day;
    for (size_t i = 0; i < series_count(); i++)
        edit->book->series[i] = book_series_reference(from->series[i]);
    return edit;
}

/* The series, ready to be changed. */
static struct book_series *own(struct book_edit *edit, size_t at)
{
    if (!edit->owned[at]) {
        struct book_series *copy = book_series_copy(edit->book->series[at]);
        book_series_release(edit->book->series[at]);
        edit->book->series[at] = copy;
        edit->owned[at] = true;
    }
    return edit->book->series[at];
}

void book_edit_day(struct book_edit *edit, int64_t version, int32_t day, int32_t revision)
{
    edit->day = day;
    edit->book->version = version;
    if (day > edit->book->last_day)
        edit->book->last_day = day;
    for (size_t i = 0; i < series_count() && revision > 1; i++) {
        if (edit->book->series[i] != NULL && book_series_has(edit->book->series[i], day))
            book_series_remove(own(edit, i), day);
    }
}

void book_edit_add(struct book_edit *edit, uint16_t gpu, enum commitment commitment,
                   enum continent continent, const struct book_point *point)
{
    book_series_put(own(edit, series_at(gpu, commitment, continent)), point);
}

struct book *book_edit_finish(struct book_edit *edit)
{
    struct book *book = edit->book;
    free(edit->owned);
    free(edit);
    return book;
}

void book_edit_abandon(struct book_edit *edit)
{
    book_release(book_edit_finish(edit));
}

size_t book_points(const struct book *book, uint16_t gpu, enum commitment commitment,
                   enum continent continent, const struct book_point **ret_points)
{
    const struct book_series *series = book->series[series_at(gpu, commitment, continent)];
    *ret_points = series == NULL ? NULL : series->points;
    return series == NULL ? 0 : series->count;
}

const struct book_rows *book_rows(const struct book *book, uint16_t gpu, enum commitment commitment,
                                  enum continent continent, enum book_interval interval)
{
    struct book_series *series = book->series[series_at(gpu, commitment, continent)];
    return series == NULL || series->count == 0 ? NULL : book_series_rows(series, interval);
}
