/* Hooks between the HTTP room and the application: who asks, and what a worker brings. */
#include "server/api/app.h"

#include "db/provider.h"
#include "server/auth/key.h"
#include "server/base/log.h"

#include <stdlib.h>

/* Searches go on without the database; an answer older than this says so. */
#define LAG_SHOWN_US (INT64_C(2) * 1000000)

/* As this node knows it: a suspension by another node is here within a second. */
static bool is_suspended(struct app *app, const char *provider_slug)
{
    if (provider_slug == NULL)
        return false;
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    const struct provider *provider = snapshot_provider_find(snapshot, provider_slug);
    bool suspended = provider != NULL && provider->suspended;
    snapshot_release(snapshot);
    return suspended;
}

static int authenticate(void *context, const char *key, struct arena *arena,
                        struct principal *ret_principal)
{
    struct app *app = context;
    uint8_t hash[KEY_HASH_BYTES];
    struct key_entry entry;
    if (!key_hash(key, hash) || !key_cache_find(node_keys(app->node), hash, arena, &entry))
        return 0;
    *ret_principal = (struct principal){
        .key_id = entry.key_id,
        .provider_slug = entry.provider_slug,
        .admin = entry.admin,
        .suspended = is_suspended(app, entry.provider_slug),
    };
    return 1;
}

/* While the database is known to be away nobody waits for it but the thread that keeps up with it,
 * which notices first when it is back: behind a frozen one, each job in line would wait its own
 * deadline. */
static struct db_connection *connect_worker(struct app *app, struct worker *worker)
{
    if (!node_database_is_up(app->node))
        return NULL;
    if (worker->connection == NULL) {
        char *error = NULL;
        worker->connection = db_connect(node_database_url(app->node), &error);
        if (worker->connection == NULL)
            log_debug("a worker can't reach the database", "error=\"%s\"",
                      error == NULL ? "unknown" : error);
        free(error);
    } else if (db_is_broken(worker->connection) && !db_reconnect(worker->connection)) {
        return NULL;
    }
    return worker->connection;
}

static int authenticate_slow(void *context, struct worker *worker, const char *key,
                             struct arena *arena, struct principal *ret_principal)
{
    struct app *app = context;
    uint8_t hash[KEY_HASH_BYTES];
    struct api_key found;
    if (!key_hash(key, hash))
        return 0;
    struct db_connection *connection = connect_worker(app, worker);
    if (connection == NULL)
        return -1;
    switch (db_key_find(connection, hash, arena, &found)) {
    case DB_OK:
        break;
    case DB_NONE:
        return 0;
    case DB_CONFLICT:
    case DB_RETRY:
    case DB_UNAVAILABLE:
    case DB_FAILED:
        return -1;
    }
    if (found.revoked)
        return 0;
    *ret_principal = (struct principal){
        .key_id = found.id,
        .provider_slug = found.provider_slug,
        .admin = found.admin,
        .suspended = is_suspended(app, found.provider_slug),
    };
    return 1;
}

static struct worker *worker_new(void *context)
{
    (void)context;
    return xcalloc(1, sizeof(struct worker));
}

static void worker_free(void *context, struct worker *worker)
{
    (void)context;
    if (worker == NULL)
        return;
    if (worker->connection != NULL)
        db_disconnect(worker->connection);
    free(worker);
}

void app_decorate(struct request *request, struct reply *reply)
{
    struct app *app = request->app;
    int64_t lag_us = node_lag_us(app->node);
    if (node_is_loaded(app->node) && lag_us > LAG_SHOWN_US && !node_database_is_up(app->node))
        reply_add_header(reply, "X-Rackrate-Data-Age-Seconds",
                         arena_printf(&request->arena, "%lld", (long long)(lag_us / 1000000)));
}

struct http_hooks app_hooks(struct app *app)
{
    return (struct http_hooks){
        .app = app,
        .routes = routes,
        .authenticate = authenticate,
        .authenticate_slow = authenticate_slow,
        .worker_new = worker_new,
        .worker_free = worker_free,
        .decorate = app_decorate,
    };
}

struct db_connection *worker_database(struct request *request, struct reply *reply,
                                      struct worker *worker)
{
    struct app *app = request->app;
    struct db_connection *connection = connect_worker(app, worker);
    if (connection == NULL) {
        node_report_database(app->node, false);
        reply_unavailable(request, reply,
                          "The database does not answer; nothing was changed. Searches go on.", 2);
    }
    return connection;
}

void reply_database_failed(struct request *request, struct reply *reply, enum db_status status)
{
    struct app *app = request->app;
    if (status == DB_FAILED) {
        log_error("a database statement failed", "request_id=%s path=\"%s\"", request->id,
                  request->path);
        reply_problem(request, reply, 500, "internal",
                      "Something failed here, not at your side; it is logged.", NULL, 0);
        return;
    }
    if (status == DB_RETRY) {
        reply_unavailable(request, reply, "Others are writing to the same; try again shortly.", 2);
        return;
    }
    if (status == DB_UNAVAILABLE)
        node_report_database(app->node, false);
    reply_unavailable(request, reply, "The database does not answer right now.", 2);
}

const char *request_actor(struct request *request)
{
    return arena_printf(&request->arena, "key:%lld", (long long)request->principal.key_id);
}
