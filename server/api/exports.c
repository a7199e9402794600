/* GET /v1/export/{format}: the market as a file that schedulers and spreadsheets read. */
#include "server/api/app.h"
#include "server/api/resources.h"

#include "server/sync/export.h"

#include <stdlib.h>
#include <string.h>

void export_prepare(struct request *request, struct reply *reply)
{
    static const char *const allowed[] = {"provider", NULL};
    struct app *app = request->app;
    enum export_format format;
    if (!request_check_parameters(request, reply, allowed))
        return;
    if (!export_format_parse(request->captures[0], &format)) {
        reply_not_found(request, reply, "The formats are skypilot, csv and ndjson.");
        return;
    }
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    const char *slug = request_parameter(request, "provider");
    const char *etag = snapshot_etag(request, snapshot, NULL);
    bool known = slug == NULL || snapshot_provider_find(snapshot, slug) != NULL;
    snapshot_release(snapshot);
    if (!known) {
        const struct problem_item item = {
            .parameter = "provider",
            .code = "unknown_value",
            .message = "No provider has this slug; GET /v1/providers lists them.",
        };
        reply_problem(request, reply, 400, "bad-parameter", item.message, &item, 1);
        return;
    }
    /* The tag of the state before the database is read: a change in between makes the next request
     * fetch again. */
    request->state = (void *)(uintptr_t)etag;
    (void)reply_not_modified(request, reply, etag);
}

/* An export keeps a worker for seconds; the others are for writes. */
static bool begin_export(struct app *app)
{
    unsigned most = app->settings->workers < 4 ? 1 : (unsigned)app->settings->workers / 2;
    if (atomic_fetch_add(&app->exports, 1) < most)
        return true;
    atomic_fetch_sub(&app->exports, 1);
    return false;
}

static void make_export(struct request *request, struct reply *reply, struct worker *worker)
{
    struct export_request wanted = {.provider_slug = request_parameter(request, "provider")};
    (void)export_format_parse(request->captures[0], &wanted.format);
    struct db_connection *connection = worker_database(request, reply, worker);
    if (connection == NULL)
        return;
    struct export_result result;
    enum db_status status = export_market(connection, &wanted, &result);
    if (status == DB_OK) {
        buf_free(&reply->body);
        reply->body = result.text;
        result.text = (struct buf){0};
        reply->status = 200;
        reply->content_type = export_media_type(wanted.format);
        reply->etag = request->state;
        if (result.attributions.length > 0)
            reply_add_header(reply, "X-Attribution",
                             arena_strndup(&request->arena, result.attributions.data,
                                           result.attributions.length));
    } else if (status == DB_NONE) {
        reply_not_found(request, reply, "No provider has this slug.");
    } else {
        reply_database_failed(request, reply, status);
    }
    buf_free(&result.text);
    buf_free(&result.attributions);
}

void export_execute(struct request *request, struct reply *reply, struct worker *worker)
{
    struct app *app = request->app;
    if (!begin_export(app)) {
        reply_unavailable(request, reply, "Other exports are being made; try again shortly.", 2);
        return;
    }
    make_export(request, reply, worker);
    atomic_fetch_sub(&app->exports, 1);
}
