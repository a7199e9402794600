/* Running statements: libpq without blocking, every wait under a deadline. A statement is prepared
 * on its connection when it is first used. Errors become a db_status here and nowhere else. */
#include "db/connection.h"
#include "server/base/log.h"
#include "server/base/timestamp.h"

#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define READ_DEADLINE_MS 5000
#define WRITE_DEADLINE_MS                                                                          \
    9000              /* over lock_timeout (db/connect.c), so that a lock's answer is heard */
#define ROWS_PER_MS 5 /* a slow server writes more than so many a millisecond */

/* Closes the connection: its state is unknown or useless. The socket is shut first, so that nothing
 * can wait on a dead peer. */
static enum db_status give_up(struct db_connection *connection, const char *why)
{
    if (connection->pg != NULL) {
        log_warning("lost the database connection", "why=\"%s\"", why);
        int socket = PQsocket(connection->pg);
        if (socket >= 0)
            shutdown(socket, SHUT_RDWR);
        PQfinish(connection->pg);
        connection->pg = NULL;
    }
    return DB_UNAVAILABLE;
}

/* What an SQLSTATE means for the caller. The first two characters are the class. */
static enum db_status classify(const char *state, bool *ret_dead)
{
    *ret_dead = false;
    if (state == NULL) {
        *ret_dead = true;
        return DB_UNAVAILABLE;
    }
    static const char *const retry[] = {"40001", "40P01", "55P03"};
    for (size_t i = 0; i < sizeof(retry) / sizeof(retry[0]); i++) {
        if (strcmp(state, retry[i]) == 0)
            return DB_RETRY;
    }
    if (strcmp(state, "23505") == 0 || strcmp(state, "23P01") == 0)
        return DB_CONFLICT;
    /* A session that cannot serve any more: shutdown, idle too long, read-only after a failover,
     * statements forgotten or made for an older schema. */
    static const char *const dead[] = {"57P01", "57P02", "57P03", "57P05",
                                       "25P03", "25006", "26000", "0A000"};
    for (size_t i = 0; i < sizeof(dead) / sizeof(dead[0]); i++) {
        if (strcmp(state, dead[i]) == 0) {
            *ret_dead = true;
            return DB_UNAVAILABLE;
        }
    }
    if (strncmp(state, "08", 2) == 0) {
        *ret_dead = true;
        return DB_UNAVAILABLE;
    }
    if (strncmp(state, "53", 2) == 0 || strcmp(state, "57014") == 0 || strcmp(state, "58030") == 0)
        return DB_UNAVAILABLE; /* disk full, out of memory, cancelled by a timeout, I/O error */
    return DB_FAILED;
}

/* Logs and classifies an error result, and frees it. */
static enum db_status fail(struct db_connection *connection, const char *name, PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *constraint = PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME);
    char message[300];
    snprintf(message, sizeof(message), "%s", text == NULL ? "" : text);
    for (char *quote = message; (quote = strchr(quote, '"')) != NULL;)
        *quote = '\'';
    bool dead;
    enum db_status status = classify(state, &dead);
    if (status == DB_FAILED || (status == DB_UNAVAILABLE && !dead))
        log_error("the database refused a statement",
                  "statement=%s sqlstate=%s constraint=\"%s\" text=\"%s\"", name,
                  state == NULL ? "none" : state, constraint == NULL ? "" : constraint, message);
    if (dead)
        status = give_up(connection, state == NULL ? "no answer" : state);
    PQclear(result);
    return status;
}

/* Waits until the socket is ready; false after `limit_ms` without a sign of life or on an error. */
static bool wait_socket(const struct db_connection *connection, short events, int64_t limit_ms)
{
    struct pollfd descriptor = {.fd = PQsocket(connection->pg), .events = events};
    int64_t deadline = monotonic_now_us() + limit_ms * 1000;
    for (;;) {
        int64_t left_ms = (deadline - monotonic_now_us() + 999) / 1000;
        if (left_ms < 0)
            left_ms = 0;
        int ready = poll(&descriptor, 1, (int)left_ms);
        if (ready > 0)
            return true;
        if (ready == 0 || errno != EINTR)
            return false;
    }
}

/* Sends what is buffered. */
static bool flush(const struct db_connection *connection, int64_t limit_ms)
{
    int left;
    while ((left = PQflush(connection->pg)) == 1) {
        if (!wait_socket(connection, POLLIN | POLLOUT, limit_ms))
            return false;
        if (PQconsumeInput(connection->pg) == 0)
            return false;
    }
    return left == 0;
}

/* The next result, NULL after the last; false when the server is gone. */
static bool next_result(const struct db_connection *connection, int64_t limit_ms, PGresult **ret)
{
    while (PQisBusy(connection->pg) == 1) {
        if (!wait_socket(connection, POLLIN, limit_ms) || PQconsumeInput(connection->pg) == 0)
            return false;
    }
    *ret = PQgetResult(connection->pg);
    return true;
}

static bool is_error(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE ||
           status == PGRES_NONFATAL_ERROR;
}

/* Reads results up to the end; the first good one (or the error) decides. COPY ends the reading
 * early. */
static enum db_status finish(struct db_connection *connection, const char *name, int64_t limit_ms,
                             PGresult **ret_result)
{
    PGresult *kept = NULL, *result;
    for (;;) {
        if (!next_result(connection, limit_ms, &result)) {
            PQclear(kept);
            return give_up(connection, "no sign of life within the deadline");
        }
        if (result == NULL)
            break;
        if (kept == NULL || (is_error(result) && !is_error(kept))) {
            PQclear(kept);
            kept = result;
        } else {
            PQclear(result);
        }
        if (PQresultStatus(kept) == PGRES_COPY_IN)
            break;
    }
    if (kept == NULL)
        return give_up(connection, "no result");
    if (is_error(kept))
        return fail(connection, name, kept);
    if (PQstatus(connection->pg) != CONNECTION_OK) {
        PQclear(kept);
        return give_up(connection, "closed by the server");
    }
    if (ret_result != NULL)
        *ret_result = kept;
    else
        PQclear(kept);
    return DB_OK;
}

static int64_t deadline_of(enum statement statement, size_t rows)
{
    int64_t base =
        statement_table[statement].class == STATEMENT_READ ? READ_DEADLINE_MS : WRITE_DEADLINE_MS;
    return base + (int64_t)(rows / ROWS_PER_MS);
}

enum db_status db_prepare(struct db_connection *connection, enum statement statement)
{
    if (connection->pg == NULL)
        return DB_UNAVAILABLE;
    const struct statement_text *text = &statement_table[statement];
    if (connection->prepared[statement])
        return DB_OK;
    if (PQsendPrepare(connection->pg, text->name, text->sql, 0, NULL) == 0 ||
        !flush(connection, READ_DEADLINE_MS))
        return give_up(connection, "can't send");
    /* Parsing takes locks on the tables it names. */
    enum db_status status = finish(connection, text->name, WRITE_DEADLINE_MS, NULL);
    connection->prepared[statement] = status == DB_OK;
    return status;
}

/* Prepares if need be and sends the statement with its parameters. */
static enum db_status send_statement(struct db_connection *connection, enum statement statement,
                                     const struct db_params *params, int64_t limit_ms)
{
    if (connection->pg == NULL)
        return DB_UNAVAILABLE;
    enum db_status status = db_prepare(connection, statement);
    if (status != DB_OK)
        return status;
    const char *values[PARAMS_MAX];
    int lengths[PARAMS_MAX];
    int count = params == NULL ? 0 : params->count;
    for (int i = 0; i < count; i++) {
        values[i] = params->lengths[i] < 0       ? NULL
                    : params->bytes.data == NULL ? ""
                                                 : params->bytes.data + params->offsets[i];
        lengths[i] = params->lengths[i] < 0 ? 0 : params->lengths[i];
    }
    if (PQsendQueryPrepared(connection->pg, statement_table[statement].name, count, values, lengths,
                            params == NULL ? NULL : params->formats, 1) == 0 ||
        !flush(connection, limit_ms))
        return give_up(connection, "can't send");
    return DB_OK;
}

enum db_status db_run(struct db_connection *connection, enum statement statement,
                      const struct db_params *params, size_t rows, PGresult **ret_result)
{
    int64_t limit_ms = deadline_of(statement, rows);
    enum db_status status = send_statement(connection, statement, params, limit_ms);
    if (status != DB_OK)
        return status;
    return finish(connection, statement_table[statement].name, limit_ms, ret_result);
}

enum db_status db_run_one(struct db_connection *connection, enum statement statement,
                          const struct db_params *params, PGresult **ret_result,
                          struct db_row *ret_row)
{
    enum db_status status = db_run(connection, statement, params, 0, ret_result);
    if (status != DB_OK)
        return status;
    if (PQntuples(*ret_result) == 0) {
        PQclear(*ret_result);
        return DB_NONE;
    }
    *ret_row = (struct db_row){.result = *ret_result};
    return DB_OK;
}

enum db_status db_run_each(struct db_connection *connection, enum statement statement,
                           const struct db_params *params, size_t rows,
                           bool (*take)(void *closure, struct db_row *row), void *closure)
{
    int64_t limit_ms = deadline_of(statement, rows);
    enum db_status status = send_statement(connection, statement, params, limit_ms);
    if (status != DB_OK)
        return status;
    if (PQsetSingleRowMode(connection->pg) == 0)
        return give_up(connection, "no single-row mode");
    PGresult *result, *error = NULL;
    bool good = true;
    for (;;) {
        if (!next_result(connection, limit_ms, &result)) {
            PQclear(error);
            return give_up(connection, "no sign of life within the deadline");
        }
        if (result == NULL)
            break;
        if (is_error(result) && error == NULL) {
            error = result;
            continue;
        }
        for (int i = 0; good && i < PQntuples(result); i++)
            good = take(closure, &(struct db_row){.result = result, .row = i});
        PQclear(result);
    }
    if (error != NULL)
        return fail(connection, statement_table[statement].name, error);
    if (!good)
        log_error("a stored row is not what this program writes", "statement=%s",
                  statement_table[statement].name);
    return good ? DB_OK : DB_FAILED;
}

/* The first value of a result that has rows. */
static void keep_value(const PGresult *result, char **ret_value)
{
    if (ret_value == NULL || PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) == 0)
        return;
    free(*ret_value);
    *ret_value = xstrdup(PQgetvalue(result, 0, 0));
}

enum db_status db_run_script(struct db_connection *connection, const char *sql, int64_t limit_ms,
                             char **ret_value, char **ret_error)
{
    if (connection->pg == NULL)
        return DB_UNAVAILABLE;
    if (PQsendQuery(connection->pg, sql) == 0 || !flush(connection, limit_ms)) {
        *ret_error = xstrdup("the database closed the connection");
        return give_up(connection, "can't send");
    }
    PGresult *result, *error = NULL;
    for (;;) {
        if (!next_result(connection, limit_ms, &result)) {
            PQclear(error);
            *ret_error = xstrdup("the database does not answer");
            return give_up(connection, "no sign of life within the deadline");
        }
        if (result == NULL)
            break;
        if (is_error(result) && error == NULL) {
            error = result;
            continue;
        }
        keep_value(result, ret_value);
        PQclear(result);
    }
    if (error == NULL)
        return DB_OK;
    *ret_error = xstrdup(PQresultErrorMessage(error));
    return fail(connection, "script", error);
}

enum db_status db_copy_begin(struct db_connection *connection, enum statement statement,
                             struct buf *out)
{
    static const char signature[] = "PGCOPY\n\377\r\n";
    buf_clear(out);
    buf_add(out, signature, sizeof(signature)); /* with its NUL */
    wire_raw32(out, 0);                         /* flags */
    wire_raw32(out, 0);                         /* no header extension */
    return db_run(connection, statement, NULL, 0, NULL);
}

#define COPY_CHUNK_BYTES ((size_t)64 << 10)

static enum db_status copy_send(struct db_connection *connection, struct buf *out)
{
    if (connection->pg == NULL)
        return DB_UNAVAILABLE;
    if (out->length > 0 && (PQputCopyData(connection->pg, out->data, (int)out->length) != 1 ||
                            !flush(connection, WRITE_DEADLINE_MS)))
        return give_up(connection, "can't send rows");
    buf_clear(out);
    return DB_OK;
}

enum db_status db_copy_row(struct db_connection *connection, struct buf *out, unsigned columns)
{
    enum db_status status = DB_OK;
    if (out->length >= COPY_CHUNK_BYTES)
        status = copy_send(connection, out);
    wire_raw16(out, (uint16_t)columns);
    return status;
}

enum db_status db_copy_end(struct db_connection *connection, struct buf *out, size_t rows)
{
    wire_raw16(out, UINT16_MAX);
    enum db_status status = copy_send(connection, out);
    if (status != DB_OK)
        return status;
    int64_t limit_ms = WRITE_DEADLINE_MS + (int64_t)(rows / ROWS_PER_MS);
    if (PQputCopyEnd(connection->pg, NULL) != 1 || !flush(connection, limit_ms))
        return give_up(connection, "can't end rows");
    return finish(connection, "copy", limit_ms, NULL);
}

void db_result_free(PGresult *result)
{
    PQclear(result);
}

size_t db_result_rows(const PGresult *result)
{
    return (size_t)PQntuples(result);
}

int64_t db_result_affected(PGresult *result)
{
    return strtoll(PQcmdTuples(result), NULL, 10);
}
