/* Inside of the catalogue: how snapshots are published and given back, and the draft that an update
 * changes. Only files of this room include it. */
#ifndef RACKRATE_CATALOG_STORE_H
#define RACKRATE_CATALOG_STORE_H

#include "server/catalog/market_ledger.h"

#include <pthread.h>
#include <semaphore.h>

/* Snapshots alive at once: each holder of an old one keeps it from being freed, and a request holds
 * one while it is answered. */
#define SNAPSHOTS_MAX 4096

/* The word that readers and the publisher share: the index of the newest snapshot above, and how
 * many references were taken on it below. 2^48 references between two publishes are nine years of a
 * million a second. */
#define WORD_COUNT_BITS 48
#define WORD_COUNT_MASK ((UINT64_C(1) << WORD_COUNT_BITS) - 1)

struct catalog {
    _Alignas(64) _Atomic uint64_t word;
    _Alignas(64) _Atomic(struct snapshot *) table[SNAPSHOTS_MAX];
    _Atomic(struct snapshot *) retired; /* to be freed by whoever writes next, or by the merger */
    pthread_mutex_t lock;               /* writers: everything below */
    struct snapshot *newest;            /* the one `word` names */
    struct segment
        *merging; /* newest segment that the merger works on; it and older ones stay as they are */
    struct market_ledger ledger; /* of `newest` */
    struct catalog_stats stats;
    _Atomic uint64_t failed_builds;
    pthread_t merger;
    sem_t wake;
    _Atomic bool stopping;
};

/* A snapshot in the making, under the lock. */
struct draft {
    struct catalog *catalog;
    struct snapshot *snapshot;
    bool *owns_alive; /* by segment: the bitmap is this draft's own */
    size_t capacity;  /* of segments */
    struct market_changes changes;
};

/* A draft that starts as the newest snapshot. */
struct draft draft_begin(struct catalog *catalog);
/* Throws it away. */
void draft_abandon(struct draft *draft);
/* Makes it the newest snapshot. False where too many old ones are held: the draft is thrown away.
 */
bool draft_publish(struct draft *draft);

/* Clears one row. */
void draft_kill(struct draft *draft, size_t segment, uint32_t row);
/* Clears the offer with this id, if it lives; whether it did. */
bool draft_kill_key(struct draft *draft, struct offer_key key);
/* Adds a segment (its reference is the draft's from now on) as the newest. */
void draft_add_segment(struct draft *draft, struct segment *segment, struct alive *alive);
/* Puts one segment (NULL: none) in the place of `count` from `first` on. */
void draft_replace_segments(struct draft *draft, size_t first, size_t count,
                            struct segment *segment, struct alive *alive);
/* Merges small new segments at once; larger ones are left to the merger. */
void draft_compact(struct draft *draft);

/* The first of the segments worth merging into one, from there to the newest; segment_count where
 * none are. Only segments from `from` on count. */
size_t compaction_start(const struct snapshot *snapshot, size_t from);

/* The merger's thread. */
void *merger_run(void *catalog);

/* Frees what readers gave back last. */
void catalog_drain(struct catalog *catalog);

#endif
