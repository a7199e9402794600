/* The schema refuses wrong data whoever writes it, says what everything is, and keeps its history.
 */
#include "tests/support/test_database.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct db_connection *connection;

/* One of everything that others refer to. */
static const char fixture[] =
    "INSERT INTO gpus (slug, family, name, form_factor) VALUES ('test-gpu', 'test-gpu', 'x', "
    "'pcie');"
    "INSERT INTO places (slug, kind, name) VALUES ('test-place', 'place', 'x');"
    "INSERT INTO providers (slug, name, kind, version) VALUES ('acme', 'Acme', 'gpu_cloud', 5);"
    "CREATE FUNCTION good_price() RETURNS price[] LANGUAGE sql AS $$ "
    "SELECT ARRAY[ROW('on_demand', 0, NULL, NULL, NULL, 'gpu', 1, NULL)::price_row::price] $$;"
    "CREATE FUNCTION add_offer() RETURNS void LANGUAGE sql AS $$ "
    "INSERT INTO offers (id, provider_id, external_id, version, gpu, gpu_raw, gpu_count_milli, "
    "availability, source, observed_at, prices, content_hash, created_at, updated_at) "
    "SELECT substr(sha256('a'), 1, 16), id, 'a', 5, 'test-gpu', 'x', 8000, 'unknown', "
    "'provider_api', now(), good_price(), substr(sha256('b'), 1, 16), now(), now() FROM providers "
    "$$;";

static void set_up(void)
{
    connection = test_connect(test_database_new());
    free(test_sql(connection, fixture));
}

static void tear_down(void)
{
    db_disconnect(connection);
    test_database_drop();
}

TestSuite(schema, .timeout = 60, .init = set_up, .fini = tear_down);

Test(schema, everything_has_a_comment)
{
    static const char *const missing[] = {
        "SELECT string_agg(c.relname || '.' || a.attname, ', ') FROM pg_class c JOIN pg_attribute "
        "a "
        "ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped WHERE c.relnamespace = "
        "'public'::regnamespace AND c.relkind IN ('r', 'v', 'c') AND col_description(c.oid, "
        "a.attnum) "
        "IS NULL",
        "SELECT string_agg(relname, ', ') FROM pg_class WHERE relnamespace = "
        "'public'::regnamespace "
        "AND relkind IN ('r', 'v') AND obj_description(oid, 'pg_class') IS NULL",
        "SELECT string_agg(t.typname, ', ') FROM pg_type t LEFT JOIN pg_class c ON c.oid = "
        "t.typrelid "
        "WHERE t.typnamespace = 'public'::regnamespace AND (t.typtype IN ('e', 'd') OR (t.typtype "
        "= 'c' "
        "AND c.relkind = 'c')) AND obj_description(t.oid, 'pg_type') IS NULL",
        "SELECT string_agg(proname, ', ') FROM pg_proc WHERE pronamespace = 'public'::regnamespace "
        "AND proname NOT IN ('good_price', 'add_offer') AND obj_description(oid, 'pg_proc') IS "
        "NULL",
        "SELECT string_agg(tgname, ', ') FROM pg_trigger WHERE NOT tgisinternal AND "
        "obj_description(oid, 'pg_trigger') IS NULL",
        "SELECT string_agg(c.relname, ', ') FROM pg_class c JOIN pg_index i ON i.indexrelid = "
        "c.oid "
        "WHERE c.relnamespace = 'public'::regnamespace AND NOT EXISTS (SELECT FROM pg_constraint k "
        "WHERE k.conindid = c.oid) AND obj_description(c.oid, 'pg_class') IS NULL"};
    for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
        char *names = test_sql(connection, missing[i]);
        cr_expect_str_eq(names, "", "no COMMENT on %s", names);
        free(names);
    }
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM pg_description d JOIN pg_class c ON "
                                       "c.oid = d.objoid WHERE c.relnamespace = "
                                       "'public'::regnamespace") > 100);
}

Test(schema, a_good_offer_is_taken)
{
    free(test_sql(connection, "SELECT add_offer()"));
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM prices") == 1);
}

/* What is wrong, and the constraint that says so. */
struct wrong {
    const char *set;
    const char *constraint;
};

#define PRICE(text) "prices = ARRAY[ROW(" text ")::price_row::price]"

static const struct wrong wrong_offers[] = {
    {"id = '\\x00'", "offers_id_check"},
    {"external_id = ''", "offers_external_id_check"},
    {"external_id = repeat('x', 201)", "offers_external_id_check"},
    {"provider_id = 999", "provider 999"},
    {"version = 0", "offers_version_check"},
    {"version = 6", "provider"},
    {"gpu = 'no-such-gpu'", "gpu no-such-gpu"},
    {"place = 'no-such-place'", "place no-such-place"},
    {"gpu_raw = ''", "offers_gpu_raw_check"},
    {"gpu_raw = NULL", "not-null"},
    {"gpu_count_milli = 0", "offers_gpu_count_milli_check"},
    {"gpu_count_milli = 100000001", "offers_gpu_count_milli_check"},
    {"vram_gb_milli = 0", "offers_vram_gb_milli_check"},
    {"vcpus_milli = -2", "offers_vcpus_milli_check"},
    {"memory_gib_milli = -1", "offers_memory_gib_milli_check"},
    {"storage_gb_milli = -1", "offers_storage_gb_milli_check"},
    {"fabric_gbps_milli = -1", "offers_fabric_gbps_milli_check"},
    {"fabric = 'wifi'", "enum fabric"},
    {"interconnect = 'usb'", "enum interconnect"},
    {"availability = 'maybe'", "enum availability_status"},
    {"availability = NULL", "not-null"},
    {"source = 'rumour'", "enum source_kind"},
    {"region_raw = ''", "offers_region_raw_check"},
    {"zone = ''", "offers_zone_check"},
    {"gpus_available = -1", "offers_gpus_available_check"},
    {"lead_time_days = -1", "offers_lead_time_days_check"},
    {"schedule = '{}'", "offers_schedule_check"},
    {"schedule = '{\"(0,1)\"}'", "delivery_range"},
    {"schedule = '{\"(1,)\"}'", "delivery_complete"},
    {"schedule = '{NULL}'", "delivery_complete"},
    {"egress_per_gb_microusd = -1", "offers_egress_per_gb_microusd_check"},
    {"storage_per_gb_month_microusd = -1", "offers_storage_per_gb_month_microusd_check"},
    {"billing_increment_seconds = -1", "offers_billing_increment_seconds_check"},
    {"minimum_duration_seconds = -1", "offers_minimum_duration_seconds_check"},
    {"order_url = 'javascript:alert(1)'", "web_url_form"},
    {"source_url = 'ftp://x'", "web_url_form"},
    {"attribution = ''", "offers_attribution_check"},
    {"observed_at = NULL", "not-null"},
    {"flags = -1", "offers_flags_check"},
    {"content_hash = '\\x'", "offers_content_hash_check"},
    {"updated_at = created_at - interval '1 second'", "offers_check"},
    {"prices = NULL", "not-null"},
    {"prices = '{}'", "offers_prices_check"},
    {"prices = '{NULL}'", "price_complete"},
    {"prices = prices || prices", "offers_prices_check"},
    {"prices = ARRAY[prices, prices]", ""},
    {PRICE("NULL, 0, NULL, NULL, NULL, 'gpu', 1, NULL"), "price_complete"},
    {PRICE("'spot', 0, NULL, NULL, NULL, 'gpu', NULL, NULL"), "price_complete"},
    {PRICE("'spot', 0, NULL, NULL, NULL, 'gpu', 0, NULL"), "price_amount"},
    {PRICE("'spot', 0, NULL, NULL, NULL, 'gpu', -5, NULL"), "price_amount"},
    {PRICE("'spot', 0, NULL, NULL, NULL, 'gpu', 10000000000001, NULL"), "price_amount"},
    {PRICE("'spot', 1, NULL, NULL, NULL, 'gpu', 1, NULL"), "price_term"},
    {PRICE("'reserved', 0, NULL, NULL, NULL, 'gpu', 1, NULL"), "price_term"},
    {PRICE("'reserved', 601, NULL, NULL, NULL, 'gpu', 1, NULL"), "price_term"},
    {PRICE("'spot', 0, 0, NULL, NULL, 'gpu', 1, NULL"), "price_order"},
    {PRICE("'spot', 0, NULL, NULL, NULL, 'gpu', 1, 0"), "price_order"},
    {PRICE("'spot', 0, 5, NULL, NULL, 'gpu', 1, 4"), "price_order"},
    {PRICE("'spot', 0, NULL, -1, NULL, 'gpu', 1, NULL"), "price_upfront"},
    {PRICE("'spot', 0, NULL, 100001, NULL, 'gpu', 1, NULL"), "price_upfront"},
    {PRICE("'spot', 0, NULL, NULL, '', 'gpu', 1, NULL"), "price_plan"},
    {PRICE("'spot', 0, NULL, NULL, repeat('x', 101), 'gpu', 1, NULL"), "price_plan"},
    {"prices = ARRAY[ROW('spot', 0, NULL, NULL, 'b', 'gpu', 1, NULL)::price_row::price, "
     "ROW('spot', 0, NULL, NULL, 'a', 'gpu', 1, NULL)::price_row::price]",
     "offers_prices_check"},
    {"prices = ARRAY[ROW('spot', 0, NULL, NULL, NULL, 'gpu', 1, NULL)::price_row::price, "
     "ROW('spot', 0, NULL, NULL, NULL, 'node', 2, NULL)::price_row::price]",
     "offers_prices_check"},
};

Test(schema, a_wrong_offer_is_refused_by_the_rule_it_breaks)
{
    free(test_sql(connection, "SELECT add_offer()"));
    for (size_t i = 0; i < sizeof(wrong_offers) / sizeof(wrong_offers[0]); i++) {
        char sql[600];
        snprintf(sql, sizeof(sql), "UPDATE offers SET %s", wrong_offers[i].set);
        const char *message = test_sql_refused(connection, sql);
        cr_expect(*message != '\0', "taken: %s", wrong_offers[i].set);
        cr_expect_not_null(strstr(message, wrong_offers[i].constraint), "%s: %s",
                           wrong_offers[i].set, message);
    }
    cr_expect_not_null(strstr(test_sql_refused(connection, "SELECT add_offer()"), "duplicate key"));
}

static const struct wrong wrong_rows[] = {
    {"INSERT INTO providers (slug, name, kind) VALUES ('Acme', 'x', 'gpu_cloud')", "slug_form"},
    {"INSERT INTO providers (slug, name, kind) VALUES ('-a', 'x', 'gpu_cloud')", "slug_form"},
    {"INSERT INTO providers (slug, name, kind) VALUES ('acme', 'x', 'gpu_cloud')", "duplicate key"},
    {"INSERT INTO providers (slug, name, kind) VALUES ('b', '', 'gpu_cloud')",
     "providers_name_check"},
    {"INSERT INTO providers (slug, name, kind) VALUES ('b', 'x', 'bank')", "enum provider_kind"},
    {"UPDATE providers SET freshness_hours = 0", "providers_freshness_hours_check"},
    {"UPDATE providers SET sla_percent_milli = 100001", "providers_sla_percent_milli_check"},
    {"UPDATE providers SET resells = 'other'", "providers_check"},
    {"UPDATE providers SET version = version - 1", "another key"},
    {"UPDATE providers SET slug = 'other'", "another key"},
    {"DELETE FROM providers", "neither removed"},
    {"TRUNCATE providers CASCADE", ""},
    {"DELETE FROM gpus", "neither removed"},
    {"UPDATE gpus SET slug = 'other'", "another key"},
    {"DELETE FROM places", "neither removed"},
    {"UPDATE places SET slug = 'other-' || slug", "another key"},
    {"UPDATE places SET latitude_micro = 91000000, longitude_micro = 0",
     "places_latitude_micro_check"},
    {"UPDATE places SET latitude_micro = 1, longitude_micro = NULL", "places_check"},
    {"INSERT INTO keys (hash, prefix, admin) VALUES ('\\x00', 'rr_a', true)", "keys_hash_check"},
    {"INSERT INTO keys (hash, prefix, admin) VALUES (sha256('a'), 'rr_a', false)", "keys_check"},
    {"INSERT INTO keys (hash, prefix, admin, provider_id) SELECT sha256('a'), 'rr_a', true, id "
     "FROM "
     "providers",
     "keys_check"},
    {"INSERT INTO keys (hash, prefix, admin, provider_id) VALUES (sha256('a'), 'rr_a', false, 999)",
     "foreign key"},
    {"INSERT INTO keys (hash, prefix, admin) VALUES (sha256('a'), 'rr_abcdefghijklm', true)",
     "keys_prefix_check"},
    {"INSERT INTO cluster_epoch (only_row) VALUES (false)", "cluster_epoch_only_row_check"},
    {"INSERT INTO cluster_epoch DEFAULT VALUES", "duplicate key"},
    {"INSERT INTO counters (name) VALUES ('other')", "counters_name_check"},
    {"UPDATE counters SET version = -1", "counters_version_check"},
    {"INSERT INTO gpu_aliases VALUES ('x', 'no-such-gpu', true, 'x')", "foreign key"},
    {"INSERT INTO place_aliases VALUES ('', 'x', 'no-such-place', true, 'x')", "foreign key"},
    {"INSERT INTO tombstones VALUES ('\\x00', 1, 'a', 1, now())", "tombstones_offer_id_check"},
    {"INSERT INTO idempotency (scope, key, fingerprint) VALUES ('s', '', sha256('a'))",
     "idempotency_key_check"},
    {"INSERT INTO idempotency (scope, key, fingerprint, status) VALUES ('s', 'k', sha256('a'), "
     "200)",
     "idempotency_check"},
    {"INSERT INTO idempotency (scope, key, fingerprint, status, body) VALUES ('s', 'k', "
     "sha256('a'), "
     "404, '')",
     "idempotency_status_check"},
    {"INSERT INTO uploads (id, provider_id, at, kind, format, actor, version, rows_read, created, "
     "updated, unchanged, removed, skipped, rejected) VALUES (gen_random_uuid(), 999, now(), "
     "'replace', 'json', 'cli', 1, 0, 0, 0, 0, 0, 0, 0)",
     "foreign key"},
    {"INSERT INTO uploads (id, provider_id, at, kind, format, actor, version, rows_read, created, "
     "updated, unchanged, removed, skipped, rejected) SELECT gen_random_uuid(), id, now(), "
     "'guess', 'json', 'cli', 1, 0, 0, 0, 0, 0, 0, 0 FROM providers",
     "uploads_kind_check"},
    {"INSERT INTO upload_issues VALUES (gen_random_uuid(), true, 0, 1, NULL, NULL, 'c', 'm')",
     "foreign key"},
    {"INSERT INTO price_changes (offer_id, version, provider_id, at, upload_id, actor, "
     "change_count) "
     "VALUES (substr(sha256('a'), 1, 16), 1, 1, now(), gen_random_uuid(), 'cli', 1)",
     "price_changes_check"},
    {"INSERT INTO price_changes (offer_id, version, provider_id, at, upload_id, actor, after, "
     "change_count) VALUES (substr(sha256('a'), 1, 16), 1, 1, now(), gen_random_uuid(), 'cli', "
     "good_price(), 1)",
     "price_changes_check"},
    {"INSERT INTO schema_migrations VALUES (0, 'x', sha256('a'))",
     "schema_migrations_number_check"},
};

Test(schema, wrong_rows_are_refused_by_the_rule_they_break)
{
    for (size_t i = 0; i < sizeof(wrong_rows) / sizeof(wrong_rows[0]); i++) {
        const char *message = test_sql_refused(connection, wrong_rows[i].set);
        cr_expect(*message != '\0', "taken: %s", wrong_rows[i].set);
        cr_expect_not_null(strstr(message, wrong_rows[i].constraint), "%s: %s", wrong_rows[i].set,
                           message);
    }
}

Test(schema, history_and_audit_are_only_added_to)
{
    free(test_sql(
        connection,
        "INSERT INTO price_changes (offer_id, version, provider_id, at, upload_id, actor, "
        "after, after_gpu_count_milli, change_count) VALUES (substr(sha256('a'), 1, 16), 1, "
        "1, now() - interval '3 years', gen_random_uuid(), 'cli', good_price(), 8000, 1);"
        "INSERT INTO audit_log (at, actor, action) VALUES (now() - interval '3 years', "
        "'cli', 'x'), (now(), 'cli', 'y')"));
    static const char *const refused[] = {
        "UPDATE price_changes SET actor = 'other'",
        "DELETE FROM price_changes",
        "TRUNCATE price_changes",
        "SET rackrate.retention = 'on'; DELETE FROM price_changes",
        "UPDATE audit_log SET actor = 'other'",
        "SET rackrate.retention = ''; DELETE FROM audit_log WHERE at < now() - interval '1 year'",
        "SET rackrate.retention = 'on'; DELETE FROM audit_log WHERE at > now() - interval '1 day'",
        "TRUNCATE audit_log"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        cr_expect_not_null(strstr(test_sql_refused(connection, refused[i]), "only added"), "%s",
                           refused[i]);
    free(test_sql(connection,
                  "SET rackrate.retention = 'on'; DELETE FROM audit_log WHERE at < now() "
                  "- interval '1 year'"));
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM audit_log WHERE action = 'x'") == 0);
}
