/* Opening, closing and renewing a connection; transactions; the epoch. What is set here is set on
 * every connection alike, again after each reconnect, since a new session remembers nothing. */
#include "db/connection.h"
#include "server/base/log.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* lock_timeout is shorter than what a client waits (STATEMENT_WRITE, db/run.c), so that waiting for
 * a lock ends with an answer. client_connection_check_interval ends what runs for somebody who hung
 * up. */
#define SETTINGS_WAIT_MS 5000
static const char session_settings[] =
    "SET statement_timeout = '120s'; SET lock_timeout = '6s'; "
    "SET idle_in_transaction_session_timeout = '60s'; SET client_connection_check_interval = '2s'; "
    "SET default_transaction_isolation = 'read committed'; SET jit = off; "
    "SELECT set_config('synchronous_commit', 'on', false) "
    "WHERE current_setting('synchronous_commit') = 'off'";

/* Warnings of the server go to the log, not to standard error. */
static void take_notice(void *closure, const PGresult *result)
{
    (void)closure;
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    log_debug("notice from the database", "text=\"%s\"", text == NULL ? "" : text);
}

static PGconn *open_connection(const char *url)
{
    /* Later keywords win: the first are defaults that the URL may change, the last are not. */
    const char *const keywords[] = {"connect_timeout",           "tcp_user_timeout",
                                    "keepalives_idle",           "keepalives_interval",
                                    "keepalives_count",          "target_session_attrs",
                                    "fallback_application_name", "dbname",
                                    "client_encoding",           NULL};
    const char *const values[] = {"3",          "10000",    "10", "5",    "3",
                                  "read-write", "rackrate", url,  "UTF8", NULL};
    return PQconnectdbParams(keywords, values, 1);
}

static bool prepare_session(struct db_connection *connection, char **ret_error)
{
    if (PQstatus(connection->pg) != CONNECTION_OK) {
        *ret_error = xstrdup(PQerrorMessage(connection->pg));
        return false;
    }
    PQsetNoticeReceiver(connection->pg, take_notice, NULL);
    if (PQsetnonblocking(connection->pg, 1) != 0) {
        *ret_error = xstrdup("out of memory");
        return false;
    }
    return db_run_script(connection, session_settings, SETTINGS_WAIT_MS, NULL, ret_error) == DB_OK;
}

/* Replaces the connection's session by a new one. */
static bool renew(struct db_connection *connection, char **ret_error)
{
    if (connection->pg != NULL)
        PQfinish(connection->pg);
    memset(connection->prepared, 0, sizeof(connection->prepared));
    memset(connection->oids, 0, sizeof(connection->oids));
    connection->pg = open_connection(connection->url);
    if (connection->pg == NULL) {
        *ret_error = xstrdup("out of memory");
        return false;
    }
    if (prepare_session(connection, ret_error))
        return true;
    if (connection->pg != NULL)
        PQfinish(connection->pg);
    connection->pg = NULL;
    return false;
}

struct db_connection *db_connect(const char *url, char **ret_error)
{
    struct db_connection *connection = xcalloc(1, sizeof(*connection));
    connection->url = xstrdup(url);
    char *error = NULL;
    if (renew(connection, &error)) {
        return connection;
    }
    size_t length = strlen(error);
    while (length > 0 && error[length - 1] == '\n')
        error[--length] = '\0';
    *ret_error = error;
    db_disconnect(connection);
    return NULL;
}

void db_disconnect(struct db_connection *connection)
{
    if (connection == NULL)
        return;
    if (connection->pg != NULL)
        PQfinish(connection->pg);
    free(connection->url);
    free(connection);
}

bool db_is_broken(const struct db_connection *connection)
{
    return connection->pg == NULL;
}

static bool is_on(const struct db_connection *connection, const char *parameter)
{
    const char *value = PQparameterStatus(connection->pg, parameter);
    return value != NULL && strcmp(value, "on") == 0;
}

bool db_is_read_only(const struct db_connection *connection)
{
    return connection->pg != NULL && (is_on(connection, "in_hot_standby") ||
                                      is_on(connection, "default_transaction_read_only"));
}

bool db_reconnect(struct db_connection *connection)
{
    char *error = NULL;
    if (renew(connection, &error))
        return true;
    log_debug("can't reach the database", "error=\"%s\"", error);
    free(error);
    return false;
}

bool db_in_transaction(const struct db_connection *connection)
{
    return connection->pg != NULL && PQtransactionStatus(connection->pg) != PQTRANS_IDLE;
}

enum db_status db_begin(struct db_connection *connection)
{
    return db_run(connection, STATEMENT_BEGIN, NULL, 0, NULL);
}

enum db_status db_commit(struct db_connection *connection)
{
    if (connection->pg == NULL)
        return DB_UNAVAILABLE;
    /* COMMIT of a failed transaction answers ROLLBACK and no error: never take that for success. */
    bool failed = PQtransactionStatus(connection->pg) != PQTRANS_INTRANS;
    enum db_status status = db_run(connection, STATEMENT_COMMIT, NULL, 0, NULL);
    return status == DB_OK && failed ? DB_FAILED : status;
}

void db_rollback(struct db_connection *connection)
{
    if (db_in_transaction(connection))
        (void)db_run(connection, STATEMENT_ROLLBACK, NULL, 0, NULL);
}

enum db_status db_begin_own(struct db_connection *connection, bool *ret_own)
{
    *ret_own = !db_in_transaction(connection);
    return *ret_own ? db_begin(connection) : DB_OK;
}

enum db_status db_end_own(struct db_connection *connection, bool own, enum db_status status)
{
    if (!own)
        return status;
    if (status == DB_OK)
        return db_commit(connection);
    db_rollback(connection);
    return status;
}

enum db_status db_cluster_epoch(struct db_connection *connection, char out[static 64])
{
    PGresult *result;
    struct db_row row;
    enum db_status status = db_run_one(connection, STATEMENT_EPOCH, NULL, &result, &row);
    if (status != DB_OK)
        return status == DB_NONE ? DB_FAILED : status;
    size_t length;
    const char *bytes = row_bytes(&row, &length);
    snprintf(out, 64, "%.*s", (int)length, bytes == NULL ? "" : bytes);
    db_result_free(result);
    return DB_OK;
}
