/* Prices: exact derivation, thirds and sixths, what is due at once. */
#include "server/base/decimal.h"
#include "server/model/price.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(price, .timeout = 20);

Test(price, derives_the_other_figure_half_even)
{
    static const struct {
        enum price_unit unit;
        int64_t quoted;
        int32_t count_milli;
        int64_t per_gpu, per_node;
    } cases[] = {
        {PRICE_PER_GPU, 43058, 8000, 43058, 344464},
        {PRICE_PER_NODE, 19600000, 8000, 2450000, 19600000},
        {PRICE_PER_NODE, 1317000, 333, 3951000, 1317000}, /* a third of a GPU */
        {PRICE_PER_NODE, 1000000, 167, 6000000, 1000000}, /* a sixth */
        {PRICE_PER_NODE, 500000, 125, 4000000, 500000},
        {PRICE_PER_NODE, 1, 2000, 0, 1}, /* half a micro-dollar rounds to even: no price */
        {PRICE_PER_NODE, 3, 2000, 2, 3},
        {PRICE_PER_NODE, 10, 3000, 3, 10},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct price price = {.quoted_per = cases[i].unit, .quoted_microusd = cases[i].quoted};
        bool good = price_derive(&price, cases[i].count_milli);
        cr_expect(good == (cases[i].per_gpu > 0), "case %zu", i);
        cr_expect(price.per_gpu_hour_microusd == cases[i].per_gpu &&
                      price.per_node_hour_microusd == cases[i].per_node,
                  "case %zu: %lld, %lld", i, (long long)price.per_gpu_hour_microusd,
                  (long long)price.per_node_hour_microusd);
    }
    struct price huge = {.quoted_per = PRICE_PER_GPU, .quoted_microusd = INT64_MAX / 2};
    cr_expect(!price_derive(&huge, 8000), "too large is refused, not wrapped");
}

Test(price, identity_is_a_total_order)
{
    struct price prices[64];
    srand(4);
    for (int i = 0; i < 64; i++)
        prices[i] = (struct price){.billing = (enum billing)(rand() % 3),
                                   .term_months = rand() % 3,
                                   .min_gpus = rand() % 3 - 1,
                                   .upfront_percent_milli = rand() % 2,
                                   .plan = rand() % 2   ? NULL
                                           : rand() % 2 ? "a"
                                                        : "b"};
    for (int i = 0; i < 64; i++) {
        for (int k = 0; k < 64; k++) {
            int order = price_compare_identity(&prices[i], &prices[k]);
            cr_assert(order == -price_compare_identity(&prices[k], &prices[i]) ||
                      (order > 0) == (price_compare_identity(&prices[k], &prices[i]) < 0));
            for (int j = 0; j < 64; j++) {
                if (order <= 0 && price_compare_identity(&prices[k], &prices[j]) <= 0)
                    cr_assert(price_compare_identity(&prices[i], &prices[j]) <= 0);
            }
        }
    }
}

Test(price, what_is_due_at_once)
{
    struct price price = {.billing = BILLING_RESERVED,
                          .term_months = 12,
                          .per_gpu_hour_microusd = 2200000,
                          .upfront_percent_milli = 20000};
    cr_expect(price_upfront_per_gpu_microusd(&price) == 3854400000, "2.2 x 0.2 x 730 x 12 USD");
    price.upfront_percent_milli = UNKNOWN;
    cr_expect(price_upfront_per_gpu_microusd(&price) == 0);
    price.billing = BILLING_ON_DEMAND;
    price.upfront_percent_milli = 20000;
    cr_expect(price_upfront_per_gpu_microusd(&price) == 0);
}
