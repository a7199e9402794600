/* Offers turn stale with the clock alone: in search, in the object, in counts and in the state's
 * hash. */
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/reference/gpu.h"
#include "tests/support/search_oracle.h"
#include "tests/support/test_offers.h"

#include <criterion/criterion.h>
#include <string.h>

#define HOUR_US   INT64_C(3600000000)
#define SECOND_US INT64_C(1000000)

static struct arena arena;
static struct catalog *catalog;
static struct provider provider;

static void start(void)
{
    cr_assert(crypt_init());
    catalog = catalog_new();
    provider = (struct provider){.slug = "acme",
                                 .name = "Acme",
                                 .freshness_hours = 2,
                                 .trust = {UNKNOWN, -1, -1, -1},
                                 .confirmed_at_us = TIMESTAMP_UNKNOWN,
                                 .updated_at_us = MARKET_NOW_US};
}

static void stop(void)
{
    catalog_free(catalog);
    arena_free(&arena);
}

TestSuite(staleness, .init = start, .fini = stop, .timeout = 60);

/* Three offers: seen now, seen an hour ago, a sample seen years ago. */
static void load(int64_t version)
{
    struct offer *offers = arena_calloc(&arena, 3, sizeof(*offers));
    for (size_t i = 0; i < 3; i++) {
        offers[i] = *test_offer(&arena, arena_printf(&arena, "o%zu", i), 1000000);
        offers[i].updated_at_us = MARKET_NOW_US;
    }
    offers[1].observed_at_us = MARKET_NOW_US - HOUR_US;
    offers[2].observed_at_us = MARKET_NOW_US - 20000 * HOUR_US;
    offers[2].source_kind = SOURCE_SAMPLE;
    provider.version = version;
    struct catalog_update update = {.provider = &provider,
                                    .after_version = UNKNOWN,
                                    .reload = true,
                                    .upserts = offers,
                                    .upsert_count = 3};
    cr_assert(catalog_apply(catalog, &update, 1));
}

static size_t search(const char *include_stale, int64_t now_us)
{
    struct query_parameter parameters[] = {{"include_stale", include_stale}, {"min_price", "0.5"}};
    struct found *found;
    size_t total, count = catalog_search(catalog, parameters, 2, now_us, &arena, &found, &total);
    cr_expect(total == count);
    size_t unfiltered = catalog_search(catalog, parameters, 1, now_us, &arena, &found, &total);
    cr_expect(unfiltered == count && total == count, "with no other filter: %zu, %zu", unfiltered,
              total);
    return count;
}

static uint64_t state(int64_t now_us)
{
    struct snapshot *snapshot = catalog_acquire(catalog);
    uint64_t hash = snapshot_state_hash(snapshot, now_us);
    snapshot_release(snapshot);
    return hash;
}

static size_t counted(int64_t now_us)
{
    struct snapshot *snapshot = catalog_acquire(catalog);
    size_t count = snapshot_provider_summary(snapshot, 0, now_us).offers;
    cr_expect(snapshot_gpu_summary(snapshot, gpu_find("h100-sxm"), now_us).offers == count);
    snapshot_release(snapshot);
    return count;
}

static bool object_is(const char *external_id, int64_t now_us, const char *words)
{
    struct buf out = {0};
    struct snapshot *snapshot = catalog_acquire(catalog);
    cr_assert(snapshot_write_offer(snapshot, "acme", external_id, now_us, &out, NULL));
    snapshot_release(snapshot);
    bool is = strstr(out.data, words) != NULL;
    buf_free(&out);
    return is;
}

Test(staleness, moves_with_the_clock)
{
    load(1);
    const int64_t second = MARKET_NOW_US + HOUR_US, third = MARKET_NOW_US + 2 * HOUR_US;
    const struct {
        int64_t now;
        size_t fresh;
    } cases[] = {
        {MARKET_NOW_US, 3},
        {second, 3},
        {second + SECOND_US - 1, 3},
        {second + SECOND_US, 2},
        {third, 2},
        {third + SECOND_US, 1},
        {third + 10000 * HOUR_US, 1},
        {MARKET_NOW_US + 5, 3},
        {third, 2}, /* a request that is late by the clock */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_expect(search("0", cases[i].now) == cases[i].fresh, "case %zu", i);
        cr_expect(search("1", cases[i].now) == 3, "case %zu", i);
        cr_expect(counted(cases[i].now) == cases[i].fresh, "case %zu", i);
    }
    cr_expect(state(MARKET_NOW_US) == state(second), "nothing turned in between");
    cr_expect(state(second) != state(second + SECOND_US));
    cr_expect(state(third) == state(second + SECOND_US));
    cr_expect(state(third + SECOND_US) != state(third));
    cr_expect(object_is("o1", second, "\"stale\":false") &&
              object_is("o1", second + SECOND_US, "\"stale\":true"));
    cr_expect(object_is("o2", third + HOUR_US, "\"stale\":false"), "samples never");
}

Test(staleness, the_provider_confirms_all_but_samples)
{
    provider.confirmed_at_us = MARKET_NOW_US + HOUR_US;
    load(1);
    cr_expect(search("0", MARKET_NOW_US + 3 * HOUR_US) == 3);
    cr_expect(search("0", MARKET_NOW_US + 3 * HOUR_US + SECOND_US) == 1);
    char text[TIMESTAMP_TEXT_SIZE];
    timestamp_print(provider.confirmed_at_us, text);
    const char *confirmed = arena_printf(&arena, "\"observed_at\":\"%s\"", text);
    cr_expect(object_is("o0", MARKET_NOW_US, confirmed) &&
              object_is("o1", MARKET_NOW_US, confirmed));
    cr_expect(!object_is("o2", MARKET_NOW_US, confirmed), "a sample says when it was true");
    timestamp_print(MARKET_NOW_US - 20000 * HOUR_US, text);
    cr_expect(object_is("o2", MARKET_NOW_US, arena_printf(&arena, "\"observed_at\":\"%s\"", text)));
    /* An older confirmation than the offer's own time counts for nothing. */
    provider.confirmed_at_us = MARKET_NOW_US - 30 * HOUR_US;
    load(2);
    cr_expect(search("0", MARKET_NOW_US + HOUR_US) == 3);
    timestamp_print(MARKET_NOW_US - HOUR_US, text);
    cr_expect(object_is("o1", MARKET_NOW_US, arena_printf(&arena, "\"observed_at\":\"%s\"", text)));
}

Test(staleness, unknown_freshness_never_ends_and_hours_are_the_providers)
{
    provider.freshness_hours = UNKNOWN;
    load(1);
    cr_expect(search("0", MARKET_NOW_US + INT64_C(1000000) * HOUR_US) == 3);
    provider.freshness_hours = 0;
    load(2);
    cr_expect(search("0", MARKET_NOW_US) == 2, "an hour old is older than nothing; now is not");
}

Test(staleness, the_state_is_the_same_for_the_same_data)
{
    load(1);
    int64_t now = MARKET_NOW_US + HOUR_US + SECOND_US;
    uint64_t first = state(now);
    struct catalog *other = catalog_new(), *mine = catalog;
    catalog = other;
    provider.version = 0;
    struct catalog_update empty = {.provider = &provider, .reload = true};
    cr_assert(catalog_apply(catalog, &empty, 1));
    cr_expect(state(now) != first);
    load(1);
    cr_expect(state(now) == first, "another way to the same data");
    load(2);
    cr_expect(state(now) != first, "another version");
    catalog = mine;
    catalog_free(other);
}
