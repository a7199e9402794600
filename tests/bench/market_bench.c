/* What the market costs, inside the process: figures and verdicts as a share of making the snapshot
 * (target < 20 %) when all is loaded, and of whole incremental publishes (a change set applied and
 * published) of 1 and of 100 offers: prices that move a little, any prices, offers that come and
 * go. After each series the figures kept must be those counted from nothing, or it ends with 1. And
 * the figures of a day (target <= 2x), against the same medians in one SQL statement where
 * RACKRATE_BENCH_DATABASE_URL names an empty PostgreSQL. Usage: market_bench [OFFERS ...], by
 * default 100000. */
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/catalog/market.h"
#include "server/catalog/market_table.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROVIDERS 200
#ifndef CHANGES
#define CHANGES 2000
#endif
#define ROUNDS 5

static const char *const gpus[] = {"h100-sxm",       "h100-pcie", "h200-sxm", "a100-sxm-80gb",
                                   "a100-pcie-40gb", "l40s",      "rtx-4090", "l4",
                                   "mi300x",         "a10",       "t4",       "b200"};
#define GPUS (sizeof(gpus) / sizeof(gpus[0]))

static uint64_t state = 88172645463325252u;

static uint32_t below(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % limit;
}

/* What an offer is, which stays, and its prices, which do not. */
static struct offer make_offer(struct arena *arena, size_t provider, size_t number, bool any_price)
{
    static const int32_t terms[] = {1, 6, 12, 36};
    uint32_t facts =
        (uint32_t)((uint32_t)(provider * 1000003 + number) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    uint32_t gpu = facts % GPUS, count = facts / GPUS % 8, term = facts / GPUS / 8 % 4;
    uint16_t place = (uint16_t)(facts / GPUS / 8 / 4 % place_count());
    struct price *prices = arena_calloc(arena, 3, sizeof(*prices));
    struct offer offer = {
        .external_id = arena_printf(arena, "offer-%zu", number),
        .gpu_raw = gpus[gpu],
        .gpu_count_milli = (int32_t)(1 + count) * 1000,
        .vram_gb_given_milli = UNKNOWN,
        .vcpus_milli = 192000,
        .memory_gib_milli = 2048000,
        .storage_gb_milli = 40000000,
        .fabric_gbps_milli = 3200000,
        .region_raw = place_at(place)->slug,
        .zone = "zone-a",
        .availability = {AVAILABILITY_AVAILABLE, 64, 0, NULL, 0},
        .extra_costs = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN},
        .order_url = "https://example.com/order/it/here",
        .source_url = "https://example.com/prices",
        .observed_at_us = TIMESTAMP_UNKNOWN,
        .place = place,
        .prices = prices,
        .price_count = 3,
        .version = 1,
        .updated_at_us = timestamp_now_us() - below(1000000),
    };
    offer.gpu = gpu_find(offer.gpu_raw);
    offer.vram_gb_milli = gpu_at(offer.gpu)->vram_gb_milli;
    for (size_t i = 0; i < 3; i++) {
        int64_t usual = 1000000 + (facts ^ facts >> 11 ^ facts << 7) % 3000000;
        prices[i] =
            (struct price){.billing = (enum billing)i,
                           .term_months = i == BILLING_RESERVED ? terms[term] : 0,
                           .min_gpus = UNKNOWN,
                           .max_gpus = UNKNOWN,
                           .upfront_percent_milli = UNKNOWN,
                           .quoted_microusd = any_price ? 1000000 + below(3000000)
                                                        : usual * (900 + below(200)) / 1000};
        if (!price_derive(&prices[i], offer.gpu_count_milli))
            abort();
    }
    return offer;
}

static struct provider make_provider(struct arena *arena, size_t number, int64_t version)
{
    return (struct provider){.slug = arena_printf(arena, "provider-%zu", number),
                             .name = arena_printf(arena, "Provider %zu", number),
                             .kind = PROVIDER_GPU_CLOUD,
                             .freshness_hours = 168,
                             .trust = {UNKNOWN, -1, -1, -1},
                             .version = version,
                             .confirmed_at_us = timestamp_now_us(),
                             .updated_at_us = timestamp_now_us()};
}

/* Rows for COPY into the table that SQL reads. */
static void add_rows(struct buf *rows, const struct provider *provider, const struct offer *offer)
{
    const char *continent = place_at(offer->place)->continent;
    for (size_t i = 0; i < offer->price_count; i++)
        buf_printf(rows, "%s\t%s\t%s\t%d\t%s\t%lld\n", provider->slug, gpu_at(offer->gpu)->slug,
                   billing_name(offer->prices[i].billing), (int)offer->prices[i].term_months,
                   continent == NULL ? "" : continent,
                   (long long)offer->prices[i].per_gpu_hour_microusd);
}

static void load(struct catalog *catalog, size_t offers, struct buf *rows)
{
    struct arena arena = {0};
    struct catalog_update updates[PROVIDERS];
    struct provider facts[PROVIDERS];
    size_t each = offers / PROVIDERS;
    for (size_t i = 0; i < PROVIDERS; i++) {
        struct offer *list = arena_calloc(&arena, each, sizeof(*list));
        facts[i] = make_provider(&arena, i, 1);
        for (size_t j = 0; j < each; j++) {
            list[j] = make_offer(&arena, i, j, false);
            add_rows(rows, &facts[i], &list[j]);
        }
        updates[i] = (struct catalog_update){.provider = &facts[i],
                                             .after_version = UNKNOWN,
                                             .reload = true,
                                             .upserts = list,
                                             .upsert_count = each};
    }
    if (!catalog_apply(catalog, updates, PROVIDERS))
        abort();
    arena_free(&arena);
}

/* ---- whether they are right ---- */

static bool same_text(const struct gpu_market *a, uint32_t a_at, uint32_t a_length,
                      const struct gpu_market *b, uint32_t b_at, uint32_t b_length)
{
    return a_length == b_length && memcmp(a->text + a_at, b->text + b_at, a_length) == 0;
}

static bool same_market(const struct gpu_market *a, const struct gpu_market *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    bool same = memcmp(a->world, b->world, sizeof(a->world)) == 0 &&
                memcmp(a->continents, b->continents, sizeof(a->continents)) == 0 &&
                memcmp(a->excluded, b->excluded, sizeof(a->excluded)) == 0;
    for (size_t i = 0; i < COMMITMENT_COUNT * CLUSTER_SIZE_COUNT && same; i++) {
        const struct market_comparables *x = &a->comparables[i], *y = &b->comparables[i];
        same = x->comparables.level == y->comparables.level &&
               x->comparables.providers == y->comparables.providers &&
               x->comparables.median_microusd == y->comparables.median_microusd &&
               same_text(a, x->text, x->text_length, b, y->text, y->text_length);
    }
    for (size_t c = 0; c < COMMITMENT_COUNT && same; c++)
        same = same_text(a, a->row[c], a->row_length[c], b, b->row[c], b->row_length[c]);
    return same;
}

/* Ends the program unless the newest snapshot says of each GPU what counting from nothing does. */
static void check_figures(struct catalog *catalog)
{
    struct snapshot *snapshot = catalog_acquire(catalog);
    const struct moment *moment = snapshot_moment(snapshot, timestamp_now_us());
    const struct market_source source = {snapshot, snapshot->alive, moment->cutoff_us};
    struct gpu_market **anew = market_table_make(&source);
    for (uint16_t rank = 0; rank < gpu_count(); rank++) {
        if (!same_market(moment->market[rank], anew[rank])) {
            fprintf(stderr, "the figures of the GPU of rank %u are wrong\n", rank);
            exit(1);
        }
    }
    market_table_free(anew);
    snapshot_release(snapshot);
}

/* ---- the share of making a snapshot ---- */

static void print_share(struct catalog *catalog, const struct catalog_stats *before,
                        const char *what, const char *figure, int times)
{
    struct catalog_stats after;
    catalog_get_stats(catalog, &after);
    double build = (double)(after.build_us - before->build_us),
           market = (double)(after.market_us - before->market_us);
    printf("  %-34s %9.1f us, of which figures and verdicts %8.1f us: %4.1f %% of it\n", what,
           build / times, market / times, 100 * market / build);
    printf("figure %s %.3f\n", figure, market / build);
    check_figures(catalog);
}

/* What happens to some offers. */
enum kind {
    REPRICE,  /* all their prices move, by a tenth at most */
    SHUFFLE,  /* all their prices are any others */
    TURNOVER, /* by turns that many go, and come again */
    KIND_COUNT
};

/* The i-th of a series of changes to `size` of a provider's `each` offers. */
static struct catalog_update make_change(struct arena *arena, size_t provider_number,
                                         enum kind kind, size_t each, size_t size, int i)
{
    struct provider *provider = arena_calloc(arena, 1, sizeof(*provider));
    struct offer *list = arena_calloc(arena, size, sizeof(*list));
    const char **removed = arena_calloc(arena, size, sizeof(*removed));
    static int64_t version = 1;
    *provider = make_provider(arena, provider_number, ++version);
    struct catalog_update update = {
        .provider = provider, .after_version = 1, .upserts = list, .removed = removed};
    size_t start = kind == TURNOVER ? (size_t)i / 2 * size : below((uint32_t)each);
    for (size_t j = 0; j < size; j++) {
        size_t number = (start + j) % each;
        if (kind == TURNOVER && i % 2 == 0)
            removed[update.removed_count++] = arena_printf(arena, "offer-%zu", number);
        else
            list[update.upsert_count++] =
                make_offer(arena, provider_number, number, kind == SHUFFLE);
    }
    return update;
}

/* Changes of `size` offers: of one provider, or of as many as have twice that many; providers take
 * turns. */
static void measure_changes(struct catalog *catalog, enum kind kind, size_t each, size_t size)
{
    struct catalog_stats before;
    size_t providers = (2 * size + each - 1) / each;
    static const char *const words[KIND_COUNT] = {"new prices", "any prices", "coming or going"};
    static const char *const names[KIND_COUNT] = {"reprice", "shuffle", "turnover"};
    char what[64], figure[32];
    catalog_get_stats(catalog, &before);
    for (int i = 0; i < CHANGES; i++) {
        struct arena arena = {0};
        struct catalog_update *updates = arena_calloc(&arena, providers, sizeof(*updates));
        for (size_t j = 0; j < providers; j++)
            updates[j] = make_change(&arena, ((size_t)i / 2 * providers + j) % PROVIDERS, kind,
                                     each, size / providers, i);
        if (!catalog_apply(catalog, updates, providers))
            abort();
        arena_free(&arena);
    }
    snprintf(what, sizeof(what), "%s of %zu", words[kind], size);
    snprintf(figure, sizeof(figure), "%s-%zu", names[kind], size);
    print_share(catalog, &before, what, figure, CHANGES);
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t day_in_process(struct catalog *catalog, size_t *ret_rows)
{
    struct snapshot *snapshot = catalog_acquire(catalog);
    size_t providers = snapshot_provider_count(snapshot);
    int64_t *confirmed = xcalloc(providers, sizeof(*confirmed));
    struct market_past past = {.at_us = timestamp_now_us(), .confirmed_us = confirmed};
    struct market_figure *figures;
    struct arena arena = {0};
    for (size_t i = 0; i < providers; i++)
        confirmed[i] = past.at_us;
    int64_t start = monotonic_now_us();
    *ret_rows = snapshot_market_past(snapshot, &past, &arena, &figures);
    int64_t took = monotonic_now_us() - start;
    arena_free(&arena);
    free(confirmed);
    snapshot_release(snapshot);
    return took;
}

/* One statement: one vote a provider, then quantiles, for the world and by continent. */
static const char one_statement[] =
    "WITH votes AS (SELECT gpu, billing, CASE WHEN term < 3 THEN term WHEN term < 6 THEN 3 WHEN "
    "term < 12 "
    "THEN 6 WHEN term < 24 THEN 12 WHEN term < 36 THEN 24 ELSE 36 END AS bucket, continent, "
    "provider, "
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) AS vote FROM input "
    "GROUP BY GROUPING SETS ((1, 2, 3, 4, 5), (1, 2, 3, 5))) "
    "SELECT gpu, billing, bucket, continent, min(vote), percentile_cont(ARRAY[0.25, 0.5, 0.75]) "
    "WITHIN "
    "GROUP (ORDER BY vote), max(vote), count(*) FROM votes GROUP BY 1, 2, 3, 4";

static PGconn *open_sql(const struct buf *rows)
{
    const char *url = getenv("RACKRATE_BENCH_DATABASE_URL");
    if (url == NULL)
        return NULL;
    PGconn *connection = PQconnectdb(url);
    PQclear(PQexec(connection,
                   "DROP TABLE IF EXISTS input; CREATE UNLOGGED TABLE input (provider text COLLATE "
                   "\"C\", gpu text COLLATE \"C\", billing text COLLATE \"C\", term int, continent "
                   "text COLLATE \"C\", amount bigint); SET work_mem = '512MB'; SET jit = off; "
                   "SET max_parallel_workers_per_gather = 0"));
    PQclear(PQexec(connection, "COPY input FROM STDIN"));
    for (size_t at = 0; at < rows->length; at += 1 << 20) {
        size_t length = rows->length - at < 1 << 20 ? rows->length - at : 1 << 20;
        if (PQputCopyData(connection, rows->data + at, (int)length) != 1)
            abort();
    }
    PQputCopyEnd(connection, NULL);
    for (PGresult *result; (result = PQgetResult(connection)) != NULL;)
        PQclear(result);
    PQclear(PQexec(connection, "ANALYZE input"));
    return connection;
}

static int64_t day_in_sql(PGconn *connection)
{
    int64_t start = monotonic_now_us();
    PGresult *result = PQexec(connection, one_statement);
    int64_t took = monotonic_now_us() - start;
    if (PQresultStatus(result) != PGRES_TUPLES_OK) {
        fprintf(stderr, "%s", PQerrorMessage(connection));
        exit(1);
    }
    PQclear(result);
    return took;
}

static void measure_day(struct catalog *catalog, const struct buf *rows)
{
    int64_t own[ROUNDS], sql[ROUNDS];
    size_t figures = 0;
    PGconn *connection = open_sql(rows);
    for (int i = 0; i < ROUNDS; i++) {
        own[i] = day_in_process(catalog, &figures);
        sql[i] = connection == NULL ? 0 : day_in_sql(connection);
    }
    qsort(own, ROUNDS, sizeof(own[0]), compare_times);
    qsort(sql, ROUNDS, sizeof(sql[0]), compare_times);
    printf("  %zu figures of a day in %lld ms", figures, (long long)own[ROUNDS / 2] / 1000);
    if (connection != NULL)
        printf(", in SQL %lld ms: %.2fx", (long long)sql[ROUNDS / 2] / 1000,
               (double)own[ROUNDS / 2] / (double)sql[ROUNDS / 2]);
    printf("\n");
    if (connection != NULL)
        printf("figure day %.3f\n", (double)own[ROUNDS / 2] / (double)sql[ROUNDS / 2]);
    PQfinish(connection);
}

int main(int argument_count, char **arguments)
{
    if (!crypt_init())
        return 1;
    for (int i = 1; i < argument_count || i == 1; i++) {
        size_t offers = argument_count > 1 ? strtoul(arguments[i], NULL, 10) : 100000;
        struct catalog *catalog = catalog_new();
        struct catalog_stats before;
        struct buf rows = {0};
        catalog_get_stats(catalog, &before);
        load(catalog, offers, &rows);
        printf("%zu offers, three prices each, of %d providers:\n", offers, PROVIDERS);
        print_share(catalog, &before, "loading all", "load", 1);
        measure_day(catalog, &rows);
        for (int kind = 0; kind < KIND_COUNT; kind++) {
            measure_changes(catalog, (enum kind)kind, offers / PROVIDERS, 1);
            measure_changes(catalog, (enum kind)kind, offers / PROVIDERS, 100);
        }
        buf_free(&rows);
        catalog_free(catalog);
    }
    return 0;
}
