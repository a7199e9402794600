/* The book of fixings: series, revisions, what an older book keeps, weeks and months. */
#include "server/base/day.h"
#include "server/base/decimal.h"
#include "server/market/book.h"
#include "server/reference/gpu.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <string.h>

TestSuite(book, .timeout = 20);

static int32_t day(const char *text)
{
    int32_t result = -1;
    cr_assert(day_parse(text, &result));
    return result;
}

/* A point with these figures: 90, 95, 100, 105 and 110 per cent of the median. */
static struct book_point point(int32_t of, int32_t revision, int64_t median, uint32_t offers)
{
    return (struct book_point){
        .day = of,
        .revision = revision,
        .method_version = 1,
        .figures = {median / 100 * 90, median / 100 * 95, median, median / 100 * 105,
                    median / 100 * 110, offers, offers},
        .input_hash = {0xab, (uint8_t)of},
    };
}

static uint16_t gpu(void)
{
    return gpu_find("h100-sxm");
}

/* A book with one more day of one figure. */
static struct book *with_day(struct book *from, int64_t version, int32_t of, int32_t revision,
                             int64_t median, uint32_t offers)
{
    struct book_edit *edit = book_edit_new(from);
    struct book_point one = point(of, revision, median, offers);
    book_edit_day(edit, version, of, revision);
    if (offers > 0)
        book_edit_add(edit, gpu(), COMMITMENT_ON_DEMAND, CONTINENT_COUNT, &one);
    struct book *book = book_edit_finish(edit);
    book_release(from);
    return book;
}

Test(book, days_come_in_order_and_a_revision_takes_the_place)
{
    const struct book_point *points;
    struct book *book = book_new();
    cr_expect(book_version(book) == 0 && book_last_day(book) == INT32_MIN);
    cr_expect(book_points(book, gpu(), COMMITMENT_ON_DEMAND, CONTINENT_COUNT, &points) == 0);
    cr_expect_null(book_rows(book, gpu(), COMMITMENT_ON_DEMAND, CONTINENT_COUNT, BOOK_DAY));
    book = with_day(book, 1, day("2026-07-07"), 1, 3000000, 5);
    book = with_day(book, 2, day("2026-07-05"), 1, 1000000, 5);
    book = with_day(book, 3, day("2026-07-06"), 1, 2000000, 5);
    struct book *before = book_reference(book);
    book = with_day(book, 4, day("2026-07-06"), 2, 2500000, 5);
    cr_expect(book_version(book) == 4 && book_last_day(book) == day("2026-07-07"));
    cr_assert(book_points(book, gpu(), COMMITMENT_ON_DEMAND, CONTINENT_COUNT, &points) == 3);
    cr_expect(points[0].figures.median == 1000000 && points[1].figures.median == 2500000 &&
              points[1].revision == 2 && points[2].figures.median == 3000000);
    cr_assert(book_points(before, gpu(), COMMITMENT_ON_DEMAND, CONTINENT_COUNT, &points) == 3);
    cr_expect(points[1].figures.median == 2000000, "an older book stays as it was");
    book = with_day(book, 5, day("2026-07-07"), 2, 0, 0);
    cr_expect(book_points(book, gpu(), COMMITMENT_ON_DEMAND, CONTINENT_COUNT, &points) == 2,
              "a revision may say that nothing was on offer");
    cr_expect(book_points(book, gpu(), COMMITMENT_SPOT, CONTINENT_COUNT, &points) == 0);
    cr_expect(book_points(book, gpu(), COMMITMENT_ON_DEMAND, CONTINENT_EU, &points) == 0);
    book_release(before);
    book_release(book);
}

static json_t *rows_of(const struct book *book, enum book_interval interval)
{
    const struct book_rows *rows =
        book_rows(book, gpu(), COMMITMENT_ON_DEMAND, CONTINENT_COUNT, interval);
    cr_assert_not_null(rows);
    json_t *list = json_array();
    for (size_t i = 0; i < rows->count; i++) {
        json_t *row = json_loadb(rows->text + rows->offset[i],
                                 rows->offset[i + 1] - 1 - rows->offset[i], 0, NULL);
        char text[DAY_TEXT_SIZE];
        cr_assert_not_null(row, "row %zu", i);
        day_print(rows->first_day[i], text);
        cr_expect_str_eq(json_string_value(json_object_get(row, "date")), text);
        json_array_append_new(list, row);
    }
    return list;
}

static double number(const json_t *list, size_t at, const char *key)
{
    const json_t *row = json_array_get(list, at);
    const json_t *price = json_object_get(row, "price_per_gpu_hour");
    const json_t *value = json_object_get(price, key);
    return json_number_value(value != NULL ? value : json_object_get(row, key));
}

Test(book, weeks_and_months_are_made_of_days)
{
    struct book *book = book_new();
    /* Ten days from Saturday 2026-02-28 to Monday 2026-03-09; 2026-03-03 is missing. */
    static const int64_t medians[] = {2000000, 2100000, 2200000, 0,       2400000,
                                      2300000, 2500000, 2600000, 9000000, 2800000};
    for (int32_t i = 0; i < 10; i++) {
        if (medians[i] > 0)
            book = with_day(book, i + 1, day("2026-02-28") + i, 1, medians[i], (uint32_t)(5 + i));
    }
    json_t *days = rows_of(book, BOOK_DAY), *weeks = rows_of(book, BOOK_WEEK),
           *months = rows_of(book, BOOK_MONTH);
    cr_assert(json_array_size(days) == 9 && json_array_size(weeks) == 3 &&
              json_array_size(months) == 2);
    cr_expect_str_eq(json_string_value(json_object_get(json_array_get(days, 0), "date")),
                     "2026-03-09", "newest first");
    cr_expect(number(days, 0, "revision") == 1);
    cr_expect(strlen(json_string_value(json_object_get(json_array_get(days, 0), "input_hash"))) ==
              64);
    /* Monday 2 to Sunday 8 March: 2.2, -, 2.4, 2.3, 2.5, 2.6, 9.0. */
    cr_expect_str_eq(json_string_value(json_object_get(json_array_get(weeks, 1), "date")),
                     "2026-03-02");
    cr_expect(number(weeks, 1, "days") == 6);
    cr_expect(json_is_false(json_object_get(json_array_get(weeks, 1), "complete")));
    cr_expect(number(weeks, 1, "median") == 2.45, "%f", number(weeks, 1, "median"));
    cr_expect(number(weeks, 1, "min") == 1.98 && number(weeks, 1, "max") == 9.9);
    cr_expect(number(weeks, 1, "offers") == 10, "the lower middle of 7 9 10 11 12 13");
    cr_expect(json_is_null(json_object_get(json_array_get(weeks, 1), "revision")));
    cr_expect(number(months, 0, "days") == 8 && number(months, 1, "days") == 1);
    cr_expect_str_eq(json_string_value(json_object_get(json_array_get(months, 1), "date")),
                     "2026-02-01");
    cr_expect(number(months, 0, "median") == 2.45, "middle of 2.1 2.2 2.3 2.4 2.5 2.6 2.8 9");
    json_decref(days);
    json_decref(weeks);
    json_decref(months);
    book_release(book);
}

Test(book, a_whole_month_is_complete)
{
    struct book *book = book_new();
    for (int32_t i = 0; i < 29; i++)
        book = with_day(book, i + 1, day("2024-02-01") + i, 1, 2000000, 5);
    json_t *months = rows_of(book, BOOK_MONTH);
    cr_expect(number(months, 0, "days") == 29);
    cr_expect(json_is_true(json_object_get(json_array_get(months, 0), "complete")));
    json_decref(months);
    book_release(book);
}
