/* Migrations: found in the binary's assets as migrations/NNNN_name.sql, applied in order of their
 * numbers. What was applied is never applied again and must not have changed since: its BLAKE2b is
 * kept. */
#include "db/migrate.h"

#include "db/connection.h"
#include "db/seed.h"
#include "server/base/asset.h"
#include "server/base/crypto.h"
#include "server/base/log.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOCK_TRIES        1200
#define LOCK_PAUSE_NS     100000000L
#define MIGRATION_WAIT_MS 600000 /* one may have much to rewrite */
#define PREFIX            "migrations/"

static const char table_sql[] =
    "CREATE TABLE schema_migrations (number integer PRIMARY KEY CHECK (number > 0), "
    "name text NOT NULL, checksum bytea NOT NULL CHECK (octet_length(checksum) = 32), "
    "applied_at timestamptz NOT NULL DEFAULT now());"
    "COMMENT ON TABLE schema_migrations IS 'Migrations that were applied';"
    "COMMENT ON COLUMN schema_migrations.number IS 'From the file''s name';"
    "COMMENT ON COLUMN schema_migrations.name IS 'The file';"
    "COMMENT ON COLUMN schema_migrations.checksum IS 'BLAKE2b-256 of the file as it was applied';"
    "COMMENT ON COLUMN schema_migrations.applied_at IS 'When'";

struct migration {
    int number;
    const char *path;
    const char *sql;
    unsigned char checksum[CRYPT_HASH_BYTES];
    bool applied;
};

struct migration_list {
    struct migration *items;
    size_t count;
};

static struct migration_list find_migrations(void)
{
    struct migration_list list = {0};
    for (const struct asset *asset = asset_table; asset->path != NULL; asset++) {
        const char *name = asset->path + sizeof(PREFIX) - 1;
        if (strncmp(asset->path, PREFIX, sizeof(PREFIX) - 1) != 0 || !isdigit((unsigned char)*name))
            continue;
        list.items = xrealloc(list.items, (list.count + 1) * sizeof(*list.items));
        struct migration *migration = &list.items[list.count++];
        *migration = (struct migration){
            .number = atoi(name),
            .path = asset->path,
            .sql = (const char *)asset->start,
        };
        crypt_hash(asset->start, asset_size(asset), migration->checksum,
                   sizeof(migration->checksum));
    }
    return list;
}

static void set_error(char **ret_error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void set_error(char **ret_error, const char *format, ...)
{
    va_list arguments;
    free(*ret_error);
    va_start(arguments, format);
    if (vasprintf(ret_error, format, arguments) < 0)
        abort();
    va_end(arguments);
}

static enum db_status run_bool(struct db_connection *connection, enum statement statement,
                               bool *ret_value)
{
    struct pg_result *result;
    struct db_row row;
    enum db_status status = db_run_one(connection, statement, NULL, &result, &row);
    if (status != DB_OK)
        return status;
    *ret_value = row_bool(&row);
    db_result_free(result);
    return DB_OK;
}

/* Marks one stored migration in the list; DB_CONFLICT where it is not the one this binary has. */
static enum db_status match_applied(struct migration_list *list, struct db_row *row,
                                    char **ret_error)
{
    int number = row_integer(row);
    unsigned char checksum[CRYPT_HASH_BYTES] = {0};
    (void)row_fixed_bytes(row, checksum, sizeof(checksum));
    for (size_t i = 0; i < list->count; i++) {
        struct migration *migration = &list->items[i];
        if (migration->number != number)
            continue;
        migration->applied = true;
        if (memcmp(migration->checksum, checksum, sizeof(checksum)) == 0)
            return DB_OK;
        set_error(ret_error, "%s was applied with another content than this program has",
                  migration->path);
        return DB_CONFLICT;
    }
    set_error(ret_error,
              "the database has migration %d, which this program does not know: it was made by a "
              "newer release, use that one",
              number);
    return DB_CONFLICT;
}

/* Compares what the database has with what the binary has. */
static enum db_status read_applied(struct db_connection *connection, struct migration_list *list,
                                   char **ret_error)
{
    bool there = false;
    enum db_status status = run_bool(connection, STATEMENT_MIGRATION_TABLE, &there);
    if (status != DB_OK || !there)
        return status;
    struct pg_result *result;
    status = db_run(connection, STATEMENT_MIGRATION_LIST, NULL, 0, &result);
    if (status != DB_OK)
        return status;
    for (size_t i = 0; i < db_result_rows(result) && status == DB_OK; i++) {
        struct db_row row = {.result = result, .row = (int)i};
        status = match_applied(list, &row, ret_error);
    }
    db_result_free(result);
    return status;
}

static enum db_status run_in_transaction(struct db_connection *connection,
                                         const struct migration *migration, char **ret_error)
{
    enum db_status status =
        db_run_script(connection, migration->sql, MIGRATION_WAIT_MS, NULL, ret_error);
    if (status != DB_OK)
        return status;
    struct db_params params = {0};
    param_integer(&params, migration->number);
    param_text(&params, migration->path + sizeof(PREFIX) - 1);
    param_bytes(&params, migration->checksum, sizeof(migration->checksum));
    status = db_run(connection, STATEMENT_MIGRATION_ADD, &params, 0, NULL);
    params_free(&params);
    return status;
}

static enum db_status apply_one(struct db_connection *connection, const struct migration *migration,
                                char **ret_error)
{
    enum db_status status = db_begin(connection);
    if (status != DB_OK)
        return status;
    status = db_run_script(connection, "SET LOCAL statement_timeout = 0", MIGRATION_WAIT_MS, NULL,
                           ret_error);
    if (status == DB_OK)
        status = run_in_transaction(connection, migration, ret_error);
    status = db_end_own(connection, true, status);
    if (status == DB_OK) {
        log_info("migrated the database", "migration=\"%s\"", migration->path);
    } else {
        char *why = *ret_error;
        *ret_error = NULL;
        set_error(ret_error, "%s failed and changed nothing: %s", migration->path,
                  why == NULL ? "the database did not answer" : why);
        free(why);
    }
    return status;
}

static enum db_status apply_all(struct db_connection *connection, struct migration_list *list,
                                int *ret_applied, char **ret_error)
{
    enum db_status status = read_applied(connection, list, ret_error);
    bool there = false;
    if (status == DB_OK)
        status = run_bool(connection, STATEMENT_MIGRATION_TABLE, &there);
    if (status == DB_OK && !there)
        status = db_run_script(connection, table_sql, MIGRATION_WAIT_MS, NULL, ret_error);
    for (size_t i = 0; i < list->count && status == DB_OK; i++) {
        if (list->items[i].applied)
            continue;
        status = apply_one(connection, &list->items[i], ret_error);
        *ret_applied += status == DB_OK;
    }
    if (status != DB_OK)
        return status;
    status = db_seed_reference(connection);
    if (status != DB_OK)
        set_error(ret_error, "the reference tables could not be written; see the log");
    return status;
}

/* Waits for another one that migrates. A lock of the session, since each migration has its own
 * transaction. */
static enum db_status lock(struct db_connection *connection)
{
    for (int i = 0; i < LOCK_TRIES; i++) {
        bool taken = false;
        enum db_status status = run_bool(connection, STATEMENT_MIGRATION_LOCK, &taken);
        if (status != DB_OK || taken)
            return status;
        nanosleep(&(struct timespec){.tv_nsec = LOCK_PAUSE_NS}, NULL);
    }
    return DB_RETRY;
}

bool db_migrate(struct db_connection *connection, int *ret_applied, char **ret_error)
{
    *ret_applied = 0;
    *ret_error = NULL;
    enum db_status status = lock(connection);
    if (status == DB_OK) {
        struct migration_list list = find_migrations();
        status = apply_all(connection, &list, ret_applied, ret_error);
        free(list.items);
        bool released;
        if (!db_is_broken(connection))
            (void)run_bool(connection, STATEMENT_MIGRATION_UNLOCK, &released);
    } else if (status == DB_RETRY) {
        set_error(ret_error, "another program has been migrating this database for two minutes");
    }
    if (status != DB_OK && *ret_error == NULL)
        set_error(ret_error, status == DB_UNAVAILABLE
                                 ? "the database does not answer"
                                 : "the database refused a statement; see the log");
    return status == DB_OK;
}

enum db_status db_schema_check(struct db_connection *connection)
{
    struct migration_list list = find_migrations();
    char *error = NULL;
    enum db_status status = read_applied(connection, &list, &error);
    for (size_t i = 0; i < list.count && status == DB_OK; i++) {
        if (!list.items[i].applied)
            status = DB_NONE;
    }
    free(list.items);
    free(error);
    return status;
}
