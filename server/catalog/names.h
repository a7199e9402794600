/* Folded spellings as hashes: how the catalogue remembers under which names offers were uploaded.
 * The hash is keyed anew in each process, so it never leaves it. */
#ifndef RACKRATE_CATALOG_NAMES_H
#define RACKRATE_CATALOG_NAMES_H

#include <stdint.h>

/* Hash of a GPU's or a region's folded spelling; 0 of NULL and of what folds to nothing. */
uint64_t gpu_name_hash(const char *raw);
uint64_t region_name_hash(const char *raw);

#endif
