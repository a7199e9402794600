/* Writing an inventory through the API: what is answered, what changes, what must not. */
#include "tests/support/test_api.h"
#include "tests/support/test_database.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

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

TestSuite(api_inventory, .timeout = 120, .init = set_up, .fini = tear_down);

#define INVENTORY "/v1/providers/acme/inventory"

static long long number(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

static long long total_offers(void)
{
    int status;
    json_t *answer = test_api_json(&api, "GET", "/v1/offers?provider=acme", NULL, NULL, &status);
    long long total = status == 200 ? number(answer, "total") : -1;
    json_decref(answer);
    return total;
}

Test(api_inventory, put_replaces_and_the_next_read_shows_it)
{
    int status;
    char *first = test_inventory("a", "0.043058"), *second = test_inventory("b", "3");
    json_t *answer = test_api_json(&api, "PUT", INVENTORY, key, first, &status);
    cr_assert(status == 200, "PUT answered %d", status);
    cr_expect(number(answer, "created") == 1 && number(answer, "removed") == 0);
    json_decref(answer);
    struct loopback_reply reply =
        test_api_call(&api, "GET", "/v1/offers?provider=acme", NULL, NULL, NULL);
    cr_expect(strstr(reply.body, "\"price_per_gpu_hour\":0.043058") != NULL,
              "the price is exact in the bytes");
    cr_expect(strstr(reply.body, "\"price_per_node_hour\":0.344464") != NULL);
    cr_expect(strstr(reply.body, "\"slug\":\"h100-sxm\"") != NULL);
    loopback_reply_free(&reply);
    answer = test_api_json(&api, "PUT", INVENTORY, key, second, &status);
    cr_expect(status == 200 && number(answer, "created") == 1 && number(answer, "removed") == 1);
    json_decref(answer);
    answer = test_api_json(&api, "PUT", INVENTORY, key, second, &status);
    cr_expect(status == 200 && number(answer, "unchanged") == 1 && number(answer, "updated") == 0);
    json_decref(answer);
    cr_expect(total_offers() == 1);
    free(first);
    free(second);
}

Test(api_inventory, a_removed_offer_is_gone_and_a_strange_id_is_not_found)
{
    char *first = test_inventory("a", "3");
    int status;
    cr_assert(test_api_status(&api, "PUT", INVENTORY, key, NULL, first) == 200);
    json_t *list = test_api_json(&api, "GET", "/v1/offers?provider=acme", NULL, NULL, &status);
    char target[80];
    snprintf(
        target, sizeof(target), "/v1/offers/%s",
        json_string_value(json_object_get(json_array_get(json_object_get(list, "data"), 0), "id")));
    json_decref(list);
    cr_expect(test_api_status(&api, "GET", target, NULL, NULL, NULL) == 200);
    cr_assert(test_api_status(&api, "PUT", INVENTORY, key, NULL, "{\"offers\":[]}") == 200);
    cr_expect(test_api_status(&api, "GET", target, NULL, NULL, NULL) == 410);
    cr_expect(test_api_status(&api, "GET", "/v1/offers/of_00000000000000000000000000", NULL, NULL,
                              NULL) == 404);
    cr_expect(test_api_status(&api, "GET", "/v1/offers/of_nope", NULL, NULL, NULL) == 404);
    free(first);
}

Test(api_inventory, a_bad_row_is_named_and_nothing_changes)
{
    char *good = test_inventory("a", "3");
    cr_assert(test_api_status(&api, "PUT", INVENTORY, key, NULL, good) == 200);
    const char *mixed = "{\"offers\":[{\"external_id\":\"x\",\"gpu\":\"L4\",\"gpu_count\":1,"
                        "\"prices\":[{\"billing\":"
                        "\"on_demand\",\"price_per_gpu_hour\":1}]},{\"external_id\":\"y\",\"gpu\":"
                        "\"L4\",\"gpu_count\":1,"
                        "\"prices\":[{\"billing\":\"on_demand\",\"price_per_gpu_hour\":-1}]}]}";
    int status;
    json_t *answer = test_api_json(&api, "PUT", INVENTORY, key, mixed, &status);
    cr_assert(status == 422, "answered %d", status);
    json_t *error = json_array_get(json_object_get(answer, "errors"), 0);
    cr_expect(number(error, "row") == 2);
    cr_expect(strcmp(json_string_value(json_object_get(error, "external_id")), "y") == 0);
    cr_expect(strncmp(json_string_value(json_object_get(error, "pointer")), "/offers/1/prices/0",
                      18) == 0);
    cr_expect(json_string_value(json_object_get(error, "code")) != NULL);
    const char *upload = json_string_value(json_object_get(answer, "upload_id"));
    cr_assert(upload != NULL, "a refused upload can be read at its own address");
    char target[120];
    snprintf(target, sizeof(target), "/v1/providers/acme/uploads/%s", upload);
    json_decref(answer);
    answer = test_api_json(&api, "GET", target, key, NULL, &status);
    cr_expect(status == 200 && number(answer, "rejected") == 1 &&
              json_array_size(json_object_get(answer, "errors")) == 1);
    json_decref(answer);
    cr_expect(total_offers() == 1);
    answer = test_api_json(&api, "PUT", INVENTORY "?on_error=skip", key, mixed, &status);
    cr_expect(status == 200 && number(answer, "created") == 1 && number(answer, "rejected") == 1 &&
              number(answer, "removed") == 1);
    json_decref(answer);
    free(good);
}

Test(api_inventory, dry_run_tells_and_changes_nothing)
{
    char *good = test_inventory("a", "3");
    int status;
    json_t *answer = test_api_json(&api, "PUT", INVENTORY "?dry_run=1", key, good, &status);
    cr_expect(status == 200 && number(answer, "created") == 1 &&
              json_is_true(json_object_get(answer, "dry_run")));
    cr_expect(json_array_size(json_object_get(answer, "changes")) == 1);
    json_decref(answer);
    cr_expect(total_offers() == 0);
    free(good);
}

Test(api_inventory, a_key_reaches_only_its_own_provider)
{
    char *good = test_inventory("a", "3");
    cr_expect(test_api_status(&api, "PUT", INVENTORY, NULL, NULL, good) == 401);
    cr_expect(test_api_status(&api, "PUT", INVENTORY, "rr_nonsense", NULL, good) == 401);
    cr_expect(test_api_status(&api, "PUT", INVENTORY, other_key, NULL, good) == 403);
    cr_expect(test_api_status(&api, "GET", INVENTORY, other_key, NULL, NULL) == 403);
    cr_expect(test_api_status(&api, "GET", "/v1/providers/acme/uploads", other_key, NULL, NULL) ==
              403);
    cr_expect(test_api_status(&api, "GET", "/v1/admin/keys", key, NULL, NULL) == 403);
    cr_expect(total_offers() == 0);
    int status;
    json_t *keys = test_api_json(&api, "GET", "/v1/admin/keys", api.admin_key, NULL, &status);
    size_t index;
    json_t *row;
    long long id = 0;
    json_array_foreach(json_object_get(keys, "data"), index, row)
    {
        const char *provider = json_string_value(json_object_get(row, "provider"));
        if (provider != NULL && strcmp(provider, "acme") == 0)
            id = number(row, "id");
    }
    json_decref(keys);
    char target[64];
    snprintf(target, sizeof(target), "/v1/admin/keys/%lld", id);
    cr_expect(test_api_status(&api, "DELETE", target, api.admin_key, NULL, NULL) == 200);
    cr_expect(test_api_status(&api, "PUT", INVENTORY, key, NULL, good) == 401,
              "a revoked key is refused at once");
    free(good);
}

Test(api_inventory, patch_and_delete_honour_if_match)
{
    char *good = test_inventory("a/b c", "3");
    cr_assert(test_api_status(&api, "PUT", INVENTORY, key, NULL, good) == 200);
    const char *target = "/v1/providers/acme/offers/a%2Fb%20c";
    struct loopback_reply reply = test_api_call(&api, "GET", target, NULL, NULL, NULL);
    cr_assert(reply.status == 200, "GET by the provider's own id answered %d", reply.status);
    char *etag = test_reply_header(&reply, "ETag");
    cr_assert(etag != NULL);
    loopback_reply_free(&reply);
    char stale[80], fresh[80];
    snprintf(stale, sizeof(stale), "if-match: \"v999\"");
    snprintf(fresh, sizeof(fresh), "if-match: %s", etag);
    const char *patch = "{\"prices\":[{\"billing\":\"on_demand\",\"price_per_gpu_hour\":2.5}]}";
    cr_expect(test_api_status(&api, "PATCH", target, key, stale, patch) == 412);
    cr_expect(test_api_status(&api, "PATCH", target, key, fresh, patch) == 200);
    cr_expect(test_api_status(&api, "PATCH", target, key, fresh, patch) == 412,
              "the tag was used up");
    reply = test_api_call(&api, "GET", target, NULL, NULL, NULL);
    cr_expect(strstr(reply.body, "\"price_per_gpu_hour\":2.5") != NULL);
    loopback_reply_free(&reply);
    cr_expect(test_api_status(&api, "PATCH", target, key, NULL, "{\"gpu_count\":-1}") == 422);
    cr_expect(test_api_status(&api, "PATCH", target, key, NULL, "[1]") == 400);
    cr_expect(test_api_status(&api, "PATCH", "/v1/providers/acme/offers/none", key, NULL, patch) ==
              404);
    cr_expect(test_api_status(&api, "DELETE", target, key, stale, NULL) == 412);
    cr_expect(test_api_status(&api, "DELETE", target, key, NULL, NULL) == 200);
    cr_expect(test_api_status(&api, "DELETE", target, key, NULL, NULL) == 404);
    free(etag);
    free(good);
}

Test(api_inventory, an_idempotency_key_answers_once)
{
    char *good = test_inventory("a", "3"), *more = test_inventory("a", "4");
    struct loopback_reply first =
        test_api_call(&api, "POST", "/v1/providers/acme/offers", key, "idempotency-key: k1", good);
    struct loopback_reply again =
        test_api_call(&api, "POST", "/v1/providers/acme/offers", key, "idempotency-key: k1", good);
    cr_expect(first.status == 200 && again.status == 200);
    cr_expect(strcmp(first.body, again.body) == 0, "the same answer, byte for byte");
    loopback_reply_free(&first);
    loopback_reply_free(&again);
    cr_expect(test_api_status(&api, "POST", "/v1/providers/acme/offers", key, "idempotency-key: k1",
                              more) == 422);
    cr_expect(test_api_status(&api, "POST", "/v1/providers/acme/offers", key, "idempotency-key: k2",
                              more) == 200);
    cr_expect(test_api_status(&api, "POST", "/v1/providers/acme/offers", key,
                              "idempotency-key: a b", more) == 400);
    free(good);
    free(more);
}

Test(api_inventory, gzip_is_undone_and_a_bomb_is_refused)
{
    char *good = test_inventory("a", "3");
    unsigned char small[1000];
    z_stream stream = {0};
    cr_assert(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, 0) == Z_OK);
    stream.next_in = (unsigned char *)good;
    stream.avail_in = (unsigned)strlen(good);
    stream.next_out = small;
    stream.avail_out = sizeof(small);
    cr_assert(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    size_t length = sizeof(small) - stream.avail_out;
    deflateEnd(&stream);
    struct loopback_reply reply = test_api_call_bytes(
        &api, "PUT", INVENTORY, key, "content-encoding: gzip", (char *)small, length);
    cr_expect(reply.status == 200, "answered %d", reply.status);
    loopback_reply_free(&reply);
    reply = test_api_call_bytes(&api, "PUT", INVENTORY, key, "content-encoding: gzip",
                                (char *)small, length - 4);
    cr_expect(reply.status == 400, "cut short: answered %d", reply.status);
    loopback_reply_free(&reply);
    /* 300 MiB of zeros in 300 kB. */
    size_t size = 300000, capacity = 400000;
    unsigned char *bomb = malloc(capacity), *zeros = calloc(1, 1 << 20);
    stream = (z_stream){0};
    cr_assert(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, 0) == Z_OK);
    stream.next_out = bomb;
    stream.avail_out = (unsigned)capacity;
    for (int i = 0; i < 300; i++) {
        stream.next_in = zeros;
        stream.avail_in = 1 << 20;
        cr_assert(deflate(&stream, i == 299 ? Z_FINISH : Z_NO_FLUSH) >= 0);
    }
    size = capacity - stream.avail_out;
    deflateEnd(&stream);
    reply = test_api_call_bytes(&api, "PUT", INVENTORY, key, "content-encoding: gzip", (char *)bomb,
                                size);
    cr_expect(reply.status == 413, "bomb: answered %d", reply.status);
    loopback_reply_free(&reply);
    cr_expect(test_api_status(&api, "PUT", INVENTORY, key, "content-encoding: br", good) == 415);
    cr_expect(test_api_status(&api, "PUT", INVENTORY, key, "content-type: image/png", good) == 415);
    cr_expect(total_offers() == 1);
    free(bomb);
    free(zeros);
    free(good);
}

Test(api_inventory, reads_back_what_was_put)
{
    char *good = test_inventory("a", "3.25");
    cr_assert(test_api_status(&api, "PUT", INVENTORY, key, NULL, good) == 200);
    struct loopback_reply reply = test_api_call(&api, "GET", INVENTORY, key, NULL, NULL);
    cr_expect(reply.status == 200 && strstr(reply.body, "\"price_per_gpu_hour\":3.25") != NULL);
    cr_expect(test_api_status(&api, "PUT", INVENTORY, key, NULL, reply.body) == 200);
    loopback_reply_free(&reply);
    int status;
    json_t *uploads = test_api_json(&api, "GET", "/v1/providers/acme/uploads", key, NULL, &status);
    cr_expect(status == 200 && number(uploads, "total") == 2);
    json_decref(uploads);
    free(good);
}

Test(api_inventory, profile_and_history)
{
    int status;
    json_t *answer =
        test_api_json(&api, "PUT", "/v1/providers/acme/profile", key,
                      "{\"sla_percent\":99.95,\"burn_in\":true,\"freshness_hours\":24}", &status);
    cr_expect(status == 200, "answered %d", status);
    cr_expect(json_is_true(json_object_get(json_object_get(answer, "trust"), "burn_in")));
    json_decref(answer);
    cr_expect(test_api_status(&api, "PUT", "/v1/providers/acme/profile", key, NULL,
                              "{\"sla_percent\":101}") == 422);
    cr_expect(test_api_status(&api, "PUT", "/v1/providers/acme/profile", key, NULL,
                              "{\"nonsense\":1}") == 422);
    char *a = test_inventory("a", "3"), *b = test_inventory("a", "2.5");
    cr_assert(test_api_status(&api, "PUT", INVENTORY, key, NULL, a) == 200);
    cr_assert(test_api_status(&api, "PUT", INVENTORY, key, NULL, b) == 200);
    json_t *list =
        test_api_json(&api, "GET", "/v1/offers?provider=acme&burn_in=1&min_sla_percent=99.9", NULL,
                      NULL, &status);
    cr_assert(status == 200 && number(list, "total") == 1);
    char target[100];
    snprintf(
        target, sizeof(target), "/v1/offers/%s/price-history",
        json_string_value(json_object_get(json_array_get(json_object_get(list, "data"), 0), "id")));
    json_decref(list);
    json_t *history = test_api_json(&api, "GET", target, NULL, NULL, &status);
    cr_expect(status == 200 && number(history, "total") == 2, "status %d", status);
    json_decref(history);
    free(a);
    free(b);
}

/* An inventory of one offer of a GPU at a price a GPU-hour. */
static void put_price(const char *slug, const char *provider_key, const char *price)
{
    char target[100];
    char *body = test_inventory("m", price);
    snprintf(target, sizeof(target), "/v1/providers/%s/inventory", slug);
    cr_assert(test_api_status(&api, "PUT", target, provider_key, NULL, body) == 200);
    free(body);
}

static bool is_flagged(const char *provider, const char *flag)
{
    char target[100], wanted[80];
    snprintf(target, sizeof(target), "/v1/providers/%s/offers/m", provider);
    snprintf(wanted, sizeof(wanted), "\"%s\"", flag);
    struct loopback_reply reply = test_api_call(&api, "GET", target, NULL, NULL, NULL);
    bool found = reply.status == 200 && strstr(reply.body, wanted) != NULL;
    loopback_reply_free(&reply);
    return found;
}

Test(api_inventory, prices_far_from_what_others_ask_are_flagged)
{
    for (int i = 0; i < 6; i++) {
        char slug[20], provider_key[64], price[20];
        snprintf(slug, sizeof(slug), "rival-%d", i);
        snprintf(price, sizeof(price), "2.%d", i);
        test_api_provider(&api, slug, provider_key);
        put_price(slug, provider_key, price);
    }
    put_price("acme", key, "3");
    cr_expect(!is_flagged("acme", "price_far_above_median") &&
              !is_flagged("acme", "price_far_below_median"));
    put_price("acme", key, "1800");
    cr_expect(is_flagged("acme", "price_far_above_median"), "a monthly figure entered as hourly");
    put_price("acme", key, "0.05");
    cr_expect(is_flagged("acme", "price_far_below_median"));
}

Test(api_inventory, a_suspended_providers_key_is_refused)
{
    char *body = test_inventory("a", "3");
    cr_assert(test_api_status(&api, "PATCH", "/v1/admin/providers/acme", api.admin_key, NULL,
                              "{\"suspended\":true}") == 200);
    cr_expect(test_api_status(&api, "PUT", INVENTORY, key, NULL, body) == 403);
    cr_expect(test_api_status(&api, "GET", "/v1/providers/acme/uploads", key, NULL, NULL) == 403);
    cr_assert(test_api_status(&api, "PATCH", "/v1/admin/providers/acme", api.admin_key, NULL,
                              "{\"suspended\":false}") == 200);
    cr_expect(test_api_status(&api, "PUT", INVENTORY, key, NULL, body) == 200);
    free(body);
}

static void *put_profile(void *closure)
{
    int *status = closure;
    *status = test_api_status(&api, "PUT", "/v1/providers/acme/profile", key, NULL,
                              "{\"contact\":\"ops@example.net\"}");
    return NULL;
}

Test(api_inventory, a_profile_written_meanwhile_undoes_no_suspension)
{
    pthread_t thread;
    int status = 0;
    free(test_sql(api.connection, "BEGIN; UPDATE providers SET suspended = true, version = version "
                                  "+ 1 WHERE slug = 'acme'"));
    cr_assert(pthread_create(&thread, NULL, put_profile, &status) == 0);
    usleep(300000);
    free(test_sql(api.connection, "COMMIT"));
    pthread_join(thread, NULL);
    cr_expect(status == 200);
    cr_expect(test_sql_int(api.connection, "SELECT count(*) FROM providers WHERE suspended AND "
                                           "contact = 'ops@example.net'") == 1);
}
