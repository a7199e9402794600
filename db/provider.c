/* Providers: the directory and its versions. A change commits on its own unless the caller has a
 * transaction open. */
#include "db/provider.h"

#include "db/provider_row.h"
#include "server/base/buf.h"
#include "server/base/log.h"
#include "server/base/timestamp.h"

#include <stdlib.h>
#include <string.h>

bool provider_row_read(struct db_row *row, struct arena *arena, struct provider *ret_provider)
{
    *ret_provider = (struct provider){0};
    ret_provider->id = row_bigint(row);
    ret_provider->slug = row_text(row, arena);
    ret_provider->name = row_text(row, arena);
    const char *kind = row_text(row, arena);
    ret_provider->resells = row_text(row, arena);
    ret_provider->website = row_text(row, arena);
    ret_provider->contact = row_text(row, arena);
    ret_provider->freshness_hours = row_integer(row);
    ret_provider->trust.sla_percent_milli = row_integer(row);
    ret_provider->trust.burn_in = row_tristate(row);
    ret_provider->trust.monitoring = row_tristate(row);
    ret_provider->trust.on_site = row_tristate(row);
    ret_provider->suspended = row_bool(row);
    ret_provider->version = row_bigint(row);
    ret_provider->confirmed_at_us = row_time(row);
    ret_provider->updated_at_us = row_time(row);
    return kind != NULL && provider_kind_parse(kind, &ret_provider->kind);
}

static void add_params(struct db_params *params, const struct provider *provider)
{
    param_text(params, provider->slug);
    param_text(params, provider->name);
    param_text(params, provider_kind_name(provider->kind));
    param_text(params, provider->resells);
    param_text(params, provider->website);
    param_text(params, provider->contact);
    param_integer(params, provider->freshness_hours);
    param_integer(params, provider->trust.sla_percent_milli);
    param_bool(params, provider->trust.burn_in);
    param_bool(params, provider->trust.monitoring);
    param_bool(params, provider->trust.on_site);
    param_bool(params, provider->suspended);
}

static char *describe(const struct provider *provider)
{
    struct buf detail = {0};
    buf_add_char(&detail, '{');
    buf_add_json_member_string(&detail, "slug", provider->slug);
    buf_add_json_member_string(&detail, "name", provider->name);
    buf_add_json_member_string(&detail, "kind", provider_kind_name(provider->kind));
    buf_add_json_member_int(&detail, "freshness_hours", provider->freshness_hours);
    buf_add_json_member_bool(&detail, "suspended", provider->suspended);
    buf_add_char(&detail, '}');
    return buf_detach(&detail, NULL);
}

static enum db_status insert(struct db_connection *connection, struct provider *provider)
{
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    add_params(&params, provider);
    enum db_status status = db_run_one(connection, STATEMENT_PROVIDER_ADD, &params, &result, &row);
    params_free(&params);
    if (status != DB_OK)
        return status == DB_NONE ? DB_CONFLICT : status;
    provider->id = row_bigint(&row);
    provider->version = row_bigint(&row);
    provider->updated_at_us = row_time(&row);
    provider->confirmed_at_us = TIMESTAMP_UNKNOWN;
    db_result_free(result);
    return DB_OK;
}

enum db_status db_provider_add(struct db_connection *connection, struct provider *provider,
                               const char *actor)
{
    bool own;
    enum db_status status = db_begin_own(connection, &own);
    if (status != DB_OK)
        return status;
    status = insert(connection, provider);
    if (status == DB_OK) {
        char *detail = describe(provider);
        status = db_audit(connection, actor, "provider_add", provider->id, detail);
        free(detail);
    }
    return db_end_own(connection, own, status);
}

enum db_status db_provider_update(struct db_connection *connection, const struct provider *provider,
                                  const char *actor)
{
    bool own;
    enum db_status status = db_begin_own(connection, &own);
    if (status != DB_OK)
        return status;
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    add_params(&params, provider);
    status = db_run_one(connection, STATEMENT_PROVIDER_UPDATE, &params, &result, &row);
    params_free(&params);
    if (status == DB_OK) {
        int64_t id = row_bigint(&row);
        db_result_free(result);
        char *detail = describe(provider);
        status = db_audit(connection, actor, "provider_update", id, detail);
        free(detail);
    }
    return db_end_own(connection, own, status);
}

enum db_status db_provider_list(struct db_connection *connection, struct arena *arena,
                                struct provider **ret_providers, size_t *ret_count)
{
    struct pg_result *result;
    enum db_status status = db_run(connection, STATEMENT_PROVIDER_LIST, NULL, 0, &result);
    if (status != DB_OK)
        return status;
    size_t count = db_result_rows(result);
    struct provider *providers = arena_calloc(arena, count, sizeof(*providers));
    for (size_t i = 0; i < count && status == DB_OK; i++) {
        struct db_row row = {.result = result, .row = (int)i};
        if (!provider_row_read(&row, arena, &providers[i]))
            status = DB_FAILED;
    }
    db_result_free(result);
    *ret_providers = providers;
    *ret_count = count;
    return status;
}

enum db_status db_provider_find(struct db_connection *connection, const char *slug,
                                struct arena *arena, struct provider *ret_provider)
{
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_text(&params, slug);
    enum db_status status = db_run_one(connection, STATEMENT_PROVIDER_FIND, &params, &result, &row);
    params_free(&params);
    if (status != DB_OK)
        return status;
    if (!provider_row_read(&row, arena, ret_provider))
        status = DB_FAILED;
    db_result_free(result);
    return status;
}

enum db_status db_versions(struct db_connection *connection, struct version_table *ret_table)
{
    struct pg_result *result;
    enum db_status status = db_run(connection, STATEMENT_VERSIONS, NULL, 0, &result);
    if (status != DB_OK)
        return status;
    size_t count = db_result_rows(result);
    *ret_table =
        (struct version_table){.providers = xcalloc(count + 1, sizeof(struct provider_version))};
    for (size_t i = 0; i < count; i++) {
        struct db_row row = {.result = result, .row = (int)i};
        int32_t source = row_integer(&row);
        int64_t id = row_bigint(&row);
        int64_t version = row_bigint(&row);
        if (source == 0)
            ret_table->providers[ret_table->provider_count++] =
                (struct provider_version){.id = id, .version = version};
        else if (source == 1)
            ret_table->keys_version = version;
        else if (source == 2)
            ret_table->reference_version = version;
        else if (source == 3)
            ret_table->fixings_version = version;
        else
            ret_table->latency_version = version;
    }
    db_result_free(result);
    return DB_OK;
}
