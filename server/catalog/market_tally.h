/* Inside of the market: the votes of one GPU, counted. What each provider has, as sorted keys, and
 * what it contributes to each cell; each cell's votes in order, with the figures they come to.
 * Belongs to whoever counts (the catalogue's writer keeps one a GPU up to date; who looks at other
 * times makes one and frees it); readers of a snapshot get what gpu_market_make writes down of it.
 * A change costs time by what it changes: no other provider's prices are looked at again. */
#ifndef RACKRATE_CATALOG_MARKET_TALLY_H
#define RACKRATE_CATALOG_MARKET_TALLY_H

#include "server/catalog/market_key.h"

/* What a provider's prices contribute to one cell. */
struct tally_item {
    uint64_t microusd; /* its vote */
    uint32_t offers;
    uint32_t prices;
    uint16_t cell;
    uint16_t near; /* where its vote stood among the cell's when it was put there */
};

static inline uint64_t tally_vote(uint64_t microusd, uint16_t slot)
{
    return microusd << INDEX_AMOUNT_SHIFT | slot;
}
static inline uint16_t tally_vote_slot(uint64_t vote)
{
    return (uint16_t)vote;
}

struct tally_part {
    uint16_t slot;
    uint16_t item_count, item_capacity;
    uint32_t key_count, key_capacity;
    uint64_t *keys;           /* sorted; prices that count only */
    struct tally_item *items; /* by cell */
};

/* The votes of a cell: amount << INDEX_AMOUNT_SHIFT | slot, in order. */
struct tally_cell {
    uint32_t count, capacity;
    uint64_t *votes;
    uint32_t *offers;          /* behind each vote */
    uint32_t all_offers;       /* behind all */
    uint32_t resellers;        /* votes that may fall as their origin's */
    uint32_t resold, outliers; /* offers of votes that do fall */
    struct index_figures figures;
};

/* What becomes of a provider's vote in one cell. */
struct vote_change {
    uint64_t before, after; /* votes; 0: none */
    uint32_t offers;
    uint16_t item; /* of the part */
    uint16_t cell;
    uint16_t near;
};

#define TALLY_WORDS ((CELL_COUNT + 63) / 64)

struct market_tally {
    struct tally_part *parts; /* by slot */
    size_t part_count, part_capacity;
    struct tally_cell cells[CELL_COUNT];
    uint32_t excluded[COMMITMENT_COUNT][INDEX_REASON_COUNT]; /* offers left out before any vote */
    uint64_t unsettled[TALLY_WORDS]; /* cells whose votes changed, as bits */
    unsigned recounted;              /* commitments whose `excluded` changed, as bits */
    bool listed;                     /* for whoever goes through several tallies */
};

/* What counting needs at hand; all 0 at first. One at a time. */
struct tally_room {
    const struct market_slots *slots;
    bool unordered; /* cells get votes at their end: market_tally_order comes later */
    int32_t offers[CELL_COUNT], prices[CELL_COUNT]; /* of the change at hand, all 0 between */
    uint64_t touched[TALLY_WORDS];
    unsigned groups;                     /* touched, as bits */
    const uint64_t *keys_of[KEY_GROUPS]; /* of those, within the part at hand */
    size_t count_of[KEY_GROUPS];
    struct vote_change changes[CELL_COUNT];
    uint64_t *keys; /* room for the keys of a part */
    size_t key_capacity;
    struct index_vote *votes;
    uint64_t *scratch; /* thrice as many */
    size_t vote_capacity;
};
void tally_room_free(struct tally_room *room);

/* Asks for the memory that a change of the provider's prices will look at. */
void market_tally_foresee(const struct market_tally *tally, uint16_t slot);
/* A provider's prices change: these keys go and those come, each in order, none in both. */
void market_tally_change(struct market_tally *tally, struct tally_room *room, uint16_t slot,
                         const uint64_t *gone, size_t gone_count, const uint64_t *come,
                         size_t come_count);
/* Puts the votes in order that were taken while room->unordered. */
void market_tally_order(struct market_tally *tally, struct tally_room *room);
/* Brings the figures of cells whose votes changed up to date. */
void market_tally_settle(struct market_tally *tally, struct tally_room *room);
/* The votes of a cell with what becomes of each; in room->votes. */
size_t market_tally_votes(const struct tally_cell *cell, struct tally_room *room,
                          struct index_figures *ret_figures);

struct market_tally *market_tally_new(void); /* of a GPU without offers */

/* Counts all prices of a GPU; NULL where it has no offers. */
struct market_tally *market_tally_of(const struct market_source *source, uint16_t rank,
                                     struct tally_room *room);
void market_tally_free(struct market_tally *tally); /* NULL is fine */

/* Writes down what readers look up. `base` is what was written of the tally before the changes that
 * are not yet written down, which are none afterwards; NULL: nothing was. NULL where the GPU has no
 * offers. */
struct gpu_market *gpu_market_make(struct market_tally *tally, uint16_t rank,
                                   const struct gpu_market *base, struct buf *scratch);

#endif
