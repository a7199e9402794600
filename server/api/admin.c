/* Operators' calls: providers and keys, the same as on the command line. */
#include "server/api/app.h"
#include "server/api/resources.h"

#include "db/provider.h"
#include "server/api/json_body.h"
#include "server/api/once.h"
#include "server/auth/key.h"
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/sync/write.h"

#include <string.h>

void admin_providers_prepare(struct request *request, struct reply *reply)
{
    static const char *const allowed[] = {NULL};
    (void)request_check_parameters(request, reply, allowed);
}

void admin_write_prepare(struct request *request, struct reply *reply)
{
    static const char *const allowed[] = {NULL};
    if (request_check_parameters(request, reply, allowed))
        (void)json_body_check_type(request, reply);
}

static void write_admin_provider(struct buf *out, const struct provider *provider)
{
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "slug", provider->slug);
    buf_add_json_member_string(out, "name", provider->name);
    buf_add_json_member_string(out, "kind", provider_kind_name(provider->kind));
    buf_add_json_member_string(out, "resells", provider->resells);
    buf_add_json_member_int(out, "freshness_hours", provider->freshness_hours);
    buf_add_json_member_bool(out, "suspended", provider->suspended);
    buf_add_json_member_int(out, "version", provider->version);
    buf_add_char(out, '}');
}

void admin_providers_list(struct request *request, struct reply *reply, struct worker *worker)
{
    struct db_connection *connection = worker_database(request, reply, worker);
    if (connection == NULL)
        return;
    struct provider *providers;
    size_t count;
    enum db_status status = db_provider_list(connection, &request->arena, &providers, &count);
    if (status != DB_OK) {
        reply_database_failed(request, reply, status);
        return;
    }
    whole_list_begin(reply);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_add_char(&reply->body, ',');
        write_admin_provider(&reply->body, &providers[i]);
    }
    whole_list_end(reply, count);
}

/* Members an operator may set; those missing stay. */
static void read_provider(struct json_body *body, struct provider *provider)
{
    const char *kind = NULL;
    json_body_text(body, "name", PROVIDER_NAME_MAX_BYTES, &provider->name);
    json_body_text(body, "kind", 40, &kind);
    if (kind != NULL && !provider_kind_parse(kind, &provider->kind))
        json_body_refuse(body, "kind", "unknown_value",
                         "kind is hyperscaler, gpu_cloud, marketplace, colocation or reseller.");
    const char *resells = NULL;
    json_body_text(body, "resells", PROVIDER_SLUG_MAX, &resells);
    if (resells != NULL || json_is_null(json_object_get(body->root, "resells")))
        provider->resells = resells;
    if (provider->resells != NULL &&
        (provider->kind != PROVIDER_RESELLER || !provider_slug_is_valid(provider->resells) ||
         (provider->slug != NULL && strcmp(provider->resells, provider->slug) == 0)))
        json_body_refuse(body, "resells", "not_allowed",
                         "resells names another provider's slug, and only a reseller has it.");
    json_body_bool(body, "suspended", &provider->suspended);
    int64_t freshness = provider->freshness_hours;
    json_body_nullable_decimal(body, "freshness_hours", 0, 1, 87600, &freshness);
    provider->freshness_hours = (int32_t)freshness;
}

/* What is stored now; the transaction goes on. */
static void answer_provider(struct request *request, struct reply *reply,
                            struct db_connection *connection, struct provider *provider,
                            int status_code)
{
    enum db_status status = db_provider_find(connection, provider->slug, &request->arena, provider);
    if (status != DB_OK) {
        reply_database_failed(request, reply, status);
        return;
    }
    write_admin_provider(&reply->body, provider);
    reply->status = status_code;
}

void admin_providers_add(struct request *request, struct reply *reply, struct worker *worker)
{
    struct app *app = request->app;
    struct json_body body;
    struct provider provider = {
        .kind = PROVIDER_GPU_CLOUD,
        .freshness_hours = PROVIDER_FRESHNESS_HOURS_DEFAULT,
        .trust = {.sla_percent_milli = UNKNOWN,
                  .burn_in = UNKNOWN,
                  .monitoring = UNKNOWN,
                  .on_site = UNKNOWN},
        .confirmed_at_us = TIMESTAMP_UNKNOWN,
    };
    if (!json_body_parse(&body, request, reply))
        return;
    json_body_text(&body, "slug", PROVIDER_SLUG_MAX, &provider.slug);
    read_provider(&body, &provider);
    if (provider.slug == NULL)
        json_body_refuse(&body, "slug", "missing_field", "slug is required.");
    else if (!provider_slug_is_valid(provider.slug))
        json_body_refuse(&body, "slug", "malformed",
                         "A slug is 1 to 63 of a-z, 0-9 and inner hyphens.");
    if (provider.name == NULL)
        json_body_refuse(&body, "name", "missing_field", "name is required.");
    struct db_connection *connection = NULL;
    if (json_body_finish(&body))
        connection = worker_database(request, reply, worker);
    json_body_free(&body);
    if (connection == NULL)
        return;
    struct once once;
    if (!once_begin(&once, request, reply, connection))
        return;
    enum db_status status = db_provider_add(connection, &provider, request_actor(request));
    if (status == DB_CONFLICT)
        reply_problem(request, reply, 409, "exists", "A provider with this slug exists.", NULL, 0);
    else if (status != DB_OK)
        reply_database_failed(request, reply, status);
    else
        answer_provider(request, reply, connection, &provider, 201);
    if (once_end(&once, request, reply, NULL))
        publish_provider(app->node, connection, &provider, &request->arena);
}

void admin_provider_patch(struct request *request, struct reply *reply, struct worker *worker)
{
    struct app *app = request->app;
    struct json_body body;
    struct provider provider;
    struct once once;
    if (!json_body_parse(&body, request, reply))
        return;
    struct db_connection *connection = worker_database(request, reply, worker);
    if (connection == NULL || !once_begin(&once, request, reply, connection)) {
        json_body_free(&body);
        return;
    }
    /* Locked: every column is written back, those that others change at the same time too. */
    enum db_status status =
        db_inventory_lock(connection, request->captures[0], &request->arena, &provider);
    if (status == DB_OK) {
        read_provider(&body, &provider);
        if (json_body_finish(&body))
            status = db_provider_update(connection, &provider, request_actor(request));
    }
    json_body_free(&body);
    if (status == DB_NONE)
        reply_not_found(request, reply, "No provider has this slug.");
    else if (status != DB_OK)
        reply_database_failed(request, reply, status);
    else if (reply->status == 0)
        answer_provider(request, reply, connection, &provider, 200);
    if (once_end(&once, request, reply, NULL))
        publish_provider(app->node, connection, &provider, &request->arena);
}

static void write_key(struct buf *out, const struct api_key *key)
{
    char created[TIMESTAMP_TEXT_SIZE];
    timestamp_print(key->created_at_us, created);
    buf_add_char(out, '{');
    buf_add_json_member_int(out, "id", key->id);
    buf_add_json_member_string(out, "provider", key->provider_slug);
    buf_add_json_member_bool(out, "admin", key->admin);
    buf_add_json_member_string(out, "prefix", key->prefix);
    buf_add_json_member_bool(out, "revoked", key->revoked);
    buf_add_json_member_string(out, "created_at", created);
    buf_add_char(out, '}');
}

void admin_keys_list(struct request *request, struct reply *reply, struct worker *worker)
{
    struct db_connection *connection = worker_database(request, reply, worker);
    if (connection == NULL)
        return;
    struct api_key *keys;
    size_t count;
    enum db_status status = db_key_list(connection, NULL, &request->arena, &keys, &count);
    if (status != DB_OK) {
        reply_database_failed(request, reply, status);
        return;
    }
    whole_list_begin(reply);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_add_char(&reply->body, ',');
        write_key(&reply->body, &keys[i]);
    }
    whole_list_end(reply, count);
}

/* A key as it is made. It is shown once: what is kept for a repeated request has no text. */
static void write_new_key(struct buf *out, const struct api_key *key, const char *text_or_null)
{
    buf_add_char(out, '{');
    buf_add_json_member_int(out, "id", key->id);
    buf_add_json_member_string(out, "provider", key->provider_slug);
    buf_add_json_member_bool(out, "admin", key->admin);
    buf_add_json_member_string(out, "key", text_or_null);
    buf_add_char(out, '}');
}

void admin_keys_add(struct request *request, struct reply *reply, struct worker *worker)
{
    struct json_body body;
    struct api_key key = {.created_at_us = timestamp_now_us()};
    if (!json_body_parse(&body, request, reply))
        return;
    json_body_text(&body, "provider", PROVIDER_SLUG_MAX, &key.provider_slug);
    json_body_bool(&body, "admin", &key.admin);
    if ((key.provider_slug != NULL) == key.admin)
        json_body_refuse(&body, "provider", "missing_field",
                         "Name a provider, or set admin to true for an operator's key.");
    struct db_connection *connection = NULL;
    if (json_body_finish(&body))
        connection = worker_database(request, reply, worker);
    json_body_free(&body);
    if (connection == NULL)
        return;
    struct once once;
    if (!once_begin(&once, request, reply, connection))
        return;
    char text[KEY_TEXT_LENGTH + 1];
    key_generate(text);
    key_hash(text, key.hash);
    memcpy(key.prefix, text, KEY_PREFIX_LENGTH);
    struct buf kept = {0};
    enum db_status status = db_key_add(connection, &key, request_actor(request));
    if (status == DB_NONE) {
        reply_not_found(request, reply, "No provider has this slug.");
    } else if (status != DB_OK) {
        reply_database_failed(request, reply, status);
    } else {
        write_new_key(&reply->body, &key, text);
        write_new_key(&kept, &key, NULL);
        reply->status = 201;
    }
    crypt_wipe(text, sizeof(text));
    (void)once_end(&once, request, reply, kept.data);
    buf_free(&kept);
}

void admin_key_revoke(struct request *request, struct reply *reply, struct worker *worker)
{
    struct app *app = request->app;
    const char *text = request->captures[0];
    int64_t id;
    if (strspn(text, "0123456789") != strlen(text) ||
        decimal_parse(text, strlen(text), 0, false, &id) != DECIMAL_OK || id < 1) {
        reply_not_found(request, reply, "No key has this id.");
        return;
    }
    struct db_connection *connection = worker_database(request, reply, worker);
    if (connection == NULL)
        return;
    struct once once;
    if (!once_begin(&once, request, reply, connection))
        return;
    enum db_status status = db_key_revoke(connection, id, request_actor(request));
    if (status == DB_NONE) {
        reply_not_found(request, reply, "No key has this id.");
    } else if (status != DB_OK) {
        reply_database_failed(request, reply, status);
    } else {
        buf_add_char(&reply->body, '{');
        buf_add_json_member_int(&reply->body, "id", id);
        buf_add_json_member_bool(&reply->body, "revoked", true);
        buf_add_char(&reply->body, '}');
        reply->status = 200;
    }
    /* This node refuses it from now on; the others within a second. */
    if (once_end(&once, request, reply, NULL))
        node_reload_keys(app->node, connection);
}
