/* Staleness moves with the clock, not with writes. A moment holds what is true of a snapshot from
 * one transition to the next, kept in a list that dies with the snapshot; a later one is published
 * with one compare and swap. The first is made before the snapshot is published, the next by the
 * merger shortly before it begins; a reader who asks for another makes it itself. There are at most
 * as many moments as offers that turn stale. */
#include "server/base/crypto.h"
#include "server/catalog/market_ledger.h"
#include "server/catalog/rank.h"

#include <stdlib.h>

#define SECOND_US INT64_C(1000000)

int64_t staleness_clock(int64_t now_us)
{
    int64_t rest = now_us % SECOND_US;
    return now_us - (rest < 0 ? rest + SECOND_US : rest);
}

static uint64_t state_hash(const struct snapshot *snapshot, size_t stale)
{
    struct crypt_hasher hasher;
    uint8_t hash[16];
    uint64_t names = (uint64_t)operator_names_sets(snapshot->operator_names)->version;
    uint64_t latency = latency_book_hash(snapshot->latency);
    uint64_t parts[5] = {snapshot->versions_hash, stale, reference_hash(), names, latency}, result;
    crypt_hasher_init(&hasher, sizeof(hash));
    crypt_hasher_add(&hasher, parts, sizeof(parts));
    crypt_hasher_finish(&hasher, hash);
    memcpy(&result, hash, sizeof(result));
    return result;
}

/* Cut-offs of providers whose last confirmation is too old to cover every offer; sets
 * moment->until_us to the next transition that the others can have. */
static void find_cutoffs(const struct snapshot *snapshot, int64_t clock_us, struct moment *moment)
{
    for (size_t slot = 0; slot < snapshot->slot_count; slot++) {
        const struct provider_view *view = snapshot->slots[slot];
        if (view == NULL || view->provider.suspended || view->live == 0)
            continue;
        int64_t freshness = provider_freshness_us(&view->provider);
        if (freshness == INT64_MAX)
            continue;
        int64_t confirmed = view->provider.confirmed_at_us;
        int64_t expires =
            confirmed == TIMESTAMP_UNKNOWN ? INT64_MIN : time_add(confirmed, freshness);
        if (expires >= clock_us) {
            if (expires < moment->until_us)
                moment->until_us = expires;
            continue;
        }
        if (moment->cutoff_us == NULL) {
            moment->cutoff_us = xcalloc(snapshot->slot_count, sizeof(int64_t));
            for (size_t i = 0; i < snapshot->slot_count; i++)
                moment->cutoff_us[i] = INT64_MIN;
        }
        moment->cutoff_us[slot] = clock_us - freshness;
        moment->mixed = true;
    }
}

/* Counts offers before their provider's cut-off; an offer not yet there moves the next transition
 * nearer. */
static void count_stale(const struct snapshot *snapshot, int64_t clock_us, struct moment *moment)
{
    int64_t soonest = INT64_MAX; /* over offers: how long until one passes its cut-off */
    for (size_t i = 0; i < snapshot->segment_count; i++) {
        const struct segment *segment = snapshot->segments[i];
        for (uint32_t row = 0; row < segment->row_count; row++) {
            int64_t cutoff = moment->cutoff_us[segment->provider[row]], own = segment->own_us[row];
            if (cutoff == INT64_MIN || segment->is_sample[row] != 0 ||
                !alive_has(snapshot->alive[i], row))
                continue;
            if (own < cutoff)
                moment->stale++;
            else if (own - cutoff < soonest)
                soonest = own - cutoff;
        }
    }
    int64_t next = time_add(clock_us, soonest);
    if (next < moment->until_us)
        moment->until_us = next;
}

/* The moment at `clock_us`, without the market's tables. */
static struct moment *compute(const struct snapshot *snapshot, int64_t clock_us)
{
    struct moment *moment = xcalloc(1, sizeof(*moment));
    moment->slot_count = snapshot->slot_count;
    moment->from_us = clock_us;
    moment->until_us = INT64_MAX;
    find_cutoffs(snapshot, clock_us, moment);
    if (moment->mixed)
        count_stale(snapshot, clock_us, moment);
    size_t shown = 0;
    for (size_t slot = 0; slot < snapshot->slot_count; slot++) {
        const struct provider_view *view = snapshot->slots[slot];
        if (view != NULL && !view->provider.suspended)
            shown += view->live;
    }
    moment->visible = shown - moment->stale;
    moment->state_hash = state_hash(snapshot, moment->stale);
    return moment;
}

static struct market_source source_of(const struct snapshot *snapshot, const struct moment *moment)
{
    return (struct market_source){snapshot, snapshot->alive, moment->cutoff_us};
}

/* The moment of a snapshot among those known, or NULL. */
static const struct moment *find_moment(const struct moment *newest, int64_t clock_us)
{
    for (const struct moment *moment = newest; moment != NULL; moment = moment->previous) {
        if (clock_us >= moment->from_us && clock_us <= moment->until_us)
            return moment;
        if (clock_us > moment->until_us)
            break; /* older ones end sooner still, as clocks go */
    }
    return NULL;
}

static void add_moment(struct snapshot *snapshot, struct moment *moment)
{
    moment->previous = atomic_load_explicit(&snapshot->moment, memory_order_acquire);
    while (!atomic_compare_exchange_weak_explicit(&snapshot->moment, &moment->previous, moment,
                                                  memory_order_acq_rel, memory_order_acquire))
        ; /* another's stands before it; both are right */
}

const struct moment *snapshot_moment(struct snapshot *snapshot, int64_t now_us)
{
    int64_t clock_us = staleness_clock(now_us);
    const struct moment *newest = atomic_load_explicit(&snapshot->moment, memory_order_acquire);
    const struct moment *known = find_moment(newest, clock_us);
    if (known != NULL)
        return known;
    struct moment *moment = compute(snapshot, clock_us);
    const struct market_source source = source_of(snapshot, moment);
    moment->market =
        newest == NULL ? market_table_make(&source) : market_table_turn(&source, newest);
    add_moment(snapshot, moment);
    return moment;
}

void snapshot_prepare(struct snapshot *snapshot, struct market_ledger *ledger,
                      const struct market_changes *changes, int64_t now_us)
{
    int64_t clock_us = staleness_clock(now_us);
    if (find_moment(atomic_load_explicit(&snapshot->moment, memory_order_acquire), clock_us) !=
        NULL)
        return;
    struct moment *moment = compute(snapshot, clock_us);
    const struct market_source source = source_of(snapshot, moment);
    moment->market = market_ledger_follow(ledger, &source, changes);
    add_moment(snapshot, moment);
}

void moment_free_all(struct moment *newest)
{
    while (newest != NULL) {
        struct moment *previous = newest->previous;
        summaries_free(atomic_load_explicit(&newest->summaries, memory_order_acquire));
        facet_shelf_free(&newest->facets);
        market_table_free(newest->market);
        free(newest->cutoff_us);
        free(newest);
        newest = previous;
    }
}

uint64_t snapshot_state_hash(const struct snapshot *snapshot, int64_t now_us)
{
    /* Only the lazily filled moment changes. */
    return snapshot_moment((struct snapshot *)(uintptr_t)snapshot, now_us)->state_hash;
}
