/* Choosing is a weighted set cover of at most twenty groups by at most four sites: of the sites
 * that are near enough to the same groups only the cheapest can matter, which leaves few; then the
 * group with the fewest candidates is served first, and what costs more than the best so far is
 * given up. */
#include "server/market/placement.h"

#include <stdlib.h>
#include <string.h>

static uint32_t weighted(const int64_t *weights, const uint32_t *centi, size_t users)
{
    __int128 sum = 0;
    int64_t all = 0;
    for (size_t i = 0; i < users; i++) {
        sum += (__int128)weights[i] * centi[i];
        all += weights[i];
    }
    return all == 0 ? 0 : (uint32_t)((sum + all - 1) / all);
}

static uint32_t worst(const uint32_t *centi, size_t users)
{
    uint32_t most = 0;
    for (size_t i = 0; i < users; i++)
        most = centi[i] > most ? centi[i] : most;
    return most;
}

static int compare_sites(const void *a, const void *b)
{
    const struct placement_site *x = a, *y = b;
    if (x->score < y->score || x->score > y->score)
        return x->score < y->score ? -1 : 1;
    if (x->per_gpu_hour_microusd != y->per_gpu_hour_microusd)
        return x->per_gpu_hour_microusd < y->per_gpu_hour_microusd ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

void placement_rank(struct placement_site *sites, size_t count, const int64_t *weights,
                    size_t users, double share)
{
    uint32_t nearest = UINT32_MAX;
    int64_t cheapest = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        sites[i].weighted_centi = weighted(weights, sites[i].rtt_centi, users);
        sites[i].worst_centi = worst(sites[i].rtt_centi, users);
        if (sites[i].weighted_centi < nearest)
            nearest = sites[i].weighted_centi;
        if (sites[i].per_gpu_hour_microusd < cheapest)
            cheapest = sites[i].per_gpu_hour_microusd;
    }
    for (size_t i = 0; i < count; i++)
        sites[i].score = share * sites[i].weighted_centi / (nearest == 0 ? 1 : nearest) +
                         (1 - share) * (double)sites[i].per_gpu_hour_microusd / (double)cheapest;
    qsort(sites, count, sizeof(*sites), compare_sites);
}

/* A site that may be in the set. */
struct candidate {
    size_t site;
    uint32_t covers; /* groups it is near enough to */
};

struct choosing {
    const struct placement_site *sites;
    const int64_t *weights;
    size_t users, most, candidate_count;
    struct candidate *candidates;
    struct placement_set path, best;
};

static uint32_t covered(const struct placement_site *site, size_t users, uint32_t max_centi)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < users; i++)
        bits |= (uint32_t)(site->rtt_centi[i] <= max_centi) << i;
    return bits;
}

size_t placement_serving(const struct placement_set *set, const struct placement_site *sites,
                         size_t user)
{
    size_t serving = 0;
    for (size_t i = 1; i < set->count; i++) {
        if (sites[set->sites[i]].rtt_centi[user] < sites[set->sites[serving]].rtt_centi[user])
            serving = i;
    }
    return serving;
}

static int compare_indexes(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static bool is_better(const struct placement_set *a, const struct placement_set *b)
{
    if (b->count == 0)
        return true;
    if (a->per_gpu_hour_microusd != b->per_gpu_hour_microusd)
        return a->per_gpu_hour_microusd < b->per_gpu_hour_microusd;
    if (a->count != b->count)
        return a->count < b->count;
    if (a->weighted_centi != b->weighted_centi)
        return a->weighted_centi < b->weighted_centi;
    return memcmp(a->sites, b->sites, sizeof(a->sites)) < 0;
}

/* Everybody is served by what is on the path. */
static void finish(struct choosing *choosing)
{
    struct placement_set set = choosing->path;
    uint32_t centi[PLACEMENT_USERS_MAX];
    qsort(set.sites, set.count, sizeof(set.sites[0]), compare_indexes);
    for (size_t i = 0; i < choosing->users; i++)
        centi[i] =
            choosing->sites[set.sites[placement_serving(&set, choosing->sites, i)]].rtt_centi[i];
    set.weighted_centi = weighted(choosing->weights, centi, choosing->users);
    set.worst_centi = worst(centi, choosing->users);
    if (is_better(&set, &choosing->best))
        choosing->best = set;
}

static void extend(struct choosing *choosing, uint32_t missing)
{
    struct placement_set *path = &choosing->path;
    size_t fewest = SIZE_MAX, group = 0;
    if (missing == 0) {
        finish(choosing);
        return;
    }
    if (path->count == choosing->most)
        return;
    for (size_t user = 0; user < choosing->users; user++) {
        size_t count = 0;
        for (size_t i = 0; (missing >> user & 1) != 0 && i < choosing->candidate_count; i++)
            count += choosing->candidates[i].covers >> user & 1;
        if ((missing >> user & 1) != 0 && count < fewest) {
            fewest = count;
            group = user;
        }
    }
    for (size_t i = 0; i < choosing->candidate_count; i++) {
        const struct candidate *candidate = &choosing->candidates[i];
        int64_t price = choosing->sites[candidate->site].per_gpu_hour_microusd;
        if ((candidate->covers >> group & 1) == 0 ||
            (choosing->best.count > 0 &&
             path->per_gpu_hour_microusd + price > choosing->best.per_gpu_hour_microusd))
            continue;
        path->sites[path->count++] = candidate->site;
        path->per_gpu_hour_microusd += price;
        extend(choosing, missing & ~candidate->covers);
        path->per_gpu_hour_microusd -= price;
        path->sites[--path->count] = 0;
    }
}

/* Whether another site is as good in everything that decides, and better in something. */
static bool is_beaten(const struct placement_site *sites, size_t count, size_t users,
                      uint32_t max_centi, size_t index, uint32_t covers)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t other = covered(&sites[i], users, max_centi);
        if (i != index && (other & covers) == covers &&
            sites[i].per_gpu_hour_microusd < sites[index].per_gpu_hour_microusd)
            return true;
    }
    return false;
}

struct placement_set placement_choose(const struct placement_site *sites, size_t count,
                                      const int64_t *weights, size_t users, uint32_t max_centi,
                                      size_t most)
{
    struct choosing choosing = {
        .sites = sites,
        .weights = weights,
        .users = users,
        .most = most,
        .candidates = calloc(count + 1, sizeof(struct candidate)),
    };
    if (choosing.candidates == NULL)
        abort();
    for (size_t i = 0; i < count; i++) {
        uint32_t covers = covered(&sites[i], users, max_centi);
        if (covers != 0 && !is_beaten(sites, count, users, max_centi, i, covers))
            choosing.candidates[choosing.candidate_count++] = (struct candidate){i, covers};
    }
    extend(&choosing, (uint32_t)((UINT64_C(1) << users) - 1));
    free(choosing.candidates);
    return choosing.best;
}

uint32_t placement_out_of_reach(const struct placement_site *sites, size_t count, size_t users,
                                uint32_t max_centi)
{
    uint32_t reached = 0;
    for (size_t i = 0; i < count; i++)
        reached |= covered(&sites[i], users, max_centi);
    return ~reached & (uint32_t)((UINT64_C(1) << users) - 1);
}
