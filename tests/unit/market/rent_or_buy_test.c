/* Figures published in August 2024 for owning an H100, reproduced exactly and beside what was
 * printed then; and that the parts, the months and the sums agree on random machines. */
#include "server/base/decimal.h"
#include "server/market/rent_or_buy.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(rent_or_buy, .timeout = 60);

/* An 8-GPU HGX H100 at 280,000 USD (Dell), over four years, in colocation. */
static struct ownership_input hgx_h100(void)
{
    return (struct ownership_input){
        .machine_microusd = INT64_C(280000000000),
        .gpus_per_machine = 8,
        .gpus = 8,
        .years_milli = 4000,
        .sales_tax_percent_milli = 10000,
        .network_percent_milli = 20000,
        .spares_percent_milli = 3000,
        .power_kw_per_gpu_milli = 800,
        .hosting_per_kw_month_microusd = 200000000,
        .remote_hands_per_hour_microusd = 150000000,
        .remote_hands_hours_milli = 1000,
        .downtime_percent_milli = 4000,
        .electricity_per_kwh_microusd = 80600,
        .pue_milli = 1580,
        .site_per_kw_microusd = INT64_C(11700000000),
        .site_years_milli = 15000,
    };
}

/* Hundredths, as published. */
static int64_t cents(int64_t microusd)
{
    return decimal_muldiv_half_even(microusd, 1, 10000, NULL);
}

Test(rent_or_buy, published_parts_of_an_hgx_h100)
{
    struct ownership_input input = hgx_h100();
    struct ownership own;
    cr_assert(ownership_cost(&input, HOSTING_COLOCATION, &own));
    const int64_t *part = own.part_microusd;
    /* 280,000 / (8 x 4 x 8,760) = 0.998858…; published 1.00, about 1.10 with tax. */
    cr_expect(part[OWNERSHIP_MACHINE] == 998858);
    cr_expect(cents(part[OWNERSHIP_MACHINE]) == 100);
    cr_expect(part[OWNERSHIP_SALES_TAX] == 99886);
    cr_expect(cents(part[OWNERSHIP_MACHINE] + part[OWNERSHIP_SALES_TAX]) == 110);
    /* A fifth of the machine; published 0.20. */
    cr_expect(part[OWNERSHIP_NETWORK] == 199772);
    cr_expect(cents(part[OWNERSHIP_NETWORK]) == 20);
    /* 0.8 kW x 200 USD = 160 a month and GPU, 150 a quarter and machine: 0.2192 + 0.0086. */
    cr_expect(part[OWNERSHIP_HOSTING] == 219178);
    cr_expect(part[OWNERSHIP_REMOTE_HANDS] == 8562);
    cr_expect(cents(part[OWNERSHIP_HOSTING] + part[OWNERSHIP_REMOTE_HANDS]) == 23);
    /* 3 % of machine and network: 0.04; with the downtime spares don't cover published as 0.10. */
    cr_expect(part[OWNERSHIP_SPARES] == 35959);
    cr_expect(cents(part[OWNERSHIP_SPARES]) == 4);
    cr_expect(cents(part[OWNERSHIP_SPARES] + part[OWNERSHIP_DOWNTIME]) == 10);
    /* In all about 1.70, of which 0.07 is hosting rounded up. */
    cr_expect(own.total_microusd == 1627307, "%lld", (long long)own.total_microusd);
    cr_expect(llabs(own.total_microusd + 300000 - 227740 - 1700000) < 5000);
    cr_expect(own.machines == 1 && own.capital_microusd == INT64_C(374080000000));
}

Test(rent_or_buy, other_published_machines)
{
    /* Straight-line per GPU-hour over four years, in cents. */
    static const struct {
        int64_t usd, support_usd, cents;
    } machines[] = {
        {270000, 0, 96},       /* HGX H100, Supermicro */
        {360000, 100000, 164}, /* DGX H100, 460,000 with support */
        {300000, 0, 107},      /* HGX H100 in 2023, from; also a PCIe server */
        {380000, 0, 136},      /* to */
    };
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        struct ownership_input input = hgx_h100();
        struct ownership own;
        input.machine_microusd = machines[i].usd * 1000000;
        input.support_microusd = machines[i].support_usd * 1000000;
        cr_assert(ownership_cost(&input, HOSTING_COLOCATION, &own));
        cr_expect(cents(own.part_microusd[OWNERSHIP_MACHINE] +
                        own.part_microusd[OWNERSHIP_SUPPORT]) == machines[i].cents,
                  "machine %zu", i);
    }
}

Test(rent_or_buy, an_own_site)
{
    struct ownership_input input = hgx_h100();
    struct ownership own;
    cr_assert(ownership_cost(&input, HOSTING_OWN_SITE, &own));
    /* 0.8 kW x 1.58 x 0.0806 USD = 0.101878 for electricity, 0.8 x 11,700 / (15 x 8,760) = 0.071233
     * for the building. */
    cr_expect(own.part_microusd[OWNERSHIP_HOSTING] == 101878 + 71233);
    cr_expect(own.part_microusd[OWNERSHIP_REMOTE_HANDS] == 0);
}

Test(rent_or_buy, options)
{
    struct ownership_input input = hgx_h100();
    struct ownership own;
    input.people_per_month_microusd = INT64_C(20000000000);
    input.gpus = 1024;
    input.finance_percent_milli = 10000;
    input.residual_percent_milli = 25000;
    cr_assert(ownership_cost(&input, HOSTING_COLOCATION, &own));
    cr_expect(own.machines == 128);
    cr_expect(own.part_microusd[OWNERSHIP_PEOPLE] == 26755, "20,000 / (1,024 x 730)");
    cr_expect(own.part_microusd[OWNERSHIP_RESIDUAL] == -249715, "a quarter of the machine");
    /* 10 % a year of on average 49/96 of 1.3345 USD a GPU-hour of capital, four years. */
    cr_expect(llabs(own.part_microusd[OWNERSHIP_FINANCE] - 1334474 * 49 / 96 * 4 / 10) <= 2);
    /* One GPU of an eight-GPU machine pays for all eight. */
    input = hgx_h100();
    input.gpus = 1;
    cr_assert(ownership_cost(&input, HOSTING_COLOCATION, &own));
    cr_expect(own.part_microusd[OWNERSHIP_MACHINE] == 7990868, "280,000 / 35,040");
}

Test(rent_or_buy, the_month_in_which_buying_overtakes)
{
    struct ownership_input input = hgx_h100();
    struct renting_input renting = {
        .price_microusd = 2500000, .by_use = true, .utilization_micro = 1000000};
    struct rent_or_buy result;
    input.downtime_percent_milli = 0;
    cr_assert(rent_or_buy_compare(&input, HOSTING_COLOCATION, &renting, &result));
    /* 374,080 + 1,330 m < 14,600 m from month 29 on. */
    cr_expect(result.months == 48 && result.overtakes_month == 29, "%d", result.overtakes_month);
    cr_expect(result.buying_microusd == INT64_C(374080000000) + INT64_C(1330000000) * 48);
    cr_expect(result.renting_microusd == INT64_C(14600000000) * 48);
    cr_expect(result.point_count == 5 && result.points[1].month == 12);
    cr_expect(result.points[1].renting_microusd == INT64_C(14600000000) * 12);
    renting.utilization_micro = 250000;
    cr_assert(rent_or_buy_compare(&input, HOSTING_COLOCATION, &renting, &result));
    cr_expect(result.overtakes_month == UNKNOWN, "never, at a quarter of the hours");
    renting.by_use = false;
    cr_assert(rent_or_buy_compare(&input, HOSTING_COLOCATION, &renting, &result));
    cr_expect(result.overtakes_month == 29, "reserved is paid whether used or not");
    cr_expect(result.break_even_utilization_micro == 624886, "437,920 / 700,800");
}

static int32_t below(int32_t limit)
{
    return (int32_t)(random() % limit);
}

static struct ownership_input random_machine(void)
{
    return (struct ownership_input){
        .machine_microusd = (random() % 10000000) * INT64_C(1000000) + random() % 1000000,
        .support_microusd = (random() % 1000000) * INT64_C(1000000),
        .gpus_per_machine = 1 + below(72),
        .gpus = 1 + below(1000),
        .years_milli = 1 + below(OWNED_YEARS_MAX_MILLI),
        .sales_tax_percent_milli = below(100001),
        .network_percent_milli = below(100001),
        .spares_percent_milli = below(100001),
        .power_kw_per_gpu_milli = below(10001),
        .hosting_per_kw_month_microusd = random() % 1000000000,
        .remote_hands_per_hour_microusd = random() % 1000000000,
        .remote_hands_hours_milli = below(100000),
        .downtime_percent_milli = below(50001),
        .people_per_month_microusd = (random() % 10000000) * INT64_C(1000000),
        .finance_percent_milli = below(100001),
        .residual_percent_milli = below(100001),
        .electricity_per_kwh_microusd = random() % 1000000,
        .pue_milli = 1000 + below(2000),
        .site_per_kw_microusd = random() % INT64_C(100000000000),
        .site_years_milli = 1 + below(100000),
    };
}

Test(rent_or_buy, parts_make_the_total_and_months_make_the_life)
{
    srandom(31);
    for (int i = 0; i < 1000; i++) {
        struct ownership_input input = random_machine();
        for (int hosting = 0; hosting < HOSTING_COUNT; hosting++) {
            struct ownership own;
            cr_assert(ownership_cost(&input, (enum hosting)hosting, &own), "machine %d", i);
            int64_t sum = 0;
            for (int part = 0; part < OWNERSHIP_PART_COUNT; part++)
                sum += own.part_microusd[part];
            /* Eleven parts and the total are rounded once each. */
            cr_assert(llabs(sum - own.total_microusd) <= 6);
            struct renting_input renting = {.price_microusd = 1 + random() % 10000000,
                                            .by_use = random() % 2 == 0,
                                            .utilization_micro = below(1000001),
                                            .fall_percent_milli = below(100001)};
            struct rent_or_buy result;
            cr_assert(rent_or_buy_compare(&input, (enum hosting)hosting, &renting, &result),
                      "machine %d", i);
            int32_t last =
                result.point_count == 0 ? 0 : result.points[result.point_count - 1].month;
            cr_assert(last == result.months);
            /* Whole years: what a GPU-hour costs times the hours is what was spent. */
            if (input.years_milli % 1000 == 0) {
                __int128 hours = (__int128)input.gpus * 8760 * (input.years_milli / 1000);
                __int128 spent = own.total_microusd * hours;
                __int128 off = spent - result.buying_microusd;
                cr_assert((off < 0 ? -off : off) <= hours / 2 + 1, "machine %d", i);
            }
            if (result.overtakes_month > 1 && !renting.by_use)
                cr_assert(result.points[0].buying_microusd > 0);
        }
    }
}

Test(rent_or_buy, sums_that_do_not_fit_are_refused)
{
    struct ownership_input input = hgx_h100();
    struct ownership own;
    struct rent_or_buy result;
    struct renting_input renting = {.price_microusd = CALCULATOR_PRICE_MAX_MICROUSD,
                                    .utilization_micro = 1000000};
    input.machine_microusd = PRICE_MAX_MICROUSD;
    input.gpus = CALCULATOR_GPUS_MAX;
    input.gpus_per_machine = 1;
    cr_expect(!ownership_cost(&input, HOSTING_COLOCATION, &own));
    cr_expect(!rent_or_buy_compare(&input, HOSTING_COLOCATION, &renting, &result));
    input.machine_microusd = 0;
    cr_expect(!rent_or_buy_compare(&input, HOSTING_COLOCATION, &renting, &result),
              "renting does not fit");
}
