/* Daily fixings: publishing what a closed UTC day came to, once in the cluster, and keeping the
 * book of what was published. */
#ifndef RACKRATE_SYNC_FIXING_H
#define RACKRATE_SYNC_FIXING_H

#include "server/sync/node.h"

/* A day is published this long after it ended, so that what was written before midnight is
 * committed. */
#define FIXING_WAIT_US (INT64_C(60) * 1000000)
/* An offer seen up to so long after midnight counts as seen by then. */
#define FIXING_GRACE_US (INT64_C(3600) * 1000000)
/* Days before yesterday wait until no import came for so long: somebody may be filling in the past,
 * day by day. */
#define FIXING_QUIET_US (INT64_C(60) * 1000000)

enum fixing_outcome {
    FIXING_PUBLISHED,
    FIXING_NOTHING_DUE,
    FIXING_BUSY, /* another server publishes, or something is just being written: later */
    FIXING_FAILED,
};

/* Publishes one day by its number after 1970-01-01, which must be closed: its first revision, or
 * with `revise` the next one. The node must have caught up just now. `made_by` is `server` or
 * `cli`. *ret_rows (may be NULL): how many figures. */
enum fixing_outcome fixing_publish_day(struct node *node, struct db_connection *connection,
                                       int32_t day, bool revise, const char *made_by,
                                       size_t *ret_rows);

/* Publishes the oldest day that is due at now_us. `settled`: do not wait for FIXING_QUIET_US. */
enum fixing_outcome fixing_publish_next(struct node *node, struct db_connection *connection,
                                        int64_t now_us, bool settled, const char *made_by);

/* The oldest closed day without fixings, FIXING_NO_DAY where all have some; false where the
 * database did not answer. */
#define FIXING_NO_DAY INT32_MIN
bool fixing_next_due(struct db_connection *connection, int64_t now_us, int32_t *ret_day);

/* The last day that may be published at now_us. */
int32_t fixing_last_closed_day(int64_t now_us);

/* Brings a book up to what the database has (from nothing where `anew`): a new book, or NULL where
 * the database did not answer. `from` stays the caller's. */
struct book *fixing_load(struct db_connection *connection, const struct book *from, bool anew);

#endif
