/* Verdicts: the bounds to the micro-dollar, the levels, what is printed. */
#include "server/base/decimal.h"
#include "server/market/verdict.h"

#include <criterion/criterion.h>

TestSuite(verdict, .timeout = 20);

static struct index_figures figures(uint32_t providers, int64_t median)
{
    return (struct index_figures){median, median, median, median, median, providers, providers};
}

static struct comparables choose(uint32_t nearest, uint32_t middle, uint32_t widest, size_t count)
{
    struct index_figures levels[3] = {figures(nearest, 1000000), figures(middle, 2000000),
                                      figures(widest, 3000000)};
    const struct index_figures *by_level[3] = {&levels[0], &levels[1], &levels[2]};
    return comparables_choose(by_level, count);
}

Test(verdict, the_nearest_level_with_five_providers_is_used)
{
    struct comparables comparables = choose(5, 9, 20, 3);
    cr_expect(comparables.level == COMPARABLES_CLUSTER_SIZE && comparables.providers == 5 &&
              comparables.median_microusd == 1000000);
    comparables = choose(4, 5, 20, 3);
    cr_expect(comparables.level == COMPARABLES_TERM && comparables.median_microusd == 2000000);
    comparables = choose(4, 4, 5, 3);
    cr_expect(comparables.level == COMPARABLES_BILLING && comparables.median_microusd == 3000000);
    comparables = choose(4, 4, 4, 3);
    cr_expect(comparables.median_microusd == UNKNOWN && comparables.providers == 4);
    cr_expect(price_verdict(&comparables, 1) == VERDICT_INSUFFICIENT_DATA);
    cr_expect(price_ratio_to_median(&comparables, 1) == UNKNOWN);
    comparables = choose(4, 4, 5, 2);
    cr_expect(comparables.level == COMPARABLES_TERM &&
                  price_verdict(&comparables, 3000000) == VERDICT_INSUFFICIENT_DATA,
              "without a term there is no third level");
}

Test(verdict, bounds_hold_to_the_micro_dollar)
{
    static const struct {
        int64_t median, microusd;
        enum price_verdict verdict;
    } cases[] = {
        {2500000, 1999999, VERDICT_BELOW_MARKET},
        {2500000, 2000000, VERDICT_TYPICAL},
        {2500000, 3125000, VERDICT_TYPICAL},
        {2500000, 3125001, VERDICT_ABOVE_MARKET},
        {3, 2, VERDICT_BELOW_MARKET}, /* 2 < 2.4 */
        {3, 3, VERDICT_TYPICAL},
        {3, 4, VERDICT_ABOVE_MARKET},            /* 4 > 3.75 */
        {1000001, 800000, VERDICT_BELOW_MARKET}, /* under 800000.8 */
        {1000001, 800001, VERDICT_TYPICAL},
        {1000001, 1250001, VERDICT_TYPICAL},
        {1000001, 1250002, VERDICT_ABOVE_MARKET}, /* over 1250001.25 */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct index_figures one = figures(5, cases[i].median);
        const struct index_figures *by_level[] = {&one};
        struct comparables comparables = comparables_choose(by_level, 1);
        cr_expect(price_verdict(&comparables, cases[i].microusd) == cases[i].verdict, "case %zu",
                  i);
    }
}

Test(verdict, ratio_and_names)
{
    struct index_figures one = figures(7, 1020000);
    const struct index_figures *by_level[] = {&one};
    struct comparables comparables = comparables_choose(by_level, 1);
    cr_expect(price_ratio_to_median(&comparables, 3500000) == 34314, "3.4314 times the median");
    cr_expect(price_ratio_to_median(&comparables, 1020000) == 10000);
    cr_expect_str_eq(price_verdict_name(VERDICT_INSUFFICIENT_DATA), "insufficient_data");
    cr_expect_str_eq(comparables_level_name(COMPARABLES_TERM), "term");
}
