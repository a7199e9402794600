/* Inside of building the market's tables: what a build carries along. Only market_gather.c and
 * market_build.c include it. */
#ifndef RACKRATE_CATALOG_MARKET_BUILD_H
#define RACKRATE_CATALOG_MARKET_BUILD_H

#include "server/catalog/market_table.h"

/* A price on its way to its provider's vote: see market_gather.c for the key. */
struct item {
    uint64_t key;
    uint16_t slot;
};

/* What changes in a cell: a contribution that goes, comes, or becomes another. */
struct cell_change {
    struct contribution now; /* offers 0: it goes */
    uint16_t cell;
};

struct build {
    const struct market_source *source;
    const uint8_t *wanted; /* by slot: gather its prices; NULL: everybody's */
    struct item *items;
    size_t item_count, item_capacity;
    uint64_t *keys, *scratch; /* room for keys, and for three times as many */
    size_t key_capacity;
    uint32_t *slot_counts;        /* by slot; all 0 between GPUs */
    uint16_t *slots;              /* those with items */
    struct provider_part **parts; /* of the wanted providers now, by slot; room for all slots */
    size_t part_count;
    struct part_item made[CELL_COUNT]; /* of the provider at hand */
    size_t made_count;
    struct cell_change *changes;
    size_t change_count, change_capacity;
    uint16_t *stamps; /* by slot: 1 + the cell in which it changes */
    struct contribution *merged;
    struct market_slots order;
    struct index_vote *votes;
    uint64_t *vote_scratch;
    size_t vote_capacity;
};

/* Gathers the prices of a GPU (of the wanted providers) and makes their parts, in build->parts. */
void market_gather(struct build *build, uint16_t rank);

#endif
