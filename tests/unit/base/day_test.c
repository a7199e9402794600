/* Days: text, leap days, weeks from Monday, months. */
#include "server/base/day.h"

#include <criterion/criterion.h>

TestSuite(day, .timeout = 20);

static int32_t day(const char *text)
{
    int32_t result = -1;
    cr_assert(day_parse(text, &result), "%s", text);
    return result;
}

Test(day, text_and_number)
{
    char text[DAY_TEXT_SIZE];
    cr_expect(day("1970-01-01") == 0 && day("2000-01-01") == 10957 && day("2024-02-29") == 19782);
    for (int32_t i = 0; i < 40000; i += 13) {
        int32_t back;
        day_print(i, text);
        cr_assert(day_parse(text, &back) && back == i, "%s", text);
    }
    static const char *const bad[] = {"2026-02-29",           "2026-13-01", "2026-1-1",
                                      "2026-07-05T00:00:00Z", "20260705",   "",
                                      "2026-07-5x",           "1969-12-31"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int32_t result;
        cr_expect(!day_parse(bad[i], &result), "%s", bad[i]);
    }
}

Test(day, ends_at_midnight_to_the_microsecond)
{
    cr_expect(day_of_us(day_start_us(19782) - 1) == 19781);
    cr_expect(day_of_us(day_start_us(19782)) == 19782);
    cr_expect(day_of_us(-1) == -1 && day_of_us(-DAY_US) == -1);
}

Test(day, weeks_begin_on_monday_and_months_on_the_first)
{
    cr_expect(day_week_start(day("2026-11-30")) == day("2026-11-30"), "a Monday");
    cr_expect(day_week_start(day("2026-12-06")) == day("2026-11-30"), "the Sunday after");
    cr_expect(day_week_start(day("2024-03-03")) == day("2024-02-26"), "over a leap day");
    cr_expect(day_month_start(day("2024-02-29")) == day("2024-02-01"));
    cr_expect(day_month_end(day("2024-02-01")) == day("2024-03-01"));
    cr_expect(day_month_end(day("2023-02-28")) == day("2023-03-01"));
    cr_expect(day_month_end(day("2026-12-31")) == day("2027-01-01"));
}
