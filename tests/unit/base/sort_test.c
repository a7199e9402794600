/* Sorting: few and many values, few and many bytes that differ, ties. */
#include "server/base/sort.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(sort, .timeout = 20);

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

Test(sort, agrees_with_qsort)
{
    static uint64_t values[3000], scratch[3000], expected[3000];
    static const size_t counts[] = {0, 1, 2, 47, 48, 49, 50, 255, 256, 1000, 3000};
    srand(7);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        for (unsigned bits = 1; bits <= 64; bits += 7) {
            for (size_t j = 0; j < counts[i]; j++)
                values[j] = expected[j] =
                    ((uint64_t)rand() << 40 ^ (uint64_t)rand() << 20 ^ (uint64_t)rand()) >>
                    (64 - bits);
            sort_u64(values, scratch, counts[i]);
            qsort(expected, counts[i], sizeof(*expected), compare);
            for (size_t j = 0; j < counts[i]; j++)
                cr_assert(values[j] == expected[j], "%zu values of %u bits, at %zu", counts[i],
                          bits, j);
        }
    }
}
