/* What the market costs, inside the process: figures and verdicts as a share of making the snapshot
 * (target < 20 %), of a whole load and of one provider's change of 100 offers; and the figures of a
 * day (target <= 2x), against the same medians in one SQL statement where
 * RACKRATE_BENCH_DATABASE_URL names an empty PostgreSQL. Usage: market_bench [OFFERS …], by default
 * 100000. */
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/catalog/market.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROVIDERS 200
#define CHANGES   200
#define ROUNDS    5

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

static struct offer make_offer(struct arena *arena, size_t number)
{
    static const int32_t terms[] = {1, 6, 12, 36};
    uint16_t place = (uint16_t)below(place_count());
    struct price *prices = arena_calloc(arena, 3, sizeof(*prices));
    struct offer offer = {
        .external_id = arena_printf(arena, "offer-%zu", number),
        .gpu_raw = gpus[below(GPUS)],
        .gpu_count_milli = (int32_t)(1 + below(8)) * 1000,
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
        prices[i] = (struct price){.billing = (enum billing)i,
                                   .term_months = i == BILLING_RESERVED ? terms[below(4)] : 0,
                                   .min_gpus = UNKNOWN,
                                   .max_gpus = UNKNOWN,
                                   .upfront_percent_milli = UNKNOWN,
                                   .quoted_microusd = 1000000 + below(3000000)};
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
            list[j] = make_offer(&arena, j);
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

static void print_share(struct catalog *catalog, const struct catalog_stats *before,
                        const char *what, const char *figure, int times)
{
    struct catalog_stats after;
    catalog_get_stats(catalog, &after);
    double build = (double)(after.build_us - before->build_us),
           market = (double)(after.market_us - before->market_us);
    printf("  %-28s %9.0f us, of which figures and verdicts %8.0f us: %4.1f %% on top\n", what,
           build / times, market / times, 100 * market / (build - market));
    printf("figure %s %.3f\n", figure, market / (build - market));
}

static void measure_changes(struct catalog *catalog, size_t each, size_t size)
{
    struct catalog_stats before;
    char what[64];
    catalog_get_stats(catalog, &before);
    for (int i = 0; i < CHANGES; i++) {
        struct arena arena = {0};
        struct offer *list = arena_calloc(&arena, size, sizeof(*list));
        for (size_t j = 0; j < size; j++)
            list[j] = make_offer(&arena, below((uint32_t)each));
        struct provider provider = make_provider(&arena, 7, 2 + i + (int64_t)size * 1000);
        struct catalog_update update = {
            .provider = &provider, .after_version = 1, .upserts = list, .upsert_count = size};
        if (!catalog_apply(catalog, &update, 1))
            abort();
        arena_free(&arena);
    }
    snprintf(what, sizeof(what), "a change of %zu offers", size);
    print_share(catalog, &before, what, "change", CHANGES);
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
        measure_changes(catalog, offers / PROVIDERS, 1);
        measure_changes(catalog, offers / PROVIDERS, 100);
        buf_free(&rows);
        catalog_free(catalog);
    }
    return 0;
}
