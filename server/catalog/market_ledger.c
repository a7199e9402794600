/* Following the snapshots: rows that died, came, or turned stale or fresh become keys that go and
 * come, by GPU, provider and commitment; keys that do both, as those of an offer of which only the
 * stock changed, cancel out. */
#include "server/catalog/market_ledger.h"

#include "server/base/decimal.h"
#include "server/base/sort.h"
#include "server/base/timestamp.h"
#include "server/reference/gpu.h"

#include <stdlib.h>
#include <string.h>

/* A change of a larger part of all offers than one in so many is counted anew. */
#define ANEW_PART 4

/* Memory that is looked at in no order is asked for ahead: for so many rows, and so many pairs of
 * GPU and provider. */
#define AHEAD_ROWS     128
#define AHEAD_ENTRIES  16
#define FORESEEN_PAIRS 64

/* What market_row_keys looks at, in two steps: entries are found by the row. */
static void ask_for_row(const struct market_row *at)
{
    __builtin_prefetch(&at->segment->gpu_rank[at->row]);
    __builtin_prefetch(&at->segment->provider[at->row]);
    __builtin_prefetch(&at->segment->is_sample[at->row]);
    __builtin_prefetch(&at->segment->doubtful_bits[at->row]);
    __builtin_prefetch(&at->segment->continent[at->row]);
    __builtin_prefetch(&at->segment->entry_start[at->row]);
}

static void ask_for_entries(const struct market_row *at)
{
    uint32_t entry = at->segment->entry_start[at->row];
    __builtin_prefetch(&at->segment->entry_market[entry]);
    __builtin_prefetch(&at->segment->entry_microusd[entry]);
}

void market_changes_kill(struct market_changes *changes, const struct segment *segment,
                         uint32_t row)
{
    if (changes->killed_count == changes->killed_capacity) {
        changes->killed_capacity = changes->killed_capacity * 2 + 16;
        changes->killed =
            xrealloc(changes->killed, changes->killed_capacity * sizeof(*changes->killed));
    }
    changes->killed[changes->killed_count++] = (struct market_row){segment, row};
}

void market_changes_add(struct market_changes *changes, struct segment *segment)
{
    if (changes->added_count == changes->added_capacity) {
        changes->added_capacity = changes->added_capacity * 2 + 2;
        changes->added =
            xrealloc(changes->added, changes->added_capacity * sizeof(struct segment *));
    }
    changes->added[changes->added_count++] = segment_reference(segment);
}

void market_changes_free(struct market_changes *changes)
{
    for (size_t i = 0; i < changes->added_count; i++)
        segment_release(changes->added[i]);
    free(changes->killed);
    free(changes->added);
    *changes = (struct market_changes){0};
}

static void forget(struct market_ledger *ledger)
{
    for (uint16_t rank = 0; ledger->tallies != NULL && rank < gpu_count(); rank++)
        market_tally_free(ledger->tallies[rank]);
    free(ledger->tallies);
    market_table_free(ledger->markets);
    market_slots_free(&ledger->slots);
    ledger->tallies = NULL;
    ledger->markets = NULL;
    ledger->slots = (struct market_slots){0};
}

void market_ledger_free(struct market_ledger *ledger)
{
    forget(ledger);
    tally_room_free(&ledger->room);
    buf_free(&ledger->text);
    free(ledger->cutoff_us);
    *ledger = (struct market_ledger){0};
}

static void count_anew(struct market_ledger *ledger, const struct market_source *source)
{
    forget(ledger);
    ledger->tallies = xcalloc(gpu_count(), sizeof(struct market_tally *));
    ledger->markets = xcalloc(gpu_count(), sizeof(struct gpu_market *));
    ledger->slots = market_slots_make(source->snapshot);
    ledger->room.slots = &ledger->slots;
    for (uint16_t rank = 0; rank < gpu_count(); rank++) {
        struct market_tally *tally = market_tally_of(source, rank, &ledger->room);
        ledger->tallies[rank] = tally;
        if (tally != NULL)
            ledger->markets[rank] = gpu_market_make(tally, rank, NULL, &ledger->text);
    }
}

/* ---- keys that go and come ---- */

/* The keys of one GPU and provider. */
struct pair {
    uint32_t name; /* rank << 16 | slot */
    uint32_t counts[2][KEY_GROUPS];
    uint32_t starts[2][KEY_GROUPS]; /* where each group's are, in `ordered` */
};

enum { GONE, COME };

struct turnover {
    struct market_tally *const *tallies;
    uint64_t *keys;  /* as they are found */
    uint32_t *homes; /* of each: pair << 1 | GONE or COME */
    size_t count, capacity;
    struct pair *pairs;
    size_t pair_count, pair_capacity;
    uint32_t *by_name; /* pair + 1, open addressing */
    size_t mask;
    uint64_t *ordered; /* by pair, gone before come, sorted */
    const int64_t *cutoff_before, *cutoff_after;
};

static size_t place_of_name(const struct turnover *turnover, uint32_t name)
{
    size_t at = name * UINT32_C(2654435761) & turnover->mask;
    while (turnover->by_name[at] != 0 && turnover->pairs[turnover->by_name[at] - 1].name != name)
        at = (at + 1) & turnover->mask;
    return at;
}

static uint32_t pair_of(struct turnover *turnover, uint32_t name)
{
    if (turnover->pair_count == turnover->pair_capacity) {
        turnover->pair_capacity = turnover->pair_capacity * 2 + 16;
        turnover->pairs =
            xrealloc(turnover->pairs, turnover->pair_capacity * sizeof(*turnover->pairs));
        free(turnover->by_name);
        for (turnover->mask = 63; turnover->mask < 2 * turnover->pair_capacity;)
            turnover->mask = turnover->mask * 2 + 1;
        turnover->by_name = xcalloc(turnover->mask + 1, sizeof(*turnover->by_name));
        for (uint32_t i = 0; i < turnover->pair_count; i++)
            turnover->by_name[place_of_name(turnover, turnover->pairs[i].name)] = i + 1;
    }
    size_t at = place_of_name(turnover, name);
    if (turnover->by_name[at] == 0) {
        turnover->pairs[turnover->pair_count++] = (struct pair){.name = name};
        turnover->by_name[at] = (uint32_t)turnover->pair_count;
        if (turnover->pair_count <= FORESEEN_PAIRS && turnover->tallies[name >> 16] != NULL)
            market_tally_foresee(turnover->tallies[name >> 16], (uint16_t)name);
    }
    return turnover->by_name[at] - 1;
}

static void take_row(struct turnover *turnover, const struct segment *segment, uint32_t row,
                     const int64_t *cutoff_us, unsigned way)
{
    if (turnover->count + ROW_KEYS_MAX > turnover->capacity) {
        turnover->capacity = turnover->capacity * 2 + 2 * ROW_KEYS_MAX;
        turnover->keys = xrealloc(turnover->keys, turnover->capacity * sizeof(*turnover->keys));
        turnover->homes = xrealloc(turnover->homes, turnover->capacity * sizeof(*turnover->homes));
    }
    uint32_t pair =
        pair_of(turnover, (uint32_t)segment->gpu_rank[row] << 16 | segment->provider[row]);
    uint64_t *keys = turnover->keys + turnover->count;
    size_t count = market_row_keys(cutoff_us, segment, row, keys);
    for (size_t i = 0; i < count; i++) {
        turnover->homes[turnover->count++] = pair << 1 | way;
        turnover->pairs[pair].counts[way][key_group(keys[i])]++;
    }
}

static void take_turned(void *closure, const struct segment *segment, uint32_t row)
{
    struct turnover *turnover = closure;
    take_row(turnover, segment, row, turnover->cutoff_before, GONE);
    take_row(turnover, segment, row, turnover->cutoff_after, COME);
}

/* Puts the keys in order: by pair, way and commitment as they are counted, then each few sorted. */
static void order_keys(struct turnover *turnover)
{
    uint32_t at = 0;
    turnover->ordered = xmalloc((2 * turnover->count + 1) * sizeof(*turnover->ordered));
    for (size_t i = 0; i < turnover->pair_count; i++) {
        for (unsigned j = 0; j < 2 * KEY_GROUPS; j++) {
            turnover->pairs[i].starts[j / KEY_GROUPS][j % KEY_GROUPS] = at;
            at += turnover->pairs[i].counts[j / KEY_GROUPS][j % KEY_GROUPS];
        }
    }
    for (size_t i = 0; i < turnover->count; i++) {
        struct pair *pair = &turnover->pairs[turnover->homes[i] >> 1];
        unsigned way = turnover->homes[i] & 1, group = key_group(turnover->keys[i]);
        turnover->ordered[pair->starts[way][group]++] = turnover->keys[i];
    }
    for (size_t i = 0; i < turnover->pair_count; i++) {
        for (unsigned j = 0; j < 2 * KEY_GROUPS; j++) {
            uint32_t *start = &turnover->pairs[i].starts[j / KEY_GROUPS][j % KEY_GROUPS];
            uint32_t count = turnover->pairs[i].counts[j / KEY_GROUPS][j % KEY_GROUPS];
            *start -= count;
            sort_u64(turnover->ordered + *start, turnover->ordered + turnover->count, count);
        }
    }
}

/* Takes out of both lists what is in both. */
static void cancel_out(uint64_t *gone, size_t *gone_count, uint64_t *come, size_t *come_count)
{
    size_t i = 0, j = 0, kept_gone = 0, kept_come = 0;
    while (i < *gone_count || j < *come_count) {
        if (j == *come_count || (i < *gone_count && gone[i] < come[j]))
            gone[kept_gone++] = gone[i++];
        else if (i == *gone_count || come[j] < gone[i])
            come[kept_come++] = come[j++];
        else
            i++, j++;
    }
    *gone_count = kept_gone;
    *come_count = kept_come;
}

/* Counts what one pair's keys change. False where that is nothing. */
static bool change_pair(struct market_ledger *ledger, const struct turnover *turnover,
                        const struct pair *pair)
{
    uint16_t rank = (uint16_t)(pair->name >> 16), slot = (uint16_t)pair->name;
    size_t counts[2] = {0, 0};
    for (unsigned j = 0; j < 2 * KEY_GROUPS; j++)
        counts[j / KEY_GROUPS] += pair->counts[j / KEY_GROUPS][j % KEY_GROUPS];
    uint64_t *gone = turnover->ordered + pair->starts[GONE][0];
    uint64_t *come = turnover->ordered + pair->starts[COME][0];
    cancel_out(gone, &counts[GONE], come, &counts[COME]);
    if (counts[GONE] + counts[COME] == 0)
        return false;
    if (ledger->tallies[rank] == NULL)
        ledger->tallies[rank] = market_tally_new();
    market_tally_change(ledger->tallies[rank], &ledger->room, slot, gone, counts[GONE], come,
                        counts[COME]);
    return true;
}

/* Brings what readers get of a GPU up to date. */
static void write_down(struct market_ledger *ledger, uint16_t rank)
{
    struct gpu_market *before = ledger->markets[rank];
    market_tally_settle(ledger->tallies[rank], &ledger->room);
    ledger->markets[rank] = gpu_market_make(ledger->tallies[rank], rank, before, &ledger->text);
    gpu_market_release(before);
    if (ledger->markets[rank] == NULL) {
        market_tally_free(ledger->tallies[rank]);
        ledger->tallies[rank] = NULL;
    }
}

static void change_all(struct market_ledger *ledger, struct turnover *turnover)
{
    uint16_t *ranks = xmalloc(turnover->pair_count * sizeof(*ranks));
    size_t count = 0;
    order_keys(turnover);
    for (size_t i = 0; i < turnover->pair_count; i++) {
        uint16_t rank = (uint16_t)(turnover->pairs[i].name >> 16);
        if (!change_pair(ledger, turnover, &turnover->pairs[i]))
            continue;
        bool known = ledger->tallies[rank]->listed;
        ledger->tallies[rank]->listed = true;
        if (!known)
            ranks[count++] = rank;
    }
    for (size_t i = 0; i < count; i++) {
        ledger->tallies[ranks[i]]->listed = false;
        write_down(ledger, ranks[i]);
    }
    free(ranks);
}

static bool is_suspended(const struct market_source *source, const struct segment *segment,
                         uint32_t row)
{
    return source->snapshot->slots[segment->provider[row]]->provider.suspended;
}

static void follow_changes(struct market_ledger *ledger, const struct market_source *source,
                           const struct market_changes *changes)
{
    struct turnover turnover = {.tallies = ledger->tallies,
                                .cutoff_before = ledger->any_stale ? ledger->cutoff_us : NULL,
                                .cutoff_after = source->cutoff_us};
    const struct market_cutoffs before = {ledger->any_stale ? ledger->cutoff_us : NULL,
                                          ledger->slot_count},
                                after = {source->cutoff_us, source->snapshot->slot_count};
    for (size_t i = 0; i < AHEAD_ROWS && i < changes->killed_count; i++)
        ask_for_row(&changes->killed[i]);
    /* What came is taken as of the old cut-offs, by which it turns with everything else. */
    for (size_t i = 0; i < changes->added_count; i++) {
        for (uint32_t row = 0; row < changes->added[i]->row_count; row++) {
            if (!is_suspended(source, changes->added[i], row))
                take_row(&turnover, changes->added[i], row, before.us, COME);
        }
    }
    for (size_t i = 0; i < AHEAD_ENTRIES && i < changes->killed_count; i++)
        ask_for_entries(&changes->killed[i]);
    for (size_t i = 0; i < changes->killed_count; i++) {
        const struct market_row *killed = &changes->killed[i];
        if (i + AHEAD_ROWS < changes->killed_count)
            ask_for_row(killed + AHEAD_ROWS);
        if (i + AHEAD_ENTRIES < changes->killed_count)
            ask_for_entries(killed + AHEAD_ENTRIES);
        if (!is_suspended(source, killed->segment, killed->row))
            take_row(&turnover, killed->segment, killed->row, before.us, GONE);
    }
    if (ledger->any_stale || after.us != NULL)
        market_each_turned(source->snapshot, before, after, take_turned, &turnover);
    if (turnover.count > 0)
        change_all(ledger, &turnover);
    free(turnover.keys);
    free(turnover.homes);
    free(turnover.pairs);
    free(turnover.by_name);
    free(turnover.ordered);
}

/* ---- the providers ---- */

/* Makes room for slots that are new: what they have is fresh until the cut-offs say otherwise. */
static void grow_cutoffs(struct market_ledger *ledger, size_t slot_count)
{
    if (slot_count <= ledger->slot_count)
        return;
    ledger->cutoff_us = xrealloc(ledger->cutoff_us, slot_count * sizeof(*ledger->cutoff_us));
    for (; ledger->slot_count < slot_count; ledger->slot_count++)
        ledger->cutoff_us[ledger->slot_count] = INT64_MIN;
}

static void keep_cutoffs(struct market_ledger *ledger, const struct market_source *source)
{
    if (!ledger->any_stale && source->cutoff_us == NULL)
        return;
    ledger->any_stale = source->cutoff_us != NULL;
    for (size_t slot = 0; slot < ledger->slot_count; slot++)
        ledger->cutoff_us[slot] = source->cutoff_us == NULL || slot >= source->snapshot->slot_count
                                      ? INT64_MIN
                                      : source->cutoff_us[slot];
}

/* Takes new providers in. False where that makes a reseller of one who was none, or the other way
 * round: its votes are to be counted anew. */
static bool take_providers(struct market_ledger *ledger, const struct snapshot *snapshot,
                           size_t former_count)
{
    struct market_slots slots = market_slots_make(snapshot);
    bool same = true;
    for (size_t slot = 0; slot < former_count && same; slot++)
        same = (slots.origin[slot] == slot) == (ledger->slots.origin[slot] == slot) ||
               snapshot->slots[slot] == NULL;
    market_slots_free(&ledger->slots);
    ledger->slots = slots;
    return same;
}

static bool is_much(const struct market_changes *changes, const struct snapshot *snapshot)
{
    size_t rows = changes->killed_count;
    for (size_t i = 0; i < changes->added_count; i++)
        rows += changes->added[i]->row_count;
    return rows > ANEW_PART * 16 && rows > snapshot->live / ANEW_PART;
}

struct gpu_market **market_ledger_follow(struct market_ledger *ledger,
                                         const struct market_source *source,
                                         const struct market_changes *changes)
{
    int64_t start_us = monotonic_now_us();
    size_t former_count = ledger->slot_count;
    uint16_t gpus = gpu_count();
    bool anew = ledger->markets == NULL || changes->all || is_much(changes, source->snapshot);
    grow_cutoffs(ledger, source->snapshot->slot_count);
    if (!anew && changes->new_providers)
        anew = !take_providers(ledger, source->snapshot, former_count);
    if (anew)
        count_anew(ledger, source);
    else
        follow_changes(ledger, source, changes);
    keep_cutoffs(ledger, source);
    struct gpu_market **table = xcalloc(gpus, sizeof(struct gpu_market *));
    for (uint16_t rank = 0; rank < gpus; rank++) {
        if (ledger->markets[rank] != NULL)
            table[rank] = gpu_market_reference(ledger->markets[rank]);
    }
    ledger->spent_us += monotonic_now_us() - start_us;
    return table;
}
