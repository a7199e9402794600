/* The index: buckets, quantiles, one vote a provider, resellers, outliers, doubts. */
#include "server/base/decimal.h"
#include "server/market/index.h"
#include "server/model/offer.h"
#include "server/reference/gpu.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(index, .timeout = 20);

/* Votes of providers 0, 1, 2, … that resell nobody, settled. */
static struct index_figures settle(struct index_vote *votes, const int64_t *prices, size_t count)
{
    static uint64_t scratch[3 * 64];
    for (size_t i = 0; i < count; i++)
        votes[i] = (struct index_vote){.microusd = prices[i],
                                       .offers = 2,
                                       .provider = (uint32_t)i,
                                       .origin = (uint32_t)i,
                                       .order = (uint32_t)i};
    return index_settle(votes, count, scratch);
}

Test(index, terms_and_cluster_sizes_fall_into_their_buckets)
{
    static const struct {
        int32_t months;
        const char *bucket;
    } terms[] = {{1, "1-2"},    {2, "1-2"},    {3, "3-5"},    {5, "3-5"},
                 {6, "6-11"},   {11, "6-11"},  {12, "12-23"}, {23, "12-23"},
                 {24, "24-35"}, {35, "24-35"}, {36, "36+"},   {600, "36+"}};
    for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
        enum commitment commitment = commitment_of(BILLING_RESERVED, terms[i].months);
        cr_expect_str_eq(commitment_term_name(commitment), terms[i].bucket, "%d months",
                         (int)terms[i].months);
        cr_expect(commitment_billing(commitment) == BILLING_RESERVED);
        cr_expect(commitment_months_from(commitment) <= terms[i].months);
    }
    cr_expect(commitment_of(BILLING_ON_DEMAND, 0) == COMMITMENT_ON_DEMAND);
    cr_expect(commitment_of(BILLING_SPOT, 0) == COMMITMENT_SPOT);
    cr_expect_str_eq(commitment_term_name(COMMITMENT_SPOT), "0");
    static const struct {
        int32_t gpu_count_milli, min_gpus;
        const char *bucket;
    } sizes[] = {{125, UNKNOWN, "1-8"}, {8000, UNKNOWN, "1-8"}, {8001, UNKNOWN, "9-63"},
                 {8000, 9, "9-63"},     {8000, 63, "9-63"},     {63999, UNKNOWN, "9-63"},
                 {8000, 64, "64-512"},  {8000, 512, "64-512"},  {8000, 513, "513+"},
                 {512000, 1, "64-512"}, {512001, 1, "513+"},    {1000, 2000000, "513+"},
                 {16000, 8, "9-63"} /* a whole node at least */};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        cr_expect_str_eq(
            cluster_size_name(cluster_size_of(sizes[i].gpu_count_milli, sizes[i].min_gpus)),
            sizes[i].bucket, "case %zu", i);
    for (unsigned i = 0; i < CONTINENT_UNKNOWN; i++)
        cr_expect(continent_of(continent_code((enum continent)i)) == i);
    cr_expect(continent_of(NULL) == CONTINENT_UNKNOWN && continent_of("XX") == CONTINENT_UNKNOWN);
    cr_expect_null(continent_code(CONTINENT_UNKNOWN));
}

Test(index, quantiles_lie_between_the_two_nearest_half_even)
{
    struct index_vote votes[8];
    struct index_figures one = settle(votes, (int64_t[]){2490000}, 1);
    cr_expect(one.min == 2490000 && one.p25 == 2490000 && one.median == 2490000 &&
              one.p75 == 2490000 && one.max == 2490000 && one.providers == 1 && one.offers == 2);
    struct index_figures four = settle(votes, (int64_t[]){4000000, 1000000, 3000000, 2000000}, 4);
    cr_expect(four.min == 1000000 && four.p25 == 1750000 && four.median == 2500000 &&
                  four.p75 == 3250000 && four.max == 4000000,
              "%lld %lld %lld", (long long)four.p25, (long long)four.median, (long long)four.p75);
    /* 2.000001 and 2.000002 meet at half a micro-dollar: to even. 2.000002 and 2.000003 likewise.
     */
    cr_expect(settle(votes, (int64_t[]){2000001, 2000002}, 2).median == 2000002);
    cr_expect(settle(votes, (int64_t[]){2000002, 2000003}, 2).median == 2000002);
    /* A quarter of one micro-dollar rounds down, three quarters up. */
    struct index_figures near = settle(votes, (int64_t[]){2000000, 2000001}, 2);
    cr_expect(near.p25 == 2000000 && near.p75 == 2000001);
    struct index_figures none = settle(votes, NULL, 0);
    cr_expect(none.median == UNKNOWN && none.min == UNKNOWN && none.providers == 0);
}

Test(index, a_price_far_from_all_others_falls)
{
    struct index_vote votes[8];
    const int64_t prices[] = {1000000, 1020000, 1050000, 1100000, 1000000, 3500000};
    struct index_figures figures = settle(votes, prices, 6);
    cr_expect(votes[5].reason == INDEX_OUTLIER);
    for (size_t i = 0; i < 5; i++)
        cr_expect(votes[i].reason == INDEX_INCLUDED, "vote %zu", i);
    cr_expect(figures.providers == 5 && figures.median == 1020000 && figures.max == 1100000 &&
              figures.offers == 10);
}

Test(index, nobody_falls_for_being_a_quarter_dearer_where_all_others_agree)
{
    struct index_vote votes[8];
    const int64_t prices[] = {2000000, 2000000, 2000000, 2000000, 2000000, 2500000};
    cr_expect(settle(votes, prices, 6).providers == 6, "25 %% above a market without spread");
    const int64_t far[] = {2000000, 2000000, 2000000, 2000000, 2000000, 2600000};
    cr_expect(settle(votes, far, 6).providers == 5, "30 %% above it");
    const int64_t few[] = {2000000, 2000000, 2000000, 9000000};
    cr_expect(settle(votes, few, 4).providers == 4, "of four nobody can tell which is off");
}

Test(index, machines_count_once_whoever_rents_them_out)
{
    uint64_t scratch[3 * 8];
    /* 0 owns; 1 and 2 resell its machines; 3 and 4 resell provider 9, which has none here. */
    struct index_vote votes[] = {
        {.microusd = 2000000, .offers = 1, .provider = 0, .origin = 0, .order = 4},
        {.microusd = 9000000, .offers = 1, .provider = 1, .origin = 0, .order = 0},
        {.microusd = 9100000, .offers = 1, .provider = 2, .origin = 0, .order = 1},
        {.microusd = 2200000, .offers = 1, .provider = 3, .origin = 9, .order = 3},
        {.microusd = 2300000, .offers = 1, .provider = 4, .origin = 9, .order = 2},
    };
    struct index_figures figures = index_settle(votes, 5, scratch);
    cr_expect(votes[0].reason == INDEX_INCLUDED);
    cr_expect(votes[1].reason == INDEX_RESOLD && votes[2].reason == INDEX_RESOLD);
    cr_expect(votes[3].reason == INDEX_RESOLD, "the one with the later slug");
    cr_expect(votes[4].reason == INDEX_INCLUDED);
    cr_expect(figures.providers == 2 && figures.median == 2150000);
}

Test(index, flags_keep_out_the_prices_they_doubt)
{
    cr_expect(index_doubtful_billings(0) == 0);
    cr_expect(index_doubtful_billings(OFFER_FLAG(PRICE_ROUNDED)) == 0);
    cr_expect(index_doubtful_billings(OFFER_FLAG(SPOT_NOT_CHEAPER)) == 1U << BILLING_SPOT);
    cr_expect(index_doubtful_billings(OFFER_FLAG(LONGER_TERM_DEARER)) == 1U << BILLING_RESERVED);
    static const uint32_t fatal[] = {
        OFFER_FLAG(PRICE_FAR_ABOVE_MEDIAN), OFFER_FLAG(PRICE_FAR_BELOW_MEDIAN),
        OFFER_FLAG(NODE_PRICE_LOOKS_PER_GPU), OFFER_FLAG(VRAM_FITS_NO_VARIANT)};
    for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
        cr_expect(index_doubtful_billings(fatal[i]) == 7, "flag %zu", i);
}

Test(index, what_leaves_the_variant_open_is_in_no_index)
{
    cr_expect(index_gpu_reason(gpu_find("h100-sxm")) == INDEX_INCLUDED);
    cr_expect(index_gpu_reason(gpu_find("h100")) == INDEX_UNDISCLOSED_FORM);
    cr_expect(index_gpu_reason(gpu_find("rtx-4060-ti")) == INDEX_UNDISCLOSED_VARIANT);
    cr_expect(index_gpu_reason(gpu_unrecognized()) == INDEX_UNRECOGNIZED);
    cr_expect_str_eq(index_reason_name(INDEX_UNDISCLOSED_FORM), "undisclosed_form_factor");
}

/* Against the definition, by brute force, on random votes. */
static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double quantile_of(const int64_t *sorted, size_t count, double q)
{
    double at = (double)(count - 1) * q;
    size_t low = (size_t)at, high = low + 1 < count ? low + 1 : low;
    return (double)sorted[low] + ((double)sorted[high] - (double)sorted[low]) * (at - (double)low);
}

Test(index, random_votes_agree_with_the_definition)
{
    srand(20261201);
    for (int round = 0; round < 2000; round++) {
        struct index_vote votes[64];
        int64_t prices[64], kept[64], deviations[64];
        size_t count = 1 + (size_t)rand() % 60, left = 0;
        for (size_t i = 0; i < count; i++)
            prices[i] = 1000000 + rand() % 3000000 + (rand() % 12 == 0 ? 20000000 : 0);
        struct index_figures figures = settle(votes, prices, count);
        qsort(prices, count, sizeof(*prices), compare);
        double median = quantile_of(prices, count, 0.5);
        for (size_t i = 0; i < count; i++)
            deviations[i] = (int64_t)((double)prices[i] > median ? (double)prices[i] - median
                                                                 : median - (double)prices[i]);
        qsort(deviations, count, sizeof(*deviations), compare);
        double spread = quantile_of(deviations, count, 0.5);
        spread = spread < median / 20 ? median / 20 : spread;
        for (size_t i = 0; i < count; i++) {
            double away = (double)prices[i] > median ? (double)prices[i] - median
                                                     : median - (double)prices[i];
            if (count < 5 || 0.6745 * away <= 3.5 * spread)
                kept[left++] = prices[i];
        }
        cr_assert(figures.providers == left, "round %d: %u of %zu", round, figures.providers, left);
        cr_expect(figures.min == kept[0] && figures.max == kept[left - 1]);
        double p25 = quantile_of(kept, left, 0.25) - (double)figures.p25,
               p50 = quantile_of(kept, left, 0.5) - (double)figures.median,
               p75 = quantile_of(kept, left, 0.75) - (double)figures.p75;
        cr_expect(p25 * p25 <= 0.25 && p50 * p50 <= 0.25 && p75 * p75 <= 0.25, "round %d", round);
    }
}
