/* The private PostgreSQL: made, started, recovered and stopped in a state directory, over a Unix socket only. */
#ifndef RACKRATE_DB_CLUSTER_H
#define RACKRATE_DB_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct db_cluster; /* opaque */

/* Locks the state directory, makes the cluster if there is none (data checksums, fsync on), waits up to 30 s for leftovers of a
 * killed run, starts it as a child of this process (dies with it: PR_SET_PDEATHSIG) and waits until it answers. NULL and
 * *ret_error (malloc'd, a sentence that says what to do) where it can't: disk full, other major version, in use, no rights. */
struct db_cluster *db_cluster_start(const char *state_dir, char **ret_error);

/* libpq URL of the database `rackrate` in it. Valid until db_cluster_stop. */
const char *db_cluster_url(const struct db_cluster *cluster);
/* Process id of the postmaster, to notice its end with waitpid. */
pid_t db_cluster_pid(const struct db_cluster *cluster);
/* Fast shutdown, waits, unlocks, frees. */
void db_cluster_stop(struct db_cluster *cluster);

/* For a command that runs beside a server: the URL of the cluster that already runs in the state directory, malloc'd, or NULL
 * where none runs. */
char *db_cluster_running_url(const char *state_dir);

/* Applies migrations embedded in the binary that are not applied yet, under a lock, checking the checksums of those that are.
 * False and *ret_error where a checksum differs, a newer schema is there, or SQL failed. *ret_applied counts. Then seeds the reference
 * tables (gpus, places, aliases) from server/reference when they differ. */
struct db_connection;
bool db_migrate(struct db_connection *connection, int *ret_applied, char **ret_error);

#endif
