/* The merger: a thread that merges large segments while writers and readers go on. It works on the
 * segments of a snapshot it holds; what died meanwhile is cleared in the result when it is put in
 * their place. Writers leave the segments it works on alone. It also frees what readers gave back,
 * and looks ahead to what turns stale next, so that readers find that ready too. */
#include "server/catalog/store.h"

#include <errno.h>
#include <stdlib.h>

/* How long before it begins a moment is made, and how long after a look the next waits where many
 * snapshots are published. */
#define AHEAD_US      INT64_C(500000)
#define LOOK_PAUSE_US INT64_C(250000)

struct job {
    struct snapshot *snapshot; /* held */
    size_t first;
    size_t count;
};

/* Finds work and marks its segments; false where there is none. */
static bool begin(struct catalog *catalog, struct job *job)
{
    pthread_mutex_lock(&catalog->lock);
    struct snapshot *snapshot = catalog_acquire(catalog);
    job->snapshot = snapshot;
    job->first = compaction_start(snapshot, 0);
    job->count = snapshot->segment_count - job->first;
    if (job->count > 0)
        catalog->merging = snapshot->segments[snapshot->segment_count - 1];
    pthread_mutex_unlock(&catalog->lock);
    if (job->count == 0)
        snapshot_release(snapshot);
    return job->count > 0;
}

/* Rows that lived when the job began and are dead now die in the result too. */
static struct alive *carry_deaths(const struct job *job, const struct snapshot *now, size_t first,
                                  const struct segment *merged)
{
    struct alive *alive = NULL;
    for (size_t i = 0; i < job->count; i++) {
        const struct segment *segment = job->snapshot->segments[job->first + i];
        const struct alive *before = job->snapshot->alive[job->first + i],
                           *after = now->alive[first + i];
        if (before == after)
            continue;
        for (uint32_t row = 0; row < segment->row_count; row++) {
            if (!alive_has(before, row) || alive_has(after, row))
                continue;
            if (alive == NULL)
                alive = alive_copy(NULL, merged->row_count);
            uint32_t at = segment_find(merged, segment->id[row]);
            alive->words[at / 64] &= ~(UINT64_C(1) << (at % 64));
            alive->dead_count++;
        }
    }
    return alive;
}

/* Puts the result in place; false where nothing can be published. */
static bool install(struct catalog *catalog, const struct job *job, struct segment *merged)
{
    pthread_mutex_lock(&catalog->lock);
    struct draft draft = draft_begin(catalog);
    size_t first = 0;
    while (draft.snapshot->segments[first] != job->snapshot->segments[job->first])
        first++;
    struct alive *alive = merged == NULL ? NULL : carry_deaths(job, draft.snapshot, first, merged);
    draft_replace_segments(&draft, first, job->count, merged, alive);
    catalog->merging = NULL;
    bool good = draft_publish(&draft);
    pthread_mutex_unlock(&catalog->lock);
    if (!good)
        atomic_fetch_add_explicit(&catalog->failed_builds, 1, memory_order_relaxed);
    return good;
}

/* Makes what will hold of the newest snapshot after what holds now, if that ends soon; gives when
 * to look again. */
static int64_t look_ahead(struct catalog *catalog, int64_t now_us)
{
    const struct market_changes nothing = {0};
    int64_t clock_us = now_us, until_us;
    pthread_mutex_lock(&catalog->lock);
    for (;;) {
        snapshot_prepare(catalog->newest, &catalog->ledger, &nothing, clock_us);
        until_us = snapshot_moment(catalog->newest, clock_us)->until_us;
        if (until_us > now_us + AHEAD_US)
            break;
        clock_us = staleness_clock(until_us) + 1000000; /* the first whole second beyond */
    }
    catalog->stats.market_us = catalog->ledger.spent_us;
    pthread_mutex_unlock(&catalog->lock);
    return until_us - AHEAD_US;
}

/* Waits for a call or until `until_us`, an hour at most; whether it was called. */
static bool wait_for_call(struct catalog *catalog, int64_t until_us)
{
    int64_t latest_us = timestamp_now_us() + INT64_C(3600000000);
    if (until_us > latest_us)
        until_us = latest_us;
    const struct timespec until = {.tv_sec = until_us / 1000000,
                                   .tv_nsec = until_us % 1000000 * 1000};
    while (sem_timedwait(&catalog->wake, &until) != 0) {
        if (errno != EINTR)
            return false;
    }
    while (sem_trywait(&catalog->wake) == 0)
        ; /* one look answers all calls so far */
    return true;
}

static void merge_all(struct catalog *catalog)
{
    struct job job;
    bool good = true;
    while (good && !atomic_load_explicit(&catalog->stopping, memory_order_acquire) &&
           begin(catalog, &job)) {
        struct segment *merged = segment_merge(job.snapshot->segments + job.first,
                                               job.snapshot->alive + job.first, job.count);
        good = install(catalog, &job, merged);
        snapshot_release(job.snapshot);
    }
    catalog_drain(catalog);
}

void *merger_run(void *closure)
{
    struct catalog *catalog = closure;
    int64_t looked_us = 0, look_us = INT64_MAX;
    while (!atomic_load_explicit(&catalog->stopping, memory_order_acquire)) {
        if (wait_for_call(catalog, look_us)) {
            merge_all(catalog);
            look_us = looked_us + LOOK_PAUSE_US; /* there may be another snapshot */
        }
        int64_t now_us = timestamp_now_us();
        if (now_us < look_us)
            continue;
        look_us = look_ahead(catalog, now_us);
        looked_us = now_us;
    }
    return NULL;
}
