/* What every use of the database shares: the status of a call, and the connection. A connection
 * belongs to one thread at a time. */
#ifndef RACKRATE_DB_DB_H
#define RACKRATE_DB_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db_connection; /* opaque: libpq stays inside db/ */

enum db_status {
    DB_OK,       /* done; for a look-up: found */
    DB_NONE,     /* no such row */
    DB_CONFLICT, /* a constraint says no: exists already, or a precondition failed */
    DB_RETRY,    /* serialization failure or deadlock: the whole transaction may be tried again */
    DB_UNAVAILABLE, /* no connection, or lost, or timed out: 503; the outcome of a COMMIT is unknown
                       then */
    DB_FAILED,      /* our bug or a broken database: logged with SQLSTATE, 500 */
};

/* Opens a connection with all settings and prepared statements; NULL and *ret_error (malloc'd)
 * where it can't. */
struct db_connection *db_connect(const char *url, char **ret_error);
void db_disconnect(struct db_connection *connection);

/* Whether the last call found the connection dead; db_reconnect then makes it new (settings,
 * statements). */
bool db_is_broken(const struct db_connection *connection);
bool db_reconnect(struct db_connection *connection);

/* Whether the connection can only read: of a replica, or of a database set so. As the server told
 * last, which it does unasked; false while the connection is broken. */
bool db_is_read_only(const struct db_connection *connection);

/* Begins, commits, rolls back. Rollback never fails from the caller's view. */
enum db_status db_begin(struct db_connection *connection);
enum db_status db_commit(struct db_connection *connection);
void db_rollback(struct db_connection *connection);

/* Tells this database from any other and from itself after a restore or failover to an older state:
 * system identifier and timeline, and the epoch row of the schema. */
enum db_status db_cluster_epoch(struct db_connection *connection, char out[static 64]);

#endif
