/* Counting: a provider's keys change, so do its votes in the cells that these keys are of, and
 * nothing else. */
#include "server/catalog/market_part.h"

#include "server/base/buf.h"

#include <stdlib.h>
#include <string.h>

/* How much of a part is asked for ahead. */
#define LINE_BYTES    64
#define FORESEEN_KEYS 2048

/* The same, from a place on that is likely near. */
static size_t lower_bound_near(const uint64_t *values, size_t count, size_t near, uint64_t wanted)
{
    size_t step = 1, low = near < count ? near : count / 2, high = low;
    if (low < count && values[low] < wanted) {
        for (low++; low + step <= count && values[low + step - 1] < wanted; step *= 2)
            low += step;
        high = low + step <= count ? low + step - 1 : count;
    } else {
        for (; high >= step && values[high - step] >= wanted; step *= 2)
            high -= step;
        low = high >= step ? high - step + 1 : 0;
    }
    return low + lower_bound(values + low, high - low, wanted);
}

/* ---- cells ---- */

static bool is_reseller(const struct tally_room *room, uint16_t slot)
{
    return room->slots->origin[slot] != slot;
}

static void grow_cell(struct tally_cell *cell)
{
    uint32_t capacity = cell->capacity == 0 ? 8 : cell->capacity * 2;
    uint64_t *votes = xmalloc(capacity * (sizeof(*cell->votes) + sizeof(*cell->offers)));
    uint32_t *offers = (uint32_t *)(votes + capacity);
    if (cell->count > 0) {
        memcpy(votes, cell->votes, cell->count * sizeof(*votes));
        memcpy(offers, cell->offers, cell->count * sizeof(*offers));
    }
    free(cell->votes);
    cell->votes = votes;
    cell->offers = offers;
    cell->capacity = capacity;
}

/* Moves `count` votes from one position to another. */
static void move_votes(struct tally_cell *cell, size_t to, size_t from, size_t count)
{
    memmove(cell->votes + to, cell->votes + from, count * sizeof(*cell->votes));
    memmove(cell->offers + to, cell->offers + from, count * sizeof(*cell->offers));
}

static void put_vote(struct tally_cell *cell, size_t at, uint64_t vote, uint32_t offers)
{
    cell->votes[at] = vote;
    cell->offers[at] = offers;
    cell->all_offers += offers;
}

static void add_vote(struct tally_cell *cell, uint64_t vote, uint32_t offers, bool at_end,
                     uint16_t *ret_at)
{
    if (cell->count == cell->capacity)
        grow_cell(cell);
    size_t at = at_end ? cell->count : lower_bound(cell->votes, cell->count, vote);
    move_votes(cell, at + 1, at, cell->count - at);
    put_vote(cell, at, vote, offers);
    cell->count++;
    *ret_at = (uint16_t)at;
}

static void drop_vote(struct tally_cell *cell, uint64_t vote, uint16_t near)
{
    size_t at = lower_bound_near(cell->votes, cell->count, near, vote);
    cell->all_offers -= cell->offers[at];
    cell->count--;
    move_votes(cell, at, at + 1, cell->count - at);
}

/* Only what lies between the two positions moves. */
static void change_vote(struct tally_cell *cell, uint64_t before, uint64_t vote, uint32_t offers,
                        uint16_t *near)
{
    size_t from = lower_bound_near(cell->votes, cell->count, *near, before), to = from;
    cell->all_offers -= cell->offers[from];
    if (vote > before) {
        to = lower_bound_near(cell->votes, cell->count, from, vote) - 1;
        move_votes(cell, from, from + 1, to - from);
    } else if (vote < before) {
        to = lower_bound_near(cell->votes, from, from - 1, vote);
        move_votes(cell, to + 1, to, from - to);
    }
    put_vote(cell, to, vote, offers);
    *near = (uint16_t)to;
}

/* ---- one provider's part ---- */

/* Where the slot's part is, or would be. */
static size_t place_of_part(const struct market_tally *tally, uint16_t slot)
{
    /* Never behind its slot, and there where every slot before has a part. */
    size_t low = 0, high = slot < tally->part_count ? slot : tally->part_count;
    if (high > 0 && tally->parts[high - 1].slot < slot)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tally->parts[middle].slot < slot)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct tally_part *part_of(struct market_tally *tally, uint16_t slot)
{
    size_t at = place_of_part(tally, slot);
    if (at < tally->part_count && tally->parts[at].slot == slot)
        return &tally->parts[at];
    if (tally->part_count == tally->part_capacity) {
        tally->part_capacity = tally->part_capacity * 2 + 8;
        tally->parts = xrealloc(tally->parts, tally->part_capacity * sizeof(*tally->parts));
    }
    memmove(tally->parts + at + 1, tally->parts + at,
            (tally->part_count++ - at) * sizeof(*tally->parts));
    tally->parts[at] = (struct tally_part){.slot = slot};
    return &tally->parts[at];
}

void market_tally_foresee(const struct market_tally *tally, uint16_t slot)
{
    size_t at = place_of_part(tally, slot);
    if (at == tally->part_count || tally->parts[at].slot != slot)
        return;
    const struct tally_part *part = &tally->parts[at];
    for (size_t i = 0; i < part->item_count; i += LINE_BYTES / sizeof(*part->items))
        __builtin_prefetch(part->items + i);
    for (size_t i = 0; i < part->key_count && i < FORESEEN_KEYS;
         i += LINE_BYTES / sizeof(*part->keys))
        __builtin_prefetch(part->keys + i);
}

/* What the part contributes to a cell, from item `*next` on, which moves on. */
static struct tally_item *item_of(struct tally_part *part, uint16_t cell, uint16_t *next)
{
    uint16_t low = *next;
    while (low < part->item_count && part->items[low].cell < cell)
        low++;
    *next = low;
    if (low < part->item_count && part->items[low].cell == cell)
        return &part->items[low];
    if (part->item_count == part->item_capacity) {
        part->item_capacity = (uint16_t)(part->item_capacity + part->item_capacity / 2 + 8);
        part->items = xrealloc(part->items, part->item_capacity * sizeof(*part->items));
    }
    memmove(part->items + low + 1, part->items + low,
            (size_t)(part->item_count++ - low) * sizeof(*part->items));
    part->items[low] = (struct tally_item){.cell = cell, .near = UINT16_MAX};
    return &part->items[low];
}

/* What becomes of the part's vote in a cell; 0 stands for no vote. False where it stays. */
static bool weigh(struct tally_room *room, struct tally_part *part, uint16_t cell, uint16_t *next,
                  struct vote_change *ret)
{
    struct tally_item *item = item_of(part, cell, next);
    const struct tally_item before = *item;
    item->prices += (uint32_t)room->prices[cell];
    item->offers += (uint32_t)room->offers[cell];
    room->prices[cell] = room->offers[cell] = 0;
    *ret = (struct vote_change){
        .before = before.prices == 0 ? 0 : tally_vote(before.microusd, part->slot),
        .offers = item->offers,
        .item = *next,
        .cell = cell,
        .near = before.near,
    };
    if (item->prices == 0) {
        part->item_count--;
        memmove(item, item + 1,
                (size_t)(part->items + part->item_count - item) * sizeof(*part->items));
    } else {
        item->microusd = market_part_median(room, cell, item->prices);
        ret->after = tally_vote(item->microusd, part->slot);
    }
    return ret->before != ret->after || item->offers != before.offers;
}

static void carry_out(struct market_tally *tally, struct tally_room *room, struct tally_part *part,
                      const struct vote_change *change)
{
    struct tally_cell *cell = &tally->cells[change->cell];
    struct tally_item *item = &part->items[change->item];
    if (change->before == 0)
        add_vote(cell, change->after, change->offers, room->unordered, &item->near);
    else if (change->after == 0)
        drop_vote(cell, change->before, change->near);
    else
        change_vote(cell, change->before, change->after, change->offers, &item->near);
    if (is_reseller(room, part->slot))
        cell->resellers += (uint32_t)(change->after != 0) - (uint32_t)(change->before != 0);
    tally->unsettled[change->cell / 64] |= UINT64_C(1) << (change->cell % 64);
}

/* Votes of different cells lie far apart: all are asked for before any is looked at. */
static void ask_for(const struct tally_cell *cell, uint16_t near)
{
    size_t at = near < cell->count ? near : cell->count / 2;
    __builtin_prefetch(cell->votes + at);
    __builtin_prefetch(cell->offers + at);
}

void market_tally_change(struct market_tally *tally, struct tally_room *room, uint16_t slot,
                         const uint64_t *gone, size_t gone_count, const uint64_t *come,
                         size_t come_count)
{
    struct tally_part *part = part_of(tally, slot);
    struct vote_change *changes = room->changes;
    size_t count = 0;
    uint16_t next = 0;
    market_part_change(tally, room, part, gone, gone_count, come, come_count);
    for (size_t word = 0; word < TALLY_WORDS; word++) {
        for (; room->touched[word] != 0; room->touched[word] &= room->touched[word] - 1) {
            size_t cell = word * 64 + (size_t)__builtin_ctzll(room->touched[word]);
            if (!weigh(room, part, (uint16_t)cell, &next, &changes[count]))
                continue;
            ask_for(&tally->cells[cell], changes[count].near);
            count++;
        }
    }
    for (size_t i = 0; i < count; i++)
        carry_out(tally, room, part, &changes[i]);
    if (part->key_count > 0)
        return;
    free(part->keys);
    free(part->items);
    memmove(part, part + 1,
            (size_t)(tally->parts + --tally->part_count - part) * sizeof(*tally->parts));
}
