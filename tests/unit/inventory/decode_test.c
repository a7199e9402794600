/* Whole bodies: which are refused, with which line; rows in good bodies; recognition; bounds. */
#include "tests/support/test_upload.h"

#include "server/base/timestamp.h"

#include <criterion/criterion.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(decode, .timeout = 120);

#define OFFER(id)                                                                                  \
    "{\"external_id\":\"" id "\",\"gpu\":\"L4\",\"gpu_count\":1,\"prices\":[{\"billing\":"         \
    "\"spot\",\"price_per_gpu_hour\":0.5}]}"

Test(decode, refuses_bodies_that_are_not_the_format)
{
    static const struct {
        enum upload_format format;
        const char *body;
        enum decode_status status;
        int64_t line;
        const char *words;
    } cases[] = {
        {FORMAT_JSON, "", DECODE_MALFORMED, 1, "cut short"},
        {FORMAT_JSON, "[]", DECODE_MALFORMED, 1, "`{`"},
        {FORMAT_JSON, "null", DECODE_MALFORMED, 1, "`{`"},
        {FORMAT_JSON, "{}", DECODE_MALFORMED, 1, "no JSON"},
        {FORMAT_JSON, "{\"offer\":[]}", DECODE_MALFORMED, 1, "\"offer\""},
        {FORMAT_JSON, "{\"offers\":{}}", DECODE_MALFORMED, 1, "`[`"},
        {FORMAT_JSON, "{\"offers\":[],\"more\":1}", DECODE_MALFORMED, 1, "\"more\""},
        {FORMAT_JSON, "{\"offers\":[],\"offers\":[]}", DECODE_MALFORMED, 1, "twice"},
        {FORMAT_JSON, "{\"offers\":[]} x", DECODE_MALFORMED, 1, "follows the end"},
        {FORMAT_JSON, "{\"offers\":[" OFFER("a") ",]}", DECODE_MALFORMED, 1, "value"},
        {FORMAT_JSON, "{\"offers\":[\n" OFFER("a") "\n" OFFER("b") "]}", DECODE_MALFORMED, 3,
         "`]`"},
        {FORMAT_JSON, "{\"offers\":[" OFFER("a"), DECODE_MALFORMED, 1, "cut short"},
        {FORMAT_JSON, "{\"offers\":[{\"a\":1,\"a\":2}]}", DECODE_MALFORMED, 1, "member twice"},
        {FORMAT_JSON, "{\"offers\":[{\"a\":NaN}]}", DECODE_MALFORMED, 1, "value"},
        {FORMAT_NDJSON, OFFER("a") "\n{\"external_id\":", DECODE_MALFORMED, 2, "cut short"},
        {FORMAT_NDJSON, OFFER("a") OFFER("b"), DECODE_MALFORMED, 1, "follows the offer"},
        {FORMAT_NDJSON, OFFER("a") "\n\nx\n", DECODE_MALFORMED, 3, "Line 3"},
        {FORMAT_UNKNOWN, "hello", DECODE_UNKNOWN_FORMAT, 0, "no JSON, NDJSON, CSV"},
        {FORMAT_UNKNOWN, "", DECODE_UNKNOWN_FORMAT, 0, "no JSON"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct test_upload test;
        test_upload_decode(&test, cases[i].format, "acme", cases[i].body, strlen(cases[i].body));
        cr_expect(test.status == cases[i].status, "case %zu: %d", i, test.status);
        cr_expect(test.error.line == cases[i].line, "case %zu: line %d", i, (int)test.error.line);
        cr_expect(strstr(test.error.message, cases[i].words) != NULL, "case %zu: %s", i,
                  test.error.message);
        cr_expect(test.upload.offer_count == 0 && test.upload.errors.count == 0, "case %zu", i);
        test_upload_free(&test);
    }
}

Test(decode, recognizes_formats_by_their_first_bytes)
{
    static const struct {
        const char *body;
        enum upload_format format;
    } cases[] = {
        {"{\"offers\": []}", FORMAT_JSON},
        {" \n{ \"offers\":[]}", FORMAT_JSON},
        {"{\"external_id\":\"a\"}", FORMAT_NDJSON},
        {"{\"date\":\"2026-08-22\"}", FORMAT_GPURENTALPRICES},
        {"gpu,external_id,gpu_count\n", FORMAT_CSV},
        {"\xef\xbb\xbfgpu,external_id\n", FORMAT_CSV},
        {"InstanceType,Price\n", FORMAT_SKYPILOT},
        {"a,b\nexternal_id,InstanceType", FORMAT_UNKNOWN},
        {"", FORMAT_UNKNOWN},
        {"{", FORMAT_NDJSON},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        cr_expect(upload_recognize(cases[i].body, strlen(cases[i].body)) == cases[i].format, "%s",
                  cases[i].body);
}

Test(decode, rows_count_from_one_and_blank_lines_too)
{
    const char *body = "\xef\xbb\xbf" OFFER("b") "\r\n\n" OFFER("a") "\n7\n" OFFER("b") "\nnull";
    struct test_upload test;
    test_upload_decode(&test, FORMAT_UNKNOWN, "acme", body, strlen(body));
    cr_assert(test.status == DECODE_OK, "%s", test.error.message);
    cr_expect(test.upload.rows_read == 5 && test.upload.rejected == 3);
    cr_assert(test.upload.offer_count == 2);
    cr_expect_str_eq(test.upload.offers[0].external_id, "a");
    cr_expect_str_eq(test.upload.offers[1].external_id, "b");
    const struct row_issue *type = test_find_issue(&test.upload.errors, "", "wrong_type");
    cr_expect(type != NULL && type->row == 4);
    const struct row_issue *twice =
        test_find_issue(&test.upload.errors, "/external_id", "duplicate_external_id");
    cr_expect(twice != NULL && twice->row == 5 && strstr(twice->message, "Row 1") != NULL);
    test_upload_free(&test);
}

Test(decode, json_pointers_name_the_row)
{
    const char *body =
        "{\"offers\":[" OFFER("x") ",{\"external_id\":\"y\",\"gpu\":\"L4\","
                                   "\"gpu_count\":1,\"prices\":[{\"billing\":\"on_demand\","
                                   "\"price_per_gpu_hour\":-1}]}," OFFER("x") "]}";
    struct test_upload test;
    test_upload_decode(&test, FORMAT_JSON, "acme", body, strlen(body));
    const struct row_issue *issue = test_find_issue(
        &test.upload.errors, "/offers/1/prices/0/price_per_gpu_hour", "out_of_range");
    cr_expect(issue != NULL && issue->row == 2);
    issue = test_find_issue(&test.upload.errors, "/offers/2/external_id", "duplicate_external_id");
    cr_expect(issue != NULL && issue->row == 3);
    cr_expect(test.upload.offer_count == 1 && test.upload.rejected == 2);
    test_upload_free(&test);
}

Test(decode, bounds_a_row)
{
    struct buf body = {0};
    for (int format = 0; format < 2; format++) {
        for (int at = 0; at < 2; at++) { /* a long text, and endless values */
            struct test_upload test;
            buf_clear(&body);
            buf_add_string(&body,
                           format == 0 ? "{\"offers\":[{\"external_id\":" : "{\"external_id\":");
            buf_add_char(&body, at == 0 ? '"' : '[');
            for (size_t i = 0; i < 1 << 20; i++)
                buf_add_string(&body, at == 0 ? "a" : "1,");
            buf_add_string(&body, at == 0 ? "\"" : "1]");
            buf_add_string(&body, format == 0 ? "}]}" : "}\n");
            test_upload_decode(&test, format == 0 ? FORMAT_JSON : FORMAT_NDJSON, "acme", body.data,
                               body.length);
            cr_expect(test.status == DECODE_TOO_LARGE, "%d %d: %d", format, at, test.status);
            cr_expect(strstr(test.error.message, "64 KiB") != NULL, "%s", test.error.message);
            cr_expect(test.arena.allocated_bytes < body.length * 4);
            test_upload_free(&test);
        }
    }
    buf_free(&body);
}

Test(decode, bounds_rows_and_errors)
{
    struct buf body = {0};
    struct test_upload test;
    buf_add_string(&body, "{\"offers\":[1");
    for (int i = 0; i < 200000; i++)
        buf_add_string(&body, ",1");
    buf_add_string(&body, "]}");
    test_upload_decode(&test, FORMAT_JSON, "acme", body.data, body.length);
    cr_expect(test.status == DECODE_TOO_LARGE && test.upload.errors.count == 0);
    cr_expect(strstr(test.error.message, "the first in row 1") != NULL, "%s", test.error.message);
    test_upload_free(&test);
    buf_free(&body);
}

/* Cut anywhere, a body is refused whole, or (NDJSON, at a line's end) is what it says it is. */
Test(decode, refuses_every_cut)
{
    const char *json = "{\"offers\":[" OFFER("a") "," OFFER("b") "]}";
    const char *lines = OFFER("a") "\n" OFFER("b") "\n";
    for (size_t cut = 0; cut < strlen(json); cut++) {
        struct test_upload test;
        test_upload_decode(&test, FORMAT_JSON, "acme", json, cut);
        cr_expect(test.status == DECODE_MALFORMED, "json cut at %zu", cut);
        test_upload_free(&test);
    }
    size_t whole = strlen(OFFER("a"));
    for (size_t cut = 0; cut < strlen(lines); cut++) {
        struct test_upload test;
        test_upload_decode(&test, FORMAT_NDJSON, "acme", lines, cut);
        bool at_end = cut == 0 || cut == whole || cut == whole + 1 || cut >= strlen(lines) - 1;
        cr_expect(test.status == (at_end ? DECODE_OK : DECODE_MALFORMED), "cut at %zu", cut);
        test_upload_free(&test);
    }
}

/* A body in memory and what decoding adds to it stay under twice its size. */
Test(decode, memory_stays_under_twice_the_body)
{
    struct buf body = {0};
    for (int i = 0; i < 50000; i++)
        buf_printf(&body,
                   "{\"external_id\": \"n%d\", \"gpu\": \"h100-sxm\", \"gpu_count\": 8, "
                   "\"region\": \"us-east\", \"node\": {\"vcpus\": 192, \"memory_gib\": 2048, "
                   "\"storage_gb\": 40000}, \"interconnect\": \"nvlink\", \"fabric\": "
                   "\"infiniband\", \"fabric_gbps\": 3200, \"availability\": {\"status\": "
                   "\"available\", \"gpus_available\": 64, \"lead_time_days\": 0}, \"prices\": "
                   "[{\"billing\": \"on_demand\", \"price_per_gpu_hour\": 2.49}]}\n",
                   i);
    struct decode_options options = test_decode_options(FORMAT_NDJSON, "acme");
    struct arena arena = {0};
    struct upload upload;
    struct decode_error error;
    cr_assert(upload_decode(&options, body.data, body.length, &arena, &upload, &error) ==
              DECODE_OK);
    cr_expect(upload.offer_count == 50000);
    /* The list of offers is reserved for the most there could be; only what is used is memory. */
    size_t reserved = body.length / 90 * sizeof(struct offer);
    size_t used = arena.allocated_bytes - reserved + upload.offer_count * sizeof(struct offer);
    cr_expect(used < body.length, "%zu of %zu", used, body.length);
    arena_free(&arena);
    buf_free(&body);
}

struct seen {
    int calls;
    size_t bytes;
    int64_t rows;
};

static void see(void *closure, size_t bytes, int64_t rows)
{
    struct seen *seen = closure;
    cr_expect(bytes >= seen->bytes && rows > seen->rows);
    *seen = (struct seen){seen->calls + 1, bytes, rows};
}

Test(decode, tells_its_progress)
{
    struct buf body = {0};
    struct seen seen = {0};
    for (int i = 0; i < 3500; i++)
        buf_printf(&body, "{\"external_id\":\"%d\"}\n", i);
    struct decode_options options = test_decode_options(FORMAT_NDJSON, "acme");
    options.progress = see;
    options.progress_closure = &seen;
    struct arena arena = {0};
    struct upload upload;
    struct decode_error error;
    upload_decode(&options, body.data, body.length, &arena, &upload, &error);
    cr_expect(seen.calls == 3 && seen.rows == 3000 && seen.bytes > body.length / 2);
    arena_free(&arena);
    buf_free(&body);
}

Test(decode, as_of_stands_in_for_a_missing_time)
{
    const char *body = OFFER("a");
    struct decode_options options = test_decode_options(FORMAT_NDJSON, "acme");
    options.as_of_us = 1234567;
    struct arena arena = {0};
    struct upload upload;
    struct decode_error error;
    cr_assert(upload_decode(&options, body, strlen(body), &arena, &upload, &error) == DECODE_OK);
    cr_expect(upload.offers[0].observed_at_us == 1234567);
    arena_free(&arena);
}
