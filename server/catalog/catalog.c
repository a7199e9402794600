/* How readers get a snapshot without a lock. One atomic word holds the index of the newest snapshot
 * and the number of references taken on it. A reader adds one to the word: the old value names the
 * snapshot, and the reference is taken in the same instant, so it can't be freed under the reader.
 * Giving it back subtracts one from the snapshot's own balance, which starts at 0 and is negative
 * or 0 as long as the snapshot is the newest. The publisher exchanges the word, and adds the count
 * it found there to the old snapshot's balance: from then on the balance is the number of
 * references out, and whoever brings it to 0 retires the snapshot. Retired snapshots go on a list
 * that readers only push to; writers and the merger take it whole and free it, so that no reader
 * ever frees a large one. All by atomics that the thread sanitizer understands. */
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/catalog/store.h"

#include <stdlib.h>
#include <string.h>

static void retire(struct catalog *catalog, struct snapshot *snapshot)
{
    struct snapshot *head = atomic_load_explicit(&catalog->retired, memory_order_relaxed);
    do
        snapshot->next_retired = head;
    while (!atomic_compare_exchange_weak_explicit(&catalog->retired, &head, snapshot,
                                                  memory_order_release, memory_order_relaxed));
    sem_post(&catalog->wake);
}

void catalog_drain(struct catalog *catalog)
{
    struct snapshot *snapshot =
        atomic_exchange_explicit(&catalog->retired, NULL, memory_order_acquire);
    while (snapshot != NULL) {
        struct snapshot *next = snapshot->next_retired;
        atomic_store_explicit(&catalog->table[snapshot->index], NULL, memory_order_release);
        snapshot_free(snapshot);
        snapshot = next;
    }
}

struct snapshot *catalog_acquire(struct catalog *catalog)
{
    uint64_t word = atomic_fetch_add_explicit(&catalog->word, 1, memory_order_acq_rel);
    return atomic_load_explicit(&catalog->table[word >> WORD_COUNT_BITS], memory_order_acquire);
}

void snapshot_release(struct snapshot *snapshot)
{
    if (snapshot != NULL &&
        atomic_fetch_sub_explicit(&snapshot->balance, 1, memory_order_acq_rel) == 1)
        retire(snapshot->catalog, snapshot);
}

/* After the word names another snapshot: `taken` references were taken on this one. */
static void settle(struct catalog *catalog, struct snapshot *snapshot, uint64_t taken)
{
    int64_t count = (int64_t)taken;
    if (atomic_fetch_add_explicit(&snapshot->balance, count, memory_order_acq_rel) + count == 0)
        retire(catalog, snapshot);
}

/* A free place in the table, or SNAPSHOTS_MAX. */
static uint32_t free_index(struct catalog *catalog)
{
    uint32_t start = catalog->newest == NULL ? 0 : catalog->newest->index + 1;
    for (uint32_t i = 0; i < SNAPSHOTS_MAX; i++) {
        uint32_t index = (start + i) % SNAPSHOTS_MAX;
        if (atomic_load_explicit(&catalog->table[index], memory_order_acquire) == NULL)
            return index;
    }
    return SNAPSHOTS_MAX;
}

static void measure(struct catalog *catalog, const struct snapshot *snapshot)
{
    size_t bytes = 0;
    for (size_t i = 0; i < snapshot->segment_count; i++) {
        const struct segment *segment = snapshot->segments[i];
        bytes += segment->bytes + segment->text_bytes;
    }
    catalog->stats.publishes++;
    catalog->stats.offers = snapshot->live;
    catalog->stats.bytes = bytes;
    catalog->stats.published_at_us = timestamp_now_us();
}

static void publish(struct catalog *catalog, struct snapshot *snapshot, uint32_t index)
{
    struct snapshot *old = catalog->newest;
    snapshot->index = index;
    atomic_store_explicit(&catalog->table[index], snapshot, memory_order_release);
    uint64_t word = atomic_exchange_explicit(&catalog->word, (uint64_t)index << WORD_COUNT_BITS,
                                             memory_order_acq_rel);
    catalog->newest = snapshot;
    measure(catalog, snapshot);
    if (old != NULL)
        settle(catalog, old, word & WORD_COUNT_MASK);
    catalog_drain(catalog);
}

bool draft_publish(struct draft *draft)
{
    struct catalog *catalog = draft->catalog;
    uint32_t index = free_index(catalog);
    if (index == SNAPSHOTS_MAX) {
        draft_abandon(draft); /* before the ledger follows it */
        return false;
    }
    free(draft->owns_alive);
    draft->owns_alive = NULL;
    snapshot_prepare(draft->snapshot, &catalog->ledger, &draft->changes, timestamp_now_us());
    catalog->stats.market_us = catalog->ledger.spent_us;
    market_changes_free(&draft->changes);
    publish(catalog, draft->snapshot, index);
    return true;
}

struct catalog *catalog_new(void)
{
    struct catalog *catalog = aligned_alloc(64, (sizeof(*catalog) + 63) / 64 * 64);
    if (catalog == NULL)
        abort(); /* as xmalloc does */
    memset(catalog, 0, sizeof(*catalog));
    pthread_mutex_init(&catalog->lock, NULL);
    sem_init(&catalog->wake, 0, 0);
    struct snapshot *empty = xcalloc(1, sizeof(*empty));
    empty->catalog = catalog;
    empty->as_of_us = TIMESTAMP_UNKNOWN;
    publish(catalog, empty, 0);
    catalog->stats.publishes = 0;
    if (pthread_create(&catalog->merger, NULL, merger_run, catalog) != 0)
        abort(); /* a process that can't start a thread can't serve either */
    return catalog;
}

void catalog_free(struct catalog *catalog)
{
    if (catalog == NULL)
        return;
    atomic_store_explicit(&catalog->stopping, true, memory_order_release);
    sem_post(&catalog->wake);
    pthread_join(catalog->merger, NULL);
    settle(catalog, catalog->newest,
           atomic_load_explicit(&catalog->word, memory_order_acquire) & WORD_COUNT_MASK);
    catalog_drain(catalog);
    market_ledger_free(&catalog->ledger);
    sem_destroy(&catalog->wake);
    pthread_mutex_destroy(&catalog->lock);
    free(catalog);
}

int64_t catalog_provider_version(struct catalog *catalog, const char *slug)
{
    struct snapshot *snapshot = catalog_acquire(catalog);
    const struct provider *provider = snapshot_provider_find(snapshot, slug);
    int64_t version = provider == NULL ? UNKNOWN : provider->version;
    snapshot_release(snapshot);
    return version;
}

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const struct baseline_entry *)a)->external_id,
                  ((const struct baseline_entry *)b)->external_id);
}

bool catalog_baseline(struct catalog *catalog, const char *slug, struct arena *arena,
                      struct baseline *ret_baseline)
{
    struct snapshot *snapshot = catalog_acquire(catalog);
    size_t slot = snapshot_slot(snapshot, slug);
    if (slot == PROVIDERS_MAX) {
        snapshot_release(snapshot);
        return false;
    }
    size_t live = snapshot->slots[slot]->live, count = 0;
    struct baseline_entry *entries = arena_calloc(arena, live, sizeof(*entries));
    for (size_t i = 0; i < snapshot->segment_count; i++) {
        const struct segment *segment = snapshot->segments[i];
        for (uint32_t row = 0; row < segment->row_count && count < live; row++) {
            if (segment->provider[row] != slot || !alive_has(snapshot->alive[i], row))
                continue;
            entries[count].external_id = arena_strndup(arena, segment_external_id(segment, row),
                                                       segment->text[row].external_id_length);
            memcpy(entries[count++].hash, segment->hash[row].bytes, OFFER_HASH_BYTES);
        }
    }
    qsort(entries, count, sizeof(*entries), compare_entries);
    *ret_baseline = (struct baseline){snapshot->slots[slot]->provider.version, entries, count};
    snapshot_release(snapshot);
    return true;
}

void catalog_get_stats(struct catalog *catalog, struct catalog_stats *ret_stats)
{
    pthread_mutex_lock(&catalog->lock);
    *ret_stats = catalog->stats;
    pthread_mutex_unlock(&catalog->lock);
    ret_stats->failed_builds = atomic_load_explicit(&catalog->failed_builds, memory_order_relaxed);
}
