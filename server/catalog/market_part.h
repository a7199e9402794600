/* Inside of counting: one provider's keys of one GPU. Only market_tally.c and market_part.c include
 * it; whoever counts, one thread at a time. */
#ifndef RACKRATE_CATALOG_MARKET_PART_H
#define RACKRATE_CATALOG_MARKET_PART_H

#include "server/catalog/market_tally.h"

/* How many of sorted values are below `wanted`. */
static inline size_t lower_bound(const uint64_t *values, size_t count, uint64_t wanted)
{
    size_t low = 0;
    while (count > 0) {
        size_t half = (count + 1) / 2;
        low += values[low + half - 1] < wanted ? half : 0; /* nothing could predict a branch */
        count -= half;
    }
    return low;
}

/* Takes the keys `gone` out of the part and those that `come` in; both are sorted, none is in both.
 * Afterwards room->touched names the cells they are of, room->prices and room->offers by how many
 * prices and offers each grew; offers left out are counted in the tally. */
void market_part_change(struct market_tally *tally, struct tally_room *room,
                        struct tally_part *part, const uint64_t *gone, size_t gone_count,
                        const uint64_t *come, size_t come_count);

/* The median of the prices of a cell that the last change touched, in micro-dollars; `count` > 0 of
 * the part's prices are the cell's. */
uint64_t market_part_median(const struct tally_room *room, unsigned cell, size_t count);

#endif
