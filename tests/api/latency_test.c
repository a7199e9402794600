/* Latency over the API: pairs, matrices, measurements coming in, what is refused. */
#include "tests/support/test_api.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct test_api api;
static char key[64], other_key[64];

static void set_up(void)
{
    test_api_start(&api);
    test_api_provider(&api, "acme", key);
    test_api_provider(&api, "other", other_key);
}

static void tear_down(void)
{
    test_api_stop(&api);
}

TestSuite(api_latency, .timeout = 120, .init = set_up, .fini = tear_down);

#define JSON "content-type: application/json"

static int post(const char *by, const char *row)
{
    char body[1000];
    snprintf(body, sizeof(body), "{\"measurements\":[%s]}", row);
    return test_api_status(&api, "POST", "/v1/latency", by, JSON, body);
}

static json_t *get(const char *target)
{
    int status;
    json_t *answer = test_api_json(&api, "GET", target, NULL, NULL, &status);
    cr_assert(status == 200, "%s is %d", target, status);
    return answer;
}

static double number(const json_t *object, const char *member)
{
    return json_number_value(json_object_get(object, member));
}

static const char *text(const json_t *object, const char *member)
{
    return json_string_value(json_object_get(object, member));
}

/* The round trip of a pair and its kind: `m` or `e`. */
static double rtt(const char *from, const char *to, char *ret_kind)
{
    char target[200];
    snprintf(target, sizeof(target), "/v1/latency?from=%s&to=%s", from, to);
    json_t *answer = get(target);
    double ms = number(answer, "rtt_ms");
    *ret_kind = text(answer, "kind")[0];
    json_decref(answer);
    return ms;
}

Test(api_latency, without_any_measurement_everything_is_estimated)
{
    json_t *answer = get("/v1/latency?from=us-east&to=us-west");
    double ms = number(answer, "rtt_ms");
    cr_expect(ms > 50 && ms < 70, "%.1f", ms);
    cr_expect_str_eq(text(answer, "kind"), "estimated");
    cr_expect(json_is_null(json_object_get(answer, "measurement")));
    const json_t *estimate = json_object_get(answer, "estimate");
    cr_expect(number(estimate, "low_ms") < ms && ms < number(estimate, "high_ms"));
    cr_expect(number(answer, "light_in_fibre_ms") < ms);
    json_decref(answer);
    answer = get("/v1/latency?from=aws:eu-west-1&to=%20Frankfurt");
    cr_expect_str_eq(text(json_object_get(answer, "from"), "slug"), "ie-dublin");
    cr_expect_str_eq(text(json_object_get(answer, "to"), "slug"), "de-frankfurt");
    json_decref(answer);
    answer = get("/v1/latency?from=50.11,%208.68&to=US,%20Dallas,%20TX");
    cr_expect_str_eq(text(json_object_get(answer, "from"), "precision"), "point");
    cr_expect_str_eq(text(json_object_get(answer, "to"), "slug"), "us-dallas");
    json_decref(answer);
}

Test(api_latency, measured_ones_count_both_ways_until_both_are_measured)
{
    char kind;
    double before = rtt("us-ashburn", "de-frankfurt", &kind);
    cr_expect(kind == 'e');
    cr_assert(post(api.admin_key, "{\"from\":\"us-ashburn\",\"to\":\"de-frankfurt\",\"median_ms\":"
                                  "91.25,\"p95_ms\":99,\"samples\":50,\"measured_at\":"
                                  "\"2026-01-05T00:00:00Z\",\"source\":\"ping\"}") == 200);
    cr_expect(rtt("us-ashburn", "de-frankfurt", &kind) == 91.25 && kind == 'm');
    cr_expect(rtt("de-frankfurt", "us-ashburn", &kind) == 91.25 && kind == 'm');
    json_t *answer = get("/v1/latency?from=de-frankfurt&to=us-ashburn");
    cr_expect(json_is_true(json_object_get(answer, "other_direction")));
    json_t *measurement = json_object_get(answer, "measurement");
    cr_expect_str_eq(text(measurement, "measured_by"), "operator");
    cr_expect_str_eq(text(measurement, "source"), "ping");
    cr_expect(number(json_object_get(answer, "estimate"), "rtt_ms") == before);
    json_decref(answer);
    cr_assert(post(api.admin_key,
                   "{\"from\":\"de-frankfurt\",\"to\":\"us-ashburn\",\"median_ms\":95.5}") == 200);
    cr_expect(rtt("us-ashburn", "de-frankfurt", &kind) == 91.25 && kind == 'm');
    cr_expect(rtt("de-frankfurt", "us-ashburn", &kind) == 95.5 && kind == 'm');
    /* A whole area is not its city. */
    (void)rtt("us-east", "de-frankfurt", &kind);
    cr_expect(kind == 'e');
    /* Older than what is there: kept as it was. */
    cr_assert(post(api.admin_key, "{\"from\":\"us-ashburn\",\"to\":\"de-frankfurt\",\"median_ms\":"
                                  "70,\"measured_at\":\"2025-01-05T00:00:00Z\"}") == 200);
    cr_expect(rtt("us-ashburn", "de-frankfurt", &kind) == 91.25);
}

Test(api_latency, old_ones_say_so)
{
    static const struct {
        const char *at;
        bool old;
    } cases[] = {{"2020-01-01T00:00:00Z", true}, {NULL, false}};
    for (size_t i = 0; i < 2; i++) {
        char row[200];
        snprintf(row, sizeof(row),
                 "{\"from\":\"jp-tokyo\",\"to\":\"us-dallas\",\"median_ms\":140%s%s%s}",
                 cases[i].at == NULL ? "" : ",\"measured_at\":\"",
                 cases[i].at == NULL ? "" : cases[i].at, cases[i].at == NULL ? "" : "\"");
        cr_assert(post(api.admin_key, row) == 200);
        json_t *answer = get("/v1/latency?from=jp-tokyo&to=us-dallas");
        cr_expect(json_is_true(json_object_get(json_object_get(answer, "measurement"), "old")) ==
                  cases[i].old);
        json_decref(answer);
    }
}

Test(api_latency, an_operators_counts_before_a_providers)
{
    char kind;
    cr_assert(post(key, "{\"from\":\"jp-tokyo\",\"to\":\"us-dallas\",\"median_ms\":120}") == 200);
    cr_expect(rtt("jp-tokyo", "us-dallas", &kind) == 120 && kind == 'm');
    cr_assert(post(api.admin_key, "{\"from\":\"jp-tokyo\",\"to\":\"us-dallas\",\"median_ms\":141,"
                                  "\"measured_at\":\"2026-11-01T00:00:00Z\"}") == 200);
    cr_expect(rtt("jp-tokyo", "us-dallas", &kind) == 141 && kind == 'm');
}

Test(api_latency, matrices_agree_with_pairs)
{
    cr_assert(post(api.admin_key,
                   "{\"from\":\"us-ashburn\",\"to\":\"gb-london\",\"median_ms\":76.4}") == 200);
    static const char *const from[] = {"us-ashburn", "50.11,8.68", "jp"};
    static const char *const to[] = {"gb-london", "us-west", "1.35,103.8", "au-sydney"};
    json_t *matrix = get("/v1/latency?from=us-ashburn;50.11,8.68;jp&to=gb-london;us-west;"
                         "1.35,103.8;au-sydney");
    json_t *rows = json_object_get(matrix, "rtt_ms"), *kinds = json_object_get(matrix, "kind");
    cr_assert(json_array_size(rows) == 3 && json_array_size(kinds) == 3);
    for (size_t i = 0; i < 3; i++) {
        cr_assert(json_array_size(json_array_get(rows, i)) == 4);
        for (size_t j = 0; j < 4; j++) {
            char kind;
            double ms = rtt(from[i], to[j], &kind);
            double cell = json_number_value(json_array_get(json_array_get(rows, i), j));
            cr_expect(fabs(cell - ms) < 1e-9, "%s %s: %.2f %.2f", from[i], to[j], cell, ms);
            cr_expect(json_string_value(json_array_get(kinds, i))[j] == kind);
        }
    }
    json_decref(matrix);
    matrix = get("/v1/latency?from=de;jp;us-east");
    json_t *to_names = json_object_get(matrix, "to");
    cr_expect(json_array_size(to_names) == 3);
    cr_expect_str_eq(json_string_value(json_array_get(to_names, 2)), "us-east");
    json_decref(matrix);
}

Test(api_latency, the_tag_follows_what_is_measured_and_only_that)
{
    struct loopback_reply reply =
        test_api_call(&api, "GET", "/v1/latency?from=de;jp&to=us", NULL, NULL, NULL);
    char *first = test_reply_header(&reply, "etag");
    loopback_reply_free(&reply);
    char *body = test_inventory("a", "1");
    cr_assert(test_api_status(&api, "PUT", "/v1/providers/acme/inventory", key, NULL, body) == 200);
    free(body);
    reply = test_api_call(&api, "GET", "/v1/latency?from=de;jp&to=us", NULL, NULL, NULL);
    char *second = test_reply_header(&reply, "etag");
    loopback_reply_free(&reply);
    cr_expect_str_eq(first, second);
    reply = test_api_call(&api, "GET", "/v1/offers", NULL, NULL, NULL);
    char *search = test_reply_header(&reply, "etag");
    loopback_reply_free(&reply);
    cr_assert(post(api.admin_key, "{\"from\":\"de\",\"to\":\"us\",\"median_ms\":120}") == 200);
    reply = test_api_call(&api, "GET", "/v1/latency?from=de;jp&to=us", NULL, NULL, NULL);
    char *third = test_reply_header(&reply, "etag");
    loopback_reply_free(&reply);
    cr_expect_str_neq(first, third);
    reply = test_api_call(&api, "GET", "/v1/offers", NULL, NULL, NULL);
    char *later = test_reply_header(&reply, "etag");
    loopback_reply_free(&reply);
    cr_expect_str_neq(search, later, "searches show latency too");
    free(first);
    free(second);
    free(third);
    free(search);
    free(later);
}

Test(api_latency, bad_queries_are_refused_by_name)
{
    static const struct {
        const char *query, *parameter, *code;
    } cases[] = {
        {"", "from", "missing_parameter"},
        {"?from=de", "to", "missing_parameter"},
        {"?from=de&to=", "to", "empty_value"},
        {"?from=de;;jp&to=us", "from", "empty_value"},
        {"?from=de&to=de", "to", "same_place"},
        {"?from=Frankfurt&to=de-frankfurt", "to", "same_place"},
        {"?from=50,8&to=50.0,8.000", "to", "same_place"},
        {"?from=nowhere-at-all&to=de", "from", "unknown_value"},
        {"?from=ap-southeast-3&to=de", "from",
         "unknown_value"}, /* two clouds' word for two places */
        {"?from=91,0&to=de", "from", "out_of_range"},
        {"?from=0,181&to=de", "from", "out_of_range"},
        {"?from=139.7,35.7&to=de", "from", "out_of_range"},
        {"?from=1e2,3&to=de", "from", "unknown_value"},
        {"?from=nan,3&to=de", "from", "unknown_value"},
        {"?from=de&from=jp&to=us", "from", "repeated_parameter"},
        {"?from=de&too=us", "too", "unknown_parameter"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char target[200];
        int status;
        snprintf(target, sizeof(target), "/v1/latency%s", cases[i].query);
        json_t *answer = test_api_json(&api, "GET", target, NULL, NULL, &status);
        json_t *error = json_array_get(json_object_get(answer, "errors"), 0);
        cr_expect(status == 400, "%s is %d", target, status);
        cr_expect_str_eq(text(error, "parameter"), cases[i].parameter, "%s", target);
        cr_expect_str_eq(text(error, "code"), cases[i].code, "%s", target);
        json_decref(answer);
    }
}

Test(api_latency, bad_measurements_are_refused_and_change_nothing)
{
    static const struct {
        const char *row, *pointer, *code;
    } cases[] = {
        {"{}", "/measurements/0/from", "missing_field"},
        {"7", "/measurements/0", "wrong_type"},
        {"{\"from\":\"de\",\"to\":\"de\",\"median_ms\":1}", "/measurements/0/to", "same_place"},
        {"{\"from\":\"de\",\"to\":\"Frankfurt\"}", "/measurements/0/median_ms", "missing_field"},
        {"{\"from\":\"de\",\"to\":\"us\",\"median_ms\":0}", "/measurements/0/median_ms",
         "out_of_range"},
        {"{\"from\":\"de\",\"to\":\"us\",\"median_ms\":-3}", "/measurements/0/median_ms",
         "out_of_range"},
        {"{\"from\":\"de\",\"to\":\"us\",\"median_ms\":10000.001}", "/measurements/0/median_ms",
         "out_of_range"},
        {"{\"from\":\"de\",\"to\":\"us\",\"median_ms\":1e300}", "/measurements/0/median_ms",
         "out_of_range"},
        {"{\"from\":\"de\",\"to\":\"us\",\"median_ms\":\"90\"}", "/measurements/0/median_ms",
         "wrong_type"},
        {"{\"from\":\"de\",\"to\":\"us\",\"median_ms\":120,\"p95_ms\":90}",
         "/measurements/0/p95_ms", "out_of_range"},
        {"{\"from\":\"de\",\"to\":\"us\",\"median_ms\":120,\"samples\":0}",
         "/measurements/0/samples", "out_of_range"},
        {"{\"from\":\"de\",\"to\":\"us\",\"median_ms\":120,\"samples\":1.5}",
         "/measurements/0/samples", "out_of_range"},
        {"{\"from\":\"de\",\"to\":\"us\",\"median_ms\":120,\"measured_at\":\"2999-01-01T00:00:"
         "00Z\"}",
         "/measurements/0/measured_at", "out_of_range"},
        {"{\"from\":\"de\",\"to\":\"us\",\"median_ms\":120,\"measured_at\":\"yesterday\"}",
         "/measurements/0/measured_at", "not_a_timestamp"},
        {"{\"from\":\"50,8\",\"to\":\"us\",\"median_ms\":120}", "/measurements/0/from",
         "not_allowed"},
        {"{\"from\":\"200,8\",\"to\":\"us\",\"median_ms\":120}", "/measurements/0/from",
         "out_of_range"},
        {"{\"from\":\"de\",\"to\":\"nowhere-at-all\",\"median_ms\":120}", "/measurements/0/to",
         "unknown_value"},
        {"{\"from\":\"de\",\"to\":\"us\",\"median_ms\":120,\"provider\":\"nobody\"}",
         "/measurements/0/provider", "unknown_value"},
        {"{\"from\":\"de\",\"to\":\"us\",\"median_ms\":120,\"zone\":\"a\"}", "/measurements/0/zone",
         "not_allowed"},
        {"{\"from\":\"de\",\"to\":\"us\",\"median_ms\":120,\"medain\":1}", "/measurements/0/medain",
         "unknown_member"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char body[600];
        int status;
        snprintf(body, sizeof(body), "{\"measurements\":[%s]}", cases[i].row);
        json_t *answer = test_api_json(&api, "POST", "/v1/latency", api.admin_key, body, &status);
        json_t *error = json_array_get(json_object_get(answer, "errors"), 0);
        cr_expect(status == 422, "%s is %d", cases[i].row, status);
        cr_expect_str_eq(text(error, "pointer"), cases[i].pointer, "%s", cases[i].row);
        cr_expect_str_eq(text(error, "code"), cases[i].code, "%s", cases[i].row);
        json_decref(answer);
    }
    /* One bad among good ones: none is taken. */
    cr_expect(post(api.admin_key, "{\"from\":\"de\",\"to\":\"us\",\"median_ms\":120},"
                                  "{\"from\":\"de\",\"to\":\"us\",\"median_ms\":-1}") == 422);
    /* Somebody else's machines. */
    cr_expect(
        post(key, "{\"from\":\"de\",\"to\":\"us\",\"median_ms\":120,\"provider\":\"other\"}") ==
        403);
    cr_expect(post(NULL, "{\"from\":\"de\",\"to\":\"us\",\"median_ms\":120}") == 401);
    cr_expect(test_api_status(&api, "POST", "/v1/latency", key, JSON, "{\"measurements\":[]}") ==
              400);
    cr_expect(test_api_status(&api, "POST", "/v1/latency", key, JSON, "{\"measurement\":[{}]}") ==
              400);
    cr_expect(test_api_status(&api, "POST", "/v1/latency", key, JSON, "[1") == 400);
    cr_expect(test_api_status(&api, "POST", "/v1/latency", key, "content-type: text/csv", "a,b") ==
              415);
    json_t *list = get("/v1/latency/measurements");
    cr_expect(json_integer_value(json_object_get(list, "total")) == 0);
    json_decref(list);
}

Test(api_latency, a_write_counts_once_under_its_key)
{
    const char *body = "{\"measurements\":[{\"from\":\"de\",\"to\":\"us\",\"median_ms\":120}]}";
    for (int i = 0; i < 2; i++) {
        struct loopback_reply reply =
            test_api_call(&api, "POST", "/v1/latency", key, JSON "\nidempotency-key: once", body);
        cr_expect(reply.status == 200);
        cr_expect_not_null(strstr(reply.body, "\"created\":1"));
        loopback_reply_free(&reply);
    }
    int status;
    json_t *answer = test_api_json(&api, "POST", "/v1/latency", key, body, &status);
    cr_expect(status == 200);
    json_decref(answer);
    json_t *list = get("/v1/latency/measurements?provider=acme");
    cr_expect(json_integer_value(json_object_get(list, "total")) == 1);
    json_decref(list);
}

Test(api_latency, lists_page_and_operators_remove)
{
    static const char *const places[] = {"de", "fr", "es", "it", "pl"};
    for (size_t i = 0; i < 5; i++) {
        char row[200];
        snprintf(row, sizeof(row), "{\"from\":\"jp\",\"to\":\"%s\",\"median_ms\":230}", places[i]);
        cr_assert(post(i % 2 == 0 ? key : api.admin_key, row) == 200);
    }
    json_t *list = get("/v1/latency/measurements?limit=2");
    size_t seen = json_array_size(json_object_get(list, "data"));
    cr_expect(json_integer_value(json_object_get(list, "total")) == 5);
    while (json_is_string(json_object_get(list, "next_cursor"))) {
        char target[300];
        snprintf(target, sizeof(target), "/v1/latency/measurements?limit=2&cursor=%s",
                 text(list, "next_cursor"));
        json_decref(list);
        list = get(target);
        seen += json_array_size(json_object_get(list, "data"));
    }
    json_decref(list);
    cr_expect(seen == 5);
    list = get("/v1/latency/measurements?region=es");
    json_t *one = json_array_get(json_object_get(list, "data"), 0);
    char target[100], kind;
    snprintf(target, sizeof(target), "/v1/admin/latency/%lld",
             (long long)json_integer_value(json_object_get(one, "id")));
    json_decref(list);
    cr_expect(rtt("jp", "es", &kind) == 230 && kind == 'm');
    cr_expect(test_api_status(&api, "DELETE", target, key, NULL, NULL) == 403);
    cr_expect(test_api_status(&api, "DELETE", target, api.admin_key, NULL, NULL) == 200);
    cr_expect(test_api_status(&api, "DELETE", target, api.admin_key, NULL, NULL) == 404);
    (void)rtt("jp", "es", &kind);
    cr_expect(kind == 'e');
}

Test(api_latency, regions_are_found_by_country_continent_and_words)
{
    static const struct {
        const char *query;
        size_t least, most;
    } cases[] = {
        {"kind=area", 27, 27},
        {"country=SE&kind=place", 1, 20},
        {"continent=OC", 5, 60},
        {"continent=oc&kind=country", 1, 40},
        {"q=frank", 1, 3},
        {"q=germany%20frank", 1, 1},
        {"q=germany%20nowhere", 0, 0},
        {"q=us%20east", 1, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char target[200];
        snprintf(target, sizeof(target), "/v1/regions?%s", cases[i].query);
        json_t *list = get(target);
        size_t total = (size_t)json_integer_value(json_object_get(list, "total"));
        cr_expect(total >= cases[i].least && total <= cases[i].most, "%s: %zu", target, total);
        json_decref(list);
    }
    cr_expect(test_api_status(&api, "GET", "/v1/regions?continent=XX", NULL, NULL, NULL) == 400);
    cr_expect(test_api_status(&api, "GET", "/v1/regions?q=--", NULL, NULL, NULL) == 400);
}

/* ---- in a search ---- */

static void upload(const char *by, const char *slug, const char *offers)
{
    char target[100], body[2000];
    snprintf(target, sizeof(target), "/v1/providers/%s/inventory", slug);
    snprintf(body, sizeof(body), "{\"offers\":[%s]}", offers);
    cr_assert(test_api_status(&api, "PUT", target, by, NULL, body) == 200, "%s", body);
}

#define OFFER(id, where)                                                                           \
    "{\"external_id\":\"" id "\",\"gpu\":\"H100 SXM5\",\"gpu_count\":8," where                     \
    "\"prices\":[{\"billing\":\"on_demand\",\"price_per_gpu_hour\":3}]}"

/* External ids of what a search finds, in order, with a comma behind each. */
static void search(const char *query, char *ret_ids, size_t size)
{
    char target[300];
    size_t i, length = 0;
    json_t *row;
    snprintf(target, sizeof(target), "/v1/offers?%s", query);
    json_t *answer = get(target);
    *ret_ids = '\0';
    json_array_foreach(json_object_get(answer, "data"), i, row) length +=
        (size_t)snprintf(ret_ids + length, size - length, "%s,", text(row, "external_id"));
    json_decref(answer);
}

Test(api_latency, searches_filter_and_sort_by_it)
{
    char ids[200];
    upload(
        key, "acme",
        OFFER("fra", "\"region\":\"de-frankfurt\",") "," OFFER(
            "iad",
            "\"region\":\"us-ashburn\",") "," OFFER("syd",
                                                    "\"region\":\"au-sydney\",") ","
                                                                                 "" OFFER("unknown",
                                                                                          ""));
    search("near=us-east&sort=latency", ids, sizeof(ids));
    cr_expect_str_eq(ids, "iad,fra,syd,unknown,");
    search("near=us-east&sort=-latency", ids, sizeof(ids));
    cr_expect_str_eq(ids, "syd,fra,iad,unknown,");
    search("near=us-east&sort=latency&max_latency_ms=150", ids, sizeof(ids));
    cr_expect_str_eq(ids, "iad,fra,");
    search("near=Frankfurt&sort=latency&limit=1", ids, sizeof(ids));
    cr_expect_str_eq(ids, "fra,");
    search("near=-33.87,151.21&sort=latency&limit=1", ids, sizeof(ids));
    cr_expect_str_eq(ids, "syd,");
    /* Users in two places: the worst of the two counts, and the order they are named in doesn't. */
    search("near=us-east;Frankfurt&sort=latency", ids, sizeof(ids));
    cr_expect(strncmp(ids, "iad,fra,", 8) == 0 || strncmp(ids, "fra,iad,", 8) == 0, "%s", ids);
    struct loopback_reply one = test_api_call(&api, "GET", "/v1/offers?near=us-east;Frankfurt",
                                              NULL, NULL, NULL),
                          other = test_api_call(&api, "GET",
                                                "/v1/offers?near=de-frankfurt;us-east;us-east",
                                                NULL, NULL, NULL);
    cr_expect_str_eq(one.body, other.body);
    cr_expect_not_null(strstr(one.body, "\"near\":[\"de-frankfurt\",\"us-east\"]"));
    loopback_reply_free(&one);
    loopback_reply_free(&other);
    /* What is measured takes the estimate's place, and is called so. */
    json_t *answer = get("/v1/offers?near=jp-tokyo&sort=latency");
    json_t *first = json_array_get(json_object_get(answer, "data"), 0);
    cr_expect_str_eq(text(first, "external_id"), "syd");
    cr_expect_str_eq(text(first, "latency_kind"), "estimated");
    json_decref(answer);
    cr_assert(post(api.admin_key,
                   "{\"from\":\"jp-tokyo\",\"to\":\"us-ashburn\",\"median_ms\":111.115}") == 200);
    answer = get("/v1/offers?near=jp-tokyo&sort=latency&max_latency_ms=111.12");
    json_t *row = json_array_get(json_object_get(answer, "data"), 0);
    if (strcmp(text(row, "external_id"), "iad") != 0)
        row = json_array_get(json_object_get(answer, "data"), 1);
    cr_expect_str_eq(text(row, "external_id"), "iad");
    cr_expect(number(row, "latency_ms") == 111.12);
    cr_expect_str_eq(text(row, "latency_kind"), "measured");
    json_decref(answer);
    answer = get("/v1/offers");
    row = json_array_get(json_object_get(answer, "data"), 0);
    cr_expect(json_is_null(json_object_get(row, "latency_ms")));
    cr_expect(json_is_null(json_object_get(row, "latency_kind")));
    json_decref(answer);
}

Test(api_latency, bad_searches_are_refused_by_name)
{
    static const struct {
        const char *query, *parameter, *code;
    } cases[] = {
        {"near=", "near", "empty_value"},
        {"near=us;;de", "near", "empty_value"},
        {"near=nowhere-at-all", "near", "unknown_value"},
        {"near=35.7,139.7,3", "near", "unknown_value"},
        {"near=139.7,35.7", "near", "out_of_range"},
        {"near=12,190", "near", "out_of_range"},
        {"max_latency_ms=20", "max_latency_ms", "needs_near"},
        {"sort=latency", "sort", "needs_near"},
        {"near=us&max_latency_ms=-1", "max_latency_ms", "out_of_range"},
        {"near=us&max_latency_ms=10000.01", "max_latency_ms", "out_of_range"},
        {"near=us&max_latency_ms=fast", "max_latency_ms", "not_a_number"},
        {"near=us&near=de", "near", "repeated_parameter"},
        {"naer=us", "naer", "unknown_parameter"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char target[200];
        int status;
        snprintf(target, sizeof(target), "/v1/offers?%s", cases[i].query);
        json_t *answer = test_api_json(&api, "GET", target, NULL, NULL, &status);
        json_t *error = json_array_get(json_object_get(answer, "errors"), 0);
        cr_expect(status == 400, "%s is %d", target, status);
        cr_expect_str_eq(text(error, "parameter"), cases[i].parameter, "%s", target);
        cr_expect_str_eq(text(error, "code"), cases[i].code, "%s", target);
        json_decref(answer);
    }
}

/* ---- claims that light contradicts ---- */

/* Whether an offer carries the flag; its evidence must be there exactly then. */
static bool flagged(const char *slug, const char *external_id)
{
    char target[200];
    snprintf(target, sizeof(target), "/v1/providers/%s/offers/%s", slug, external_id);
    json_t *offer = get(target);
    bool flag = false;
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(offer, "flags"), i, item) flag =
        flag || strcmp(json_string_value(item), "location_contradicted") == 0;
    const json_t *evidence = json_object_get(offer, "location_contradicted_by");
    cr_expect(flag == json_is_object(evidence), "%s", external_id);
    if (flag)
        cr_expect(number(evidence, "median_ms") < number(evidence, "light_in_fibre_ms"));
    snprintf(target, sizeof(target), "/v1/offers?provider=%s&limit=500", slug);
    json_t *list = get(target), *row;
    bool in_list = false;
    json_array_foreach(json_object_get(list, "data"), i, row) in_list =
        in_list || (strcmp(text(row, "external_id"), external_id) == 0 &&
                    json_is_object(json_object_get(row, "location_contradicted_by")) &&
                    json_array_size(json_object_get(row, "flags")) > 0);
    cr_expect(in_list == flag, "searches say the same of %s", external_id);
    json_decref(list);
    json_decref(offer);
    return flag;
}

Test(api_latency, a_round_trip_faster_than_light_flags_the_claim)
{
    upload(
        key, "acme",
        OFFER("a", "\"region\":\"us-missouri\",\"zone\":\"stl1\",") "," OFFER(
            "b",
            "\"region\":"
            "\"us-"
            "missouri\","
            "\"zone\":"
            "\"stl2\",") "," OFFER("c",
                                   "\"region\":\"us-ashburn\",\"zone\":\"stl1\",") "," OFFER("d",
                                                                                             "\"reg"
                                                                                             "ion\""
                                                                                             ":\"us"
                                                                                             "-"
                                                                                             "misso"
                                                                                             "uri\""
                                                                                             ","));
    upload(other_key, "other", OFFER("a", "\"region\":\"us-missouri\",\"zone\":\"stl1\","));
    cr_expect(!flagged("acme", "a"));
    char row[300];
    static const char claim[] = "{\"from\":\"hr-zagreb\",\"to\":\"us-missouri\",\"median_ms\":4.2,"
                                "\"provider\":\"acme\",\"zone\":\"stl1\"}";
    /* A rival can't say it of them. */
    cr_expect(post(other_key, claim) == 403);
    cr_expect(post(other_key, "{\"from\":\"hr-zagreb\",\"to\":\"us-missouri\",\"median_ms\":4.2,"
                              "\"zone\":\"stl1\"}") == 200);
    cr_expect(!flagged("acme", "a"));
    cr_expect(flagged("other", "a"), "its own measurement flags its own claim");
    int status;
    snprintf(row, sizeof(row), "{\"measurements\":[%s]}", claim);
    json_t *answer = test_api_json(&api, "POST", "/v1/latency", api.admin_key, row, &status);
    json_t *contradicting = json_object_get(answer, "contradicting");
    cr_expect(status == 200 && json_array_size(contradicting) == 1);
    cr_expect(number(json_array_get(contradicting, 0), "light_in_fibre_ms") > 60);
    json_decref(answer);
    cr_expect(flagged("acme", "a"));
    cr_expect(!flagged("acme", "b"), "another zone");
    cr_expect(!flagged("acme", "c"), "another claim");
    cr_expect(!flagged("acme", "d"), "no zone");
    /* It counts for nothing but as evidence. */
    char kind;
    cr_expect(rtt("hr-zagreb", "us-missouri", &kind) > 60 && kind == 'e');
    /* Without a zone, all of the provider's zones there. */
    cr_assert(post(api.admin_key, "{\"from\":\"hr-zagreb\",\"to\":\"us-missouri\",\"median_ms\":"
                                  "4.2,\"provider\":\"acme\"}") == 200);
    cr_expect(flagged("acme", "b") && flagged("acme", "d") && !flagged("acme", "c"));
    /* An upload changes nothing about it, and a newer, plausible measurement does. */
    upload(key, "acme",
           OFFER("a", "\"region\":\"us-missouri\",\"zone\":\"stl1\",\"fabric\":\"none\","));
    cr_expect(flagged("acme", "a"));
    cr_assert(post(api.admin_key, "{\"from\":\"hr-zagreb\",\"to\":\"us-missouri\","
                                  "\"median_ms\":130,\"provider\":\"acme\","
                                  "\"zone\":\"stl1\"},"
                                  "{\"from\":\"hr-zagreb\",\"to\":\"us-missouri\","
                                  "\"median_ms\":130,\"provider\":\"acme\"}") == 200);
    cr_expect(!flagged("acme", "a"));
    cr_expect(rtt("hr-zagreb", "us-missouri", &kind) == 130 && kind == 'm');
}

/* ---- best place ---- */

#define STOCKED(id, where, stock, price)                                                           \
    "{\"external_id\":\"" id "\",\"gpu\":\"H100 SXM5\",\"gpu_count\":8,\"region\":\"" where        \
    "\",\"availability\":{\"status\":\"available\",\"gpus_available\":" stock                      \
    "},\"prices\":[{\"billing\":\"on_demand\",\"price_per_gpu_hour\":" price "}]}"

static const char *slug_of(const json_t *site)
{
    return text(json_object_get(site, "region"), "slug");
}

Test(api_latency, the_best_place_for_users_everywhere)
{
    upload(key, "acme",
           STOCKED("iad", "us-ashburn", "64", "3") "," STOCKED(
               "fra", "de-frankfurt", "64", "2.5") "," STOCKED("sin", "sg-singapore", "64",
                                                               "2") "," STOCKED("few", "gb-london",
                                                                                "8", "1"));
    json_t *answer = get("/v1/tools/placement?users=us-east:60;eu-west:30;ap-southeast:10&"
                         "gpu=h100-sxm&gpus=16&max_latency_ms=120");
    json_t *regions = json_object_get(answer, "regions"), *set = json_object_get(answer, "set");
    cr_assert(json_array_size(regions) == 3, "London has not enough in stock");
    cr_expect_str_eq(slug_of(json_array_get(regions, 0)), "us-ashburn");
    cr_expect(number(json_array_get(json_object_get(answer, "users"), 0), "percent") == 60);
    cr_expect(number(json_array_get(regions, 0), "total_per_hour") == 48);
    cr_expect_str_eq(text(json_object_get(json_array_get(regions, 0), "offer"), "external_id"),
                     "iad");
    /* Frankfurt reaches both sides of the Atlantic; Singapore is needed for the rest. */
    cr_assert(json_is_object(set));
    cr_expect(json_array_size(json_object_get(set, "regions")) == 2);
    cr_expect(number(set, "total_per_hour") == 72);
    cr_expect(number(set, "worst_latency_ms") <= 120);
    json_decref(answer);
    /* Price alone, latency alone. */
    answer =
        get("/v1/tools/placement?users=us-east&gpu=h100-sxm&latency_share=0&billing=on_demand");
    cr_expect_str_eq(slug_of(json_array_get(json_object_get(answer, "regions"), 0)), "gb-london");
    json_decref(answer);
    answer = get("/v1/tools/placement?users=ap-southeast&gpu=h100-sxm&latency_share=1");
    cr_expect_str_eq(slug_of(json_array_get(json_object_get(answer, "regions"), 0)),
                     "sg-singapore");
    json_decref(answer);
    /* Nobody serves them within 5 ms. */
    answer =
        get("/v1/tools/placement?users=au-sydney:1;us-ashburn:2&gpu=h100-sxm&max_latency_ms=5");
    cr_expect(json_is_null(json_object_get(answer, "set")));
    cr_expect_str_eq(json_string_value(json_array_get(json_object_get(answer, "out_of_reach"), 0)),
                     "au-sydney");
    cr_expect(json_array_size(json_object_get(answer, "out_of_reach")) == 1);
    json_decref(answer);
    /* Filters of a search hold here too; nothing in stock is an empty list. */
    answer = get("/v1/tools/placement?users=aws:eu-west-1:2;50.1,8.6:1&gpu=h100-sxm&country=US,DE");
    cr_expect(json_array_size(json_object_get(answer, "regions")) == 2);
    json_decref(answer);
    answer = get("/v1/tools/placement?users=us-east&gpu=b200-sxm");
    cr_expect(json_array_size(json_object_get(answer, "regions")) == 0);
    cr_expect(json_is_null(json_object_get(answer, "set")));
    json_decref(answer);
    static const struct {
        const char *query, *parameter;
    } bad[] = {
        {"gpu=h100-sxm", "users"},
        {"users=us-east", "gpu"},
        {"users=nowhere-at-all:3&gpu=h100-sxm", "users"},
        {"users=us-east:0&gpu=h100-sxm", "users"},
        {"users=us-east:-1&gpu=h100-sxm", "users"},
        {"users=us-east;;de&gpu=h100-sxm", "users"},
        {"users=us-east&gpu=h1000", "gpu"},
        {"users=us-east&gpu=h100-sxm&gpus=0", "gpus"},
        {"users=us-east&gpu=h100-sxm&max_regions=5", "max_regions"},
        {"users=us-east&gpu=h100-sxm&latency_share=2", "latency_share"},
        {"users=us-east&gpu=h100-sxm&max_latency_ms=0", "max_latency_ms"},
        {"users=us-east&gpu=h100-sxm&near=de", "near"},
        {"users=us-east&gpu=h100-sxm&users=de", "users"},
        {"users=us-east&gpu=h100-sxm&colour=red", "colour"},
        {"users=1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1&gpu=h100-sxm", "users"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char target[300];
        int status;
        snprintf(target, sizeof(target), "/v1/tools/placement?%s", bad[i].query);
        answer = test_api_json(&api, "GET", target, NULL, NULL, &status);
        json_t *error = json_array_get(json_object_get(answer, "errors"), 0);
        cr_expect(status == 400, "%s is %d", target, status);
        cr_expect_str_eq(text(error, "parameter"), bad[i].parameter, "%s", target);
        json_decref(answer);
    }
}
