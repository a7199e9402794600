/* Ranking and choosing places, against the obvious ways to do it. */
#include "server/market/placement.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(placement, .timeout = 60);

static unsigned short seed[3];

static uint32_t below(uint32_t bound)
{
    return (uint32_t)(erand48(seed) * bound);
}

static size_t random_sites(struct placement_site *sites, size_t users)
{
    size_t count = below(9);
    for (size_t i = 0; i < count; i++) {
        sites[i] = (struct placement_site){.place = (uint16_t)i,
                                           .per_gpu_hour_microusd = 1000000 + below(4) * 500000};
        for (size_t user = 0; user < users; user++)
            sites[i].rtt_centi[user] = 500 + below(8) * 2500;
    }
    return count;
}

/* The lowest price of any set of at most `most` sites that serves everybody; INT64_MAX none. */
static int64_t cheapest(const struct placement_site *sites, size_t count, size_t users,
                        uint32_t max_centi, size_t most, size_t *ret_fewest)
{
    int64_t best = INT64_MAX;
    for (uint32_t set = 1; set < 1u << count; set++) {
        size_t size = (size_t)__builtin_popcount(set), served = 0;
        int64_t price = 0;
        for (size_t i = 0; i < count; i++)
            price += (set >> i & 1) != 0 ? sites[i].per_gpu_hour_microusd : 0;
        for (size_t user = 0; user < users; user++) {
            bool good = false;
            for (size_t i = 0; i < count; i++)
                good = good || ((set >> i & 1) != 0 && sites[i].rtt_centi[user] <= max_centi);
            served += good;
        }
        if (size > most || served < users)
            continue;
        if (price < best || (price == best && size < *ret_fewest))
            *ret_fewest = size;
        best = price < best ? price : best;
    }
    return best;
}

Test(placement, sets_are_the_cheapest_there_are)
{
    size_t found = 0, impossible = 0;
    memcpy(seed, (unsigned short[3]){7, 7, 7}, sizeof(seed));
    for (int round = 0; round < 3000; round++) {
        struct placement_site sites[8];
        int64_t weights[PLACEMENT_USERS_MAX];
        size_t users = 1 + below(5), count = random_sites(sites, users), fewest = 0,
               most = 1 + below(PLACEMENT_REGIONS_MAX);
        uint32_t max_centi = 500 + below(8) * 2500;
        for (size_t user = 0; user < users; user++)
            weights[user] = 1 + below(100);
        int64_t wanted = cheapest(sites, count, users, max_centi, most, &fewest);
        struct placement_set set = placement_choose(sites, count, weights, users, max_centi, most);
        if (wanted == INT64_MAX) {
            impossible++;
            cr_assert(set.count == 0, "round %d", round);
            continue;
        }
        found++;
        cr_assert(set.per_gpu_hour_microusd == wanted && set.count == fewest && set.count <= most,
                  "round %d: %lld %zu", round, (long long)set.per_gpu_hour_microusd, set.count);
        int64_t price = 0;
        for (size_t i = 0; i < set.count; i++)
            price += sites[set.sites[i]].per_gpu_hour_microusd;
        cr_assert(price == wanted);
        for (size_t user = 0; user < users; user++) {
            size_t serving = placement_serving(&set, sites, user);
            cr_assert(sites[set.sites[serving]].rtt_centi[user] <= max_centi);
            for (size_t i = 0; i < set.count; i++)
                cr_assert(sites[set.sites[serving]].rtt_centi[user] <=
                          sites[set.sites[i]].rtt_centi[user]);
        }
        cr_assert(set.worst_centi <= max_centi && set.weighted_centi <= set.worst_centi);
    }
    cr_expect(found > 500 && impossible > 500, "%zu %zu", found, impossible);
}

Test(placement, ranks_by_latency_and_price_as_weighed)
{
    const struct placement_site start[3] = {
        {.place = 1, .per_gpu_hour_microusd = 2000000, .rtt_centi = {1000, 30000}},
        {.place = 2, .per_gpu_hour_microusd = 4000000, .rtt_centi = {1000, 1000}},
        {.place = 3, .per_gpu_hour_microusd = 2000000, .rtt_centi = {30000, 1000}},
    };
    static const struct {
        int64_t weights[2];
        double share;
        uint16_t first, last;
    } cases[] = {
        {{50, 50}, 1, 2, 3},  /* latency alone; of the other two, alike, the first place first */
        {{90, 10}, 0, 1, 2},  /* price alone */
        {{99, 1}, 0.5, 1, 3}, /* nearly all users are near the first */
        {{1, 99}, 0.5, 3, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct placement_site sites[3];
        memcpy(sites, start, sizeof(sites));
        placement_rank(sites, 3, cases[i].weights, 2, cases[i].share);
        cr_expect(sites[0].place == cases[i].first && sites[2].place == cases[i].last,
                  "case %zu: %d %d %d", i, sites[0].place, sites[1].place, sites[2].place);
        cr_expect(sites[0].score >= 1 - 1e-9);
    }
    struct placement_site sites[3];
    memcpy(sites, start, sizeof(sites));
    placement_rank(sites, 3, cases[0].weights, 2, 1);
    cr_expect(sites[1].weighted_centi == 15500 && sites[1].worst_centi == 30000);
}

Test(placement, who_nobody_reaches_is_named)
{
    const struct placement_site sites[2] = {{.rtt_centi = {1000, 9000, 9000}},
                                            {.rtt_centi = {9000, 9000, 1000}}};
    cr_expect(placement_out_of_reach(sites, 2, 3, 2000) == 2);
    cr_expect(placement_out_of_reach(sites, 2, 3, 9000) == 0);
    cr_expect(placement_out_of_reach(sites, 0, 3, 9000) == 7);
}
