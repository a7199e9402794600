/* The object of an offer, to the byte; and summaries against counting by hand. */
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"
#include "tests/support/search_oracle.h"
#include "tests/support/test_offers.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(fragment, .timeout = 60);

static struct provider provider = {.slug = "acme",
                                   .name = "Acme \"GPU\"",
                                   .freshness_hours = UNKNOWN,
                                   .version = 4,
                                   .trust = {UNKNOWN, -1, -1, -1},
                                   .confirmed_at_us = INT64_C(1700000001000000),
                                   .updated_at_us = INT64_C(1700000001000000)};

static struct catalog *load(const struct offer *offers, size_t count)
{
    struct catalog *catalog = catalog_new();
    struct catalog_update update = {
        .provider = &provider, .reload = true, .upserts = offers, .upsert_count = count};
    cr_assert(catalog_apply(catalog, &update, 1));
    return catalog;
}

/* What one GPU's memory, arithmetic and bandwidth cost. */
#define UNITS(vram_gb, tflop, tbps)                                                                \
    ",\"price_per_vram_gb\":" vram_gb ",\"price_per_tflop\":" tflop ",\"price_per_tbps\":" tbps
/* The verdict where hardly anybody else offers the same; the spot price is doubted, so not even its
 * own provider counts. */
#define ALONE(level, providers)                                                                    \
    ",\"verdict\":\"insufficient_data\",\"ratio_to_median\":null,\"comparables\":{\"level\":"      \
    "\"" level "\",\"providers\":" providers ",\"median_price_per_gpu_hour\":null},\"ask\":[]"

Test(fragment, every_known_fact_is_printed_exactly)
{
    cr_assert(crypt_init());
    struct arena arena = {0};
    struct buf out = {0};
    struct offer *offer = test_full_offer(&arena, "a/b \"c\"");
    offer->version = 3;
    offer->updated_at_us = INT64_C(1700000000500000);
    struct catalog *catalog = load(offer, 1);
    struct snapshot *snapshot = catalog_acquire(catalog);
    uint8_t id[OFFER_ID_BYTES];
    char id_text[OFFER_ID_TEXT_LENGTH + 1];
    int64_t version = 0;
    offer_id("acme", "a/b \"c\"", id);
    offer_id_print(id, id_text);
    cr_assert(snapshot_write_offer_by_id(snapshot, id, MARKET_NOW_US, &out, &version));
    const char *want = arena_printf(
        &arena,
        "{\"id\":\"%s\",\"provider\":{\"slug\":\"acme\",\"name\":\"Acme "
        "\\\"GPU\\\"\"},\"external_id\":\"a/b \\\"c\\\"\","
        "\"gpu\":{\"slug\":\"h100-sxm\",\"family\":\"h100\",\"vendor\":\"nvidia\",\"name\":\"%s\","
        "\"form_factor\":\"sxm\","
        "\"vram_gb\":80,\"raw\":\"H100 SXM5\"},\"gpu_count\":0.125,\"total_vram_gb\":10,"
        "\"node\":{\"vcpus\":192,\"memory_gib\":2048.5,\"storage_gb\":0},\"interconnect\":"
        "\"nvlink\","
        "\"fabric\":\"infiniband\",\"fabric_gbps\":3200,\"region\":{\"slug\":\"us-east\","
        "\"country\":\"US\","
        "\"continent\":\"NA\",\"raw\":\"us-east\",\"zone\":\"iad1\"},\"availability\":{\"status\":"
        "\"limited\","
        "\"gpus_available\":64,\"lead_time_days\":0,\"schedule\":[{\"gpus\":2000,\"days\":120},{"
        "\"gpus\":500,\"days\":180}]},"
        "\"extra_costs\":{\"egress_per_gb\":0.01,\"storage_per_gb_month\":0,\"billing_increment_"
        "seconds\":60,"
        "\"minimum_duration_seconds\":3600},\"prices\":[{\"billing\":\"on_demand\",\"term_months\":"
        "0,\"plan\":null,"
        "\"price_per_gpu_hour\":3.25,\"price_per_node_hour\":0.40625,\"quoted_per\":\"gpu\",\"min_"
        "gpus\":null,"
        "\"max_gpus\":null,\"upfront_percent\":null" UNITS("0.040625", "0.003285", "0.970149")
            ALONE(
                "term",
                "1") "},{\"billing\":\"spot\",\"term_months\":0,"
                     "\"plan\":\"community\","
                     "\"price_per_gpu_hour\":64.000008,\"price_per_node_hour\":8.000001,\"quoted_"
                     "per\":"
                     "\"node\","
                     "\"min_gpus\":1,"
                     "\"max_gpus\":null,\"upfront_percent\":null" UNITS("0.8", "0.064686",
                                                                        "19.10448")
                         ALONE(
                             "term",
                             "0") "},{\"billing\":\"reserved\",\"term_months\":12,"
                                  "\"plan\":\"3 \\\"y\\\", "
                                  "(x)\",\"price_per_gpu_hour\":2.2,\"price_per_node_hour\":0.275,"
                                  "\"quoted_"
                                  "per\":\"gpu\","
                                  "\"min_gpus\":16,\"max_gpus\":512,\"upfront_percent\":20" UNITS(
                                      "0.0275", "0.002224", "0.656716")
                                      ALONE(
                                          "billing",
                                          "1") "}],\"order_url\":\"https://"
                                               "example.com/order\","
                                               "\"source\":{\"kind\":\"import\",\"url\":\"https://"
                                               "example.com/"
                                               "prices?x=\xc3\xa9\","
                                               "\"observed_at\":\"2023-11-14T22:13:21Z\","
                                               "\"attribution\":"
                                               "\"Example, CC-BY 4.0\"},"
                                               "\"flags\":[\"spot_not_cheaper\",\"price_rounded\"],"
                                               "\"updated_"
                                               "at\":\"2023-11-14T22:13:20."
                                               "5Z\","
                                               "\"price\":{\"billing\":\"reserved\",\"term_"
                                               "months\":12,"
                                               "\"plan\":\"3 \\\"y\\\", "
                                               "(x)\",\"price_per_gpu_hour\":2.2,"
                                               "\"price_per_node_hour\":0.275,\"quoted_per\":"
                                               "\"gpu\",\"min_"
                                               "gpus\":16,\"max_gpus\":512,"
                                               "\"upfront_percent\":20" UNITS(
                                                   "0.0275", "0.002224",
                                                   "0.656716") ",\"gpus\":0.125,\"total_price\":0."
                                                               "275" ALONE("billing",
                                                                           "1") "},\"stale\":false,"
                                                                                "\"trust_score\":"
                                                                                "null,\"latency_"
                                                                                "ms\":null,"
                                                                                "\"latency_kind\":"
                                                                                "null,\"location_"
                                                                                "contradicted_by\":"
                                                                                "null}",
        id_text, gpu_at(offer->gpu)->name);
    cr_expect(strcmp(out.data, want) == 0, "%s\nwant\n%s", out.data, want);
    cr_expect(version == 3);
    snapshot_release(snapshot);
    catalog_free(catalog);
    buf_free(&out);
    arena_free(&arena);
}

Test(fragment, what_nobody_said_is_null_and_a_sixth_is_exact)
{
    cr_assert(crypt_init());
    struct arena arena = {0};
    struct buf out = {0};
    struct offer *offer = test_offer(&arena, "x", 1500000);
    offer->gpu = gpu_unrecognized();
    offer->vram_gb_milli = UNKNOWN;
    struct offer *sixth = test_offer(&arena, "y", 1500000);
    sixth->gpu_count_milli = 167;
    struct offer both[2] = {*offer, *sixth};
    both[0].updated_at_us = both[1].updated_at_us = MARKET_NOW_US;
    struct catalog *catalog = load(both, 2);
    struct snapshot *snapshot = catalog_acquire(catalog);
    cr_assert(snapshot_write_offer(snapshot, "acme", "x", MARKET_NOW_US, &out, NULL));
    static const char *const nulls[] = {
        "\"vendor\":null",
        "\"vram_gb\":null",
        "\"total_vram_gb\":null",
        "\"vcpus\":null",
        "\"interconnect\":null",
        "\"fabric\":null",
        "\"fabric_gbps\":null",
        "\"region\":{\"slug\":null,\"country\":null,\"continent\":null,\"raw\":null,\"zone\":null}",
        "\"status\":\"unknown\",\"gpus_available\":null,\"lead_time_days\":null,\"schedule\":[]",
        "\"order_url\":null",
        "\"attribution\":null",
        "\"flags\":[]"};
    for (size_t i = 0; i < sizeof(nulls) / sizeof(nulls[0]); i++)
        cr_expect(strstr(out.data, nulls[i]) != NULL, "%s in %s", nulls[i], out.data);
    buf_clear(&out);
    cr_assert(snapshot_write_offer(snapshot, "acme", "y", MARKET_NOW_US, &out, NULL));
    cr_expect(strstr(out.data, "\"gpu_count\":0.167,\"total_vram_gb\":13.333,") != NULL, "%s",
              out.data);
    cr_expect(!snapshot_write_offer(snapshot, "acme", "z", MARKET_NOW_US, &out, NULL));
    cr_expect(!snapshot_write_offer(snapshot, "nobody", "x", MARKET_NOW_US, &out, NULL));
    snapshot_release(snapshot);
    catalog_free(catalog);
    buf_free(&out);
    arena_free(&arena);
}

Test(fragment, renaming_a_provider_shows_at_once)
{
    cr_assert(crypt_init());
    struct arena arena = {0};
    struct buf out = {0};
    struct offer *offer = test_offer(&arena, "x", 1500000);
    struct catalog *catalog = load(offer, 1);
    struct provider renamed = provider;
    renamed.name = "Other";
    renamed.version = 5;
    struct catalog_update update = {.provider = &renamed, .after_version = 4};
    cr_assert(catalog_apply(catalog, &update, 1));
    struct snapshot *snapshot = catalog_acquire(catalog);
    cr_assert(snapshot_write_offer(snapshot, "acme", "x", MARKET_NOW_US, &out, NULL));
    cr_expect(strstr(out.data, "\"name\":\"Other\"}") != NULL);
    snapshot_release(snapshot);
    catalog_free(catalog);
    buf_free(&out);
    arena_free(&arena);
}

/* What a summary should be: over all offers of the oracle's default search that `counts` takes. */
struct tally {
    size_t offers;
    size_t providers;
    int64_t min, max;
};

static struct tally tally(const struct market *market, const char *name, const char *value)
{
    struct tally result = {0, 0, UNKNOWN, UNKNOWN};
    for (size_t p = 0; p < market->provider_count; p++) {
        const struct market_provider *seller = &market->providers[p];
        struct query_parameter parameters[] = {{"provider", seller->facts.slug}, {name, value}};
        struct arena arena = {0};
        struct found *rows;
        size_t count =
            oracle_search(market, parameters, value == NULL ? 1 : 2, MARKET_NOW_US, &arena, &rows);
        result.offers += count;
        result.providers += count > 0;
        for (size_t o = 0; o < seller->offer_count && count > 0; o++) {
            const struct offer *offer = &seller->offers[o];
            uint8_t id[OFFER_ID_BYTES];
            char text[OFFER_ID_TEXT_LENGTH + 1];
            offer_id(seller->facts.slug, offer->external_id, id);
            offer_id_print(id, text);
            bool shown = false;
            for (size_t i = 0; i < count; i++)
                shown = shown || strcmp(rows[i].id, text) == 0;
            for (size_t i = 0; i < offer->price_count && shown; i++) {
                int64_t price = offer->prices[i].per_gpu_hour_microusd;
                result.min = result.min == UNKNOWN || price < result.min ? price : result.min;
                result.max = price > result.max ? price : result.max;
            }
        }
        arena_free(&arena);
    }
    return result;
}

static void check(struct offer_summary got, struct tally want, const char *what)
{
    cr_expect(got.offers == want.offers && got.providers == want.providers &&
                  got.min_per_gpu_hour_microusd == want.min &&
                  got.max_per_gpu_hour_microusd == want.max,
              "%s: %zu offers of %zu, %lld to %lld; want %zu of %zu, %lld to %lld", what,
              got.offers, got.providers, (long long)got.min_per_gpu_hour_microusd,
              (long long)got.max_per_gpu_hour_microusd, want.offers, want.providers,
              (long long)want.min, (long long)want.max);
}

Test(fragment, summaries_count_what_a_search_shows)
{
    cr_assert(crypt_init());
    struct market market;
    struct arena arena = {0};
    struct catalog *catalog = catalog_new();
    market_make(&market, 21, 8, 40);
    cr_assert(market_load(catalog, &market));
    struct snapshot *snapshot = catalog_acquire(catalog);
    static const char *const gpus[] = {"h100", "h100-sxm",     "h100-pcie", "a100",
                                       "l40s", "unrecognized", "b200"};
    for (size_t i = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++) {
        uint16_t gpu = gpu_find(gpus[i]);
        struct gpu_provider *providers;
        struct tally want = tally(&market, "gpu", gpus[i]);
        check(snapshot_gpu_summary(snapshot, gpu, MARKET_NOW_US), want, gpus[i]);
        size_t count = snapshot_gpu_providers(snapshot, gpu, MARKET_NOW_US, &arena, &providers),
               offers = 0;
        cr_expect(count == want.providers, "%s", gpus[i]);
        for (size_t j = 0; j < count; j++) {
            offers += providers[j].summary.offers;
            cr_expect(j == 0 || providers[j - 1].summary.min_per_gpu_hour_microusd <=
                                    providers[j].summary.min_per_gpu_hour_microusd);
        }
        cr_expect(offers == want.offers, "%s", gpus[i]);
    }
    static const char *const places[] = {"us-east",      "us-ashburn", "us", "se",
                                         "se-stockholm", "eu-north",   "de", "jp-tokyo"};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        check(snapshot_place_summary(snapshot, place_find(places[i]), MARKET_NOW_US),
              tally(&market, "region", places[i]), places[i]);
    for (size_t i = 0; i < market.provider_count; i++) {
        struct market only = market;
        only.providers[0] = market.providers[i];
        only.provider_count = 1;
        check(snapshot_provider_summary(snapshot, i, MARKET_NOW_US), tally(&only, "gpu", NULL),
              market.providers[i].facts.slug);
    }
    snapshot_release(snapshot);
    catalog_free(catalog);
    market_free(&market);
    arena_free(&arena);
}
