/* The hot loops of search: a block of rows has one bit a row (1: still matches), and each filter
 * clears bits by looking at one narrow column, 64 rows at a time; words without a bit are passed
 * over. AVX2 where the processor has it, plain C elsewhere. Columns may be read up to the next
 * multiple of 64 rows. Pure; any thread. */
#ifndef RACKRATE_CATALOG_KERNELS_H
#define RACKRATE_CATALOG_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows a block: mask, prices and the columns it reads stay in the first-level cache. */
#define BLOCK_ROWS  1024
#define WORD_ROWS   64
#define BLOCK_WORDS (BLOCK_ROWS / WORD_ROWS)

/* A closed range of ranks. */
struct rank_run {
    uint16_t first;
    uint16_t last;
};

/* Keeps rows with any of `bits` in their byte. `words` counts words of the mask. */
void kernel_any_bit(uint64_t *mask, const uint8_t *column, size_t words, uint8_t bits);

/* Keeps rows with none of them. */
void kernel_no_bit(uint64_t *mask, const uint8_t *column, size_t words, uint8_t bits);

/* Keeps rows whose value lies in one of the runs. */
void kernel_in_runs(uint64_t *mask, const uint16_t *column, size_t words,
                    const struct rank_run *runs, size_t run_count);

/* Tables of bytes by rank may be read so many bytes behind their last. */
#define TABLE_PADDING 3

/* Keeps rows whose value has a nonzero byte in the table. */
void kernel_in_table16(uint64_t *mask, const uint16_t *column, size_t words, const uint8_t *table);

/* Keeps rows with low <= value <= high. */
void kernel_range32(uint64_t *mask, const int32_t *column, size_t words, int32_t low, int32_t high);
void kernel_range64(uint64_t *mask, const int64_t *column, size_t words, int64_t low, int64_t high);

/* Keeps rows whose value is one of the list. */
void kernel_in_list32(uint64_t *mask, const int32_t *column, size_t words, const int32_t *values,
                      size_t value_count);

/* Keeps rows that are samples or whose own time is not before the cut-off of their provider. */
void kernel_fresh(uint64_t *mask, const int64_t *own_us, const uint8_t *sample,
                  const uint16_t *provider, const int64_t *cutoff_us, size_t words);

/* Bits by GPU rank, place rank and provider slot, and those that a row needs from the three
 * together. */
struct word_tables {
    uint8_t need;
    bool places; /* of_place has a bit at all */
    uint8_t *of_gpu;
    uint8_t *of_place;
    uint8_t *of_provider;
};

/* Keeps rows that have all they need. */
void kernel_words(uint64_t *mask, const uint16_t *gpu, const uint16_t *place,
                  const uint16_t *provider, const struct word_tables *tables, size_t words);

/* The lesser of each pair. */
void kernel_min32(int32_t *values, const int32_t *column, size_t count);

/* How many bits are 1. */
size_t kernel_count(const uint64_t *mask, size_t words);

/* Tests run both: false takes plain C even where AVX2 is there. Not while others search. */
void kernels_use_avx2(bool yes);

#endif
