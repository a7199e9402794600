/* API keys by hash. Every change bumps the counter `keys`, which makes nodes load them again. */
#include "db/connection.h"
#include "db/provider.h"
#include "server/base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_key(struct db_row *row, struct arena *arena, struct api_key *ret_key)
{
    *ret_key = (struct api_key){.id = row_bigint(row)};
    size_t length;
    const char *prefix = row_bytes(row, &length);
    if (prefix == NULL || length >= sizeof(ret_key->prefix))
        return false;
    memcpy(ret_key->prefix, prefix, length);
    bool good = row_fixed_bytes(row, ret_key->hash, sizeof(ret_key->hash));
    ret_key->provider_slug = row_text(row, arena);
    ret_key->admin = row_bool(row);
    ret_key->revoked = row_bool(row);
    ret_key->created_at_us = row_time(row);
    return good;
}

/* The id of a provider by slug. */
static enum db_status find_provider(struct db_connection *connection, const char *slug,
                                    int64_t *ret_id)
{
    struct arena arena = {0};
    struct provider provider;
    enum db_status status = db_provider_find(connection, slug, &arena, &provider);
    if (status == DB_OK)
        *ret_id = provider.id;
    arena_free(&arena);
    return status;
}

static enum db_status insert(struct db_connection *connection, struct api_key *key,
                             int64_t provider_id)
{
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_bytes(&params, key->hash, sizeof(key->hash));
    param_text(&params, key->prefix);
    param_bigint(&params, provider_id == 0 ? -1 : provider_id);
    param_bool(&params, key->admin);
    enum db_status status = db_run_one(connection, STATEMENT_KEY_ADD, &params, &result, &row);
    params_free(&params);
    if (status != DB_OK)
        return status == DB_NONE ? DB_CONFLICT : status;
    key->id = row_bigint(&row);
    key->created_at_us = row_time(&row);
    key->revoked = false;
    db_result_free(result);
    return DB_OK;
}

static enum db_status audit_key(struct db_connection *connection, const char *actor,
                                const char *action, int64_t id, int64_t provider_id)
{
    char detail[64];
    snprintf(detail, sizeof(detail), "{\"key\":%lld}", (long long)id);
    enum db_status status = db_audit(connection, actor, action, provider_id, detail);
    return status == DB_OK ? db_bump_counter(connection, "keys") : status;
}

enum db_status db_key_add(struct db_connection *connection, struct api_key *key, const char *actor)
{
    bool own;
    enum db_status status = db_begin_own(connection, &own);
    if (status != DB_OK)
        return status;
    int64_t provider_id = 0;
    if (key->provider_slug != NULL)
        status = find_provider(connection, key->provider_slug, &provider_id);
    if (status == DB_OK)
        status = insert(connection, key, provider_id);
    if (status == DB_OK)
        status = audit_key(connection, actor, "key_add", key->id, provider_id);
    return db_end_own(connection, own, status);
}

enum db_status db_key_list(struct db_connection *connection, const char *provider_slug_or_null,
                           struct arena *arena, struct api_key **ret_keys, size_t *ret_count)
{
    struct db_params params = {0};
    struct pg_result *result;
    param_text(&params, provider_slug_or_null);
    enum db_status status = db_run(connection, STATEMENT_KEY_LIST, &params, 0, &result);
    params_free(&params);
    if (status != DB_OK)
        return status;
    size_t count = db_result_rows(result);
    struct api_key *keys = arena_calloc(arena, count, sizeof(*keys));
    for (size_t i = 0; i < count && status == DB_OK; i++) {
        struct db_row row = {.result = result, .row = (int)i};
        if (!read_key(&row, arena, &keys[i]))
            status = DB_FAILED;
    }
    db_result_free(result);
    *ret_keys = keys;
    *ret_count = count;
    return status;
}

enum db_status db_key_find(struct db_connection *connection, const uint8_t hash[static 32],
                           struct arena *arena, struct api_key *ret_key)
{
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_bytes(&params, hash, 32);
    enum db_status status = db_run_one(connection, STATEMENT_KEY_FIND, &params, &result, &row);
    params_free(&params);
    if (status != DB_OK)
        return status;
    if (!read_key(&row, arena, ret_key))
        status = DB_FAILED;
    db_result_free(result);
    return status;
}

/* DB_OK where the key is there, revoked already. */
static enum db_status key_exists(struct db_connection *connection, int64_t id)
{
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_bigint(&params, id);
    enum db_status status = db_run_one(connection, STATEMENT_KEY_EXISTS, &params, &result, &row);
    params_free(&params);
    if (status == DB_OK)
        db_result_free(result);
    return status;
}

enum db_status db_key_revoke(struct db_connection *connection, int64_t id, const char *actor)
{
    bool own;
    enum db_status status = db_begin_own(connection, &own);
    if (status != DB_OK)
        return status;
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_bigint(&params, id);
    status = db_run_one(connection, STATEMENT_KEY_REVOKE, &params, &result, &row);
    params_free(&params);
    if (status == DB_NONE) {
        status = key_exists(connection, id);
    } else if (status == DB_OK) {
        int64_t provider_id = row_bigint(&row);
        db_result_free(result);
        status = audit_key(connection, actor, "key_revoke", id, provider_id < 0 ? 0 : provider_id);
    }
    return db_end_own(connection, own, status);
}
