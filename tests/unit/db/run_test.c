/* How a call ends when the server says no, goes away or goes silent. */
#include "db/connection.h"
#include "db/provider.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "tests/support/test_database.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char *url;
static struct db_connection *connection;

static void set_up(void)
{
    url = test_database_new();
    connection = test_connect(url);
    free(test_sql(connection, "CREATE TABLE t (n integer PRIMARY KEY, v integer);"
                              "INSERT INTO t VALUES (1, 0), (2, 0)"));
}

static void tear_down(void)
{
    db_disconnect(connection);
    test_database_drop();
}

TestSuite(run, .timeout = 90, .init = set_up, .fini = tear_down);

static enum db_status script(struct db_connection *on, const char *sql)
{
    char *error = NULL;
    enum db_status status = db_run_script(on, sql, 20000, NULL, &error);
    free(error);
    return status;
}

static enum db_status read_versions(struct db_connection *on)
{
    return db_run(on, STATEMENT_VERSIONS, NULL, 0, NULL);
}

Test(run, errors_mean_what_they_say)
{
    static const struct {
        const char *sql;
        enum db_status status;
    } cases[] = {
        {"INSERT INTO t VALUES (1, 1)", DB_CONFLICT},
        {"SELECT 1 / 0", DB_FAILED},
        {"SELEC", DB_FAILED},
        {"INSERT INTO t VALUES (NULL, 1)", DB_FAILED},
        {"DO $$ BEGIN RAISE 'x' USING ERRCODE = '40001'; END $$", DB_RETRY},
        {"DO $$ BEGIN RAISE 'x' USING ERRCODE = '40P01'; END $$", DB_RETRY},
        {"DO $$ BEGIN RAISE 'x' USING ERRCODE = '55P03'; END $$", DB_RETRY},
        {"DO $$ BEGIN RAISE 'x' USING ERRCODE = '53100'; END $$", DB_UNAVAILABLE},
        {"SET statement_timeout = 10; SELECT pg_sleep(5)", DB_UNAVAILABLE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_expect(script(connection, cases[i].sql) == cases[i].status, "%s", cases[i].sql);
        cr_expect(!db_is_broken(connection), "%s", cases[i].sql);
    }
    cr_expect(script(connection, "DO $$ BEGIN RAISE 'x' USING ERRCODE = '25006'; END $$") ==
              DB_UNAVAILABLE);
    cr_expect(db_is_broken(connection), "a server that became read-only is not the one to talk to");
    cr_expect(db_reconnect(connection) && read_versions(connection) == DB_OK);
}

Test(run, a_session_that_was_ended_is_noticed_and_renewed)
{
    cr_assert(read_versions(connection) == DB_OK);
    struct db_connection *other = test_connect(url);
    free(test_sql(other, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
                         "current_database() AND pid <> pg_backend_pid()"));
    cr_expect(db_begin(connection) == DB_UNAVAILABLE);
    cr_expect(db_is_broken(connection));
    cr_expect(read_versions(connection) == DB_UNAVAILABLE, "and stays so until it is renewed");
    db_rollback(connection);
    cr_assert(db_reconnect(connection));
    cr_expect(read_versions(connection) == DB_OK, "statements are prepared again");
    db_disconnect(other);
}

Test(run, a_connection_lost_in_commit_is_no_success)
{
    free(
        test_sql(connection,
                 "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM "
                 "pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(5); RETURN NULL; END $$;"
                 "CREATE CONSTRAINT TRIGGER die AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED "
                 "FOR EACH ROW EXECUTE FUNCTION die()"));
    cr_assert(db_begin(connection) == DB_OK);
    cr_assert(script(connection, "INSERT INTO t VALUES (3, 3)") == DB_OK);
    cr_expect(db_commit(connection) == DB_UNAVAILABLE);
    cr_expect(db_is_broken(connection));
    cr_assert(db_reconnect(connection));
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM t") == 2);
}

Test(run, commit_of_a_failed_transaction_is_no_success)
{
    cr_assert(db_begin(connection) == DB_OK);
    cr_assert(script(connection, "INSERT INTO t VALUES (3, 3)") == DB_OK);
    cr_assert(script(connection, "SELECT 1 / 0") == DB_FAILED);
    cr_expect(db_commit(connection) == DB_FAILED);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM t") == 2);
    cr_expect(!db_in_transaction(connection));
}

static void *deadlock_other(void *argument)
{
    struct db_connection *other = argument;
    enum db_status status = script(other, "UPDATE t SET v = 2 WHERE n = 1");
    static enum db_status result;
    result = status;
    db_rollback(other);
    return &result;
}

Test(run, one_of_two_in_a_deadlock_may_try_again)
{
    struct db_connection *other = test_connect(url);
    cr_assert(db_begin(connection) == DB_OK && db_begin(other) == DB_OK);
    cr_assert(script(connection, "SET LOCAL deadlock_timeout = '100ms';"
                                 "UPDATE t SET v = 1 WHERE n = 1") == DB_OK);
    cr_assert(script(other, "UPDATE t SET v = 2 WHERE n = 2") == DB_OK);
    pthread_t thread;
    void *others;
    cr_assert(pthread_create(&thread, NULL, deadlock_other, other) == 0);
    enum db_status own = script(connection, "UPDATE t SET v = 1 WHERE n = 2");
    db_rollback(connection);
    pthread_join(thread, &others);
    enum db_status theirs = *(enum db_status *)others;
    cr_expect((own == DB_RETRY) != (theirs == DB_RETRY), "%d %d", own, theirs);
    cr_expect(own == DB_OK || theirs == DB_OK);
    db_disconnect(other);
}

Test(run, a_lock_that_is_not_given_may_be_tried_again)
{
    struct db_connection *other = test_connect(url);
    cr_assert(db_begin(other) == DB_OK);
    cr_assert(script(other, "LOCK TABLE providers") == DB_OK);
    int64_t from = monotonic_now_us();
    struct provider provider = {
        .slug = "acme",
        .name = "Acme",
        .kind = PROVIDER_GPU_CLOUD,
        .freshness_hours = UNKNOWN,
        .trust = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN},
    };
    cr_expect(db_provider_add(connection, &provider, "cli") == DB_RETRY);
    cr_expect(!db_is_broken(connection), "the server's answer came before the client's deadline");
    cr_expect(monotonic_now_us() - from < 9000000);
    db_rollback(other);
    cr_expect(db_provider_add(connection, &provider, "cli") == DB_OK);
    db_disconnect(other);
}

Test(run, a_server_that_stopped_is_given_up)
{
    pid_t backend = (pid_t)test_sql_int(connection, "SELECT pg_backend_pid()");
    cr_assert(kill(backend, SIGSTOP) == 0);
    int64_t from = monotonic_now_us();
    cr_expect(db_begin(connection) == DB_UNAVAILABLE);
    int64_t took_us = monotonic_now_us() - from;
    cr_expect(took_us > 1000000 && took_us < 10000000, "%lld", (long long)took_us);
    cr_expect(db_is_broken(connection));
    cr_expect(db_reconnect(connection) && read_versions(connection) == DB_OK);
    cr_assert(kill(backend, SIGCONT) == 0);
}

static const char *const listen_directory = "/tmp";

Test(run, a_server_that_never_answers_is_no_connection)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int port = 20000 + (int)getpid() % 40000;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/.s.PGSQL.%d", listen_directory, port);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0);
    cr_assert(listen(listener, 5) == 0);
    char silent[100], *error = NULL;
    snprintf(silent, sizeof(silent), "postgresql:///x?host=%s&port=%d", listen_directory, port);
    int64_t from = monotonic_now_us();
    cr_expect_null(db_connect(silent, &error));
    cr_expect(monotonic_now_us() - from < 8000000);
    cr_expect(error != NULL && *error != '\0' && error[strlen(error) - 1] != '\n');
    free(error);
    close(listener);
    unlink(address.sun_path);
}

Test(run, of_several_hosts_the_one_that_lives_is_taken)
{
    const char *host = strstr(url, "host=");
    cr_assert_not_null(host);
    char *several;
    cr_assert(asprintf(&several, "%.*shost=/nowhere,%s&target_session_attrs=read-write",
                       (int)(host - url), url, host + 5) > 0);
    char *error = NULL;
    struct db_connection *found = db_connect(several, &error);
    cr_assert_not_null(found, "%s", error);
    cr_expect(read_versions(found) == DB_OK);
    db_disconnect(found);
    free(several);
}

Test(run, the_session_is_set_up)
{
    static const char *const settings[][2] = {{"statement_timeout", "2min"},
                                              {"lock_timeout", "6s"},
                                              {"idle_in_transaction_session_timeout", "1min"},
                                              {"synchronous_commit", "on"},
                                              {"application_name", "rackrate"},
                                              {"client_encoding", "UTF8"},
                                              {"transaction_isolation", "read committed"}};
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
            char sql[100];
            snprintf(sql, sizeof(sql), "SHOW %s", settings[i][0]);
            char *value = test_sql(connection, sql);
            cr_expect_str_eq(value, settings[i][1], "%s is %s", settings[i][0], value);
            free(value);
        }
        cr_assert(db_reconnect(connection), "and again after a reconnect");
    }
}

Test(run, the_epoch_tells_databases_apart)
{
    char first[64], again[64], restored[64];
    cr_assert(db_cluster_epoch(connection, first) == DB_OK);
    cr_assert(db_cluster_epoch(connection, again) == DB_OK);
    cr_expect_str_eq(first, again);
    cr_expect(strlen(first) == 32);
    /* A dump restored over it makes the table anew with the same row. */
    free(test_sql(connection, "CREATE TABLE kept AS SELECT * FROM cluster_epoch;"
                              "DROP TABLE cluster_epoch;"
                              "ALTER TABLE kept RENAME TO cluster_epoch"));
    cr_assert(db_cluster_epoch(connection, restored) == DB_OK);
    cr_expect_str_neq(first, restored);
}
