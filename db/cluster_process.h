/* Inside db/: running PostgreSQL's programs as the cluster's owner. */
#ifndef RACKRATE_DB_CLUSTER_PROCESS_H
#define RACKRATE_DB_CLUSTER_PROCESS_H

#include "db/cluster_files.h"

/* Starts a program as the owner, in a session of its own (a terminal's Ctrl-C does not reach it),
 * its output appended to `log_path`; it gets SIGINT (fast shutdown) when the calling thread ends.
 * -1 where it can't be started. */
pid_t cluster_spawn(const struct cluster_owner *owner, const char *program,
                    const char *const *arguments, const char *log_path);

/* Waits for a child at most so long; true when it is gone, *ret_good whether it exited with 0. */
bool cluster_wait(pid_t pid, int timeout_ms, bool *ret_good);

/* Asks a postmaster to stop, more firmly each time: fast (60 s), at once (10 s), killed. It may be
 * a child or not. */
void cluster_stop_process(const char *data_dir, pid_t pid);

/* Why a program failed, from what it wrote to the log last: malloc'd, a sentence. */
char *cluster_explain(const char *what, const char *log_path);

#endif
