/* The hooks are the server's own; only the worker is run on the test's thread. */
#include "tests/support/test_api.h"

#include "db/provider.h"
#include "server/auth/key.h"
#include "server/base/crypto.h"
#include "server/base/log.h"
#include "server/base/timestamp.h"
#include "tests/support/test_database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "test api: %s failed\n", what);
    abort();
}

void test_api_start(struct test_api *api)
{
    *api = (struct test_api){0};
    log_set_level(LOG_LEVEL_ERROR);
    must(crypt_init(), "crypto");
    const char *url = test_database_new();
    api->connection = test_connect(url);
    struct api_key key = {.admin = true, .created_at_us = timestamp_now_us()};
    char text[KEY_TEXT_LENGTH + 1];
    key_generate(text);
    key_hash(text, key.hash);
    memcpy(key.prefix, text, KEY_PREFIX_LENGTH);
    must(db_key_add(api->connection, &key, "test") == DB_OK, "adding a key");
    snprintf(api->admin_key, sizeof(api->admin_key), "%s", text);
    api->app.settings = &api->settings;
    api->app.node = node_new(url);
    api->app.answers = answer_cache_new((size_t)4 << 20);
    api->app.decoded.limit_bytes = (size_t)512 << 20;
    must(node_catch_up(api->app.node, api->connection), "loading");
    api->hooks = app_hooks(&api->app);
    api->worker = api->hooks.worker_new(&api->app);
}

void test_api_stop(struct test_api *api)
{
    api->hooks.worker_free(&api->app, api->worker);
    answer_cache_free(api->app.answers);
    node_free(api->app.node);
    db_disconnect(api->connection);
    test_database_drop();
}

struct loopback_reply test_api_call_bytes(struct test_api *api, const char *method,
                                          const char *target, const char *key, const char *headers,
                                          const char *body, size_t length)
{
    struct http_pair pairs[16];
    char lines[4096], authorization[128];
    size_t count = 0;
    if (key != NULL) {
        snprintf(authorization, sizeof(authorization), "Bearer %s", key);
        pairs[count++] = (struct http_pair){"authorization", authorization};
    }
    snprintf(lines, sizeof(lines), "%s", headers == NULL ? "" : headers);
    for (char *line = strtok(lines, "\n"); line != NULL && count < 16; line = strtok(NULL, "\n")) {
        char *colon = strstr(line, ": ");
        must(colon != NULL, "a header line");
        *colon = '\0';
        pairs[count++] = (struct http_pair){line, colon + 2};
    }
    struct loopback_reply reply;
    http_loopback(&api->hooks, api->worker, method, target, pairs, count, body, length, &reply);
    return reply;
}

struct loopback_reply test_api_call(struct test_api *api, const char *method, const char *target,
                                    const char *key, const char *headers, const char *body)
{
    return test_api_call_bytes(api, method, target, key, headers, body,
                               body == NULL ? 0 : strlen(body));
}

int test_api_status(struct test_api *api, const char *method, const char *target, const char *key,
                    const char *headers, const char *body)
{
    struct loopback_reply reply = test_api_call(api, method, target, key, headers, body);
    int status = reply.status;
    loopback_reply_free(&reply);
    return status;
}

json_t *test_api_json(struct test_api *api, const char *method, const char *target, const char *key,
                      const char *body, int *ret_status)
{
    struct loopback_reply reply = test_api_call(api, method, target, key, NULL, body);
    json_t *json = json_loadb(reply.body, reply.body_length, JSON_REJECT_DUPLICATES, NULL);
    if (ret_status != NULL)
        *ret_status = reply.status;
    loopback_reply_free(&reply);
    return json;
}

char *test_reply_header(const struct loopback_reply *reply, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = reply->head; line != NULL && *line != '\0';) {
        const char *end = strstr(line, "\r\n");
        if (strncasecmp(line, name, length) == 0 && line[length] == ':')
            return strndup(line + length + 2, (size_t)(end - line) - length - 2);
        line = end == NULL ? NULL : end + 2;
    }
    return NULL;
}

char *test_inventory(const char *external_id, const char *price)
{
    char *text = NULL;
    int length = asprintf(
        &text,
        "{\"offers\":[{\"external_id\":\"%s\",\"gpu\":\"H100 SXM5\",\"gpu_count\":8,\"region\":"
        "\"us-east\",\"prices\":[{\"billing\":\"on_demand\",\"price_per_gpu_hour\":%s}]}]}",
        external_id, price);
    must(length > 0, "printing");
    return text;
}

void test_api_provider(struct test_api *api, const char *slug, char *ret_key)
{
    char body[256];
    int status;
    snprintf(body, sizeof(body), "{\"slug\":\"%s\",\"name\":\"Provider %s\"}", slug, slug);
    must(test_api_status(api, "POST", "/v1/admin/providers", api->admin_key,
                         "content-type: application/json", body) == 201,
         "adding a provider");
    snprintf(body, sizeof(body), "{\"provider\":\"%s\"}", slug);
    json_t *key = test_api_json(api, "POST", "/v1/admin/keys", api->admin_key, body, &status);
    must(status == 201, "adding a key");
    snprintf(ret_key, 64, "%s", json_string_value(json_object_get(key, "key")));
    json_decref(key);
}
