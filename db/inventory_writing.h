/* Inside db/: one write to an inventory in progress, and what is recorded of it beside its rows:
 * price history, the upload with its issues, the audit log. */
#ifndef RACKRATE_DB_INVENTORY_WRITING_H
#define RACKRATE_DB_INVENTORY_WRITING_H

#include "db/connection.h"
#include "db/inventory.h"

/* One write in progress. */
struct writing {
    struct db_connection *connection;
    struct provider *provider;
    struct change_set *change_set;
    const struct upload_record *record;
    struct arena *arena;
    int64_t at_us;          /* when, by the database's clock, under the lock */
    int64_t *created_at_us; /* by change: of the row before, or at_us */
    const char *upload_id;
    struct buf out; /* of COPY */
};

/* When what an import of an earlier day brings was seen; TIMESTAMP_UNKNOWN: now. */
int64_t writing_observed_us(const struct writing *writing);

/* Price history: of `created` new offers, from the rows just written; of updated ones, from both
 * states. */
enum db_status writing_log_created(struct writing *writing, size_t created);
enum db_status writing_log_updated(struct writing *writing);

enum db_status writing_record_upload(struct writing *writing);
enum db_status writing_record_issues(struct writing *writing);
enum db_status writing_record_audit(struct writing *writing);

#endif
