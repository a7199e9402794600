/* Publishing and reading fixings. One transaction in the cluster publishes at a time, by an
 * advisory lock that dies with it; the primary key says the same once more. */
#include "db/fixing.h"

#include "db/connection.h"
#include "server/base/timestamp.h"

#include <string.h>

/* PostgreSQL counts days from 2000-01-01. */
#define POSTGRES_EPOCH_DAY 10957
#define DAY_US             INT64_C(86400000000)

enum db_status db_fixing_due(struct db_connection *connection, int32_t last_day, size_t limit,
                             struct arena *arena, int32_t **ret_days, size_t *ret_count)
{
    struct db_params params = {0};
    struct pg_result *result;
    param_integer(&params, last_day);
    param_bigint(&params, (int64_t)limit);
    enum db_status status = db_run(connection, STATEMENT_FIXING_DUE, &params, 0, &result);
    params_free(&params);
    if (status != DB_OK)
        return status;
    *ret_count = db_result_rows(result);
    *ret_days = arena_calloc(arena, *ret_count, sizeof(**ret_days));
    for (size_t i = 0; i < *ret_count; i++)
        (*ret_days)[i] = row_integer(&(struct db_row){.result = result, .row = (int)i});
    db_result_free(result);
    return DB_OK;
}

enum db_status db_fixing_imported_since(struct db_connection *connection, int64_t since_us,
                                        bool *ret_any)
{
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_time(&params, since_us);
    enum db_status status =
        db_run_one(connection, STATEMENT_FIXING_IMPORTED, &params, &result, &row);
    params_free(&params);
    if (status != DB_OK)
        return status;
    *ret_any = row_bool(&row);
    db_result_free(result);
    return DB_OK;
}

enum db_status db_fixing_begin(struct db_connection *connection)
{
    struct pg_result *result;
    struct db_row row;
    enum db_status status = db_run(connection, STATEMENT_BEGIN_REPEATABLE, NULL, 0, NULL);
    if (status != DB_OK)
        return status;
    status = db_run_one(connection, STATEMENT_FIXING_LOCK, NULL, &result, &row);
    if (status == DB_OK) {
        status = row_bool(&row) ? DB_OK : DB_RETRY;
        db_result_free(result);
    }
    if (status != DB_OK)
        db_rollback(connection);
    return status;
}

enum db_status db_fixing_revision(struct db_connection *connection, int32_t day,
                                  int32_t *ret_revision)
{
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_integer(&params, day);
    enum db_status status =
        db_run_one(connection, STATEMENT_FIXING_REVISION, &params, &result, &row);
    params_free(&params);
    if (status != DB_OK)
        return status;
    *ret_revision = row_integer(&row);
    db_result_free(result);
    return DB_OK;
}

enum db_status db_fixing_confirmations(struct db_connection *connection, int32_t day,
                                       struct arena *arena, struct past_confirmation **ret_list,
                                       size_t *ret_count)
{
    struct db_params params = {0};
    struct pg_result *result;
    param_integer(&params, day);
    enum db_status status = db_run(connection, STATEMENT_FIXING_CONFIRMED, &params, 0, &result);
    params_free(&params);
    if (status != DB_OK)
        return status;
    *ret_count = db_result_rows(result);
    *ret_list = arena_calloc(arena, *ret_count, sizeof(**ret_list));
    for (size_t i = 0; i < *ret_count; i++) {
        struct db_row row = {.result = result, .row = (int)i};
        (*ret_list)[i].provider_id = row_bigint(&row);
        (*ret_list)[i].at_us = row_time(&row);
    }
    db_result_free(result);
    return DB_OK;
}

static enum db_status add_day(struct db_connection *connection, struct fixing_day *day,
                              const char *made_by, size_t count)
{
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_integer(&params, day->day);
    param_integer(&params, day->revision);
    param_integer(&params, day->method_version);
    param_integer(&params, (int32_t)count);
    param_text(&params, made_by);
    enum db_status status =
        db_run_one(connection, STATEMENT_FIXING_DAY_ADD, &params, &result, &row);
    params_free(&params);
    if (status != DB_OK)
        return status;
    day->version = row_bigint(&row);
    db_result_free(result);
    return DB_OK;
}

static void write_row(struct buf *out, const struct fixing_day *day, const struct fixing_row *row)
{
    wire_integer(out, day->day - POSTGRES_EPOCH_DAY);
    wire_integer(out, day->revision);
    wire_text(out, row->gpu);
    wire_text(out, billing_name(row->billing));
    wire_integer(out, row->months_from);
    wire_text(out, row->continent == NULL ? "" : row->continent);
    wire_bigint(out, row->min_microusd);
    wire_bigint(out, row->p25_microusd);
    wire_bigint(out, row->median_microusd);
    wire_bigint(out, row->p75_microusd);
    wire_bigint(out, row->max_microusd);
    wire_integer(out, row->offers);
    wire_integer(out, row->providers);
    wire_bytes(out, row->input_hash, sizeof(row->input_hash));
}

enum db_status db_fixing_publish(struct db_connection *connection, struct fixing_day *day,
                                 const char *made_by, const struct fixing_row *rows, size_t count)
{
    struct buf out = {0};
    enum db_status status = add_day(connection, day, made_by, count);
    if (status == DB_OK && count > 0)
        status = db_copy_begin(connection, STATEMENT_FIXINGS_COPY, &out);
    for (size_t i = 0; i < count && status == DB_OK; i++) {
        status = db_copy_row(connection, &out, 14);
        write_row(&out, day, &rows[i]);
    }
    if (status == DB_OK && count > 0)
        status = db_copy_end(connection, &out, count);
    buf_free(&out);
    return status;
}

struct taking {
    bool (*take)(void *closure, const struct fixing_day *day, const struct fixing_row *row);
    void *closure;
    int64_t version; /* of the day at hand */
    struct arena arena;
};

static bool take_row(void *closure, struct db_row *row)
{
    struct taking *taking = closure;
    struct fixing_day day;
    struct fixing_row fixing;
    arena_reset(&taking->arena);
    day.version = row_bigint(row);
    day.day = row_integer(row);
    day.revision = row_integer(row);
    day.method_version = row_integer(row);
    if (day.version != taking->version && !taking->take(taking->closure, &day, NULL))
        return false;
    taking->version = day.version;
    fixing.gpu = row_text(row, &taking->arena);
    if (fixing.gpu == NULL)
        return true; /* a day on which nothing was on offer */
    if (!billing_parse(row_text(row, &taking->arena), &fixing.billing))
        return false;
    fixing.months_from = row_integer(row);
    fixing.continent = row_text(row, &taking->arena);
    if (fixing.continent[0] == '\0')
        fixing.continent = NULL;
    fixing.min_microusd = row_bigint(row);
    fixing.p25_microusd = row_bigint(row);
    fixing.median_microusd = row_bigint(row);
    fixing.p75_microusd = row_bigint(row);
    fixing.max_microusd = row_bigint(row);
    fixing.offers = row_integer(row);
    fixing.providers = row_integer(row);
    return row_fixed_bytes(row, fixing.input_hash, sizeof(fixing.input_hash)) &&
           taking->take(taking->closure, &day, &fixing);
}

enum db_status db_fixing_since(struct db_connection *connection, int64_t after_version,
                               bool (*take)(void *closure, const struct fixing_day *day,
                                            const struct fixing_row *row),
                               void *closure)
{
    struct taking taking = {.take = take, .closure = closure, .version = -1};
    struct db_params params = {0};
    param_bigint(&params, after_version);
    enum db_status status =
        db_run_each(connection, STATEMENT_FIXINGS_SINCE, &params, 0, take_row, &taking);
    params_free(&params);
    arena_free(&taking.arena);
    return status;
}
