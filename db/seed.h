/* Inside db/: the reference tables of the database follow those compiled into the binary. */
#ifndef RACKRATE_DB_SEED_H
#define RACKRATE_DB_SEED_H

#include "db/db.h"

/* Writes gpus, places and the program's own aliases where their hash differs from what was written
 * last, then resolves the raw names of offers again that are `unrecognized` or placeless, as a
 * write to each provider touched. Operators' aliases stay. Nothing to do is one small query. */
enum db_status db_seed_reference(struct db_connection *connection);

#endif
