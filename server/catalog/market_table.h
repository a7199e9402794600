/* Inside of the market's tables: by GPU, what each provider contributes, and the figures that
 * follow. A gpu_market is immutable and shared by all snapshots until some of its offers change;
 * then only the providers that changed are looked at again. Only files of this room include it. */
#ifndef RACKRATE_CATALOG_MARKET_TABLE_H
#define RACKRATE_CATALOG_MARKET_TABLE_H

#include "server/catalog/snapshot.h"
#include "server/market/verdict.h"

/* What a contribution is to: the votes of one commitment and cluster size, of one commitment, of
 * all reserved terms, of one commitment in one continent; or the count of offers left out of a
 * commitment for a reason. */
#define CELL_SIZED(commitment, size) ((unsigned)(commitment)*CLUSTER_SIZE_COUNT + (unsigned)(size))
#define CELL_TERM(commitment)        (COMMITMENT_COUNT * CLUSTER_SIZE_COUNT + (unsigned)(commitment))
#define CELL_RESERVED                CELL_TERM(COMMITMENT_COUNT)
#define CELL_CONTINENT(commitment, continent)                                                      \
    (CELL_RESERVED + 1 + (unsigned)(commitment)*CONTINENT_COUNT + (unsigned)(continent))
#define CELL_EXCLUDED(commitment, reason)                                                          \
    (CELL_CONTINENT(COMMITMENT_COUNT, 0) + (unsigned)(commitment)*INDEX_REASON_COUNT +             \
     (unsigned)(reason))
#define CELL_COUNT CELL_EXCLUDED(COMMITMENT_COUNT, 0)

#define CELL_VOTES CELL_EXCLUDED(0, 0) /* cells below it hold votes, the others counts */

struct contribution {
    int64_t microusd; /* the provider's vote; 0 in a count */
    uint32_t offers;
    uint16_t slot;
};

/* What all providers contribute to one cell of one GPU, with what that comes to. Immutable; shared
 * by markets until one of its contributions changes. */
struct market_cell {
    _Atomic size_t references;
    uint32_t count;
    uint32_t offers; /* of all contributions together */
    struct index_figures figures;
    uint32_t resold, outliers;           /* offers of votes that fall */
    struct contribution contributions[]; /* by amount, then slot */
};

/* What a price of one commitment and cluster size is held against, and how that is printed. */
struct market_comparables {
    struct comparables comparables;
    uint32_t text; /* `"comparables":{…}` in gpu_market.text */
    uint32_t text_length;
};

/* What one provider contributes to one GPU, by cell. Immutable and shared, as cells are: the same
 * contributions seen from the other side, so that a change finds the cells it touches. */
struct provider_part {
    _Atomic size_t references;
    uint16_t slot;
    uint16_t count;
    struct part_item {
        int64_t microusd;
        uint32_t offers;
        uint16_t cell;
    } items[];
};

struct gpu_market {
    _Atomic size_t references;
    size_t part_count;
    struct provider_part **parts;          /* by slot */
    struct market_cell *cells[CELL_COUNT]; /* NULL where nobody contributes */
    struct market_comparables comparables[COMMITMENT_COUNT * CLUSTER_SIZE_COUNT];
    char *text;
    uint32_t row[COMMITMENT_COUNT];        /* in text: the JSON of each commitment */
    uint32_t row_length[COMMITMENT_COUNT]; /* 0: there is no such price */
};
/* The figures of a cell, which may be NULL. */
const struct index_figures *market_cell_figures(const struct market_cell *cell);
void market_cell_release(struct market_cell *cell); /* NULL is fine */
void provider_part_release(struct provider_part *part);
void gpu_market_release(struct gpu_market *market); /* NULL is fine */

/* Which (GPU, provider) changed since some earlier table. */
struct market_changes {
    bool all;
    uint32_t *pairs; /* gpu_rank << 16 | slot, in any order and number */
    size_t count;
    size_t capacity;
};
void market_changes_add(struct market_changes *changes, uint16_t gpu_rank, uint16_t slot);
void market_changes_free(struct market_changes *changes);
/* Adds what turned stale or fresh when the cut-offs (by slot, see struct moment; NULL none)
 * changed. */
void market_changes_add_turned(struct market_changes *changes, const struct snapshot *snapshot,
                               const struct moment *before, const struct moment *after);

/* The offers that figures are made of. */
struct market_source {
    const struct snapshot *snapshot;
    struct alive *const *alive; /* by segment */
    const int64_t *cutoff_us;   /* by slot; NULL: nothing is stale */
};

/* The table of a source: gpu_count() markets by rank, NULL where a GPU has no offers. What
 * `changes` does not name is taken from `base` (NULL: everything is new). Freed by
 * market_table_free. */
struct gpu_market **market_table_build(const struct market_source *source,
                                       struct gpu_market *const *base,
                                       struct market_changes *changes);
void market_table_free(struct gpu_market **table);

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

/* Settles the votes of a cell (NULL: none), in its order; `votes` has room for all, `scratch` for
 * twice as many. Gives how many there are. */
size_t market_settle(const struct market_cell *cell, const struct market_slots *slots,
                     struct index_vote *votes, uint64_t *scratch,
                     struct index_figures *ret_figures);

/* Adds the JSON of one GPU and commitment, of a continent or of all (CONTINENT_COUNT); nothing
 * where there is no such price. */
void market_write_row(const struct gpu_market *market, uint16_t gpu_index,
                      enum commitment commitment, enum continent continent, struct buf *out);

#endif
