/* Problems as RFC 9457 says, the same shape for every error. */
#include "server/http/http.h"
#include "server/http/problems.h"

#include <string.h>

static const struct {
    const char *slug;
    const char *title;
} problems[] = {
#define X(slug, title) {slug, title},
    PROBLEMS(X)
#undef X
};

static const char *title_of(const char *slug)
{
    for (size_t i = 0; i < sizeof(problems) / sizeof(problems[0]); i++) {
        if (strcmp(problems[i].slug, slug) == 0)
            return problems[i].title;
    }
    return slug;
}

static void write_items(struct buf *out, const struct problem_item *items, size_t count)
{
    buf_add_json_key(out, "errors");
    buf_add_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        const struct problem_item *item = &items[i];
        buf_add_string(out, i > 0 ? ",{" : "{");
        if (item->row > 0) {
            buf_add_json_member_int(out, "row", item->row);
            buf_add_json_member_string(out, "external_id", item->external_id);
        }
        if (item->pointer != NULL)
            buf_add_json_member_string(out, "pointer", item->pointer);
        if (item->parameter != NULL)
            buf_add_json_member_string(out, "parameter", item->parameter);
        buf_add_json_member_string(out, "code", item->code);
        buf_add_json_member_string(out, "message", item->message);
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
}

void reply_problem_with(struct request *request, struct reply *reply, int status, const char *slug,
                        const char *detail, const struct problem_item *items, size_t item_count,
                        const char *members)
{
    buf_clear(&reply->body);
    reply->status = status;
    reply->content_type = "application/problem+json";
    reply->etag = NULL;
    reply->cache_control = "no-store";
    struct buf *out = &reply->body;
    buf_add_string(out, "{\"type\":\"/docs#problem-");
    buf_add_string(out, slug);
    buf_add_char(out, '"');
    buf_add_json_member_string(out, "title", title_of(slug));
    buf_add_json_member_int(out, "status", status);
    buf_add_json_member_string(out, "detail", detail);
    write_items(out, items, item_count);
    buf_add_json_member_string(out, "request_id", request->id);
    if (members != NULL) {
        buf_add_char(out, ',');
        buf_add_string(out, members);
    }
    buf_add_char(out, '}');
}

void reply_problem(struct request *request, struct reply *reply, int status, const char *slug,
                   const char *detail, const struct problem_item *items, size_t item_count)
{
    reply_problem_with(request, reply, status, slug, detail, items, item_count, NULL);
}

void reply_unavailable(struct request *request, struct reply *reply, const char *detail,
                       int retry_after_seconds)
{
    reply_problem(request, reply, 503, "unavailable", detail, NULL, 0);
    reply_add_header(reply, "Retry-After",
                     arena_printf(&request->arena, "%d", retry_after_seconds));
}
