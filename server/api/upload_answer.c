/* One place that knows the shape of a write's answer, for the API, the command line and dry runs
 * alike. */
#include "server/api/upload_answer.h"

#include "server/base/decimal.h"

#include <string.h>

void write_issues(struct buf *out, const struct row_issues *issues, size_t max)
{
    buf_add_char(out, '[');
    for (size_t i = 0; issues != NULL && i < issues->count && i < max; i++) {
        const struct row_issue *issue = &issues->items[i];
        if (i > 0)
            buf_add_char(out, ',');
        buf_add_char(out, '{');
        buf_add_json_member_int(out, "row", issue->row == 0 ? UNKNOWN : issue->row);
        buf_add_json_member_string(out, "external_id", issue->external_id);
        buf_add_json_member_string(out, "pointer", issue->pointer);
        buf_add_json_member_string(out, "code", issue->code);
        buf_add_json_member_string(out, "message", issue->message);
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
}

static void write_changes(struct buf *out, const struct change_set *change_set)
{
    static const char *const kinds[] = {"created", "updated", "removed"};
    buf_add_char(out, '[');
    for (size_t i = 0; i < change_set->change_count && i < INLINE_CHANGES_MAX; i++) {
        const struct change *change = &change_set->changes[i];
        if (i > 0)
            buf_add_char(out, ',');
        buf_add_char(out, '{');
        buf_add_json_member_string(out, "external_id", change->external_id);
        buf_add_json_member_string(out, "kind", kinds[change->kind]);
        buf_add_json_key(out, "fields");
        buf_add_char(out, '[');
        bool first = true;
        for (unsigned field = 0; field < OFFER_FIELD_COUNT; field++) {
            if ((change->fields & (UINT32_C(1) << field)) == 0)
                continue;
            if (!first)
                buf_add_char(out, ',');
            first = false;
            buf_add_json_string(out, offer_field_name((enum offer_field)field));
        }
        buf_add_char(out, ']');
        buf_add_json_key(out, "before");
        if (change->before != NULL)
            inventory_write_offer(out, change->before);
        else
            buf_add_string(out, "null");
        buf_add_json_key(out, "after");
        if (change->after != NULL)
            inventory_write_offer(out, change->after);
        else
            buf_add_string(out, "null");
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
}

void render_upload_answer(void *closure, const struct write_request *request,
                          const struct change_set *change_set, const char *upload_id,
                          int64_t version, struct buf *out)
{
    const struct answer_closure *answer = closure;
    const struct upload *upload = answer->upload;
    (void)request;
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "upload_id", answer->dry_run ? NULL : upload_id);
    buf_add_json_member_bool(out, "dry_run", answer->dry_run);
    buf_add_json_member_int(out, "version", version);
    buf_add_json_member_int(out, "created", change_set->created);
    buf_add_json_member_int(out, "updated", change_set->updated);
    buf_add_json_member_int(out, "unchanged", change_set->unchanged);
    buf_add_json_member_int(out, "removed", change_set->removed);
    buf_add_json_member_int(out, "skipped", upload == NULL ? 0 : upload->skipped);
    buf_add_json_member_int(out, "rejected", upload == NULL ? 0 : upload->rejected);
    buf_add_json_key(out, "warnings");
    write_issues(out, upload == NULL ? NULL : &upload->warnings, INLINE_ISSUES_MAX);
    buf_add_json_key(out, "errors");
    write_issues(out, upload == NULL ? NULL : &upload->errors, INLINE_ISSUES_MAX);
    if (answer->dry_run) {
        buf_add_json_key(out, "changes");
        write_changes(out, change_set);
    }
    buf_add_char(out, '}');
}

void reply_rejected(struct request *request, struct reply *reply, const struct upload *upload,
                    const char *upload_id)
{
    size_t count =
        upload->errors.count < INLINE_ISSUES_MAX ? upload->errors.count : INLINE_ISSUES_MAX;
    struct problem_item *items = arena_calloc(&request->arena, count, sizeof(*items));
    for (size_t i = 0; i < count; i++) {
        const struct row_issue *issue = &upload->errors.items[i];
        items[i] = (struct problem_item){
            .pointer = issue->pointer,
            .code = issue->code,
            .message = issue->message,
            .row = issue->row,
            .external_id = issue->external_id,
        };
    }
    struct buf members = {0};
    buf_add_json_member_string(&members, "upload_id", upload_id);
    buf_add_json_member_int(&members, "rejected", upload->rejected);
    const char *extra =
        arena_strndup(&request->arena, members.data + (members.data[0] == ',' ? 1 : 0),
                      members.length - (members.data[0] == ',' ? 1 : 0));
    buf_free(&members);
    reply_problem_with(
        request, reply, 422, "rejected-rows",
        request->method == HTTP_PATCH
            ? "The offer would not be valid with this change, so nothing was changed."
            : arena_printf(&request->arena,
                           "%lld %s refused, so nothing was changed. Mend %s, or send the upload "
                           "with ?on_error=skip to take the others.",
                           (long long)upload->rejected,
                           upload->rejected == 1 ? "row was" : "rows were",
                           upload->rejected == 1 ? "it" : "them"),
        items, count, extra);
}

const char *upload_format_name(enum upload_format format, const char *body, size_t length)
{
    switch (format) {
    case FORMAT_JSON:
        return "json";
    case FORMAT_NDJSON:
        return "ndjson";
    case FORMAT_CSV:
        return "csv";
    case FORMAT_SKYPILOT:
        return "skypilot";
    case FORMAT_GPURENTALPRICES:
        return "gpurentalprices";
    case FORMAT_UNKNOWN:
        break;
    }
    size_t at = 0;
    while (at < length && strchr(" \t\r\n", body[at]) != NULL && body[at] != '\0')
        at++;
    if (at == length || body[at] != '{')
        return "csv";
    return memmem(body, length < 200 ? length : 200, "\"offers\"", 8) != NULL ? "json" : "ndjson";
}
