/* Segments that are added to, cleared and merged hold what building anew gives: random sequences of
 * changes against the oracle and against a catalogue made from scratch, and the merger at work. */
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"
#include "tests/support/search_oracle.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

TestSuite(segment_merge, .timeout = 300);

/* One random change to a provider of the market, applied as a delta (sometimes as a reload). */
static void change_provider(struct market *changing, struct catalog *target,
                            struct market_provider *provider)
{
    struct random *random = &changing->random;
    size_t count = 1 + random_below(random, 12), removed_count = 0, upsert_count = 0;
    struct offer *upserts = arena_calloc(&changing->arena, count, sizeof(*upserts));
    const char **removed = arena_calloc(&changing->arena, count, sizeof(*removed));
    struct offer *kept =
        arena_calloc(&changing->arena, provider->offer_count + count, sizeof(*kept));
    memcpy(kept, provider->offers, provider->offer_count * sizeof(*kept));
    provider->offers = kept;
    for (size_t i = 0; i < count; i++) {
        const char *external_id = arena_printf(&changing->arena, "o%u", random_below(random, 120));
        size_t at = 0;
        bool touched = false;
        for (size_t j = 0; j < upsert_count; j++)
            touched = touched || strcmp(upserts[j].external_id, external_id) == 0;
        for (size_t j = 0; j < removed_count; j++)
            touched = touched || strcmp(removed[j], external_id) == 0;
        if (touched)
            continue;
        while (at < provider->offer_count &&
               strcmp(provider->offers[at].external_id, external_id) != 0)
            at++;
        if (random_once_in(random, 3)) {
            removed[removed_count++] = external_id;
            if (at < provider->offer_count)
                provider->offers[at] = provider->offers[--provider->offer_count];
            continue;
        }
        market_random_offer(changing, external_id, &upserts[upsert_count]);
        provider->offers[at] = upserts[upsert_count++];
        if (at == provider->offer_count)
            provider->offer_count++;
    }
    bool reload = random_once_in(random, 10);
    provider->facts.version++;
    provider->facts.suspended = random_once_in(random, 12);
    if (random_once_in(random, 4))
        provider->facts.confirmed_at_us =
            MARKET_NOW_US - (int64_t)random_below(random, 300) * INT64_C(3600000000);
    struct catalog_update update = {
        .provider = &provider->facts,
        .after_version = provider->facts.version - 1,
        .reload = reload,
        .upserts = reload ? provider->offers : upserts,
        .upsert_count = reload ? provider->offer_count : upsert_count,
        .removed = removed,
        .removed_count = reload ? 0 : removed_count,
    };
    cr_assert(catalog_apply(target, &update, 1));
}

/* Text of all answers to some queries and look-ups: equal for catalogues that hold the same. */
static void write_everything(struct catalog *target, struct buf *out)
{
    static const char *const sorts[] = {"price", "-price", "vram", "-updated"};
    struct arena arena = {0};
    struct snapshot *snapshot = catalog_acquire(target);
    for (size_t i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++) {
        struct query_parameter parameters[] = {
            {"sort", sorts[i]}, {"include_stale", i % 2 ? "1" : "0"}, {"limit", "500"}};
        struct query *query;
        struct query_error *errors;
        const char *cursor;
        cr_assert(query_parse(parameters, 3, snapshot, &arena, &query, &errors) == 0);
        query_answer(snapshot, query, MARKET_NOW_US, &arena, out, &cursor);
    }
    for (uint16_t gpu = 0; gpu < gpu_count(); gpu++) {
        struct offer_summary summary = snapshot_gpu_summary(snapshot, gpu, MARKET_NOW_US);
        buf_printf(out, "%zu %zu %lld %lld\n", summary.offers, summary.providers,
                   (long long)summary.min_per_gpu_hour_microusd,
                   (long long)summary.max_per_gpu_hour_microusd);
    }
    for (uint16_t place = 0; place < place_count(); place++)
        buf_printf(out, "%zu\n", snapshot_place_summary(snapshot, place, MARKET_NOW_US).offers);
    buf_printf(out, "%016llx", (unsigned long long)snapshot_state_hash(snapshot, MARKET_NOW_US));
    snapshot_release(snapshot);
    arena_free(&arena);
}

Test(segment_merge, changes_give_what_building_anew_gives)
{
    cr_assert(crypt_init());
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct market changing;
        struct catalog *changed = catalog_new();
        market_make(&changing, seed, 6, 30);
        cr_assert(market_load(changed, &changing));
        for (int i = 1; i <= 400; i++) {
            change_provider(&changing, changed,
                            &changing.providers[random_below(&changing.random, 6)]);
            if (i % 40 != 0)
                continue;
            struct catalog *anew = catalog_new();
            struct buf a = {0}, b = {0};
            cr_assert(market_load(anew, &changing));
            write_everything(changed, &a);
            write_everything(anew, &b);
            cr_assert(a.length == b.length && memcmp(a.data, b.data, a.length) == 0,
                      "seed %llu step %d", (unsigned long long)seed, i);
            buf_free(&a);
            buf_free(&b);
            catalog_free(anew);
            for (int j = 0; j < 10; j++) {
                struct query_parameter parameters[MARKET_PARAMETERS_MAX];
                size_t count = market_random_query(&changing, parameters);
                cr_assert(oracle_agrees(changed, &changing, parameters, count, MARKET_NOW_US));
            }
        }
        catalog_free(changed);
        market_free(&changing);
    }
}

Test(segment_merge, large_segments_merge_in_the_background_and_memory_stays_bounded)
{
    cr_assert(crypt_init());
    struct market large;
    struct catalog *target = catalog_new();
    struct catalog_stats before, after;
    market_make(&large, 5, 4, 8000);
    cr_assert(market_load(target, &large));
    catalog_get_stats(target, &before);
    for (int i = 0; i < 60; i++) {
        struct market_provider *provider = &large.providers[i % 4];
        provider->facts.version++;
        size_t from = (size_t)(i / 4) * 500 % 8000;
        for (size_t j = from; j < from + 500; j++)
            market_random_offer(&large, provider->offers[j].external_id, &provider->offers[j]);
        struct catalog_update update = {.provider = &provider->facts,
                                        .after_version = provider->facts.version - 1,
                                        .upserts = provider->offers + from,
                                        .upsert_count = 500};
        cr_assert(catalog_apply(target, &update, 1));
    }
    for (int i = 0; i < 100; i++) { /* merges are published too; wait until none follows */
        catalog_get_stats(target, &after);
        uint64_t publishes = after.publishes;
        usleep(50000);
        catalog_get_stats(target, &after);
        if (publishes == after.publishes)
            break;
    }
    cr_expect(after.publishes > 61, "the merger published");
    cr_expect(after.offers == before.offers);
    cr_expect(after.bytes < before.bytes * 3, "%llu of %llu bytes", (unsigned long long)after.bytes,
              (unsigned long long)before.bytes);
    struct query_parameter parameters[] = {{"gpu", "h100"}, {"billing", "spot"}, {"limit", "500"}};
    cr_expect(oracle_agrees(target, &large, parameters, 3, MARKET_NOW_US));
    catalog_free(target);
    market_free(&large);
}
