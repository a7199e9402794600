/* What a change set does to the database: rows, versions, tombstones, history, records; and what it
 * refuses. */
#include "db/inventory.h"
#include "db/provider.h"
#include "db/upload.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "tests/support/test_database.h"
#include "tests/support/test_offers.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *url;
static struct db_connection *connection;
static struct arena arena;
static struct provider provider;
static char upload_id[37];

static const struct upload_record record = {
    .kind = "upsert",
    .format = "json",
    .actor = "key:1",
    .confirmed_at_us = TIMESTAMP_UNKNOWN,
};

static void set_up(void)
{
    url = test_database_new();
    connection = test_connect(url);
    provider = (struct provider){
        .slug = "acme",
        .name = "Acme",
        .kind = PROVIDER_GPU_CLOUD,
        .freshness_hours = 168,
        .trust = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN},
    };
    cr_assert(db_provider_add(connection, &provider, "cli") == DB_OK);
}

static void tear_down(void)
{
    db_disconnect(connection);
    arena_free(&arena);
    test_database_drop();
}

TestSuite(inventory_write, .timeout = 60, .init = set_up, .fini = tear_down);

static enum db_status write_set(struct change_set *set, const struct upload_record *with)
{
    cr_assert(db_begin(connection) == DB_OK);
    cr_assert(db_inventory_lock(connection, "acme", &arena, &provider) == DB_OK);
    enum db_status status = db_inventory_apply(connection, &provider, set, with, &arena, upload_id);
    if (status != DB_OK) {
        db_rollback(connection);
        return status;
    }
    return db_commit(connection);
}

static void create(const char *external_id, int64_t microusd)
{
    struct change_set set = test_change_set(&arena, provider.version, 1);
    test_change(&set, CHANGE_CREATED, external_id, test_offer(&arena, external_id, microusd));
    cr_assert(write_set(&set, &record) == DB_OK);
}

static void expect_same(const struct offer *a, const struct offer *b)
{
    uint8_t left[OFFER_HASH_BYTES], right[OFFER_HASH_BYTES];
    test_offer_hash(a, left);
    test_offer_hash(b, right);
    cr_expect(memcmp(left, right, sizeof(left)) == 0, "%s came back with other facts",
              a->external_id);
    cr_expect(offer_compare_fields(a, b) == 0);
    cr_expect(a->vram_gb_milli == b->vram_gb_milli);
    cr_expect(a->observed_at_us == b->observed_at_us);
    cr_expect(a->version == b->version && a->updated_at_us == b->updated_at_us);
    cr_assert(a->price_count == b->price_count);
    for (size_t i = 0; i < a->price_count; i++) {
        cr_expect(a->prices[i].per_gpu_hour_microusd == b->prices[i].per_gpu_hour_microusd);
        cr_expect(a->prices[i].per_node_hour_microusd == b->prices[i].per_node_hour_microusd);
    }
}

Test(inventory_write, every_fact_comes_back_as_it_went_in)
{
    struct change_set set = test_change_set(&arena, provider.version, 2);
    struct offer *bare = test_offer(&arena, "bare", 1);
    struct offer *full = test_full_offer(&arena, "full");
    test_change(&set, CHANGE_CREATED, "bare", bare);
    test_change(&set, CHANGE_CREATED, "full", full);
    cr_assert(write_set(&set, &record) == DB_OK);
    cr_expect(bare->version == provider.version && full->version == provider.version);
    cr_expect(bare->observed_at_us == provider.updated_at_us, "unknown is the time of the upload");

    struct offer found;
    cr_assert(db_inventory_find(connection, &provider, "full", &arena, &found) == DB_OK);
    expect_same(full, &found);
    cr_assert(db_inventory_find(connection, &provider, "bare", &arena, &found) == DB_OK);
    expect_same(bare, &found);
    cr_expect(db_inventory_find(connection, &provider, "other", &arena, &found) == DB_NONE);

    struct baseline baseline;
    cr_assert(db_inventory_baseline(connection, &provider, &arena, &baseline) == DB_OK);
    cr_assert(baseline.entry_count == 2 && baseline.version == provider.version);
    uint8_t hash[OFFER_HASH_BYTES];
    test_offer_hash(full, hash);
    cr_expect_str_eq(baseline.entries[0].external_id, "bare");
    cr_expect_str_eq(baseline.entries[1].external_id, "full");
    cr_expect(memcmp(baseline.entries[1].hash, hash, sizeof(hash)) == 0);
}

Test(inventory_write, an_update_tells_what_was_before)
{
    create("a", 3000000);
    int64_t created_version = provider.version;
    struct offer *after = test_offer(&arena, "a", 2500000);
    after->zone = "z2";
    struct change_set set = test_change_set(&arena, provider.version, 1);
    test_change(&set, CHANGE_UPDATED, "a", after);
    cr_assert(write_set(&set, &record) == DB_OK);
    cr_expect(provider.version == created_version + 1);
    cr_assert_not_null(set.changes[0].before);
    cr_expect(set.changes[0].before->prices[0].quoted_microusd == 3000000);
    cr_expect(set.changes[0].fields == ((1U << OFFER_FIELD_PRICES) | (1U << OFFER_FIELD_ZONE)));
    cr_expect(
        test_sql_int(connection, "SELECT count(*) FROM offers WHERE created_at < updated_at") == 1);

    uint8_t id[OFFER_ID_BYTES];
    offer_id("acme", "a", id);
    struct price_change *changes;
    size_t count, total;
    cr_assert(db_price_history(connection, id, INT64_MAX, 10, &arena, &changes, &count, &total) ==
              DB_OK);
    cr_assert(count == 2 && total == 2);
    cr_expect(changes[0].before.quoted_microusd == 3000000 &&
              changes[0].after.quoted_microusd == 2500000);
    cr_expect(changes[1].before.quoted_microusd == 0 &&
              changes[1].after.quoted_microusd == 3000000);
    cr_expect(changes[0].at_us == provider.updated_at_us && changes[1].at_us < changes[0].at_us);
    cr_expect_str_eq(changes[0].actor, "key:1");
    cr_expect_str_eq(changes[0].upload_id, upload_id);
}

Test(inventory_write, a_change_without_prices_leaves_history_alone)
{
    create("a", 3000000);
    struct offer *after = test_offer(&arena, "a", 3000000);
    after->availability.gpus_available = 8;
    struct change_set set = test_change_set(&arena, provider.version, 1);
    test_change(&set, CHANGE_UPDATED, "a", after);
    cr_assert(write_set(&set, &record) == DB_OK);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM price_changes") == 1);
}

Test(inventory_write, a_removed_offer_leaves_a_tombstone_until_it_comes_back)
{
    create("a", 3000000);
    create("b", 3000000);
    int64_t before = provider.version;
    uint8_t id[OFFER_ID_BYTES];
    int64_t removed_at_us;
    offer_id("acme", "a", id);
    cr_expect(db_inventory_tombstone(connection, id, &removed_at_us) == DB_NONE);

    struct change_set set = test_change_set(&arena, provider.version, 1);
    test_change(&set, CHANGE_REMOVED, "a", NULL);
    cr_assert(write_set(&set, &record) == DB_OK);
    cr_assert(db_inventory_tombstone(connection, id, &removed_at_us) == DB_OK);
    cr_expect(removed_at_us == provider.updated_at_us);

    struct inventory_delta delta;
    cr_assert(db_inventory_since(connection, &provider, before, &arena, &delta) == DB_OK);
    cr_expect(!delta.whole && delta.offer_count == 0 && delta.removed_count == 1);
    cr_expect_str_eq(delta.removed_external_ids[0], "a");
    cr_assert(db_inventory_since(connection, &provider, -1, &arena, &delta) == DB_OK);
    cr_expect(delta.whole && delta.offer_count == 1 && delta.removed_count == 0);

    create("a", 2000000);
    cr_expect(db_inventory_tombstone(connection, id, &removed_at_us) == DB_NONE);
    cr_assert(db_inventory_since(connection, &provider, before, &arena, &delta) == DB_OK);
    cr_expect(delta.offer_count == 1 && delta.removed_count == 0);

    struct price_change *changes;
    size_t count, total;
    cr_assert(db_price_history(connection, id, INT64_MAX, 10, &arena, &changes, &count, &total) ==
              DB_OK);
    cr_assert(total == 3 && count == 3);
    cr_expect(changes[1].after.quoted_microusd == 0 &&
              changes[1].before.quoted_microusd == 3000000);
}

Test(inventory_write, nothing_new_moves_no_version_but_is_recorded)
{
    create("a", 3000000);
    int64_t version = provider.version;
    struct change_set none = {.mode = CHANGE_REPLACE, .base_version = version, .unchanged = 1};
    cr_assert(write_set(&none, &record) == DB_OK);
    cr_expect(provider.version == version);
    cr_expect(provider.confirmed_at_us == TIMESTAMP_UNKNOWN);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM uploads") == 2);

    struct upload_record full = record;
    full.kind = "replace";
    full.confirms_all = true;
    cr_assert(write_set(&none, &full) == DB_OK);
    cr_expect(provider.version == version + 1, "a confirmation must reach other nodes");
    cr_expect(provider.confirmed_at_us != TIMESTAMP_UNKNOWN);
    struct inventory_delta delta;
    cr_assert(db_inventory_since(connection, &provider, version, &arena, &delta) == DB_OK);
    cr_expect(delta.offer_count == 0 && delta.removed_count == 0);

    int64_t confirmed_at_us = provider.confirmed_at_us;
    full.confirmed_at_us = confirmed_at_us - 1000000;
    none.base_version = provider.version;
    cr_assert(write_set(&none, &full) == DB_OK);
    cr_expect(provider.confirmed_at_us == confirmed_at_us,
              "an older confirmation takes nothing back");
}

Test(inventory_write, a_change_set_of_another_state_is_refused_whole)
{
    create("a", 3000000);
    struct change_set old = test_change_set(&arena, provider.version - 1, 1);
    test_change(&old, CHANGE_CREATED, "b", test_offer(&arena, "b", 1));
    cr_expect(write_set(&old, &record) == DB_CONFLICT);

    struct change_set missing = test_change_set(&arena, provider.version, 2);
    test_change(&missing, CHANGE_CREATED, "b", test_offer(&arena, "b", 1));
    test_change(&missing, CHANGE_UPDATED, "c", test_offer(&arena, "c", 1));
    cr_expect(write_set(&missing, &record) == DB_CONFLICT);

    struct change_set gone = test_change_set(&arena, provider.version, 1);
    test_change(&gone, CHANGE_REMOVED, "c", NULL);
    cr_expect(write_set(&gone, &record) == DB_CONFLICT);

    struct change_set twice = test_change_set(&arena, provider.version, 1);
    test_change(&twice, CHANGE_CREATED, "a", test_offer(&arena, "a", 1));
    cr_expect(write_set(&twice, &record) == DB_CONFLICT);
    cr_expect(!db_is_broken(connection));

    cr_expect(test_sql_int(connection, "SELECT count(*) FROM offers") == 1);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM uploads") == 1);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM price_changes") == 1);
}

Test(inventory_write, uploads_and_their_issues_read_back)
{
    struct row_issues errors = {0}, warnings = {0};
    row_issues_add(&arena, &errors, 3, NULL, "/offers/2/gpu", "missing_field", "gpu is missing");
    row_issues_add(&arena, &errors, 4, "x", "/offers/3/gpu", "wrong_type", "gpu is a number");
    row_issues_add(&arena, &warnings, 5, "y", "/offers/4", "unrecognized_gpu", "nobody knows it");
    struct upload_record with = record;
    with.rows_read = 5;
    with.rejected = 2;
    with.skipped = 1;
    with.errors = &errors;
    with.warnings = &warnings;
    struct change_set set = test_change_set(&arena, provider.version, 1);
    test_change(&set, CHANGE_CREATED, "a", test_full_offer(&arena, "a"));
    cr_assert(write_set(&set, &with) == DB_OK);

    struct upload_row row;
    struct row_issues got_errors, got_warnings;
    int64_t total;
    cr_assert(db_upload_find(connection, "acme", upload_id, 0, 10, &arena, &row, &got_errors,
                             &got_warnings, &total) == DB_OK);
    cr_expect_str_eq(row.id, upload_id);
    cr_expect(row.created == 1 && row.rejected == 2 && row.skipped == 1 && row.rows_read == 5);
    cr_expect(row.version == provider.version && row.at_us == provider.updated_at_us);
    cr_expect(total == 3 && got_errors.count == 2 && got_warnings.count == 1);
    cr_expect_null(got_errors.items[0].external_id);
    cr_expect(got_errors.items[1].row == 4);
    cr_expect_str_eq(got_errors.items[1].code, "wrong_type");
    cr_expect_str_eq(got_warnings.items[0].message, "nobody knows it");
    cr_expect_str_eq(row.changes_json, "[{\"external_id\":\"a\",\"kind\":\"created\",\"fields\":[],"
                                       "\"before\":null,\"after\":null}]");
    cr_assert(db_upload_find(connection, "acme", upload_id, 1, 1, &arena, &row, &got_errors,
                             &got_warnings, &total) == DB_OK);
    cr_expect(got_errors.count == 1 && got_errors.items[0].row == 4 && got_warnings.count == 0);

    static const char *const none[] = {"00000000-0000-4000-8000-000000000000", "", "x",
                                       "00000000-0000-4000-8000-00000000000g",
                                       "00000000-0000-4000-8000-000000000000 "};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        cr_expect(db_upload_find(connection, "acme", none[i], 0, 1, &arena, &row, &got_errors,
                                 &got_warnings, &total) == DB_NONE);
    cr_expect(db_upload_find(connection, "other", upload_id, 0, 1, &arena, &row, &got_errors,
                             &got_warnings, &total) == DB_NONE,
              "an upload belongs to its provider");
}

Test(inventory_write, uploads_page_newest_first)
{
    char ids[5][37];
    for (int i = 0; i < 5; i++) {
        char name[8] = {(char)('a' + i)};
        create(name, 1000000);
        memcpy(ids[i], upload_id, sizeof(upload_id));
    }
    struct upload_row *rows;
    size_t count;
    int64_t total;
    cr_assert(db_upload_list(connection, "acme", NULL, 2, &arena, &rows, &count, &total) == DB_OK);
    cr_assert(count == 2 && total == 5);
    cr_expect_str_eq(rows[0].id, ids[4]);
    cr_expect_str_eq(rows[1].id, ids[3]);
    cr_assert(db_upload_list(connection, "acme", ids[3], 10, &arena, &rows, &count, &total) ==
              DB_OK);
    cr_assert(count == 3);
    cr_expect_str_eq(rows[0].id, ids[2]);
    cr_expect_str_eq(rows[2].id, ids[0]);
}

Test(inventory_write, history_pages_end_anywhere)
{
    struct change_set set = test_change_set(&arena, provider.version, 1);
    test_change(&set, CHANGE_CREATED, "a", test_full_offer(&arena, "a"));
    cr_assert(write_set(&set, &record) == DB_OK);
    struct offer *after = test_full_offer(&arena, "a");
    after->gpu_count_milli = 250;
    struct price *prices = (struct price *)after->prices;
    for (int i = 0; i < 3; i++)
        cr_assert(price_derive(&prices[i], 250));
    set = test_change_set(&arena, provider.version, 1);
    test_change(&set, CHANGE_UPDATED, "a", after);
    cr_assert(write_set(&set, &record) == DB_OK);

    uint8_t id[OFFER_ID_BYTES];
    offer_id("acme", "a", id);
    int64_t before = INT64_MAX;
    size_t seen = 0;
    for (;;) {
        struct price_change *changes;
        size_t count, total;
        cr_assert(db_price_history(connection, id, before, 2, &arena, &changes, &count, &total) ==
                  DB_OK);
        cr_expect(total == 6, "three prices are new, and a node of another size changes all three");
        if (count == 0)
            break;
        for (size_t i = 0; i < count; i++) {
            cr_expect(changes[i].sequence < before);
            before = changes[i].sequence;
            seen++;
        }
    }
    cr_expect(seen == 6, "%zu", seen);
}

/* Two writers on one provider. */
struct writer {
    char name;
    int written;
    int conflicts;
};

#define WRITES_EACH 25

static void *write_many(void *argument)
{
    struct writer *writer = argument;
    char *error = NULL;
    struct db_connection *own = db_connect(url, &error);
    while (own != NULL && writer->written < WRITES_EACH && writer->conflicts < 1000) {
        struct arena scratch = {0};
        struct provider locked;
        char id[37], name[16];
        snprintf(name, sizeof(name), "%c%03d", writer->name, writer->written);
        bool good =
            db_begin(own) == DB_OK && db_inventory_lock(own, "acme", &scratch, &locked) == DB_OK;
        struct change_set set = test_change_set(&scratch, good ? locked.version : 0, 1);
        test_change(&set, CHANGE_CREATED, name, test_offer(&scratch, name, 1000000));
        good = good && db_inventory_apply(own, &locked, &set, &record, &scratch, id) == DB_OK &&
               db_commit(own) == DB_OK;
        if (good)
            writer->written++;
        else
            writer->conflicts++;
        if (!good)
            db_rollback(own);
        arena_free(&scratch);
    }
    db_disconnect(own);
    free(error);
    return NULL;
}

Test(inventory_write, two_writers_on_one_provider_take_turns)
{
    struct writer writers[2] = {{.name = 'a'}, {.name = 'b'}};
    pthread_t threads[2];
    int64_t before = provider.version;
    for (int i = 0; i < 2; i++)
        cr_assert(pthread_create(&threads[i], NULL, write_many, &writers[i]) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    cr_expect(writers[0].written == WRITES_EACH && writers[1].written == WRITES_EACH);
    cr_expect(writers[0].conflicts == 0 && writers[1].conflicts == 0);
    cr_assert(db_provider_find(connection, "acme", &arena, &provider) == DB_OK);
    cr_expect(provider.version == before + 2 * WRITES_EACH, "each write has a version of its own");
    cr_expect(test_sql_int(connection, "SELECT count(DISTINCT version) FROM offers") ==
              2 * WRITES_EACH);
    cr_expect(test_sql_int(connection,
                           "SELECT count(*) FROM (SELECT at, lag(at) OVER (ORDER BY version) AS "
                           "former FROM price_changes) s WHERE at <= former") == 0,
              "time grows with the version");
}

Test(inventory_write, forgotten_removals_make_a_node_load_everything)
{
    create("a", 1000000);
    create("b", 1000000);
    int64_t held = provider.version;
    struct change_set set = test_change_set(&arena, provider.version, 1);
    test_change(&set, CHANGE_REMOVED, "a", NULL);
    cr_assert(write_set(&set, &record) == DB_OK);
    free(test_sql(connection, "UPDATE tombstones SET removed_at = now() - interval '31 days'"));
    const struct retention keep = {.upload_days = 90, .tombstone_days = 30, .audit_days = 730};
    bool more;
    cr_assert(db_retention(connection, &keep, &more) == DB_OK);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM tombstones") == 0);
    struct inventory_delta delta;
    cr_assert(db_inventory_since(connection, &provider, held, &arena, &delta) == DB_OK);
    cr_expect(delta.whole && delta.offer_count == 1);
    cr_assert(db_inventory_since(connection, &provider, provider.version, &arena, &delta) == DB_OK);
    cr_expect(!delta.whole && delta.offer_count == 0);
}
