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
        else
            fprintf(stderr, "rackrate: %s\n", error);
        free(error);
    }
    free(state_dir);
    return database->url != NULL;
}

bool cli_database_open(const struct settings *settings, struct cli_database *ret_database)
{
    *ret_database = (struct cli_database){0};
    char *error = NULL;
    int applied;
    if (find_database(settings, ret_database)) {
        ret_database->connection = db_connect(ret_database->url, &error);
        if (ret_database->connection != NULL &&
            db_migrate(ret_database->connection, &applied, &error))
            return true;
        fprintf(stderr, "rackrate: %s\n", error == NULL ? "the database can't be used" : error);
    }
    free(error);
    cli_database_close(ret_database);
    return false;
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
