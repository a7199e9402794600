/* The golden table of everything that can be wrong with an offer, and what comes of a right one. */
#include "tests/support/test_upload.h"

#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(offer_json, .timeout = 30);

/* A good offer; a case replaces one of its members (`member`: the text up to the comma). */
static const char good_offer[] =
    "{\"external_id\":\"x\",\"gpu\":\"H100 SXM5\",\"gpu_count\":8,\"vram_gb\":80,"
    "\"node\":{\"vcpus\":192,\"memory_gib\":2048,\"storage_gb\":40000},"
    "\"interconnect\":\"nvlink\",\"fabric\":\"infiniband\",\"fabric_gbps\":3200,"
    "\"region\":\"us-east\",\"zone\":\"iad1\","
    "\"availability\":{\"status\":\"available\",\"gpus_available\":64,\"lead_time_days\":0,"
    "\"schedule\":[{\"gpus\":2000,\"days\":120}]},"
    "\"prices\":[{\"billing\":\"on_demand\",\"price_per_gpu_hour\":3.25},"
    "{\"billing\":\"reserved\",\"term_months\":12,\"price_per_gpu_hour\":2.2,\"min_gpus\":16,"
    "\"max_gpus\":512,\"upfront_percent\":20}],"
    "\"extra_costs\":{\"egress_per_gb\":0.01},\"order_url\":\"https://example.com/\","
    "\"source_url\":\"https://example.com/list\",\"observed_at\":\"2026-11-30T12:00:00Z\"}";

static const struct wrong {
    const char *find, *replace; /* in good_offer */
    const char *pointer, *code;
} wrongs[] = {
    /* required */
    {"\"external_id\":\"x\",", "", "/external_id", "missing_field"},
    {"\"external_id\":\"x\",", "\"external_id\":null,", "/external_id", "missing_field"},
    {"\"gpu\":\"H100 SXM5\",", "", "/gpu", "missing_field"},
    {"\"gpu_count\":8,", "", "/gpu_count", "missing_field"},
    {"\"prices\":[", "\"zoned\":[", "/prices", "missing_field"},
    {"\"billing\":\"on_demand\",", "", "/prices/0/billing", "missing_field"},
    {",\"price_per_gpu_hour\":3.25", "", "/prices/0", "missing_field"},
    {"\"term_months\":12,", "", "/prices/1/term_months", "missing_field"},
    {"\"gpus\":2000,", "", "/availability/schedule/0", "missing_field"},
    /* wrong types */
    {"\"external_id\":\"x\"", "\"external_id\":5", "/external_id", "wrong_type"},
    {"\"gpu\":\"H100 SXM5\"", "\"gpu\":[\"H100\"]", "/gpu", "wrong_type"},
    {"\"gpu_count\":8", "\"gpu_count\":\"8\"", "/gpu_count", "wrong_type"},
    {"\"gpu_count\":8", "\"gpu_count\":true", "/gpu_count", "wrong_type"},
    {"\"vram_gb\":80", "\"vram_gb\":\"80\"", "/vram_gb", "wrong_type"},
    {"\"vcpus\":192", "\"vcpus\":\"192\"", "/node/vcpus", "wrong_type"},
    {"\"memory_gib\":2048", "\"memory_gib\":{}", "/node/memory_gib", "wrong_type"},
    {"\"storage_gb\":40000", "\"storage_gb\":[]", "/node/storage_gb", "wrong_type"},
    {"\"interconnect\":\"nvlink\"", "\"interconnect\":1", "/interconnect", "wrong_type"},
    {"\"fabric\":\"infiniband\"", "\"fabric\":false", "/fabric", "wrong_type"},
    {"\"fabric_gbps\":3200", "\"fabric_gbps\":\"fast\"", "/fabric_gbps", "wrong_type"},
    {"\"region\":\"us-east\"", "\"region\":7", "/region", "wrong_type"},
    {"\"zone\":\"iad1\"", "\"zone\":{}", "/zone", "wrong_type"},
    {"\"status\":\"available\"", "\"status\":1", "/availability/status", "wrong_type"},
    {"\"gpus_available\":64", "\"gpus_available\":\"64\"", "/availability/gpus_available",
     "wrong_type"},
    {"\"days\":120", "\"days\":\"120\"", "/availability/schedule/0/days", "wrong_type"},
    {"[{\"gpus\":2000,\"days\":120}]", "7", "/availability/schedule", "wrong_type"},
    {"{\"gpus\":2000,\"days\":120}", "7", "/availability/schedule/0", "wrong_type"},
    {"{\"billing\":\"on_demand\",\"price_per_gpu_hour\":3.25}", "3.25", "/prices/0", "wrong_type"},
    {"\"price_per_gpu_hour\":3.25", "\"price_per_gpu_hour\":\"3.25\"",
     "/prices/0/price_per_gpu_hour", "wrong_type"},
    {"\"extra_costs\":{\"egress_per_gb\":0.01}", "\"extra_costs\":0.01", "/extra_costs",
     "wrong_type"},
    {"{\"egress_per_gb\":0.01}", "{\"egress_per_gb\":\"free\"}", "/extra_costs/egress_per_gb",
     "wrong_type"},
    {"\"order_url\":\"https://example.com/\"", "\"order_url\":1", "/order_url", "wrong_type"},
    {"\"observed_at\":\"2026-11-30T12:00:00Z\"", "\"observed_at\":1764504000", "/observed_at",
     "wrong_type"},
    /* ranges */
    {"\"external_id\":\"x\"", "\"external_id\":\"\"", "/external_id", "out_of_range"},
    {"\"external_id\":\"x\"", "\"external_id\":\"a\\nb\"", "/external_id", "out_of_range"},
    {"\"gpu\":\"H100 SXM5\"", "\"gpu\":\"\\u007f\"", "/gpu", "out_of_range"},
    {"\"gpu_count\":8", "\"gpu_count\":0", "/gpu_count", "out_of_range"},
    {"\"gpu_count\":8", "\"gpu_count\":-8", "/gpu_count", "out_of_range"},
    {"\"gpu_count\":8", "\"gpu_count\":1e30", "/gpu_count", "out_of_range"},
    {"\"gpu_count\":8", "\"gpu_count\":100001", "/gpu_count", "out_of_range"},
    {"\"gpu_count\":8", "\"gpu_count\":0.1234", "/gpu_count", "too_precise"},
    {"\"vram_gb\":80", "\"vram_gb\":-80", "/vram_gb", "out_of_range"},
    {"\"vcpus\":192", "\"vcpus\":-1", "/node/vcpus", "out_of_range"},
    {"\"memory_gib\":2048", "\"memory_gib\":0", "/node/memory_gib", "out_of_range"},
    {"\"storage_gb\":40000", "\"storage_gb\":1e99", "/node/storage_gb", "out_of_range"},
    {"\"fabric_gbps\":3200", "\"fabric_gbps\":-1", "/fabric_gbps", "out_of_range"},
    {"\"gpus_available\":64", "\"gpus_available\":-1", "/availability/gpus_available",
     "out_of_range"},
    {"\"gpus_available\":64", "\"gpus_available\":1.5", "/availability/gpus_available",
     "not_a_whole_number"},
    {"\"lead_time_days\":0", "\"lead_time_days\":99999", "/availability/lead_time_days",
     "out_of_range"},
    {"\"gpus\":2000", "\"gpus\":0", "/availability/schedule/0/gpus", "out_of_range"},
    {"\"price_per_gpu_hour\":3.25", "\"price_per_gpu_hour\":0", "/prices/0/price_per_gpu_hour",
     "out_of_range"},
    {"\"price_per_gpu_hour\":3.25", "\"price_per_gpu_hour\":-1", "/prices/0/price_per_gpu_hour",
     "out_of_range"},
    {"\"price_per_gpu_hour\":3.25", "\"price_per_gpu_hour\":1e300", "/prices/0/price_per_gpu_hour",
     "out_of_range"},
    {"\"price_per_gpu_hour\":3.25", "\"price_per_gpu_hour\":10000001",
     "/prices/0/price_per_gpu_hour", "out_of_range"},
    {"\"price_per_gpu_hour\":3.25", "\"price_per_gpu_hour\":3.2500001",
     "/prices/0/price_per_gpu_hour", "too_precise"},
    {"\"term_months\":12", "\"term_months\":0", "/prices/1/term_months", "out_of_range"},
    {"\"term_months\":12", "\"term_months\":-1", "/prices/1/term_months", "out_of_range"},
    {"\"term_months\":12", "\"term_months\":601", "/prices/1/term_months", "out_of_range"},
    {"\"term_months\":12", "\"term_months\":1.5", "/prices/1/term_months", "not_a_whole_number"},
    {"\"billing\":\"on_demand\",", "\"billing\":\"on_demand\",\"term_months\":12,",
     "/prices/0/term_months", "out_of_range"},
    {"\"billing\":\"on_demand\",", "\"billing\":\"spot\",\"upfront_percent\":10,",
     "/prices/0/upfront_percent", "out_of_range"},
    {"\"min_gpus\":16", "\"min_gpus\":0", "/prices/1/min_gpus", "out_of_range"},
    {"\"max_gpus\":512", "\"max_gpus\":8", "/prices/1/max_gpus", "out_of_range"},
    {"\"upfront_percent\":20", "\"upfront_percent\":101", "/prices/1/upfront_percent",
     "out_of_range"},
    {"\"upfront_percent\":20", "\"upfront_percent\":-1", "/prices/1/upfront_percent",
     "out_of_range"},
    {"\"egress_per_gb\":0.01", "\"egress_per_gb\":-0.01", "/extra_costs/egress_per_gb",
     "out_of_range"},
    {"\"observed_at\":\"2026-11-30T12:00:00Z\"", "\"observed_at\":\"2199-01-01T00:00:00Z\"",
     "/observed_at", "out_of_range"},
    {"\"observed_at\":\"2026-11-30T12:00:00Z\"", "\"observed_at\":\"yesterday\"", "/observed_at",
     "bad_time"},
    {"\"observed_at\":\"2026-11-30T12:00:00Z\"", "\"observed_at\":\"2026-02-30T12:00:00Z\"",
     "/observed_at", "bad_time"},
    {"\"observed_at\":\"2026-11-30T12:00:00Z\"", "\"observed_at\":\"2026-11-30T12:00:00\"",
     "/observed_at", "bad_time"},
    /* words */
    {"\"interconnect\":\"nvlink\"", "\"interconnect\":\"nvlnk\"", "/interconnect", "unknown_value"},
    {"\"fabric\":\"infiniband\"", "\"fabric\":\"ib\"", "/fabric", "unknown_value"},
    {"\"status\":\"available\"", "\"status\":\"maybe\"", "/availability/status", "unknown_value"},
    {"\"billing\":\"on_demand\"", "\"billing\":\"on-demand\"", "/prices/0/billing",
     "unknown_value"},
    {"\"order_url\":\"https://example.com/\"", "\"order_url\":\"javascript:alert(1)\"",
     "/order_url", "bad_url"},
    {"\"source_url\":\"https://example.com/list\"", "\"source_url\":\"ftp://example.com\"",
     "/source_url", "bad_url"},
    {"\"fabric_gbps\":", "\"fabric_gbs\":", "/fabric_gbs", "unknown_member"},
    {"\"vcpus\":", "\"cpus\":", "/node/cpus", "unknown_member"},
    {"\"price_per_gpu_hour\":3.25", "\"price_per_gpu_hour\":3.25,\"pricee\":1", "/prices/0/pricee",
     "unknown_member"},
    {"\"egress_per_gb\":", "\"egres_per_gb\":", "/extra_costs/egres_per_gb", "unknown_member"},
    {"\"days\":120", "\"days\":120,\"note\":1", "/availability/schedule/0/note", "unknown_member"},
    {"\"price_per_gpu_hour\":3.25", "\"price_per_gpu_hour\":3.25,\"currency\":\"EUR\"",
     "/prices/0/currency", "unsupported_currency"},
    {"\"zone\":\"iad1\"", "\"zone\":\"iad1\",\"provider\":\"other\"", "/provider",
     "wrong_provider"},
    /* prices against each other */
    {"\"price_per_gpu_hour\":3.25", "\"price_per_gpu_hour\":3.25,\"price_per_node_hour\":3.25",
     "/prices/0/price_per_node_hour", "prices_disagree"},
    {"\"price_per_gpu_hour\":3.25", "\"price_per_gpu_hour\":3.25,\"price_per_node_hour\":26.00002",
     "/prices/0/price_per_node_hour", "prices_disagree"},
    {"\"prices\":[", "\"prices\":[{\"billing\":\"on_demand\",\"price_per_gpu_hour\":3},",
     "/prices/1", "duplicate_price"},
    {"\"price_per_gpu_hour\":3.25", "\"price_per_node_hour\":0.000001", "/prices/0",
     "out_of_range"},
    /* memory */
    {"\"vram_gb\":80", "\"vram_gb\":640", "/vram_gb", "vram_fits_no_variant"},
    {"\"vram_gb\":80", "\"vram_gb\":24", "/vram_gb", "vram_fits_no_variant"},
    {"\"vram_gb\":80", "\"vram_gb\":652472", "/vram_gb", "vram_fits_no_variant"},
};

/* good_offer with one piece replaced; the caller frees. */
static char *replaced(const char *find, const char *replace)
{
    const char *at = strstr(good_offer, find);
    cr_assert(at != NULL, "%s", find);
    char *text;
    cr_assert(asprintf(&text, "%.*s%s%s", (int)(at - good_offer), good_offer, replace,
                       at + strlen(find)) > 0);
    return text;
}

static void decode_one(struct test_upload *test, const char *offer)
{
    char *body;
    cr_assert(asprintf(&body, "{\"offers\":[%s]}", offer) > 0);
    test_upload_decode(test, FORMAT_JSON, "acme", body, strlen(body));
    free(body);
}

Test(offer_json, names_each_thing_that_is_wrong)
{
    for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
        const struct wrong *wrong = &wrongs[i];
        char *offer = replaced(wrong->find, wrong->replace), pointer[200];
        struct test_upload test;
        decode_one(&test, offer);
        cr_expect(test.status == DECODE_OK, "%s: %s", wrong->replace, test.error.message);
        snprintf(pointer, sizeof(pointer), "/offers/0%s", wrong->pointer);
        const struct row_issue *issue = test_find_issue(&test.upload.errors, pointer, wrong->code);
        cr_expect(issue != NULL, "%s for %s: %s is missing, there is %s %s (%s)", wrong->replace,
                  wrong->find, wrong->code,
                  test.upload.errors.count > 0 ? test.upload.errors.items[0].pointer : "nothing",
                  test.upload.errors.count > 0 ? test.upload.errors.items[0].code : "",
                  test.upload.errors.count > 0 ? test.upload.errors.items[0].message : "");
        if (issue != NULL) {
            cr_expect(issue->row == 1 && issue->message[0] != '\0');
            bool has_id = strcmp(wrong->pointer, "/external_id") != 0;
            cr_expect(!has_id ||
                          (issue->external_id != NULL && strcmp(issue->external_id, "x") == 0),
                      "%s", wrong->replace);
        }
        cr_expect(test.upload.offer_count == 0 && test.upload.rejected == 1, "%s", wrong->replace);
        test_upload_free(&test);
        free(offer);
    }
}

Test(offer_json, says_what_would_be_right)
{
    static const struct {
        const char *find, *replace, *words;
    } cases[] = {
        {"\"fabric_gbps\":", "\"fabric_gbs\":", "did you mean fabric_gbps?"},
        {"\"vram_gb\":80", "\"vram_gb\":640", "total of all. Known sizes: 80"},
        {"\"vram_gb\":80", "\"vram_gb\":24", "Known sizes: 80"},
        {"\"price_per_gpu_hour\":3.25", "\"price_per_gpu_hour\":3,\"currency\":\"CNY\"", "CNY"},
        {"\"billing\":\"on_demand\"", "\"billing\":\"ondemand\"", "on_demand, spot or reserved"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *offer = replaced(cases[i].find, cases[i].replace);
        struct test_upload test;
        decode_one(&test, offer);
        cr_assert(test.upload.errors.count > 0);
        cr_expect(strstr(test.upload.errors.items[0].message, cases[i].words) != NULL, "%s",
                  test.upload.errors.items[0].message);
        test_upload_free(&test);
        free(offer);
    }
}

Test(offer_json, takes_a_good_one_exactly)
{
    struct test_upload test;
    decode_one(&test, good_offer);
    cr_assert(test.status == DECODE_OK && test.upload.errors.count == 0, "%s",
              test.upload.errors.count > 0 ? test.upload.errors.items[0].message
                                           : test.error.message);
    cr_assert(test.upload.offer_count == 1);
    const struct offer *offer = &test.upload.offers[0];
    cr_expect_str_eq(offer->external_id, "x");
    cr_expect_str_eq(gpu_at(offer->gpu)->slug, "h100-sxm");
    cr_expect_str_eq(place_at(offer->place)->slug, "us-east");
    cr_expect(offer->gpu_count_milli == 8000 && offer->vram_gb_milli == 80000);
    cr_expect(offer->memory_gib_milli == 2048000 && offer->fabric_gbps_milli == 3200000);
    cr_expect(offer->availability.gpus_available == 64 && offer->availability.lead_time_days == 0);
    cr_expect(offer->availability.schedule_count == 1 &&
              offer->availability.schedule[0].gpus == 2000 &&
              offer->availability.schedule[0].days == 120);
    cr_assert(offer->price_count == 2);
    cr_expect(offer->prices[0].per_gpu_hour_microusd == 3250000 &&
              offer->prices[0].per_node_hour_microusd == 26000000);
    cr_expect(offer->prices[1].upfront_percent_milli == 20000 && offer->prices[1].max_gpus == 512);
    cr_expect(offer->extra_costs.egress_per_gb_microusd == 10000 &&
              offer->extra_costs.storage_per_gb_month_microusd == UNKNOWN);
    cr_expect(offer->flags == 0 && offer->observed_at_us == INT64_C(1796040000000000));
    test_upload_free(&test);
}

/* What is left out, or null, is unknown and never 0; 0 is a number. */
Test(offer_json, unknown_is_not_zero)
{
    static const char *const texts[] = {
        "{\"external_id\":\"x\",\"gpu\":\"L4\",\"gpu_count\":0.125,"
        "\"prices\":[{\"billing\":\"spot\",\"price_per_node_hour\":0.1}]}",
        "{\"external_id\":\"x\",\"gpu\":\"L4\",\"gpu_count\":0.125,\"node\":null,\"region\":null,"
        "\"availability\":{\"gpus_available\":null},\"fabric\":null,\"observed_at\":null,"
        "\"prices\":[{\"billing\":\"spot\",\"price_per_node_hour\":0.1,\"plan\":null,"
        "\"term_months\":null,\"price_per_gpu_hour\":null}]}",
    };
    for (size_t i = 0; i < 2; i++) {
        struct test_upload test;
        decode_one(&test, texts[i]);
        cr_assert(test.upload.offer_count == 1, "%zu", i);
        const struct offer *offer = &test.upload.offers[0];
        cr_expect(offer->vcpus_milli == UNKNOWN && offer->memory_gib_milli == UNKNOWN &&
                  offer->storage_gb_milli == UNKNOWN && offer->fabric == FABRIC_UNKNOWN &&
                  offer->availability.gpus_available == UNKNOWN && offer->region_raw == NULL &&
                  offer->place == INDEX_NONE && offer->observed_at_us == TIMESTAMP_UNKNOWN);
        cr_expect(offer->prices[0].min_gpus == UNKNOWN && offer->prices[0].term_months == 0);
        cr_expect(offer->prices[0].per_gpu_hour_microusd == 800000);
        test_upload_free(&test);
    }
}

/* Drivers report less than the nominal size, in MiB: the nominal one rules. */
Test(offer_json, reported_memory_meets_the_nominal)
{
    static const struct {
        const char *gpu, *size;
        int64_t nominal_gb_milli;
    } cases[] = {
        {"H100 SXM5", "81559", 80000},  {"H100 SXM5", "79.6", 80000},  {"L4", "22888", 24000},
        {"L40S", "45776", 48000},       {"A100 SXM4", "40960", 40000}, {"A100 SXM4", "80", 80000},
        {"Frobnicator 9", "17", 17000},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char offer[300];
        struct test_upload test;
        snprintf(offer, sizeof(offer),
                 "{\"external_id\":\"x\",\"gpu\":\"%s\",\"gpu_count\":1,\"vram_gb\":%s,"
                 "\"prices\":[{\"billing\":\"spot\",\"price_per_gpu_hour\":1}]}",
                 cases[i].gpu, cases[i].size);
        decode_one(&test, offer);
        cr_assert(test.upload.offer_count == 1, "%s %s: %s", cases[i].gpu, cases[i].size,
                  test.upload.errors.count > 0 ? test.upload.errors.items[0].message : "");
        cr_expect(test.upload.offers[0].vram_gb_milli == cases[i].nominal_gb_milli, "%s %s",
                  cases[i].gpu, cases[i].size);
        test_upload_free(&test);
    }
}

/* Sixths print as three decimals and compute as sixths. */
Test(offer_json, sixths_and_exact_money)
{
    struct test_upload test;
    decode_one(&test, "{\"external_id\":\"x\",\"gpu\":\"A10\",\"gpu_count\":0.167,"
                      "\"prices\":[{\"billing\":\"on_demand\",\"price_per_node_hour\":0.454}]}");
    cr_assert(test.upload.offer_count == 1);
    cr_expect(test.upload.offers[0].prices[0].per_gpu_hour_microusd == 2724000);
    test_upload_free(&test);
    decode_one(&test, "{\"external_id\":\"x\",\"gpu\":\"A10\",\"gpu_count\":8,\"prices\":["
                      "{\"billing\":\"on_demand\",\"price_per_gpu_hour\":0.043058},"
                      "{\"billing\":\"spot\",\"price_per_gpu_hour\":4.3058e-2}]}");
    cr_assert(test.upload.offer_count == 1);
    for (int i = 0; i < 2; i++)
        cr_expect(test.upload.offers[0].prices[i].per_gpu_hour_microusd == 43058 &&
                  test.upload.offers[0].prices[i].per_node_hour_microusd == 344464);
    test_upload_free(&test);
}

Test(offer_json, both_prices_may_agree)
{
    struct test_upload test;
    decode_one(&test, "{\"external_id\":\"x\",\"gpu\":\"A10\",\"gpu_count\":3,\"prices\":["
                      "{\"billing\":\"on_demand\",\"price_per_gpu_hour\":0.333333,"
                      "\"price_per_node_hour\":1}]}");
    cr_assert(test.upload.offer_count == 1);
    cr_expect(test.upload.offers[0].prices[0].quoted_per == PRICE_PER_GPU);
    test_upload_free(&test);
}

/* Sixty-four kilobytes of nonsense members are one refused row with a bounded list. */
Test(offer_json, bounds_the_issues_of_a_row)
{
    struct buf offer = {0};
    struct test_upload test;
    buf_add_string(&offer, "{\"external_id\":\"x\"");
    for (int i = 0; i < 200; i++)
        buf_printf(&offer, ",\"nonsense%d\":1", i);
    buf_add_char(&offer, '}');
    decode_one(&test, offer.data);
    cr_expect(test.status == DECODE_OK && test.upload.rejected == 1);
    cr_expect(test.upload.errors.count == 20);
    cr_expect_str_eq(test.upload.errors.items[19].code, "too_many_errors");
    buf_free(&offer);
    test_upload_free(&test);
}
