/* Search in other formats over the API: what asks for them, what is refused, what belongs to a
 * page. */
#include "tests/support/test_api.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct test_api api;
static char key[64];

static void set_up(void)
{
    test_api_start(&api);
    test_api_provider(&api, "acme", key);
    char *body = test_inventory("a", "3");
    cr_assert(test_api_status(&api, "PUT", "/v1/providers/acme/inventory", key, NULL, body) == 200);
    free(body);
    body = test_inventory("b", "2");
    cr_assert(test_api_status(&api, "POST", "/v1/providers/acme/offers", key, NULL, body) == 200);
    free(body);
}

static void tear_down(void)
{
    test_api_stop(&api);
}

TestSuite(api_search_formats, .timeout = 60, .init = set_up, .fini = tear_down);

#define JSON "application/json"
#define ROWS "application/x-ndjson"
#define CSV  "text/csv; charset=utf-8; header=present"

Test(api_search_formats, the_parameter_or_the_accept_header_asks_for_one)
{
    static const struct {
        const char *target, *accept, *type;
    } cases[] = {
        {"/v1/offers", NULL, JSON},
        {"/v1/offers", "accept: */*", JSON},
        {"/v1/offers", "accept: text/csv", CSV},
        {"/v1/offers", "accept: TEXT/CSV", CSV},
        {"/v1/offers", "accept: text/*", CSV},
        {"/v1/offers", "accept: application/x-ndjson", ROWS},
        {"/v1/offers", "accept: application/ndjson", ROWS},
        {"/v1/offers", "accept: application/*", JSON},
        {"/v1/offers", "accept: text/csv;q=0.5, application/json;q=0.4", CSV},
        {"/v1/offers", "accept: text/csv;q=0.5, application/json", JSON},
        {"/v1/offers", "accept: text/csv, application/json", JSON},
        {"/v1/offers", "accept: application/json;q=0, application/x-ndjson;q=0.001", ROWS},
        {"/v1/offers", "accept: text/html, */*;q=0.8", JSON},
        {"/v1/offers?format=csv", NULL, CSV},
        {"/v1/offers?format=csv", "accept: application/json", CSV},
        {"/v1/offers?format=json", "accept: text/csv", JSON},
        {"/v1/offers?format=ndjson", "accept: */*", ROWS},
        {"/v1/offers?format=ndjson&limit=1", NULL, ROWS},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct loopback_reply reply =
            test_api_call(&api, "GET", cases[i].target, NULL, cases[i].accept, NULL);
        char *type = test_reply_header(&reply, "Content-Type"),
             *vary = test_reply_header(&reply, "Vary");
        cr_expect(reply.status == 200 && type != NULL && strcmp(type, cases[i].type) == 0,
                  "%s with %s: %d %s", cases[i].target, cases[i].accept, reply.status, type);
        cr_expect(vary != NULL && strstr(vary, "Accept,") != NULL);
        free(type);
        free(vary);
        loopback_reply_free(&reply);
    }
    cr_expect(test_api_status(&api, "GET", "/v1/offers", NULL, "accept: image/png", NULL) == 406);
    cr_expect(test_api_status(&api, "GET", "/v1/offers", NULL, "accept: text/csv;q=0", NULL) ==
              406);
    cr_expect(test_api_status(&api, "GET", "/v1/gpus", NULL, "accept: text/csv", NULL) == 406);
}

Test(api_search_formats, what_makes_no_sense_is_refused)
{
    static const char *const bad[] = {"/v1/offers?format=xml",
                                      "/v1/offers?format=CSV",
                                      "/v1/offers?format=",
                                      "/v1/offers?format=csv&facets=gpu",
                                      "/v1/offers?format=ndjson&fields=gpus",
                                      "/v1/offers?format=csv&limit=0",
                                      "/v1/offers?format=csv&format=csv",
                                      "/v1/offers?format=csv&cursor=abc"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct loopback_reply reply = test_api_call(&api, "GET", bad[i], NULL, NULL, NULL);
        char *type = test_reply_header(&reply, "Content-Type");
        cr_expect(reply.status == 400 && type != NULL && strstr(type, "problem+json") != NULL,
                  "%s: %d", bad[i], reply.status);
        free(type);
        loopback_reply_free(&reply);
    }
}

Test(api_search_formats, pages_whole_results_and_their_tags)
{
    struct loopback_reply page = test_api_call(
        &api, "GET", "/v1/offers?format=csv&limit=1&fields=external_id,price.price_per_gpu_hour",
        NULL, NULL, NULL);
    cr_expect_str_eq(page.body, "external_id,price.price_per_gpu_hour\nb,2\n");
    char *link = test_reply_header(&page, "Link");
    cr_assert_not_null(link);
    char target[300];
    snprintf(target, sizeof(target), "%.*s", (int)strcspn(link + 1, ">"), link + 1);
    struct loopback_reply next = test_api_call(&api, "GET", target, NULL, NULL, NULL);
    cr_expect_str_eq(next.body, "external_id,price.price_per_gpu_hour\na,3\n");
    char *last = test_reply_header(&next, "Link");
    cr_expect_null(last, "the last page");
    free(link);
    loopback_reply_free(&page);
    loopback_reply_free(&next);

    static const char *const targets[] = {"/v1/offers?format=csv", "/v1/offers?format=csv&limit=50",
                                          "/v1/offers?format=ndjson",
                                          "/v1/offers?format=ndjson&fields=id", "/v1/offers"};
    char *tags[5];
    for (size_t i = 0; i < 5; i++) {
        struct loopback_reply reply = test_api_call(&api, "GET", targets[i], NULL, NULL, NULL);
        tags[i] = test_reply_header(&reply, "ETag");
        for (size_t k = 0; k < i; k++)
            cr_expect(strcmp(tags[i], tags[k]) != 0, "%s and %s", targets[i], targets[k]);
        char header[200];
        snprintf(header, sizeof(header), "if-none-match: %s", tags[i]);
        cr_expect(test_api_status(&api, "GET", targets[i], NULL, header, NULL) == 304, "%s",
                  targets[i]);
        loopback_reply_free(&reply);
    }
    for (size_t i = 0; i < 5; i++)
        free(tags[i]);
    struct loopback_reply zipped =
        test_api_call(&api, "GET", "/v1/offers?format=ndjson", NULL, "accept-encoding: gzip", NULL);
    char *encoding = test_reply_header(&zipped, "Content-Encoding");
    cr_expect(encoding != NULL && strcmp(encoding, "gzip") == 0 && zipped.body_length > 100 &&
              (unsigned char)zipped.body[0] == 0x1f);
    free(encoding);
    loopback_reply_free(&zipped);
}
