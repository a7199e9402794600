/* What a facet goes by, as small numbers: each row has one, and each has a value to print. Only
 * files of this room include it. */
#ifndef RACKRATE_CATALOG_FACET_CODES_H
#define RACKRATE_CATALOG_FACET_CODES_H

#include "server/catalog/facets.h"

#include <stddef.h>

struct facet_codes {
    enum facet facet;
    const struct snapshot *snapshot;
    /* By a 16-bit column of the segment and a table, or by the one bit set in a byte. */
    size_t column; /* offset of the column's pointer in struct segment */
    uint16_t *table;
    size_t count;
    /* Of counts of GPUs, which are whatever was uploaded: an open-addressing table of 2^n. */
    int32_t *values;
    uint32_t *slots; /* code + 1; 0 empty */
    size_t slot_count;
};

/* The query is the one the facet is counted under. Tables are in the arena. */
void facet_codes_make(struct facet_codes *codes, enum facet facet, const struct snapshot *snapshot,
                      const struct query *query, struct arena *arena);
void facet_codes_free(struct facet_codes *codes);

/* Where there is a table: the column that it is looked up by. */
static inline const uint16_t *facet_column(const struct facet_codes *codes,
                                           const struct segment *segment)
{
    return *(uint16_t *const *)(const void *)((const char *)segment + codes->column);
}

/* The code of a row; may add one (of a count not seen before). */
uint32_t facet_code(struct facet_codes *codes, const struct segment *segment, uint32_t row);

/* Codes are 0 … count-1. */
size_t facet_code_count(const struct facet_codes *codes);

/* Order of values: unknown last, text by bytes, numbers by size. */
int facet_code_compare(const struct facet_codes *codes, uint32_t a, uint32_t b);

/* Adds the value as JSON. */
void facet_code_write(const struct facet_codes *codes, uint32_t code, struct buf *out);

#endif
