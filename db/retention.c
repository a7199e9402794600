/* Forgetting: bounded work a call, each part in a transaction of its own, so that it never holds up
 * writers for long. */
#include "db/connection.h"
#include "db/upload.h"

#define ROWS_PER_CALL 5000

/* *ret_more is set where as many went as may at once. */
static enum db_status expire(struct db_connection *connection, enum statement statement,
                             int32_t days, bool *ret_more)
{
    struct db_params params = {0};
    struct pg_result *result;
    param_bigint(&params, ROWS_PER_CALL);
    if (days >= 0)
        param_integer(&params, days);
    enum db_status status = db_run(connection, statement, &params, ROWS_PER_CALL, &result);
    params_free(&params);
    if (status != DB_OK)
        return status;
    *ret_more = *ret_more || db_result_affected(result) >= ROWS_PER_CALL;
    db_result_free(result);
    return DB_OK;
}

/* Append-only tables let retention through only when it says who it is. */
static enum db_status expire_audit(struct db_connection *connection, int32_t days, bool *ret_more)
{
    enum db_status status = db_begin(connection);
    if (status != DB_OK)
        return status;
    status = db_run(connection, STATEMENT_RETENTION_ANNOUNCE, NULL, 0, NULL);
    if (status == DB_OK)
        status = expire(connection, STATEMENT_EXPIRE_AUDIT, days, ret_more);
    return db_end_own(connection, true, status);
}

/* One provider's a call, whose oldest is the oldest of all. */
static enum db_status expire_tombstones(struct db_connection *connection, int32_t days,
                                        bool *ret_more)
{
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_integer(&params, days);
    enum db_status status =
        db_run_one(connection, STATEMENT_EXPIRE_TOMBSTONES_PROVIDER, &params, &result, &row);
    params_free(&params);
    if (status != DB_OK)
        return status == DB_NONE ? DB_OK : status;
    struct arena arena = {0};
    *ret_more = true;
    param_text(&params, row_text(&row, &arena));
    param_bigint(&params, row_bigint(&row));
    db_result_free(result);
    status = db_run(connection, STATEMENT_EXPIRE_TOMBSTONES, &params, ROWS_PER_CALL, NULL);
    params_free(&params);
    arena_free(&arena);
    return status;
}

enum db_status db_retention(struct db_connection *connection, const struct retention *retention,
                            bool *ret_more)
{
    *ret_more = false;
    enum db_status status = expire(connection, STATEMENT_EXPIRE_IDEMPOTENCY, -1, ret_more);
    if (status == DB_OK)
        status = expire(connection, STATEMENT_EXPIRE_UPLOADS, retention->upload_days, ret_more);
    if (status == DB_OK)
        status = expire_tombstones(connection, retention->tombstone_days, ret_more);
    if (status == DB_OK)
        status = expire_audit(connection, retention->audit_days, ret_more);
    return status;
}
