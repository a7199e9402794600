/* The best hits of a search so far: a heap with the worst on top. Belongs to one search. */
#ifndef RACKRATE_CATALOG_TOP_H
#define RACKRATE_CATALOG_TOP_H

#include "server/catalog/search.h"

struct top {
    struct hit *heap;
    size_t capacity;
    size_t count;
    /* Only hits after this are taken. */
    bool has_floor;
    int64_t floor_key;
    struct offer_key floor_id;
};

/* The largest key that may still be taken; INT64_MAX while there is room. */
static inline int64_t top_ceiling(const struct top *top)
{
    return top->count < top->capacity ? INT64_MAX : top->heap[0].key;
}

/* Whether a hit with this key and id is better than the worst; where equal keys abound, most are
 * not. */
static inline bool top_may_take(const struct top *top, int64_t key, struct offer_key id)
{
    return top->count < top->capacity || key < top->heap[0].key ||
           (key == top->heap[0].key && id.high <= top->heap[0].id.high);
}

/* Takes a hit if it is after the floor and among the best. */
void top_offer(struct top *top, struct hit hit);

/* Puts the heap in order, best first. */
void top_sort(struct top *top);

#endif
