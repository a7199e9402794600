/* A sorted array behind a read-write lock: writers come once per key change, readers once per
 * authenticated request, which costs far more than the lock. */
#include "server/auth/key_cache.h"

#include "server/base/crypto.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct key_cache {
    pthread_rwlock_t lock;
    struct arena arena; /* holds entries and slugs */
    struct key_entry *entries;
    size_t count;
    int64_t version;
};

static int compare_hashes(const void *a, const void *b)
{
    return memcmp(((const struct key_entry *)a)->hash, ((const struct key_entry *)b)->hash,
                  KEY_HASH_BYTES);
}

struct key_cache *key_cache_new(void)
{
    struct key_cache *cache = xcalloc(1, sizeof(*cache));
    pthread_rwlock_init(&cache->lock, NULL);
    return cache;
}

void key_cache_free(struct key_cache *cache)
{
    if (cache == NULL)
        return;
    arena_free(&cache->arena);
    pthread_rwlock_destroy(&cache->lock);
    free(cache);
}

void key_cache_replace(struct key_cache *cache, int64_t version, bool force,
                       const struct key_entry *entries, size_t count)
{
    struct arena arena = {0};
    struct key_entry *copy = arena_calloc(&arena, count, sizeof(*copy));
    for (size_t i = 0; i < count; i++) {
        copy[i] = entries[i];
        copy[i].provider_slug = arena_strdup(&arena, entries[i].provider_slug);
    }
    if (count > 1)
        qsort(copy, count, sizeof(*copy), compare_hashes);
    pthread_rwlock_wrlock(&cache->lock);
    struct arena old = arena;
    if (force || version >= cache->version) {
        old = cache->arena;
        cache->arena = arena;
        cache->entries = copy;
        cache->count = count;
        cache->version = version;
    }
    pthread_rwlock_unlock(&cache->lock);
    arena_free(&old);
}

bool key_cache_find(struct key_cache *cache, const uint8_t hash[static KEY_HASH_BYTES],
                    struct arena *arena, struct key_entry *ret_entry)
{
    pthread_rwlock_rdlock(&cache->lock);
    size_t low = 0, high = cache->count;
    /* Which path the search takes tells about hashes, not about keys; the deciding comparison is
     * constant-time. */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memcmp(cache->entries[middle].hash, hash, KEY_HASH_BYTES) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < cache->count && crypt_equal(cache->entries[low].hash, hash, KEY_HASH_BYTES);
    if (found) {
        *ret_entry = cache->entries[low];
        ret_entry->provider_slug = arena_strdup(arena, ret_entry->provider_slug);
    }
    pthread_rwlock_unlock(&cache->lock);
    return found;
}
