/* Counts and price ranges of what a default search shows, by provider, GPU and place. Computed in
 * one pass for a whole moment by the first who asks; the loser of a race throws its own away. */
#include "server/base/decimal.h"
#include "server/catalog/rank.h"
#include "server/catalog/snapshot.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <stdlib.h>
#include <string.h>

/* What one provider has of one GPU, in order of GPU rank. */
struct pair {
    uint16_t gpu_rank;
    uint16_t slot;
    struct offer_summary summary;
};

struct summaries {
    struct offer_summary *providers; /* by slot */
    struct offer_summary *gpus;      /* by rank; a family sums its variants */
    struct offer_summary *places;    /* by rank; what lies in it included */
    struct pair *pairs;
    size_t pair_count;
    size_t pair_capacity;
};

/* What one pass needs. */
struct pass {
    const struct snapshot *snapshot;
    const struct moment *moment;
    struct summaries *result;
    struct offer_summary *of_gpu; /* by slot, of the GPU at hand */
    uint8_t *at_place;            /* providers at each place: place_count() x slot_count bytes */
};

static const struct offer_summary nothing = {0, 0, UNKNOWN, UNKNOWN};

static void add(struct offer_summary *sum, const struct offer_summary *more)
{
    if (more->offers == 0)
        return;
    if (sum->offers == 0 || more->min_per_gpu_hour_microusd < sum->min_per_gpu_hour_microusd)
        sum->min_per_gpu_hour_microusd = more->min_per_gpu_hour_microusd;
    if (sum->offers == 0 || more->max_per_gpu_hour_microusd > sum->max_per_gpu_hour_microusd)
        sum->max_per_gpu_hour_microusd = more->max_per_gpu_hour_microusd;
    sum->offers += more->offers;
}

static struct offer_summary *fill(size_t count)
{
    struct offer_summary *summaries = xcalloc(count, sizeof(*summaries));
    for (size_t i = 0; i < count; i++)
        summaries[i] = nothing;
    return summaries;
}

static bool is_shown(const struct pass *pass, size_t index, uint32_t row)
{
    const struct segment *segment = pass->snapshot->segments[index];
    if (!alive_has(pass->snapshot->alive[index], row))
        return false;
    uint16_t slot = segment->provider[row];
    if (pass->snapshot->slots[slot]->provider.suspended)
        return false;
    return !pass->moment->mixed || segment->is_sample[row] != 0 ||
           segment->own_us[row] >= pass->moment->cutoff_us[slot];
}

static void sum_gpu_in_segment(struct pass *pass, size_t index, uint16_t rank)
{
    const struct segment *segment = pass->snapshot->segments[index];
    for (uint32_t row = segment->gpu_start[rank]; row < segment->gpu_start[rank + 1]; row++) {
        if (!is_shown(pass, index, row))
            continue;
        struct offer_summary offer = {
            .offers = 1,
            .min_per_gpu_hour_microusd = segment->cheapest_microusd[row],
            .max_per_gpu_hour_microusd = segment->entry_microusd[segment->entry_start[row + 1] - 1],
        };
        uint16_t slot = segment->provider[row], place = segment->place_rank[row];
        add(&pass->of_gpu[slot], &offer);
        if (place != RANK_NONE) {
            add(&pass->result->places[place], &offer);
            pass->at_place[place * pass->snapshot->slot_count + slot] = 1;
        }
    }
}

static void sum_gpu(struct pass *pass, uint16_t rank)
{
    struct summaries *result = pass->result;
    for (size_t i = 0; i < pass->snapshot->segment_count; i++)
        sum_gpu_in_segment(pass, i, rank);
    for (size_t slot = 0; slot < pass->snapshot->slot_count; slot++) {
        struct offer_summary *sum = &pass->of_gpu[slot];
        if (sum->offers == 0)
            continue;
        sum->providers = 1;
        add(&result->gpus[rank], sum);
        result->gpus[rank].providers++;
        add(&result->providers[slot], sum);
        result->providers[slot].providers = 1;
        if (result->pair_count == result->pair_capacity) {
            result->pair_capacity = result->pair_capacity * 2 + 64;
            result->pairs = xrealloc(result->pairs, result->pair_capacity * sizeof(*result->pairs));
        }
        result->pairs[result->pair_count++] = (struct pair){rank, (uint16_t)slot, *sum};
        *sum = nothing;
    }
}

/* Whether rank `variant` counts in the summary of rank `gpu`. */
static bool counts_in(uint16_t gpu, uint16_t variant)
{
    const struct gpu *whole = gpu_at(gpu_of_rank(gpu)), *part = gpu_at(gpu_of_rank(variant));
    return gpu == variant || (whole->is_family && strcmp(whole->family, part->family) == 0);
}

/* Adds up by provider what counts in a GPU, into `sums` by slot. */
static void sum_by_provider(const struct summaries *summaries, uint16_t rank,
                            struct offer_summary *sums)
{
    for (size_t i = 0; i < summaries->pair_count; i++) {
        if (counts_in(rank, summaries->pairs[i].gpu_rank))
            add(&sums[summaries->pairs[i].slot], &summaries->pairs[i].summary);
    }
}

static void sum_families(struct pass *pass)
{
    struct summaries *result = pass->result;
    size_t slots = pass->snapshot->slot_count;
    struct offer_summary *sums = fill(slots);
    for (uint16_t rank = 0; rank < gpu_count(); rank++) {
        if (!gpu_at(gpu_of_rank(rank))->is_family)
            continue;
        sum_by_provider(result, rank, sums);
        result->gpus[rank] = nothing;
        for (size_t slot = 0; slot < slots; slot++) {
            if (sums[slot].offers == 0)
                continue;
            add(&result->gpus[rank], &sums[slot]);
            result->gpus[rank].providers++;
            sums[slot] = nothing;
        }
    }
    free(sums);
}

static void sum_places(struct pass *pass)
{
    size_t count = place_count(), slots = pass->snapshot->slot_count;
    struct offer_summary *own = pass->result->places, *all = fill(count);
    uint8_t *seen = xcalloc(slots + 1, 1);
    for (size_t outer = 0; outer < count; outer++) {
        const uint8_t *inside = places_inside((uint16_t)outer);
        bool any = false;
        for (size_t inner = 0; inner < count; inner++) {
            if (inside[inner] == 0 || own[inner].offers == 0)
                continue;
            any = true;
            add(&all[outer], &own[inner]);
            for (size_t slot = 0; slot < slots; slot++)
                seen[slot] |= pass->at_place[inner * slots + slot];
        }
        for (size_t slot = 0; slot < slots && any; slot++) {
            all[outer].providers += seen[slot];
            seen[slot] = 0;
        }
    }
    free(seen);
    free(own);
    pass->result->places = all;
}

static struct summaries *compute(const struct snapshot *snapshot, const struct moment *moment)
{
    struct summaries *result = xcalloc(1, sizeof(*result));
    struct pass pass = {
        .snapshot = snapshot,
        .moment = moment,
        .result = result,
        .of_gpu = fill(snapshot->slot_count + 1),
        .at_place = xcalloc((size_t)place_count() * snapshot->slot_count + 1, 1),
    };
    result->providers = fill(snapshot->slot_count + 1);
    result->gpus = fill(gpu_count());
    result->places = fill(place_count());
    for (uint16_t rank = 0; rank < gpu_count(); rank++)
        sum_gpu(&pass, rank);
    sum_families(&pass);
    sum_places(&pass);
    free(pass.of_gpu);
    free(pass.at_place);
    return result;
}

void summaries_free(struct summaries *summaries)
{
    if (summaries == NULL)
        return;
    free(summaries->providers);
    free(summaries->gpus);
    free(summaries->places);
    free(summaries->pairs);
    free(summaries);
}

static const struct summaries *summaries_of(struct snapshot *snapshot, int64_t now_us)
{
    /* Only this lazily filled member of a moment changes. */
    struct moment *moment = (struct moment *)(uintptr_t)snapshot_moment(snapshot, now_us);
    struct summaries *known = atomic_load_explicit(&moment->summaries, memory_order_acquire);
    if (known != NULL)
        return known;
    struct summaries *mine = compute(snapshot, moment);
    if (atomic_compare_exchange_strong_explicit(&moment->summaries, &known, mine,
                                                memory_order_acq_rel, memory_order_acquire))
        return mine;
    summaries_free(mine);
    return known;
}

struct offer_summary snapshot_provider_summary(struct snapshot *snapshot, size_t provider_index,
                                               int64_t now_us)
{
    return summaries_of(snapshot, now_us)->providers[snapshot->by_slug[provider_index]];
}

struct offer_summary snapshot_gpu_summary(struct snapshot *snapshot, uint16_t gpu_index,
                                          int64_t now_us)
{
    return summaries_of(snapshot, now_us)->gpus[gpu_rank(gpu_index)];
}

struct offer_summary snapshot_place_summary(struct snapshot *snapshot, uint16_t place_index,
                                            int64_t now_us)
{
    return summaries_of(snapshot, now_us)->places[place_rank(place_index)];
}

static int compare_gpu_providers(const void *a, const void *b)
{
    const struct gpu_provider *x = a, *y = b;
    int64_t m = x->summary.min_per_gpu_hour_microusd, n = y->summary.min_per_gpu_hour_microusd;
    if (m != n)
        return m < n ? -1 : 1;
    return x->provider_index < y->provider_index ? -1 : x->provider_index > y->provider_index;
}

size_t snapshot_gpu_providers(struct snapshot *snapshot, uint16_t gpu_index, int64_t now_us,
                              struct arena *arena, struct gpu_provider **ret)
{
    const struct summaries *summaries = summaries_of(snapshot, now_us);
    struct offer_summary *sums = fill(snapshot->slot_count + 1);
    struct gpu_provider *list = arena_calloc(arena, snapshot->provider_count, sizeof(*list));
    size_t count = 0;
    sum_by_provider(summaries, gpu_rank(gpu_index), sums);
    for (size_t i = 0; i < snapshot->provider_count; i++) {
        struct offer_summary sum = sums[snapshot->by_slug[i]];
        if (sum.offers == 0)
            continue;
        sum.providers = 1;
        list[count++] = (struct gpu_provider){i, sum};
    }
    free(sums);
    qsort(list, count, sizeof(*list), compare_gpu_providers);
    *ret = list;
    return count;
}
