/* The hot loops of search: a block of rows has one byte a row (1: still matches), and each filter
 * clears bytes by looking at one narrow column. Written so that the compiler vectorises them; AVX2
 * and baseline clones are picked at start. Pure; any thread. */
#ifndef RACKRATE_CATALOG_KERNELS_H
#define RACKRATE_CATALOG_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* Rows a block: mask, keys and the columns it reads stay in the first-level cache. */
#define BLOCK_ROWS 1024

/* A closed range of ranks. */
struct rank_run {
    uint16_t first;
    uint16_t last;
};

/* Sets mask[0 … count), and zeroes it up to the next multiple of 8, to the bits `first` … of the
 * bitmap, one byte each; all ones where `words` is NULL. `first` is a multiple of 8. */
void kernel_load(uint8_t *mask, const uint64_t *words, size_t first, size_t count);

/* Keeps rows with any of `bits` in their byte. */
void kernel_any_bit(uint8_t *mask, const uint8_t *column, size_t count, uint8_t bits);

/* Keeps rows whose value lies in one of the runs. */
void kernel_in_runs(uint8_t *mask, const uint16_t *column, size_t count,
                    const struct rank_run *runs, size_t run_count);

/* Keeps rows whose value has a nonzero byte in the table. */
void kernel_in_table16(uint8_t *mask, const uint16_t *column, size_t count, const uint8_t *table);

/* Keeps rows with low <= value <= high. */
void kernel_range32(uint8_t *mask, const int32_t *column, size_t count, int32_t low, int32_t high);
void kernel_range64(uint8_t *mask, const int64_t *column, size_t count, int64_t low, int64_t high);

/* Keeps rows whose value is one of the list. */
void kernel_in_list32(uint8_t *mask, const int32_t *column, size_t count, const int32_t *values,
                      size_t value_count);

/* Keeps rows that are samples or whose own time is not before the cut-off of their provider. */
void kernel_fresh(uint8_t *mask, const int64_t *own_us, const uint8_t *sample,
                  const uint16_t *provider, const int64_t *cutoff_us, size_t count);

/* The lesser of each pair. */
void kernel_min32(int32_t *values, const int32_t *column, size_t count);

/* How many bytes are 1. */
size_t kernel_count(const uint8_t *mask, size_t count);

#endif
