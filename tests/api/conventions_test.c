/* What every route keeps: methods, entity tags, problems, and a table of bad input for each
 * parameter. */
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
    char *inventory = test_inventory("a", "3");
    cr_assert(test_api_status(&api, "PUT", "/v1/providers/acme/inventory", key, NULL, inventory) ==
              200);
    free(inventory);
}

static void tear_down(void)
{
    test_api_stop(&api);
}

TestSuite(api_conventions, .timeout = 120, .init = set_up, .fini = tear_down);

Test(api_conventions, methods)
{
    static const struct {
        const char *method, *target;
        int status;
    } cases[] = {
        {"GET", "/v1/offers", 200},
        {"HEAD", "/v1/offers", 200},
        {"OPTIONS", "/v1/offers", 204},
        {"POST", "/v1/offers", 405},
        {"DELETE", "/v1/offers", 405},
        {"PUT", "/v1/gpus", 405},
        {"GET", "/v1/offerz", 404},
        {"GET", "/v1/providers", 200},
        {"GET", "/v1/providers/acme", 200},
        {"GET", "/v1/providers/none", 404},
        {"GET", "/v1/gpus", 200},
        {"GET", "/v1/gpus/h100-sxm", 200},
        {"GET", "/v1/gpus/h1000", 404},
        {"GET", "/v1/regions", 200},
        {"GET", "/v1/regions/se-stockholm", 200},
        {"GET", "/v1/regions/atlantis", 404},
        {"GET", "/livez", 200},
        {"GET", "/healthz", 200},
        {"GET", "/readyz", 200},
        {"GET", "/metrics", 200},
        {"GET", "/openapi.json", 200},
        {"GET", "/docs", 200},
        {"GET", "/", 200},
        {"GET", "/nothing.js", 404},
        {"BREW", "/v1/offers", 501},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct loopback_reply reply =
            test_api_call(&api, cases[i].method, cases[i].target, NULL, NULL, NULL);
        cr_expect(reply.status == cases[i].status, "%s %s answered %d", cases[i].method,
                  cases[i].target, reply.status);
        if (reply.status == 405) {
            char *allow = test_reply_header(&reply, "Allow");
            cr_expect(allow != NULL && strstr(allow, "GET") != NULL);
            free(allow);
        }
        if (reply.status >= 400) {
            char *type = test_reply_header(&reply, "Content-Type");
            cr_expect(type != NULL && strcmp(type, "application/problem+json") == 0);
            free(type);
        }
        loopback_reply_free(&reply);
    }
}

Test(api_conventions, entity_tags)
{
    static const char *const targets[] = {
        "/v1/offers",         "/v1/offers?limit=5", "/v1/gpus", "/v1/regions",  "/v1/providers",
        "/v1/providers/acme", "/v1/gpus/l4",        "/",        "/openapi.json"};
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        struct loopback_reply first = test_api_call(&api, "GET", targets[i], NULL, NULL, NULL);
        char *etag = test_reply_header(&first, "ETag");
        cr_assert(etag != NULL, "%s has no ETag", targets[i]);
        char header[160];
        snprintf(header, sizeof(header), "if-none-match: \"other\", W/%s", etag);
        struct loopback_reply again = test_api_call(&api, "GET", targets[i], NULL, header, NULL);
        cr_expect(again.status == 304 && again.body_length == 0, "%s answered %d", targets[i],
                  again.status);
        struct loopback_reply zipped =
            test_api_call(&api, "GET", targets[i], NULL, "accept-encoding: gzip", NULL);
        char *zipped_tag = test_reply_header(&zipped, "ETag");
        char *encoding = test_reply_header(&zipped, "Content-Encoding");
        cr_expect(zipped_tag != NULL && (encoding == NULL) == (strcmp(etag, zipped_tag) == 0),
                  "%s: the compressed variant has a tag of its own", targets[i]);
        snprintf(header, sizeof(header), "if-none-match: %s", zipped_tag);
        struct loopback_reply third = test_api_call(&api, "GET", targets[i], NULL, header, NULL);
        cr_expect(third.status == 304);
        free(etag);
        free(zipped_tag);
        free(encoding);
        loopback_reply_free(&first);
        loopback_reply_free(&again);
        loopback_reply_free(&zipped);
        loopback_reply_free(&third);
    }
    /* A write changes what a tag stands for. */
    struct loopback_reply before = test_api_call(&api, "GET", "/v1/offers", NULL, NULL, NULL);
    char *inventory = test_inventory("a", "2");
    cr_assert(test_api_status(&api, "PUT", "/v1/providers/acme/inventory", key, NULL, inventory) ==
              200);
    struct loopback_reply after = test_api_call(&api, "GET", "/v1/offers", NULL, NULL, NULL);
    char *old = test_reply_header(&before, "ETag"), *new = test_reply_header(&after, "ETag");
    cr_expect(strcmp(old, new) != 0);
    free(old);
    free(new);
    free(inventory);
    loopback_reply_free(&before);
    loopback_reply_free(&after);
}

/* Whether a bad request is a 4xx problem that names what it is about. */
static void expect_refused(const char *method, const char *target, const char *named)
{
    struct loopback_reply reply = test_api_call(&api, method, target, key, NULL, NULL);
    cr_expect(reply.status >= 400 && reply.status < 500, "%s %.80s answered %d", method, target,
              reply.status);
    cr_expect(strstr(reply.body, named) != NULL, "%.80s: no word of %s in %.200s", target, named,
              reply.body);
    cr_expect(strstr(reply.body, "request_id") != NULL);
    loopback_reply_free(&reply);
}

Test(api_conventions, every_parameter_of_search_refuses_nonsense)
{
    static const char *const numbers[] = {
        "min_vram_gb",    "min_total_vram_gb",  "gpu_count",       "min_gpu_count",
        "max_gpu_count",  "term_months",        "max_term_months", "min_price",
        "max_price",      "min_fabric_gbps",    "min_vcpus",       "min_memory_gib",
        "min_storage_gb", "max_lead_time_days", "min_sla_percent", "limit"};
    static const char *const bad_numbers[] = {
        "abc",     "-1", "NaN", "1e3", "80.5.1", "0x10", "", "1,5e", "99999999999999999999",
        "Infinity"};
    static const char *const words[] = {
        "gpu",           "vendor",        "form_factor", "billing",    "fabric",
        "interconnect",  "region",        "country",     "continent",  "provider",
        "provider_kind", "availability",  "burn_in",     "monitoring", "on_site",
        "include_stale", "updated_since", "sort",        "cursor",     "fields"};
    char target[256];
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        for (size_t k = 0; k < sizeof(bad_numbers) / sizeof(bad_numbers[0]); k++) {
            snprintf(target, sizeof(target), "/v1/offers?%s=%s", numbers[i], bad_numbers[k]);
            expect_refused("GET", target, numbers[i]);
        }
        snprintf(target, sizeof(target), "/v1/offers?%s=1&%s=1", numbers[i], numbers[i]);
        expect_refused("GET", target, numbers[i]);
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        snprintf(target, sizeof(target), "/v1/offers?%s=no-such-thing-anywhere", words[i]);
        expect_refused("GET", target, words[i]);
        snprintf(target, sizeof(target), "/v1/offers?%s=%%00", words[i]);
        expect_refused("GET", target, words[i]);
        snprintf(target, sizeof(target), "/v1/offers?%s=%%ff%%fe", words[i]);
        expect_refused("GET", target, words[i]);
        snprintf(target, sizeof(target), "/v1/offers?%s=%%zz", words[i]);
        expect_refused("GET", target, words[i]);
    }
    expect_refused("GET", "/v1/offers?min_price=3&max_price=2", "price");
    expect_refused("GET", "/v1/offers?gpuu=h100", "gpu");
    expect_refused("GET", "/v1/offers?updated_since=2026-02-30T00:00:00Z", "updated_since");
}

Test(api_conventions, ten_kilobytes_of_text_are_refused_everywhere)
{
    static const char *const names[] = {"gpu",    "region",    "provider",
                                        "cursor", "min_price", "nonsense"};
    char *target = malloc(11000);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        int length = sprintf(target, "/v1/offers?%s=", names[i]);
        memset(target + length, 'x', 10000);
        target[length + 10000] = '\0';
        int status = test_api_status(&api, "GET", target, NULL, NULL, NULL);
        cr_expect(status == 400 || status == 414, "%s answered %d", names[i], status);
    }
    free(target);
}

Test(api_conventions, other_routes_refuse_what_they_do_not_know)
{
    static const struct {
        const char *method, *target, *named;
    } cases[] = {
        {"GET", "/v1/gpus?nonsense=1", "nonsense"},
        {"GET", "/v1/gpus?vendor=nvidea", "nvidia"},
        {"GET", "/v1/gpus?vendor=", "vendor"},
        {"GET", "/v1/gpus?family=h1000", "h100"},
        {"GET", "/v1/gpus?limit=0", "limit"},
        {"GET", "/v1/gpus?limit=501", "limit"},
        {"GET", "/v1/gpus?cursor=zzz", "cursor"},
        {"GET", "/v1/gpus?limit=5&limit=6", "limit"},
        {"GET", "/v1/regions?country=USA", "country"},
        {"GET", "/v1/regions?kind=moon", "kind"},
        {"GET", "/v1/regions?limt=1", "limit"},
        {"GET", "/v1/providers?kind=bank", "kind"},
        {"GET", "/v1/providers/acme?x=1", "x"},
        {"GET", "/v1/providers/acme/uploads?limit=abc", "limit"},
        {"GET", "/v1/providers/acme/uploads/none", "upload"},
        {"GET", "/v1/providers/acme/inventory?x=1", "x"},
        {"GET", "/v1/offers/of_nope/price-history", "id"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect_refused(cases[i].method, cases[i].target, cases[i].named);
    cr_expect(test_api_status(&api, "PUT", "/v1/providers/acme/inventory?dry_run=maybe", key, NULL,
                              "{\"offers\":[]}") == 400);
    cr_expect(test_api_status(&api, "PUT", "/v1/providers/acme/inventory?on_error=ignore", key,
                              NULL, "{\"offers\":[]}") == 400);
    cr_expect(test_api_status(&api, "PUT", "/v1/providers/acme/inventory", key, NULL,
                              "{\"offers\":[") == 400);
    cr_expect(test_api_status(&api, "GET", "/v1/offers", NULL, "accept: text/html", NULL) == 406);
}

Test(api_conventions, lists_page_to_the_end_once)
{
    static const char *const lists[] = {"/v1/gpus", "/v1/regions"};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        char target[400];
        size_t rows = 0, total = 0;
        char *cursor = NULL, *last = NULL;
        do {
            int status;
            snprintf(target, sizeof(target), "%s?limit=37%s%s", lists[i],
                     cursor == NULL ? "" : "&cursor=", cursor == NULL ? "" : cursor);
            json_t *page = test_api_json(&api, "GET", target, NULL, NULL, &status);
            cr_assert(status == 200);
            total = (size_t)json_integer_value(json_object_get(page, "total"));
            json_t *data = json_object_get(page, "data");
            for (size_t k = 0; k < json_array_size(data); k++) {
                const char *slug =
                    json_string_value(json_object_get(json_array_get(data, k), "slug"));
                cr_expect(last == NULL || strcmp(last, slug) < 0, "%s repeats or is out of order",
                          slug);
                free(last);
                last = strdup(slug);
            }
            rows += json_array_size(data);
            free(cursor);
            const char *next = json_string_value(json_object_get(page, "next_cursor"));
            cursor = next == NULL ? NULL : strdup(next);
            json_decref(page);
        } while (cursor != NULL);
        cr_expect(rows == total && rows > 100, "%s: %zu of %zu rows", lists[i], rows, total);
        free(last);
    }
}
