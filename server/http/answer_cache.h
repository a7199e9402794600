/* Answers kept to be sent again, as they go out: whole bodies, compressed or not. Bounded in bytes.
 * Nobody ever waits here: who finds a shelf busy goes on as if the answer were not there. An answer
 * is kept from the second time on that it is asked for, so that a stream of queries that never come
 * again leaves everything as it is. What depends on more than the key must not be put in: a key
 * tells of the data as well (an entity tag does), and so nothing is ever thrown out for being old.
 * Any thread. */
#ifndef RACKRATE_HTTP_ANSWER_CACHE_H
#define RACKRATE_HTTP_ANSWER_CACHE_H

#include "server/http/http.h"

struct answer_cache;

/* A cache of at most so many bytes; NULL of 0, which the functions below take for an empty one. */
struct answer_cache *answer_cache_new(size_t limit_bytes);
void answer_cache_free(struct answer_cache *cache); /* no reply of it may be left */

/* What an answer is kept under: a strong tag of 16 bytes or more, and whether the client takes
 * gzip.
 */
struct answer_key {
    const char *tag;
    bool takes_gzip;
};

/* Fills the reply with the answer, without copying it, and gives true; *ret_note is what was noted
 * with it (lives as long as the reply), or NULL. False: make it. */
bool answer_cache_find(struct answer_cache *cache, const struct answer_key *key,
                       struct reply *reply, const char **ret_note);

/* Takes the body of a reply that was just made, encoded as it goes out, if it is worth keeping; the
 * reply then shares it. `note` (or NULL) is copied. */
void answer_cache_put(struct answer_cache *cache, const struct answer_key *key, struct reply *reply,
                      const char *note);

/* Bytes held by what is kept now. */
size_t answer_cache_bytes(const struct answer_cache *cache);

#endif
