/* Inside of a snapshot: segments with what lives in them, and the providers. Only files of this
 * room include it. Immutable once published but for `moment`, which readers fill in lazily. */
#ifndef RACKRATE_CATALOG_SNAPSHOT_H
#define RACKRATE_CATALOG_SNAPSHOT_H

#include "server/base/timestamp.h"
#include "server/catalog/catalog.h"
#include "server/catalog/facet_shelf.h"
#include "server/catalog/fragment.h"
#include "server/catalog/operator_names.h"
#include "server/catalog/segment.h"
#include "server/reference/latency_book.h"

/* Most providers at once: slots are 16 bits wide. */
#define PROVIDERS_MAX 65000

/* A provider as of some version: facts, and what is spliced into its offers. Counted references. */
struct provider_view {
    _Atomic size_t references;
    struct provider provider; /* strings in `strings` */
    struct arena strings;
    size_t live;       /* live offers */
    const char *words; /* of slug and name, see base/words.h */
    const char *json;  /* {"slug":…,"name":…} */
    size_t json_length;
    char confirmed[TIMESTAMP_TEXT_SIZE + 2]; /* quoted */
    size_t confirmed_length;
};
struct provider_view *provider_view_new(const struct provider *provider, size_t live);
void provider_view_release(struct provider_view *view);

/* How long after its confirmation an offer of the provider turns stale; INT64_MAX never. */
int64_t provider_freshness_us(const struct provider *provider);

/* Microseconds sum without overflow. */
static inline int64_t time_add(int64_t us, int64_t more)
{
    int64_t sum;
    return __builtin_add_overflow(us, more, &sum) ? INT64_MAX : sum;
}

/* What is true of a snapshot from one staleness transition to the next. */
struct moment {
    int64_t from_us; /* first and last `now` (whole seconds) it is known to hold for */
    int64_t until_us;
    size_t stale;   /* stale offers of providers that are not suspended */
    size_t visible; /* what a default search without filters finds */
    uint64_t state_hash;
    bool mixed;         /* some provider's offers must be looked at one by one: see `cutoff_us` */
    int64_t *cutoff_us; /* by slot: an offer whose own time is before it is stale (samples aside);
                           NULL unless mixed */
    size_t slot_count;  /* of the snapshot it was made for */
    struct gpu_market **market; /* figures and verdicts by GPU rank, see market_table.h */
    _Atomic(struct summaries *) summaries;
    struct facet_shelf facets;
    struct moment *previous;
};

struct snapshot {
    struct catalog *catalog;
    uint32_t index; /* in the catalogue's table of snapshots */
    _Atomic int64_t
        balance; /* references taken less those given back, once replaced; see catalog.c */
    struct snapshot *next_retired;

    size_t segment_count;
    struct segment **segments; /* oldest first */
    struct alive **alive;
    size_t slot_count;
    struct provider_view **slots; /* NULL where free */
    size_t provider_count;
    uint16_t *by_slug; /* slots in order of slug */
    size_t live;
    bool any_suspended;
    int64_t as_of_us;
    uint64_t versions_hash;
    struct operator_names *operator_names; /* a reference; NULL none */
    struct latency_book *latency;          /* a reference; NULL nothing measured */
    _Atomic(struct moment *) moment;
};

/* Slot of a provider, or PROVIDERS_MAX. */
size_t snapshot_slot(const struct snapshot *snapshot, const char *slug);

/* Frees a snapshot that nobody can reach any more, with its references on what it shares. */
void snapshot_free(struct snapshot *snapshot);

/* The clock of staleness ticks in whole seconds, so that a busy second computes it once. */
int64_t staleness_clock(int64_t now_us);

/* What holds at `now`; valid as long as the snapshot. */
const struct moment *snapshot_moment(struct snapshot *snapshot, int64_t now_us);
/* Makes what holds at `now`, unless it is known, so that readers find figures and verdicts ready:
 * of the newest snapshot, or of one about to be published that differs from it by `changes`. Under
 * the catalogue's lock, with its ledger. */
struct market_changes;
struct market_ledger;
void snapshot_prepare(struct snapshot *snapshot, struct market_ledger *ledger,
                      const struct market_changes *changes, int64_t now_us);
void moment_free_all(struct moment *newest);

/* Whether an offer is stale at the clock's `now`. */
bool snapshot_is_stale(const struct snapshot *snapshot, const struct segment *segment, uint32_t row,
                       int64_t clock_us);

/* What an answer splices into a row. */
struct fragment_splice snapshot_splice(const struct snapshot *snapshot,
                                       const struct segment *segment, uint32_t row,
                                       int64_t clock_us);

/* Counts and price ranges of a moment; see summary.c. */
struct summaries;
void summaries_free(struct summaries *summaries);

#endif
