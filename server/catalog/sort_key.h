/* What a search sorts by. Only files of this room include it. */
#ifndef RACKRATE_CATALOG_SORT_KEY_H
#define RACKRATE_CATALOG_SORT_KEY_H

#include "server/catalog/search.h"

/* The exact key of a row whose matching price is `entry`, ascending in the wanted order; INT64_MAX
 * where what sorts is unknown, both ways. */
int64_t sort_key(const struct plan *plan, const struct segment *segment, uint32_t row,
                 uint32_t entry);

/* Clears rows of a block that are certainly before `floor` (INT64_MIN: none) or behind `ceiling`
 * (INT64_MAX: none), keys as sort_key gives them, by the columns that sort. Some that are may stay.
 */
void sort_drop_outside(const struct plan *plan, const struct segment *segment, struct block *block,
                       int64_t floor, int64_t ceiling);

/* Whether it is a price divided by something of the GPU's. */
bool sort_is_quotient(enum query_sort sort);

/* Whether rows of a GPU, which lie in order of their cheapest price, thus lie in order of what
 * sorts too, as long as that is the price that matches. */
bool sort_follows_price(const struct plan *plan, const struct segment *segment, uint16_t rank);

/* No key of the run is below this; INT64_MAX: what sorts is unknown for all of it. */
int64_t sort_least_key(const struct plan *plan, const struct segment *segment,
                       const struct row_run *run);

#endif
