/* Offers in the database: one provider's inventory is written in one transaction under a lock on
 * the provider's row, which bumps its version; every changed or removed row carries that version,
 * so that another node can fetch what is newer. */
#ifndef RACKRATE_DB_INVENTORY_H
#define RACKRATE_DB_INVENTORY_H

#include "db/db.h"
#include "server/base/arena.h"
#include "server/model/change_set.h"
#include "server/model/provider.h"

/* Inside a transaction: locks the provider's row and reads it. DB_NONE: no such provider. */
enum db_status db_inventory_lock(struct db_connection *connection, const char *provider_slug,
                                 struct arena *arena, struct provider *ret_provider);

/* external_id and content hash of every stored offer, sorted by bytes. Exact when called under the
 * lock. */
enum db_status db_inventory_baseline(struct db_connection *connection,
                                     const struct provider *provider, struct arena *arena,
                                     struct baseline *ret_baseline);

/* One stored offer with its prices (gpu and place resolved to this build's indexes), or DB_NONE. */
enum db_status db_inventory_find(struct db_connection *connection, const struct provider *provider,
                                 const char *external_id, struct arena *arena,
                                 struct offer *ret_offer);

/* What is recorded about a write beside its rows. */
struct upload_record {
    const char *kind;   /* `replace`, `upsert`, `patch`, `delete`, `import`, `sample` */
    const char *format; /* `json`, `ndjson`, `csv`, `skypilot`, … */
    const char *actor;  /* `key:12`, `cli`, `sample`: who, for the audit log */
    int64_t rows_read;
    int64_t rejected;
    int64_t skipped;
    bool confirms_all; /* a full upload: everything it holds is confirmed at confirmed_at_us */
    int64_t confirmed_at_us;         /* TIMESTAMP_UNKNOWN: now (database time) */
    const struct row_issues *errors; /* stored up to 100,000 rows */
    const struct row_issues *warnings;
};

/* Under the lock that gave `provider`: writes the change set (created, updated, removed rows,
 * prices, price changes, tombstones), bumps the version unless nothing at all changed, records
 * upload and audit entry. Fills `before` and `fields` of updated changes, `version` and
 * `updated_at_us` (and `observed_at_us` where unknown) of each `after`, provider->version,
 * confirmed_at_us and updated_at_us. *ret_upload_id is a new uuid text. A full upload that confirms
 * what is there moves the version too, with no row carrying it: that is how other nodes learn of
 * it. DB_CONFLICT where the change set was made against another state than the one locked. */
enum db_status db_inventory_apply(struct db_connection *connection, struct provider *provider,
                                  struct change_set *change_set, const struct upload_record *record,
                                  struct arena *arena, char ret_upload_id[static 37]);

/* What changed after a version: offers changed since, and ids of those removed since; with
 * after_version < 0, or where removals since then were forgotten by retention, everything live (and
 * nothing removed), and `whole` says so. All of it lives in the arena and is of one moment, so that
 * it can be applied as one; it may be newer than provider->version. */
struct inventory_delta {
    bool whole;
    struct offer *offers;
    size_t offer_count;
    const char **removed_external_ids;
    size_t removed_count;
};
enum db_status db_inventory_since(struct db_connection *connection, const struct provider *provider,
                                  int64_t after_version, struct arena *arena,
                                  struct inventory_delta *ret_delta);

/* The tombstone of a removed offer: *ret_removed_at_us, or DB_NONE. */
enum db_status db_inventory_tombstone(struct db_connection *connection,
                                      const uint8_t offer_id[static OFFER_ID_BYTES],
                                      int64_t *ret_removed_at_us);

#endif
