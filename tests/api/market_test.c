/* The market over the API: figures, explanations, paging, verdicts on offers. */
#include "tests/support/test_api.h"
#include "tests/support/test_database.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct test_api api;

static void start(void)
{
    test_api_start(&api);
}

static void stop(void)
{
    test_api_stop(&api);
}

TestSuite(market_api, .init = start, .fini = stop, .timeout = 60);

/* A provider with one node of A30s at these prices. */
static void provider(const char *slug, const char *on_demand, const char *reserved)
{
    char key[64], target[128], body[1024];
    test_api_provider(&api, slug, key);
    snprintf(target, sizeof(target), "/v1/providers/%s/inventory", slug);
    snprintf(body, sizeof(body),
             "{\"offers\":[{\"external_id\":\"m\",\"gpu\":\"A30\",\"gpu_count\":4,\"region\":\"us-"
             "east\","
             "\"prices\":[{\"billing\":\"on_demand\",\"price_per_gpu_hour\":%s},{\"billing\":"
             "\"reserved\",\"term_months\":13,\"price_per_gpu_hour\":%s}]}]}",
             on_demand, reserved);
    cr_assert(test_api_status(&api, "PUT", target, key, NULL, body) == 200);
}

static void six_providers(void)
{
    static const char *const prices[] = {"1", "1.02", "1.05", "1.1", "1.0", "3.5"};
    for (int i = 0; i < 6; i++) {
        char slug[16];
        snprintf(slug, sizeof(slug), "bar-%d", i);
        provider(slug, prices[i], "0.7");
    }
}

static json_t *get(const char *target)
{
    int status;
    json_t *answer = test_api_json(&api, "GET", target, NULL, NULL, &status);
    cr_assert(status == 200 && answer != NULL, "%s: %d", target, status);
    return answer;
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

Test(market_api, the_summary_follows_each_upload)
{
    json_t *answer = get("/v1/market/summary");
    cr_expect(json_array_size(json_object_get(answer, "data")) == 0 &&
              number(answer, "total") == 0);
    json_decref(answer);
    six_providers();
    answer = get("/v1/market/summary?gpu=A30&billing=on_demand");
    json_t *row = json_array_get(json_object_get(answer, "data"), 0);
    json_t *price = json_object_get(row, "price_per_gpu_hour");
    cr_expect(number(answer, "total") == 1 && json_is_null(json_object_get(answer, "prices")));
    cr_expect_str_eq(text(row, "gpu"), "a30");
    cr_expect_str_eq(text(row, "term_bucket"), "0");
    cr_expect(number(price, "median") == 1.02 && number(price, "min") == 1 &&
              number(price, "max") == 1.1);
    cr_expect(number(row, "providers") == 5 && number(row, "offers") == 5);
    cr_expect(number(json_object_get(row, "excluded"), "outlier") == 1);
    json_decref(answer);
    answer = get("/v1/market/summary?gpu=a30&term_months=12&continent=NA");
    row = json_array_get(json_object_get(answer, "data"), 0);
    cr_expect_str_eq(text(row, "billing"), "reserved");
    cr_expect_str_eq(text(row, "term_bucket"), "12-23");
    cr_expect_str_eq(text(row, "continent"), "NA");
    cr_expect(number(row, "providers") == 6 && json_is_null(json_object_get(row, "excluded")));
    json_decref(answer);
    answer = get("/v1/market/summary?gpu=a30&continent=EU");
    cr_expect(number(answer, "total") == 0);
    json_decref(answer);
}

Test(market_api, each_price_is_explained_and_pages_join)
{
    six_providers();
    char target[512] = "/v1/market/summary?gpu=a30&explain=1&limit=5";
    size_t seen = 0, included = 0, outliers = 0;
    char last[64] = "";
    for (int page = 0; page < 4; page++) {
        json_t *answer = get(target), *price;
        size_t i;
        cr_assert(number(answer, "total") == 12);
        cr_expect(json_array_size(json_object_get(answer, "data")) == 2);
        json_array_foreach(json_object_get(answer, "prices"), i, price)
        {
            char place[64];
            snprintf(place, sizeof(place), "%d/%s",
                     strcmp(text(price, "billing"), "on_demand") != 0, text(price, "provider"));
            cr_expect(strcmp(last, place) < 0, "%s after %s", place, last);
            strcpy(last, place);
            seen++;
            included += json_is_true(json_object_get(price, "included"));
            outliers += strcmp(text(price, "reason"), "outlier") == 0;
        }
        const char *cursor = text(answer, "next_cursor");
        cr_expect((cursor == NULL) == (page == 2), "page %d", page);
        if (cursor != NULL)
            snprintf(target, sizeof(target),
                     "/v1/market/summary?gpu=a30&explain=1&limit=5&cursor=%s", cursor);
        bool done = cursor == NULL;
        json_decref(answer);
        if (done)
            break;
    }
    cr_expect(seen == 12 && included == 11 && outliers == 1, "%zu %zu %zu", seen, included,
              outliers);
}

Test(market_api, pages_of_figures_join_too)
{
    six_providers();
    char target[512] = "/v1/market/summary?limit=1";
    json_t *first = get(target);
    cr_assert(number(first, "total") == 2);
    snprintf(target, sizeof(target), "/v1/market/summary?limit=1&cursor=%s",
             text(first, "next_cursor"));
    json_t *second = get(target);
    cr_expect_str_eq(text(json_array_get(json_object_get(first, "data"), 0), "billing"),
                     "on_demand");
    cr_expect_str_eq(text(json_array_get(json_object_get(second, "data"), 0), "billing"),
                     "reserved");
    cr_expect(json_is_null(json_object_get(second, "next_cursor")));
    json_decref(first);
    json_decref(second);
}

Test(market_api, offers_carry_the_verdict_and_the_filter_agrees)
{
    six_providers();
    json_t *answer = get("/v1/offers?gpu=a30&billing=on_demand&sort=price");
    json_t *rows = json_object_get(answer, "data");
    json_t *cheapest = json_object_get(json_array_get(rows, 0), "price");
    json_t *dearest = json_object_get(json_array_get(rows, 5), "price");
    cr_expect_str_eq(text(cheapest, "verdict"), "typical");
    cr_expect_str_eq(text(dearest, "verdict"), "above_market");
    cr_expect(number(dearest, "ratio_to_median") == 3.4314);
    cr_expect_str_eq(text(json_object_get(dearest, "comparables"), "level"), "cluster_size");
    cr_expect(json_array_size(json_object_get(dearest, "ask")) == 4);
    cr_expect(json_array_size(json_object_get(cheapest, "ask")) == 0);
    json_decref(answer);
    answer = get("/v1/offers?gpu=a30&billing=on_demand&verdict=above_market,below_market");
    cr_expect(number(answer, "total") == 1);
    json_t *id = json_object_get(json_array_get(json_object_get(answer, "data"), 0), "id");
    char target[128];
    snprintf(target, sizeof(target), "/v1/offers/%s", json_string_value(id));
    json_decref(answer);
    answer = get(target);
    json_t *prices = json_object_get(answer, "prices");
    cr_expect_str_eq(text(json_array_get(prices, 0), "verdict"), "above_market");
    cr_expect_str_eq(text(json_array_get(prices, 1), "verdict"), "typical");
    json_decref(answer);
    cr_expect(test_api_status(&api, "GET", "/v1/offers?verdict=cheap", NULL, NULL, NULL) == 400);
}

Test(market_api, bad_input_is_named)
{
    static const struct {
        const char *query, *parameter;
    } cases[] = {{"gpu=h100x", "gpu"},
                 {"gpu=h100-sxm,,l4", "gpu"},
                 {"explain=1", "gpu"},
                 {"explain=1&gpu=H100 80GB", "gpu"},
                 {"explain=perhaps", "explain"},
                 {"billing=hourly", "billing"},
                 {"term_months=601", "term_months"},
                 {"term_months=-1", "term_months"},
                 {"term_months=1.5", "term_months"},
                 {"term_months=12,", "term_months"},
                 {"continent=eu", "continent"},
                 {"limit=0", "limit"},
                 {"cursor=zzz", "cursor"},
                 {"colour=red", "colour"},
                 {"gpu=l4&gpu=l4", "gpu"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char target[256];
        int status;
        snprintf(target, sizeof(target), "/v1/market/summary?%s", cases[i].query);
        for (char *space = target; (space = strchr(space, ' ')) != NULL;)
            *space = '+';
        json_t *answer = test_api_json(&api, "GET", target, NULL, NULL, &status);
        json_t *error = json_array_get(json_object_get(answer, "errors"), 0);
        cr_expect(status == 400 && error != NULL &&
                      strcmp(text(error, "parameter"), cases[i].parameter) == 0,
                  "%s: %d", cases[i].query, status);
        json_decref(answer);
    }
}

/* Ten published days of h100-sxm on demand from 2026-07-01 on: 1.00, 1.10, … USD; the fifth is
 * missing. */
static void ten_days(void)
{
    free(test_sql(
        api.connection,
        "INSERT INTO fixing_days (day, revision, version, method_version, row_count, made_by) "
        "SELECT DATE '2026-06-30' + i, 1, i, 1, 1, 'cli' FROM generate_series(1, 10) i;"
        "INSERT INTO fixings SELECT DATE '2026-06-30' + i, 1, 'h100-sxm', 'on_demand', 0, '', m, "
        "m, m, m, m, 7, 6, "
        "sha256('x') FROM (SELECT i, 900000 + i * 100000 AS m FROM generate_series(1, 10) i WHERE "
        "i <> 5) x"));
    cr_assert(node_catch_up(api.app.node, api.connection));
}

static size_t dates(const json_t *answer, char *out)
{
    size_t i;
    json_t *row;
    out[0] = '\0';
    json_array_foreach(json_object_get(answer, "data"), i, row)
        sprintf(out + strlen(out), "%s%s", i > 0 ? " " : "", text(row, "date") + 5);
    return i;
}

Test(market_api, history_pages_newest_first)
{
    char target[512] = "/v1/market/history?gpu=H100%20SXM5&limit=4", out[400];
    struct buf all = {0};
    ten_days();
    for (int page = 0; page < 3; page++) {
        json_t *answer = get(target);
        cr_expect(number(answer, "total") == 9);
        cr_expect_str_eq(text(answer, "gpu"), "h100-sxm");
        cr_expect_str_eq(text(answer, "as_of"), "2026-07-11T00:00:00Z");
        dates(answer, out);
        buf_printf(&all, "%s%s", page > 0 ? " | " : "", out);
        const char *cursor = text(answer, "next_cursor");
        cr_expect((cursor == NULL) == (page == 2));
        if (cursor != NULL)
            snprintf(target, sizeof(target),
                     "/v1/market/history?gpu=H100%%20SXM5&limit=4&cursor=%s", cursor);
        json_decref(answer);
    }
    cr_expect_str_eq(all.data, "07-10 07-09 07-08 07-07 | 07-06 07-04 07-03 07-02 | 07-01");
    buf_free(&all);
}

Test(market_api, history_keeps_to_its_range_and_interval)
{
    static const struct {
        const char *query, *dates;
    } cases[] = {
        {"from=2026-07-03&to=2026-07-06", "07-06 07-04 07-03"},
        {"from=2026-07-05&to=2026-07-05", ""},
        {"to=2026-06-30", ""},
        {"from=2026-07-10", "07-10"},
        {"interval=week", "07-06 06-29"},
        {"interval=week&from=2026-07-08", "07-06"},
        {"interval=week&to=2026-07-05", "06-29"},
        {"interval=month&from=2026-07-20&to=2026-07-25", "07-01"},
        {"interval=month&from=2026-08-01", ""},
        {"billing=spot", ""},
        {"term_months=12", ""},
        {"continent=EU", ""},
    };
    char out[400];
    ten_days();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char target[256];
        snprintf(target, sizeof(target), "/v1/market/history?gpu=h100-sxm&%s", cases[i].query);
        json_t *answer = get(target);
        size_t count = dates(answer, out);
        cr_expect(strcmp(out, cases[i].dates) == 0 && number(answer, "total") == (double)count,
                  "%s: %s", cases[i].query, out);
        json_decref(answer);
    }
    json_t *weeks = get("/v1/market/history?gpu=h100-sxm&interval=week");
    json_t *week = json_array_get(json_object_get(weeks, "data"), 1); /* 1.0 1.1 1.2 1.3 */
    cr_expect(number(week, "days") == 4 && json_is_false(json_object_get(week, "complete")));
    cr_expect(number(json_object_get(week, "price_per_gpu_hour"), "median") == 1.15);
    json_decref(weeks);
}

Test(market_api, history_is_told_apart_by_its_entity_tag)
{
    ten_days();
    const char *target = "/v1/market/history?gpu=h100-sxm";
    struct loopback_reply reply = test_api_call(&api, "GET", target, NULL, NULL, NULL);
    char *etag = test_reply_header(&reply, "ETag"), headers[200];
    cr_assert_not_null(etag);
    snprintf(headers, sizeof(headers), "if-none-match: %s", etag);
    cr_expect(test_api_status(&api, "GET", target, NULL, headers, NULL) == 304);
    cr_expect(test_api_status(&api, "GET", "/v1/market/history?gpu=h200-sxm", NULL, headers,
                              NULL) == 200);
    free(test_sql(api.connection,
                  "INSERT INTO fixing_days (day, revision, version, method_version, row_count, "
                  "made_by) VALUES ('2026-07-11', 1, 11, 1, 0, 'cli')"));
    cr_assert(node_catch_up(api.app.node, api.connection));
    cr_expect(test_api_status(&api, "GET", target, NULL, headers, NULL) == 200);
    free(etag);
    loopback_reply_free(&reply);
}

Test(market_api, bad_history_is_named)
{
    static const struct {
        const char *query, *parameter;
    } cases[] = {
        {"", "gpu"},
        {"gpu=h100", "gpu"},
        {"gpu=nonsense", "gpu"},
        {"gpu=h100-sxm&from=2026-02-29", "from"},
        {"gpu=h100-sxm&to=2026-07-05T00:00:00Z", "to"},
        {"gpu=h100-sxm&from=yesterday", "from"},
        {"gpu=h100-sxm&from=2026-07-06&to=2026-07-05", "from"},
        {"gpu=h100-sxm&interval=hour", "interval"},
        {"gpu=h100-sxm&billing=reserved", "term_months"},
        {"gpu=h100-sxm&billing=reserved&term_months=0", "term_months"},
        {"gpu=h100-sxm&billing=spot&term_months=3", "term_months"},
        {"gpu=h100-sxm&term_months=601", "term_months"},
        {"gpu=h100-sxm&billing=weekly", "billing"},
        {"gpu=h100-sxm&continent=Europe", "continent"},
        {"gpu=h100-sxm&limit=0", "limit"},
        {"gpu=h100-sxm&cursor=abc", "cursor"},
        {"gpu=h100-sxm&days=3", "days"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char target[256];
        int status;
        snprintf(target, sizeof(target), "/v1/market/history?%s", cases[i].query);
        json_t *answer = test_api_json(&api, "GET", target, NULL, NULL, &status);
        json_t *error = json_array_get(json_object_get(answer, "errors"), 0);
        cr_expect(status == 400 && error != NULL &&
                      strcmp(text(error, "parameter"), cases[i].parameter) == 0,
                  "%s: %d", cases[i].query, status);
        json_decref(answer);
    }
}

Test(market_api, the_method_is_told)
{
    struct loopback_reply reply = test_api_call(&api, "GET", "/docs/method", NULL, NULL, NULL);
    cr_expect(reply.status == 200);
    static const char *const words[] = {"unrecognized_gpu",
                                        "undisclosed_form_factor",
                                        "undisclosed_variant",
                                        "sample",
                                        "stale",
                                        "suspicious",
                                        "resells_counted",
                                        "outlier",
                                        "burn_in"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        cr_expect(strstr(reply.body, words[i]) != NULL, "%s", words[i]);
    loopback_reply_free(&reply);
}
