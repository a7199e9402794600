/* Inside db/: what an upload changed, as the JSON kept with it. */
#ifndef RACKRATE_DB_CHANGE_JSON_H
#define RACKRATE_DB_CHANGE_JSON_H

#include "server/base/buf.h"
#include "server/model/change_set.h"

#define CHANGE_JSON_MAX       1000
#define CHANGE_JSON_MAX_BYTES ((size_t)256 << 10)

/* Writes an array of {external_id, kind, fields, before, after}: before and after hold only the
 * fields that changed, and are null for created and removed offers. Stops at either limit above;
 * false when it left some out. */
bool change_json_write(struct buf *out, const struct change_set *change_set);

#endif
