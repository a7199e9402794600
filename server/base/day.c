/* Dates go through the timestamps' own calendar. */
#include "server/base/day.h"

#include "server/base/timestamp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int32_t day_of_us(int64_t us)
{
    int64_t day = us / DAY_US;
    return (int32_t)(us % DAY_US < 0 ? day - 1 : day);
}

void day_print(int32_t day, char out[static DAY_TEXT_SIZE])
{
    char text[TIMESTAMP_TEXT_SIZE];
    timestamp_print(day_start_us(day), text);
    memcpy(out, text, 10);
    out[10] = '\0';
}

bool day_parse(const char *text, int32_t *ret_day)
{
    char whole[32];
    int64_t us;
    if (strlen(text) != 10)
        return false;
    snprintf(whole, sizeof(whole), "%sT00:00:00Z", text);
    if (!timestamp_parse(whole, strlen(whole), &us))
        return false;
    *ret_day = day_of_us(us);
    return true;
}

int32_t day_week_start(int32_t day)
{
    return day - (day % 7 + 10) % 7; /* 1970-01-01 was a Thursday */
}

int32_t day_month_start(int32_t day)
{
    char text[DAY_TEXT_SIZE];
    day_print(day, text);
    return day - (int32_t)strtol(text + 8, NULL, 10) + 1;
}

int32_t day_month_end(int32_t day)
{
    return day_month_start(day_month_start(day) + 31);
}
