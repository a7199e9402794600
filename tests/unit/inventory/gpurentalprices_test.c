/* Snapshots of many providers, and files of our own that name theirs. */
#include "tests/support/test_upload.h"

#include "server/base/decimal.h"
#include "server/reference/gpu.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(gpurentalprices, .timeout = 120);

#define ROW(provider, gpu, vram, price, kind, more)                                                \
    "{\"provider\":\"" provider "\",\"gpu\":\"" gpu "\",\"vram_gb\":" vram ",\"usd_hr\":" price    \
    ",\"kind\":\"" kind "\"" more ",\"source_url\":\"https://example.com/p\","                     \
    "\"fetched_at\":\"2026-08-22T06:21:49.413Z\"}"

/* clang-format off */
static const char snapshot[] =
    "{\"date\":\"2026-08-22\",\"providers\":{\"acme\":{\"ok\":true}},\"offers\":["
    ROW("acme", "h100-sxm", "80", "2.5", "secure", "") ","
    ROW("acme", "h100-sxm", "80", "1.9", "community", "") ","
    ROW("bolt", "l4", "24", "0.7", "on-demand", "") ","
    ROW("acme", "h100-sxm", "80", "2.4", "secure", "") ","
    ROW("acme", "b200", "192", "4.1234567", "spot", ",\"min_gpus\":8") ","
    ROW("acme", "l4", "24", "0.3", "rent", "") ","
    ROW("acme", "l4", "24", "\"0.3\"", "spot", "") ","
    ROW("acme", "l4", "24", "-3", "spot", "")
    "],\"meta\":{\"provider_count\":2}}";
/* clang-format on */

Test(gpurentalprices, one_providers_rows)
{
    struct test_upload test;
    test_upload_decode(&test, FORMAT_UNKNOWN, "acme", snapshot, strlen(snapshot));
    cr_assert(test.status == DECODE_OK, "%s", test.error.message);
    cr_expect(test.upload.offer_count == 2 && test.upload.rejected == 3 &&
              test.upload.skipped == 1 && test.upload.rows_read == 8);
    const struct offer *offer = test_find_offer(&test.upload, "h100-sxm-80gb");
    cr_assert(offer != NULL && offer->price_count == 2);
    cr_expect_str_eq(offer->attribution, "gpurentalprices.com (CC BY 4.0)");
    cr_expect_str_eq(offer->source_url, "https://example.com/p");
    cr_expect_str_eq(offer->prices[0].plan, "community");
    cr_expect_str_eq(offer->prices[1].plan, "secure");
    cr_expect(offer->prices[1].quoted_microusd == 2400000, "the cheapest stands");
    cr_expect(offer->region_raw == NULL && offer->gpu_count_milli == 1000);
    cr_expect(offer->observed_at_us == INT64_C(1787379709413000));
    const struct row_issue *warning =
        test_find_issue(&test.upload.warnings, "/offers/0/usd_hr", "duplicate_price");
    cr_expect(warning != NULL && warning->row == 1);
    offer = test_find_offer(&test.upload, "b200-192gb-min8");
    cr_assert(offer != NULL);
    cr_expect(offer->prices[0].min_gpus == 8 && offer->prices[0].billing == BILLING_SPOT &&
              offer->prices[0].quoted_microusd == 4123457 &&
              (offer->flags & OFFER_FLAG(PRICE_ROUNDED)) != 0);
    cr_expect(test_find_issue(&test.upload.errors, "/offers/5/kind", "unknown_value") != NULL);
    cr_expect(test_find_issue(&test.upload.errors, "/offers/6/usd_hr", "wrong_type") != NULL);
    cr_expect(test_find_issue(&test.upload.errors, "/offers/7/usd_hr", "out_of_range") != NULL);
    test_upload_free(&test);
}

static enum decode_status split(enum upload_format format, const char *bytes, size_t length,
                                struct arena *arena, struct provider_upload **ret, size_t *count,
                                struct decode_error *error)
{
    struct decode_options options = test_decode_options(format, NULL);
    return upload_split(&options, bytes, length, arena, ret, count, error);
}

/* Every snapshot in place: nothing but repetitions is lost, and 39 things have two prices. */
Test(gpurentalprices, real_snapshots)
{
    static const char *const days[] = {"2026-07-05", "2026-07-06", "2026-07-07", "2026-07-08",
                                       "2026-07-09", "2026-07-10", "2026-07-11", "2026-07-12",
                                       "2026-07-13", "2026-07-14", "2026-07-15", "2026-07-16",
                                       "2026-07-17", "2026-07-18", "2026-08-22"};
    size_t repeated = 0;
    for (size_t d = 0; d < sizeof(days) / sizeof(days[0]); d++) {
        char path[200];
        size_t length, count;
        snprintf(path, sizeof(path), "catalogues/gpurentalprices/snapshots/%s.json", days[d]);
        char *bytes = test_read_data(path, &length);
        if (bytes == NULL)
            cr_skip_test("RACKRATE_TEST_DATA has no %s", path);
        struct arena arena = {0};
        struct provider_upload *uploads;
        struct decode_error error;
        cr_assert(split(FORMAT_UNKNOWN, bytes, length, &arena, &uploads, &count, &error) ==
                      DECODE_OK,
                  "%s", error.message);
        size_t rows = 0, prices = 0, duplicates = 0;
        for (size_t i = 0; i < count; i++) {
            const struct upload *upload = &uploads[i].upload;
            rows += (size_t)upload->rows_read;
            cr_expect(upload->errors.count == 0, "%s: %s", uploads[i].slug,
                      upload->errors.count > 0 ? upload->errors.items[0].message : "");
            for (size_t k = 0; k < upload->offer_count; k++) {
                prices += upload->offers[k].price_count;
                cr_expect(upload->offers[k].gpu != gpu_unrecognized(), "%s",
                          upload->offers[k].gpu_raw);
            }
            for (size_t k = 0; k < upload->warnings.count; k++)
                duplicates += strcmp(upload->warnings.items[k].code, "duplicate_price") == 0;
        }
        cr_expect(rows == prices + duplicates, "%s: %zu rows, %zu prices, %zu repeated", days[d],
                  rows, prices, duplicates);
        if (strcmp(days[d], "2026-08-22") == 0)
            cr_expect(rows == 293 && count == 34 && duplicates == 0);
        repeated += duplicates;
        arena_free(&arena);
        free(bytes);
    }
    cr_expect(repeated == 52, "39 things with two or three prices: %zu rows too many", repeated);
}

#define OFFER(provider, id)                                                                        \
    "{\"provider\":\"" provider "\",\"external_id\":\"" id "\",\"gpu\":\"L4\",\"gpu_count\":1,"    \
    "\"prices\":[{\"billing\":\"spot\",\"price_per_gpu_hour\":0.5}]}"

Test(gpurentalprices, files_of_our_own_are_split_by_provider)
{
    static const struct {
        enum upload_format format;
        const char *body;
    } files[] = {
        {FORMAT_JSON,
         "{\"offers\":[" OFFER("bolt", "1") "," OFFER("acme", "1") "," OFFER("bolt", "2") "]}"},
        {FORMAT_NDJSON, OFFER("bolt", "1") "\n" OFFER("\\u0061cme", "1") "\n" OFFER("bolt", "2")},
        {FORMAT_CSV, "external_id,gpu,gpu_count,billing,price_per_gpu_hour,provider\n"
                     "1,L4,1,spot,0.5,bolt\n1,L4,1,spot,0.5,acme\n2,L4,1,spot,0.5,bolt\n"},
    };
    for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
        for (int known = 0; known < 2; known++) {
            struct arena arena = {0};
            struct provider_upload *uploads;
            size_t count;
            struct decode_error error;
            cr_assert(split(known ? files[f].format : FORMAT_UNKNOWN, files[f].body,
                            strlen(files[f].body), &arena, &uploads, &count, &error) == DECODE_OK &&
                          count == 2,
                      "%zu: %s", f, error.message);
            cr_expect_str_eq(uploads[0].slug, "acme");
            cr_expect_str_eq(uploads[1].slug, "bolt");
            cr_expect(uploads[0].upload.offer_count == 1 && uploads[0].upload.rows_read == 1 &&
                      uploads[0].upload.errors.count == 0);
            cr_expect(uploads[1].upload.offer_count == 2 && uploads[1].upload.rows_read == 2);
            arena_free(&arena);
        }
    }
}

Test(gpurentalprices, a_row_without_a_provider_refuses_the_file)
{
    static const struct {
        const char *body, *words;
    } cases[] = {
        {"{\"offers\":[{\"external_id\":\"a\"}]}", "Row 1 names no provider"},
        {OFFER("acme", "1") "\n{}\n", "Row 2 names no provider"},
        {OFFER("No Slug", "1"), "no provider's slug"},
        {"external_id,gpu,gpu_count\na,L4,1\n", "Row 2 names no provider"},
        {"InstanceType,Price\n", "say whose it is"},
        {"nothing", "no JSON"},
        {"{\"offers\":[" OFFER("acme", "1"), "cut short"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena arena = {0};
        struct provider_upload *uploads;
        size_t count;
        struct decode_error error;
        cr_expect(split(FORMAT_UNKNOWN, cases[i].body, strlen(cases[i].body), &arena, &uploads,
                        &count, &error) != DECODE_OK &&
                  count == 0);
        cr_expect(strstr(error.message, cases[i].words) != NULL, "%s", error.message);
        arena_free(&arena);
    }
}
