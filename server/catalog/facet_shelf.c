/* A list that only grows at its head. */
#include "server/catalog/facet_shelf.h"

#include "server/base/arena.h"

#include <stdlib.h>
#include <string.h>

struct kept_facet {
    struct kept_facet *next;
    uint64_t query_hash;
    int facet;
    size_t length;
    char text[];
};

const char *facet_shelf_find(struct facet_shelf *shelf, uint64_t query_hash, int facet,
                             size_t *ret_length)
{
    const struct kept_facet *kept = atomic_load_explicit(&shelf->newest, memory_order_acquire);
    while (kept != NULL && (kept->query_hash != query_hash || kept->facet != facet))
        kept = kept->next;
    if (kept == NULL)
        return NULL;
    *ret_length = kept->length;
    return kept->text;
}

void facet_shelf_add(struct facet_shelf *shelf, uint64_t query_hash, int facet, const char *text,
                     size_t length)
{
    size_t size = sizeof(struct kept_facet) + length;
    if (atomic_load_explicit(&shelf->entries, memory_order_relaxed) >= FACET_SHELF_ENTRIES ||
        atomic_load_explicit(&shelf->bytes, memory_order_relaxed) + size > FACET_SHELF_BYTES)
        return;
    struct kept_facet *kept = xmalloc(size);
    kept->query_hash = query_hash;
    kept->facet = facet;
    kept->length = length;
    memcpy(kept->text, text, length);
    atomic_fetch_add_explicit(&shelf->entries, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&shelf->bytes, size, memory_order_relaxed);
    kept->next = atomic_load_explicit(&shelf->newest, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&shelf->newest, &kept->next, kept,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

void facet_shelf_free(struct facet_shelf *shelf)
{
    struct kept_facet *kept = atomic_load_explicit(&shelf->newest, memory_order_acquire);
    while (kept != NULL) {
        struct kept_facet *next = kept->next;
        free(kept);
        kept = next;
    }
}
