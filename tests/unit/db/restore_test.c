/* A dump made and restored by PostgreSQL's own programs is the same database, offers and history
 * included. */
#include "db/inventory.h"
#include "db/migrate.h"
#include "db/provider.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "tests/support/test_database.h"
#include "tests/support/test_offers.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(restore, .timeout = 120, .fini = test_database_drop);

static struct arena arena;

static void fill(struct db_connection *connection)
{
    static const struct upload_record record = {.kind = "replace",
                                                .format = "json",
                                                .actor = "key:1",
                                                .confirms_all = true,
                                                .confirmed_at_us = TIMESTAMP_UNKNOWN};
    struct provider provider = {.slug = "acme",
                                .name = "Acme",
                                .kind = PROVIDER_GPU_CLOUD,
                                .freshness_hours = 168,
                                .trust = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN}};
    char upload_id[37];
    cr_assert(db_provider_add(connection, &provider, "cli") == DB_OK);
    cr_assert(db_begin(connection) == DB_OK);
    cr_assert(db_inventory_lock(connection, "acme", &arena, &provider) == DB_OK);
    struct change_set set = test_change_set(&arena, provider.version, 2);
    test_change(&set, CHANGE_CREATED, "a", test_full_offer(&arena, "a"));
    test_change(&set, CHANGE_CREATED, "b", test_offer(&arena, "b", 3250000));
    cr_assert(db_inventory_apply(connection, &provider, &set, &record, &arena, upload_id) == DB_OK);
    cr_assert(db_commit(connection) == DB_OK);
}

/* A digest of every table. */
static char *digest(struct db_connection *connection)
{
    return test_sql(connection,
                    "SELECT string_agg(relname || ':' || (xpath('/row/d/text()', "
                    "query_to_xml(format('SELECT coalesce(md5(string_agg(t::text, ''|'' ORDER BY "
                    "t::text)), ''empty'') AS d FROM %I t', relname), false, true, '')))[1]::text, "
                    "' ' ORDER BY relname) FROM pg_class WHERE relkind = 'r' AND relnamespace = "
                    "'public'::regnamespace");
}

static void run(const char *command)
{
    cr_assert(system(command) == 0, "%s", command);
}

Test(restore, a_dump_restored_over_it_or_elsewhere_is_the_same)
{
    const char *url = test_database_new();
    struct db_connection *connection = test_connect(url);
    char path[] = "/tmp/rackrate-dump-XXXXXX";
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    close(fd);
    fill(connection);
    char *before = digest(connection);
    char command[1024];
    snprintf(command, sizeof(command), "pg_dump --format=custom --file='%s' '%s'", path, url);
    run(command);
    free(test_sql(connection, "UPDATE providers SET name = 'Other'"));
    db_disconnect(connection);
    snprintf(command, sizeof(command),
             "pg_restore --clean --if-exists --exit-on-error --dbname='%s' '%s'", url, path);
    run(command);
    connection = test_connect(url);
    char *after = digest(connection);
    cr_expect_str_eq(before, after);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM offers") == 2);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM price_changes") == 2);
    cr_expect(db_schema_check(connection) == DB_OK);
    /* And it takes writes as before: the rules are there again. */
    cr_expect_not_null(strstr(test_sql_refused(connection, "UPDATE offers SET gpu = 'nothing'"),
                              "refer to what is not there"));
    db_disconnect(connection);
    free(before);
    free(after);
    unlink(path);
    arena_free(&arena);
}
