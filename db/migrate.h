/* Bringing a database to the schema of this binary: embedded migrations, forward only, then the
 * reference tables. */
#ifndef RACKRATE_DB_MIGRATE_H
#define RACKRATE_DB_MIGRATE_H

#include "db/db.h"

/* Applies migrations embedded in the binary that are not applied yet, each in its transaction, all
 * under a lock that a second one waits for (two minutes at most), checking the checksums of those
 * that are. False and *ret_error (malloc'd) where a checksum differs, a newer schema is there, or
 * SQL failed. *ret_applied counts. Then seeds the reference tables (gpus, places, aliases) from
 * server/reference where they differ, and resolves again what earlier releases could not
 * (db/seed.h). Outside any transaction. */
bool db_migrate(struct db_connection *connection, int *ret_applied, char **ret_error);

/* Whether the schema is exactly this binary's: DB_OK; DB_NONE where migrations are missing;
 * DB_CONFLICT where a newer one or another checksum is there. Changes nothing. */
enum db_status db_schema_check(struct db_connection *connection);

#endif
