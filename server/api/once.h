/* Writes that an Idempotency-Key may guard: claim, write and the answer that is kept are one
 * transaction, so that a repeated request gets the first one's answer and changes nothing. */
#ifndef RACKRATE_API_ONCE_H
#define RACKRATE_API_ONCE_H

#include "db/db.h"
#include "server/http/http.h"
#include "server/sync/write.h"

/* Reads the header, bare or as a quoted string; NULL where there is none. False with a 400 in the
 * reply. */
bool idempotency_key_read(struct request *request, struct reply *reply, const char **ret_key);

/* Whose key it is and what the request was: method, target and decoded body. NULL without a key. In
 * the request's arena. */
struct idempotency *idempotency_make(struct request *request, const char *key, const char *body,
                                     size_t length);

/* The answers to a key that is another request's, and to one whose first request still runs. */
void reply_key_reused(struct request *request, struct reply *reply);
void reply_key_busy(struct request *request, struct reply *reply);

/* One small write: an operator's, or a profile. */
struct once {
    struct db_connection *connection;
    const struct idempotency *idempotency;
};

/* Begins the write's transaction and claims its key, if it has one. False where the reply is made:
 * it was answered before, or can't go on. Runs on a worker. */
bool once_begin(struct once *once, struct request *request, struct reply *reply,
                struct db_connection *connection);

/* Commits where the reply is a success, having kept it (or `kept` in its place, where the answer
 * shows a secret) for the key; rolls back otherwise. False where nothing was written: the reply
 * says why. */
bool once_end(struct once *once, struct request *request, struct reply *reply, const char *kept);

#endif
