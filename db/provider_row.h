/* Inside db/: a provider's columns (PROVIDER_COLUMNS) as a struct. */
#ifndef RACKRATE_DB_PROVIDER_ROW_H
#define RACKRATE_DB_PROVIDER_ROW_H

#include "db/connection.h"
#include "server/model/provider.h"

/* Reads one row; strings go into the arena. False where a value is unknown to this program. */
bool provider_row_read(struct db_row *row, struct arena *arena, struct provider *ret_provider);

#endif
