/* What each upload changed, and each rejected row: read from the database. */
#include "server/api/app.h"
#include "server/api/resources.h"

#include "db/upload.h"
#include "server/api/upload_answer.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"

#include <stdlib.h>
#include <string.h>

#define ISSUES_LIMIT_DEFAULT 1000
#define ISSUES_LIMIT_MAX     10000

void uploads_list_prepare(struct request *request, struct reply *reply)
{
    static const char *const allowed[] = {"limit", "cursor", NULL};
    struct list_page page;
    if (request_check_parameters(request, reply, allowed))
        (void)list_page_parse(request, reply, "uploads", &page);
}

static void write_upload(struct buf *out, const struct upload_row *row)
{
    char at[TIMESTAMP_TEXT_SIZE];
    timestamp_print(row->at_us, at);
    buf_add_json_member_string(out, "upload_id", row->id);
    buf_add_json_member_string(out, "at", at);
    buf_add_json_member_string(out, "kind", row->kind);
    buf_add_json_member_string(out, "format", row->format);
    buf_add_json_member_string(out, "actor", row->actor);
    buf_add_json_member_int(out, "version", row->version);
    buf_add_json_member_int(out, "rows_read", row->rows_read);
    buf_add_json_member_int(out, "created", row->created);
    buf_add_json_member_int(out, "updated", row->updated);
    buf_add_json_member_int(out, "unchanged", row->unchanged);
    buf_add_json_member_int(out, "removed", row->removed);
    buf_add_json_member_int(out, "skipped", row->skipped);
    buf_add_json_member_int(out, "rejected", row->rejected);
}

void uploads_list_execute(struct request *request, struct reply *reply, struct worker *worker)
{
    struct list_page page;
    if (!list_page_parse(request, reply, "uploads", &page))
        return;
    struct db_connection *connection = worker_database(request, reply, worker);
    if (connection == NULL)
        return;
    struct upload_row *rows;
    size_t count;
    int64_t total;
    enum db_status status = db_upload_list(connection, request->captures[0], page.after,
                                           page.limit + 1, &request->arena, &rows, &count, &total);
    if (status == DB_NONE) {
        reply_not_found(request, reply, "No provider has this slug.");
        return;
    }
    if (status != DB_OK) {
        reply_database_failed(request, reply, status);
        return;
    }
    size_t shown = count > page.limit ? page.limit : count;
    buf_add_string(&reply->body, "{\"data\":[");
    for (size_t i = 0; i < shown; i++) {
        buf_add_string(&reply->body, i > 0 ? ",{" : "{");
        write_upload(&reply->body, &rows[i]);
        buf_add_char(&reply->body, '}');
    }
    const char *cursor =
        count > page.limit ? list_page_cursor(request, "uploads", rows[shown - 1].id) : NULL;
    list_page_finish(request, reply, &page, (size_t)total, cursor,
                     shown > 0 ? rows[0].at_us : TIMESTAMP_UNKNOWN);
}

/* offset and limit of the issues shown; false with a 400 in the reply. */
static bool parse_range(struct request *request, struct reply *reply, int64_t *ret_offset,
                        int64_t *ret_limit)
{
    const struct {
        const char *name;
        int64_t minimum, maximum, *value;
    } numbers[] = {{"offset", 0, 100000000, ret_offset}, {"limit", 1, ISSUES_LIMIT_MAX, ret_limit}};
    *ret_offset = 0;
    *ret_limit = ISSUES_LIMIT_DEFAULT;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        const char *text = request_parameter(request, numbers[i].name);
        int64_t value;
        if (text == NULL)
            continue;
        if (decimal_parse(text, strlen(text), 0, false, &value) == DECIMAL_OK &&
            value >= numbers[i].minimum && value <= numbers[i].maximum) {
            *numbers[i].value = value;
            continue;
        }
        const struct problem_item item = {
            .parameter = numbers[i].name,
            .code = "out_of_range",
            .message = arena_printf(&request->arena, "%s must be a whole number from %lld to %lld.",
                                    numbers[i].name, (long long)numbers[i].minimum,
                                    (long long)numbers[i].maximum),
        };
        reply_problem(request, reply, 400, "bad-parameter", item.message, &item, 1);
        return false;
    }
    return true;
}

void upload_get_prepare(struct request *request, struct reply *reply)
{
    static const char *const allowed[] = {"offset", "limit", NULL};
    int64_t offset, limit;
    if (request_check_parameters(request, reply, allowed))
        (void)parse_range(request, reply, &offset, &limit);
}

void upload_get_execute(struct request *request, struct reply *reply, struct worker *worker)
{
    int64_t offset, limit, total;
    if (!parse_range(request, reply, &offset, &limit))
        return;
    struct db_connection *connection = worker_database(request, reply, worker);
    if (connection == NULL)
        return;
    struct upload_row row;
    struct row_issues errors, warnings;
    enum db_status status =
        db_upload_find(connection, request->captures[0], request->captures[1], (size_t)offset,
                       (size_t)limit, &request->arena, &row, &errors, &warnings, &total);
    if (status == DB_NONE) {
        reply_not_found(request, reply,
                        "This provider has no upload with that id (they are kept for 90 days).");
        return;
    }
    if (status != DB_OK) {
        reply_database_failed(request, reply, status);
        return;
    }
    struct buf *out = &reply->body;
    buf_add_char(out, '{');
    write_upload(out, &row);
    buf_add_json_key(out, "changes");
    buf_add_string(out, row.changes_json == NULL ? "[]" : row.changes_json);
    buf_add_json_member_bool(out, "changes_truncated", row.changes_truncated);
    buf_add_json_member_int(out, "errors_total", total);
    buf_add_json_key(out, "errors");
    write_issues(out, &errors, (size_t)limit);
    buf_add_json_key(out, "warnings");
    write_issues(out, &warnings, (size_t)limit);
    buf_add_char(out, '}');
    reply->status = 200;
}
