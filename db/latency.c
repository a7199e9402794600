/* Writers take their turn at the row of the version, so that versions are in order of commit. */
#include "db/latency.h"

#include "db/connection.h"
#include "server/base/buf.h"
#include "server/base/decimal.h"
#include "server/model/offer.h"
#include "server/reference/place.h"

static enum db_status bump(struct db_connection *connection, int64_t *ret_version)
{
    struct pg_result *result;
    struct db_row row;
    enum db_status status = db_run_one(connection, STATEMENT_LATENCY_BUMP, NULL, &result, &row);
    if (status != DB_OK)
        return status == DB_NONE ? DB_FAILED : status;
    *ret_version = row_bigint(&row);
    db_result_free(result);
    return DB_OK;
}

static enum db_status upsert(struct db_connection *connection,
                             const struct latency_measurement *measurement, const char *actor,
                             struct latency_effect *effect)
{
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_text(&params, place_at(measurement->from)->slug);
    param_text(&params, place_at(measurement->to)->slug);
    param_text(&params, measurement->provider);
    param_text(&params, measurement->zone);
    param_text(&params, measurement->measured_by);
    param_integer(&params, measurement->median_us);
    param_integer(&params, measurement->p95_us);
    param_integer(&params, measurement->samples);
    param_time(&params, measurement->measured_at_us);
    param_text(&params, measurement->source);
    param_integer(&params, measurement->floor_us);
    param_text(&params, actor);
    enum db_status status =
        db_run_one(connection, STATEMENT_LATENCY_UPSERT, &params, &result, &row);
    params_free(&params);
    effect->contradicting += latency_contradicts(measurement);
    if (status == DB_NONE) {
        effect->unchanged++;
        return DB_OK;
    }
    if (status != DB_OK)
        return status;
    if (row_bool(&row))
        effect->created++;
    else
        effect->updated++;
    db_result_free(result);
    return DB_OK;
}

static enum db_status check_room(struct db_connection *connection, const char *measured_by)
{
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    if (measured_by == NULL)
        return DB_OK;
    param_text(&params, measured_by);
    enum db_status status = db_run_one(connection, STATEMENT_LATENCY_COUNT, &params, &result, &row);
    params_free(&params);
    if (status != DB_OK)
        return status;
    if (row_bigint(&row) > LATENCY_PER_PROVIDER_MAX)
        status = DB_CONFLICT;
    db_result_free(result);
    return status;
}

static enum db_status audit(struct db_connection *connection, const char *actor,
                            const struct latency_effect *effect)
{
    struct buf detail = {0};
    buf_add_char(&detail, '{');
    buf_add_json_member_int(&detail, "created", (int64_t)effect->created);
    buf_add_json_member_int(&detail, "updated", (int64_t)effect->updated);
    buf_add_json_member_int(&detail, "contradicting", (int64_t)effect->contradicting);
    buf_add_char(&detail, '}');
    enum db_status status = db_audit(connection, actor, "latency_write", 0, detail.data);
    buf_free(&detail);
    return status;
}

enum db_status db_latency_write(struct db_connection *connection,
                                const struct latency_measurement *list, size_t count,
                                const char *actor, struct latency_effect *ret_effect)
{
    bool own;
    *ret_effect = (struct latency_effect){0};
    enum db_status status = db_begin_own(connection, &own);
    if (status != DB_OK)
        return status;
    status = bump(connection, &ret_effect->version);
    for (size_t i = 0; i < count && status == DB_OK; i++)
        status = upsert(connection, &list[i], actor, ret_effect);
    if (status == DB_OK && count > 0)
        status = check_room(connection, list[0].measured_by);
    if (status == DB_OK)
        status = audit(connection, actor, ret_effect);
    return db_end_own(connection, own, status);
}

enum db_status db_latency_remove(struct db_connection *connection, int64_t id, const char *actor)
{
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    bool own;
    int64_t version;
    enum db_status status = db_begin_own(connection, &own);
    if (status != DB_OK)
        return status;
    status = bump(connection, &version);
    if (status == DB_OK) {
        param_bigint(&params, id);
        status = db_run_one(connection, STATEMENT_LATENCY_REMOVE, &params, &result, &row);
        params_free(&params);
    }
    if (status == DB_OK) {
        struct buf detail = {0};
        db_result_free(result);
        buf_add_char(&detail, '{');
        buf_add_json_member_int(&detail, "id", id);
        buf_add_char(&detail, '}');
        status = db_audit(connection, actor, "latency_remove", 0, detail.data);
        buf_free(&detail);
    }
    return db_end_own(connection, own, status);
}

enum db_status db_latency_list(struct db_connection *connection, struct arena *arena,
                               struct latency_measurement **ret_list, size_t *ret_count,
                               int64_t *ret_version)
{
    struct pg_result *result;
    /* One statement, so that the rows are those of the version. */
    enum db_status status = db_run(connection, STATEMENT_LATENCY_LIST, NULL, 0, &result);
    if (status != DB_OK)
        return status;
    size_t count = db_result_rows(result);
    *ret_list = arena_calloc(arena, count + 1, sizeof(**ret_list));
    *ret_count = 0;
    *ret_version = 0;
    for (size_t i = 0; i < count; i++) {
        struct db_row row = {.result = result, .row = (int)i};
        struct latency_measurement *to = &(*ret_list)[*ret_count];
        *ret_version = row_bigint(&row);
        to->id = row_bigint(&row);
        if (to->id == UNKNOWN)
            continue; /* nothing was measured: the row of the version alone */
        to->from = place_find(row_text(&row, arena));
        to->to = place_find(row_text(&row, arena));
        to->provider = row_text(&row, arena);
        to->zone = row_text(&row, arena);
        to->measured_by = row_text(&row, arena);
        to->median_us = row_integer(&row);
        to->p95_us = row_integer(&row);
        to->samples = row_integer(&row);
        to->measured_at_us = row_time(&row);
        to->source = row_text(&row, arena);
        to->floor_us = row_integer(&row);
        *ret_count += to->from != INDEX_NONE && to->to != INDEX_NONE;
    }
    db_result_free(result);
    return DB_OK;
}
