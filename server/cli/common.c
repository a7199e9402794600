/* Options and the database of a command. */
#include "server/cli/cli.h"

#include "db/migrate.h"
#include "server/base/buf.h"
#include "server/base/crypto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *cli_take_option(struct cli *cli, const char *name)
{
    const char *value = NULL;
    size_t length = strlen(name);
    int kept = 0;
    for (int i = 0; i < cli->argc; i++) {
        const char *argument = cli->argv[i];
        if (strcmp(argument, name) == 0 && i + 1 < cli->argc)
            value = cli->argv[++i];
        else if (strncmp(argument, name, length) == 0 && argument[length] == '=')
            value = argument + length + 1;
        else
            cli->argv[kept++] = cli->argv[i];
    }
    cli->argc = kept;
    return value;
}

bool cli_take_flag(struct cli *cli, const char *name)
{
    bool found = false;
    int kept = 0;
    for (int i = 0; i < cli->argc; i++) {
        if (strcmp(cli->argv[i], name) == 0)
            found = true;
        else
            cli->argv[kept++] = cli->argv[i];
    }
    cli->argc = kept;
    return found;
}

int cli_usage(const char *usage)
{
    fprintf(stderr, "usage: rackrate %s\n", usage);
    return EXIT_USAGE;
}

void cli_print_line(struct buf *line)
{
    buf_add_char(line, '\n');
    fwrite(line->data, 1, line->length, stdout);
    fflush(stdout);
    buf_free(line);
}

char *cli_state_dir(const struct settings *settings)
{
    if (getenv("RACKRATE_STATE_DIR") != NULL || db_cluster_reachable(settings->state_dir) ||
        getuid() != 0)
        return xstrdup(settings->state_dir);
    /* Root's own checkout is often closed to the unprivileged user that must own the database: keep
     * the data where that user gets to, apart for each checkout. */
    unsigned char hash[16];
    char text[33];
    char *path = NULL;
    crypt_hash(settings->state_dir, strlen(settings->state_dir), hash, sizeof(hash));
    crypt_hex(hash, 6, text);
    return asprintf(&path, "/var/lib/rackrate/%s", text) < 0 ? xstrdup(settings->state_dir) : path;
}

#define RETRY_MS       200
#define BORROW_WAIT_MS 10000
#define SETTLE_MS      400 /* longer than a killed server takes to let go of its lock */

/* Finds or starts a database; the URL is in database->url. */
static bool find_database(const struct settings *settings, struct cli_database *database)
{
    if (settings->database_url != NULL) {
        database->url = xstrdup(settings->database_url);
        return true;
    }
    char *state_dir = cli_state_dir(settings);
    database->url = db_cluster_running_url(state_dir);
    char *error = NULL;
    if (database->url == NULL) {
        database->cluster = db_cluster_start(state_dir, &error);
        if (database->cluster != NULL)
            database->url = xstrdup(db_cluster_url(database->cluster));
        else if ((database->url = db_cluster_running_url(state_dir)) == NULL)
            fprintf(stderr, "rackrate: %s\n", error);
        free(error);
    }
    free(state_dir);
    return database->url != NULL;
}

/* Finds, connects, migrates; false with a message in *ret_error, or NULL where it was printed. */
static bool open_once(const struct settings *settings, struct cli_database *ret_database,
                      bool *ret_borrowed, char **ret_error)
{
    int applied;
    *ret_database = (struct cli_database){0};
    *ret_borrowed = false;
    *ret_error = NULL;
    if (!find_database(settings, ret_database))
        return false;
    *ret_borrowed = settings->database_url == NULL && ret_database->cluster == NULL;
    ret_database->connection = db_connect(ret_database->url, ret_error);
    if (ret_database->connection != NULL &&
        db_migrate(ret_database->connection, &applied, ret_error))
        return true;
    if (*ret_error == NULL)
        *ret_error = xstrdup("the database can't be used");
    return false;
}

/* The private cluster of a server that is just going away answers for a moment, or not any more: it
 * is tried again until that server is gone. */
static bool open_database(const struct settings *settings, struct cli_database *ret_database,
                          bool to_stay)
{
    for (int waited_ms = 0;; waited_ms += RETRY_MS) {
        bool borrowed;
        char *error;
        bool good = open_once(settings, ret_database, &borrowed, &error);
        if (good && borrowed && to_stay) {
            usleep(SETTLE_MS * 1000);
            char *state_dir = cli_state_dir(settings), *url = db_cluster_running_url(state_dir);
            good = url != NULL;
            free(url);
            free(state_dir);
        }
        if (good)
            return true;
        cli_database_close(ret_database);
        bool again = borrowed && waited_ms < BORROW_WAIT_MS;
        if (!again && error != NULL)
            fprintf(stderr, "rackrate: %s\n", error);
        else if (!again && borrowed)
            fprintf(stderr,
                    "rackrate: the server that keeps the database is going away; try again\n");
        free(error);
        if (!again)
            return false;
        usleep(RETRY_MS * 1000);
    }
}

bool cli_database_open(const struct settings *settings, struct cli_database *ret_database)
{
    return open_database(settings, ret_database, false);
}

bool cli_database_open_to_stay(const struct settings *settings, struct cli_database *ret_database)
{
    return open_database(settings, ret_database, true);
}

void cli_database_close(struct cli_database *database)
{
    if (database->connection != NULL)
        db_disconnect(database->connection);
    if (database->cluster != NULL)
        db_cluster_stop(database->cluster);
    free(database->url);
    *database = (struct cli_database){0};
}
