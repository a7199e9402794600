/* What the files that make segments share; no other file includes it. */
#ifndef RACKRATE_CATALOG_SEGMENT_PRIVATE_H
#define RACKRATE_CATALOG_SEGMENT_PRIVATE_H

#include "server/catalog/segment.h"

/* A segment with room for so many rows and entries; columns not set, names and slabs empty. */
struct segment *segment_alloc(size_t row_count, size_t entry_count);

/* Names from one hash and rank a row: fills `names` and the row's index in `column`. */
void segment_names_build(struct segment_names *names, const uint64_t *hashes, const uint16_t *ranks,
                         size_t row_count, uint32_t *column);

/* With all rows in place: first rows of GPUs and the table of ids. */
void segment_index(struct segment *segment);

#endif
