/* Each kernel does one thing to one column without a branch but for empty words. */
#include "server/catalog/kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_AVX2 1
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,popcnt,bmi")))
#endif

static bool avoid_avx2;

void kernels_use_avx2(bool yes)
{
    avoid_avx2 = !yes;
}

#ifdef HAVE_AVX2
static bool use_avx2(void)
{
    return __builtin_cpu_supports("avx2") && !avoid_avx2;
}
#endif

/* A word out of 64 tests, each of them an expression of `i`. */
#define WORD_OF(test)                                                                              \
    ({                                                                                             \
        uint64_t word_ = 0;                                                                        \
        for (size_t i = 0; i < WORD_ROWS; i++)                                                     \
            word_ |= (uint64_t)(test) << i;                                                        \
        word_;                                                                                     \
    })

/* Clears the bits of a word whose test fails, looking only at bits that are set. */
#define KEEP_IF(mask, words, row, test)                                                            \
    for (size_t w_ = 0; w_ < (words); w_++) {                                                      \
        for (uint64_t left_ = (mask)[w_]; left_ != 0; left_ &= left_ - 1) {                        \
            size_t row = w_ * WORD_ROWS + (size_t)__builtin_ctzll(left_);                          \
            if (!(test))                                                                           \
                (mask)[w_] &= ~(left_ & -left_);                                                   \
        }                                                                                          \
    }

#ifdef HAVE_AVX2
static inline AVX2 __m256i load(const void *at)
{
    return _mm256_loadu_si256(at);
}

/* 32 bytes of 0 or 0xff to 32 bits. */
static inline AVX2 uint64_t bits_of_bytes(__m256i bytes)
{
    return (uint32_t)_mm256_movemask_epi8(bytes);
}

/* 2 x 16 words of 0 or 0xffff to 32 bits, in order. */
static inline AVX2 uint64_t bits_of_words(__m256i low, __m256i high)
{
    __m256i packed = _mm256_packs_epi16(low, high);
    return bits_of_bytes(_mm256_permute4x64_epi64(packed, 0xd8));
}

static inline AVX2 uint64_t bits_of_longs(__m256i longs)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(longs));
}

static AVX2 void any_bit_avx2(uint64_t *mask, const uint8_t *column, size_t words, uint8_t bits)
{
    __m256i wanted = _mm256_set1_epi8((char)bits), zero = _mm256_setzero_si256();
    for (size_t w = 0; w < words; w++, column += WORD_ROWS) {
        if (mask[w] == 0)
            continue;
        __m256i low = _mm256_cmpeq_epi8(_mm256_and_si256(load(column), wanted), zero);
        __m256i high = _mm256_cmpeq_epi8(_mm256_and_si256(load(column + 32), wanted), zero);
        mask[w] &= ~(bits_of_bytes(low) | bits_of_bytes(high) << 32);
    }
}

static AVX2 void no_bit_avx2(uint64_t *mask, const uint8_t *column, size_t words, uint8_t bits)
{
    __m256i unwanted = _mm256_set1_epi8((char)bits), zero = _mm256_setzero_si256();
    for (size_t w = 0; w < words; w++, column += WORD_ROWS) {
        if (mask[w] == 0)
            continue;
        __m256i low = _mm256_cmpeq_epi8(_mm256_and_si256(load(column), unwanted), zero);
        __m256i high = _mm256_cmpeq_epi8(_mm256_and_si256(load(column + 32), unwanted), zero);
        mask[w] &= bits_of_bytes(low) | bits_of_bytes(high) << 32;
    }
}

static inline AVX2 __m256i in_runs_16(const uint16_t *column, const struct rank_run *runs,
                                      size_t run_count)
{
    __m256i values = load(column), found = _mm256_setzero_si256();
    for (size_t r = 0; r < run_count; r++) {
        __m256i from = _mm256_sub_epi16(values, _mm256_set1_epi16((short)runs[r].first));
        __m256i width = _mm256_set1_epi16((short)(runs[r].last - runs[r].first));
        found = _mm256_or_si256(found, _mm256_cmpeq_epi16(_mm256_min_epu16(from, width), from));
    }
    return found;
}

static AVX2 void in_runs_avx2(uint64_t *mask, const uint16_t *column, size_t words,
                              const struct rank_run *runs, size_t run_count)
{
    for (size_t w = 0; w < words; w++, column += WORD_ROWS) {
        if (mask[w] == 0)
            continue;
        uint64_t low = bits_of_words(in_runs_16(column, runs, run_count),
                                     in_runs_16(column + 16, runs, run_count));
        uint64_t high = bits_of_words(in_runs_16(column + 32, runs, run_count),
                                      in_runs_16(column + 48, runs, run_count));
        mask[w] &= low | high << 32;
    }
}

static AVX2 void range32_avx2(uint64_t *mask, const int32_t *column, size_t words, int32_t low,
                              int32_t high)
{
    __m256i least = _mm256_set1_epi32(low), most = _mm256_set1_epi32(high);
    for (size_t w = 0; w < words; w++, column += WORD_ROWS) {
        if (mask[w] == 0)
            continue;
        uint64_t outside = 0;
        for (unsigned i = 0; i < WORD_ROWS; i += 8) {
            __m256i values = load(column + i);
            outside |= bits_of_longs(_mm256_or_si256(_mm256_cmpgt_epi32(least, values),
                                                     _mm256_cmpgt_epi32(values, most)))
                       << i;
        }
        mask[w] &= ~outside;
    }
}

static AVX2 void range64_avx2(uint64_t *mask, const int64_t *column, size_t words, int64_t low,
                              int64_t high)
{
    __m256i least = _mm256_set1_epi64x(low), most = _mm256_set1_epi64x(high);
    for (size_t w = 0; w < words; w++, column += WORD_ROWS) {
        if (mask[w] == 0)
            continue;
        uint64_t outside = 0;
        for (unsigned i = 0; i < WORD_ROWS; i += 4) {
            __m256i values = load(column + i);
            __m256i out = _mm256_or_si256(_mm256_cmpgt_epi64(least, values),
                                          _mm256_cmpgt_epi64(values, most));
            outside |= (uint64_t)(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(out)) << i;
        }
        mask[w] &= ~outside;
    }
}

static AVX2 void in_list32_avx2(uint64_t *mask, const int32_t *column, size_t words,
                                const int32_t *wanted, size_t wanted_count)
{
    for (size_t w = 0; w < words; w++, column += WORD_ROWS) {
        if (mask[w] == 0)
            continue;
        uint64_t inside = 0;
        for (unsigned i = 0; i < WORD_ROWS; i += 8) {
            __m256i values = load(column + i), found = _mm256_setzero_si256();
            for (size_t v = 0; v < wanted_count; v++)
                found = _mm256_or_si256(found,
                                        _mm256_cmpeq_epi32(values, _mm256_set1_epi32(wanted[v])));
            inside |= bits_of_longs(found) << i;
        }
        mask[w] &= inside;
    }
}

/* What a table of bytes says of 8 ranks, a byte in each 32 bits; reads up to 3 bytes behind it. */
static inline AVX2 __m256i gather8(const uint8_t *table, const uint16_t *column)
{
    __m256i ranks = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)column));
    return _mm256_i32gather_epi32((const int *)(const void *)table, ranks, 1);
}

static AVX2 void in_table16_avx2(uint64_t *mask, const uint16_t *column, size_t words,
                                 const uint8_t *table)
{
    __m256i byte = _mm256_set1_epi32(0xff), zero = _mm256_setzero_si256();
    for (size_t w = 0; w < words; w++, column += WORD_ROWS) {
        uint64_t outside = 0, live = mask[w];
        for (unsigned i = 0; i < WORD_ROWS; i += 8) {
            if ((live >> i & 0xff) == 0)
                continue;
            __m256i found = _mm256_and_si256(gather8(table, column + i), byte);
            outside |= bits_of_longs(_mm256_cmpeq_epi32(found, zero)) << i;
        }
        mask[w] &= ~outside;
    }
}

static AVX2 void words_avx2(uint64_t *mask, const uint16_t *gpu, const uint16_t *place,
                            const uint16_t *provider, const struct word_tables *tables,
                            size_t words)
{
    __m256i need = _mm256_set1_epi32(tables->need);
    for (size_t w = 0; w < words;
         w++, gpu += WORD_ROWS, place += WORD_ROWS, provider += WORD_ROWS) {
        uint64_t inside = 0, live = mask[w];
        for (unsigned i = 0; i < WORD_ROWS; i += 8) {
            if ((live >> i & 0xff) == 0)
                continue;
            __m256i found = _mm256_or_si256(gather8(tables->of_gpu, gpu + i),
                                            gather8(tables->of_provider, provider + i));
            if (tables->places)
                found = _mm256_or_si256(found, gather8(tables->of_place, place + i));
            inside |= bits_of_longs(_mm256_cmpeq_epi32(_mm256_and_si256(found, need), need)) << i;
        }
        mask[w] &= inside;
    }
}

static AVX2 size_t count_popcnt(const uint64_t *mask, size_t words)
{
    size_t total = 0;
    for (size_t w = 0; w < words; w++)
        total += (size_t)__builtin_popcountll(mask[w]);
    return total;
}
#endif

/* Takes the AVX2 version of a kernel where that is possible. */
#ifdef HAVE_AVX2
#define PREFER_AVX2(call)                                                                          \
    if (use_avx2()) {                                                                              \
        call;                                                                                      \
        return;                                                                                    \
    }
#else
#define PREFER_AVX2(call)
#endif

void kernel_any_bit(uint64_t *mask, const uint8_t *column, size_t words, uint8_t bits)
{
    PREFER_AVX2(any_bit_avx2(mask, column, words, bits))
    for (size_t w = 0; w < words; w++, column += WORD_ROWS)
        mask[w] &= WORD_OF((column[i] & bits) != 0);
}

void kernel_no_bit(uint64_t *mask, const uint8_t *column, size_t words, uint8_t bits)
{
    PREFER_AVX2(no_bit_avx2(mask, column, words, bits))
    for (size_t w = 0; w < words; w++, column += WORD_ROWS)
        mask[w] &= WORD_OF((column[i] & bits) == 0);
}

void kernel_in_runs(uint64_t *mask, const uint16_t *column, size_t words,
                    const struct rank_run *runs, size_t run_count)
{
    PREFER_AVX2(in_runs_avx2(mask, column, words, runs, run_count))
    for (size_t w = 0; w < words; w++, column += WORD_ROWS) {
        uint64_t found = 0;
        for (size_t r = 0; r < run_count && mask[w] != 0; r++) {
            uint16_t first = runs[r].first, width = (uint16_t)(runs[r].last - first);
            found |= WORD_OF((uint16_t)(column[i] - first) <= width);
        }
        mask[w] &= found;
    }
}

void kernel_in_table16(uint64_t *mask, const uint16_t *column, size_t words, const uint8_t *table)
{
    PREFER_AVX2(in_table16_avx2(mask, column, words, table))
    KEEP_IF(mask, words, row, table[column[row]] != 0)
}

void kernel_range32(uint64_t *mask, const int32_t *column, size_t words, int32_t low, int32_t high)
{
    PREFER_AVX2(range32_avx2(mask, column, words, low, high))
    for (size_t w = 0; w < words; w++, column += WORD_ROWS)
        mask[w] &= WORD_OF((column[i] >= low) & (column[i] <= high));
}

void kernel_range64(uint64_t *mask, const int64_t *column, size_t words, int64_t low, int64_t high)
{
    PREFER_AVX2(range64_avx2(mask, column, words, low, high))
    for (size_t w = 0; w < words; w++, column += WORD_ROWS)
        mask[w] &= WORD_OF((column[i] >= low) & (column[i] <= high));
}

void kernel_in_list32(uint64_t *mask, const int32_t *column, size_t words, const int32_t *values,
                      size_t value_count)
{
    PREFER_AVX2(in_list32_avx2(mask, column, words, values, value_count))
    for (size_t w = 0; w < words; w++, column += WORD_ROWS) {
        uint64_t found = 0;
        for (size_t v = 0; v < value_count && mask[w] != 0; v++)
            found |= WORD_OF(column[i] == values[v]);
        mask[w] &= found;
    }
}

void kernel_fresh(uint64_t *mask, const int64_t *own_us, const uint8_t *sample,
                  const uint16_t *provider, const int64_t *cutoff_us, size_t words)
{
    KEEP_IF(mask, words, row, sample[row] != 0 || own_us[row] >= cutoff_us[provider[row]])
}

void kernel_words(uint64_t *mask, const uint16_t *gpu, const uint16_t *place,
                  const uint16_t *provider, const struct word_tables *tables, size_t words)
{
    PREFER_AVX2(words_avx2(mask, gpu, place, provider, tables, words))
    KEEP_IF(mask, words, row,
            ((tables->of_gpu[gpu[row]] | tables->of_place[place[row]] |
              tables->of_provider[provider[row]]) &
             tables->need) == tables->need)
}

void kernel_min32(int32_t *values, const int32_t *column, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = column[i] < values[i] ? column[i] : values[i];
}

size_t kernel_count(const uint64_t *mask, size_t words)
{
#ifdef HAVE_AVX2
    if (use_avx2())
        return count_popcnt(mask, words);
#endif
    size_t total = 0;
    for (size_t w = 0; w < words; w++)
        total += (size_t)__builtin_popcountll(mask[w]);
    return total;
}
