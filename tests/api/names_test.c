/* Names nobody knows, through the API: counted, said once what they mean, and everything follows.
 */
#include "db/alias.h"
#include "tests/support/test_api.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct test_api api;
static char key[64], other_key[64];

static const char inventory[] =
    "{\"offers\":[{\"external_id\":\"a\",\"gpu\":\"Bulldog Q9\",\"gpu_count\":8,\"region\":\"Hall "
    "9\",\"prices\":[{\"billing\":\"on_demand\",\"price_per_gpu_hour\":3}]}]}";

static void set_up(void)
{
    test_api_start(&api);
    test_api_provider(&api, "acme", key);
    test_api_provider(&api, "other", other_key);
    cr_assert(test_api_status(&api, "PUT", "/v1/providers/acme/inventory", key, NULL, inventory) ==
              200);
}

static void tear_down(void)
{
    test_api_stop(&api);
}

TestSuite(api_names, .timeout = 120, .init = set_up, .fini = tear_down);

#define JSON "content-type: application/json"

static int set_name(const char *body)
{
    return test_api_status(&api, "POST", "/v1/admin/aliases", api.admin_key, JSON, body);
}

/* How many offers a search finds; -1 for an error. */
static long long found(const char *query)
{
    char target[200];
    int status;
    snprintf(target, sizeof(target), "/v1/offers?%s", query);
    json_t *answer = test_api_json(&api, "GET", target, NULL, NULL, &status);
    long long total = status == 200 ? json_integer_value(json_object_get(answer, "total")) : -1;
    json_decref(answer);
    return total;
}

static size_t list_size(const char *target, const char *by)
{
    int status;
    json_t *answer = test_api_json(&api, "GET", target, by, NULL, &status);
    size_t size = status == 200 ? json_array_size(json_object_get(answer, "data")) : 9999;
    json_decref(answer);
    return size;
}

Test(api_names, unknown_names_are_taken_shown_and_counted)
{
    int status;
    cr_expect(found("gpu=unrecognized") == 1 && found("gpu=Bulldog%20Q9") == 1);
    json_t *answer =
        test_api_json(&api, "GET", "/v1/admin/unrecognized", api.admin_key, NULL, &status);
    cr_assert(status == 200);
    json_t *rows = json_object_get(answer, "data");
    cr_assert(json_array_size(rows) == 2);
    cr_expect(json_integer_value(json_object_get(json_array_get(rows, 0), "offers")) == 1);
    cr_expect_str_eq(json_string_value(json_object_get(json_array_get(rows, 0), "name")),
                     "Bulldog Q9");
    json_decref(answer);
    cr_expect(list_size("/v1/providers/acme/unrecognized", key) == 2);
    cr_expect(list_size("/v1/providers/other/unrecognized", other_key) == 0);
    cr_expect(test_api_status(&api, "GET", "/v1/providers/acme/unrecognized", other_key, NULL,
                              NULL) == 403);
}

Test(api_names, once_said_every_read_and_upload_follows)
{
    struct loopback_reply before =
        test_api_call(&api, "GET", "/v1/offers?provider=acme", NULL, NULL, NULL);
    cr_assert(set_name("{\"kind\":\"gpu\",\"name\":\"BULLDOG-q9\",\"slug\":\"h100-sxm\"}") == 200);
    cr_assert(set_name("{\"kind\":\"place\",\"provider\":\"acme\",\"name\":\"hall 9\","
                       "\"slug\":\"us-ashburn\"}") == 200);
    cr_expect(found("gpu=h100-sxm") == 1 && found("region=us-east") == 1);
    cr_expect(found("gpu=bulldogq9") == 1, "the name is a filter of its own");
    cr_expect(list_size("/v1/admin/unrecognized", api.admin_key) == 0);
    cr_expect(list_size("/v1/admin/aliases", api.admin_key) == 2);
    struct loopback_reply after =
        test_api_call(&api, "GET", "/v1/offers?provider=acme", NULL, NULL, NULL);
    char *old_tag = test_reply_header(&before, "etag"),
         *new_tag = test_reply_header(&after, "etag");
    cr_expect_str_neq(old_tag, new_tag);
    cr_expect_not_null(strstr(after.body, "\"raw\":\"Bulldog Q9\""), "the provider's word stays");
    free(old_tag);
    free(new_tag);
    loopback_reply_free(&before);
    loopback_reply_free(&after);
    int status;
    json_t *answer =
        test_api_json(&api, "PUT", "/v1/providers/acme/inventory", key, inventory, &status);
    cr_expect(status == 200 && json_integer_value(json_object_get(answer, "unchanged")) == 1,
              "the same upload again is no change");
    json_decref(answer);
    cr_expect(test_api_status(&api, "DELETE", "/v1/admin/aliases/gpu/bulldog%20q9", api.admin_key,
                              NULL, NULL) == 200);
    cr_expect(found("gpu=unrecognized") == 1 && found("gpu=h100-sxm") == 0);
    cr_expect(test_api_status(&api, "DELETE", "/v1/admin/aliases/gpu/bulldog%20q9", api.admin_key,
                              NULL, NULL) == 404);
    cr_expect(test_api_status(&api, "DELETE", "/v1/admin/aliases/place/Hall%209?provider=acme",
                              api.admin_key, NULL, NULL) == 200);
}

Test(api_names, a_change_elsewhere_reaches_an_upload_in_flight)
{
    /* The command line is another node: this one has not heard of the name when it decodes. */
    struct arena arena = {0};
    struct alias_effect effect;
    const struct operator_name name = {ALIAS_GPU, "", "Retriever", "l4"};
    cr_assert(db_alias_change(api.connection, &name, "cli", &arena, &effect) == DB_OK);
    cr_expect(effect.offers == 0);
    char *body = test_inventory("b", "1");
    char *at = strstr(body, "H100 SXM5");
    cr_assert_not_null(at);
    memcpy(at, "Retriever", 9);
    cr_assert(test_api_status(&api, "POST", "/v1/providers/other/offers", other_key, NULL, body) ==
              200);
    cr_expect(found("gpu=l4") == 1);
    cr_expect(test_api_status(&api, "PATCH", "/v1/providers/other/offers/b", other_key, NULL,
                              "{\"gpu\":\"RETRIEVER\"}") == 200);
    cr_expect(found("gpu=l4") == 1);
    free(body);
    arena_free(&arena);
}

Test(api_names, bad_ones_are_refused_and_change_nothing)
{
    static const char *const bodies[] = {
        "{}",
        "{\"kind\":\"car\",\"name\":\"x\",\"slug\":\"h100\"}",
        "{\"kind\":\"gpu\",\"name\":\"--\",\"slug\":\"h100\"}",
        "{\"kind\":\"gpu\",\"name\":\"x\",\"slug\":\"h1000\"}",
        "{\"kind\":\"gpu\",\"name\":\"x\",\"slug\":\"unrecognized\"}",
        "{\"kind\":\"place\",\"name\":\"x\",\"slug\":\"h100\"}",
        "{\"kind\":\"gpu\",\"provider\":\"acme\",\"name\":\"x\",\"slug\":\"h100\"}",
        "{\"kind\":\"gpu\",\"name\":\"x\",\"slug\":\"h100\",\"colour\":\"red\"}",
        "{\"kind\":\"gpu\",\"name\":7,\"slug\":\"h100\"}",
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        cr_expect(set_name(bodies[i]) == 422, "%s", bodies[i]);
    cr_expect(set_name("{\"kind\":\"place\",\"provider\":\"nobody\",\"name\":\"x\",\"slug\":"
                       "\"us\"}") == 404);
    cr_expect(set_name("[]") == 400 && set_name("{\"kind\":") == 400);
    char *long_name = malloc(400);
    snprintf(long_name, 400, "{\"kind\":\"gpu\",\"slug\":\"h100\",\"name\":\"%0250d\"}", 7);
    cr_expect(set_name(long_name) == 422);
    free(long_name);
    cr_expect(list_size("/v1/admin/aliases", api.admin_key) == 0);
    cr_expect(test_api_status(&api, "POST", "/v1/admin/aliases", key, JSON, bodies[0]) == 403);
    cr_expect(test_api_status(&api, "GET", "/v1/admin/aliases?x=1", api.admin_key, NULL, NULL) ==
              400);
}
