/* One series and its text. Weeks and months are made of days: the lowest and highest vote of all,
 * the middle of the days' quartiles and medians, and of their counts (of an even number of days the
 * lower middle). */
#include "server/market/book_series.h"

#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/base/day.h"
#include "server/base/decimal.h"
#include "server/base/sort.h"

#include <stdlib.h>
#include <string.h>

#define PERIOD_DAYS_MAX 31

struct book_series *book_series_reference(struct book_series *series)
{
    if (series != NULL)
        atomic_fetch_add_explicit(&series->references, 1, memory_order_relaxed);
    return series;
}

static void rows_free(struct book_rows *rows)
{
    if (rows == NULL)
        return;
    free(rows->first_day);
    free(rows->offset);
    free(rows->text);
    free(rows);
}

void book_series_release(struct book_series *series)
{
    if (series == NULL ||
        atomic_fetch_sub_explicit(&series->references, 1, memory_order_acq_rel) != 1)
        return;
    for (int i = 0; i < BOOK_INTERVAL_COUNT; i++)
        rows_free(atomic_load_explicit(&series->rows[i], memory_order_acquire));
    free(series->points);
    free(series);
}

struct book_series *book_series_copy(const struct book_series *from)
{
    struct book_series *series = xcalloc(1, sizeof(*series));
    atomic_init(&series->references, 1);
    if (from == NULL || from->count == 0)
        return series;
    series->count = from->count;
    series->capacity = from->count + 1;
    series->points = xcalloc(series->capacity, sizeof(*series->points));
    memcpy(series->points, from->points, from->count * sizeof(*series->points));
    return series;
}

/* The first point not before a day. */
static size_t position_of(const struct book_series *series, int32_t day)
{
    size_t low = 0, high = series->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (series->points[middle].day < day)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool book_series_has(const struct book_series *series, int32_t day)
{
    size_t at = position_of(series, day);
    return at < series->count && series->points[at].day == day;
}

void book_series_remove(struct book_series *series, int32_t day)
{
    size_t at = position_of(series, day);
    if (at == series->count || series->points[at].day != day)
        return;
    series->count--;
    memmove(series->points + at, series->points + at + 1,
            (series->count - at) * sizeof(*series->points));
}

void book_series_put(struct book_series *series, const struct book_point *point)
{
    size_t at = position_of(series, point->day);
    if (at < series->count && series->points[at].day == point->day) {
        series->points[at] = *point;
        return;
    }
    if (series->count == series->capacity) {
        series->capacity = series->capacity * 2 + 8;
        series->points = xrealloc(series->points, series->capacity * sizeof(*series->points));
    }
    memmove(series->points + at + 1, series->points + at,
            (series->count - at) * sizeof(*series->points));
    series->points[at] = *point;
    series->count++;
}

/* ---- text ---- */

const char *book_interval_name(enum book_interval interval)
{
    static const char *const names[BOOK_INTERVAL_COUNT] = {"day", "week", "month"};
    return names[interval];
}

bool book_interval_parse(const char *text, enum book_interval *ret_interval)
{
    for (unsigned i = 0; i < BOOK_INTERVAL_COUNT; i++) {
        if (strcmp(book_interval_name((enum book_interval)i), text) == 0) {
            *ret_interval = (enum book_interval)i;
            return true;
        }
    }
    return false;
}

/* First day of the period that a day lies in, and the first day after it. */
static int32_t period_start(int32_t day, enum book_interval interval, int32_t *ret_end)
{
    switch (interval) {
    case BOOK_WEEK:
        *ret_end = day_week_start(day) + 7;
        return day_week_start(day);
    case BOOK_MONTH:
        *ret_end = day_month_end(day);
        return day_month_start(day);
    case BOOK_DAY:
    case BOOK_INTERVAL_COUNT:
        break;
    }
    *ret_end = day + 1;
    return day;
}

/* The median of one figure over days; a count's is one of the days' own. */
static int64_t middle_of(const struct book_point *points, size_t count,
                         int64_t (*figure)(const struct book_point *point), bool is_count)
{
    uint64_t values[PERIOD_DAYS_MAX], scratch[PERIOD_DAYS_MAX];
    for (size_t i = 0; i < count; i++)
        values[i] = (uint64_t)figure(&points[i]);
    sort_u64(values, scratch, count);
    return is_count ? (int64_t)values[(count - 1) / 2] : index_median(values, count);
}

#define FIGURE(name)                                                                               \
    static int64_t name##_of(const struct book_point *point)                                       \
    {                                                                                              \
        return point->figures.name;                                                                \
    }
FIGURE(p25)
FIGURE(median)
FIGURE(p75)
FIGURE(offers)
FIGURE(providers)
#undef FIGURE

static struct index_figures sum_up(const struct book_point *points, size_t count)
{
    struct index_figures figures = points[0].figures;
    if (count == 1)
        return figures;
    for (size_t i = 1; i < count; i++) {
        if (points[i].figures.min < figures.min)
            figures.min = points[i].figures.min;
        if (points[i].figures.max > figures.max)
            figures.max = points[i].figures.max;
    }
    figures.p25 = middle_of(points, count, p25_of, false);
    figures.median = middle_of(points, count, median_of, false);
    figures.p75 = middle_of(points, count, p75_of, false);
    figures.offers = (uint32_t)middle_of(points, count, offers_of, true);
    figures.providers = (uint32_t)middle_of(points, count, providers_of, true);
    return figures;
}

static void write_period(struct buf *out, const struct book_point *points, size_t count,
                         int32_t first_day, int32_t end_day, enum book_interval interval)
{
    char date[DAY_TEXT_SIZE], hash[BOOK_HASH_BYTES * 2 + 1];
    const struct index_figures figures = sum_up(points, count);
    day_print(first_day, date);
    crypt_hex(points[0].input_hash, BOOK_HASH_BYTES, hash);
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "date", date);
    buf_add_json_member_int(out, "days", (int64_t)count);
    buf_add_json_member_bool(out, "complete", (int32_t)count == end_day - first_day);
    index_figures_write(out, &figures);
    buf_add_json_member_int(out, "method_version", points[count - 1].method_version);
    buf_add_json_member_int(out, "revision", interval == BOOK_DAY ? points[0].revision : UNKNOWN);
    buf_add_json_member_string(out, "input_hash", interval == BOOK_DAY ? hash : NULL);
    buf_add_char(out, '}');
}

static struct book_rows *make_rows(const struct book_series *series, enum book_interval interval)
{
    struct book_rows *rows = xcalloc(1, sizeof(*rows));
    struct buf text = {0};
    size_t length;
    rows->first_day = xcalloc(series->count, sizeof(*rows->first_day));
    rows->offset = xcalloc(series->count + 1, sizeof(*rows->offset));
    for (size_t end = series->count, from; end > 0; end = from) {
        int32_t period_end;
        int32_t first = period_start(series->points[end - 1].day, interval, &period_end);
        from = end - 1;
        while (from > 0 && series->points[from - 1].day >= first)
            from--;
        if (rows->count > 0)
            buf_add_char(&text, ',');
        rows->offset[rows->count] = (uint32_t)text.length;
        rows->first_day[rows->count++] = first;
        write_period(&text, series->points + from, end - from, first, period_end, interval);
    }
    buf_add_char(&text, ','); /* so that all end alike */
    rows->offset[rows->count] = (uint32_t)text.length;
    rows->text = buf_detach(&text, &length);
    return rows;
}

const struct book_rows *book_series_rows(struct book_series *series, enum book_interval interval)
{
    struct book_rows *known = atomic_load_explicit(&series->rows[interval], memory_order_acquire);
    if (known != NULL)
        return known;
    struct book_rows *mine = make_rows(series, interval);
    if (atomic_compare_exchange_strong_explicit(&series->rows[interval], &known, mine,
                                                memory_order_acq_rel, memory_order_acquire))
        return mine;
    rows_free(mine); /* another reader was faster; both say the same */
    return known;
}
