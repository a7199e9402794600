/* From votes to figures, and a GPU counted from nothing. */
#include "server/base/decimal.h"
#include "server/base/sort.h"
#include "server/catalog/market_tally.h"

#include <stdlib.h>
#include <string.h>

void tally_room_free(struct tally_room *room)
{
    free(room->keys);
    free(room->votes);
    free(room->scratch);
}

void market_tally_free(struct market_tally *tally)
{
    if (tally == NULL)
        return;
    for (size_t i = 0; i < tally->part_count; i++) {
        free(tally->parts[i].keys);
        free(tally->parts[i].items);
    }
    for (unsigned cell = 0; cell < CELL_COUNT; cell++)
        free(tally->cells[cell].votes);
    free(tally->parts);
    free(tally);
}

/* ---- settling ---- */

static void make_room(struct tally_room *room, size_t votes)
{
    if (votes <= room->vote_capacity)
        return;
    room->vote_capacity = votes * 2;
    room->votes = xrealloc(room->votes, room->vote_capacity * sizeof(*room->votes));
    room->scratch = xrealloc(room->scratch, 3 * room->vote_capacity * sizeof(*room->scratch));
}

size_t market_tally_votes(const struct tally_cell *cell, struct tally_room *room,
                          struct index_figures *ret_figures)
{
    make_room(room, cell->count);
    for (size_t i = 0; i < cell->count; i++) {
        uint16_t slot = tally_vote_slot(cell->votes[i]);
        room->votes[i] = (struct index_vote){
            .microusd = (int64_t)(cell->votes[i] >> INDEX_AMOUNT_SHIFT),
            .offers = cell->offers[i],
            .provider = slot,
            .origin = room->slots->origin[slot],
            .order = room->slots->order[slot],
        };
    }
    *ret_figures = index_settle(room->votes, cell->count, room->scratch);
    return cell->count;
}

static void settle_cell(struct tally_cell *cell, struct tally_room *room)
{
    cell->resold = 0;
    cell->outliers = 0;
    if (cell->resellers == 0) {
        cell->figures = index_settle_sorted(cell->votes, cell->offers, cell->count,
                                            cell->all_offers, &cell->outliers);
        return;
    }
    size_t count = market_tally_votes(cell, room, &cell->figures);
    for (size_t i = 0; i < count; i++) {
        cell->resold += room->votes[i].reason == INDEX_RESOLD ? room->votes[i].offers : 0;
        cell->outliers += room->votes[i].reason == INDEX_OUTLIER ? room->votes[i].offers : 0;
    }
}

/* Where index_settle_sorted looks first. */
static void ask_for(const struct tally_cell *cell)
{
    __builtin_prefetch(cell->votes);
    __builtin_prefetch(cell->votes + cell->count / 4);
    __builtin_prefetch(cell->votes + cell->count / 2);
    __builtin_prefetch(cell->votes + cell->count / 2 + cell->count / 4);
    __builtin_prefetch(cell->votes + cell->count);
}

void market_tally_settle(struct market_tally *tally, struct tally_room *room)
{
    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t word = 0; word < TALLY_WORDS; word++) {
            for (uint64_t bits = tally->unsettled[word]; bits != 0; bits &= bits - 1)
                (pass == 0
                     ? ask_for(&tally->cells[word * 64 + (size_t)__builtin_ctzll(bits)])
                     : settle_cell(&tally->cells[word * 64 + (size_t)__builtin_ctzll(bits)], room));
        }
    }
}

/* ---- counting from nothing ---- */

/* Votes came by slot, of which each has one: offers follow by their slots. */
static void order_cell(struct tally_cell *cell, struct tally_room *room)
{
    make_room(room, cell->count);
    uint64_t *by_slot = room->scratch;
    for (uint32_t i = 0; i < cell->count; i++)
        by_slot[i] = (uint64_t)tally_vote_slot(cell->votes[i]) << 32 | cell->offers[i];
    sort_u64(cell->votes, by_slot + cell->count, cell->count);
    for (uint32_t i = 0; i < cell->count; i++) {
        uint32_t low = 0, high = cell->count - 1;
        uint16_t slot = tally_vote_slot(cell->votes[i]);
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (by_slot[middle] >> 32 < slot)
                low = middle + 1;
            else
                high = middle;
        }
        cell->offers[i] = (uint32_t)by_slot[low];
    }
}

void market_tally_order(struct market_tally *tally, struct tally_room *room)
{
    for (unsigned cell = 0; cell < CELL_COUNT; cell++) {
        if (tally->cells[cell].count > 1)
            order_cell(&tally->cells[cell], room);
    }
}

/* The keys of a GPU as they are found, with whose they are. */
struct gathering {
    uint64_t *keys;
    uint16_t *slots;
    size_t count, capacity;
    uint32_t *ends; /* by slot: how many, then where they go */
};

static void gather_row(struct gathering *gathering, const int64_t *cutoff_us,
                       const struct segment *segment, uint32_t row)
{
    if (gathering->count + ROW_KEYS_MAX > gathering->capacity) {
        gathering->capacity = gathering->capacity * 2 + 4 * ROW_KEYS_MAX;
        gathering->keys = xrealloc(gathering->keys, gathering->capacity * sizeof(*gathering->keys));
        gathering->slots =
            xrealloc(gathering->slots, gathering->capacity * sizeof(*gathering->slots));
    }
    uint16_t slot = segment->provider[row];
    size_t count = market_row_keys(cutoff_us, segment, row, gathering->keys + gathering->count);
    for (size_t i = 0; i < count; i++)
        gathering->slots[gathering->count++] = slot;
    gathering->ends[slot] += (uint32_t)count;
}

static void gather(struct gathering *gathering, const struct market_source *source, uint16_t rank)
{
    const struct snapshot *snapshot = source->snapshot;
    gathering->ends = xcalloc(snapshot->slot_count + 1, sizeof(*gathering->ends));
    for (size_t s = 0; s < snapshot->segment_count; s++) {
        const struct segment *segment = snapshot->segments[s];
        for (uint32_t row = segment->gpu_start[rank]; row < segment->gpu_start[rank + 1]; row++) {
            if (alive_has(source->alive[s], row) &&
                !snapshot->slots[segment->provider[row]]->provider.suspended)
                gather_row(gathering, source->cutoff_us, segment, row);
        }
    }
}

struct market_tally *market_tally_new(void)
{
    struct market_tally *tally = xcalloc(1, sizeof(*tally));
    uint32_t outliers;
    for (unsigned cell = 0; cell < CELL_COUNT; cell++)
        tally->cells[cell].figures = index_settle_sorted(NULL, NULL, 0, 0, &outliers);
    return tally;
}

struct market_tally *market_tally_of(const struct market_source *source, uint16_t rank,
                                     struct tally_room *room)
{
    struct gathering gathering = {0};
    struct market_tally *tally = NULL;
    gather(&gathering, source, rank);
    if (gathering.count > 0) {
        uint64_t *keys = xmalloc(2 * gathering.count * sizeof(*keys)); /* and as many to sort */
        uint32_t start = 0;
        for (size_t slot = 0; slot < source->snapshot->slot_count; slot++) {
            uint32_t count = gathering.ends[slot];
            gathering.ends[slot] = start;
            start += count;
        }
        for (size_t i = 0; i < gathering.count; i++)
            keys[gathering.ends[gathering.slots[i]]++] = gathering.keys[i];
        tally = market_tally_new();
        room->unordered = true;
        start = 0;
        for (size_t slot = 0; slot < source->snapshot->slot_count; slot++) {
            uint32_t end = gathering.ends[slot];
            sort_u64(keys + start, keys + gathering.count, end - start);
            if (end > start)
                market_tally_change(tally, room, (uint16_t)slot, NULL, 0, keys + start,
                                    end - start);
            start = end;
        }
        room->unordered = false;
        market_tally_order(tally, room);
        market_tally_settle(tally, room);
        free(keys);
    }
    free(gathering.keys);
    free(gathering.slots);
    free(gathering.ends);
    return tally;
}
