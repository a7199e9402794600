/* Uploads read back, with the rows they refused. */
#include "db/upload.h"

#include "db/connection.h"

#include <string.h>

static void read_upload(struct db_row *row, struct arena *arena, struct upload_row *ret_row)
{
    *ret_row = (struct upload_row){0};
    row_uuid(row, ret_row->id);
    ret_row->kind = row_text(row, arena);
    ret_row->format = row_text(row, arena);
    ret_row->actor = row_text(row, arena);
    ret_row->at_us = row_time(row);
    ret_row->version = row_bigint(row);
    ret_row->rows_read = row_bigint(row);
    ret_row->created = row_bigint(row);
    ret_row->updated = row_bigint(row);
    ret_row->unchanged = row_bigint(row);
    ret_row->removed = row_bigint(row);
    ret_row->skipped = row_bigint(row);
    ret_row->rejected = row_bigint(row);
    ret_row->changes_truncated = row_bool(row);
}

/* A statement with one parameter that gives one number. */
static enum db_status count_rows(struct db_connection *connection, enum statement statement,
                                 const char *parameter, int64_t *ret_total)
{
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_text(&params, parameter);
    enum db_status status = db_run_one(connection, statement, &params, &result, &row);
    params_free(&params);
    if (status != DB_OK)
        return status;
    *ret_total = row_bigint(&row);
    db_result_free(result);
    return DB_OK;
}

enum db_status db_upload_list(struct db_connection *connection, const char *provider_slug,
                              const char *before_id, size_t limit, struct arena *arena,
                              struct upload_row **ret_rows, size_t *ret_count, int64_t *ret_total)
{
    *ret_rows = NULL;
    *ret_count = 0;
    enum db_status status =
        count_rows(connection, STATEMENT_UPLOAD_COUNT, provider_slug, ret_total);
    if (status != DB_OK || (before_id != NULL && !db_is_uuid(before_id)))
        return status;
    struct db_params params = {0};
    struct pg_result *result;
    param_text(&params, provider_slug);
    param_text(&params, before_id);
    param_bigint(&params, (int64_t)limit);
    status = db_run(connection, STATEMENT_UPLOAD_LIST, &params, 0, &result);
    params_free(&params);
    if (status != DB_OK)
        return status;
    *ret_count = db_result_rows(result);
    *ret_rows = arena_calloc(arena, *ret_count, sizeof(**ret_rows));
    for (size_t i = 0; i < *ret_count; i++) {
        struct db_row row = {.result = result, .row = (int)i};
        read_upload(&row, arena, &(*ret_rows)[i]);
    }
    db_result_free(result);
    return DB_OK;
}

static enum db_status read_issues(struct db_connection *connection, const char *id, size_t offset,
                                  size_t limit, struct arena *arena, struct row_issues *ret_errors,
                                  struct row_issues *ret_warnings)
{
    struct db_params params = {0};
    struct pg_result *result;
    param_text(&params, id);
    param_bigint(&params, (int64_t)limit);
    param_bigint(&params, (int64_t)offset);
    enum db_status status = db_run(connection, STATEMENT_ISSUE_LIST, &params, 0, &result);
    params_free(&params);
    if (status != DB_OK)
        return status;
    for (size_t i = 0; i < db_result_rows(result); i++) {
        struct db_row row = {.result = result, .row = (int)i};
        struct row_issues *list = row_bool(&row) ? ret_errors : ret_warnings;
        int64_t number = row_bigint(&row);
        const char *external_id = row_text(&row, arena);
        const char *pointer = row_text(&row, arena);
        const char *code = row_text(&row, arena);
        row_issues_add(arena, list, number, external_id, pointer, code, row_text(&row, arena));
    }
    db_result_free(result);
    return DB_OK;
}

enum db_status db_upload_find(struct db_connection *connection, const char *provider_slug,
                              const char *id, size_t offset, size_t limit, struct arena *arena,
                              struct upload_row *ret_row, struct row_issues *ret_errors,
                              struct row_issues *ret_warnings, int64_t *ret_total)
{
    *ret_errors = (struct row_issues){0};
    *ret_warnings = (struct row_issues){0};
    if (!db_is_uuid(id))
        return DB_NONE;
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_text(&params, provider_slug);
    param_text(&params, id);
    enum db_status status = db_run_one(connection, STATEMENT_UPLOAD_FIND, &params, &result, &row);
    params_free(&params);
    if (status != DB_OK)
        return status;
    read_upload(&row, arena, ret_row);
    ret_row->changes_json = row_text(&row, arena);
    if (ret_row->changes_json == NULL)
        ret_row->changes_json = "[]";
    db_result_free(result);
    status = count_rows(connection, STATEMENT_ISSUE_COUNT, id, ret_total);
    return status == DB_OK
               ? read_issues(connection, id, offset, limit, arena, ret_errors, ret_warnings)
               : status;
}
