/* Updates: versions, removals, batches, baselines. */
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"
#include "tests/support/search_oracle.h"

#include <criterion/criterion.h>
#include <string.h>

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

TestSuite(apply, .init = start, .fini = stop, .timeout = 60);

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

Test(apply, deltas_come_once_and_in_order)
{
    const char *gone[] = {"o0"}, *gone_too[] = {"o1"};
    struct catalog_stats started, stats;
    catalog_get_stats(catalog, &started);
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
    cr_expect(stats.failed_builds == 1 && stats.publishes == started.publishes + 1 &&
                  stats.offers == 11,
              "%llu %llu %llu", (unsigned long long)stats.failed_builds,
              (unsigned long long)stats.publishes, (unsigned long long)stats.offers);
    cr_expect(
        apply((struct catalog_update){.after_version = 2, .removed = gone_too, .removed_count = 1},
              6),
        "an overlap holds all that is missing");
    cr_expect(!has("o1") && catalog_provider_version(catalog, "p0") == 6);
}

Test(apply, reloads_replace_and_go_back_only_by_force)
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

Test(apply, a_batch_is_seen_as_one_or_not_at_all)
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

Test(apply, providers_come_and_go)
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

Test(apply, a_suspended_provider_is_out_but_known)
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

Test(apply, baselines_are_sorted_and_hashed)
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
