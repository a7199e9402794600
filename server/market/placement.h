/* Where to put a service: places ranked for users who are spread over the world, and the cheapest
 * few that keep everybody near enough. Pure; any thread. */
#ifndef RACKRATE_MARKET_PLACEMENT_H
#define RACKRATE_MARKET_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLACEMENT_USERS_MAX   20
#define PLACEMENT_REGIONS_MAX 4 /* of a set */

/* Where there is stock, at the cheapest price there. */
struct placement_site {
    uint16_t place;
    int64_t per_gpu_hour_microusd;
    uint32_t rtt_centi[PLACEMENT_USERS_MAX]; /* to each group of users, hundredths of a ms */
    /* Results of placement_rank. */
    uint32_t weighted_centi; /* mean over all users, rounded up */
    uint32_t worst_centi;
    double score; /* 1 is the best there could be; see placement_rank */
};

/* Orders sites by score, then price, then place:
 *   score = share x weighted latency / lowest weighted latency of any site
 *         + (1 - share) x price / lowest price of any site
 * `weights` say how many users of each group there are, in any unit (at least one above 0); share
 * is 0 (price alone) to 1 (latency alone). */
void placement_rank(struct placement_site *sites, size_t count, const int64_t *weights,
                    size_t users, double share);

struct placement_set {
    size_t sites[PLACEMENT_REGIONS_MAX];  /* indexes, ascending */
    size_t count;                         /* 0: no set of so few serves everybody */
    int64_t per_gpu_hour_microusd;        /* of all of them together */
    uint32_t weighted_centi, worst_centi; /* each group served by its nearest of the set */
};

/* The cheapest set of at most `most` sites (1 … PLACEMENT_REGIONS_MAX) of which one is within
 * max_centi of each group; each runs the whole service, so that prices add up. Of equally cheap
 * ones that with fewer sites, then with the lower weighted latency, then with the first sites.
 * Exact. */
struct placement_set placement_choose(const struct placement_site *sites, size_t count,
                                      const int64_t *weights, size_t users, uint32_t max_centi,
                                      size_t most);

/* Index in `set` of the site that serves a group: its nearest. */
size_t placement_serving(const struct placement_set *set, const struct placement_site *sites,
                         size_t user);

/* Groups that no site at all is near enough to, one bit each. */
uint32_t placement_out_of_reach(const struct placement_site *sites, size_t count, size_t users,
                                uint32_t max_centi);

#endif
