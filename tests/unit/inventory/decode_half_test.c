/* Bodies large enough to be decoded in two halves give what they say, row by row: faults in both
 * halves keep their rows and pointers, ids that come twice are found across the halves, and a place
 * that only looks like the start of an offer misleads nobody. */
#include "tests/support/test_upload.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(decode_half, .timeout = 60);

#define OFFERS 20000

/* Replaces the offer at an index by another text. */
struct oddity {
    int index;
    const char *text;
};

static char *make_body(bool lines, const struct oddity *oddities, size_t *ret_length)
{
    char *body = malloc((size_t)OFFERS * 140 + 400), *at = body;
    cr_assert_not_null(body);
    at += sprintf(at, "%s", lines ? "" : "{ \"offers\" : [");
    for (int i = 0; i < OFFERS; i++) {
        if (i > 0)
            at += sprintf(at, "%s", lines ? "\n" : " ,\n ");
        if (oddities->text != NULL && oddities->index == i)
            at += sprintf(at, "%s", oddities++->text);
        else
            at += sprintf(at,
                          "{\"external_id\":\"o%06d\",\"gpu\":\"L4\",\"gpu_count\":1,\"prices\":[{"
                          "\"billing\":\"spot\",\"price_per_gpu_hour\":%d.5}]}",
                          i, 1 + i % 9);
    }
    at += sprintf(at, "%s", lines ? "\n" : "]}");
    *ret_length = (size_t)(at - body);
    return body;
}

static void decode(struct test_upload *test, bool lines, const struct oddity *oddities)
{
    size_t length;
    char *body = make_body(lines, oddities, &length);
    cr_assert(length > 1 << 20);
    test_upload_decode(test, lines ? FORMAT_NDJSON : FORMAT_JSON, "acme", body, length);
    free(body);
}

static const struct row_issue *find_row(const struct row_issues *issues, int64_t row)
{
    for (size_t i = 0; i < issues->count; i++)
        if (issues->items[i].row == row)
            return &issues->items[i];
    return NULL;
}

Test(decode_half, every_offer_is_there_in_order)
{
    static const struct oddity none = {0};
    for (int lines = 0; lines < 2; lines++) {
        struct test_upload test;
        decode(&test, lines == 1, &none);
        cr_assert(test.status == DECODE_OK, "%s", test.error.message);
        cr_assert(test.upload.offer_count == OFFERS && test.upload.rows_read == OFFERS);
        for (int i = 0; i < OFFERS; i++) {
            char id[20];
            snprintf(id, sizeof(id), "o%06d", i);
            cr_assert_str_eq(test.upload.offers[i].external_id, id);
            cr_assert(test.upload.offers[i].prices[0].quoted_microusd ==
                      (1 + i % 9) * INT64_C(1000000) + 500000);
        }
        test_upload_free(&test);
    }
}

Test(decode_half, faults_of_both_halves_keep_their_rows)
{
    static const struct oddity oddities[] = {
        {3, "{\"external_id\":\"bad\",\"gpu\":\"L4\",\"gpu_count\":-1,\"prices\":[]}"},
        {15000, "{\"external_id\":\"bad2\",\"gpu\":\"L4\",\"gpu_count\":\"x\",\"prices\":[]}"},
        {19999, "{\"external_id\":\"o000005\",\"gpu\":\"L4\",\"gpu_count\":1,\"prices\":[{"
                "\"billing\":\"spot\",\"price_per_gpu_hour\":1}]}"},
        {0, NULL}};
    for (int lines = 0; lines < 2; lines++) {
        struct test_upload test;
        decode(&test, lines == 1, oddities);
        cr_assert(test.status == DECODE_OK);
        cr_expect(test.upload.rows_read == OFFERS && test.upload.rejected == 3);
        cr_expect(test.upload.offer_count == OFFERS - 3);
        const struct row_issue *late = find_row(&test.upload.errors, 15001);
        cr_assert_not_null(late);
        cr_expect_str_eq(late->pointer, lines == 1 ? "/gpu_count" : "/offers/15000/gpu_count");
        cr_expect_not_null(find_row(&test.upload.errors, 4));
        const struct row_issue *twice = find_row(&test.upload.errors, 20000);
        cr_assert_not_null(twice);
        cr_expect_str_eq(twice->code, "duplicate_external_id");
        cr_expect_not_null(strstr(twice->message, "Row 6 "), "%s", twice->message);
        test_upload_free(&test);
    }
}

Test(decode_half, what_is_no_json_late_is_named_by_its_line)
{
    static const struct oddity oddities[] = {{16000, "{\"external_id\":\"x\",}"}, {0, NULL}};
    for (int lines = 0; lines < 2; lines++) {
        struct test_upload test;
        decode(&test, lines == 1, oddities);
        cr_expect(test.status == DECODE_MALFORMED);
        cr_expect_not_null(strstr(test.error.message, "ine 16001"), "%s", test.error.message);
        cr_expect(test.upload.offer_count == 0);
        test_upload_free(&test);
    }
}

Test(decode_half, what_only_looks_like_an_offer_misleads_nobody)
{
    /* In the middle of the body an offer with a list of what look like offers. */
    size_t size = 70000;
    char *text = malloc(size), *at = text;
    cr_assert_not_null(text);
    at += sprintf(at, "{\"external_id\":\"nest\",\"gpu\":\"L4\",\"gpu_count\":1,\"extra\":[0");
    while ((size_t)(at - text) < 60000)
        at += sprintf(at, ",{\"external_id\":\"inner\"}");
    sprintf(at, "],\"prices\":[{\"billing\":\"spot\",\"price_per_gpu_hour\":1}]}");
    const struct oddity oddities[] = {{9800, text}, {0, NULL}};
    struct test_upload test;
    decode(&test, false, oddities);
    cr_assert(test.status == DECODE_OK, "%s", test.error.message);
    cr_expect(test.upload.rows_read == OFFERS && test.upload.rejected == 1);
    cr_expect_null(test_find_offer(&test.upload, "inner"));
    cr_expect_not_null(
        test_find_issue(&test.upload.errors, "/offers/9800/extra", "unknown_member"));
    free(text);
    test_upload_free(&test);
}
