/* Rackrate's own CSV: merging rows, columns in any order, what is refused and where. */
#include "tests/support/test_upload.h"

#include "server/reference/gpu.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(csv_offers, .timeout = 60);

#define HEAD "external_id,gpu,gpu_count,region,billing,term_months,price_per_gpu_hour\r\n"

static void decode(struct test_upload *test, const char *body)
{
    test_upload_decode(test, FORMAT_CSV, "acme", body, strlen(body));
}

Test(csv_offers, rows_of_one_offer_merge_wherever_they_stand)
{
    struct test_upload test;
    decode(&test, HEAD "c1,H100 SXM5,8,us-east,on_demand,,3.25\r\n"
                       "c2,L4,1,,spot,,0.2\r\n"
                       "c1,,,,reserved,12,2.2\r\n"
                       "c1,H100 SXM5,8,us-east,reserved,6,2.4\r\n");
    cr_assert(test.status == DECODE_OK && test.upload.errors.count == 0, "%s",
              test.upload.errors.count > 0 ? test.upload.errors.items[0].message
                                           : test.error.message);
    cr_expect(test.upload.offer_count == 2 && test.upload.rows_read == 4);
    const struct offer *offer = test_find_offer(&test.upload, "c1");
    cr_assert(offer != NULL && offer->price_count == 3);
    cr_expect(offer->prices[1].term_months == 6 && offer->prices[2].quoted_microusd == 2200000);
    cr_expect_str_eq(offer->region_raw, "us-east");
    test_upload_free(&test);
}

Test(csv_offers, any_column_order_mark_quotes_line_ends)
{
    static const char *const bodies[] = {
        "\xef\xbb\xbfprice_per_node_hour,gpu,external_id,billing,gpu_count\n"
        "19.60,\"NVIDIA A100-SXM4-80GB\",\"c,2\",on_demand,8\n",
        "gpu_count,billing,external_id,gpu,price_per_node_hour\r\n"
        "\r\n8,on_demand,\"c,2\", \"NVIDIA A100-SXM4-80GB\" ,19.60\r\n\r\n",
        "external_id,gpu,gpu_count,billing,price_per_node_hour\r"
        "\"c,2\",NVIDIA A100-SXM4-80GB,8,on_demand,19.60\r",
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct test_upload test;
        decode(&test, bodies[i]);
        cr_assert(test.status == DECODE_OK && test.upload.offer_count == 1, "%zu: %s", i,
                  test.error.message);
        const struct offer *offer = &test.upload.offers[0];
        cr_expect_str_eq(offer->external_id, "c,2");
        cr_expect_str_eq(gpu_at(offer->gpu)->slug, "a100-sxm-80gb");
        cr_expect(offer->prices[0].per_gpu_hour_microusd == 2450000 &&
                  offer->prices[0].quoted_per == PRICE_PER_NODE);
        test_upload_free(&test);
    }
}

Test(csv_offers, issues_name_row_and_column)
{
    static const struct {
        const char *body;
        int64_t row;
        const char *pointer, *code;
    } cases[] = {
        {HEAD "c3,L4,1,us-east,on_demand,,\"0,71\"\r\n", 2, "price_per_gpu_hour", "decimal_comma"},
        {HEAD "c3,L4,1,us-east,on_demand,,1e3\r\n", 2, "price_per_gpu_hour", "not_a_number"},
        {HEAD "c3,L4,1,us-east,on_demand,,$5\r\n", 2, "price_per_gpu_hour", "not_a_number"},
        {HEAD "c3,L4,1,us-east,on_demand,,NaN\r\n", 2, "price_per_gpu_hour", "not_a_number"},
        {HEAD "c3,L4,1,us-east,on_demand,,-1\r\n", 2, "price_per_gpu_hour", "out_of_range"},
        {HEAD "c3,L4,1,us-east,on_demand,,0.1234567\r\n", 2, "price_per_gpu_hour", "too_precise"},
        {HEAD "c3,L4,1,us-east,on_demand,,1\r\n,L4,1,us-east,spot,,1\r\n", 3, "external_id",
         "missing_field"},
        {HEAD "c3,,1,us-east,on_demand,,1\r\n", 2, "gpu", "missing_field"},
        {HEAD "c3,L4,,us-east,on_demand,,1\r\n", 2, "gpu_count", "missing_field"},
        {HEAD "c3,L4,1,us-east,,,1\r\n", 2, "billing", "missing_field"},
        {HEAD "c3,L4,1,us-east,on_demand,,1\r\nc3,L4,1,us-east,reserved,,1\r\n", 3, "term_months",
         "missing_field"},
        {HEAD "c3,L4,1,us-east,on_demand,,1\r\nc3,L4,2,us-east,spot,,1\r\n", 3, "gpu_count",
         "rows_disagree"},
        {HEAD "c3,L4,1,us-east,on_demand,,1\r\nc3,L4,1,us-east,on_demand,,2\r\n", 3, "",
         "duplicate_price"},
        {HEAD "c3,L4,1,us-east,on_demand\r\nc4,L4,1,us-east,on_demand,,1\r\n", 2, "",
         "wrong_field_count"},
        {HEAD "c3,L4,1,us-east,on_demand,,\r\n", 2, "", "missing_field"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct test_upload test;
        decode(&test, cases[i].body);
        const struct row_issue *issue =
            test_find_issue(&test.upload.errors, cases[i].pointer, cases[i].code);
        cr_expect(issue != NULL, "case %zu: there is %s %s", i,
                  test.upload.errors.count > 0 ? test.upload.errors.items[0].pointer : "nothing",
                  test.upload.errors.count > 0 ? test.upload.errors.items[0].code
                                               : test.error.message);
        cr_expect(issue == NULL || issue->row == cases[i].row, "case %zu: row %d", i,
                  issue == NULL ? 0 : (int)issue->row);
        cr_expect(test_find_offer(&test.upload, "c3") == NULL || cases[i].row == 3, "case %zu", i);
        test_upload_free(&test);
    }
}

Test(csv_offers, refuses_files_that_are_something_else)
{
    static const struct {
        const char *body, *words;
        enum decode_status status;
    } cases[] = {
        {"", "empty", DECODE_MALFORMED},
        {"\n\n", "empty", DECODE_MALFORMED},
        {"external_id,gpu,gpu_count,pricee_per_gpu_hour\n", "price_per_gpu_hour", DECODE_MALFORMED},
        {"external_id,gpu,gpu_count,gpu\n", "twice", DECODE_MALFORMED},
        {"external_id,gpu\n", "needs", DECODE_MALFORMED},
        {HEAD "\"c3,L4,1\r\n", "inside quotes", DECODE_MALFORMED},
        {HEAD "c3,L4,1,us-east,on\"_demand,,1\r\n", "quote", DECODE_MALFORMED},
        {HEAD "\"c3\"x,L4,1,us-east,on_demand,,1\r\n", "quote", DECODE_MALFORMED},
        {HEAD "c3,L4,1,\xff\xfe,on_demand,,1\r\n", "UTF-8", DECODE_MALFORMED},
        {HEAD "c3,L4,1,us-east", "cut short", DECODE_MALFORMED},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct test_upload test;
        decode(&test, cases[i].body);
        cr_expect(test.status == cases[i].status, "case %zu: %d", i, test.status);
        cr_expect(strstr(test.error.message, cases[i].words) != NULL, "case %zu: %s", i,
                  test.error.message);
        cr_expect(test.upload.offer_count == 0);
        test_upload_free(&test);
    }
}

Test(csv_offers, quoted_line_ends_stay_in_their_row)
{
    struct test_upload test;
    decode(&test, "external_id,gpu,gpu_count,billing,price_per_gpu_hour\n"
                  "\"a\nb\",L4,1,spot,1\nc,L4,x,spot,1\n");
    /* A control character is no part of an id; the row after it is still row 3. */
    const struct row_issue *issue =
        test_find_issue(&test.upload.errors, "external_id", "out_of_range");
    cr_expect(issue != NULL && issue->row == 2);
    issue = test_find_issue(&test.upload.errors, "gpu_count", "not_a_number");
    cr_expect(issue != NULL && issue->row == 3);
    test_upload_free(&test);
}

Test(csv_offers, a_last_row_without_end_is_a_doubt)
{
    struct test_upload test;
    decode(&test, HEAD "c3,L4,1,us-east,on_demand,,1");
    cr_expect(test.upload.offer_count == 1);
    const struct row_issue *warning = test_find_issue(&test.upload.warnings, "", "no_line_end");
    cr_expect(warning != NULL && warning->row == 2);
    test_upload_free(&test);
}

Test(csv_offers, bounds_rows_prices_and_columns)
{
    struct buf body = {0};
    struct test_upload test;
    buf_add_string(&body, HEAD);
    for (int i = 0; i < 201; i++)
        buf_printf(&body, "c,L4,1,,reserved,%d,1\n", i + 1);
    decode(&test, body.data);
    cr_expect(test.upload.offer_count == 0 && test.upload.rejected == 1);
    cr_expect(test_find_issue(&test.upload.errors, "", "out_of_range") != NULL);
    test_upload_free(&test);
    buf_clear(&body);
    buf_add_string(&body, HEAD "c,\"");
    for (int i = 0; i < 1 << 20; i++)
        buf_add_char(&body, 'a');
    decode(&test, body.data);
    cr_expect(test.status == DECODE_TOO_LARGE && test.error.line == 2, "%s", test.error.message);
    test_upload_free(&test);
    buf_clear(&body);
    for (int i = 0; i < 100; i++)
        buf_add_string(&body, "a,");
    buf_add_string(&body, "external_id\n");
    decode(&test, body.data);
    cr_expect(test.status == DECODE_MALFORMED && strstr(test.error.message, "64 columns") != NULL);
    test_upload_free(&test);
    buf_free(&body);
}
