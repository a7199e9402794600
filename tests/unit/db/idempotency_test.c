/* An Idempotency-Key: one answer for one body, while running, afterwards and after a day. */
#include "db/upload.h"

#include "tests/support/test_database.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const char *url;
static struct db_connection *connection;
static struct arena arena;
static const uint8_t first[32] = {1}, second[32] = {2};

static void set_up(void)
{
    url = test_database_new();
    connection = test_connect(url);
}

static void tear_down(void)
{
    db_disconnect(connection);
    arena_free(&arena);
    test_database_drop();
}

TestSuite(idempotency, .timeout = 60, .init = set_up, .fini = tear_down);

static enum db_status claim(struct db_connection *on, const char *scope, const char *key,
                            const uint8_t fingerprint[static 32], const char **ret_body)
{
    int status = 0;
    enum db_status result =
        db_idempotency_claim(on, scope, key, fingerprint, &arena, &status, ret_body);
    if (result == DB_NONE)
        cr_expect(status == 200);
    return result;
}

static void answer(const char *scope, const char *key, const char *body)
{
    const char *kept;
    cr_assert(db_begin(connection) == DB_OK);
    cr_assert(claim(connection, scope, key, first, &kept) == DB_OK);
    cr_assert(db_idempotency_store(connection, scope, key, 200, body) == DB_OK);
    cr_assert(db_commit(connection) == DB_OK);
}

Test(idempotency, the_same_body_gets_the_same_answer)
{
    const char *body = NULL;
    answer("acme", "k", "{\"a\":1}");
    cr_assert(db_begin(connection) == DB_OK);
    cr_assert(claim(connection, "acme", "k", first, &body) == DB_NONE);
    cr_expect_str_eq(body, "{\"a\":1}");
    cr_expect(claim(connection, "acme", "k", second, &body) == DB_CONFLICT);
    cr_expect(claim(connection, "other", "k", second, &body) == DB_OK, "scopes are apart");
    db_rollback(connection);
}

Test(idempotency, while_the_first_runs_the_second_is_told_at_once)
{
    const char *body;
    struct db_connection *other = test_connect(url);
    cr_assert(db_begin(connection) == DB_OK && db_begin(other) == DB_OK);
    cr_assert(claim(connection, "acme", "k", first, &body) == DB_OK);
    cr_expect(claim(other, "acme", "k", first, &body) == DB_RETRY);
    cr_expect(claim(other, "acme", "k2", first, &body) == DB_OK, "other keys go on");
    db_rollback(other);

    db_rollback(connection); /* a refused write keeps nothing */
    cr_assert(db_begin(other) == DB_OK);
    cr_expect(claim(other, "acme", "k", second, &body) == DB_OK);
    db_rollback(other);
    db_disconnect(other);
}

Test(idempotency, a_day_later_the_key_is_free)
{
    const char *body;
    answer("acme", "k", "old");
    free(test_sql(connection, "UPDATE idempotency SET created_at = now() - interval '25 hours'"));
    cr_assert(db_begin(connection) == DB_OK);
    cr_expect(claim(connection, "acme", "k", second, &body) == DB_OK);
    cr_assert(db_idempotency_store(connection, "acme", "k", 200, "new") == DB_OK);
    cr_assert(db_commit(connection) == DB_OK);
    cr_assert(db_begin(connection) == DB_OK);
    cr_expect(claim(connection, "acme", "k", second, &body) == DB_NONE);
    cr_expect_str_eq(body, "new");
    db_rollback(connection);
}

Test(idempotency, retention_forgets_the_old_only)
{
    answer("acme", "old", "x");
    free(test_sql(connection, "UPDATE idempotency SET created_at = now() - interval '25 hours'"));
    answer("acme", "new", "x");
    free(test_sql(
        connection,
        "INSERT INTO providers (slug, name, kind) VALUES ('acme', 'x', 'gpu_cloud');"
        "INSERT INTO audit_log (at, actor, action) VALUES (now() - interval '3 years', "
        "'cli', 'old'), (now(), 'cli', 'new');"
        "INSERT INTO uploads (id, provider_id, at, kind, format, actor, version, rows_read, "
        "created, updated, unchanged, removed, skipped, rejected) SELECT gen_random_uuid(), "
        "p.id, now() - make_interval(days => d), 'replace', 'json', 'cli', 0, 0, 0, 0, 0, 0, "
        "0, 0 FROM providers p, (VALUES (0), (91)) AS days (d);"
        "INSERT INTO upload_issues SELECT id, true, 0, 1, NULL, NULL, 'c', 'm' FROM uploads"));
    const struct retention keep = {.upload_days = 90, .tombstone_days = 30, .audit_days = 730};
    bool more;
    cr_assert(db_retention(connection, &keep, &more) == DB_OK);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM idempotency") == 1);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM uploads") == 1);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM upload_issues") == 1);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM audit_log WHERE action = 'old'") == 0);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM audit_log WHERE action = 'new'") == 1);
}
