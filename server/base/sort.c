/* Few values by insertion, many by their bytes from the lowest up (LSD radix); bytes that all
 * values share are skipped. */
#include "server/base/sort.h"

#include <stdbool.h>
#include <string.h>

#define INSERTION_MAX 48

static void insert_all(uint64_t *values, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t value = values[i];
        size_t at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

static bool is_sorted(const uint64_t *values, size_t count)
{
    size_t at = 1;
    while (at < count && values[at - 1] <= values[at])
        at++;
    return at >= count;
}

void sort_u64(uint64_t *values, uint64_t *scratch, size_t count)
{
    if (is_sorted(values, count))
        return;
    if (count <= INSERTION_MAX) {
        insert_all(values, count);
        return;
    }
    uint64_t all = UINT64_MAX, any = 0, *from = values, *to = scratch;
    for (size_t i = 0; i < count; i++) {
        all &= values[i];
        any |= values[i];
    }
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if (((all ^ any) >> shift & 0xff) == 0)
            continue;
        size_t starts[257] = {0};
        for (size_t i = 0; i < count; i++)
            starts[(from[i] >> shift & 0xff) + 1]++;
        for (size_t i = 1; i < 257; i++)
            starts[i] += starts[i - 1];
        for (size_t i = 0; i < count; i++)
            to[starts[from[i] >> shift & 0xff]++] = from[i];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != values)
        memcpy(values, from, count * sizeof(*values));
}
