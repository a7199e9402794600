/* Updates: versions, removals, batches, baselines; and random sequences of changes against the
 * oracle and against a catalogue made from scratch. */
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"
#include "tests/support/search_oracle.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

TestSuite(apply, .timeout = 120);

static struct market market;
static struct catalog *catalog;

static void start(void)
{
    cr_assert(crypt_init());
    market_make(&market, 11, 3, 4);
    catalog = catalog_new();
    cr_assert(market_load(catalog, &market));
}

static void stop(void)
{
    catalog_free(catalog);
    market_free(&market);
}

TestSuite(versions, .init = start, .fini = stop, .timeout = 60);

/* Applies one update to provider p0 at a version; fields beyond are the caller's. */
static bool apply(struct catalog_update update, int64_t version)
{
    struct provider facts = market.providers[0].facts;
    facts.version = version;
    update.provider = &facts;
    return catalog_apply(catalog, &update, 1);
}

static bool has(const char *external_id)
{
    struct buf out = {0};
    struct snapshot *snapshot = catalog_acquire(catalog);
    bool found = snapshot_write_offer(snapshot, "p0", external_id, MARKET_NOW_US, &out, NULL);
    snapshot_release(snapshot);
    buf_free(&out);
    return found;
}

Test(versions, deltas_come_once_and_in_order)
{
    const char *gone[] = {"o0"}, *gone_too[] = {"o1"};
    struct catalog_stats stats;
    cr_expect(catalog_provider_version(catalog, "p0") == 1);
    cr_expect(catalog_provider_version(catalog, "nobody") == UNKNOWN);
    cr_expect(
        apply((struct catalog_update){.after_version = 1, .removed = gone, .removed_count = 1}, 3));
    cr_expect(!has("o0") && has("o1"));
    cr_expect(catalog_provider_version(catalog, "p0") == 3);
    cr_expect(
        apply((struct catalog_update){.after_version = 1, .removed = gone_too, .removed_count = 1},
              3),
        "skipped");
    cr_expect(
        apply((struct catalog_update){.after_version = 0, .removed = gone_too, .removed_count = 1},
              2),
        "skipped");
    cr_expect(has("o1"));
    cr_expect(
        !apply((struct catalog_update){.after_version = 4, .removed = gone_too, .removed_count = 1},
               5),
        "a gap");
    cr_expect(has("o1"));
    cr_expect(catalog_provider_version(catalog, "p0") == 3);
    catalog_get_stats(catalog, &stats);
    cr_expect(stats.failed_builds == 1 && stats.publishes == 2 && stats.offers == 11,
              "%llu %llu %llu", (unsigned long long)stats.failed_builds,
              (unsigned long long)stats.publishes, (unsigned long long)stats.offers);
    cr_expect(
        apply((struct catalog_update){.after_version = 2, .removed = gone_too, .removed_count = 1},
              6),
        "an overlap holds all that is missing");
    cr_expect(!has("o1") && catalog_provider_version(catalog, "p0") == 6);
}

Test(versions, reloads_replace_and_go_back_only_by_force)
{
    struct offer *kept = &market.providers[0].offers[2];
    struct catalog_update reload = {.reload = true, .upserts = kept, .upsert_count = 1};
    cr_expect(apply(reload, 5));
    cr_expect(has("o2") && !has("o0") && !has("o3"));
    reload.upserts = market.providers[0].offers;
    reload.upsert_count = 4;
    cr_expect(apply(reload, 4), "skipped");
    cr_expect(!has("o0") && catalog_provider_version(catalog, "p0") == 5);
    reload.force = true;
    cr_expect(apply(reload, 4));
    cr_expect(has("o0") && catalog_provider_version(catalog, "p0") == 4);
}

Test(versions, a_batch_is_seen_as_one_or_not_at_all)
{
    struct provider first = market.providers[0].facts, second = market.providers[1].facts;
    const char *gone[] = {"o0"};
    first.version = 2;
    second.version = 9;
    struct catalog_update updates[] = {
        {.provider = &first, .after_version = 1, .removed = gone, .removed_count = 1},
        {.provider = &second, .after_version = 7, .removed = gone, .removed_count = 1},
    };
    cr_expect(!catalog_apply(catalog, updates, 2));
    cr_expect(has("o0"));
    updates[1].after_version = 1;
    cr_expect(catalog_apply(catalog, updates, 2));
    cr_expect(!has("o0"));
    /* The same provider twice in a batch: in order. */
    struct provider third = first, fourth = first;
    third.version = 3;
    fourth.version = 4;
    struct catalog_update twice[] = {
        {.provider = &third,
         .after_version = 2,
         .upserts = market.providers[0].offers,
         .upsert_count = 1},
        {.provider = &fourth, .after_version = 3, .removed = gone, .removed_count = 1},
    };
    cr_expect(catalog_apply(catalog, twice, 2));
    cr_expect(!has("o0") && catalog_provider_version(catalog, "p0") == 4);
    cr_expect(catalog_apply(catalog, NULL, 0));
}

Test(versions, providers_come_and_go)
{
    struct provider fresh = {.slug = "aaa",
                             .name = "First",
                             .freshness_hours = 1,
                             .version = 1,
                             .trust = {UNKNOWN, -1, -1, -1},
                             .confirmed_at_us = MARKET_NOW_US + 7,
                             .updated_at_us = MARKET_NOW_US};
    struct catalog_update update = {.provider = &fresh,
                                    .after_version = 0,
                                    .upserts = market.providers[0].offers,
                                    .upsert_count = 2};
    cr_expect(!catalog_apply(catalog, &update, 1), "a delta needs what it is a delta to");
    update.reload = true;
    cr_expect(catalog_apply(catalog, &update, 1));
    struct snapshot *with = catalog_acquire(catalog);
    cr_expect(snapshot_provider_count(with) == 4 &&
              strcmp(snapshot_provider(with, 0)->slug, "aaa") == 0);
    cr_expect(snapshot_offer_count(with) == 14);
    cr_expect(snapshot_as_of_us(with) == MARKET_NOW_US + 7);
    update = (struct catalog_update){.provider = &fresh, .remove_provider = true};
    cr_expect(catalog_apply(catalog, &update, 1));
    struct snapshot *without = catalog_acquire(catalog);
    cr_expect(snapshot_provider_count(without) == 3 &&
              snapshot_provider_find(without, "aaa") == NULL);
    cr_expect(snapshot_offer_count(without) == 12);
    cr_expect(snapshot_provider_find(with, "aaa") != NULL && snapshot_offer_count(with) == 14,
              "the old one stays");
    snapshot_release(with);
    snapshot_release(without);
    cr_expect(catalog_apply(catalog, &update, 1), "gone already");
    /* Its slot goes to another. */
    fresh.slug = "zzz";
    update = (struct catalog_update){.provider = &fresh,
                                     .reload = true,
                                     .upserts = market.providers[0].offers,
                                     .upsert_count = 1};
    cr_expect(catalog_apply(catalog, &update, 1));
    struct snapshot *last = catalog_acquire(catalog);
    cr_expect(strcmp(snapshot_provider(last, 3)->slug, "zzz") == 0 &&
              snapshot_offer_count(last) == 13);
    snapshot_release(last);
}

Test(versions, a_suspended_provider_is_out_but_known)
{
    struct provider facts = market.providers[0].facts;
    facts.version = 2;
    facts.suspended = true;
    struct catalog_update update = {.provider = &facts, .after_version = 1};
    cr_expect(catalog_apply(catalog, &update, 1));
    cr_expect(!has("o0"));
    market.providers[0].facts = facts;
    cr_expect(oracle_agrees(catalog, &market, NULL, 0, MARKET_NOW_US));
    struct query_parameter by_name[] = {{"provider", "p0"}};
    cr_expect(oracle_agrees(catalog, &market, by_name, 1, MARKET_NOW_US));
    struct snapshot *snapshot = catalog_acquire(catalog);
    cr_expect(snapshot_provider_find(snapshot, "p0") != NULL &&
              snapshot_provider_find(snapshot, "p0")->suspended);
    cr_expect(snapshot_provider_summary(snapshot, 0, MARKET_NOW_US).offers == 0);
    snapshot_release(snapshot);
}

Test(versions, baselines_are_sorted_and_hashed)
{
    struct arena arena = {0};
    struct baseline baseline;
    cr_expect(!catalog_baseline(catalog, "nobody", &arena, &baseline));
    cr_assert(catalog_baseline(catalog, "p1", &arena, &baseline));
    cr_expect(baseline.version == 1 && baseline.entry_count == 4);
    for (size_t i = 0; i < baseline.entry_count; i++) {
        const struct offer *offer = &market.providers[1].offers[i];
        uint8_t hash[OFFER_HASH_BYTES];
        offer_content_hash(offer, gpu_at(offer->gpu)->slug,
                           offer->place == INDEX_NONE ? NULL : place_at(offer->place)->slug, hash);
        cr_expect(strcmp(baseline.entries[i].external_id, offer->external_id) == 0);
        cr_expect(memcmp(baseline.entries[i].hash, hash, sizeof(hash)) == 0);
    }
    arena_free(&arena);
}

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

Test(apply, changes_give_what_building_anew_gives)
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

Test(apply, large_segments_merge_in_the_background_and_memory_stays_bounded)
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
