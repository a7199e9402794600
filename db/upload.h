/* Uploads and price history, read back; and idempotency records. */
#ifndef RACKRATE_DB_UPLOAD_H
#define RACKRATE_DB_UPLOAD_H

#include "db/db.h"
#include "server/base/arena.h"
#include "server/model/change_set.h"

struct upload_row {
    char id[37];
    const char *kind;
    const char *format;
    const char *actor;
    int64_t at_us;
    int64_t version; /* of the provider after it; same as before when nothing changed */
    int64_t rows_read, created, updated, unchanged, removed, skipped, rejected;
    const char *changes_json; /* array of {external_id, kind, fields, before, after}, bounded to
                                 1,000; only in db_upload_find */
    bool changes_truncated;
};
/* Uploads of a provider, newest first, at most `limit`, before the upload `before_id` (or NULL). */
enum db_status db_upload_list(struct db_connection *connection, const char *provider_slug,
                              const char *before_id, size_t limit, struct arena *arena,
                              struct upload_row **ret_rows, size_t *ret_count, int64_t *ret_total);
/* One upload with up to `limit` of its issues from offset. */
enum db_status db_upload_find(struct db_connection *connection, const char *provider_slug,
                              const char *id, size_t offset, size_t limit, struct arena *arena,
                              struct upload_row *ret_row, struct row_issues *ret_errors,
                              struct row_issues *ret_warnings, int64_t *ret_total);

struct price_change {
    int64_t sequence;       /* of this change; falls from newest to oldest */
    int64_t at_us;          /* when it was recorded */
    int64_t observed_at_us; /* when it was seen: earlier where an import was of an earlier day */
    struct price before;    /* quoted_microusd 0: the price is new */
    struct price after;     /* quoted_microusd 0: the price is gone */
    const char *actor;
    char upload_id[37];
};
/* Price changes of an offer (also of a removed one), newest first, with a sequence below
 * `before_sequence`; *ret_total counts all of them. */
enum db_status db_price_history(struct db_connection *connection,
                                const uint8_t offer_id[static OFFER_ID_BYTES],
                                int64_t before_sequence, size_t limit, struct arena *arena,
                                struct price_change **ret_changes, size_t *ret_count,
                                size_t *ret_total);

/* Idempotency: claims (scope, key) for this request inside the write's own transaction. DB_OK:
 * ours, go on; DB_NONE: already answered with the same fingerprint (*ret_status, *ret_body filled);
 * DB_CONFLICT: another fingerprint (422); DB_RETRY: the first is still running (409, by
 * lock_timeout). */
enum db_status db_idempotency_claim(struct db_connection *connection, const char *scope,
                                    const char *key, const uint8_t fingerprint[static 32],
                                    struct arena *arena, int *ret_status, const char **ret_body);
/* Stores the answer in the same transaction. */
enum db_status db_idempotency_store(struct db_connection *connection, const char *scope,
                                    const char *key, int status, const char *body);
/* How long things are kept, in days; idempotency records 24 h, price history for ever. */
struct retention {
    int32_t upload_days; /* uploads with their issues */
    int32_t tombstone_days;
    int32_t audit_days; /* at least 31 */
};
/* Removes what retention no longer keeps; bounded work per call, in transactions of its own: call
 * it now and then outside any, and soon again where *ret_more says that there is more. */
enum db_status db_retention(struct db_connection *connection, const struct retention *retention,
                            bool *ret_more);

#endif
