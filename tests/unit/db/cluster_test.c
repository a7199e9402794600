/* The private cluster from nothing, over a kill, beside another server, and where it can't be. Real
 * clusters with fsync: a few seconds each. */
#include "db/cluster.h"

#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "tests/support/test_database.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[64];

static void set_up(void)
{
    cr_assert(crypt_init());
    strcpy(directory, "/tmp/rackrate-cluster-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    cr_assert(chmod(directory, 0755) == 0);
}

static void tear_down(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    cr_expect(system(command) == 0);
}

TestSuite(cluster, .timeout = 120, .init = set_up, .fini = tear_down);

static struct db_cluster *start(void)
{
    char *error = NULL;
    struct db_cluster *cluster = db_cluster_start(directory, &error);
    cr_assert_not_null(cluster, "%s", error);
    return cluster;
}

static int64_t ask(const struct db_cluster *cluster, const char *sql)
{
    struct db_connection *connection = test_connect(db_cluster_url(cluster));
    int64_t answer = test_sql_int(connection, sql);
    db_disconnect(connection);
    return answer;
}

static void expect_setting(const struct db_cluster *cluster, const char *name, const char *value)
{
    char sql[100];
    struct db_connection *connection = test_connect(db_cluster_url(cluster));
    snprintf(sql, sizeof(sql), "SHOW %s", name);
    char *shown = test_sql(connection, sql);
    cr_expect_str_eq(shown, value, "%s is %s", name, shown);
    free(shown);
    db_disconnect(connection);
}

Test(cluster, made_migrated_stopped_and_started_again_it_keeps_its_data)
{
    struct db_cluster *cluster = start();
    expect_setting(cluster, "data_checksums", "on");
    expect_setting(cluster, "fsync", "on");
    expect_setting(cluster, "synchronous_commit", "on");
    expect_setting(cluster, "listen_addresses", "");
    struct db_connection *connection = test_connect(db_cluster_url(cluster));
    int applied;
    char *error = NULL;
    cr_assert(db_migrate(connection, &applied, &error), "%s", error);
    cr_expect(applied > 0);
    free(test_sql(connection, "CREATE TABLE kept (n integer); INSERT INTO kept VALUES (42)"));
    db_disconnect(connection);

    char *url = db_cluster_running_url(directory);
    cr_assert_not_null(url);
    cr_expect_str_eq(url, db_cluster_url(cluster));
    free(url);

    pid_t pid = db_cluster_pid(cluster);
    cr_expect(getsid(pid) != getsid(0), "a terminal's Ctrl-C must not reach it");
    db_cluster_stop(cluster);
    cr_expect(kill(pid, 0) != 0 && errno == ESRCH, "stopped and reaped");
    cr_expect_null(db_cluster_running_url(directory));

    cluster = start();
    cr_expect(ask(cluster, "SELECT n FROM kept") == 42);
    db_cluster_stop(cluster);
}

Test(cluster, a_second_server_is_told_that_the_directory_is_in_use)
{
    struct db_cluster *cluster = start();
    pid_t child = fork();
    if (child == 0) {
        char *error = NULL;
        struct db_cluster *second = db_cluster_start(directory, &error);
        _exit(second == NULL && error != NULL && strstr(error, "in use") != NULL ? 0 : 1);
    }
    int status;
    cr_assert(waitpid(child, &status, 0) == child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    cr_expect(ask(cluster, "SELECT 1") == 1, "and the first goes on");
    db_cluster_stop(cluster);
}

Test(cluster, after_a_kill_of_the_server_the_next_start_recovers)
{
    int ends[2];
    cr_assert(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        char *error = NULL;
        struct db_cluster *cluster = db_cluster_start(directory, &error);
        if (cluster == NULL)
            _exit(1);
        struct db_connection *connection = db_connect(db_cluster_url(cluster), &error);
        free(test_sql(connection, "CREATE TABLE kept (n integer); INSERT INTO kept VALUES (7)"));
        pid_t pid = db_cluster_pid(cluster);
        if (write(ends[1], &pid, sizeof(pid)) != sizeof(pid))
            _exit(1);
        pause();
    }
    close(ends[1]);
    pid_t postmaster = 0;
    cr_assert(read(ends[0], &postmaster, sizeof(postmaster)) == sizeof(postmaster));
    cr_assert(kill(child, SIGKILL) == 0);
    cr_assert(waitpid(child, NULL, 0) == child);
    struct db_cluster *cluster = start();
    cr_expect(db_cluster_pid(cluster) != postmaster);
    cr_expect(ask(cluster, "SELECT n FROM kept") == 7);
    db_cluster_stop(cluster);
}

Test(cluster, after_a_kill_of_the_postmaster_the_next_start_recovers)
{
    struct db_cluster *cluster = start();
    struct db_connection *connection = test_connect(db_cluster_url(cluster));
    free(test_sql(connection, "CREATE TABLE kept (n integer); INSERT INTO kept VALUES (9)"));
    cr_assert(kill(db_cluster_pid(cluster), SIGKILL) == 0);
    cr_expect(waitpid(db_cluster_pid(cluster), NULL, 0) == db_cluster_pid(cluster));
    db_cluster_stop(cluster);
    db_disconnect(connection);
    cluster = start();
    cr_expect(ask(cluster, "SELECT n FROM kept") == 9);
    db_cluster_stop(cluster);
}

Test(cluster, a_half_made_cluster_is_made_anew)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/postgres.new", directory);
    cr_assert(mkdir(path, 0700) == 0);
    snprintf(path, sizeof(path), "%s/postgres.new/PG_VERSION", directory);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fclose(file);
    struct db_cluster *cluster = start();
    cr_expect(ask(cluster, "SELECT 1") == 1);
    db_cluster_stop(cluster);
}

Test(cluster, data_of_another_major_version_are_named)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/postgres", directory);
    cr_assert(mkdir(path, 0700) == 0);
    snprintf(path, sizeof(path), "%s/postgres/PG_VERSION", directory);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs("9\n", file);
    fclose(file);
    char *error = NULL;
    cr_assert_null(db_cluster_start(directory, &error));
    cr_expect_not_null(strstr(error, "PostgreSQL 9"), "%s", error);
    free(error);
    struct stat facts;
    cr_expect(stat(path, &facts) == 0, "and nothing was touched");
}

Test(cluster, a_long_path_gets_a_short_socket)
{
    char deep[300];
    snprintf(deep, sizeof(deep), "%s/%0100d", directory, 0);
    char *error = NULL;
    struct db_cluster *cluster = db_cluster_start(deep, &error);
    cr_assert_not_null(cluster, "%s", error);
    cr_expect(ask(cluster, "SELECT 1") == 1);
    char *url = db_cluster_running_url(deep);
    cr_assert_not_null(url);
    cr_expect_str_eq(url, db_cluster_url(cluster));
    char *kept = xstrdup(url);
    free(url);
    db_cluster_stop(cluster);
    cluster = db_cluster_start(deep, &error);
    cr_assert_not_null(cluster, "%s", error);
    cr_expect_str_eq(kept, db_cluster_url(cluster), "the next start uses the same");
    free(kept);
    db_cluster_stop(cluster);
    snprintf(deep + strlen(deep), 20, "/socket-dir");
    FILE *file = fopen(deep, "r");
    char name[64] = "";
    cr_assert(file != NULL && fgets(name, sizeof(name), file) != NULL);
    fclose(file);
    cr_expect(rmdir(name) == 0);
}

Test(cluster, a_directory_the_owner_cannot_reach_is_named)
{
    char closed[100], inside[128];
    snprintf(closed, sizeof(closed), "%s/closed", directory);
    snprintf(inside, sizeof(inside), "%s/state", closed);
    cr_assert(mkdir(closed, 0700) == 0);
    cr_expect(db_cluster_reachable(directory));
    if (geteuid() != 0) {
        cr_assert(chmod(closed, 0500) == 0);
        cr_expect(!db_cluster_reachable(inside));
        cr_assert(chmod(closed, 0700) == 0);
        return;
    }
    cr_expect(!db_cluster_reachable(inside));
    char *error = NULL;
    cr_assert_null(db_cluster_start(inside, &error));
    cr_expect_not_null(strstr(error, closed), "%s", error);
    free(error);
}
