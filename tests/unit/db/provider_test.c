/* Providers and keys: what is stored comes back, versions and counters move, and everything is
 * audited. */
#include "db/provider.h"

#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "tests/support/test_database.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct db_connection *connection;
static struct arena arena;

static void set_up(void)
{
    connection = test_connect(test_database_new());
}

static void tear_down(void)
{
    db_disconnect(connection);
    arena_free(&arena);
    test_database_drop();
}

TestSuite(provider_store, .timeout = 60, .init = set_up, .fini = tear_down);

static struct provider plain(const char *slug)
{
    return (struct provider){
        .slug = slug,
        .name = "Acme",
        .kind = PROVIDER_GPU_CLOUD,
        .freshness_hours = UNKNOWN,
        .trust = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN},
    };
}

static struct provider add(const char *slug)
{
    struct provider provider = plain(slug);
    cr_assert(db_provider_add(connection, &provider, "cli") == DB_OK);
    return provider;
}

Test(provider_store, unknown_stays_unknown_and_known_stays_known)
{
    struct provider bare = add("bare");
    cr_expect(bare.id > 0 && bare.version == 1, "a new provider is news for every node");
    struct provider full = {
        .slug = "full",
        .name = "Fu\xc3\xa9ll \"x\"",
        .kind = PROVIDER_RESELLER,
        .resells = "bare",
        .website = "https://example.com/",
        .contact = "sales@example.com",
        .freshness_hours = 24,
        .trust = {99950, 1, 0, 1},
        .suspended = true,
    };
    cr_assert(db_provider_add(connection, &full, "key:7") == DB_OK);
    struct provider found;
    cr_assert(db_provider_find(connection, "bare", &arena, &found) == DB_OK);
    cr_expect(found.resells == NULL && found.website == NULL && found.contact == NULL);
    cr_expect(found.freshness_hours == UNKNOWN && found.trust.sla_percent_milli == UNKNOWN);
    cr_expect(found.trust.burn_in == -1 && found.trust.monitoring == -1 &&
              found.trust.on_site == -1);
    cr_expect(!found.suspended && found.confirmed_at_us == TIMESTAMP_UNKNOWN);
    cr_assert(db_provider_find(connection, "full", &arena, &found) == DB_OK);
    cr_expect(found.id == full.id && found.kind == PROVIDER_RESELLER && found.suspended);
    cr_expect_str_eq(found.name, full.name);
    cr_expect_str_eq(found.resells, "bare");
    cr_expect(found.freshness_hours == 24 && found.trust.sla_percent_milli == 99950);
    cr_expect(found.trust.burn_in == 1 && found.trust.monitoring == 0 && found.trust.on_site == 1);
    cr_expect(db_provider_find(connection, "none", &arena, &found) == DB_NONE);
    cr_expect(db_provider_add(connection, &full, "cli") == DB_CONFLICT);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM audit_log WHERE actor = 'key:7' AND "
                                       "action = 'provider_add'") == 1);

    struct provider *all;
    size_t count;
    cr_assert(db_provider_list(connection, &arena, &all, &count) == DB_OK);
    cr_assert(count == 2);
    cr_expect_str_eq(all[0].slug, "bare");
    cr_expect_str_eq(all[1].slug, "full");
}

Test(provider_store, an_update_moves_the_version)
{
    struct provider provider = add("acme");
    provider.name = "Acme 2";
    provider.trust.on_site = 1;
    cr_assert(db_provider_update(connection, &provider, "cli") == DB_OK);
    struct provider found;
    cr_assert(db_provider_find(connection, "acme", &arena, &found) == DB_OK);
    cr_expect_str_eq(found.name, "Acme 2");
    cr_expect(found.version == 2 && found.trust.on_site == 1);
    struct provider none = plain("none");
    cr_expect(db_provider_update(connection, &none, "cli") == DB_NONE);

    struct version_table table;
    cr_assert(db_versions(connection, &table) == DB_OK);
    cr_assert(table.provider_count == 1);
    cr_expect(table.providers[0].id == found.id && table.providers[0].version == 2);
    free(table.providers);
}

Test(provider_store, inside_a_transaction_of_the_caller_nothing_is_committed)
{
    struct provider provider = plain("acme"), found;
    cr_assert(db_begin(connection) == DB_OK);
    cr_assert(db_provider_add(connection, &provider, "cli") == DB_OK);
    db_rollback(connection);
    cr_expect(db_provider_find(connection, "acme", &arena, &found) == DB_NONE);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM audit_log WHERE action = "
                                       "'provider_add'") == 0);
}

static struct api_key make_key(const char *text, const char *provider_slug)
{
    struct api_key key = {.provider_slug = provider_slug, .admin = provider_slug == NULL};
    strcpy(key.prefix, "rr_abcdef");
    crypt_hash(text, strlen(text), key.hash, sizeof(key.hash));
    return key;
}

static int64_t keys_version(void)
{
    struct version_table table;
    cr_assert(db_versions(connection, &table) == DB_OK);
    free(table.providers);
    return table.keys_version;
}

Test(provider_store, keys_are_found_by_hash_until_revoked)
{
    add("acme");
    int64_t version = keys_version();
    struct api_key key = make_key("a", "acme"), admin = make_key("b", NULL), found;
    cr_assert(db_key_add(connection, &key, "cli") == DB_OK);
    cr_expect(keys_version() == version + 1);
    cr_assert(db_key_add(connection, &admin, "cli") == DB_OK);
    cr_expect(db_key_add(connection, &admin, "cli") == DB_CONFLICT);
    struct api_key lost = make_key("c", "none");
    cr_expect(db_key_add(connection, &lost, "cli") == DB_NONE);

    cr_assert(db_key_find(connection, key.hash, &arena, &found) == DB_OK);
    cr_expect(found.id == key.id && !found.admin && !found.revoked);
    cr_expect_str_eq(found.provider_slug, "acme");
    cr_expect_str_eq(found.prefix, "rr_abcdef");
    cr_assert(db_key_find(connection, admin.hash, &arena, &found) == DB_OK);
    cr_expect(found.admin && found.provider_slug == NULL);
    cr_expect(db_key_find(connection, lost.hash, &arena, &found) == DB_NONE);

    struct api_key *list;
    size_t count;
    cr_assert(db_key_list(connection, NULL, &arena, &list, &count) == DB_OK);
    cr_expect(count == 2 && list[0].id == key.id && list[1].id == admin.id);
    cr_assert(db_key_list(connection, "acme", &arena, &list, &count) == DB_OK);
    cr_expect(count == 1);

    version = keys_version();
    cr_assert(db_key_revoke(connection, key.id, "cli") == DB_OK);
    cr_expect(keys_version() == version + 1);
    cr_assert(db_key_revoke(connection, key.id, "cli") == DB_OK, "again is no error");
    cr_expect(keys_version() == version + 1, "and no news");
    cr_expect(db_key_revoke(connection, 999, "cli") == DB_NONE);
    cr_assert(db_key_find(connection, key.hash, &arena, &found) == DB_OK);
    cr_expect(found.revoked);
    cr_expect(
        test_sql_int(connection, "SELECT count(*) FROM audit_log WHERE action LIKE 'key_%'") == 3);
}
