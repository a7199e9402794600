/* Liveness, readiness and metrics; also on the ops listener, for when the public one is full. */
#include "server/api/app.h"
#include "server/api/resources.h"

#include "server/base/metrics.h"

void live_get(struct request *request, struct reply *reply)
{
    (void)request;
    buf_add_string(&reply->body, "{\"status\":\"ok\"}");
    reply->status = 200;
}

/* Ready means: everything was loaded once and the server isn't stopping. A database that is away
 * does not end readiness, since searches go on; it is shown. */
void ready_get(struct request *request, struct reply *reply)
{
    struct app *app = request->app;
    if (!node_is_loaded(app->node) || app->stopping) {
        reply_unavailable(
            request, reply,
            app->stopping ? "The server is stopping." : "The offers are still loading.", 1);
        return;
    }
    struct catalog_stats stats;
    catalog_get_stats(node_catalog(app->node), &stats);
    int64_t lag_us = node_lag_us(app->node);
    struct buf *out = &reply->body;
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "status", "ready");
    buf_add_json_member_bool(out, "database", node_database_is_up(app->node));
    buf_add_json_member_decimal(out, "seconds_since_sync", lag_us / 1000, 3);
    buf_add_json_member_int(out, "offers", (int64_t)stats.offers);
    buf_add_json_member_int(out, "failed_builds", (int64_t)stats.failed_builds);
    buf_add_char(out, '}');
    reply->status = 200;
}

void metrics_get(struct request *request, struct reply *reply)
{
    struct app *app = request->app;
    struct catalog_stats stats;
    catalog_get_stats(node_catalog(app->node), &stats);
    metric_set(METRIC_CATALOG_OFFERS, (int64_t)stats.offers);
    metric_set(METRIC_CATALOG_BYTES, (int64_t)stats.bytes);
    metric_set(METRIC_CATALOG_PUBLISHES, (int64_t)stats.publishes);
    metric_set(METRIC_CATALOG_FAILED, (int64_t)stats.failed_builds);
    metrics_write(&reply->body);
    reply->content_type = "text/plain; version=0.0.4; charset=utf-8";
    reply->status = 200;
}
