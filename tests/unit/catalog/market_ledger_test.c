/* Figures and verdicts kept up to date from publish to publish are those of the same market built
 * anew: after random series of changes to offers and providers, with providers that come, leave,
 * are suspended and resell others, prices that turn stale, batches, and segments that merge. */
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/catalog/market.h"
#include "server/reference/gpu.h"
#include "tests/support/random_market.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(market_ledger, .timeout = 300);

#define HOUR_US INT64_C(3600000000)

/* Everything a snapshot says of the market, as text: all figures, and the verdicts of all offers.
 */
static char *market_text(struct snapshot *snapshot, const struct market *market, int64_t now_us)
{
    struct buf out = {0};
    for (uint16_t gpu = 0; gpu < gpu_count(); gpu++) {
        for (unsigned c = 0; c < COMMITMENT_COUNT; c++) {
            for (unsigned k = 0; k <= CONTINENT_COUNT; k++)
                (void)snapshot_market_write(snapshot, gpu, (enum commitment)c, (enum continent)k,
                                            now_us, &out);
        }
    }
    for (size_t i = 0; i < market->provider_count; i++) {
        for (size_t j = 0; j < market->providers[i].offer_count; j++)
            (void)snapshot_write_offer(snapshot, market->providers[i].facts.slug,
                                       market->providers[i].offers[j].external_id, now_us, &out,
                                       NULL);
    }
    size_t length;
    buf_add_char(&out, '\n');
    return buf_detach(&out, &length);
}

static void expect_as_anew(struct catalog *catalog, const struct market *market, int64_t now_us,
                           const char *when)
{
    struct catalog *anew = catalog_new();
    cr_assert(market_load(anew, market));
    struct snapshot *grown = catalog_acquire(catalog), *fresh = catalog_acquire(anew);
    char *got = market_text(grown, market, now_us), *want = market_text(fresh, market, now_us);
    cr_assert(strcmp(got, want) == 0, "%s", when);
    free(got);
    free(want);
    snapshot_release(grown);
    snapshot_release(fresh);
    catalog_free(anew);
}

/* Times of random markets are about MARKET_NOW_US. Snapshots are made for the real clock: there
 * some offers must be fresh and some not. */
static void move_to(struct offer *offer, int64_t now_us)
{
    offer->updated_at_us += now_us - MARKET_NOW_US;
    if (offer->observed_at_us != TIMESTAMP_UNKNOWN)
        offer->observed_at_us += now_us - MARKET_NOW_US;
}

static void move_market_to(struct market *market, int64_t now_us)
{
    for (size_t i = 0; i < market->provider_count; i++) {
        struct market_provider *provider = &market->providers[i];
        provider->facts.updated_at_us += now_us - MARKET_NOW_US;
        if (provider->facts.confirmed_at_us != TIMESTAMP_UNKNOWN)
            provider->facts.confirmed_at_us += now_us - MARKET_NOW_US;
        for (size_t j = 0; j < provider->offer_count; j++)
            move_to(&provider->offers[j], now_us);
    }
}

/* Changes some offers of one provider, or its facts. What the update names lives in the market. */
static struct catalog_update change(struct market *market, struct market_provider *provider,
                                    int64_t now_us)
{
    struct random *random = &market->random;
    struct catalog_update update = {.provider = &provider->facts,
                                    .after_version = provider->facts.version};
    const char **removed = arena_calloc(&market->arena, 1, sizeof(*removed));
    struct offer *upserts = arena_calloc(&market->arena, 4, sizeof(*upserts));
    provider->facts.version++;
    size_t count = random_below(random, 5);
    for (size_t i = 0; i < count && provider->offer_count > 0; i++) {
        struct offer *offer =
            &provider->offers[random_below(random, (uint32_t)provider->offer_count)];
        market_random_offer(market, offer->external_id, offer);
        move_to(offer, now_us);
        upserts[update.upsert_count++] = *offer;
    }
    if (random_once_in(random, 3) && provider->offer_count > 1 && update.upsert_count == 0)
        removed[update.removed_count++] = provider->offers[--provider->offer_count].external_id;
    update.removed = removed;
    update.upserts = upserts;
    if (random_once_in(random, 12))
        provider->facts.suspended = !provider->facts.suspended;
    if (random_once_in(random, 10)) {
        /* Of a provider here, of one that comes later, of one that never does, of a reseller. */
        static const char *const others[] = {"p3", "p7", "nobody", "p1"};
        provider->facts.resells =
            provider->facts.resells == NULL ? others[random_below(random, 4)] : NULL;
    }
    if (random_once_in(random, 4))
        provider->facts.confirmed_at_us = now_us - random_below(random, 300) * HOUR_US;
    if (random_once_in(random, 6))
        provider->facts.freshness_hours = random_once_in(random, 3) ? UNKNOWN : 100;
    return update;
}

/* One batch of changes to one to three providers. */
static void change_some(struct market *market, struct catalog *catalog, int64_t now_us)
{
    struct catalog_update updates[3];
    size_t count = 1 + random_below(&market->random, 3);
    size_t first = random_below(&market->random, (uint32_t)market->provider_count);
    for (size_t i = 0; i < count; i++)
        updates[i] =
            change(market, &market->providers[(first + i) % market->provider_count], now_us);
    cr_assert(catalog_apply(catalog, updates, count));
}

static void come(struct market *market, struct catalog *catalog)
{
    struct market_provider *provider = &market->providers[market->provider_count++];
    struct catalog_update update = {.provider = &provider->facts,
                                    .after_version = UNKNOWN,
                                    .reload = true,
                                    .upserts = provider->offers,
                                    .upsert_count = provider->offer_count};
    cr_assert(catalog_apply(catalog, &update, 1));
}

static void leave(struct market *market, struct catalog *catalog)
{
    struct market_provider *provider = &market->providers[--market->provider_count];
    struct catalog_update update = {
        .provider = &provider->facts, .after_version = UNKNOWN, .remove_provider = true};
    cr_assert(catalog_apply(catalog, &update, 1));
}

/* Compares after each of `rounds` rounds in which one of `often` is looked at. */
static void follow(uint64_t seed, size_t offers_each, int rounds, int often)
{
    struct market market;
    struct catalog *catalog = catalog_new();
    int64_t now_us = timestamp_now_us();
    market_make(&market, seed, 9, offers_each);
    move_market_to(&market, now_us);
    market.provider_count = 6; /* the others come later */
    cr_assert(market_load(catalog, &market));
    for (int round = 0; round < rounds; round++) {
        if (market.provider_count < 9 && random_once_in(&market.random, 8))
            come(&market, catalog);
        else if (market.provider_count > 6 && random_once_in(&market.random, 20))
            leave(&market, catalog);
        else
            change_some(&market, catalog, now_us);
        if (round % often != often - 1)
            continue;
        /* What was kept for now, and what is made of it for other times. */
        int64_t other_us = now_us + ((int64_t)random_below(&market.random, 400) - 200) * HOUR_US;
        char when[64];
        snprintf(when, sizeof(when), "seed %d, round %d", (int)seed, round);
        expect_as_anew(catalog, &market, timestamp_now_us(), when);
        expect_as_anew(catalog, &market, other_us, when);
    }
    catalog_free(catalog);
    market_free(&market);
}

Test(market_ledger, what_is_kept_is_as_built_anew)
{
    cr_assert(crypt_init());
    for (uint64_t seed = 41; seed < 47; seed++)
        follow(seed, 12, 80, 1);
}

Test(market_ledger, also_over_more_rows_than_are_merged_at_once)
{
    cr_assert(crypt_init());
    follow(60, 2500, 300, 60);
}

/* Who resells a reseller of ... is followed so far and no further: where the last one comes, the
 * first stands for itself, as one who resells nobody. */
Test(market_ledger, the_end_of_a_long_chain_of_resellers_comes_last)
{
    struct market market;
    struct catalog *catalog = catalog_new();
    cr_assert(crypt_init());
    market_make(&market, 62, 9, 12);
    move_market_to(&market, timestamp_now_us());
    for (size_t i = 0; i < 8; i++)
        market.providers[i].facts.resells = market.providers[i + 1].facts.slug;
    market.provider_count = 8;
    cr_assert(market_load(catalog, &market));
    expect_as_anew(catalog, &market, timestamp_now_us(), "before it comes");
    come(&market, catalog);
    expect_as_anew(catalog, &market, timestamp_now_us(), "when it has come");
    catalog_free(catalog);
    market_free(&market);
}

static int64_t spent_us(struct catalog *catalog)
{
    struct catalog_stats stats;
    catalog_get_stats(catalog, &stats);
    return stats.market_us;
}

Test(market_ledger, a_small_change_does_not_count_all_anew)
{
    struct market market;
    struct catalog *catalog = catalog_new();
    cr_assert(crypt_init());
    market_make(&market, 61, 4, 2500);
    cr_assert(market_load(catalog, &market));
    int64_t loading_us = spent_us(catalog);
    struct catalog_update update = {.provider = &market.providers[1].facts,
                                    .upserts = market.providers[1].offers,
                                    .upsert_count = 1};
    for (int i = 0; i < 20; i++) {
        update.after_version = market.providers[1].facts.version++;
        market_random_offer(&market, market.providers[1].offers[0].external_id,
                            market.providers[1].offers);
        cr_assert(catalog_apply(catalog, &update, 1));
    }
    int64_t changes_us = spent_us(catalog) - loading_us;
    cr_expect(changes_us / 20 < loading_us / 4, "%lld us a change, all in %lld us",
              (long long)changes_us / 20, (long long)loading_us);
    catalog_free(catalog);
    market_free(&market);
}
