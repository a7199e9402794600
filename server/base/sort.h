/* Sorting numbers in time that grows with their count alone, whatever an uploader chose them to be.
 * Pure; any thread. */
#ifndef RACKRATE_BASE_SORT_H
#define RACKRATE_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Sorts ascending. `scratch` has room for as many values; what it holds afterwards means nothing.
 */
void sort_u64(uint64_t *values, uint64_t *scratch, size_t count);

/* The two values in the middle of the sorted order: of an odd count both are the same. Reorders and
 * overwrites `values`; count > 0. */
void sort_middle_u64(uint64_t *values, size_t count, uint64_t *ret_low, uint64_t *ret_high);

#endif
