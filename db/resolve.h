/* Inside db/: raw names of stored offers resolved again, after the program or an operator learned
 * new ones. Each provider touched sees it as a write of its own. */
#ifndef RACKRATE_DB_RESOLVE_H
#define RACKRATE_DB_RESOLVE_H

#include "db/alias.h"

/* Inside a transaction: resolves the names of every offer again that are `unrecognized` or
 * placeless, with operators' names as they are. */
enum db_status db_resolve_unknown(struct db_connection *connection, const char *actor);

/* Inside a transaction that keeps writers out: resolves the names again on which two states of the
 * operators' names disagree. */
enum db_status db_resolve_changed(struct db_connection *connection, const struct alias_sets *before,
                                  const struct alias_sets *after, const char *actor,
                                  struct arena *arena, struct alias_effect *ret_effect);

#endif
