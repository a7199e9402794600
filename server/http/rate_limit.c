/* 4-way slots under striped locks; the oldest address of a full slot makes room. Attackers can't
 * aim at a slot: the hash is keyed. */
#include "server/http/rate_limit.h"

#include "server/base/arena.h"
#include "server/base/crypto.h"

#include <pthread.h>
#include <stdlib.h>

#define SLOTS         4096
#define WAYS          4
#define STRIPES       64
#define US_PER_MINUTE 60000000

struct bucket {
    uint64_t hash;
    int64_t tokens_scaled; /* tokens times US_PER_MINUTE */
    int64_t at_us;         /* 0: free */
};

struct rate_limit {
    int64_t per_minute;
    pthread_mutex_t locks[STRIPES];
    struct bucket buckets[SLOTS][WAYS];
};

struct rate_limit *rate_limit_new(unsigned per_minute)
{
    struct rate_limit *limit = xcalloc(1, sizeof(*limit));
    limit->per_minute = per_minute;
    for (size_t i = 0; i < STRIPES; i++)
        pthread_mutex_init(&limit->locks[i], NULL);
    return limit;
}

void rate_limit_free(struct rate_limit *limit)
{
    if (limit == NULL)
        return;
    for (size_t i = 0; i < STRIPES; i++)
        pthread_mutex_destroy(&limit->locks[i]);
    free(limit);
}

bool rate_limit_take(struct rate_limit *limit, const void *address, size_t length, int64_t now_us,
                     unsigned *ret_remaining, unsigned *ret_reset_seconds)
{
    uint64_t hash = crypt_short_hash(address, length);
    size_t slot = hash % SLOTS;
    int64_t full = limit->per_minute * US_PER_MINUTE;
    pthread_mutex_lock(&limit->locks[slot % STRIPES]);
    struct bucket *bucket = NULL, *oldest = &limit->buckets[slot][0];
    for (size_t i = 0; i < WAYS && bucket == NULL; i++) {
        struct bucket *way = &limit->buckets[slot][i];
        if (way->at_us != 0 && way->hash == hash)
            bucket = way;
        if (way->at_us < oldest->at_us)
            oldest = way;
    }
    if (bucket == NULL) {
        bucket = oldest;
        *bucket = (struct bucket){.hash = hash, .tokens_scaled = full, .at_us = now_us};
    }
    int64_t elapsed_us = now_us - bucket->at_us;
    if (elapsed_us > US_PER_MINUTE)
        elapsed_us = US_PER_MINUTE;
    if (elapsed_us > 0) {
        bucket->tokens_scaled += elapsed_us * limit->per_minute;
        bucket->at_us = now_us;
    }
    if (bucket->tokens_scaled > full)
        bucket->tokens_scaled = full;
    bool taken = bucket->tokens_scaled >= US_PER_MINUTE;
    if (taken)
        bucket->tokens_scaled -= US_PER_MINUTE;
    *ret_remaining = (unsigned)(bucket->tokens_scaled / US_PER_MINUTE);
    int64_t missing = taken ? full - bucket->tokens_scaled : US_PER_MINUTE - bucket->tokens_scaled;
    *ret_reset_seconds = (unsigned)(missing / limit->per_minute / 1000000 + 1);
    pthread_mutex_unlock(&limit->locks[slot % STRIPES]);
    return taken;
}
