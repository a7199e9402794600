/* The keys a node knows, in memory, by hash. Replaced as a whole by sync when the keys' version
 * moves; a key missing here is looked up in the database before it is refused. Any thread. */
#ifndef RACKRATE_AUTH_KEY_CACHE_H
#define RACKRATE_AUTH_KEY_CACHE_H

#include "server/auth/key.h"
#include "server/base/arena.h"

struct key_cache;

struct key_entry {
    uint8_t hash[KEY_HASH_BYTES];
    int64_t key_id;
    const char *provider_slug; /* NULL for an operator */
    bool admin;
};

struct key_cache *key_cache_new(void);
void key_cache_free(struct key_cache *cache);

/* Holds exactly these (unrevoked) keys from now on; everything is copied. `version` is of the keys,
 * read before they were: a list older than the one held is passed over, so that a key revoked
 * meanwhile does not come back; with `force` it is taken, since the database itself went back. */
void key_cache_replace(struct key_cache *cache, int64_t version, bool force,
                       const struct key_entry *entries, size_t count);

/* The entry of a hash, its provider's slug copied into the arena; false where unknown. Compared in
 * constant time. */
bool key_cache_find(struct key_cache *cache, const uint8_t hash[static KEY_HASH_BYTES],
                    struct arena *arena, struct key_entry *ret_entry);

#endif
