/* Inside of the market: what readers of a snapshot look up, by GPU: figures, what prices are held
 * against, and how both are printed. A gpu_market is immutable and shared by all snapshots until
 * something it says changes. Only files of this room include it. */
#ifndef RACKRATE_CATALOG_MARKET_TABLE_H
#define RACKRATE_CATALOG_MARKET_TABLE_H

#include "server/catalog/snapshot.h"
#include "server/market/verdict.h"

/* What a vote is taken in: a cell for each commitment and cluster size, for each commitment, for
 * all reserved terms, for each commitment in each continent. */
#define CELL_SIZED(commitment, size) ((unsigned)(commitment)*CLUSTER_SIZE_COUNT + (unsigned)(size))
#define CELL_TERM(commitment)        (COMMITMENT_COUNT * CLUSTER_SIZE_COUNT + (unsigned)(commitment))
#define CELL_RESERVED                CELL_TERM(COMMITMENT_COUNT)
#define CELL_CONTINENT(commitment, continent)                                                      \
    (CELL_RESERVED + 1 + (unsigned)(commitment)*CONTINENT_COUNT + (unsigned)(continent))
#define CELL_COUNT CELL_CONTINENT(COMMITMENT_COUNT, 0)

/* What a price of one commitment and cluster size is held against, and how that is printed. */
struct market_comparables {
    struct comparables comparables;
    uint32_t text; /* `"comparables":{…}` in gpu_market.text */
    uint32_t text_length;
};

struct gpu_market {
    _Atomic size_t references;
    struct index_figures world[COMMITMENT_COUNT];
    struct index_figures continents[COMMITMENT_COUNT * CONTINENT_COUNT];
    uint32_t excluded[COMMITMENT_COUNT][INDEX_REASON_COUNT]; /* offers left out */
    struct market_comparables comparables[COMMITMENT_COUNT * CLUSTER_SIZE_COUNT];
    uint32_t row[COMMITMENT_COUNT];        /* in text: the JSON of each commitment */
    uint32_t row_length[COMMITMENT_COUNT]; /* 0: there is no such price */
    char text[];
};
struct gpu_market *gpu_market_reference(struct gpu_market *market); /* NULL is fine */
void gpu_market_release(struct gpu_market *market);                 /* NULL is fine */

/* The offers that figures are made of. */
struct market_source {
    const struct snapshot *snapshot;
    struct alive *const *alive; /* by segment */
    const int64_t *cutoff_us;   /* by slot; NULL: nothing is stale */
};

/* The table of a source, from nothing: gpu_count() markets by rank, NULL where a GPU has no offers.
 * Freed by market_table_free. */
struct gpu_market **market_table_make(const struct market_source *source);
/* The table at another moment of the same snapshot as `base`'s: only GPUs of which an offer turned
 * stale or fresh are counted again. */
struct gpu_market **market_table_turn(const struct market_source *source,
                                      const struct moment *base);
void market_table_free(struct gpu_market **table);

/* Calls `turned` with each live row that is stale by one of two moments' cut-offs (by slot; NULL
 * none, none beyond their count) and not by the other's. */
struct market_cutoffs {
    const int64_t *us;
    size_t count;
};
void market_each_turned(const struct snapshot *snapshot, struct market_cutoffs before,
                        struct market_cutoffs after,
                        void (*turned)(void *closure, const struct segment *segment, uint32_t row),
                        void *closure);

/* Why a price is left out before any vote is taken, or INDEX_INCLUDED. */
enum index_reason market_reason(const struct market_source *source, const struct segment *segment,
                                uint32_t row, uint32_t entry);

/* The comparables of a price; never NULL. */
const struct market_comparables *market_comparables_of(struct gpu_market *const *table,
                                                       const struct segment *segment, uint32_t row,
                                                       uint32_t entry, const char **ret_text);

/* Writes `"verdict":…,"ratio_to_median":…,"comparables":{…},"ask":[…]` with a comma before, at most
 * MARKET_VERDICT_SIZE bytes; gives the length. */
#define MARKET_VERDICT_SIZE 320
size_t market_write_verdict(struct gpu_market *const *table, const struct segment *segment,
                            uint32_t row, uint32_t entry, char *out);

/* Of each slot, for votes: whose machines it rents out, and its place in the order of slugs. Freed
 * by its maker. */
struct market_slots {
    uint32_t *origin;
    uint32_t *order;
};
struct market_slots market_slots_make(const struct snapshot *snapshot);
void market_slots_free(struct market_slots *slots);

/* Adds the JSON of one GPU and commitment, of a continent or of all (CONTINENT_COUNT); nothing
 * where there is no such price. */
void market_write_row(const struct gpu_market *market, uint16_t gpu_index,
                      enum commitment commitment, enum continent continent, struct buf *out);

#endif
