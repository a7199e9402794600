/* Facets already counted, kept with the moment they hold for: pages of one search, and searches
 * that differ only in what does not narrow, count once. Readers add without a lock; it dies with
 * the moment. Only files of this room include it. */
#ifndef RACKRATE_CATALOG_FACET_SHELF_H
#define RACKRATE_CATALOG_FACET_SHELF_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Most that one moment keeps. */
#define FACET_SHELF_BYTES   ((size_t)4 << 20)
#define FACET_SHELF_ENTRIES 256

struct kept_facet;
struct facet_shelf {
    _Atomic(struct kept_facet *) newest;
    _Atomic size_t bytes;
    _Atomic unsigned entries;
};

/* The text kept for a facet of a query (its hash), or NULL. Valid as long as the shelf. */
const char *facet_shelf_find(struct facet_shelf *shelf, uint64_t query_hash, int facet,
                             size_t *ret_length);

/* Keeps a copy of the text, where there is room. */
void facet_shelf_add(struct facet_shelf *shelf, uint64_t query_hash, int facet, const char *text,
                     size_t length);

void facet_shelf_free(struct facet_shelf *shelf); /* what it keeps; nobody reads it any more */

#endif
