/* Civil dates are computed with the era arithmetic of the proleptic Gregorian calendar, so no time
 * zone of the machine, no locale and no libc table takes part. */
#include "server/base/timestamp.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define US_PER_SECOND   INT64_C(1000000)
#define SECONDS_PER_DAY INT64_C(86400)

static int64_t clock_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000;
}

int64_t timestamp_now_us(void)
{
    return clock_us(CLOCK_REALTIME);
}

int64_t monotonic_now_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

/* Days from 1970-01-01 to the given date; years count from March so that the leap day comes last.
 */
static int64_t days_from_civil(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = y / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static void civil_from_days(int64_t days, int *ret_year, int *ret_month, int *ret_day)
{
    int64_t shifted = days + 719468;
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t day_of_era = shifted - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;
    *ret_day = (int)(day_of_year - (153 * month_from_march + 2) / 5 + 1);
    *ret_month = (int)(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    *ret_year = (int)(year_of_era + era * 400 + (*ret_month <= 2));
}

/* Reads exactly `count` digits at *at and moves on; false where there are none. */
static bool read_digits(const char *text, size_t length, size_t *at, size_t count, int *ret)
{
    if (*at + count > length)
        return false;
    int value = 0;
    for (size_t i = 0; i < count; i++) {
        char c = text[*at + i];
        if (c < '0' || c > '9')
            return false;
        value = value * 10 + (c - '0');
    }
    *at += count;
    *ret = value;
    return true;
}

static bool read_byte(const char *text, size_t length, size_t *at, char wanted)
{
    if (*at >= length || text[*at] != wanted)
        return false;
    (*at)++;
    return true;
}

static bool read_fraction(const char *text, size_t length, size_t *at, int64_t *ret_us)
{
    *ret_us = 0;
    if (*at >= length || text[*at] != '.')
        return true;
    (*at)++;
    size_t digits = 0;
    int64_t scale = US_PER_SECOND / 10;
    while (*at < length && text[*at] >= '0' && text[*at] <= '9') {
        *ret_us += (text[*at] - '0') * scale;
        scale /= 10;
        digits++;
        (*at)++;
    }
    return digits > 0 && digits <= 9;
}

static bool read_offset(const char *text, size_t length, size_t *at, int64_t *ret_seconds)
{
    if (*at < length && (text[*at] == 'Z' || text[*at] == 'z')) {
        (*at)++;
        *ret_seconds = 0;
        return true;
    }
    if (*at >= length || (text[*at] != '+' && text[*at] != '-'))
        return false;
    int sign = text[(*at)++] == '-' ? -1 : 1;
    int hours, minutes;
    if (!read_digits(text, length, at, 2, &hours) || !read_byte(text, length, at, ':') ||
        !read_digits(text, length, at, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    *ret_seconds = (int64_t)sign * (hours * 3600 + minutes * 60);
    return true;
}

bool timestamp_parse(const char *text, size_t length, int64_t *ret_us)
{
    size_t at = 0;
    int year, month, day, hour, minute, second;
    int64_t fraction_us, offset_seconds;
    if (!read_digits(text, length, &at, 4, &year) || !read_byte(text, length, &at, '-') ||
        !read_digits(text, length, &at, 2, &month) || !read_byte(text, length, &at, '-') ||
        !read_digits(text, length, &at, 2, &day))
        return false;
    if (at >= length || (text[at] != 'T' && text[at] != 't' && text[at] != ' '))
        return false;
    at++;
    if (!read_digits(text, length, &at, 2, &hour) || !read_byte(text, length, &at, ':') ||
        !read_digits(text, length, &at, 2, &minute) || !read_byte(text, length, &at, ':') ||
        !read_digits(text, length, &at, 2, &second) ||
        !read_fraction(text, length, &at, &fraction_us) ||
        !read_offset(text, length, &at, &offset_seconds) || at != length)
        return false;
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month) ||
        hour > 23 || minute > 59 || second > 60)
        return false;
    if (second == 60) {
        second = 59;
        fraction_us = US_PER_SECOND - 1;
    }
    int64_t seconds =
        days_from_civil(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second;
    int64_t us = (seconds - offset_seconds) * US_PER_SECOND + fraction_us;
    if (us < 0)
        return false;
    *ret_us = us;
    return true;
}

size_t timestamp_print(int64_t us, char out[static TIMESTAMP_TEXT_SIZE])
{
    int64_t seconds = us / US_PER_SECOND;
    int64_t fraction = us % US_PER_SECOND;
    if (fraction < 0) {
        fraction += US_PER_SECOND;
        seconds--;
    }
    int64_t days = seconds / SECONDS_PER_DAY;
    int64_t rest = seconds % SECONDS_PER_DAY;
    if (rest < 0) {
        rest += SECONDS_PER_DAY;
        days--;
    }
    int year, month, day;
    civil_from_days(days, &year, &month, &day);
    int length = snprintf(out, TIMESTAMP_TEXT_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d", year, month,
                          day, (int)(rest / 3600), (int)(rest / 60 % 60), (int)(rest % 60));
    if (fraction != 0) {
        length +=
            snprintf(out + length, TIMESTAMP_TEXT_SIZE - (size_t)length, ".%06d", (int)fraction);
        while (out[length - 1] == '0')
            length--;
    }
    out[length++] = 'Z';
    out[length] = '\0';
    return (size_t)length;
}
