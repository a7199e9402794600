/* A price that falls: what is expected of the market over the months of a term. The fall is told
 * per year; from one year to the next it compounds, within a year it goes evenly month by month,
 * and each month's price is a whole number of micro-dollars, half-even. Pure; any thread. */
#ifndef RACKRATE_MARKET_PRICE_PATH_H
#define RACKRATE_MARKET_PRICE_PATH_H

#include <stdint.h>

#define FALL_PERCENT_MILLI_MAX 100000

struct price_path {
    int64_t year_microusd;      /* at the start of the year at hand */
    int64_t next_year_microusd; /* at the start of the one after */
    int32_t fall_percent_milli;
    int32_t month; /* of the year, 0-11 */
};

/* A path that starts at `microusd` (>= 0) and falls by 0 to FALL_PERCENT_MILLI_MAX thousandths of a
 * percent a year. */
struct price_path price_path_start(int64_t microusd, int32_t fall_percent_milli);

/* The price of the month at hand; goes on to the next. */
int64_t price_path_next(struct price_path *path);

#endif
