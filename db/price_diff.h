/* Inside db/: which prices two states of an offer do not share. Pure. */
#ifndef RACKRATE_DB_PRICE_DIFF_H
#define RACKRATE_DB_PRICE_DIFF_H

#include "server/model/price.h"

/* Called once for each identity that is in only one list, or in both but not the same; the missing
 * side is NULL. */
typedef void price_diff_take(void *closure, const struct price *before, const struct price *after);

/* Walks two lists sorted by identity. Prices are the same when quote, unit, largest order and both
 * derived figures are. */
void price_diff(const struct price *before, size_t before_count, const struct price *after,
                size_t after_count, price_diff_take *take, void *closure);

#endif
