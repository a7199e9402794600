/* Running a search: which offers match, how many, and the first of them in order. Only files of
 * this room include it. */
#ifndef RACKRATE_CATALOG_SEARCH_H
#define RACKRATE_CATALOG_SEARCH_H

#include "server/catalog/query_private.h"
#include "server/catalog/snapshot.h"
#include "server/catalog/word_filter.h"

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
    uint8_t *gpus;  /* ranks to look at at all; NULL: all */
    bool has_words; /* rows must be asked for `words` */
    struct word_filter words;
    bool hides_stale; /* moment->cutoff_us must be asked */
    bool finds_nothing;
    struct tier_memo *tiers; /* for `gpus`, and where the total price sorts */
    bool only_gpus;          /* nothing but `gpus` filters: every live row of theirs matches */
};
void plan_make(struct plan *plan, struct snapshot *snapshot, const struct query *query,
               int64_t now_us, struct arena *arena);

/* Narrows a plan that sorts by latency to the places that come first, as many as have several times
 * `wanted` rows (filters aside), or all. */
void plan_near_places(struct plan *plan, size_t wanted);

/* A segment as one run sees it. */
struct segment_view {
    const struct plan *plan;
    uint32_t index; /* of the segment in the snapshot */
    const struct segment *segment;
    const struct alive *alive;
    /* Rows that a choice takes in, a bit each; NULL: its ranks say it all. */
    const uint64_t *extra_gpus;
    const uint64_t *extra_places;
};
struct segment_view plan_view(const struct plan *plan, size_t index);

/* Rows of a segment that lie together and may match. */
struct row_run {
    uint32_t first; /* row */
    uint32_t last;  /* the first behind it */
    bool one_gpu;   /* all of one GPU, thus in order of their cheapest price */
    uint16_t next;  /* GPU rank to go on at; 0 to begin */
};
/* The next run; false behind the last. `apart`: many rows of one GPU are a run of their own. */
bool plan_next_run(const struct segment_view *view, bool apart, struct row_run *run);

/* A block of rows on its way through the filters. */
struct block {
    size_t first; /* row; a multiple of WORD_ROWS */
    size_t count;
    uint64_t mask[BLOCK_WORDS]; /* bit i % 64 of word i / 64: row first + i matches */
    const int32_t *prices;      /* of matching rows, the matching price, cut */
    bool least_only;            /* `prices` may be less than the matching ones */
    _Alignas(32) int32_t own_prices[BLOCK_ROWS];
};
static inline size_t block_words(const struct block *block)
{
    return (block->count + WORD_ROWS - 1) / WORD_ROWS;
}

/* Fills a block with the matches among the rows of a run from row `at` on, which is run->first or
 * where the last block ended (first + count). */
void match_block(const struct segment_view *view, const struct row_run *run, size_t at,
                 struct block *block);

/* The cheapest price of a row that meets the plan's price filters: its entry, or UINT32_MAX. */
uint32_t match_entry(const struct plan *plan, const struct segment *segment, uint32_t row);

/* Whether one price of a matching row meets the price filters. */
bool match_one_entry(const struct plan *plan, const struct segment *segment, uint32_t row,
                     uint32_t entry);

/* For each row of a mask whose bit is 1. The body may clear bits. */
#define FOR_EACH_ROW(mask, words, index)                                                           \
    for (size_t word_ = 0; word_ < (words); word_++)                                               \
        for (uint64_t bits_ = (mask)[word_], index;                                                \
             bits_ != 0 && (index = word_ * WORD_ROWS + (size_t)__builtin_ctzll(bits_), true);     \
             bits_ &= bits_ - 1)
static inline void mask_clear(uint64_t *mask, size_t index)
{
    mask[index / WORD_ROWS] &= ~(UINT64_C(1) << (index % WORD_ROWS));
}

#endif
