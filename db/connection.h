/* Inside db/: running statements on a connection with a deadline, and moving values in and out in
 * PostgreSQL's binary formats. A server that gives no sign of life for as long as a call allows is
 * given up: the connection is closed and the call says DB_UNAVAILABLE, since a stopped server
 * enforces no timeout of its own. */
#ifndef RACKRATE_DB_CONNECTION_H
#define RACKRATE_DB_CONNECTION_H

#include "db/db.h"
#include "db/statement.h"
#include "server/base/arena.h"
#include "server/base/buf.h"

struct pg_conn;   /* PGconn */
struct pg_result; /* PGresult */

enum type_oid { OID_BILLING, OID_PRICE_UNIT, OID_PRICE, OID_DELIVERY, OID_COUNT };

struct db_connection {
    struct pg_conn *pg; /* NULL once it was given up */
    char *url;
    bool prepared[STATEMENT_COUNT];
    uint32_t oids[OID_COUNT]; /* of this database's own types; 0 until first needed */
};

/* ---- parameters ---- */

#define PARAMS_MAX 20
struct db_params {
    struct buf bytes;
    size_t offsets[PARAMS_MAX];
    int lengths[PARAMS_MAX]; /* -1: NULL */
    int formats[PARAMS_MAX]; /* 1: binary */
    int count;
};
/* Each adds the next parameter ($1, $2, …). Unknown (-1, NULL, TIMESTAMP_UNKNOWN) becomes NULL.
 * params_free afterwards. */
void param_text(struct db_params *params, const char *text);
void param_bigint(struct db_params *params, int64_t value);
void param_integer(struct db_params *params, int32_t value);
void param_bool(struct db_params *params, int value);
void param_time(struct db_params *params, int64_t us);
void param_bytes(struct db_params *params, const void *bytes, size_t length);
/* One element at a time: param_array_begin, then wire_text or wire_bytes into params->bytes, then
 * param_array_end. */
void param_array_begin(struct db_params *params, uint32_t element_oid, size_t count);
void param_array_end(struct db_params *params);
void params_free(struct db_params *params);
#define TEXT_OID  25
#define BYTEA_OID 17

/* ---- binary values, as parameters of arrays and fields of COPY: length and bytes ---- */

void wire_null(struct buf *out);
void wire_raw32(struct buf *out, uint32_t value); /* without a length */
void wire_raw16(struct buf *out, uint16_t value);
void wire_bytes(struct buf *out, const void *bytes, size_t length);
void wire_text(struct buf *out, const char *text); /* NULL is NULL */
void wire_bigint(struct buf *out, int64_t value);  /* -1 is NULL */
void wire_integer(struct buf *out, int32_t value); /* -1 is NULL */
void wire_bool(struct buf *out, bool value);
void wire_time(struct buf *out, int64_t us); /* TIMESTAMP_UNKNOWN is NULL */

/* ---- results ---- */

/* A row of a binary result, read column by column in the statement's order. */
struct db_row {
    const struct pg_result *result;
    int row;
    int column;
};
/* The next column's bytes and length, or NULL of NULL. They live as long as the result. */
const char *row_bytes(struct db_row *row, size_t *ret_length);
int64_t row_bigint(struct db_row *row);                        /* NULL is -1 */
int32_t row_integer(struct db_row *row);                       /* NULL is -1 */
bool row_bool(struct db_row *row);                             /* NULL is false */
int row_tristate(struct db_row *row);                          /* NULL is -1 */
int64_t row_time(struct db_row *row);                          /* NULL is TIMESTAMP_UNKNOWN */
const char *row_text(struct db_row *row, struct arena *arena); /* NULL is NULL */
void row_uuid(struct db_row *row, char out[static 37]);
bool row_fixed_bytes(struct db_row *row, void *out, size_t length);
/* Microseconds of PostgreSQL's epoch, 2000-01-01, after ours. */
#define POSTGRES_EPOCH_US INT64_C(946684800000000)
uint32_t read32(const char *bytes);
uint64_t read64(const char *bytes);

/* ---- running ---- */

/* Runs a statement; *ret_result (NULL: not wanted) is freed by the caller with db_result_free.
 * `rows` is how many rows it may write, which lengthens its deadline; 0 for little. DB_OK also with
 * no row. */
enum db_status db_run(struct db_connection *connection, enum statement statement,
                      const struct db_params *params, size_t rows, struct pg_result **ret_result);
/* As db_run for one expected row: DB_NONE without. *ret_row points into *ret_result. */
enum db_status db_run_one(struct db_connection *connection, enum statement statement,
                          const struct db_params *params, struct pg_result **ret_result,
                          struct db_row *ret_row);
/* Runs a statement that may give very many rows and hands over each as it comes; `take` returns
 * false to say that a row is malformed (DB_FAILED). */
enum db_status db_run_each(struct db_connection *connection, enum statement statement,
                           const struct db_params *params, size_t rows,
                           bool (*take)(void *closure, struct db_row *row), void *closure);
/* Several statements in one text without parameters (a migration, settings), each wait for at most
 * limit_ms. *ret_value (where not NULL; start with NULL) becomes the first value of the last result
 * with rows, malloc'd; *ret_error the server's message, malloc'd. */
enum db_status db_run_script(struct db_connection *connection, const char *sql, int64_t limit_ms,
                             char **ret_value, char **ret_error);

/* Prepares one statement, unless it is prepared already; db_run does it by itself. */
enum db_status db_prepare(struct db_connection *connection, enum statement statement);

/* COPY … FROM STDIN in binary: begin, write as often as needed (out is emptied once it is large),
 * end. */
enum db_status db_copy_begin(struct db_connection *connection, enum statement statement,
                             struct buf *out);
enum db_status db_copy_row(struct db_connection *connection, struct buf *out, unsigned columns);
enum db_status db_copy_end(struct db_connection *connection, struct buf *out, size_t rows);

void db_result_free(struct pg_result *result);
size_t db_result_rows(const struct pg_result *result);
int64_t db_result_affected(struct pg_result *result);

/* Fills connection->oids. */
enum db_status db_type_oids(struct db_connection *connection);

/* Whether a transaction is open. */
bool db_in_transaction(const struct db_connection *connection);

/* A function that must be one transaction, whether or not its caller has one open: begins one if
 * there is none; ends it if it was begun here, by COMMIT where `status` is DB_OK, and gives the
 * status of the whole. */
enum db_status db_begin_own(struct db_connection *connection, bool *ret_own);
enum db_status db_end_own(struct db_connection *connection, bool own, enum db_status status);

/* Records who did what. `detail` is a JSON object; provider_id 0 for none. */
enum db_status db_audit(struct db_connection *connection, const char *actor, const char *action,
                        int64_t provider_id, const char *detail);
/* Bumps the counter `keys` or `reference`. */
enum db_status db_bump_counter(struct db_connection *connection, const char *name);

/* A new random uuid as text. */
void db_new_uuid(char out[static 37]);
/* Whether text is a uuid as printed. */
bool db_is_uuid(const char *text);

#endif
