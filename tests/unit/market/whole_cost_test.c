/* The whole cost of an order: whole nodes, terms, increments, and what is not known. */
#include "server/base/decimal.h"
#include "server/market/tier.h"
#include "server/market/whole_cost.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(whole_cost, .timeout = 60);

static const struct extra_costs unknown_costs = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN};

static struct price make_price(enum billing billing, enum price_unit unit, int64_t quoted,
                               int32_t term, int32_t count_milli)
{
    struct price price = {.billing = billing,
                          .quoted_per = unit,
                          .quoted_microusd = quoted,
                          .term_months = term,
                          .min_gpus = UNKNOWN,
                          .max_gpus = UNKNOWN,
                          .upfront_percent_milli = UNKNOWN};
    cr_assert(price_derive(&price, count_milli));
    return price;
}

static struct whole_cost_input order(int64_t gpus, int32_t months, int32_t hours_milli)
{
    return (struct whole_cost_input){.gpu_count_milli = 8000,
                                     .extra_costs = unknown_costs,
                                     .gpus = gpus,
                                     .months = months,
                                     .hours_per_month_milli = hours_milli,
                                     .runs_per_month = 1};
}

Test(whole_cost, whole_nodes_are_paid)
{
    struct price price = make_price(BILLING_ON_DEMAND, PRICE_PER_GPU, 3250000, 0, 8000);
    struct whole_cost_input input = order(12, 1, 100000);
    struct whole_cost cost;
    cr_assert(whole_cost_compute(&input, &price, &cost));
    cr_expect(cost.nodes == 2 && cost.terms == 0);
    cr_expect(cost.compute_microusd == INT64_C(3250000) * 16 * 100, "16 GPUs for 12 wanted");
    cr_expect(cost.billed_hours_milli == 100000 && cost.at_once_microusd == 0);
    cr_expect(cost.increments_microusd == UNKNOWN && cost.egress_microusd == UNKNOWN &&
              cost.storage_microusd == UNKNOWN);
    cr_expect(cost.total_microusd == cost.compute_microusd);
    cr_expect(cost.per_used_gpu_hour_microusd == 4333333, "5,200 USD / 1,200 hours");
}

Test(whole_cost, a_reservation_is_paid_for_all_hours_of_whole_terms)
{
    struct price price = make_price(BILLING_RESERVED, PRICE_PER_GPU, 2200000, 12, 8000);
    price.upfront_percent_milli = 20000;
    struct whole_cost_input input = order(8, 18, 10000);
    struct whole_cost cost;
    cr_assert(whole_cost_compute(&input, &price, &cost));
    cr_expect(cost.terms == 2, "18 months are two terms of 12");
    cr_expect(cost.compute_microusd == INT64_C(2200000) * 8 * 730 * 24);
    cr_expect(cost.at_once_microusd == INT64_C(2200000) * 8 * 730 * 12 / 5);
    cr_expect(cost.increments_microusd == 0);
}

Test(whole_cost, runs_are_billed_by_the_increment_and_for_a_minimum)
{
    static const struct {
        int32_t hours_milli, runs, increment, minimum;
        int64_t billed_milli;
    } cases[] = {
        {10000, 1, 3600, UNKNOWN, 10000}, {10001, 1, 3600, UNKNOWN, 11000},
        {1000, 30, 3600, UNKNOWN, 30000}, /* two minutes thirty times */
        {1000, 30, 60, UNKNOWN, 1000},    {1000, 30, UNKNOWN, 600, 5000},
        {1000, 30, 60, 600, 5000},        {1000, 3, 3600, 7200, 6000},
        {0, 30, 3600, 7200, 0},           {1000, 7, 1, UNKNOWN, 1001}, /* 514.29 -> 515 s */
        {744000, 1, 1, 60, 744000},
    };
    struct price price = make_price(BILLING_SPOT, PRICE_PER_NODE, 1000000, 0, 8000);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct whole_cost_input input = order(8, 1, cases[i].hours_milli);
        struct whole_cost cost;
        input.runs_per_month = cases[i].runs;
        input.extra_costs.billing_increment_seconds = cases[i].increment;
        input.extra_costs.minimum_duration_seconds = cases[i].minimum;
        cr_assert(whole_cost_compute(&input, &price, &cost));
        cr_expect(cost.billed_hours_milli == cases[i].billed_milli, "case %zu: %lld", i,
                  (long long)cost.billed_hours_milli);
        int64_t used = cases[i].hours_milli * INT64_C(1000);
        cr_expect(cost.compute_microusd - cost.increments_microusd == used, "case %zu", i);
    }
}

Test(whole_cost, egress_and_storage_by_quantity)
{
    struct price price = make_price(BILLING_ON_DEMAND, PRICE_PER_GPU, 1000000, 0, 8000);
    struct whole_cost_input input = order(8, 3, 10000);
    struct whole_cost cost;
    input.extra_costs.egress_per_gb_microusd = 10000;
    input.egress_gb_milli = 1500500;
    input.storage_gb_milli = 2000;
    cr_assert(whole_cost_compute(&input, &price, &cost));
    cr_expect(cost.egress_microusd == 45015000, "0.01 x 1500.5 x 3");
    cr_expect(cost.storage_microusd == UNKNOWN, "wanted, but nobody says what it costs");
    cr_expect(cost.total_microusd == cost.compute_microusd + cost.egress_microusd);
    input.extra_costs.storage_per_gb_month_microusd = 0;
    cr_assert(whole_cost_compute(&input, &price, &cost));
    cr_expect(cost.storage_microusd == 0, "0 is a price");
}

Test(whole_cost, thirds_of_a_gpu_lose_nothing)
{
    /* A node of a third of a GPU at 1.317 USD: three nodes are one GPU. */
    struct price price = make_price(BILLING_ON_DEMAND, PRICE_PER_NODE, 1317000, 0, 333);
    struct whole_cost_input input = order(1, 1, 1000);
    struct whole_cost cost;
    input.gpu_count_milli = 333;
    cr_assert(whole_cost_compute(&input, &price, &cost));
    cr_expect(cost.nodes == 3 && cost.compute_microusd == 3951000);
    cr_expect(nodes_for(1, 125) == 8 && nodes_for(3, 667) == 5 && nodes_for(8, 8000) == 1);
    cr_expect(nodes_for(9, 8000) == 2 && nodes_for(1, 167) == 6);
}

Test(whole_cost, compute_is_the_sum_of_its_months)
{
    srandom(21);
    for (int i = 0; i < 5000; i++) {
        struct price price = make_price(random() % 2 ? BILLING_ON_DEMAND : BILLING_SPOT,
                                        random() % 2 ? PRICE_PER_GPU : PRICE_PER_NODE,
                                        8 + random() % 90000000, 0, 8000);
        struct whole_cost_input input =
            order(1 + random() % 1000, (int32_t)(1 + random() % 120), (int32_t)(random() % 744001));
        struct whole_cost whole, month;
        int32_t months = input.months;
        cr_assert(whole_cost_compute(&input, &price, &whole));
        input.months = 1;
        cr_assert(whole_cost_compute(&input, &price, &month));
        cr_assert(llabs(whole.compute_microusd - month.compute_microusd * months) <=
                  months / 2 + 1);
        /* In whole hours there is nothing to round. */
        input.hours_per_month_milli -= input.hours_per_month_milli % 1000;
        cr_assert(whole_cost_compute(&input, &price, &month));
        input.months = months;
        cr_assert(whole_cost_compute(&input, &price, &whole));
        cr_assert(whole.compute_microusd == month.compute_microusd * months);
    }
}

Test(whole_cost, tiers)
{
    struct price prices[] = {
        make_price(BILLING_ON_DEMAND, PRICE_PER_GPU, 3000000, 0, 8000),
        make_price(BILLING_ON_DEMAND, PRICE_PER_GPU, 2500000, 0, 8000),
        make_price(BILLING_RESERVED, PRICE_PER_GPU, 2000000, 12, 8000),
    };
    prices[0].max_gpus = 63;
    prices[1].min_gpus = 64;
    cr_expect(price_cheapest(prices, 3, BILLING_ON_DEMAND, 8) == &prices[0]);
    cr_expect(price_cheapest(prices, 3, BILLING_ON_DEMAND, 63) == &prices[0]);
    cr_expect(price_cheapest(prices, 3, BILLING_ON_DEMAND, 64) == &prices[1]);
    cr_expect_null(price_cheapest(prices, 3, BILLING_SPOT, 8));
    cr_expect(price_smallest_order(&prices[0], 8000) == 8);
    cr_expect(price_smallest_order(&prices[1], 8000) == 64);
    cr_expect(price_smallest_order(&prices[0], 125) == 1);
}

Test(whole_cost, sums_that_do_not_fit_are_refused)
{
    struct price price = make_price(BILLING_ON_DEMAND, PRICE_PER_GPU, 1000000000000, 0, 8000);
    struct whole_cost_input input = order(1000000, 600, 744000);
    struct whole_cost cost;
    cr_expect(!whole_cost_compute(&input, &price, &cost));
}
