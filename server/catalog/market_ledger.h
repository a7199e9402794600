/* Inside of the catalogue: all votes of the newest snapshot, kept up to date by whoever publishes,
 * so that a change costs by what it changes. The catalogue's lock guards it; readers never see it.
 */
#ifndef RACKRATE_CATALOG_MARKET_LEDGER_H
#define RACKRATE_CATALOG_MARKET_LEDGER_H

#include "server/catalog/market_tally.h"

/* What an update does to offers. */
struct market_changes {
    bool all;           /* more than the rows below: all is counted anew */
    bool new_providers; /* there are some */
    struct market_row {
        const struct segment *segment; /* of the former snapshot, or among `added` */
        uint32_t row;
    } * killed;
    size_t killed_count, killed_capacity;
    struct segment **added; /* with all their rows; references */
    size_t added_count, added_capacity;
};
void market_changes_kill(struct market_changes *changes, const struct segment *segment,
                         uint32_t row);
void market_changes_add(struct market_changes *changes, struct segment *segment);
void market_changes_free(struct market_changes *changes);

struct market_ledger {
    struct market_tally **tallies; /* by rank; NULL no offers */
    struct gpu_market **markets;   /* by rank: what readers get of it; references. NULL: nothing is
                                      counted yet */
    int64_t *cutoff_us;            /* by slot: as of when rows were counted */
    size_t slot_count;
    bool any_stale; /* some cut-off is above INT64_MIN */
    struct market_slots slots;
    struct tally_room room;
    struct buf text;
    int64_t spent_us; /* in all */
};
void market_ledger_free(struct market_ledger *ledger);

/* The table (see market_table.h) of a source that differs from the one followed last by `changes`
 * and by its cut-offs. */
struct gpu_market **market_ledger_follow(struct market_ledger *ledger,
                                         const struct market_source *source,
                                         const struct market_changes *changes);

#endif
