/* Databases for tests. The template is made under a name of its own and then renamed, so that of
 * several test programs that make it at once one wins and all get a whole one. */
#include "tests/support/test_database.h"

#include "db/connection.h"
#include "db/migrate.h"
#include "server/base/asset.h"
#include "server/base/crypto.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 60000
#define TRIES   600

/* No criterion here: benchmarks and race programs link this too. An aborted test is a failed one.
 */
static void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    abort();
}

static char database_name[64];
static char *database_url;

/* Named after what it holds, so that a server that outlives a change of the migrations serves no
 * stale copy. */
static const char *template_name(void)
{
    static char name[64];
    unsigned char hash[16];
    char hex[2 * sizeof(hash) + 1];
    struct crypt_hasher hasher;
    crypt_hasher_init(&hasher, sizeof(hash));
    for (const struct asset *asset = asset_table; asset->path != NULL; asset++) {
        if (strncmp(asset->path, "migrations/", 11) == 0)
            crypt_hasher_add(&hasher, asset->start, asset_size(asset));
    }
    crypt_hasher_finish(&hasher, hash);
    crypt_hex(hash, sizeof(hash), hex);
    snprintf(name, sizeof(name), "rackrate_template_%.12s", hex);
    return name;
}

static const char *server_url(void)
{
    const char *url = getenv("RACKRATE_TEST_DATABASE_URL");
    if (url == NULL || *url == '\0')
        die("no RACKRATE_TEST_DATABASE_URL: start a server with tests/tools/pg.sh");
    return url;
}

/* The server's URL with another database's name in its path. */
static char *url_of(const char *name)
{
    const char *url = server_url();
    const char *host = strstr(url, "://");
    const char *path = host == NULL ? NULL : strchr(host + 3, '/');
    if (path == NULL)
        die("RACKRATE_TEST_DATABASE_URL is no URL with a database in its path");
    const char *query = strchr(path, '?');
    char *result;
    if (asprintf(&result, "%.*s/%s%s", (int)(path - url), url, name, query == NULL ? "" : query) <
        0)
        abort();
    return result;
}

static struct db_connection *connect_or_abort(const char *url)
{
    char *error = NULL;
    struct db_connection *connection = db_connect(url, &error);
    if (connection == NULL)
        die("can't connect to the test database: %s", error);
    return connection;
}

/* Runs SQL and forgives; true where it went through. */
static bool try_sql(struct db_connection *connection, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool try_sql(struct db_connection *connection, const char *format, ...)
{
    char sql[300], *error = NULL;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sql, sizeof(sql), format, arguments);
    va_end(arguments);
    bool good = db_run_script(connection, sql, WAIT_MS, NULL, &error) == DB_OK;
    free(error);
    return good;
}

static void make_template(struct db_connection *server)
{
    char name[64];
    snprintf(name, sizeof(name), "rackrate_template_%d", (int)getpid());
    if (!try_sql(server, "CREATE DATABASE %s TEMPLATE template0", name))
        die("can't create a database for tests");
    char *url = url_of(name), *error = NULL;
    struct db_connection *connection = connect_or_abort(url);
    int applied;
    if (!db_migrate(connection, &applied, &error))
        die("can't migrate the template: %s", error);
    db_disconnect(connection);
    free(url);
    for (int i = 0; i < TRIES; i++) {
        if (try_sql(server, "ALTER DATABASE %s RENAME TO %s", name, template_name()))
            return;
        if (try_sql(server, "DROP DATABASE %s", name))
            return; /* another program was first */
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
}

static const char *make(const char *template)
{
    if (!crypt_init())
        abort();
    test_database_drop();
    struct db_connection *server = connect_or_abort(server_url());
    unsigned char random[8];
    char hex[2 * sizeof(random) + 1];
    crypt_random(random, sizeof(random));
    crypt_hex(random, sizeof(random), hex);
    snprintf(database_name, sizeof(database_name), "rackrate_test_%s", hex);
    bool good = false;
    /* A template that somebody else copies or makes just now is busy for a moment. */
    for (int i = 0; i < TRIES && !good; i++) {
        good = try_sql(server, "CREATE DATABASE %s TEMPLATE %s", database_name, template);
        if (!good && i == 0 && strcmp(template, "template0") != 0)
            make_template(server);
        else if (!good)
            nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    db_disconnect(server);
    if (!good)
        die("can't create a database for this test");
    database_url = url_of(database_name);
    return database_url;
}

const char *test_database_new(void)
{
    if (!crypt_init())
        abort();
    return make(template_name());
}

const char *test_database_new_empty(void)
{
    return make("template0");
}

void test_database_drop(void)
{
    if (database_url == NULL)
        return;
    struct db_connection *server = connect_or_abort(server_url());
    try_sql(server, "DROP DATABASE IF EXISTS %s WITH (FORCE)", database_name);
    db_disconnect(server);
    free(database_url);
    database_url = NULL;
}

struct db_connection *test_connect(const char *url)
{
    return connect_or_abort(url);
}

char *test_sql(struct db_connection *connection, const char *sql)
{
    char *value = NULL, *error = NULL;
    if (db_run_script(connection, sql, WAIT_MS, &value, &error) != DB_OK)
        die("%s\n%s", sql, error);
    return value;
}

int64_t test_sql_int(struct db_connection *connection, const char *sql)
{
    char *value = test_sql(connection, sql);
    if (value == NULL || *value == '\0')
        die("%s\ngave nothing", sql);
    int64_t number = strtoll(value, NULL, 10);
    free(value);
    return number;
}

const char *test_sql_refused(struct db_connection *connection, const char *sql)
{
    static char message[1000];
    char *error = NULL;
    enum db_status status = db_run_script(connection, sql, WAIT_MS, NULL, &error);
    snprintf(message, sizeof(message), "%s", status == DB_OK ? "" : error);
    free(error);
    return message;
}
