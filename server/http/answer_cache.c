/* Shelves of a few answers each, found by the key's hash. A flag guards a shelf for the moment of
 * comparing keys and taking a reference; it is only ever tried. Answers count their references, so
 * that one may leave its shelf while it is being sent. Which keys were asked for lately is known by
 * a table of hashes, each written over by the next that falls on its place. */
#include "server/http/answer_cache.h"

#include "server/base/metrics.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES    24
#define SHELF_PLACES 4
#define SHELVES      2048
#define ASKED_PLACES 8192
/* Shelves looked at for something to throw out before an answer is rather not kept. */
#define EVICTION_TRIES 64
/* The share of the bytes that one answer may take. */
#define LARGEST_SHARE 64

struct cached_answer {
    _Atomic size_t references;
    char key[KEY_BYTES];
    char *bytes;
    size_t length;
    size_t held; /* what it counts for */
    bool gzip;
    char *note;
    _Atomic uint32_t used; /* when last, by the cache's own count */
};

struct shelf {
    _Alignas(64) atomic_flag busy;
    struct cached_answer *places[SHELF_PLACES];
};

struct answer_cache {
    size_t limit_bytes;
    _Atomic size_t bytes;
    _Atomic uint32_t clock;
    _Atomic uint32_t hand; /* the shelf to throw out from next */
    _Atomic uint64_t asked[ASKED_PLACES];
    struct shelf shelves[SHELVES];
};

static void make_key(const struct answer_key *key, char out[static KEY_BYTES])
{
    memset(out, 0, KEY_BYTES);
    memcpy(out, key->tag, strnlen(key->tag, KEY_BYTES - 1));
    out[KEY_BYTES - 1] = key->takes_gzip ? 'z' : 'p';
}

static uint64_t hash_of(const char key[static KEY_BYTES])
{
    uint64_t words[KEY_BYTES / 8], hash = 0;
    memcpy(words, key, KEY_BYTES);
    for (size_t i = 0; i < KEY_BYTES / 8; i++) { /* the finalizer of MurmurHash3, word by word */
        hash ^= words[i];
        hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
        hash = (hash ^ hash >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
        hash ^= hash >> 33;
    }
    return hash;
}

static bool try_shelf(struct shelf *shelf)
{
    return !atomic_flag_test_and_set_explicit(&shelf->busy, memory_order_acquire);
}

static void leave_shelf(struct shelf *shelf)
{
    atomic_flag_clear_explicit(&shelf->busy, memory_order_release);
}

static void release(void *closure)
{
    struct cached_answer *answer = closure;
    if (answer == NULL ||
        atomic_fetch_sub_explicit(&answer->references, 1, memory_order_acq_rel) != 1)
        return;
    free(answer->bytes);
    free(answer->note);
    free(answer);
}

struct answer_cache *answer_cache_new(size_t limit_bytes)
{
    if (limit_bytes == 0)
        return NULL;
    size_t size = (sizeof(struct answer_cache) + 63) / 64 * 64;
    struct answer_cache *cache = aligned_alloc(64, size);
    if (cache == NULL)
        abort(); /* as xmalloc does */
    memset(cache, 0, size);
    cache->limit_bytes = limit_bytes;
    for (size_t i = 0; i < SHELVES; i++)
        atomic_flag_clear(&cache->shelves[i].busy);
    return cache;
}

/* An answer has left its shelf. */
static void forget(struct answer_cache *cache, struct cached_answer *answer)
{
    if (answer == NULL)
        return;
    atomic_fetch_sub_explicit(&cache->bytes, answer->held, memory_order_relaxed);
    metric_add(METRIC_ANSWER_CACHE_BYTES, -(int64_t)answer->held);
    release(answer);
}

void answer_cache_free(struct answer_cache *cache)
{
    for (size_t i = 0; cache != NULL && i < SHELVES; i++) {
        for (size_t place = 0; place < SHELF_PLACES; place++)
            forget(cache, cache->shelves[i].places[place]);
    }
    free(cache);
}

static void share(struct reply *reply, struct cached_answer *answer)
{
    reply->fixed = (const unsigned char *)answer->bytes;
    reply->fixed_length = answer->length;
    reply->fixed_release = release;
    reply->fixed_owner = answer;
    reply->encoded = true;
    reply->gzip = answer->gzip;
}

bool answer_cache_find(struct answer_cache *cache, const struct answer_key *key,
                       struct reply *reply, const char **ret_note)
{
    char bytes[KEY_BYTES];
    struct cached_answer *found = NULL;
    *ret_note = NULL;
    if (cache == NULL)
        return false;
    make_key(key, bytes);
    struct shelf *shelf = &cache->shelves[hash_of(bytes) % SHELVES];
    if (try_shelf(shelf)) {
        for (size_t i = 0; i < SHELF_PLACES && found == NULL; i++) {
            if (shelf->places[i] != NULL && memcmp(shelf->places[i]->key, bytes, KEY_BYTES) == 0)
                found = shelf->places[i];
        }
        if (found != NULL)
            atomic_fetch_add_explicit(&found->references, 1, memory_order_relaxed);
        leave_shelf(shelf);
    }
    metric_add(found == NULL ? METRIC_ANSWER_CACHE_MISSES : METRIC_ANSWER_CACHE_HITS, 1);
    if (found == NULL)
        return false;
    atomic_store_explicit(&found->used,
                          atomic_fetch_add_explicit(&cache->clock, 1, memory_order_relaxed),
                          memory_order_relaxed);
    share(reply, found);
    *ret_note = found->note;
    return true;
}

/* The place of a shelf whose answer was not used for longest, or an empty one. */
static size_t oldest_place(const struct answer_cache *cache, const struct shelf *shelf)
{
    uint32_t now = atomic_load_explicit(&cache->clock, memory_order_relaxed), most = 0;
    size_t oldest = 0;
    for (size_t i = 0; i < SHELF_PLACES; i++) {
        if (shelf->places[i] == NULL)
            return i;
        uint32_t age = now - atomic_load_explicit(&shelf->places[i]->used, memory_order_relaxed);
        if (age >= most) {
            most = age;
            oldest = i;
        }
    }
    return oldest;
}

/* Takes the bytes, throwing out from one shelf after the other what is in their way. */
static bool take_bytes(struct answer_cache *cache, size_t bytes)
{
    size_t all = atomic_fetch_add_explicit(&cache->bytes, bytes, memory_order_relaxed) + bytes;
    for (int tries = 0; all > cache->limit_bytes && tries < EVICTION_TRIES; tries++) {
        uint32_t hand = atomic_fetch_add_explicit(&cache->hand, 1, memory_order_relaxed);
        struct shelf *shelf = &cache->shelves[hand % SHELVES];
        struct cached_answer *out = NULL;
        if (try_shelf(shelf)) {
            for (size_t i = 0; i < SHELF_PLACES; i++) {
                /* The oldest of those there; an empty place is no answer to throw out. */
                struct cached_answer *answer = shelf->places[i];
                if (answer != NULL && (out == NULL || (int32_t)(out->used - answer->used) > 0))
                    out = answer;
            }
            for (size_t i = 0; i < SHELF_PLACES && out != NULL; i++) {
                if (shelf->places[i] == out)
                    shelf->places[i] = NULL;
            }
            leave_shelf(shelf);
        }
        forget(cache, out);
        all = atomic_load_explicit(&cache->bytes, memory_order_relaxed);
    }
    if (all <= cache->limit_bytes)
        return true;
    atomic_fetch_sub_explicit(&cache->bytes, bytes, memory_order_relaxed);
    return false;
}

/* Whether the key was asked for not long ago; from now on it was. */
static bool was_asked(struct answer_cache *cache, uint64_t hash)
{
    return atomic_exchange_explicit(&cache->asked[hash / SHELVES % ASKED_PLACES], hash,
                                    memory_order_relaxed) == hash;
}

static struct cached_answer *make_answer(const char key[static KEY_BYTES], struct reply *reply,
                                         const char *note, size_t held)
{
    struct cached_answer *answer = xcalloc(1, sizeof(*answer));
    atomic_init(&answer->references, 2); /* the shelf's and the reply's */
    memcpy(answer->key, key, KEY_BYTES);
    answer->bytes = buf_detach(&reply->body, &answer->length);
    answer->bytes = xrealloc(answer->bytes, answer->length + 1);
    answer->gzip = reply->gzip;
    answer->held = held;
    answer->note = note == NULL ? NULL : xstrdup(note);
    return answer;
}

void answer_cache_put(struct answer_cache *cache, const struct answer_key *key, struct reply *reply,
                      const char *note)
{
    char bytes[KEY_BYTES];
    if (cache == NULL || reply->body.length == 0)
        return;
    make_key(key, bytes);
    uint64_t hash = hash_of(bytes);
    size_t held = sizeof(struct cached_answer) + reply->body.length + 1 +
                  (note == NULL ? 0 : strlen(note) + 1);
    if (!was_asked(cache, hash) || held > cache->limit_bytes / LARGEST_SHARE ||
        !take_bytes(cache, held))
        return;
    metric_add(METRIC_ANSWER_CACHE_BYTES, (int64_t)held);
    struct cached_answer *answer = make_answer(bytes, reply, note, held), *out = answer;
    atomic_init(&answer->used, atomic_load_explicit(&cache->clock, memory_order_relaxed));
    share(reply, answer);
    struct shelf *shelf = &cache->shelves[hash % SHELVES];
    if (try_shelf(shelf)) {
        size_t place = oldest_place(cache, shelf);
        /* Two that made the same at once: the later one takes the place of the first. */
        for (size_t i = 0; i < SHELF_PLACES; i++) {
            if (shelf->places[i] != NULL && memcmp(shelf->places[i]->key, bytes, KEY_BYTES) == 0)
                place = i;
        }
        out = shelf->places[place];
        shelf->places[place] = answer;
        leave_shelf(shelf);
    }
    forget(cache, out); /* what it took the place of; or itself, where the shelf was busy */
}

size_t answer_cache_bytes(const struct answer_cache *cache)
{
    return cache == NULL ? 0 : atomic_load_explicit(&cache->bytes, memory_order_relaxed);
}
