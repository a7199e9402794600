/* UTC days as a number of days after 1970-01-01, and their text 2026-07-05. Pure; any thread. */
#ifndef RACKRATE_BASE_DAY_H
#define RACKRATE_BASE_DAY_H

#include <stdbool.h>
#include <stdint.h>

#define DAY_US        INT64_C(86400000000)
#define DAY_TEXT_SIZE 12

/* The day a moment lies in. */
int32_t day_of_us(int64_t us);
/* Its first microsecond. */
static inline int64_t day_start_us(int32_t day)
{
    return day * DAY_US;
}

/* `2026-07-05` and back; false for what is no such date. Years 1970-9999. */
void day_print(int32_t day, char out[static DAY_TEXT_SIZE]);
bool day_parse(const char *text, int32_t *ret_day);

/* The Monday of its week, and the first of its month; and the first day after. */
int32_t day_week_start(int32_t day);
int32_t day_month_start(int32_t day);
int32_t day_month_end(int32_t day);

#endif
