/* Reserved against on demand: worked examples, and that no micro-dollar is lost on random ones. */
#include "server/base/decimal.h"
#include "server/market/price_path.h"
#include "server/market/reservation.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(reservation, .timeout = 60);

static int64_t random_below(int64_t limit)
{
    return (int64_t)((((uint64_t)random() << 31) | (uint64_t)random()) % (uint64_t)limit);
}

Test(reservation, h100_reserved_for_a_year_at_2_20_against_3_25)
{
    struct reservation_input input = {.reserved_microusd = 2200000,
                                      .on_demand_microusd = 3250000,
                                      .term_months = 12,
                                      .upfront_percent_milli = 20000,
                                      .hours_per_month_milli = 730000,
                                      .gpus = 1};
    struct reservation_result result;
    cr_assert(reservation_compare(&input, &result));
    cr_expect(result.sums.total_microusd == INT64_C(19272000000), "2.20 x 730 x 12 = 19,272 USD");
    cr_expect(result.sums.at_once_microusd == INT64_C(3854400000), "a fifth: 3,854.40 USD");
    cr_expect(result.on_demand_microusd == INT64_C(28470000000), "3.25 x 730 x 12 = 28,470 USD");
    cr_expect(result.cheaper == CHEAPER_RESERVED);
    cr_expect(result.saving_microusd == INT64_C(9198000000));
    cr_expect(result.break_even_utilization_micro == 676923, "2.20 / 3.25");
    cr_expect(result.break_even_hours_micro == 494153846, "of 730");
    cr_expect(result.discount_percent_micro == 32307692);
    cr_expect(result.break_even_month == 9, "12 x 0.677 = 8.1 months, so in the ninth");
    cr_expect(result.on_demand_cheaper_from_month == UNKNOWN);
    cr_expect(result.falling_utilization_micro == result.break_even_utilization_micro);

    /* Half of the hours: 14,235 USD on demand. */
    input.hours_per_month_milli = 365000;
    cr_assert(reservation_compare(&input, &result));
    cr_expect(result.cheaper == CHEAPER_ON_DEMAND &&
              result.saving_microusd == INT64_C(19272000000) - INT64_C(14235000000));
    cr_expect(result.break_even_month == UNKNOWN && result.on_demand_cheaper_from_month == 1);
    cr_expect(result.break_even_fall_percent_centi == UNKNOWN);
}

Test(reservation, a_fall_of_the_market_can_make_on_demand_cheaper)
{
    /* Three years at 2.20 while on demand goes 3.25, 2.60, 2.08, 1.664: 20 % a year. */
    struct reservation_input input = {.reserved_microusd = 2200000,
                                      .on_demand_microusd = 3250000,
                                      .term_months = 36,
                                      .hours_per_month_milli = 730000,
                                      .fall_percent_milli = 20000,
                                      .gpus = 8};
    struct reservation_result result;
    cr_assert(reservation_compare(&input, &result));
    /* The year's mean is its start less 11/24 of its fall: 2.952083 + 2.361667 + 1.889333. */
    int64_t by_hand = 0;
    struct price_path path = price_path_start(3250000, 20000);
    for (int month = 0; month < 36; month++)
        by_hand += price_path_next(&path) * 730 * 8;
    cr_expect(result.on_demand_microusd == by_hand);
    cr_expect(llabs(by_hand - INT64_C(7203083) * 12 * 730 * 8) < 1000000 * 8);
    cr_expect(result.cheaper == CHEAPER_RESERVED);
    /* In the second year 2.60 x (1 - 0.2 x 9 / 12) = 2.21 is above 2.20, a month later 2.1667 is
     * not. */
    cr_expect(result.on_demand_cheaper_from_month == 23, "%d", result.on_demand_cheaper_from_month);
    /* The fall found is the first hundredth of a percent that does it. */
    cr_assert(result.break_even_fall_percent_centi > 2000);
    input.fall_percent_milli = result.break_even_fall_percent_centi * 10;
    cr_assert(reservation_compare(&input, &result));
    cr_expect(result.cheaper != CHEAPER_RESERVED);
    input.fall_percent_milli -= 10;
    cr_assert(reservation_compare(&input, &result));
    cr_expect(result.cheaper == CHEAPER_RESERVED);
}

/* A100 on demand: 2.40 USD in 2020, 1.80 in 2023, 1.40 in 2024. */
Test(reservation, the_published_path_of_the_a100)
{
    cr_expect(discount_percent_micro(1800000, 2400000) == 25000000, "25 %% in three years");
    cr_expect(discount_percent_micro(1400000, 1800000) == 22222222, "22 %% in the next");
    struct price_path path = price_path_start(1800000, 22222);
    for (int month = 0; month < 12; month++)
        (void)price_path_next(&path);
    cr_expect(llabs(price_path_next(&path) - 1400000) <= 10);
}

Test(reservation, a_path_is_even_within_a_year_and_compounds_over_years)
{
    struct price_path path = price_path_start(1000000, 50000);
    int64_t last = INT64_MAX;
    for (int month = 0; month < 600; month++) {
        int64_t price = price_path_next(&path);
        if (month == 0)
            cr_expect(price == 1000000);
        if (month == 6)
            cr_expect(price == 750000);
        if (month == 12)
            cr_expect(price == 500000);
        if (month == 24)
            cr_expect(price == 250000);
        cr_assert(price <= last && price >= 0);
        last = price;
    }
    path = price_path_start(1234567, 0);
    for (int month = 0; month < 100; month++)
        cr_assert(price_path_next(&path) == 1234567);
}

Test(reservation, amortisation_times_term_is_the_total_to_the_micro_dollar)
{
    srandom(11);
    for (int i = 0; i < 20000; i++) {
        int64_t price = 1 + random_below(100000000), gpus = 1 + random_below(20000);
        int32_t term = (int32_t)(1 + random_below(600)), percent = (int32_t)random_below(100001);
        struct commitment_sums sums;
        cr_assert(reservation_sums(price, term, percent, gpus, &sums) ||
                  (__int128)price * 730 * term * gpus > INT64_MAX);
        if (sums.total_microusd == 0)
            continue;
        /* The effective price times the hours is the total, exactly. */
        cr_assert(sums.total_microusd / (730 * term * gpus) == price &&
                  sums.total_microusd % (730 * term * gpus) == 0);
        /* Due at once plus every month's part is the total, and no month is a dollar off. */
        int64_t paid = reservation_paid(&sums, 0);
        cr_assert(paid == sums.at_once_microusd);
        int64_t even = (sums.total_microusd - sums.at_once_microusd) / term, sum = paid;
        for (int32_t month = 1; month <= term; month++) {
            int64_t part = reservation_paid(&sums, month) - paid;
            cr_assert(part >= even - 1 && part <= even + 2);
            paid += part;
            sum += part;
        }
        cr_assert(sum == sums.total_microusd && paid == sums.total_microusd);
    }
}

Test(reservation, the_rest_of_the_price_and_what_is_due_at_once_are_the_whole)
{
    srandom(12);
    for (int i = 0; i < 20000; i++) {
        int64_t price = 1 + random_below(100000000);
        int32_t term = (int32_t)(1 + random_below(60)), percent = (int32_t)random_below(100001);
        struct commitment_sums sums;
        cr_assert(reservation_sums(price, term, percent, 1, &sums));
        int64_t rest = reservation_hourly_rest(price, percent);
        int64_t hours = 730 * (int64_t)term;
        /* Each figure is rounded once, by half a micro-dollar at most. */
        cr_assert(llabs(rest * hours + sums.at_once_microusd - sums.total_microusd) <=
                  hours / 2 + 1);
        struct price reserved = {.billing = BILLING_RESERVED,
                                 .term_months = term,
                                 .upfront_percent_milli = percent,
                                 .per_gpu_hour_microusd = price};
        cr_assert(price_upfront_per_gpu_microusd(&reserved) == sums.at_once_microusd);
    }
}

Test(reservation, the_saving_is_the_difference_and_sums_that_do_not_fit_are_refused)
{
    srandom(13);
    struct reservation_result result;
    for (int i = 0; i < 2000; i++) {
        struct reservation_input input = {.reserved_microusd = 1 + random_below(10000000),
                                          .on_demand_microusd = 1 + random_below(10000000),
                                          .term_months = (int32_t)(1 + random_below(60)),
                                          .upfront_percent_milli = (int32_t)random_below(100001),
                                          .hours_per_month_milli = (int32_t)random_below(744001),
                                          .fall_percent_milli = (int32_t)random_below(100001),
                                          .gpus = 1 + random_below(1000)};
        cr_assert(reservation_compare(&input, &result));
        int64_t difference = result.sums.total_microusd - result.on_demand_microusd;
        cr_assert(result.saving_microusd == llabs(difference));
        cr_assert(result.cheaper == (difference < 0   ? CHEAPER_RESERVED
                                     : difference > 0 ? CHEAPER_ON_DEMAND
                                                      : CHEAPER_NEITHER));
    }
    struct reservation_input largest = {.reserved_microusd = CALCULATOR_PRICE_MAX_MICROUSD,
                                        .on_demand_microusd = 1,
                                        .term_months = PRICE_TERM_MONTHS_MAX,
                                        .hours_per_month_milli = HOURS_PER_MONTH_MAX_MILLI,
                                        .gpus = CALCULATOR_GPUS_MAX};
    cr_expect(!reservation_compare(&largest, &result));
    largest.reserved_microusd = 1;
    largest.on_demand_microusd = CALCULATOR_PRICE_MAX_MICROUSD;
    cr_expect(!reservation_compare(&largest, &result));
}
