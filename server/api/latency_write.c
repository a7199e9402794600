/* Measured round trips coming in, listed and removed. */
#include "server/api/app.h"
#include "server/api/latency.h"
#include "server/api/resources.h"

#include "db/latency.h"
#include "server/api/json_body.h"
#include "server/api/once.h"
#include "server/base/decimal.h"
#include "server/inventory/latency_rows.h"
#include "server/model/offer.h"
#include "server/reference/place.h"

#include <string.h>

void latency_post_prepare(struct request *request, struct reply *reply)
{
    static const char *const allowed[] = {NULL};
    if (request_check_parameters(request, reply, allowed))
        (void)json_body_check_type(request, reply);
}

static bool knows_provider(void *closure, const char *slug)
{
    return snapshot_provider_find(closure, slug) != NULL;
}

/* What was wrong with the rows. */
static void refuse_rows(struct request *request, struct reply *reply,
                        const struct latency_rows *rows)
{
    size_t count = rows->errors.count < 100 ? rows->errors.count : 100;
    struct problem_item *items = arena_calloc(&request->arena, count, sizeof(*items));
    for (size_t i = 0; i < count; i++)
        items[i] = (struct problem_item){
            .pointer = rows->errors.items[i].pointer,
            .code = rows->errors.items[i].code,
            .message = rows->errors.items[i].message,
        };
    if (rows->forbidden)
        reply_problem(request, reply, 403, "forbidden",
                      "This key's provider can tell of its own machines only; nothing was taken.",
                      items, count);
    else
        reply_problem(request, reply, 422, "invalid-body",
                      "Some measurements are not valid; nothing was taken.", items, count);
}

static void write_effect(struct buf *out, const struct latency_effect *effect,
                         const struct latency_rows *rows)
{
    bool first = true;
    buf_add_char(out, '{');
    buf_add_json_member_int(out, "created", (int64_t)effect->created);
    buf_add_json_member_int(out, "updated", (int64_t)effect->updated);
    buf_add_json_member_int(out, "unchanged", (int64_t)effect->unchanged);
    buf_add_json_key(out, "contradicting");
    buf_add_char(out, '[');
    for (size_t i = 0; i < rows->count; i++) {
        const struct latency_measurement *row = &rows->list[i];
        if (!latency_contradicts(row))
            continue;
        buf_add_string(out, first ? "{" : ",{");
        first = false;
        buf_add_json_member_string(out, "from", place_at(row->from)->slug);
        buf_add_json_member_string(out, "to", place_at(row->to)->slug);
        buf_add_json_member_string(out, "provider", row->provider);
        buf_add_json_member_string(out, "zone", row->zone);
        buf_add_json_member_decimal(out, "median_ms", row->median_us, 3);
        buf_add_json_member_decimal(out, "light_in_fibre_ms", row->floor_us, 3);
        buf_add_char(out, '}');
    }
    buf_add_string(out, "]}");
}

static void store(struct request *request, struct reply *reply, struct worker *worker,
                  const struct latency_rows *rows)
{
    struct app *app = request->app;
    struct db_connection *connection = worker_database(request, reply, worker);
    struct once once;
    struct latency_effect effect;
    if (connection == NULL || !once_begin(&once, request, reply, connection))
        return;
    enum db_status status =
        db_latency_write(connection, rows->list, rows->count, request_actor(request), &effect);
    if (status == DB_OK) {
        write_effect(&reply->body, &effect, rows);
        reply->status = 200;
    } else if (status == DB_CONFLICT) {
        reply_problem(
            request, reply, 422, "invalid-body",
            "A provider has at most 20,000 measurements: of each pair, zone and direction "
            "the newest. Nothing was taken.",
            NULL, 0);
    } else {
        reply_database_failed(request, reply, status);
    }
    if (once_end(&once, request, reply, NULL))
        (void)node_reload_latency(app->node, connection, false);
}

void latency_post_execute(struct request *request, struct reply *reply, struct worker *worker)
{
    struct app *app = request->app;
    struct latency_rows rows;
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    const struct latency_decode decode = {
        .measured_by = request->principal.provider_slug,
        .names = &snapshot_operator_names(snapshot)->places,
        .now_us = request->received_at_us,
        .default_us = request->received_at_us,
        .knows_provider = knows_provider,
        .closure = snapshot,
    };
    const char *why = latency_decode_json(&decode, request->body == NULL ? "" : request->body,
                                          request->body_length, &request->arena, &rows);
    snapshot_release(snapshot);
    if (why != NULL)
        reply_problem(request, reply, 400, "malformed-body", why, NULL, 0);
    else if (rows.errors.count > 0)
        refuse_rows(request, reply, &rows);
    else
        store(request, reply, worker, &rows);
}

/* ---- what there is ---- */

static bool matches(const struct latency_measurement *at, const char *provider, uint16_t place,
                    bool contradicting)
{
    return (provider == NULL || (at->provider != NULL && strcmp(at->provider, provider) == 0)) &&
           (place == INDEX_NONE || at->from == place || at->to == place) &&
           (!contradicting || latency_contradicts(at));
}

/* A region by any spelling; false with a 400 in the reply. */
static bool read_region(struct request *request, struct reply *reply,
                        const struct snapshot *snapshot, uint16_t *ret_place)
{
    const char *text = request_parameter(request, "region");
    struct latency_ends ends;
    *ret_place = INDEX_NONE;
    if (text == NULL)
        return true;
    if (!latency_ends_parse(request, reply, "region", text, snapshot, 1, &ends))
        return false;
    *ret_place = ends.items[0].where.place;
    if (*ret_place != INDEX_NONE)
        return true;
    const struct problem_item item = {
        .parameter = "region",
        .code = "not_allowed",
        .message = "Measurements are kept by place: name the region, not coordinates.",
    };
    reply_problem(request, reply, 400, "bad-parameter", item.message, &item, 1);
    return false;
}

static void list(struct request *request, struct reply *reply, struct snapshot *snapshot,
                 const struct list_page *page, bool contradicting)
{
    const char *provider = request_parameter(request, "provider");
    const struct latency_book *book = snapshot_latency(snapshot);
    const struct latency_measurement *all;
    uint16_t place;
    int64_t after = -1;
    size_t total = 0, shown = 0, count = latency_book_list(book, &all), old = 0;
    if (!read_region(request, reply, snapshot, &place))
        return;
    if (provider != NULL && snapshot_provider_find(snapshot, provider) == NULL) {
        const struct problem_item item = {
            .parameter = "provider",
            .code = "unknown_value",
            .message = "No provider has this slug.",
        };
        reply_problem(request, reply, 400, "bad-parameter", item.message, &item, 1);
        return;
    }
    for (size_t i = 0; i < count; i++)
        old += latency_is_old(&all[i], request->received_at_us);
    reply->etag = snapshot_etag(request, snapshot, NULL);
    if (old > 0)
        reply->etag =
            latency_etag(request, book, arena_printf(&request->arena, "%s%zu", reply->etag, old));
    if (reply_not_modified(request, reply, reply->etag))
        return;
    if (page->after != NULL)
        (void)decimal_parse(page->after, strlen(page->after), 0, false, &after);
    const char *cursor = NULL;
    int64_t last = 0;
    buf_add_string(&reply->body, "{\"data\":[");
    for (size_t i = 0; i < count; i++) {
        if (!matches(&all[i], provider, place, contradicting))
            continue;
        total++;
        if (all[i].id <= after)
            continue;
        if (shown == page->limit) {
            if (cursor == NULL)
                cursor = list_page_cursor(request, "latency",
                                          arena_printf(&request->arena, "%lld", (long long)last));
            continue;
        }
        if (shown++ > 0)
            buf_add_char(&reply->body, ',');
        latency_write_measurement(&reply->body, &all[i], request->received_at_us);
        last = all[i].id;
    }
    list_page_finish(request, reply, page, total, cursor, snapshot_as_of_us(snapshot));
}

void latency_list(struct request *request, struct reply *reply)
{
    static const char *const allowed[] = {"limit",  "cursor",        "provider",
                                          "region", "contradicting", NULL};
    struct app *app = request->app;
    struct list_page page;
    bool contradicting;
    if (!request_check_parameters(request, reply, allowed) ||
        !list_page_parse(request, reply, "latency", &page) ||
        !parameter_flag(request, reply, "contradicting", &contradicting))
        return;
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    list(request, reply, snapshot, &page, contradicting);
    snapshot_release(snapshot);
}

void latency_remove(struct request *request, struct reply *reply, struct worker *worker)
{
    struct app *app = request->app;
    int64_t id;
    const char *text = request->captures[0];
    if (decimal_parse(text, strlen(text), 0, false, &id) != DECIMAL_OK || id < 1) {
        reply_not_found(request, reply, "No measurement has this id.");
        return;
    }
    struct db_connection *connection = worker_database(request, reply, worker);
    struct once once;
    if (connection == NULL || !once_begin(&once, request, reply, connection))
        return;
    enum db_status status = db_latency_remove(connection, id, request_actor(request));
    if (status == DB_OK) {
        buf_add_char(&reply->body, '{');
        buf_add_json_member_int(&reply->body, "removed", id);
        buf_add_char(&reply->body, '}');
        reply->status = 200;
    } else if (status == DB_NONE) {
        reply_not_found(request, reply, "No measurement has this id.");
    } else {
        reply_database_failed(request, reply, status);
    }
    if (once_end(&once, request, reply, NULL))
        (void)node_reload_latency(app->node, connection, false);
}
