/* The private PostgreSQL: made, started, recovered and stopped in a state directory, over a Unix
 * socket only. Call all of it from the main thread, which must live as long as the cluster: the
 * kernel stops the postmaster when the thread that started it ends. */
#ifndef RACKRATE_DB_CLUSTER_H
#define RACKRATE_DB_CLUSTER_H

#include "db/migrate.h"

#include <stdbool.h>
#include <sys/types.h>

struct db_cluster; /* opaque */

/* Locks the state directory (made if missing; 5 s for a server that was just killed), makes the
 * cluster if there is none (data checksums, fsync on), waits up to 30 s for leftovers of a killed
 * run and then stops them, starts it as a child of this process in a session of its own (dies with
 * this process: PR_SET_PDEATHSIG) and waits until it answers, through crash recovery if need be. As
 * root its processes belong to the user postgres, or to whoever owns the data. It logs to
 * STATE_DIR/postgresql.log. NULL and *ret_error (malloc'd, a sentence that says what to do) where
 * it can't: disk full, other major version, in use, no rights, no PostgreSQL. */
struct db_cluster *db_cluster_start(const char *state_dir, char **ret_error);

/* libpq URL of the database `rackrate` in it. Valid until db_cluster_stop. */
const char *db_cluster_url(const struct db_cluster *cluster);
/* Process id of the postmaster; 0 between its end and its next start. */
pid_t db_cluster_pid(const struct db_cluster *cluster);
/* Starts the postmaster again where it ended (killed, or on a full disk), at most every 3 s; says
 * so in the log, with what it said last. Does not wait until it answers. Call it every second or
 * so. */
void db_cluster_tend(struct db_cluster *cluster);
/* Fast shutdown, waits, unlocks, frees. */
void db_cluster_stop(struct db_cluster *cluster);

/* For a command that runs beside a server: the URL of the cluster that already runs in the state
 * directory, malloc'd, or NULL where none runs (or where this user can't see it). */
char *db_cluster_running_url(const char *state_dir);

/* Whether a private cluster could live in the directory (which need not be there yet): as root,
 * whether the user postgres gets through to it; else whether this user may write where it would be
 * made. */
bool db_cluster_reachable(const char *state_dir);

#endif
