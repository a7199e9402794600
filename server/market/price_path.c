/* The next year is known before this one is walked, so that a month is one interpolation. */
#include "server/market/price_path.h"

#include "server/base/decimal.h"

static int64_t a_year_later(int64_t microusd, int32_t fall_percent_milli)
{
    return decimal_muldiv_half_even(microusd, FALL_PERCENT_MILLI_MAX - fall_percent_milli,
                                    FALL_PERCENT_MILLI_MAX, NULL);
}

struct price_path price_path_start(int64_t microusd, int32_t fall_percent_milli)
{
    return (struct price_path){
        .year_microusd = microusd,
        .next_year_microusd = a_year_later(microusd, fall_percent_milli),
        .fall_percent_milli = fall_percent_milli,
    };
}

int64_t price_path_next(struct price_path *path)
{
    int64_t fall = path->year_microusd - path->next_year_microusd;
    int64_t price = path->year_microusd - decimal_muldiv_half_even(fall, path->month, 12, NULL);
    if (++path->month == 12) {
        path->month = 0;
        path->year_microusd = path->next_year_microusd;
        path->next_year_microusd = a_year_later(path->year_microusd, path->fall_percent_milli);
    }
    return price;
}
