/* The subcommands and what they share. Exit codes: 0 done, 1 refused or failed (said on standard
 * error), 2 wrong usage. */
#ifndef RACKRATE_CLI_CLI_H
#define RACKRATE_CLI_CLI_H

#include "db/cluster.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/settings.h"

#define EXIT_DONE        0
#define EXIT_REFUSED     1
#define EXIT_USAGE       2
#define RACKRATE_VERSION "0.1.0"

struct cli {
    const struct settings *settings;
    int argc; /* arguments behind the subcommand */
    char **argv;
    bool json; /* --json was given (and taken out) */
};

int cli_serve(struct cli *cli);
int cli_migrate(struct cli *cli);
int cli_provider(struct cli *cli);
int cli_key(struct cli *cli);
int cli_import(struct cli *cli);
int cli_export(struct cli *cli);
int cli_alias(struct cli *cli);
int cli_fixing(struct cli *cli);
int cli_doctor(struct cli *cli);
int cli_config(struct cli *cli);
int cli_version(struct cli *cli);

/* A database to talk to: the one of RACKRATE_DATABASE_URL, the private cluster of a server that
 * runs, or that cluster started for as long as the command runs. */
struct cli_database {
    struct db_cluster *cluster; /* started here; NULL otherwise */
    char *url;
    struct db_connection *connection;
};

/* Opens and migrates it; false and a message on standard error. */
bool cli_database_open(const struct settings *settings, struct cli_database *ret_database);
/* The same for a server: the cluster of another one is used only where that one stays. */
bool cli_database_open_to_stay(const struct settings *settings, struct cli_database *ret_database);
void cli_database_close(struct cli_database *database);

/* The state directory in force: the setting, or where root can't have one in its own home, one
 * under /var/lib/rackrate. Malloc'd. */
char *cli_state_dir(const struct settings *settings);

/* Takes `--name VALUE` or `--name=VALUE` out of the arguments; NULL where it isn't there. */
const char *cli_take_option(struct cli *cli, const char *name);
bool cli_take_flag(struct cli *cli, const char *name);

/* The whole file (`-`: standard input), malloc'd, of at most 512 MiB; NULL and a message on
 * standard error. */
char *cli_read_file(const char *path, size_t *ret_length);

/* Measured round trips from the files behind argv[0]; `provider` (may be NULL) whose region names
 * they use, as_of_us (or TIMESTAMP_UNKNOWN) when rows that don't say were measured. */
int cli_import_latency(struct cli *cli, const char *provider, int64_t as_of_us);

/* Says how a subcommand is used, on standard error, and gives EXIT_USAGE. */
int cli_usage(const char *usage);

/* The labelled sample inventory: loaded where it was never loaded, removed with RACKRATE_SAMPLE=0.
 * False and a message. */
bool cli_sample_apply(const struct settings *settings, const char *url);

/* Prints one line of JSON to standard output. */
struct buf;
void cli_print_line(struct buf *line);

#endif
