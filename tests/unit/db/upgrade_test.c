/* Each migration after the first, over data as the release before it kept them. */
#include "db/inventory.h"
#include "db/migrate.h"
#include "db/provider.h"
#include "server/base/asset.h"
#include "tests/support/test_database.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(upgrade, .timeout = 120, .fini = test_database_drop);

/* One of everything that release 0.1.0 (migration 1) could keep. */
static const char release_1_data[] =
    "INSERT INTO gpus (slug, family, name, form_factor) VALUES "
    "('h100-sxm', 'h100', 'NVIDIA H100 SXM', 'sxm'), "
    "('unrecognized', 'unrecognized', 'Unrecognized', 'undisclosed');"
    "INSERT INTO places (slug, kind, name) VALUES ('us-east', 'area', 'US East');"
    "INSERT INTO gpu_aliases (alias, gpu, by_operator) VALUES ('H100-SXM5', 'h100-sxm', false), "
    "('bigcard', 'h100-sxm', true);"
    "INSERT INTO place_aliases (provider, alias, place, by_operator) VALUES "
    "('acme', 'hall-9', 'us-east', true), ('aws', 'use', 'us-east', false);"
    "INSERT INTO providers (slug, name, kind, version) VALUES ('acme', 'Acme', 'gpu_cloud', 2);"
    "INSERT INTO keys (hash, prefix, provider_id, admin) SELECT sha256('k'), 'rr_abcdef', id, "
    "false "
    "FROM providers;"
    "INSERT INTO offers (id, provider_id, external_id, version, gpu, gpu_raw, gpu_count_milli, "
    "place, region_raw, availability, source, observed_at, prices, content_hash, created_at, "
    "updated_at) SELECT substr(sha256('a'), 1, 16), id, 'a', 2, 'h100-sxm', 'H100 SXM', 8000, "
    "'us-east', 'us-east', 'available', 'provider_api', now(), "
    "ARRAY[ROW('on_demand', 0, NULL, NULL, NULL, 'gpu', 3250000, NULL)::price_row::price], "
    "substr(sha256('b'), 1, 16), now(), now() FROM providers;"
    "INSERT INTO uploads (id, provider_id, at, kind, format, actor, version, rows_read, created, "
    "updated, unchanged, removed, skipped, rejected) SELECT gen_random_uuid(), id, now(), "
    "'replace', 'json', 'key:1', 2, 1, 1, 0, 0, 0, 0, 0 FROM providers;"
    "INSERT INTO audit_log (actor, action, detail) VALUES ('cli', 'provider_add', '{}')";

/* A database as the first migration alone leaves it, with its data. */
static struct db_connection *release_1(void)
{
    struct db_connection *connection = test_connect(test_database_new());
    const struct asset *asset = asset_table;
    while (strcmp(asset->path, "migrations/0001_schema.sql") != 0)
        asset++;
    /* The table of migrations is the migrator's own: kept, with the first one's row only. */
    free(test_sql(connection,
                  "CREATE SCHEMA kept; ALTER TABLE schema_migrations SET SCHEMA kept; "
                  "DROP SCHEMA public CASCADE; CREATE SCHEMA public; "
                  "ALTER TABLE kept.schema_migrations SET SCHEMA public; DROP SCHEMA kept; "
                  "DELETE FROM schema_migrations WHERE number > 1"));
    free(test_sql(connection, (const char *)asset->start));
    free(test_sql(connection, release_1_data));
    return connection;
}

Test(upgrade, from_release_1_keeps_every_fact)
{
    struct db_connection *connection = release_1();
    char *before = test_sql(connection, "SELECT md5(string_agg(o::text, '|')) FROM offers o");
    char *error = NULL;
    int applied;
    cr_assert(db_migrate(connection, &applied, &error), "%s", error);
    cr_expect(applied >= 1);
    char *after = test_sql(connection, "SELECT md5(string_agg(o::text, '|')) FROM offers o");
    cr_expect_str_eq(before, after, "offers stay as they were");
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM keys") == 1);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM uploads") == 1);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM audit_log WHERE actor = 'cli'") == 1);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM confirmations c JOIN uploads u ON "
                                       "u.provider_id = c.provider_id AND u.at = c.at") == 1,
              "a full upload of then is a confirmation");
    struct arena arena = {0};
    struct provider provider;
    struct offer offer;
    cr_assert(db_provider_find(connection, "acme", &arena, &provider) == DB_OK);
    cr_expect(provider.version == 2);
    cr_assert(db_inventory_find(connection, &provider, "a", &arena, &offer) == DB_OK);
    cr_expect(offer.prices[0].per_gpu_hour_microusd == 3250000);
    arena_free(&arena);
    free(before);
    free(after);
    db_disconnect(connection);
}

Test(upgrade, operators_names_get_a_spelling)
{
    struct db_connection *connection = release_1();
    char *error = NULL;
    int applied;
    cr_assert(db_migrate(connection, &applied, &error), "%s", error);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM gpu_aliases WHERE by_operator AND "
                                       "spelling = 'bigcard'") == 1);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM place_aliases WHERE by_operator AND "
                                       "spelling = 'hall-9' AND provider = 'acme'") == 1);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM gpu_aliases WHERE NOT by_operator AND "
                                       "spelling IS NOT NULL") == 0);
    cr_expect_not_null(strstr(
        test_sql_refused(connection, "INSERT INTO gpu_aliases (alias, gpu, by_operator) VALUES "
                                     "('x', 'h100-sxm', true)"),
        "check constraint"));
    db_disconnect(connection);
}
