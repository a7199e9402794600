/* Drafts: a new snapshot shares all segments, bitmaps and providers of the newest but those that
 * the update touches. */
#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/catalog/store.h"

#include <stdlib.h>
#include <string.h>

/* Merging so few rows is done in the writer's own time: less than a millisecond per thousand. */
#define COMPACT_ROWS_AT_ONCE 8192

static void grow(struct draft *draft, size_t capacity)
{
    struct snapshot *snapshot = draft->snapshot;
    if (capacity <= draft->capacity)
        return;
    snapshot->segments = xrealloc(snapshot->segments, capacity * sizeof(struct segment *));
    snapshot->alive = xrealloc(snapshot->alive, capacity * sizeof(struct alive *));
    draft->owns_alive = xrealloc(draft->owns_alive, capacity * sizeof(bool));
    draft->capacity = capacity;
}

struct draft draft_begin(struct catalog *catalog)
{
    const struct snapshot *old = catalog->newest;
    struct draft draft = {.catalog = catalog, .snapshot = xcalloc(1, sizeof(struct snapshot))};
    struct snapshot *snapshot = draft.snapshot;
    snapshot->catalog = catalog;
    grow(&draft, old->segment_count + 4);
    snapshot->segment_count = old->segment_count;
    for (size_t i = 0; i < old->segment_count; i++) {
        snapshot->segments[i] = segment_reference(old->segments[i]);
        snapshot->alive[i] = old->alive[i];
        if (old->alive[i] != NULL)
            atomic_fetch_add_explicit(&old->alive[i]->references, 1, memory_order_relaxed);
        draft.owns_alive[i] = false;
    }
    snapshot->slot_count = old->slot_count;
    snapshot->slots = xcalloc(old->slot_count + 1, sizeof(struct provider_view *));
    for (size_t i = 0; i < old->slot_count; i++) {
        snapshot->slots[i] = old->slots[i];
        if (old->slots[i] != NULL)
            atomic_fetch_add_explicit(&old->slots[i]->references, 1, memory_order_relaxed);
    }
    snapshot->provider_count = old->provider_count;
    snapshot->by_slug = xcalloc(old->provider_count + 1, sizeof(uint16_t));
    if (old->provider_count > 0)
        memcpy(snapshot->by_slug, old->by_slug, old->provider_count * sizeof(uint16_t));
    snapshot->live = old->live;
    snapshot->any_suspended = old->any_suspended;
    snapshot->as_of_us = old->as_of_us;
    snapshot->versions_hash = old->versions_hash;
    snapshot->operator_names = operator_names_reference(old->operator_names);
    snapshot->latency = latency_book_reference(old->latency);
    return draft;
}

void draft_abandon(struct draft *draft)
{
    free(draft->owns_alive);
    market_changes_free(&draft->changes);
    snapshot_free(draft->snapshot);
}

void draft_kill(struct draft *draft, size_t index, uint32_t row)
{
    struct snapshot *snapshot = draft->snapshot;
    struct segment *segment = snapshot->segments[index];
    if (!draft->owns_alive[index]) {
        struct alive *copy = alive_copy(snapshot->alive[index], segment->row_count);
        alive_release(snapshot->alive[index]);
        snapshot->alive[index] = copy;
        draft->owns_alive[index] = true;
    }
    struct alive *alive = snapshot->alive[index];
    alive->words[row / 64] &= ~(UINT64_C(1) << (row % 64));
    alive->dead_count++;
    market_changes_kill(&draft->changes, segment, row);
    struct provider_view *view = snapshot->slots[segment->provider[row]];
    view->live--;
    snapshot->live--;
}

bool draft_kill_key(struct draft *draft, struct offer_key key)
{
    for (size_t i = draft->snapshot->segment_count; i-- > 0;) {
        uint32_t row = segment_find(draft->snapshot->segments[i], key);
        if (row != UINT32_MAX && alive_has(draft->snapshot->alive[i], row)) {
            draft_kill(draft, i, row);
            return true;
        }
    }
    return false;
}

void draft_add_segment(struct draft *draft, struct segment *segment, struct alive *alive)
{
    struct snapshot *snapshot = draft->snapshot;
    grow(draft, snapshot->segment_count + 1);
    market_changes_add(&draft->changes, segment);
    draft->owns_alive[snapshot->segment_count] = false;
    snapshot->alive[snapshot->segment_count] = alive;
    snapshot->segments[snapshot->segment_count++] = segment;
}

void draft_replace_segments(struct draft *draft, size_t first, size_t count,
                            struct segment *segment, struct alive *alive)
{
    struct snapshot *snapshot = draft->snapshot;
    size_t kept = first, rest = snapshot->segment_count - first - count;
    for (size_t i = first; i < first + count; i++) {
        segment_release(snapshot->segments[i]);
        alive_release(snapshot->alive[i]);
    }
    if (segment != NULL) {
        snapshot->segments[kept] = segment;
        snapshot->alive[kept] = alive;
        draft->owns_alive[kept++] = false;
    }
    memmove(snapshot->segments + kept, snapshot->segments + first + count,
            rest * sizeof(struct segment *));
    memmove(snapshot->alive + kept, snapshot->alive + first + count, rest * sizeof(struct alive *));
    memmove(draft->owns_alive + kept, draft->owns_alive + first + count, rest * sizeof(bool));
    snapshot->segment_count = kept + rest;
}

size_t compaction_start(const struct snapshot *snapshot, size_t from)
{
    size_t start = snapshot->segment_count, newer = 0;
    for (size_t i = snapshot->segment_count; i-- > from;) {
        const struct segment *segment = snapshot->segments[i];
        size_t live = alive_count(snapshot->alive[i], segment);
        /* Each level at least twice the sum of the newer ones, and no segment mostly dead. */
        if ((newer > 0 && live <= 2 * newer) || live < segment->row_count / 2 || live == 0)
            start = i;
        newer += live;
    }
    return start;
}

void draft_compact(struct draft *draft)
{
    struct snapshot *snapshot = draft->snapshot;
    size_t from = 0, live = 0;
    for (size_t i = 0; i < snapshot->segment_count; i++) {
        if (snapshot->segments[i] == draft->catalog->merging)
            from = i + 1;
    }
    for (size_t i = snapshot->segment_count; i-- > from;) {
        live += snapshot->segments[i]->row_count;
        if (live > COMPACT_ROWS_AT_ONCE) {
            from = i + 1;
            break;
        }
    }
    size_t start = compaction_start(snapshot, from), count = snapshot->segment_count - start;
    if (count > 0) {
        struct segment *merged =
            segment_merge(snapshot->segments + start, snapshot->alive + start, count);
        draft_replace_segments(draft, start, count, merged, NULL);
    }
    if (compaction_start(snapshot, 0) < snapshot->segment_count)
        sem_post(&draft->catalog->wake);
}
