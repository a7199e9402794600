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

/* The highest byte, as a shift, in which the values differ. */
static unsigned highest_difference(const uint64_t *values, size_t count)
{
    uint64_t differing = 0;
    for (size_t i = 1; i < count; i++)
        differing |= values[i] ^ values[0];
    return differing == 0 ? 0 : (63 - (unsigned)__builtin_clzll(differing)) / 8 * 8;
}

/* Narrows to the values that share the highest bytes with the wanted one, byte by byte. */
void sort_middle_u64(uint64_t *values, size_t count, uint64_t *ret_low, uint64_t *ret_high)
{
    size_t wanted = count / 2;
    bool odd = count % 2 == 1, has_below = false;
    uint64_t below = 0; /* the largest of what was left behind below */
    while (count > INSERTION_MAX) {
        size_t sizes[256] = {0}, before = 0, kept = 0;
        unsigned shift = highest_difference(values, count), digit = 0;
        for (size_t i = 0; i < count; i++)
            sizes[values[i] >> shift & 0xff]++;
        while (before + sizes[digit] <= wanted)
            before += sizes[digit++];
        if (sizes[digit] == count)
            break; /* all are the same */
        uint64_t largest = 0;
        for (size_t i = 0; i < count; i++) {
            unsigned own = values[i] >> shift & 0xff;
            uint64_t value = values[i];
            largest = own < digit && value > largest ? value : largest;
            values[kept] = value; /* overwritten by the next where it is not kept */
            kept += own == digit;
        }
        if (before > 0) {
            below = largest;
            has_below = true;
        }
        wanted -= before;
        count = kept;
    }
    if (count <= INSERTION_MAX)
        insert_all(values, count);
    *ret_high = values[wanted];
    *ret_low = odd ? *ret_high : wanted > 0 ? values[wanted - 1] : has_below ? below : *ret_high;
}
