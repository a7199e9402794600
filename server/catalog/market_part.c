/* A provider's keys of one GPU: which of them go and come, what that touches, and medians of them.
 */
#include "server/catalog/market_part.h"

#include "server/base/buf.h"

#include <stdlib.h>
#include <string.h>

/* See kernels.c. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HOT __attribute__((target_clones("avx2", "default")))
#else
#define HOT
#endif

/* Keys looked at together, which vector instructions do. */
#define KEYS_AT_ONCE 16

/* The keys among which a cell's are: those of its commitment that are `value` under `mask`. */
struct keys_of_cell {
    unsigned group;
    uint64_t mask, value;
};

static struct keys_of_cell keys_of(unsigned cell)
{
    if (cell < CELL_TERM(0))
        return (struct keys_of_cell){cell / CLUSTER_SIZE_COUNT, KEY_SIZE_MASK,
                                     (uint64_t)(cell % CLUSTER_SIZE_COUNT) << KEY_SIZE_SHIFT};
    if (cell <= CELL_RESERVED)
        return (struct keys_of_cell){cell - CELL_TERM(0), 0, 0};
    unsigned of_continents = cell - CELL_CONTINENT(0, 0);
    return (struct keys_of_cell){of_continents / CONTINENT_COUNT, KEY_CONTINENT_MASK,
                                 (uint64_t)(of_continents % CONTINENT_COUNT)
                                     << KEY_CONTINENT_SHIFT};
}

/* How many sorted keys are below the limit, which is mostly not far. */
HOT static size_t count_below(const uint64_t *keys, size_t count, uint64_t limit)
{
    size_t at = 0;
    for (; at + KEYS_AT_ONCE <= count; at += KEYS_AT_ONCE) {
        uint64_t below = 0;
        for (size_t i = 0; i < KEYS_AT_ONCE; i++)
            below += keys[at + i] < limit;
        if (below < KEYS_AT_ONCE)
            return at + below;
    }
    return at + lower_bound(keys + at, count - at, limit);
}

/* Where the key stands that `skip` others that are `value` under `mask` come before. */
HOT static size_t find_nth(const uint64_t *keys, uint64_t mask, uint64_t value, size_t skip,
                           size_t count)
{
    size_t at = 0;
    for (; at + KEYS_AT_ONCE <= count; at += KEYS_AT_ONCE) {
        uint64_t found = 0;
        for (size_t i = 0; i < KEYS_AT_ONCE; i++)
            found += (keys[at + i] & mask) == value;
        if (found > skip)
            break;
        skip -= found;
    }
    for (; at < count; at++) {
        if ((keys[at] & mask) == value && skip-- == 0)
            break;
    }
    return at;
}

/* Where the keys of the groups are that changed. */
static void find_groups(struct tally_room *room, const struct tally_part *part)
{
    for (unsigned groups = room->groups; groups != 0; groups &= groups - 1) {
        unsigned group = (unsigned)__builtin_ctz(groups);
        size_t start =
            lower_bound(part->keys, part->key_count, (uint64_t)group << KEY_COMMITMENT_SHIFT);
        room->keys_of[group] = part->keys + start;
        room->count_of[group] = lower_bound(part->keys + start, part->key_count - start,
                                            (uint64_t)(group + 1) << KEY_COMMITMENT_SHIFT);
    }
    room->groups = 0;
}

uint64_t market_part_median(const struct tally_room *room, unsigned cell, size_t count)
{
    struct keys_of_cell of = keys_of(cell);
    const uint64_t *keys = room->keys_of[of.group];
    size_t all = room->count_of[of.group], at = (count - 1) / 2, next = at + 1;
    if (count < all) {
        at = find_nth(keys, of.mask, of.value, at, all);
        if (count % 2 == 0)
            next = at + 1 + find_nth(keys + at + 1, of.mask, of.value, 0, all - at - 1);
    }
    if (count % 2 == 1)
        return key_amount(keys[at]);
    const uint64_t middle[2] = {key_amount(keys[at]), key_amount(keys[next])};
    return (uint64_t)index_median(middle, 2);
}

static void touch(struct market_tally *tally, struct tally_room *room, unsigned cell, int32_t sign,
                  bool first)
{
    room->prices[cell] += sign;
    room->offers[cell] += first ? sign : 0;
    if ((room->touched[cell / 64] >> (cell % 64) & 1) != 0)
        return;
    room->touched[cell / 64] |= UINT64_C(1) << (cell % 64);
    __builtin_prefetch(&tally->cells[cell].votes);
    __builtin_prefetch(&tally->cells[cell].figures);
}

/* The key of a price that counts comes (sign 1) or goes (-1): notes its cells. */
static void note_key(struct market_tally *tally, struct tally_room *room, uint64_t key,
                     int32_t sign)
{
    unsigned group = key_group(key);
    room->groups |= 1U << group;
    touch(tally, room, CELL_TERM(group), sign, (key & KEY_FIRST) != 0);
    if (group == KEY_RESERVED)
        return;
    touch(tally, room, CELL_SIZED(group, key_size(key)), sign, (key & KEY_FIRST_SIZED) != 0);
    touch(tally, room, CELL_CONTINENT(group, key_continent(key)), sign, (key & KEY_FIRST) != 0);
}

static void reserve_keys(struct tally_part *part, size_t count)
{
    if (count <= part->key_capacity)
        return;
    part->key_capacity = (uint32_t)(part->key_capacity == 0 ? count : count + count / 4);
    part->keys = xrealloc(part->keys, part->key_capacity * sizeof(*part->keys));
}

/* Notes the keys of offers left out, which stand before all others of their group and are not kept;
 * their number. */
static size_t note_left_out(struct market_tally *tally, const uint64_t *keys, size_t count,
                            int32_t sign)
{
    size_t left_out = 0;
    for (; left_out < count && key_amount(keys[left_out]) == 0; left_out++) {
        unsigned group = key_group(keys[left_out]);
        tally->excluded[group][key_reason(keys[left_out])] += (uint32_t)sign;
        tally->recounted |= 1U << group;
    }
    return left_out;
}

/* Keys of one group go and come. Only what lies between the first and the last of them moves, if
 * they are as many; runs between them are copied whole. */
static void change_group(struct market_tally *tally, struct tally_room *room,
                         struct tally_part *part, const uint64_t *gone, size_t gone_count,
                         const uint64_t *come, size_t come_count)
{
    size_t i = note_left_out(tally, gone, gone_count, -1);
    size_t j = note_left_out(tally, come, come_count, 1);
    if (i == gone_count && j == come_count)
        return;
    if (part->key_count + come_count > room->key_capacity) {
        room->key_capacity = 2 * (part->key_count + come_count);
        room->keys = xrealloc(room->keys, room->key_capacity * sizeof(*room->keys));
    }
    uint64_t first = j == come_count || (i < gone_count && gone[i] < come[j]) ? gone[i] : come[j];
    size_t start = lower_bound(part->keys, part->key_count, first), at = start, kept = 0;
    while (i < gone_count || j < come_count) {
        bool goes = j == come_count || (i < gone_count && gone[i] < come[j]);
        uint64_t key = goes ? gone[i++] : come[j++];
        size_t run = count_below(part->keys + at, part->key_count - at, key);
        note_key(tally, room, key, goes ? -1 : 1);
        if (run > 0)
            memcpy(room->keys + kept, part->keys + at, run * sizeof(*room->keys));
        kept += run;
        at += run + goes;
        if (!goes)
            room->keys[kept++] = key;
    }
    size_t end = start + kept, rest = part->key_count - at;
    reserve_keys(part, end + rest);
    if (end != at && rest > 0)
        memmove(part->keys + end, part->keys + at, rest * sizeof(*part->keys));
    if (kept > 0)
        memcpy(part->keys + start, room->keys, kept * sizeof(*part->keys));
    part->key_count = (uint32_t)(end + rest);
}

/* How many of the keys are of the group. */
static size_t of_group(const uint64_t *keys, size_t count, unsigned group)
{
    size_t of = 0;
    while (of < count && key_group(keys[of]) == group)
        of++;
    return of;
}

void market_part_change(struct market_tally *tally, struct tally_room *room,
                        struct tally_part *part, const uint64_t *gone, size_t gone_count,
                        const uint64_t *come, size_t come_count)
{
    reserve_keys(part, part->key_count + come_count -
                           (come_count < gone_count ? come_count : gone_count));
    for (unsigned group = 0; group < KEY_GROUPS && gone_count + come_count > 0; group++) {
        size_t go = of_group(gone, gone_count, group), come_in = of_group(come, come_count, group);
        change_group(tally, room, part, gone, go, come, come_in);
        gone += go;
        gone_count -= go;
        come += come_in;
        come_count -= come_in;
    }
    find_groups(room, part);
}
