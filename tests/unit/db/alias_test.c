/* Names that operators give: what they do to stored offers, who learns of it, and what is refused.
 */
#include "db/alias.h"

#include "db/inventory.h"
#include "db/provider.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"
#include "tests/support/test_database.h"
#include "tests/support/test_offers.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const char *url;
static struct db_connection *connection;
static struct arena arena;

static const struct upload_record record = {
    .kind = "upsert", .format = "json", .actor = "key:1", .confirmed_at_us = TIMESTAMP_UNKNOWN};

static void add_provider(const char *slug)
{
    struct provider provider = {.slug = slug,
                                .name = slug,
                                .kind = PROVIDER_GPU_CLOUD,
                                .freshness_hours = 168,
                                .trust = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN}};
    cr_assert(db_provider_add(connection, &provider, "cli") == DB_OK);
}

/* Stores offers with this raw GPU name and region, nothing of them resolved. */
static void store(const char *slug, const char *const *ids, size_t count, const char *gpu_raw,
                  const char *region)
{
    struct provider provider;
    char upload_id[37];
    cr_assert(db_begin(connection) == DB_OK);
    cr_assert(db_inventory_lock(connection, slug, &arena, &provider) == DB_OK);
    struct change_set set = test_change_set(&arena, provider.version, count);
    for (size_t i = 0; i < count; i++) {
        struct offer *offer = test_offer(&arena, ids[i], 3000000);
        offer->gpu = gpu_unrecognized();
        offer->gpu_raw = gpu_raw;
        offer->vram_gb_milli = UNKNOWN;
        offer->vram_gb_given_milli = UNKNOWN;
        offer->place = INDEX_NONE;
        offer->region_raw = region;
        test_change(&set, CHANGE_CREATED, ids[i], offer);
    }
    cr_assert(db_inventory_apply(connection, &provider, &set, &record, &arena, upload_id) == DB_OK);
    cr_assert(db_commit(connection) == DB_OK);
}

static void set_up(void)
{
    url = test_database_new();
    connection = test_connect(url);
    add_provider("acme");
    add_provider("zeta");
    add_provider("idle");
    store("acme", (const char *const[]){"a", "b"}, 2, "Bulldog Q9", "Hall 9");
    store("zeta", (const char *const[]){"c"}, 1, "NVIDIA BULLDOG-Q9", "hall-9");
}

static void tear_down(void)
{
    db_disconnect(connection);
    arena_free(&arena);
    test_database_drop();
}

TestSuite(db_alias, .timeout = 60, .init = set_up, .fini = tear_down);

static int64_t version_of(const char *slug)
{
    struct provider provider;
    cr_assert(db_provider_find(connection, slug, &arena, &provider) == DB_OK);
    return provider.version;
}

static enum db_status change(enum alias_kind kind, const char *provider, const char *name,
                             const char *slug, struct alias_effect *ret_effect)
{
    const struct operator_name given = {kind, provider, name, slug};
    return db_alias_change(connection, &given, "key:9", &arena, ret_effect);
}

Test(db_alias, one_name_moves_every_offer_of_every_provider)
{
    struct alias_effect effect;
    int64_t before, after, acme = version_of("acme"), idle = version_of("idle");
    cr_assert(db_reference_version(connection, &before) == DB_OK);
    cr_assert(change(ALIAS_GPU, "", "bulldog q9", "h100-sxm", &effect) == DB_OK);
    cr_expect(effect.offers == 3 && effect.provider_count == 2);
    cr_expect_str_eq(effect.providers[0].slug, "acme");
    cr_expect(effect.providers[0].version == acme + 1 && version_of("acme") == acme + 1);
    cr_expect(version_of("idle") == idle, "who has no such offer is left alone");
    cr_assert(db_reference_version(connection, &after) == DB_OK);
    cr_expect(after == before + 1);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM offers WHERE gpu = 'h100-sxm'") == 3);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM uploads WHERE kind = 'reference' AND "
                                       "actor = 'key:9'") == 2);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM audit_log WHERE action = 'alias_set' "
                                       "AND detail->>'offers' = '3'") == 1);
    cr_assert(change(ALIAS_GPU, "", "BULLDOG_Q9", "h200-sxm", &effect) == DB_OK);
    cr_expect(effect.offers == 3, "it can be said anew, in another spelling");
    cr_assert(change(ALIAS_GPU, "", "bulldog q9", NULL, &effect) == DB_OK);
    cr_expect(effect.offers == 3);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM offers WHERE gpu = 'unrecognized'") ==
              3);
    cr_expect(change(ALIAS_GPU, "", "bulldog q9", NULL, &effect) == DB_NONE);
}

Test(db_alias, a_place_is_one_providers_or_everybodys)
{
    struct alias_effect effect;
    cr_assert(change(ALIAS_PLACE, "", "Hall 9", "se-stockholm", &effect) == DB_OK);
    cr_expect(effect.offers == 3);
    cr_assert(change(ALIAS_PLACE, "acme", "Hall 9", "us-ashburn", &effect) == DB_OK);
    cr_expect(effect.offers == 2 && effect.provider_count == 1);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM offers WHERE place = 'us-ashburn'") ==
              2);
    cr_expect(change(ALIAS_PLACE, "nobody", "Hall 9", "us-ashburn", &effect) == DB_CONFLICT);
    cr_assert(change(ALIAS_PLACE, "acme", "Hall 9", NULL, &effect) == DB_OK);
    cr_expect(
        test_sql_int(connection, "SELECT count(*) FROM offers WHERE place = 'se-stockholm'") == 3,
        "everybody's word takes over");
}

Test(db_alias, lists_and_sets_hold_what_was_said)
{
    struct alias_effect effect;
    struct operator_name *list;
    struct alias_sets sets;
    size_t count;
    cr_assert(db_alias_sets(connection, &arena, &sets) == DB_OK);
    cr_expect(sets.gpus.count == 0 && sets.places.count == 0, "the program's are no operator's");
    cr_assert(change(ALIAS_PLACE, "zeta", "Hall 9", "us-ashburn", &effect) == DB_OK);
    cr_assert(change(ALIAS_PLACE, "", "Hall 9", "us-ashburn", &effect) == DB_OK);
    cr_assert(change(ALIAS_GPU, "", "Zed Y9", "h100", &effect) == DB_OK);
    cr_assert(db_alias_sets(connection, &arena, &sets) == DB_OK);
    cr_expect_str_eq(alias_set_find(&sets.gpus, "zedy9"), "h100");
    cr_expect_str_eq(alias_set_find(&sets.places, "zeta/hall-9"), "us-ashburn");
    cr_expect_str_eq(alias_set_find(&sets.places, "/hall-9"), "us-ashburn");
    cr_assert(db_alias_list(connection, &arena, &list, &count) == DB_OK);
    cr_assert(count == 3);
    cr_expect(list[0].kind == ALIAS_GPU);
    cr_expect_str_eq(list[0].name, "Zed Y9", "as it was given");
    cr_expect_str_eq(list[1].provider, "");
    cr_expect_str_eq(list[2].provider, "zeta");
}

Test(db_alias, what_means_nothing_is_counted_by_provider)
{
    struct unrecognized_name *names;
    size_t count;
    cr_assert(db_unrecognized_list(connection, NULL, &arena, &names, &count) == DB_OK);
    cr_assert(count == 4);
    cr_expect(names[0].offers == 2 && names[0].kind == ALIAS_GPU);
    cr_expect_str_eq(names[0].provider, "acme");
    cr_expect_str_eq(names[0].name, "Bulldog Q9");
    cr_expect_str_eq(names[1].name, "Hall 9");
    cr_expect(names[1].kind == ALIAS_PLACE);
    cr_assert(db_unrecognized_list(connection, "zeta", &arena, &names, &count) == DB_OK);
    cr_assert(count == 2);
    cr_expect(names[0].offers == 1);
    cr_expect_str_eq(names[0].name, "NVIDIA BULLDOG-Q9");
    cr_assert(db_unrecognized_list(connection, "idle", &arena, &names, &count) == DB_OK);
    cr_expect(count == 0);
}

Test(db_alias, a_writer_in_the_middle_is_waited_for)
{
    struct alias_effect effect;
    struct provider provider;
    struct db_connection *writer = test_connect(url);
    cr_assert(db_begin(writer) == DB_OK);
    cr_assert(db_inventory_lock(writer, "idle", &arena, &provider) == DB_OK);
    /* In the caller's transaction it is tried once. */
    cr_assert(db_begin(connection) == DB_OK);
    cr_expect(change(ALIAS_GPU, "", "bulldog q9", "h100-sxm", &effect) == DB_RETRY,
              "and where that takes too long, nothing changes");
    db_rollback(connection);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM gpu_aliases WHERE by_operator") == 0);
    cr_assert(db_commit(writer) == DB_OK);
    cr_expect(change(ALIAS_GPU, "", "bulldog q9", "h100-sxm", &effect) == DB_OK);
    db_disconnect(writer);
}
