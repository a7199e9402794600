/* Month by month in 128 bits; only what is printed is cut to 64. */
#include "server/market/reservation.h"

#include "server/base/decimal.h"
#include "server/market/price_path.h"
#include "server/market/rational.h"

#define PERCENT_MILLI INT64_C(100000)
#define MILLION       INT64_C(1000000)

const char *cheaper_name(enum cheaper cheaper)
{
    static const char *const names[] = {"reserved", "on_demand", "neither"};
    return names[cheaper];
}

static bool fits(__int128 value)
{
    return value <= INT64_MAX && value >= INT64_MIN;
}

bool reservation_sums(int64_t per_gpu_hour_microusd, int32_t term_months,
                      int32_t upfront_percent_milli, int64_t gpus, struct commitment_sums *ret)
{
    __int128 total = (__int128)per_gpu_hour_microusd * HOURS_PER_MONTH * term_months * gpus;
    *ret = (struct commitment_sums){.term_months = term_months};
    if (!fits(total))
        return false;
    ret->total_microusd = (int64_t)total;
    if (upfront_percent_milli > 0)
        ret->at_once_microusd = decimal_muldiv_half_even(ret->total_microusd, upfront_percent_milli,
                                                         PERCENT_MILLI, NULL);
    return true;
}

int64_t reservation_paid(const struct commitment_sums *sums, int32_t month)
{
    return sums->at_once_microusd +
           decimal_muldiv_half_even(sums->total_microusd - sums->at_once_microusd, month,
                                    sums->term_months, NULL);
}

int64_t reservation_hourly_rest(int64_t per_gpu_hour_microusd, int32_t upfront_percent_milli)
{
    if (upfront_percent_milli <= 0)
        return per_gpu_hour_microusd;
    return decimal_muldiv_half_even(per_gpu_hour_microusd, PERCENT_MILLI - upfront_percent_milli,
                                    PERCENT_MILLI, NULL);
}

int64_t discount_percent_micro(int64_t microusd, int64_t other_microusd)
{
    return decimal_muldiv_half_even(other_microusd - microusd, 100 * MILLION, other_microusd, NULL);
}

/* A month's use of all GPUs on demand. */
static __int128 month_on_demand(const struct reservation_input *input, int64_t price)
{
    return round_half_even((__int128)price * input->hours_per_month_milli * input->gpus, 1000);
}

static __int128 total_on_demand(const struct reservation_input *input, int32_t fall_percent_milli)
{
    struct price_path path = price_path_start(input->on_demand_microusd, fall_percent_milli);
    __int128 total = 0;
    for (int32_t month = 0; month < input->term_months; month++)
        total += month_on_demand(input, price_path_next(&path));
    return total;
}

/* Falls are tried in hundredths of a percent: the cost only goes down as the fall goes up. */
static int32_t break_even_fall(const struct reservation_input *input, int64_t commitment)
{
    int32_t low = 0, high = 10000; /* dearer than the commitment at low, not at high */
    if (total_on_demand(input, 0) <= commitment ||
        total_on_demand(input, FALL_PERCENT_MILLI_MAX) > commitment)
        return UNKNOWN;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (total_on_demand(input, middle * 10) > commitment)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Walks the months of the term: sums, and when what happens. */
static bool walk(const struct reservation_input *input, struct reservation_result *result)
{
    struct price_path path = price_path_start(input->on_demand_microusd, input->fall_percent_milli);
    __int128 spent = 0, hourly = 0, reserved_month;
    reserved_month = (__int128)input->reserved_microusd * HOURS_PER_MONTH * input->gpus;
    for (int32_t month = 1; month <= input->term_months; month++) {
        int64_t price = price_path_next(&path);
        __int128 use = month_on_demand(input, price);
        spent += use;
        hourly += price;
        if (result->break_even_month < 0 && spent >= result->sums.total_microusd)
            result->break_even_month = month;
        if (result->on_demand_cheaper_from_month < 0 && use < reserved_month)
            result->on_demand_cheaper_from_month = month;
    }
    if (!fits(spent))
        return false;
    result->on_demand_microusd = (int64_t)spent;
    __int128 reserved = (__int128)input->reserved_microusd * input->term_months;
    __int128 needed = hourly > 0 ? round_half_even(reserved * MILLION, hourly) : UNKNOWN;
    result->falling_utilization_micro = fits(needed) ? (int64_t)needed : UNKNOWN;
    return true;
}

bool reservation_compare(const struct reservation_input *input, struct reservation_result *ret)
{
    int64_t reserved = input->reserved_microusd, on_demand = input->on_demand_microusd;
    *ret = (struct reservation_result){.break_even_month = UNKNOWN,
                                       .on_demand_cheaper_from_month = UNKNOWN};
    if (!reservation_sums(reserved, input->term_months, input->upfront_percent_milli, input->gpus,
                          &ret->sums) ||
        !walk(input, ret))
        return false;
    int64_t commitment = ret->sums.total_microusd, spent = ret->on_demand_microusd;
    int64_t dearer = commitment > spent ? commitment : spent;
    ret->cheaper = commitment < spent   ? CHEAPER_RESERVED
                   : commitment > spent ? CHEAPER_ON_DEMAND
                                        : CHEAPER_NEITHER;
    ret->saving_microusd = dearer - (commitment < spent ? commitment : spent);
    ret->saving_percent_micro =
        decimal_muldiv_half_even(ret->saving_microusd, 100 * MILLION, dearer, NULL);
    ret->discount_percent_micro = discount_percent_micro(reserved, on_demand);
    ret->break_even_utilization_micro =
        decimal_muldiv_half_even(reserved, MILLION, on_demand, NULL);
    ret->break_even_hours_micro =
        decimal_muldiv_half_even(reserved, HOURS_PER_MONTH * MILLION, on_demand, NULL);
    ret->break_even_hours_of_term_micro = decimal_muldiv_half_even(
        reserved, HOURS_PER_MONTH * MILLION * input->term_months, on_demand, NULL);
    ret->break_even_fall_percent_centi = break_even_fall(input, commitment);
    return true;
}
