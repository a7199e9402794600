/* Search alone, inside the process: time of parsing, searching and writing a page of 50, by size of
 * the market, as ratios to copying the same answer's bytes; and what one provider's change of 100
 * offers costs at each size. No network, no database. Usage: search_bench [OFFERS …], by default
 * 10000 100000. */
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/catalog/query.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OFFERS_A_PROVIDER 1000
#define ROUNDS            2000
#define PATIENCE_US       2000000 /* a slow scenario runs fewer rounds */
#define CHANGES           200

static const char *const gpus[] = {"h100-sxm",       "h100-pcie", "h200-sxm", "a100-sxm-80gb",
                                   "a100-pcie-40gb", "l40s",      "rtx-4090", "l4",
                                   "mi300x",         "a10",       "t4",       "b200"};
#define GPUS (sizeof(gpus) / sizeof(gpus[0]))

static uint64_t state = 88172645463325252u;

static uint32_t below(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % limit;
}

static void make_prices(struct arena *arena, struct offer *offer)
{
    size_t count = 1 + below(2) * 2;
    struct price *prices = arena_calloc(arena, count, sizeof(*prices));
    for (size_t i = 0; i < count; i++) {
        prices[i] = (struct price){.billing = (enum billing)i,
                                   .term_months = i == BILLING_RESERVED ? 12 : 0,
                                   .min_gpus = UNKNOWN,
                                   .max_gpus = UNKNOWN,
                                   .upfront_percent_milli = UNKNOWN,
                                   .quoted_microusd = 200000 + below(8800000)};
        if (!price_derive(&prices[i], offer->gpu_count_milli))
            abort();
    }
    offer->prices = prices;
    offer->price_count = count;
}

static struct offer make_offer(struct arena *arena, size_t number)
{
    static const int32_t counts[] = {1000, 2000, 4000, 8000};
    uint16_t place = (uint16_t)below(place_count());
    struct offer offer = {
        .external_id = arena_printf(arena, "offer-%zu", number),
        .gpu_raw = gpus[below(GPUS)],
        .gpu_count_milli = counts[below(4)],
        .vram_gb_given_milli = UNKNOWN,
        .vcpus_milli = 192000,
        .memory_gib_milli = 2048000,
        .storage_gb_milli = 40000000,
        .interconnect = INTERCONNECT_NVLINK,
        .fabric = (enum fabric)below(FABRIC_COUNT),
        .fabric_gbps_milli = 3200000,
        .region_raw = place_at(place)->slug,
        .zone = "zone-a",
        .availability = {AVAILABILITY_AVAILABLE, 64, 0, NULL, 0},
        .extra_costs = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN},
        .order_url = "https://example.com/order/it/here",
        .source_url = "https://example.com/prices",
        .observed_at_us = TIMESTAMP_UNKNOWN,
        .place = place,
        .version = 1,
        .updated_at_us = timestamp_now_us() - below(1000000),
    };
    offer.gpu = gpu_find(offer.gpu_raw);
    offer.vram_gb_milli = gpu_at(offer.gpu)->vram_gb_milli;
    make_prices(arena, &offer);
    return offer;
}

static struct provider make_provider(struct arena *arena, size_t number, int64_t version)
{
    return (struct provider){.slug = arena_printf(arena, "provider-%zu", number),
                             .name = arena_printf(arena, "Provider %zu", number),
                             .kind = PROVIDER_GPU_CLOUD,
                             .freshness_hours = 168,
                             .trust = {UNKNOWN, -1, -1, -1},
                             .version = version,
                             .confirmed_at_us = timestamp_now_us(),
                             .updated_at_us = timestamp_now_us()};
}

static void load(struct catalog *catalog, size_t offers)
{
    size_t providers = (offers + OFFERS_A_PROVIDER - 1) / OFFERS_A_PROVIDER;
    struct arena arena = {0};
    struct catalog_update *updates = arena_calloc(&arena, providers, sizeof(*updates));
    struct provider *facts = arena_calloc(&arena, providers, sizeof(*facts));
    for (size_t i = 0; i < providers; i++) {
        struct offer *list = arena_calloc(&arena, OFFERS_A_PROVIDER, sizeof(*list));
        for (size_t j = 0; j < OFFERS_A_PROVIDER; j++)
            list[j] = make_offer(&arena, j);
        facts[i] = make_provider(&arena, i, 1);
        updates[i] = (struct catalog_update){.provider = &facts[i],
                                             .after_version = UNKNOWN,
                                             .reload = true,
                                             .upserts = list,
                                             .upsert_count = OFFERS_A_PROVIDER};
    }
    int64_t start = monotonic_now_us();
    if (!catalog_apply(catalog, updates, providers))
        abort();
    struct catalog_stats stats;
    catalog_get_stats(catalog, &stats);
    printf("%zu offers: loaded in %.2f s, %.0f B an offer\n", offers,
           (double)(monotonic_now_us() - start) / 1e6, (double)stats.bytes / (double)offers);
    arena_free(&arena);
}

/* The processor's time of this thread, so that what else the machine does weighs less. */
static double thread_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* One request as the server serves it; gives the answer's length. */
static size_t serve(struct catalog *catalog, const struct query_parameter *parameters, size_t count,
                    struct arena *arena, struct buf *out)
{
    struct query *query;
    struct query_error *errors;
    const char *cursor;
    struct snapshot *snapshot = catalog_acquire(catalog);
    arena_reset(arena);
    buf_clear(out);
    if (query_parse(parameters, count, snapshot, arena, &query, &errors) != 0) {
        fprintf(stderr, "%s\n", errors[0].message);
        exit(1);
    }
    query_answer(snapshot, query, timestamp_now_us(), arena, out, &cursor);
    snapshot_release(snapshot);
    return out->length;
}

static double measure_copy(const struct buf *answer)
{
    static char target[4 << 20];
    int64_t start = monotonic_now_us();
    for (int i = 0; i < ROUNDS; i++) {
        memcpy(target, answer->data,
               answer->length < sizeof(target) ? answer->length : sizeof(target));
        __asm__ volatile("" : : "r"(target) : "memory");
    }
    return (double)(monotonic_now_us() - start) / ROUNDS;
}

struct scenario {
    const char *name;
    struct query_parameter parameters[8];
    size_t count;
};

static void measure(struct catalog *catalog, const struct scenario *scenario)
{
    static double times[ROUNDS];
    struct query_parameter parameters[8];
    struct arena arena = {0};
    struct buf out = {0};
    char price[32];
    memcpy(parameters, scenario->parameters, sizeof(parameters));
    int rounds = 0;
    for (int64_t begun = monotonic_now_us();
         rounds < ROUNDS && (rounds < 20 || monotonic_now_us() - begun < PATIENCE_US); rounds++) {
        for (size_t j = 0; j < scenario->count; j++) {
            if (strcmp(parameters[j].name, "min_price") == 0) {
                snprintf(price, sizeof(price), "0.%06u", below(10000));
                parameters[j].value = price;
            } else if (strcmp(parameters[j].name, "gpu") == 0 &&
                       strchr(scenario->parameters[j].value, ',') == NULL) {
                parameters[j].value = gpus[below(GPUS)];
            }
        }
        double start = thread_us();
        serve(catalog, parameters, scenario->count, &arena, &out);
        times[rounds] = thread_us() - start;
    }
    double copy = measure_copy(&out), sum = 0;
    qsort(times, (size_t)rounds, sizeof(times[0]), compare_times);
    for (int i = 0; i < rounds; i++)
        sum += times[i];
    printf("  %-34s p50 %8.1f us  p99 %8.1f us  %6zu B  mean %6.1fx copying them\n", scenario->name,
           times[rounds / 2], times[rounds * 99 / 100], out.length, sum / rounds / copy);
    arena_free(&arena);
    buf_free(&out);
}

#define REGIONS                                                                                    \
    "us-ashburn,us-east,eu-north,se-stockholm,de-frankfurt,eu-west,ap-southeast,jp-tokyo"

#define EIGHT_FACETS "gpu,provider,region,billing,term_months,form_factor,fabric,country"

static const struct scenario scenarios[] = {
    {"cheapest 50", {{0}}, 0},
    {"dearest 50", {{"sort", "-price"}}, 1},
    {"one GPU", {{"gpu", "h100-sxm"}}, 1},
    {"one GPU, min_price", {{"gpu", "h100-sxm"}, {"min_price", "0"}}, 2},
    {"GPU, regions, count, prices",
     {{"gpu", "h100-sxm"},
      {"region", REGIONS},
      {"min_gpu_count", "2"},
      {"max_price", "9"},
      {"min_price", "0"}},
     5},
    {"GPU, billing on_demand", {{"gpu", "h100-sxm"}, {"billing", "on_demand"}}, 2},
    {"GPU, reserved 12", {{"gpu", "h100-sxm"}, {"billing", "reserved"}, {"term_months", "12"}}, 3},
    {"billing on_demand", {{"billing", "on_demand"}}, 1},
    {"max_price", {{"max_price", "1.5"}}, 1},
    {"region", {{"region", "us-east"}}, 1},
    {"provider", {{"provider", "provider-3"}}, 1},
    {"sort -vram", {{"sort", "-vram"}}, 1},
    {"near, sort latency", {{"near", "us-east"}, {"sort", "latency"}}, 2},
    {"near, max latency, one GPU",
     {{"near", "us-east;eu-west"}, {"max_latency_ms", "60"}, {"gpu", "h100-sxm"}},
     3},
    {"q a GPU and a place", {{"q", "h100 germany"}}, 1},
    {"q a provider", {{"q", "provider 17"}}, 1},
    {"gpus 64, one GPU", {{"gpu", "h100-sxm"}, {"gpus", "64"}}, 2},
    {"gpus 64, sort total_price", {{"gpus", "64"}, {"sort", "total_price"}}, 2},
    {"sort price_per_tflop", {{"sort", "price_per_tflop"}}, 1},
    {"sort -price_per_vram_gb", {{"sort", "-price_per_vram_gb"}}, 1},
    {"facet of one GPU", {{"gpu", "h100-sxm"}, {"facets", "country"}, {"limit", "1"}}, 3},
    {"facet of a choice",
     {{"gpu", "h100-sxm"}, {"region", REGIONS}, {"facets", "billing"}, {"limit", "1"}},
     4},
    {"eight facets of one GPU", {{"gpu", "h100-sxm"}, {"facets", EIGHT_FACETS}, {"limit", "1"}}, 3},
    {"eight facets of everything", {{"facets", EIGHT_FACETS}, {"limit", "1"}}, 2},
    {"sort -updated, everything matches",
     {{"sort", "-updated"}, {"min_vcpus", "0"}, {"min_price", "0"}},
     3},
};

static void measure_changes(struct catalog *catalog)
{
    int64_t spent = 0, worst = 0;
    for (int i = 0; i < CHANGES; i++) {
        struct arena arena = {0};
        struct offer *list = arena_calloc(&arena, 100, sizeof(*list));
        for (size_t j = 0; j < 100; j++)
            list[j] = make_offer(&arena, below(OFFERS_A_PROVIDER));
        struct provider provider = make_provider(&arena, below(10), 2 + i);
        struct catalog_update update = {
            .provider = &provider, .after_version = 1, .upserts = list, .upsert_count = 100};
        int64_t start = monotonic_now_us();
        if (!catalog_apply(catalog, &update, 1))
            abort();
        int64_t took = monotonic_now_us() - start;
        spent += took;
        worst = took > worst ? took : worst;
        arena_free(&arena);
    }
    printf("  change of 100 offers: mean %.0f us, worst %lld us\n", (double)spent / CHANGES,
           (long long)worst);
}

int main(int argument_count, char **arguments)
{
    static const char *const sizes[] = {"10000", "100000"};
    int count = argument_count > 1 ? argument_count - 1 : 2;
    if (!crypt_init())
        return 1;
    for (int i = 0; i < count; i++) {
        size_t offers = strtoul(argument_count > 1 ? arguments[i + 1] : sizes[i], NULL, 10);
        struct catalog *catalog = catalog_new();
        load(catalog, offers);
        for (size_t j = 0; j < sizeof(scenarios) / sizeof(scenarios[0]); j++)
            measure(catalog, &scenarios[j]);
        measure_changes(catalog);
        measure(catalog, &scenarios[4]);
        catalog_free(catalog);
    }
    return 0;
}
