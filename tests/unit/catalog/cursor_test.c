/* Cursors: bound to their query, refused when touched; and paging while writers write. */
#include "server/base/crypto.h"
#include "server/catalog/query_private.h"
#include "tests/support/search_oracle.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

TestSuite(cursor, .timeout = 120);

Test(cursor, says_what_was_put_in)
{
    static const int64_t keys[] = {0, 1, -1, INT64_MAX, INT64_MIN, 2490000};
    cr_assert(crypt_init());
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        char text[CURSOR_TEXT_SIZE];
        struct offer_key id = {UINT64_MAX - i, i * 0x0123456789abcdefu}, back;
        int64_t key;
        cursor_print(77, keys[i], id, text);
        cr_assert(strlen(text) <= 200);
        cr_assert(cursor_parse(text, 77, &key, &back));
        cr_expect(key == keys[i] && back.high == id.high && back.low == id.low);
        cr_expect(!cursor_parse(text, 78, &key, &back), "another query's");
    }
}

Test(cursor, any_change_is_noticed)
{
    char text[CURSOR_TEXT_SIZE], touched[CURSOR_TEXT_SIZE + 8];
    struct offer_key id = {1, 2}, back;
    int64_t key;
    cr_assert(crypt_init());
    cursor_print(77, 2490000, id, text);
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        memcpy(touched, text, length + 1);
        touched[i] = '\0';
        cr_expect(!cursor_parse(touched, 77, &key, &back), "cut to %zu", i);
        for (int byte = 1; byte < 256; byte++) {
            memcpy(touched, text, length + 1);
            touched[i] = (char)byte;
            cr_expect(touched[i] == text[i] || !cursor_parse(touched, 77, &key, &back),
                      "byte %zu to %d", i, byte);
        }
    }
    static const char *const others[] = {
        "", "=", "zzz", "%00", "\xff", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        cr_expect(!cursor_parse(others[i], 77, &key, &back), "%s", others[i]);
    memcpy(touched, text, length);
    memcpy(touched + length, "A", 2);
    cr_expect(!cursor_parse(touched, 77, &key, &back), "longer");
}

/* Writers replace half of each provider's offers over and over; the other half never changes. */
struct writers {
    struct market *market;
    struct catalog *catalog;
    _Atomic bool stop;
};

static bool is_steady(size_t index)
{
    return index % 2 == 0;
}

static void *write_on(void *closure)
{
    struct writers *writers = closure;
    struct market *market = writers->market;
    for (size_t turn = 0; !atomic_load(&writers->stop); turn++) {
        struct market_provider *provider = &market->providers[turn % market->provider_count];
        struct market scratch = {.random = {turn + 99}};
        struct offer *upserts =
            arena_calloc(&scratch.arena, provider->offer_count, sizeof(*upserts));
        const char **removed =
            arena_calloc(&scratch.arena, provider->offer_count, sizeof(*removed));
        size_t upsert_count = 0, removed_count = 0;
        for (size_t i = 0; i < provider->offer_count; i++) {
            if (is_steady(i))
                continue;
            if (random_once_in(&scratch.random, 3))
                removed[removed_count++] = provider->offers[i].external_id;
            else
                market_random_offer(&scratch, provider->offers[i].external_id,
                                    &upserts[upsert_count++]);
        }
        struct provider facts = provider->facts;
        facts.version = ++provider->facts.version;
        struct catalog_update update = {.provider = &facts,
                                        .after_version = facts.version - 1,
                                        .upserts = upserts,
                                        .upsert_count = upsert_count,
                                        .removed = removed,
                                        .removed_count = removed_count};
        if (!catalog_apply(writers->catalog, &update, 1))
            abort();
        arena_free(&scratch.arena);
    }
    return NULL;
}

/* Pages through a query while writes go on; `rows` takes what was found. */
static size_t page_through(struct catalog *catalog, const char *sort, const char *limit,
                           struct arena *arena, struct found **ret_rows)
{
    struct query_parameter parameters[] = {
        {"sort", sort}, {"limit", limit}, {"include_stale", "1"}, {"cursor", NULL}};
    size_t capacity = 100000, count = 0;
    struct found *rows = arena_calloc(arena, capacity, sizeof(*rows));
    for (const char *cursor = NULL;;) {
        struct buf out = {0};
        struct query *query;
        struct query_error *errors;
        struct snapshot *snapshot = catalog_acquire(catalog);
        parameters[3].value = cursor;
        cr_assert(
            query_parse(parameters, cursor == NULL ? 3 : 4, snapshot, arena, &query, &errors) == 0);
        query_answer(snapshot, query, MARKET_NOW_US, arena, &out, &cursor);
        snapshot_release(snapshot);
        for (const char *at = out.data; (at = strstr(at, "{\"id\":\"of_")) != NULL; at++) {
            cr_assert(count < capacity);
            memcpy(rows[count++].id, at + 7, OFFER_ID_TEXT_LENGTH);
        }
        buf_free(&out);
        if (cursor == NULL)
            break;
    }
    *ret_rows = rows;
    return count;
}

static int compare_ids(const void *a, const void *b)
{
    return strcmp(((const struct found *)a)->id, ((const struct found *)b)->id);
}

static void check_steady(const struct market *market, struct found *rows, size_t count,
                         const char *sort)
{
    qsort(rows, count, sizeof(*rows), compare_ids);
    for (size_t p = 0; p < market->provider_count; p++) {
        const struct market_provider *provider = &market->providers[p];
        for (size_t i = 0; i < provider->offer_count; i++) {
            struct found wanted = {0};
            uint8_t id[OFFER_ID_BYTES];
            if (!is_steady(i) || provider->facts.suspended)
                continue;
            offer_id(provider->facts.slug, provider->offers[i].external_id, id);
            offer_id_print(id, wanted.id);
            struct found *found = bsearch(&wanted, rows, count, sizeof(*rows), compare_ids);
            cr_expect(found != NULL, "%s: an unchanged offer was skipped", sort);
            if (found == NULL)
                continue;
            bool twice = (found > rows && strcmp(found[-1].id, wanted.id) == 0) ||
                         (found + 1 < rows + count && strcmp(found[1].id, wanted.id) == 0);
            cr_expect(!twice, "%s: an unchanged offer came twice", sort);
        }
    }
}

Test(cursor, paging_never_repeats_or_skips_what_did_not_change)
{
    static const char *const sorts[] = {"price", "-price", "vram", "-vram", "updated", "-updated"};
    struct market market;
    struct catalog *catalog = catalog_new();
    pthread_t thread;
    cr_assert(crypt_init());
    market_make(&market, 3, 8, 150);
    cr_assert(market_load(catalog, &market));
    struct writers writers = {.market = &market, .catalog = catalog};
    pthread_create(&thread, NULL, write_on, &writers);
    for (int round = 0; round < 12; round++) {
        struct arena arena = {0};
        struct found *rows;
        const char *sort = sorts[round % 6];
        size_t count = page_through(catalog, sort, round < 6 ? "7" : "50", &arena, &rows);
        check_steady(&market, rows, count, sort);
        arena_free(&arena);
    }
    struct catalog_stats stats;
    catalog_get_stats(catalog, &stats);
    atomic_store(&writers.stop, true);
    pthread_join(thread, NULL);
    cr_expect(stats.publishes > 12, "writers wrote meanwhile: %llu",
              (unsigned long long)stats.publishes);
    catalog_free(catalog);
    market_free(&market);
}
