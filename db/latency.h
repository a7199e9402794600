/* Measured round trips. */
#ifndef RACKRATE_DB_LATENCY_H
#define RACKRATE_DB_LATENCY_H

#include "db/db.h"
#include "server/reference/latency_book.h"

/* The most measurements one provider may have; a newer one in place of an older is no more. */
#define LATENCY_PER_PROVIDER_MAX 20000

struct arena;

/* What a write did. */
struct latency_effect {
    size_t created, updated;
    size_t unchanged;     /* the same again, or older than what is there */
    size_t contradicting; /* of all that came */
    int64_t version;
};

/* Stores measurements; floor_us is computed by the caller, ids are given here. All or none.
 * Providers named must exist. DB_CONFLICT: the measuring provider would have over
 * LATENCY_PER_PROVIDER_MAX. Joins the caller's transaction, if there is one. */
enum db_status db_latency_write(struct db_connection *connection,
                                const struct latency_measurement *list, size_t count,
                                const char *actor, struct latency_effect *ret_effect);

/* Removes one by id; DB_NONE where there is none. Joins the caller's transaction. */
enum db_status db_latency_remove(struct db_connection *connection, int64_t id, const char *actor);

/* All of them, with the version they are of, in the arena; those of places this release doesn't
 * know are left out. */
enum db_status db_latency_list(struct db_connection *connection, struct arena *arena,
                               struct latency_measurement **ret_list, size_t *ret_count,
                               int64_t *ret_version);

#endif
