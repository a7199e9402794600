/* What a GPU costs by term and region: a market cut down to a region, or to one term, has as its
 * index what the whole market says of that region or term. */
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/catalog/market.h"
#include "server/catalog/term_prices.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"
#include "tests/support/random_market.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(term_prices, .timeout = 300);

static const struct term_prices *find(const struct term_prices *list, size_t count,
                                      enum billing billing, int32_t term, enum cluster_size size)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i].billing == billing && list[i].term_months == term &&
            list[i].cluster_size == size)
            return &list[i];
    }
    return NULL;
}

/* Compares one row of the list with the index of a snapshot. */
static void expect_same(const struct term_prices *row, struct snapshot *snapshot, uint16_t gpu,
                        enum commitment commitment, const char *what)
{
    struct index_figures figures;
    bool any = snapshot_market_figures(snapshot, gpu, commitment, CONTINENT_COUNT, MARKET_NOW_US,
                                       &figures);
    cr_assert((row != NULL) == any, "%s of %s", what, gpu_at(gpu)->slug);
    if (any)
        cr_assert(memcmp(&row->figures, &figures, sizeof(figures)) == 0, "%s of %s: %lld, %lld",
                  what, gpu_at(gpu)->slug, (long long)row->figures.median,
                  (long long)figures.median);
}

static struct catalog *load(const struct market *market)
{
    struct catalog *catalog = catalog_new();
    cr_assert(market_load(catalog, market));
    return catalog;
}

/* The market without the offers that don't lie in a place. */
static void keep_place(struct market *market, uint16_t place)
{
    for (size_t p = 0; p < market->provider_count; p++) {
        struct market_provider *provider = &market->providers[p];
        size_t kept = 0;
        for (size_t i = 0; i < provider->offer_count; i++) {
            if (provider->offers[i].place != INDEX_NONE &&
                place_contains(place, provider->offers[i].place))
                provider->offers[kept++] = provider->offers[i];
        }
        provider->offer_count = kept;
    }
}

/* The market with the prices of one reserved term only. */
static void keep_term(struct market *market, int32_t term)
{
    for (size_t p = 0; p < market->provider_count; p++) {
        struct market_provider *provider = &market->providers[p];
        size_t kept = 0;
        for (size_t i = 0; i < provider->offer_count; i++) {
            struct offer offer = provider->offers[i];
            struct price *prices = arena_calloc(&market->arena, offer.price_count, sizeof(*prices));
            size_t count = 0;
            for (size_t k = 0; k < offer.price_count; k++) {
                if (offer.prices[k].term_months == term)
                    prices[count++] = offer.prices[k];
            }
            offer.prices = prices;
            offer.price_count = count;
            if (count > 0)
                provider->offers[kept++] = offer;
        }
        provider->offer_count = kept;
    }
}

Test(term_prices, a_region_is_a_market_of_its_own)
{
    static const char *const regions[] = {"us-east", "eu-north", "de", "se-stockholm", NULL};
    crypt_init();
    for (uint64_t seed = 1; seed <= 4; seed++) {
        for (size_t r = 0; r < sizeof(regions) / sizeof(regions[0]); r++) {
            struct market market, cut;
            struct arena arena = {0};
            uint16_t place = regions[r] == NULL ? INDEX_NONE : place_find(regions[r]);
            market_make(&market, seed, 12, 150);
            market_make(&cut, seed, 12, 150);
            if (regions[r] != NULL)
                keep_place(&cut, place);
            struct catalog *whole = load(&market), *part = load(&cut);
            struct snapshot *all = catalog_acquire(whole), *some = catalog_acquire(part);
            size_t seen = 0;
            for (uint16_t gpu = 0; gpu < gpu_count(); gpu++) {
                struct term_prices *list;
                uint32_t excluded[INDEX_REASON_COUNT];
                size_t count =
                    snapshot_term_prices(all, gpu, place, MARKET_NOW_US, &arena, &list, excluded);
                seen += count;
                expect_same(find(list, count, BILLING_ON_DEMAND, 0, CLUSTER_SIZE_COUNT), some, gpu,
                            COMMITMENT_ON_DEMAND, "on demand");
                expect_same(find(list, count, BILLING_SPOT, 0, CLUSTER_SIZE_COUNT), some, gpu,
                            COMMITMENT_SPOT, "spot");
            }
            cr_assert(seen > 0 || regions[r] != NULL);
            snapshot_release(all);
            snapshot_release(some);
            catalog_free(whole);
            catalog_free(part);
            arena_free(&arena);
            market_free(&market);
            market_free(&cut);
        }
    }
}

Test(term_prices, a_term_is_a_market_of_its_own_and_tiers_make_it_up)
{
    crypt_init();
    for (uint64_t seed = 11; seed <= 13; seed++) {
        struct market market;
        struct arena arena = {0};
        market_make(&market, seed, 12, 150);
        struct catalog *whole = load(&market);
        struct snapshot *all = catalog_acquire(whole);
        size_t compared = 0;
        static const int32_t terms[] = {1, 3, 6, 12, 24, 36};
        for (size_t t = 0; t < sizeof(terms) / sizeof(terms[0]); t++) {
            struct market cut;
            market_make(&cut, seed, 12, 150);
            keep_term(&cut, terms[t]);
            struct catalog *part = load(&cut);
            struct snapshot *some = catalog_acquire(part);
            for (uint16_t gpu = 0; gpu < gpu_count(); gpu++) {
                struct term_prices *list;
                uint32_t excluded[INDEX_REASON_COUNT];
                size_t count = snapshot_term_prices(all, gpu, INDEX_NONE, MARKET_NOW_US, &arena,
                                                    &list, excluded);
                const struct term_prices *row =
                    find(list, count, BILLING_RESERVED, terms[t], CLUSTER_SIZE_COUNT);
                expect_same(row, some, gpu, commitment_of(BILLING_RESERVED, terms[t]), "reserved");
                uint32_t offers = 0;
                for (unsigned size = 0; size < CLUSTER_SIZE_COUNT; size++) {
                    const struct term_prices *tier =
                        find(list, count, BILLING_RESERVED, terms[t], (enum cluster_size)size);
                    offers += tier == NULL ? 0 : tier->figures.offers;
                    /* It stands right behind the row of all sizes. */
                    cr_assert(tier == NULL || (tier > row && tier <= row + CLUSTER_SIZE_COUNT));
                }
                /* Who is too far from the others in one tier may not be in all, and back. */
                cr_assert(row == NULL || offers > 0);
                compared += row != NULL;
            }
            snapshot_release(some);
            catalog_free(part);
            market_free(&cut);
        }
        cr_assert(compared > 0, "no reserved prices at all");
        snapshot_release(all);
        catalog_free(whole);
        arena_free(&arena);
        market_free(&market);
    }
}
