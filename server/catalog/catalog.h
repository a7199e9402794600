/* The catalogue: all live offers in memory as immutable snapshots. One writer at a time applies
 * updates and publishes; any number of readers acquire the newest snapshot without a lock and keep
 * it as long as they like. Knows no HTTP and no SQL. */
#ifndef RACKRATE_CATALOG_CATALOG_H
#define RACKRATE_CATALOG_CATALOG_H

#include "server/base/arena.h"
#include "server/base/buf.h"
#include "server/model/change_set.h"
#include "server/model/provider.h"
#include "server/reference/alias.h"
#include "server/reference/latency_book.h"

struct catalog;
struct snapshot;

/* An empty catalogue with its merger thread; crypt_init must have been called. Aborts where no
 * thread can start. */
struct catalog *catalog_new(void);
void catalog_free(struct catalog *catalog); /* no reader may be left */

/* One provider's news. `provider` carries its facts and the new version. With `reload`, `upserts`
 * is all it has and everything else of it is dropped; else upserts replace or add by external_id
 * and `removed` go. */
struct catalog_update {
    const struct provider *provider;
    int64_t after_version; /* a delta holds all that changed after this version up to
                              provider->version */
    bool reload;
    bool force;           /* take a reload to an older version: the database itself went back */
    bool remove_provider; /* the provider itself is gone */
    const struct offer *upserts;
    size_t upsert_count;
    const char *const *removed;
    size_t removed_count;
};

/* Applies updates (a batch becomes visible as one) and publishes a new snapshot. A delta whose
 * version is not above the one held, and a reload below it without `force`, are skipped and count
 * as done (own writes and sync may race); a delta that starts after the held version, or is of a
 * provider not held, would leave a gap and refuses the whole batch. Offers and strings are copied.
 * Any thread; serialised inside; costs grow with what changed. False: refused, or 65,000 providers,
 * or 4,096 snapshots still held; the old snapshot stays, counted in catalog_stats. */
bool catalog_apply(struct catalog *catalog, const struct catalog_update *updates, size_t count);

/* Takes operators' names (copied) from the next snapshot on, which is published at once. Names
 * older than those held are skipped, unless `force` says that the database itself went back. Any
 * thread. False as catalog_apply. */
bool catalog_set_operator_names(struct catalog *catalog, const struct alias_sets *names,
                                bool force);

/* The operators' names of a snapshot; never NULL, valid as long as the snapshot. Any thread. */
const struct alias_sets *snapshot_operator_names(const struct snapshot *snapshot);

/* Takes what was measured of round trips (a reference) from the next snapshot on, which is
 * published at once; one older than held is skipped, unless `force`. Any thread. False as
 * catalog_apply. */
bool catalog_set_latency(struct catalog *catalog, struct latency_book *book, bool force);

/* What was measured, as of a snapshot; valid as long as it. NULL: nothing ever. Any thread. */
const struct latency_book *snapshot_latency(const struct snapshot *snapshot);

/* The version held of a provider (by slug); -1 none. */
int64_t catalog_provider_version(struct catalog *catalog, const char *slug);

/* Baseline of a provider for differencing, from memory: entries in the arena. False where the
 * provider is unknown. */
bool catalog_baseline(struct catalog *catalog, const char *slug, struct arena *arena,
                      struct baseline *ret_baseline);

/* Newest snapshot, reference taken: one atomic addition, never waits. Release when done, on any
 * thread; what depends on the clock is asked for with `now_us` and told by whole seconds. */
struct snapshot *catalog_acquire(struct catalog *catalog);
void snapshot_release(struct snapshot *snapshot);

/* A hash of everything an answer depends on but the query: providers' versions, reference and
 * latency versions, next staleness transition due at now_us. The same on every node with the same
 * data and after a restart. */
uint64_t snapshot_state_hash(const struct snapshot *snapshot, int64_t now_us);

/* Newest updated_at or confirmed_at of the data; what `as_of` prints. */
int64_t snapshot_as_of_us(const struct snapshot *snapshot);

size_t snapshot_offer_count(const struct snapshot *snapshot);

/* Providers in the snapshot, by slug; suspended ones included. */
size_t snapshot_provider_count(const struct snapshot *snapshot);
const struct provider *snapshot_provider(const struct snapshot *snapshot, size_t index);
const struct provider *snapshot_provider_find(const struct snapshot *snapshot, const char *slug);

/* Counts and price range (per GPU-hour, any billing) of the live, fresh, unsuspended offers of a
 * provider, a gpu (variant; a family sums its variants) or a place (an area or country sums what
 * lies in it). Computed once per snapshot, lazily. */
struct offer_summary {
    size_t offers;
    size_t providers;
    int64_t min_per_gpu_hour_microusd; /* UNKNOWN where no offers */
    int64_t max_per_gpu_hour_microusd;
};
struct offer_summary snapshot_provider_summary(struct snapshot *snapshot, size_t provider_index,
                                               int64_t now_us);
struct offer_summary snapshot_gpu_summary(struct snapshot *snapshot, uint16_t gpu_index,
                                          int64_t now_us);
struct offer_summary snapshot_place_summary(struct snapshot *snapshot, uint16_t place_index,
                                            int64_t now_us);
/* Who offers a gpu: provider index with its own summary, cheapest first. */
struct gpu_provider {
    size_t provider_index;
    struct offer_summary summary;
};
size_t snapshot_gpu_providers(struct snapshot *snapshot, uint16_t gpu_index, int64_t now_us,
                              struct arena *arena, struct gpu_provider **ret);

/* One offer by id or by (provider, external_id): writes the whole answered object (price = its
 * cheapest one). False: not there. Offers of suspended providers are not there. *ret_version (may
 * be NULL) is the offer's version. */
bool snapshot_write_offer_by_id(struct snapshot *snapshot, const uint8_t id[static OFFER_ID_BYTES],
                                int64_t now_us, struct buf *out, int64_t *ret_version);
bool snapshot_write_offer(struct snapshot *snapshot, const char *provider_slug,
                          const char *external_id, int64_t now_us, struct buf *out,
                          int64_t *ret_version);

/* Whether some offer was uploaded with this spelling of a GPU name or a region (folded); such
 * values are valid filters. */
bool snapshot_knows_gpu_name(const struct snapshot *snapshot, const char *raw);
bool snapshot_knows_region_name(const struct snapshot *snapshot, const char *raw);

/* The median price per GPU-hour of live prices of a GPU with this billing and term, in
 * micro-dollars, samples, suspended providers and `except_provider` (whose own upload is judged)
 * left out; UNKNOWN where fewer than five are there. Any thread. */
int64_t snapshot_price_median(const struct snapshot *snapshot, uint16_t gpu_index,
                              enum billing billing, int32_t term_months,
                              const char *except_provider);

struct catalog_stats {
    uint64_t publishes;
    uint64_t failed_builds;
    uint64_t offers;
    uint64_t bytes;
    int64_t published_at_us;
    int64_t build_us;  /* spent on making snapshots in all, by writers */
    int64_t market_us; /* of which on figures and verdicts */
};
void catalog_get_stats(struct catalog *catalog, struct catalog_stats *ret_stats);

#endif
