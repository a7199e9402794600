/* rackrate serve: database, catalogue, server; until SIGINT or SIGTERM. A private database that
 * dies is started again; searches go on meanwhile. */
#include "server/cli/cli.h"

#include "server/api/app.h"
#include "server/base/log.h"
#include "server/base/timestamp.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define SYNC_INTERVAL_MS 250

static const char usage[] =
    "serve [settings]\n"
    "Serves the API and the page. Without --database-url it keeps a private PostgreSQL in the "
    "state directory.\n"
    "`rackrate config` prints the settings in force, `rackrate help` lists them.";

/* Tells systemd (Type=notify), when it asked for it. */
static void notify_ready(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (path == NULL || strlen(path) >= sizeof(address.sun_path))
        return;
    strcpy(address.sun_path, path);
    if (address.sun_path[0] == '@')
        address.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    ssize_t sent = sendto(fd, state, strlen(state), 0, (const struct sockaddr *)&address, length);
    (void)sent; /* nobody listening is no error */
    close(fd);
}

static struct http_options options_of(const struct settings *settings)
{
    return (struct http_options){
        .listen = settings->listen,
        .ops_listen = strcmp(settings->ops_listen, "off") == 0 ? NULL : settings->ops_listen,
        .loops = (unsigned)settings->loops,
        .workers = (unsigned)settings->workers,
        .queue_limit = (unsigned)settings->queue_limit,
        .body_budget_bytes = (size_t)settings->body_budget_mib << 20,
        .connection_limit = (unsigned)settings->connection_limit,
        .header_timeout_ms = (unsigned)settings->header_timeout_ms,
        .body_timeout_ms = (unsigned)settings->body_timeout_ms,
        .idle_timeout_ms = (unsigned)settings->idle_timeout_ms,
        .stream_limit = (unsigned)settings->stream_limit,
        .stream_timeout_ms = (unsigned)settings->stream_timeout_ms,
        .rate_per_minute = (unsigned)settings->rate_limit_per_minute,
    };
}

/* Waits for a signal to stop, looking after the private database. */
static void wait_for_end(const sigset_t *signals, struct db_cluster *cluster)
{
    for (;;) {
        struct timespec second = {.tv_sec = 1};
        int number = sigtimedwait(signals, NULL, &second);
        if (number == SIGINT || number == SIGTERM) {
            log_info("stopping", "signal=%s", number == SIGINT ? "INT" : "TERM");
            return;
        }
        if (cluster != NULL)
            db_cluster_tend(cluster);
    }
}

static size_t offer_count(struct node *node)
{
    struct snapshot *snapshot = catalog_acquire(node_catalog(node));
    size_t count = snapshot_offer_count(snapshot);
    snapshot_release(snapshot);
    return count;
}

/* Everything between an open database and its closing. */
static int serve(const struct settings *settings, struct cli_database *database,
                 const sigset_t *signals)
{
    struct app app = {.settings = settings,
                      .node = node_new(database->url),
                      .answers = answer_cache_new((size_t)settings->query_cache_mib << 20),
                      .decoded = {.limit_bytes = (size_t)settings->body_budget_mib << 20}};
    struct http_hooks hooks = app_hooks(&app);
    struct http_options options = options_of(settings);
    const struct retention retention = {
        .upload_days = (int32_t)settings->upload_retention_days,
        .tombstone_days = (int32_t)settings->tombstone_retention_days,
        .audit_days = (int32_t)settings->audit_retention_days,
    };
    char *error = NULL;
    int code = EXIT_REFUSED;
    if (!node_catch_up(app.node, database->connection)) {
        log_error("the offers could not be loaded", NULL);
    } else {
        db_disconnect(database->connection);
        database->connection = NULL;
        struct http_server *server = http_server_start(&options, &hooks, &error);
        if (server == NULL) {
            fprintf(stderr, "rackrate: %s\n", error);
        } else if (node_start_sync(app.node, SYNC_INTERVAL_MS, &retention)) {
            log_info("ready", "url=http://%.*s:%u/ offers=%zu",
                     (int)(strrchr(settings->listen, ':') - settings->listen), settings->listen,
                     http_server_port(server), offer_count(app.node));
            notify_ready("READY=1");
            wait_for_end(signals, database->cluster);
            code = EXIT_DONE;
            notify_ready("STOPPING=1");
            app.stopping = true;
            http_server_stop(server, (unsigned)settings->drain_timeout_ms);
            node_stop_sync(app.node);
        } else {
            http_server_stop(server, 0);
        }
    }
    free(error);
    answer_cache_free(app.answers);
    node_free(app.node);
    return code;
}

int cli_serve(struct cli *cli)
{
    if (cli->argc > 0)
        return cli_usage(usage);
    /* Signals are taken by sigtimedwait alone; every thread made from here on has them blocked. */
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    struct cli_database database;
    if (!cli_database_open_to_stay(cli->settings, &database))
        return EXIT_REFUSED;
    int code = EXIT_REFUSED;
    if (cli_sample_apply(cli->settings, database.url))
        code = serve(cli->settings, &database, &signals);
    cli_database_close(&database);
    return code;
}
