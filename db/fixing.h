/* Fixings in the database: which days lack one, what the market was like when a day ended,
 * publishing, and reading back. A day is a number of days after 1970-01-01; it ends where the next
 * begins, in UTC. */
#ifndef RACKRATE_DB_FIXING_H
#define RACKRATE_DB_FIXING_H

#include "db/db.h"
#include "server/base/arena.h"
#include "server/model/offer.h"

/* ---- which days ---- */

/* Up to `limit` days up to `last_day` that nobody published yet, oldest first, in the arena; none
 * before the first provider or confirmation. */
enum db_status db_fixing_due(struct db_connection *connection, int32_t last_day, size_t limit,
                             struct arena *arena, int32_t **ret_days, size_t *ret_count);
/* Whether an import was applied after a moment. */
enum db_status db_fixing_imported_since(struct db_connection *connection, int64_t since_us,
                                        bool *ret_any);

/* ---- one day ---- */

/* Begins a transaction that sees one state of the database and is the only one in the cluster that
 * publishes: DB_RETRY, and no transaction, where another does so now. End it by db_commit or
 * db_rollback. */
enum db_status db_fixing_begin(struct db_connection *connection);

/* The last revision published of a day; 0 none. */
enum db_status db_fixing_revision(struct db_connection *connection, int32_t day,
                                  int32_t *ret_revision);

/* Until the end of a day, when each provider last confirmed all it has; by provider's id,
 * ascending. */
struct past_confirmation {
    int64_t provider_id;
    int64_t at_us; /* TIMESTAMP_UNKNOWN: never */
};
enum db_status db_fixing_confirmations(struct db_connection *connection, int32_t day,
                                       struct arena *arena, struct past_confirmation **ret_list,
                                       size_t *ret_count);

/* An offer as it was at a moment. */
struct past_offer {
    uint8_t id[OFFER_ID_BYTES];
    int64_t provider_id;
    bool existed;       /* it was on offer then; else only id and provider_id are set */
    struct offer offer; /* prices, GPU, place, source and flags; observed_at_us is when it was last
                           seen by then. What else an offer has is empty. */
};
/* Offers whose prices changed since a moment, and those that `ids` names beside (any order): as
 * they were then, by id. What was seen up to `grace_us` later counts as seen then. */
enum db_status db_fixing_past_offers(struct db_connection *connection, int64_t at_us,
                                     int64_t grace_us, const uint8_t (*ids)[OFFER_ID_BYTES],
                                     size_t id_count, struct arena *arena,
                                     struct past_offer **ret_offers, size_t *ret_count);

/* One figure of a day, as stored. */
struct fixing_row {
    const char *gpu; /* slug */
    enum billing billing;
    int32_t months_from;   /* of the term bucket */
    const char *continent; /* NULL: all */
    int64_t min_microusd, p25_microusd, median_microusd, p75_microusd, max_microusd;
    int32_t offers, providers;
    uint8_t input_hash[32];
};
struct fixing_day {
    int32_t day;
    int32_t revision;
    int32_t method_version;
    int64_t version; /* order of publication */
};
/* Publishes a day inside the transaction of db_fixing_begin; sets day->version. DB_CONFLICT where
 * somebody else has published this revision. */
enum db_status db_fixing_publish(struct db_connection *connection, struct fixing_day *day,
                                 const char *made_by, const struct fixing_row *rows, size_t count);

/* ---- reading ---- */

/* Everything published after a version, in order: `take` gets each day once without a row (row
 * NULL) before its rows. Strings live during the call. False from `take` ends it with DB_FAILED. */
enum db_status db_fixing_since(struct db_connection *connection, int64_t after_version,
                               bool (*take)(void *closure, const struct fixing_day *day,
                                            const struct fixing_row *row),
                               void *closure);

#endif
