/* Running a search: which offers match, how many, and the first of them in order. Only files of
 * this room include it. */
#ifndef RACKRATE_CATALOG_SEARCH_H
#define RACKRATE_CATALOG_SEARCH_H

#include "server/catalog/query_private.h"
#include "server/catalog/snapshot.h"

/* A matching offer: its sort key (ascending in the wanted order), where it is, and which price
 * matched. */
struct hit {
    int64_t key;
    struct offer_key id;
    uint32_t segment;
    uint32_t row;
    uint32_t entry;
};
static inline int hit_compare(int64_t key, struct offer_key id, const struct hit *other)
{
    if (key != other->key)
        return key < other->key ? -1 : 1;
    return offer_key_compare(id, other->id);
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

#endif
