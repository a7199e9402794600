/* Readers, writers and the merger at once, for the thread sanitizer: readers search, look up,
 * summarise and hold old snapshots while writers replace, delete and reload. Each provider's offers
 * of one version carry one price, so a reader that ever sees two prices of one provider has seen
 * half an update. Usage: catalog_stress [SECONDS], by default 5. Exit 0 where all held. */
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/catalog/query.h"
#include "server/reference/gpu.h"
#include "tests/support/test_offers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROVIDERS       4
#define OFFERS          3000
#define READERS         3
#define HELD            8
#define MICROUSD_A_STEP 1000

static struct catalog *catalog;
static _Atomic bool stopping;
static _Atomic unsigned long searches, writes, failures;

static void fail(const char *what)
{
    if (atomic_fetch_add(&failures, 1) < 10)
        fprintf(stderr, "catalog_stress: %s\n", what);
}

/* All offers of a provider at a price that names the version, in changing numbers. */
static bool write_version(size_t index, int64_t version, bool reload)
{
    struct arena arena = {0};
    size_t count = OFFERS - (size_t)(version % 7) * 250;
    struct offer *offers = arena_calloc(&arena, count, sizeof(*offers));
    const char **removed = arena_calloc(&arena, OFFERS, sizeof(*removed));
    size_t removed_count = 0;
    for (size_t i = 0; i < OFFERS; i++) {
        const char *external_id = arena_printf(&arena, "o%zu", i);
        if (i >= count) {
            removed[removed_count++] = external_id;
            continue;
        }
        offers[i] = *test_offer(&arena, external_id, version * MICROUSD_A_STEP);
        offers[i].updated_at_us = timestamp_now_us();
    }
    struct provider provider = {.slug = arena_printf(&arena, "p%zu", index),
                                .name = "P",
                                .freshness_hours = 1,
                                .trust = {UNKNOWN, -1, -1, -1},
                                .version = version,
                                .confirmed_at_us = timestamp_now_us(),
                                .updated_at_us = timestamp_now_us()};
    struct catalog_update update = {.provider = &provider,
                                    .after_version = reload ? UNKNOWN : version - 1,
                                    .reload = reload,
                                    .upserts = offers,
                                    .upsert_count = count,
                                    .removed = removed,
                                    .removed_count = reload ? 0 : removed_count};
    bool good = catalog_apply(catalog, &update, 1);
    arena_free(&arena);
    return good;
}

static void *writer(void *closure)
{
    size_t index = (size_t)(uintptr_t)closure;
    for (int64_t version = 2; !atomic_load(&stopping); version++) {
        if (!write_version(index, version, version % 5 == 0))
            fail("an update was refused");
        atomic_fetch_add(&writes, 1);
    }
    return NULL;
}

/* Every row of the answer has the price of the first. */
static void check_prices(const struct buf *out)
{
    static const char key[] = "\"price\":{\"billing\":\"on_demand\",\"term_months\":0,\"plan\":"
                              "null,\"price_per_gpu_hour\":";
    const char *first = NULL;
    size_t length = 0;
    for (const char *at = out->data; (at = strstr(at, key)) != NULL;) {
        at += sizeof(key) - 1;
        if (first == NULL) {
            first = at;
            length = strcspn(at, ",") + 1;
        } else if (strncmp(first, at, length) != 0) {
            fail("a reader saw half an update");
            return;
        }
    }
}

static void search(struct snapshot *snapshot, size_t index)
{
    static const char *const sorts[] = {"price", "-updated", "vram"};
    struct arena arena = {0};
    struct buf out = {0};
    struct query *query;
    struct query_error *errors;
    const char *cursor;
    struct query_parameter parameters[] = {{"provider", arena_printf(&arena, "p%zu", index)},
                                           {"sort", sorts[index % 3]},
                                           {"limit", "100"},
                                           {"gpu", "H100"}};
    if (query_parse(parameters, 4, snapshot, &arena, &query, &errors) != 0) {
        fail(errors[0].message);
    } else {
        query_answer(snapshot, query, timestamp_now_us(), &arena, &out, &cursor);
        check_prices(&out);
    }
    if (snapshot_gpu_summary(snapshot, gpu_find("h100-sxm"), timestamp_now_us()).offers == 0)
        fail("a summary without offers");
    snapshot_state_hash(snapshot, timestamp_now_us());
    atomic_fetch_add(&searches, 1);
    arena_free(&arena);
    buf_free(&out);
}

static void *reader(void *closure)
{
    struct snapshot *held[HELD] = {NULL};
    size_t turn = (size_t)(uintptr_t)closure;
    for (; !atomic_load(&stopping); turn++) {
        struct arena arena = {0};
        struct baseline baseline;
        snapshot_release(held[turn % HELD]);
        held[turn % HELD] = catalog_acquire(catalog);
        search(held[turn % HELD], turn % PROVIDERS);
        search(held[(turn + 1) % HELD] != NULL ? held[(turn + 1) % HELD] : held[turn % HELD],
               turn % PROVIDERS);
        if (turn % 16 == 0 &&
            (!catalog_baseline(catalog, "p1", &arena, &baseline) || baseline.entry_count == 0))
            fail("no baseline");
        arena_free(&arena);
    }
    for (size_t i = 0; i < HELD; i++)
        snapshot_release(held[i]);
    return NULL;
}

int main(int argument_count, char **arguments)
{
    pthread_t threads[PROVIDERS + READERS];
    int64_t seconds = argument_count > 1 ? strtol(arguments[1], NULL, 10) : 5;
    if (!crypt_init())
        return 1;
    catalog = catalog_new();
    for (size_t i = 0; i < PROVIDERS; i++) {
        if (!write_version(i, 1, true))
            return 1;
    }
    for (size_t i = 0; i < PROVIDERS; i++)
        pthread_create(&threads[i], NULL, writer, (void *)(uintptr_t)i);
    for (size_t i = 0; i < READERS; i++)
        pthread_create(&threads[PROVIDERS + i], NULL, reader, (void *)(uintptr_t)i);
    int64_t until = monotonic_now_us() + seconds * 1000000;
    while (monotonic_now_us() < until)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    atomic_store(&stopping, true);
    for (size_t i = 0; i < PROVIDERS + READERS; i++)
        pthread_join(threads[i], NULL);
    struct catalog_stats stats;
    catalog_get_stats(catalog, &stats);
    printf("catalog_stress: %lu searches, %lu writes, %llu publishes, %lu failures\n",
           atomic_load(&searches), atomic_load(&writes), (unsigned long long)stats.publishes,
           atomic_load(&failures));
    catalog_free(catalog);
    return atomic_load(&failures) == 0 && atomic_load(&searches) > 0 ? 0 : 1;
}
