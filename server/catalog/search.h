/* Running a search: which offers match, how many, and the first of them in order. Only files of
 * this room include it. */
#ifndef RACKRATE_CATALOG_SEARCH_H
#define RACKRATE_CATALOG_SEARCH_H

#include "server/catalog/query_private.h"
#include "server/catalog/snapshot.h"

/* A matching offer: its sort key (ascending in the wanted order; INT64_MAX unknown), where it is,
 * and which price matched. */
struct hit {
    int64_t key;
    struct offer_key id;
    uint32_t segment;
    uint32_t row;
    uint32_t entry;
};
static inline int hit_compare(const struct hit *a, const struct hit *b)
{
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return offer_key_compare(a->id, b->id);
}

struct search_result {
    struct hit *hits; /* in order; at most limit + 1, the last telling that there is another page */
    size_t hit_count;
    size_t total;
};

/* Runs the query; the result is in the arena. */
struct search_result search_run(struct snapshot *snapshot, const struct query *query,
                                int64_t now_us, struct arena *arena);

/* The query against one snapshot: filters with the sets that depend on it. */
struct plan {
    const struct snapshot *snapshot;
    const struct query *query;
    const struct moment *moment;
    struct arena *arena;
    struct filter filters[QUERY_FILTERS_MAX + 8];
    size_t filter_count;
    uint8_t *gpus;    /* ranks to look at at all; NULL: all */
    bool hides_stale; /* moment->cutoff_us must be asked */
    bool finds_nothing;
    bool all_visible; /* no filter at all: the moment knows the count */
};
void plan_make(struct plan *plan, struct snapshot *snapshot, const struct query *query,
               int64_t now_us, struct arena *arena);

/* Rows of a segment that a choice takes in beside its ranks, one byte a row; NULL none. */
uint8_t *plan_extra_rows(const struct plan *plan, const struct choice *choice,
                         const struct segment *segment, bool gpus);

/* A segment as one run sees it. */
struct segment_view {
    const struct plan *plan;
    const struct segment *segment;
    const struct alive *alive;
    const uint8_t *extra_gpus;
    const uint8_t *extra_places;
};

/* A block of rows on its way through the filters. */
struct block {
    size_t first; /* row */
    size_t count;
    _Alignas(32) uint8_t mask[BLOCK_ROWS]; /* 1: matches; 0 up to the next multiple of 8 */
    _Alignas(32) uint8_t rest[BLOCK_ROWS];
    _Alignas(32) int32_t prices[BLOCK_ROWS];  /* with price filters: the matching price, cut */
    _Alignas(32) int32_t latency[BLOCK_ROWS]; /* sorted by it: hundredths of a millisecond */
};

/* Clears the rows of the block (its mask loaded) that do not match. */
void match_block(const struct segment_view *view, struct block *block);

/* The cheapest price of a row that meets the plan's price filters: its entry, or UINT32_MAX. */
uint32_t match_entry(const struct plan *plan, const struct segment *segment, uint32_t row);
/* The cheapest of those from `first` on. */
uint32_t match_entry_from(const struct plan *plan, const struct segment *segment, uint32_t row,
                          uint32_t first);

/* For each row of a mask of bytes that is 1, eight at a time where none is. */
#define FOR_EACH_ROW(mask, size, index)                                                            \
    for (size_t group_ = 0; group_ < (size); group_ += 8)                                          \
        for (uint64_t bytes_ = mask_group(mask, group_), index;                                    \
             bytes_ != 0 && (index = group_ + (size_t)__builtin_ctzll(bytes_) / 8, true);          \
             bytes_ &= bytes_ - 1)
static inline uint64_t mask_group(const uint8_t *mask, size_t at)
{
    uint64_t bytes;
    memcpy(&bytes, mask + at, sizeof(bytes));
    return bytes;
}

#endif
