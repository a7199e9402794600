/* rackrate migrate, config, version, doctor. */
#include "server/cli/cli.h"

#include "db/migrate.h"
#include "server/base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_migrate(struct cli *cli)
{
    if (cli->argc > 0)
        return cli_usage(
            "migrate [settings]\nApplies the migrations the database lacks; safe at any time.");
    struct cli_database database;
    if (!cli_database_open(cli->settings, &database))
        return EXIT_REFUSED;
    puts("the database is up to date");
    cli_database_close(&database);
    return EXIT_DONE;
}

int cli_config(struct cli *cli)
{
    if (cli->argc > 0)
        return cli_usage(
            "config [--json] [settings]\nPrints every setting in force and where it came from.");
    char *state_dir = cli_state_dir(cli->settings);
    settings_show("state_dir", state_dir);
    free(state_dir);
    settings_print(cli->json);
    return EXIT_DONE;
}

int cli_version(struct cli *cli)
{
    if (cli->argc > 0)
        return cli_usage("version [--json]");
    if (cli->json)
        puts("{\"version\":\"" RACKRATE_VERSION "\"}");
    else
        puts("rackrate " RACKRATE_VERSION);
    return EXIT_DONE;
}

static bool has_data(const char *state_dir)
{
    char *path = NULL;
    bool found = asprintf(&path, "%s/postgres/PG_VERSION", state_dir) >= 0 &&
                 (access(path, F_OK) == 0 || errno == EACCES);
    free(path);
    return found;
}

int cli_doctor(struct cli *cli)
{
    if (cli->argc > 0)
        return cli_usage("doctor [settings]\nLooks at settings, state directory and database, and "
                         "says what is wrong.");
    char *state_dir = cli_state_dir(cli->settings);
    bool good = true;
    if (cli->settings->database_url != NULL) {
        puts("database: the one of RACKRATE_DATABASE_URL");
    } else {
        bool reachable = db_cluster_reachable(state_dir);
        printf("state directory: %s (%s)\n", state_dir,
               reachable ? "usable" : "NOT usable by the database's user");
        char *url = db_cluster_running_url(state_dir);
        printf("private database: %s\n",
               url == NULL ? "not running; started for this check" : "running");
        free(url);
        good = reachable;
        if (good && !has_data(state_dir)) {
            puts("no data there yet; `rackrate serve` makes them. All is well, so far");
            free(state_dir);
            return EXIT_DONE;
        }
    }
    free(state_dir);
    struct cli_database database;
    if (good && cli_database_open(cli->settings, &database)) {
        char epoch[64];
        good = db_cluster_epoch(database.connection, epoch) == DB_OK;
        puts(good ? "database: answers, schema up to date" : "database: does NOT answer");
        cli_database_close(&database);
    } else {
        good = false;
    }
    puts(good ? "all is well" : "something is wrong, see above");
    return good ? EXIT_DONE : EXIT_REFUSED;
}
