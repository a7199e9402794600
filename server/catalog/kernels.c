/* Each loop does one thing to one column without a branch. Clones are left out under the
 * sanitizers, whose runtime is not up yet when the loader resolves them. */
#include "server/catalog/kernels.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HOT __attribute__((target_clones("avx2", "default")))
#else
#define HOT
#endif

/* Eight bits to eight bytes of 0 or 1. */
static inline uint64_t spread(uint8_t bits)
{
    uint64_t bytes = (bits * UINT64_C(0x0101010101010101)) & UINT64_C(0x8040201008040201);
    return ((bytes + UINT64_C(0x7f7f7f7f7f7f7f7f)) >> 7) & UINT64_C(0x0101010101010101);
}

HOT void kernel_load(uint8_t *mask, const uint64_t *words, size_t first, size_t count)
{
    size_t padded = (count + 7) / 8 * 8;
    if (words == NULL) {
        memset(mask, 1, count);
    } else {
        /* Little-endian words: byte i holds rows 8i … 8i + 7. */
        const uint8_t *bytes = (const uint8_t *)words + first / 8;
        for (size_t i = 0; i < padded / 8; i++) {
            uint64_t group = spread(bytes[i]);
            memcpy(mask + 8 * i, &group, sizeof(group));
        }
    }
    memset(mask + count, 0, padded - count);
}

HOT void kernel_any_bit(uint8_t *restrict mask, const uint8_t *restrict column, size_t count,
                        uint8_t bits)
{
    for (size_t i = 0; i < count; i++)
        mask[i] = (uint8_t)(mask[i] & ((column[i] & bits) != 0));
}

HOT void kernel_in_runs(uint8_t *restrict mask, const uint16_t *restrict column, size_t count,
                        const struct rank_run *runs, size_t run_count)
{
    uint8_t found[BLOCK_ROWS];
    memset(found, 0, count);
    for (size_t r = 0; r < run_count; r++) {
        uint16_t first = runs[r].first, width = (uint16_t)(runs[r].last - runs[r].first);
        for (size_t i = 0; i < count; i++)
            found[i] = (uint8_t)(found[i] | ((uint16_t)(column[i] - first) <= width));
    }
    for (size_t i = 0; i < count; i++)
        mask[i] = (uint8_t)(mask[i] & found[i]);
}

void kernel_in_table16(uint8_t *restrict mask, const uint16_t *restrict column, size_t count,
                       const uint8_t *restrict table)
{
    for (size_t i = 0; i < count; i++)
        mask[i] = (uint8_t)(mask[i] & (table[column[i]] != 0));
}

HOT void kernel_range32(uint8_t *restrict mask, const int32_t *restrict column, size_t count,
                        int32_t low, int32_t high)
{
    for (size_t i = 0; i < count; i++)
        mask[i] = (uint8_t)(mask[i] & (column[i] >= low) & (column[i] <= high));
}

HOT void kernel_range64(uint8_t *restrict mask, const int64_t *restrict column, size_t count,
                        int64_t low, int64_t high)
{
    for (size_t i = 0; i < count; i++)
        mask[i] = (uint8_t)(mask[i] & (column[i] >= low) & (column[i] <= high));
}

HOT void kernel_in_list32(uint8_t *restrict mask, const int32_t *restrict column, size_t count,
                          const int32_t *values, size_t value_count)
{
    uint8_t found[BLOCK_ROWS];
    memset(found, 0, count);
    for (size_t v = 0; v < value_count; v++) {
        int32_t value = values[v];
        for (size_t i = 0; i < count; i++)
            found[i] = (uint8_t)(found[i] | (column[i] == value));
    }
    for (size_t i = 0; i < count; i++)
        mask[i] = (uint8_t)(mask[i] & found[i]);
}

void kernel_fresh(uint8_t *restrict mask, const int64_t *restrict own_us,
                  const uint8_t *restrict sample, const uint16_t *restrict provider,
                  const int64_t *restrict cutoff_us, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mask[i] = (uint8_t)(mask[i] & ((sample[i] != 0) | (own_us[i] >= cutoff_us[provider[i]])));
}

HOT void kernel_min32(int32_t *restrict values, const int32_t *restrict column, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = column[i] < values[i] ? column[i] : values[i];
}

HOT size_t kernel_count(const uint8_t *mask, size_t count)
{
    size_t total = 0;
    for (size_t at = 0; at < count; at += 128) { /* at most 128 ones fit a byte-wide sum */
        size_t end = at + 128 < count ? at + 128 : count;
        uint8_t sum = 0;
        for (size_t i = at; i < end; i++)
            sum = (uint8_t)(sum + mask[i]);
        total += sum;
    }
    return total;
}
