/* Random offers are plausible enough to pass the model's rules: prices are derived and sorted by
 * identity. */
#include "tests/support/random_market.h"

#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <stdlib.h>
#include <string.h>

#define HOUR_US      INT64_C(3600000000)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const gpus[] = {"h100-sxm",       "h100-pcie", "h100",        "a100-sxm-80gb",
                                   "a100-pcie-40gb", "a100",      "l40s",        "rtx-4090",
                                   "mi300x",         "l4",        "unrecognized"};
static const char *const spellings[] = {"H100 SXM5", "Odd Machine 9", "NVIDIA H100 80GB HBM3",
                                        "weird-thing", "A100-80GB"};
static const char *const regions[] = {"us-east", "us-ashburn", "eu-north",    "se-stockholm",
                                      "se",      "de",         "ap-southeast"};
static const char *const region_spellings[] = {"us-east-1", "Planet Nine", "iad1",
                                               "somewhere else"};
static const int32_t counts[] = {125, 167, 500, 1000, 2000, 4000, 8000, 16000};
static const int64_t amounts[] = {1000000, 1500000, 2000000, 2490000, 2490001, 3250000, 8000001, 1};
static const int64_t quantities[] = {UNKNOWN, 0, 16000, 64000, 64500, 96000, 192000};

#define PICK(random, array) ((array)[random_below((random), COUNT(array))])

uint32_t random_below(struct random *random, uint32_t below)
{
    /* xorshift64* (Vigna 2016) */
    random->state ^= random->state >> 12;
    random->state ^= random->state << 25;
    random->state ^= random->state >> 27;
    return (uint32_t)((random->state * UINT64_C(2685821657736338717)) >> 33) % below;
}

bool random_once_in(struct random *random, uint32_t times)
{
    return random_below(random, times) == 0;
}

static int compare_prices(const void *a, const void *b)
{
    return price_compare_identity(a, b);
}

static void random_prices(struct market *market, struct offer *offer)
{
    static const int32_t terms[] = {1, 6, 12, 36};
    struct random *random = &market->random;
    size_t count = 1 + random_below(random, 5), kept = 0;
    struct price *prices = arena_calloc(&market->arena, count, sizeof(*prices));
    for (size_t i = 0; i < count; i++) {
        struct price price = {
            .billing = (enum billing)random_below(random, BILLING_COUNT),
            .quoted_per = random_once_in(random, 3) ? PRICE_PER_NODE : PRICE_PER_GPU,
            .min_gpus = random_once_in(random, 3) ? 16 : UNKNOWN,
            .max_gpus = random_once_in(random, 4) ? 64 : UNKNOWN,
            .upfront_percent_milli = random_once_in(random, 4) ? 20000 : UNKNOWN,
            .plan = random_once_in(random, 4) ? "community" : NULL,
            .quoted_microusd = PICK(random, amounts),
        };
        price.term_months = price.billing == BILLING_RESERVED ? PICK(random, terms) : 0;
        bool twin = false;
        for (size_t j = 0; j < kept; j++)
            twin = twin || price_compare_identity(&prices[j], &price) == 0;
        if (!twin && price_derive(&price, offer->gpu_count_milli))
            prices[kept++] = price;
    }
    if (kept == 0) { /* all rounded to nothing */
        prices[0] = (struct price){.quoted_microusd = 2000000,
                                   .min_gpus = UNKNOWN,
                                   .max_gpus = UNKNOWN,
                                   .upfront_percent_milli = UNKNOWN};
        if (!price_derive(&prices[kept++], offer->gpu_count_milli))
            abort();
    }
    qsort(prices, kept, sizeof(*prices), compare_prices);
    offer->prices = prices;
    offer->price_count = kept;
}

static void random_place(struct market *market, struct offer *offer)
{
    struct random *random = &market->random;
    if (random_once_in(random, 4)) {
        offer->region_raw = PICK(random, region_spellings);
        offer->place = random_once_in(random, 2)
                           ? place_resolve(NULL, offer->region_raw, NULL, NULL)
                           : INDEX_NONE;
    } else {
        offer->region_raw = PICK(random, regions);
        offer->place = place_find(offer->region_raw);
    }
    offer->zone = random_once_in(random, 3) ? "iad1" : NULL;
}

static const int32_t stocks[] = {UNKNOWN, UNKNOWN, 0, 1, 8, 64, 512};

static void random_stock(struct market *market, struct offer *offer)
{
    struct random *random = &market->random;
    offer->availability = (struct availability){
        .status = (enum availability_status)random_below(random, AVAILABILITY_COUNT),
        .gpus_available = PICK(random, stocks),
        .lead_time_days = (int32_t)random_below(random, 4) * 10 - 1 < 0
                              ? UNKNOWN
                              : (int32_t)random_below(random, 3) * 10,
    };
    if (random_once_in(random, 4)) {
        struct delivery *schedule = arena_calloc(&market->arena, 1, sizeof(*schedule));
        *schedule = (struct delivery){2000, 120};
        offer->availability.schedule = schedule;
        offer->availability.schedule_count = 1;
    }
}

void market_random_offer(struct market *market, const char *external_id, struct offer *ret_offer)
{
    struct random *random = &market->random;
    const char *gpu = PICK(random, gpus);
    *ret_offer = (struct offer){
        .external_id = arena_strdup(&market->arena, external_id),
        .gpu_raw = random_once_in(random, 3) ? PICK(random, spellings) : gpu,
        .gpu_count_milli = PICK(random, counts),
        .vram_gb_given_milli = UNKNOWN,
        .vcpus_milli = PICK(random, quantities),
        .memory_gib_milli = PICK(random, quantities),
        .storage_gb_milli = PICK(random, quantities),
        .interconnect = (enum interconnect)random_below(random, INTERCONNECT_COUNT),
        .fabric = (enum fabric)random_below(random, FABRIC_COUNT),
        .fabric_gbps_milli = random_once_in(random, 2) ? UNKNOWN : 3200000,
        .extra_costs = {UNKNOWN, 10000, UNKNOWN, 60},
        .source_kind = random_once_in(random, 8) ? SOURCE_SAMPLE : SOURCE_PROVIDER_API,
        .observed_at_us = random_once_in(random, 2)
                              ? TIMESTAMP_UNKNOWN
                              : MARKET_NOW_US - (int64_t)random_below(random, 300) * HOUR_US,
        .flags = random_once_in(random, 5) ? OFFER_FLAG(SPOT_NOT_CHEAPER) : 0,
        .gpu = gpu_find(gpu),
        .version = 1,
        .updated_at_us = MARKET_NOW_US - (int64_t)random_below(random, 20) * 17 * HOUR_US,
    };
    ret_offer->vram_gb_milli = gpu_at(ret_offer->gpu)->vram_gb_milli;
    if (ret_offer->vram_gb_milli < 0 && random_once_in(random, 2))
        ret_offer->vram_gb_milli = 80000;
    random_place(market, ret_offer);
    random_stock(market, ret_offer);
    random_prices(market, ret_offer);
}

static void random_provider(struct market *market, size_t index, size_t offers)
{
    struct random *random = &market->random;
    struct market_provider *provider = &market->providers[index];
    provider->facts = (struct provider){
        .id = (int64_t)index + 1,
        .slug = arena_printf(&market->arena, "p%zu", index),
        .name = arena_printf(&market->arena, "Provider \"%zu\"", index),
        .kind = (enum provider_kind)random_below(random, PROVIDER_KIND_COUNT),
        .freshness_hours = index % 4 == 3 ? UNKNOWN : 168,
        .trust = {(int32_t)random_below(random, 3) * 500 + 98999, (int)random_below(random, 3) - 1,
                  (int)random_below(random, 3) - 1, (int)random_below(random, 3) - 1},
        .suspended = index == 5,
        .version = 1,
        .confirmed_at_us = index % 3 == 0 ? TIMESTAMP_UNKNOWN
                                          : MARKET_NOW_US - (index % 3 == 1 ? 5 : 200) * HOUR_US,
        .updated_at_us = MARKET_NOW_US - HOUR_US,
    };
    if (random_once_in(random, 3))
        provider->facts.trust.sla_percent_milli = UNKNOWN;
    provider->offers = arena_calloc(&market->arena, offers, sizeof(*provider->offers));
    provider->offer_count = offers;
    for (size_t i = 0; i < offers; i++)
        market_random_offer(market, arena_printf(&market->arena, "o%zu", i), &provider->offers[i]);
}

const char *const market_ends[MARKET_ENDS] = {"us-ashburn", "de-frankfurt", "us-east",
                                              "se",         "50.11,8.68",   "-33.9,151.2"};

/* Measurements between some ends and some places of the market, some both ways, some of several
 * makers, some impossible. Draws on a sequence of its own. */
static struct latency_book *random_book(uint64_t seed)
{
    struct random random = {seed * 977 + 5};
    struct latency_measurement list[40];
    size_t count = 0;
    while (count < COUNT(list)) {
        uint16_t from = place_find(market_ends[random_below(&random, 4)]),
                 to = place_find(PICK(&random, regions));
        if (from == to)
            continue;
        bool back = random_once_in(&random, 3);
        int32_t median_us = (int32_t)random_below(&random, 30000) * 10 + 7;
        list[count] = (struct latency_measurement){
            .id = (int64_t)count + 1,
            .from = back ? to : from,
            .to = back ? from : to,
            .measured_by = random_once_in(&random, 2) ? "p1" : NULL,
            .provider = "p1",
            .median_us = median_us,
            .p95_us = UNKNOWN,
            .samples = UNKNOWN,
            .measured_at_us = MARKET_NOW_US - (int64_t)random_below(&random, 200) * 24 * HOUR_US,
            .floor_us = random_once_in(&random, 4) ? median_us + 1 : 0,
        };
        count++;
    }
    return latency_book_new((int64_t)seed + 1, list, count);
}

void market_make(struct market *market, uint64_t seed, size_t provider_count, size_t offers_each)
{
    *market = (struct market){.random = {seed * 2654435761u + 88172645463325252u},
                              .provider_count = provider_count,
                              .latency = random_book(seed)};
    for (size_t i = 0; i < provider_count; i++)
        random_provider(market, i, offers_each);
}

void market_free(struct market *market)
{
    latency_book_release(market->latency);
    arena_free(&market->arena);
}

bool market_load(struct catalog *catalog, const struct market *market)
{
    struct catalog_update updates[MARKET_PROVIDERS_MAX];
    for (size_t i = 0; i < market->provider_count; i++)
        updates[i] = (struct catalog_update){
            .provider = &market->providers[i].facts,
            .after_version = UNKNOWN,
            .reload = true,
            .upserts = market->providers[i].offers,
            .upsert_count = market->providers[i].offer_count,
        };
    return catalog_set_latency(catalog, market->latency, true) &&
           catalog_apply(catalog, updates, market->provider_count);
}

/* One to three of these, joined by commas. */
static const char *some(struct market *market, const char *const *choices, size_t count)
{
    const char *text = choices[random_below(&market->random, (uint32_t)count)];
    while (random_once_in(&market->random, 2))
        text = arena_printf(&market->arena, "%s,%s", text,
                            choices[random_below(&market->random, (uint32_t)count)]);
    return text;
}

#define LIST(...)       (const char *const[]){__VA_ARGS__}, COUNT(((const char *const[]){__VA_ARGS__}))
#define PARAMETER_KINDS 34

static struct query_parameter random_parameter(struct market *market, uint32_t kind)
{
#define CASE(number, text, ...)                                                                    \
    case number:                                                                                   \
        return (struct query_parameter){text, some(market, LIST(__VA_ARGS__))};
#define ONE(number, text, ...)                                                                     \
    case number:                                                                                   \
        return (struct query_parameter){                                                           \
            text, PICK(&market->random, ((const char *const[]){__VA_ARGS__}))};
    switch (kind) {
        CASE(0, "gpu", "h100", "h100-sxm", "a100", "l40s", "rtx-4090", "mi300x", "b200",
             "unrecognized", "a100-pcie-40gb")
        CASE(1, "vendor", "nvidia", "amd", "intel")
        CASE(2, "form_factor", "sxm", "pcie", "undisclosed", "oam")
        ONE(3, "min_vram_gb", "0", "24", "48", "80", "80.001", "192")
        ONE(4, "min_total_vram_gb", "0", "10", "640", "641", "3")
        CASE(5, "gpu_count", "0.125", "1", "8", "0.167", "3")
        ONE(6, "min_gpu_count", "0", "0.5", "2", "8")
        ONE(7, "max_gpu_count", "8", "16", "1000")
        CASE(8, "billing", "on_demand", "spot", "reserved")
        CASE(9, "term_months", "0", "1", "6", "12", "36")
        ONE(10, "max_term_months", "0", "6", "12", "600")
        ONE(11, "min_price", "0", "0.5", "1.5", "2.490001")
        ONE(12, "max_price", "2.49", "2.490001", "4", "8", "100")
        CASE(13, "fabric", "none", "ethernet", "roce", "infiniband")
        ONE(14, "min_fabric_gbps", "0", "3200", "3200.5")
        CASE(15, "interconnect", "pcie", "nvlink")
        ONE(16, "min_vcpus", "0", "64", "64.5", "64.501")
        ONE(17, "min_memory_gib", "0", "96", "16")
        ONE(18, "min_storage_gb", "0", "192", "193")
        CASE(19, "region", "us-east", "us-ashburn", "eu-north", "se", "se-stockholm",
             "ap-southeast", "uk")
        CASE(20, "country", "US", "se", "DE", "JP")
        CASE(21, "continent", "NA", "EU", "AS")
        CASE(22, "provider", "p0", "p1", "p2", "p3")
        CASE(23, "provider_kind", "hyperscaler", "gpu_cloud", "marketplace", "colocation",
             "reseller")
        CASE(24, "availability", "available", "limited", "waitlist", "sold_out", "unknown")
        ONE(25, "max_lead_time_days", "0", "10", "20")
        ONE(26, "min_sla_percent", "0", "99.499", "99.5", "100")
        ONE(27, "burn_in", "0", "true")
        ONE(28, "monitoring", "1", "false")
        ONE(29, "on_site", "0", "1")
        ONE(30, "updated_since", "2026-09-15T00:00:00Z", "2026-09-19T12:00:00+02:00",
            "1999-01-01T00:00:00Z")
        ONE(31, "gpus", "0.5", "1", "3", "8", "9", "16", "64", "65", "512", "0.333")
        ONE(32, "max_total_price", "0.5", "4", "20", "128", "100000")
        ONE(33, "q", "h100", "H100 SXM", "nvi p1", "provider", "us ash", "germany", "p0 eu",
            "a100 8", "l40s p2 stock", "zzz", "rtx 40 united", "h1 h10 h100 p")
    default:
        abort();
    }
#undef CASE
#undef ONE
}

/* One to three ends. */
static const char *random_near(struct market *market)
{
    const char *text = PICK(&market->random, market_ends);
    for (int i = 0; i < 2 && random_once_in(&market->random, 2); i++)
        text = arena_printf(&market->arena, "%s;%s", text, PICK(&market->random, market_ends));
    return text;
}

size_t market_random_query(struct market *market,
                           struct query_parameter parameters[static MARKET_PARAMETERS_MAX])
{
    static const char *const sorts[] = {
        "price",           "-price",           "vram",
        "-vram",           "updated",          "-updated",
        "total_price",     "-total_price",     "price_per_vram_gb",
        "price_per_tflop", "-price_per_tflop", "-price_per_vram_gb",
        "price_per_tbps",  "-price_per_tbps",
    };
    static const char *const near_sorts[] = {"latency", "-latency", "latency", "price"};
    static const char *const bounds[] = {"0", "12.5", "40", "90", "90.01", "150", "10000"};
    static const char *const limits[] = {"7", "50", "500", "500"};
    uint64_t used = 0;
    size_t count = 0, wanted = random_below(&market->random, 5);
    while (count < wanted) {
        uint32_t kind = random_below(&market->random, PARAMETER_KINDS);
        /* Bounds that could be upside down are not drawn together. */
        uint64_t taken = kind == 6 || kind == 7     ? 3u << 6
                         : kind == 11 || kind == 12 ? 3u << 11
                                                    : UINT64_C(1) << kind;
        if ((used & taken) != 0)
            continue;
        used |= taken;
        parameters[count++] = random_parameter(market, kind);
    }
    if (random_once_in(&market->random, 3))
        parameters[count++] = (struct query_parameter){
            "include_stale", random_once_in(&market->random, 2) ? "1" : "false"};
    bool near = random_once_in(&market->random, 3);
    if (near)
        parameters[count++] = (struct query_parameter){"near", random_near(market)};
    if (near && random_once_in(&market->random, 2))
        parameters[count++] =
            (struct query_parameter){"max_latency_ms", PICK(&market->random, bounds)};
    if (near)
        parameters[count++] = (struct query_parameter){"sort", PICK(&market->random, near_sorts)};
    else if (!random_once_in(&market->random, 3))
        parameters[count++] = (struct query_parameter){"sort", PICK(&market->random, sorts)};
    parameters[count++] = (struct query_parameter){"limit", PICK(&market->random, limits)};
    return count;
}

const char *market_query_text(struct arena *arena, const struct query_parameter *parameters,
                              size_t count)
{
    const char *text = "";
    for (size_t i = 0; i < count; i++)
        text = arena_printf(arena, "%s%s%s=%s", text, i > 0 ? "&" : "", parameters[i].name,
                            parameters[i].value);
    return text;
}
