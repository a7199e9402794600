/* Migrating: once, twice, two at a time, over a changed or newer schema; and the reference tables
 * that follow. */
#include "db/migrate.h"

#include "db/inventory.h"
#include "db/provider.h"
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"
#include "tests/support/test_database.h"
#include "tests/support/test_offers.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

TestSuite(migrate, .timeout = 120, .fini = test_database_drop);

static int migrate(struct db_connection *connection)
{
    int applied = -1;
    char *error = NULL;
    cr_assert(db_migrate(connection, &applied, &error), "%s", error);
    return applied;
}

static void expect_refusal(struct db_connection *connection, const char *word)
{
    int applied;
    char *error = NULL;
    cr_assert(!db_migrate(connection, &applied, &error));
    cr_expect_not_null(strstr(error, word), "%s", error);
    cr_expect(applied == 0);
    free(error);
}

Test(migrate, an_empty_database_once_and_never_again)
{
    struct db_connection *connection = test_connect(test_database_new_empty());
    cr_expect(db_schema_check(connection) == DB_NONE);
    cr_expect(migrate(connection) > 0);
    cr_expect(db_schema_check(connection) == DB_OK);
    cr_expect(migrate(connection) == 0);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM gpus") == gpu_count());
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM places") == place_count());
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM gpu_aliases") > 0);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM place_aliases") > 0);
    cr_expect(test_sql_int(connection, "SELECT version FROM counters WHERE name = 'reference'") ==
                  1,
              "the second time nothing was seeded");
    db_disconnect(connection);
}

struct parallel {
    const char *url;
    int applied;
};

static void *migrate_beside(void *argument)
{
    struct parallel *parallel = argument;
    char *error = NULL;
    struct db_connection *connection = db_connect(parallel->url, &error);
    if (connection == NULL || !db_migrate(connection, &parallel->applied, &error))
        parallel->applied = -1;
    db_disconnect(connection);
    free(error);
    return NULL;
}

Test(migrate, of_four_at_once_one_does_it)
{
    const char *url = test_database_new_empty();
    struct parallel parallel[4];
    pthread_t threads[4];
    int applied = 0, migrations;
    for (int i = 0; i < 4; i++) {
        parallel[i] = (struct parallel){.url = url};
        cr_assert(pthread_create(&threads[i], NULL, migrate_beside, &parallel[i]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        cr_expect(parallel[i].applied >= 0);
        applied += parallel[i].applied;
    }
    struct db_connection *connection = test_connect(url);
    migrations = (int)test_sql_int(connection, "SELECT count(*) FROM schema_migrations");
    cr_expect(applied == migrations && migrations > 0);
    cr_expect(test_sql_int(connection,
                           "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database "
                           "WHERE locktype = 'advisory' AND datname = current_database()") == 0);
    db_disconnect(connection);
}

Test(migrate, what_was_applied_must_not_have_changed)
{
    struct db_connection *connection = test_connect(test_database_new());
    free(test_sql(connection, "UPDATE schema_migrations SET checksum = sha256('x')"));
    cr_expect(db_schema_check(connection) == DB_CONFLICT);
    expect_refusal(connection, "another content");
    db_disconnect(connection);
}

Test(migrate, a_newer_schema_is_left_alone)
{
    struct db_connection *connection = test_connect(test_database_new());
    free(test_sql(connection, "INSERT INTO schema_migrations VALUES (9999, 'x', sha256('x'))"));
    cr_expect(db_schema_check(connection) == DB_CONFLICT);
    expect_refusal(connection, "newer");
    db_disconnect(connection);
}

Test(migrate, a_migration_that_fails_changes_nothing)
{
    struct db_connection *connection = test_connect(test_database_new_empty());
    free(test_sql(connection, "CREATE TABLE audit_log (x integer)"));
    expect_refusal(connection, "already exists");
    cr_expect(test_sql_int(connection,
                           "SELECT count(*) FROM pg_tables WHERE tablename = 'providers'") == 0);
    free(test_sql(connection, "DROP TABLE audit_log"));
    cr_expect(migrate(connection) > 0, "and the lock was given back");
    db_disconnect(connection);
}

/* Stores an offer as a release that knew neither its GPU nor its region would have. */
static void store_unresolved(struct db_connection *connection, struct arena *arena,
                             const char *external_id, const char *gpu_raw, const char *region_raw)
{
    struct provider provider;
    char upload_id[37];
    const struct upload_record record = {
        .kind = "upsert",
        .format = "json",
        .actor = "cli",
        .confirmed_at_us = TIMESTAMP_UNKNOWN,
    };
    struct offer *offer = test_offer(arena, external_id, 1000000);
    offer->gpu = gpu_unrecognized();
    offer->gpu_raw = gpu_raw;
    offer->region_raw = region_raw;
    cr_assert(db_begin(connection) == DB_OK);
    cr_assert(db_inventory_lock(connection, "acme", arena, &provider) == DB_OK);
    struct change_set set = test_change_set(arena, provider.version, 1);
    test_change(&set, CHANGE_CREATED, external_id, offer);
    cr_assert(db_inventory_apply(connection, &provider, &set, &record, arena, upload_id) == DB_OK);
    cr_assert(db_commit(connection) == DB_OK);
}

Test(migrate, names_that_mean_something_now_are_resolved_again)
{
    struct arena arena = {0};
    struct db_connection *connection = test_connect(test_database_new());
    struct provider provider = {
        .slug = "acme",
        .name = "Acme",
        .kind = PROVIDER_GPU_CLOUD,
        .freshness_hours = UNKNOWN,
        .trust = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN},
    };
    cr_assert(db_provider_add(connection, &provider, "cli") == DB_OK);
    store_unresolved(connection, &arena, "known", "H100 SXM5", "us-east");
    store_unresolved(connection, &arena, "unknown", "Quux 9000", "nowhere-at-all");
    free(test_sql(connection, "INSERT INTO gpu_aliases VALUES ('mine', 'h100-sxm', true, 'mine');"
                              "UPDATE counters SET content_hash = NULL WHERE name = 'reference'"));
    cr_assert(db_provider_find(connection, "acme", &arena, &provider) == DB_OK);
    int64_t before = provider.version;
    cr_expect(migrate(connection) == 0);

    cr_assert(db_provider_find(connection, "acme", &arena, &provider) == DB_OK);
    cr_expect(provider.version == before + 1);
    struct inventory_delta delta;
    cr_assert(db_inventory_since(connection, &provider, before, &arena, &delta) == DB_OK);
    cr_assert(delta.offer_count == 1, "only what is news");
    cr_expect_str_eq(delta.offers[0].external_id, "known");
    cr_expect_str_eq(gpu_at(delta.offers[0].gpu)->slug, "h100-sxm");
    cr_expect_str_eq(place_at(delta.offers[0].place)->slug, "us-east");
    uint8_t hash[OFFER_HASH_BYTES];
    test_offer_hash(&delta.offers[0], hash);
    struct baseline baseline;
    cr_assert(db_inventory_baseline(connection, &provider, &arena, &baseline) == DB_OK);
    cr_expect(memcmp(baseline.entries[0].hash, hash, sizeof(hash)) == 0,
              "an upload of the same is no change");
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM gpu_aliases WHERE by_operator") == 1);

    free(test_sql(connection, "UPDATE counters SET content_hash = NULL WHERE name = 'reference'"));
    migrate(connection);
    cr_assert(db_provider_find(connection, "acme", &arena, &provider) == DB_OK);
    cr_expect(provider.version == before + 1, "a second time there is no news");
    arena_free(&arena);
    db_disconnect(connection);
}
