/* The life of the private cluster. Its state directory holds `lock` (held while a server runs),
 * `postgres` (the data), `run` (the socket; or `socket-dir`, which names a short directory under
 * /tmp where the path would be too long for a socket) and `postgresql.log`. A cluster is made
 * beside its place and moved there whole, so that a kill in between leaves nothing by half. */
#include "db/cluster.h"

#include "db/cluster_process.h"
#include "db/connection.h"
#include "server/base/log.h"
#include "server/base/timestamp.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LEFTOVER_WAIT_MS 30000
#define LOCK_WAIT_MS     5000 /* a killed server needs a moment to be gone */
#define RESTART_PAUSE_US (INT64_C(3) * 1000000)
#define INITDB_WAIT_MS   300000
#define START_WAIT_MS    600000 /* crash recovery replays what is there */
#define CREATE_WAIT_MS   120000
#define LOG_ROTATE_BYTES (10L << 20)

struct db_cluster {
    struct cluster_owner owner;
    char *state_dir; /* absolute */
    char *data_dir;
    char *socket_dir;
    char *log_path;
    char *programs;
    char *url;
    pid_t pid;
    int lock;
    int64_t started_at_us; /* monotonic: when the postmaster was last started */
};

static void pause_ms(int milliseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000L}, NULL);
}

static void free_cluster(struct db_cluster *cluster)
{
    if (cluster->lock >= 0)
        close(cluster->lock);
    free(cluster->state_dir);
    free(cluster->data_dir);
    free(cluster->socket_dir);
    free(cluster->log_path);
    free(cluster->programs);
    free(cluster->url);
    free(cluster);
}

static bool wait_for_lock(int lock)
{
    for (int waited_ms = 0; flock(lock, LOCK_EX | LOCK_NB) != 0; waited_ms += 20) {
        if (waited_ms >= LOCK_WAIT_MS)
            return false;
        pause_ms(20);
    }
    return true;
}

/* Locks the state directory; false and a sentence where another has it. */
static bool lock_state(struct db_cluster *cluster, char **ret_error)
{
    char *path = cluster_format("%s/lock", cluster->state_dir);
    cluster->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (cluster->lock < 0)
        *ret_error = cluster_format("can't open %s: %s. Run as the user who owns it, or choose "
                                    "another with RACKRATE_STATE_DIR",
                                    path, strerror(errno));
    else if (!wait_for_lock(cluster->lock))
        *ret_error =
            cluster_format("%s is in use by another server. Stop that one, or choose another "
                           "directory with RACKRATE_STATE_DIR",
                           cluster->state_dir);
    free(path);
    return *ret_error == NULL;
}

static bool open_state(struct db_cluster *cluster, const char *state_dir, char **ret_error)
{
    char real[PATH_MAX];
    if (!cluster_make_directory(state_dir, 0755) || realpath(state_dir, real) == NULL) {
        *ret_error =
            cluster_format("can't make the state directory %s: %s", state_dir, strerror(errno));
        return false;
    }
    cluster->state_dir = xstrdup(real);
    cluster->data_dir = cluster_format("%s/postgres", real);
    cluster->log_path = cluster_format("%s/postgresql.log", real);
    if (!cluster_owner_find(cluster->data_dir, &cluster->owner, ret_error) ||
        !lock_state(cluster, ret_error))
        return false;
    char *blocked = cluster_blocked_at(&cluster->owner, real);
    if (blocked == NULL)
        return true;
    *ret_error = cluster_format("PostgreSQL runs as another user than root, who may not pass "
                                "through %s: allow it (chmod o+x), or choose another directory "
                                "with RACKRATE_STATE_DIR",
                                blocked);
    free(blocked);
    return false;
}

/* What a killed run left: given time to end by itself, then ended. Nobody else may use the data
 * while the lock is held here. */
static bool clear_leftovers(struct db_cluster *cluster, char **ret_error)
{
    struct postmaster_file file;
    if (!postmaster_file_read(cluster->data_dir, &file) ||
        !postmaster_is_alive(cluster->data_dir, file.pid))
        return true;
    log_info("waiting for the database of a run that was killed", "pid=%d", (int)file.pid);
    for (int waited_ms = 0; waited_ms < LEFTOVER_WAIT_MS; waited_ms += 20) {
        if (!postmaster_is_alive(cluster->data_dir, file.pid))
            return true;
        pause_ms(20);
    }
    cluster_stop_process(cluster->data_dir, file.pid);
    if (!postmaster_is_alive(cluster->data_dir, file.pid))
        return true;
    *ret_error = cluster_format("process %d still uses %s and can't be stopped", (int)file.pid,
                                cluster->data_dir);
    return false;
}

/* The major version of the data, 0 where there are none. */
static int data_major(const struct db_cluster *cluster)
{
    char *path = cluster_format("%s/PG_VERSION", cluster->data_dir);
    char *text = cluster_read_file(path, 16);
    free(path);
    int major = text == NULL ? 0 : atoi(text);
    free(text);
    return major;
}

static bool find_programs(struct db_cluster *cluster, int major, char **ret_error)
{
    int found = 0;
    cluster->programs = cluster_programs_find(major, &found);
    if (cluster->programs != NULL)
        return true;
    char *other = cluster_programs_find(0, &found);
    if (other == NULL)
        *ret_error = xstrdup("PostgreSQL's initdb and postgres are not installed: "
                             "apt-get install postgresql-15");
    else
        *ret_error = cluster_format(
            "the data in %s are of PostgreSQL %d, installed is %d. Install postgresql-%d, or move "
            "the data with pg_upgrade",
            cluster->data_dir, major, found, major);
    free(other);
    return false;
}

static bool run_initdb(struct db_cluster *cluster, const char *directory, char **ret_error)
{
    char *program = cluster_format("%s/initdb", cluster->programs);
    const char *const arguments[] = {program,
                                     "-D",
                                     directory,
                                     "--username=rackrate",
                                     "--encoding=UTF8",
                                     "--locale=C",
                                     "--data-checksums",
                                     "--auth-local=trust",
                                     "--auth-host=reject",
                                     NULL};
    bool good = false;
    pid_t pid = cluster_spawn(&cluster->owner, program, arguments, cluster->log_path);
    if (pid > 0 && !cluster_wait(pid, INITDB_WAIT_MS, &good)) {
        kill(pid, SIGKILL);
        (void)cluster_wait(pid, 5000, NULL);
    }
    free(program);
    if (!good)
        *ret_error = cluster_explain("can't make the database cluster", cluster->log_path);
    return good;
}

static bool make_cluster(struct db_cluster *cluster, char **ret_error)
{
    char *directory = cluster_format("%s/postgres.new", cluster->state_dir);
    bool good = cluster_remove_tree(directory) && mkdir(directory, 0700) == 0 &&
                cluster_give(&cluster->owner, directory);
    if (!good)
        *ret_error = cluster_format("can't make %s: %s", directory, strerror(errno));
    else
        log_info("making the private database cluster", "directory=\"%s\"", cluster->data_dir);
    good = good && run_initdb(cluster, directory, ret_error);
    if (good && rename(directory, cluster->data_dir) != 0) {
        *ret_error = cluster_format("can't move %s into place: %s", directory, strerror(errno));
        good = false;
    }
    int parent = good ? open(cluster->state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (parent >= 0) {
        fsync(parent);
        close(parent);
    }
    free(directory);
    return good;
}

static bool make_socket_dir(struct db_cluster *cluster, char **ret_error)
{
    cluster->socket_dir = cluster_socket_dir(&cluster->owner, cluster->state_dir);
    if (cluster->socket_dir == NULL) {
        *ret_error =
            cluster_format("can't make a directory for the database's socket: %s", strerror(errno));
        return false;
    }
    cluster->url = cluster_socket_url(cluster->socket_dir);
    return true;
}

static void rotate_log(const struct db_cluster *cluster)
{
    struct stat facts;
    if (stat(cluster->log_path, &facts) != 0 || facts.st_size < LOG_ROTATE_BYTES)
        return;
    char *old = cluster_format("%s.1", cluster->log_path);
    (void)rename(cluster->log_path, old);
    free(old);
}

static pid_t spawn_postmaster(const struct db_cluster *cluster)
{
    char *program = cluster_format("%s/postgres", cluster->programs);
    char *sockets = cluster_format("unix_socket_directories=%s", cluster->socket_dir);
    static const char *const settings[] = {
        "listen_addresses=", "port=5432", "unix_socket_permissions=0700", "cluster_name=rackrate",
        "max_connections=64", "shared_buffers=64MB", "work_mem=8MB", "maintenance_work_mem=64MB",
        "max_wal_size=1GB", "min_wal_size=80MB", "wal_compression=on",
        "checkpoint_completion_target=0.9", "max_parallel_workers_per_gather=0", "jit=off",
        /* What was acknowledged is on disk; nothing in a configuration file changes that. */
        "fsync=on", "full_page_writes=on", "synchronous_commit=on", "logging_collector=off",
        "log_destination=stderr", "log_line_prefix=%m [%p] ", "log_checkpoints=off", "timezone=UTC",
        "log_timezone=UTC"};
    const size_t count = sizeof(settings) / sizeof(settings[0]);
    const char *arguments[2 * (sizeof(settings) / sizeof(settings[0])) + 6];
    size_t at = 0;
    arguments[at++] = program;
    arguments[at++] = "-D";
    arguments[at++] = cluster->data_dir;
    arguments[at++] = "-c";
    arguments[at++] = sockets;
    for (size_t i = 0; i < count; i++) {
        arguments[at++] = "-c";
        arguments[at++] = settings[i];
    }
    arguments[at] = NULL;
    pid_t pid = cluster_spawn(&cluster->owner, program, arguments, cluster->log_path);
    free(program);
    free(sockets);
    return pid;
}

void db_cluster_tend(struct db_cluster *cluster)
{
    int64_t now_us = monotonic_now_us();
    if (cluster->pid > 0 && cluster_wait(cluster->pid, 0, NULL)) {
        char *why = cluster_explain("the private database ended", cluster->log_path);
        log_error("starting the private database again", "reason=\"%s\"", why);
        free(why);
        cluster->pid = 0;
    }
    if (cluster->pid > 0 || now_us - cluster->started_at_us < RESTART_PAUSE_US)
        return;
    cluster->started_at_us = now_us;
    cluster->pid = spawn_postmaster(cluster);
}

/* Waits until the postmaster says that it is ready; false when it ended. */
static bool wait_ready(const struct db_cluster *cluster)
{
    for (int waited_ms = 0; waited_ms < START_WAIT_MS; waited_ms += 5) {
        struct postmaster_file file;
        if (postmaster_file_read(cluster->data_dir, &file) && file.pid == cluster->pid &&
            file.ready)
            return true;
        if (cluster_wait(cluster->pid, 0, NULL))
            return false;
        if (waited_ms > 0 && waited_ms % 5000 == 0)
            log_info("the database is still recovering", NULL);
        pause_ms(5);
    }
    return false;
}

/* Children of a postmaster that was killed may hold its memory for a moment longer. */
static bool start_postmaster(struct db_cluster *cluster, char **ret_error)
{
    for (int waited_ms = 0;; waited_ms += 200) {
        cluster->pid = spawn_postmaster(cluster);
        if (cluster->pid > 0 && wait_ready(cluster))
            return true;
        if (cluster->pid > 0)
            cluster_stop_process(cluster->data_dir, cluster->pid);
        char *tail = cluster_read_file(cluster->log_path, 1000);
        bool busy = tail != NULL && (strstr(tail, "pre-existing shared memory block") != NULL ||
                                     strstr(tail, "lock file \"postmaster.pid\"") != NULL);
        free(tail);
        if (!busy || waited_ms >= LEFTOVER_WAIT_MS)
            break;
        pause_ms(200);
    }
    *ret_error = cluster_explain("PostgreSQL does not start", cluster->log_path);
    return false;
}

/* Makes the database `rackrate` at the first start; a start that was killed before is made good. */
static bool make_database(const struct db_cluster *cluster, char **ret_error)
{
    struct db_connection *connection = db_connect(cluster->url, ret_error);
    if (connection != NULL) {
        db_disconnect(connection);
        return true;
    }
    free(*ret_error);
    *ret_error = NULL;
    char *host = strstr(cluster->url, "?");
    char *url = cluster_format("postgresql:///postgres%s", host);
    connection = db_connect(url, ret_error);
    free(url);
    if (connection == NULL)
        return false;
    bool good = db_run_script(connection, "CREATE DATABASE rackrate TEMPLATE template0",
                              CREATE_WAIT_MS, NULL, ret_error) == DB_OK;
    db_disconnect(connection);
    return good;
}

struct db_cluster *db_cluster_start(const char *state_dir, char **ret_error)
{
    struct db_cluster *cluster = xcalloc(1, sizeof(*cluster));
    cluster->lock = -1;
    *ret_error = NULL;
    bool good = open_state(cluster, state_dir, ret_error) && clear_leftovers(cluster, ret_error);
    int major = good ? data_major(cluster) : 0;
    good = good && find_programs(cluster, major, ret_error) &&
           (major != 0 || make_cluster(cluster, ret_error)) && make_socket_dir(cluster, ret_error);
    if (good) {
        rotate_log(cluster);
        good = start_postmaster(cluster, ret_error);
    }
    if (good && !make_database(cluster, ret_error)) {
        cluster_stop_process(cluster->data_dir, cluster->pid);
        good = false;
    }
    if (good)
        return cluster;
    free_cluster(cluster);
    return NULL;
}

const char *db_cluster_url(const struct db_cluster *cluster)
{
    return cluster->url;
}

pid_t db_cluster_pid(const struct db_cluster *cluster)
{
    return cluster->pid;
}

void db_cluster_stop(struct db_cluster *cluster)
{
    if (cluster == NULL)
        return;
    if (cluster->pid > 0)
        cluster_stop_process(cluster->data_dir, cluster->pid);
    free_cluster(cluster);
}

char *db_cluster_running_url(const char *state_dir)
{
    char *path = cluster_format("%s/lock", state_dir);
    int lock = open(path, O_RDONLY | O_CLOEXEC);
    free(path);
    if (lock < 0)
        return NULL;
    bool held = flock(lock, LOCK_SH | LOCK_NB) != 0;
    close(lock);
    char *data_dir = cluster_format("%s/postgres", state_dir);
    struct postmaster_file file;
    char *url = NULL;
    if (held && postmaster_file_read(data_dir, &file) && file.ready &&
        postmaster_is_alive(data_dir, file.pid))
        url = cluster_socket_url(file.socket_dir);
    free(data_dir);
    return url;
}

bool db_cluster_reachable(const char *state_dir)
{
    char *data_dir = cluster_format("%s/postgres", state_dir);
    char *error = NULL;
    struct cluster_owner owner;
    bool good = cluster_owner_find(data_dir, &owner, &error);
    free(data_dir);
    free(error);
    if (!good)
        return false;
    /* The nearest directory that is there. */
    char real[PATH_MAX], *path = xstrdup(*state_dir == '\0' ? "." : state_dir);
    while (realpath(path, real) == NULL && errno == ENOENT) {
        char *slash = strrchr(path, '/');
        if (slash == NULL)
            strcpy(path, ".");
        else if (slash == path)
            path[1] = '\0';
        else
            *slash = '\0';
        if (slash == NULL && realpath(path, real) == NULL)
            break;
    }
    free(path);
    char *blocked = cluster_blocked_at(&owner, real);
    good = blocked == NULL && (owner.change || access(real, W_OK) == 0);
    free(blocked);
    return good;
}
