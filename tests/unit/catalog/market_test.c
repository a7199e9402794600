/* Figures and verdicts of a snapshot: against SQL over the same data, against building anew after
 * random updates and as the clock moves on; what is explained adds up; the verdict filter; what
 * stands on an offer. */
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/catalog/market.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"
#include "tests/support/index_sql.h"
#include "tests/support/search_oracle.h"
#include "tests/support/test_database.h"
#include "tests/support/test_offers.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

TestSuite(market, .timeout = 300);

#define HOUR_US INT64_C(3600000000)

/* ---- against SQL ---- */

static void run_sql(PGconn *connection, const char *sql)
{
    PGresult *result = PQexec(connection, sql);
    ExecStatusType status = PQresultStatus(result);
    cr_assert(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, "%s\n%s",
              PQerrorMessage(connection), sql);
    PQclear(result);
}

static const char tables[] = INDEX_SQL_TABLES INDEX_SQL_FUNCTIONS;

/* Whether a price counts, by the words of the method. */
static bool counts(const struct provider *provider, const struct offer *offer,
                   const struct price *price)
{
    const struct gpu *gpu = gpu_at(offer->gpu);
    int64_t seen =
        offer->observed_at_us != TIMESTAMP_UNKNOWN ? offer->observed_at_us : offer->updated_at_us;
    if (provider->confirmed_at_us > seen)
        seen = provider->confirmed_at_us;
    bool stale = provider->freshness_hours >= 0 &&
                 seen + provider->freshness_hours * HOUR_US < MARKET_NOW_US / 1000000 * 1000000;
    bool doubtful =
        (offer->flags & OFFER_FLAG(SPOT_NOT_CHEAPER)) != 0 && price->billing == BILLING_SPOT;
    return !provider->suspended && !gpu->is_family && strcmp(gpu->slug, "unrecognized") != 0 &&
           offer->source_kind != SOURCE_SAMPLE && !stale && !doubtful;
}

static void copy_market(PGconn *connection, const struct market *market)
{
    run_sql(connection, "TRUNCATE index_provider, index_input");
    for (size_t i = 0; i < market->provider_count; i++) {
        const struct provider *provider = &market->providers[i].facts;
        struct buf sql = {0};
        buf_printf(&sql, "INSERT INTO index_provider VALUES ('%s', nullif('%s', ''));",
                   provider->slug, provider->resells == NULL ? "" : provider->resells);
        for (size_t j = 0; j < market->providers[i].offer_count; j++) {
            const struct offer *offer = &market->providers[i].offers[j];
            const char *continent =
                offer->place == INDEX_NONE ? "none" : place_at(offer->place)->continent;
            for (size_t p = 0; p < offer->price_count; p++) {
                const struct price *price = &offer->prices[p];
                if (counts(provider, offer, price))
                    buf_printf(&sql,
                               "INSERT INTO index_input VALUES ('%s','%s','%s',%d,"
                               "size_bucket(%d, nullif(%d, -1)),'%s','%s',%lld);",
                               provider->slug, gpu_at(offer->gpu)->slug,
                               billing_name(price->billing), (int)price->term_months,
                               (int)offer->gpu_count_milli, (int)price->min_gpus,
                               continent == NULL ? "none" : continent, offer->external_id,
                               (long long)price->per_gpu_hour_microusd);
            }
        }
        run_sql(connection, sql.data);
        buf_free(&sql);
    }
}

static enum commitment commitment_named(const char *billing, const char *bucket)
{
    for (unsigned c = 0; c < COMMITMENT_COUNT; c++) {
        if (strcmp(billing, billing_name(commitment_billing((enum commitment)c))) == 0 &&
            strcmp(bucket, commitment_term_name((enum commitment)c)) == 0)
            return (enum commitment)c;
    }
    cr_assert_fail("%s %s", billing, bucket);
    return COMMITMENT_COUNT;
}

/* Every group that SQL finds is there with the same figures. Gives their number. */
static size_t compare_groups(PGconn *connection, struct snapshot *snapshot, const char *sql,
                             bool by_continent)
{
    PGresult *result = PQexec(connection, sql);
    cr_assert(PQresultStatus(result) == PGRES_TUPLES_OK, "%s\n%s", PQerrorMessage(connection), sql);
    int from = by_continent ? 4 : 3;
    for (int i = 0; i < PQntuples(result); i++) {
        struct index_figures figures;
        enum commitment commitment =
            commitment_named(PQgetvalue(result, i, 1), PQgetvalue(result, i, 2));
        enum continent continent =
            by_continent ? continent_of(PQgetvalue(result, i, 3)) : CONTINENT_COUNT;
        cr_assert(snapshot_market_figures(snapshot, gpu_find(PQgetvalue(result, i, 0)), commitment,
                                          continent, MARKET_NOW_US, &figures));
        const int64_t got[] = {figures.min, figures.p25,    figures.median,   figures.p75,
                               figures.max, figures.offers, figures.providers};
        for (int column = 0; column < 7; column++)
            cr_assert(got[column] == strtoll(PQgetvalue(result, i, from + column), NULL, 10),
                      "%s %s %s %s, figure %d: %lld, SQL %s", PQgetvalue(result, i, 0),
                      PQgetvalue(result, i, 1), PQgetvalue(result, i, 2),
                      by_continent ? PQgetvalue(result, i, 3) : "", column, (long long)got[column],
                      PQgetvalue(result, i, from + column));
    }
    size_t count = (size_t)PQntuples(result);
    PQclear(result);
    return count;
}

/* Groups that have votes in the snapshot. */
static size_t count_groups(struct snapshot *snapshot, bool by_continent)
{
    size_t count = 0;
    struct index_figures figures;
    for (uint16_t gpu = 0; gpu < gpu_count(); gpu++) {
        for (unsigned c = 0; c < COMMITMENT_COUNT; c++) {
            for (unsigned k = by_continent ? 0 : CONTINENT_COUNT;
                 k < (by_continent ? CONTINENT_COUNT : CONTINENT_COUNT + 1); k++)
                count += snapshot_market_figures(snapshot, gpu, (enum commitment)c,
                                                 (enum continent)k, MARKET_NOW_US, &figures);
        }
    }
    return count;
}

/* The comparables of a price by SQL's groups: nearest level first. */
static void expect_comparables(PGconn *connection, const struct offer *offer,
                               const struct price *price, const json_t *printed)
{
    const char *gpu = gpu_at(offer->gpu)->slug, *billing = billing_name(price->billing);
    char sql[1024];
    snprintf(
        sql, sizeof(sql),
        "SELECT level, median, providers FROM ("
        "SELECT 1 AS n, 'cluster_size' AS level, median, providers FROM sized WHERE gpu = '%s' "
        "AND billing = '%s' AND bucket = bucket('%s', %d) AND size_bucket = size_bucket(%d, "
        "nullif(%d, -1)) UNION ALL SELECT 2, 'term', median, providers FROM termed WHERE gpu = "
        "'%s' AND billing = '%s' AND bucket = bucket('%s', %d) UNION ALL SELECT 3, 'billing', "
        "median, providers FROM billed WHERE gpu = '%s' AND billing = '%s' AND '%s' = "
        "'reserved') x WHERE providers >= 5 ORDER BY n LIMIT 1",
        gpu, billing, billing, (int)price->term_months, (int)offer->gpu_count_milli,
        (int)price->min_gpus, gpu, billing, billing, (int)price->term_months, gpu, billing,
        billing);
    PGresult *result = PQexec(connection, sql);
    cr_assert(PQresultStatus(result) == PGRES_TUPLES_OK, "%s", PQerrorMessage(connection));
    const json_t *comparables = json_object_get(printed, "comparables");
    const char *verdict = json_string_value(json_object_get(printed, "verdict"));
    if (PQntuples(result) == 0) {
        cr_assert_str_eq(verdict, "insufficient_data");
        cr_assert(json_is_null(json_object_get(printed, "ratio_to_median")));
        cr_assert(json_is_null(json_object_get(comparables, "median_price_per_gpu_hour")));
    } else {
        int64_t median = strtoll(PQgetvalue(result, 0, 1), NULL, 10);
        int64_t amount = price->per_gpu_hour_microusd;
        cr_assert_str_eq(json_string_value(json_object_get(comparables, "level")),
                         PQgetvalue(result, 0, 0));
        cr_assert(json_integer_value(json_object_get(comparables, "providers")) ==
                  strtoll(PQgetvalue(result, 0, 2), NULL, 10));
        cr_assert_str_eq(verdict, amount * 10 < median * 8      ? "below_market"
                                  : amount * 100 > median * 125 ? "above_market"
                                                                : "typical");
        double ratio = json_number_value(json_object_get(printed, "ratio_to_median"));
        double off = ratio - (double)amount / (double)median;
        cr_assert(off < 0.000051 && off > -0.000051);
        bool asks = json_array_size(json_object_get(printed, "ask")) > 0;
        cr_assert(asks == (strcmp(verdict, "typical") != 0));
    }
    PQclear(result);
}

static void compare_verdicts(PGconn *connection, struct snapshot *snapshot,
                             const struct market *market)
{
    for (size_t i = 0; i < market->provider_count; i++) {
        for (size_t j = 0; j < market->providers[i].offer_count; j++) {
            const struct offer *offer = &market->providers[i].offers[j];
            struct buf out = {0};
            if (!snapshot_write_offer(snapshot, market->providers[i].facts.slug, offer->external_id,
                                      MARKET_NOW_US, &out, NULL))
                continue; /* suspended */
            json_t *answer = json_loadb(out.data, out.length, JSON_REJECT_DUPLICATES, NULL);
            cr_assert_not_null(answer);
            const json_t *prices = json_object_get(answer, "prices");
            cr_assert(json_array_size(prices) == offer->price_count);
            for (size_t p = 0; p < offer->price_count; p++)
                expect_comparables(connection, offer, &offer->prices[p], json_array_get(prices, p));
            json_decref(answer);
            buf_free(&out);
        }
    }
}

Test(market, figures_and_verdicts_are_what_sql_finds_on_random_data, .fini = test_database_drop)
{
    if (getenv("RACKRATE_TEST_DATABASE_URL") == NULL)
        cr_skip_test("RACKRATE_TEST_DATABASE_URL names no PostgreSQL: run this through make test");
    cr_assert(crypt_init());
    PGconn *connection = PQconnectdb(test_database_new_empty());
    cr_assert(PQstatus(connection) == CONNECTION_OK, "%s", PQerrorMessage(connection));
    run_sql(connection, tables);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct market market;
        struct catalog *catalog = catalog_new();
        market_make(&market, 900 + seed, MARKET_PROVIDERS_MAX, 8 * seed * seed);
        market.providers[1].facts.resells = "p4";
        market.providers[2].facts.resells = "p1"; /* so in the end p4's */
        market.providers[7].facts.resells = "elsewhere";
        market.providers[8].facts.resells = "elsewhere";
        cr_assert(market_load(catalog, &market));
        copy_market(connection, &market);
        struct snapshot *snapshot = catalog_acquire(catalog);
        size_t groups =
            compare_groups(connection, snapshot, INDEX_SQL("gpu, billing, bucket"), false);
        cr_expect(groups > 10 && groups == count_groups(snapshot, false), "%zu groups", groups);
        groups = compare_groups(connection, snapshot, INDEX_SQL("gpu, billing, bucket, continent"),
                                true);
        cr_expect(groups > 10 && groups == count_groups(snapshot, true), "%zu groups", groups);
#define COPY(name, columns)                                                                        \
    "DROP TABLE IF EXISTS " name "; CREATE TABLE " name " (" columns                               \
    ", lowest bigint, p25 bigint, median "                                                         \
    "bigint, p75 bigint, highest bigint, offers bigint, providers bigint); INSERT INTO " name " "
        run_sql(connection, COPY("sized", "gpu text, billing text, bucket text, size_bucket text")
                                INDEX_SQL("gpu, billing, bucket, size_bucket"));
        run_sql(connection, COPY("termed", "gpu text, billing text, bucket text")
                                INDEX_SQL("gpu, billing, bucket"));
        run_sql(connection, COPY("billed", "gpu text, billing text") INDEX_SQL("gpu, billing"));
        compare_verdicts(connection, snapshot, &market);
        snapshot_release(snapshot);
        catalog_free(catalog);
        market_free(&market);
    }
    PQfinish(connection);
}

/* ---- explanations ---- */

Test(market, what_is_explained_adds_up)
{
    cr_assert(crypt_init());
    struct market market;
    struct catalog *catalog = catalog_new();
    market_make(&market, 77, MARKET_PROVIDERS_MAX, 40);
    market.providers[1].facts.resells = "p4";
    cr_assert(market_load(catalog, &market));
    struct snapshot *snapshot = catalog_acquire(catalog);
    size_t reasons[INDEX_REASON_COUNT] = {0};
    for (uint16_t gpu = 0; gpu < gpu_count(); gpu++) {
        for (unsigned c = 0; c < COMMITMENT_COUNT; c++) {
            struct arena arena = {0};
            struct market_explanation *list;
            struct index_figures figures;
            size_t count =
                snapshot_market_explain(snapshot, gpu, 1U << c, MARKET_NOW_US, &arena, &list);
            (void)snapshot_market_figures(snapshot, gpu, (enum commitment)c, CONTINENT_COUNT,
                                          MARKET_NOW_US, &figures);
            size_t providers = 0;
            int64_t min = UNKNOWN, max = UNKNOWN;
            for (size_t i = 0; i < count; i++) {
                reasons[list[i].reason]++;
                cr_expect(i == 0 || list[i].commitment == list[i - 1].commitment);
                if (list[i].reason != INDEX_INCLUDED)
                    continue;
                bool first = true;
                for (size_t j = 0; j < i; j++)
                    first = first && !(list[j].reason == INDEX_INCLUDED &&
                                       list[j].provider == list[i].provider);
                providers += first;
                cr_expect(list[i].vote_microusd > 0);
                if (min < 0 || list[i].vote_microusd < min)
                    min = list[i].vote_microusd;
                if (list[i].vote_microusd > max)
                    max = list[i].vote_microusd;
            }
            cr_expect(providers == figures.providers && min == figures.min && max == figures.max,
                      "%s %u", gpu_at(gpu)->slug, c);
            arena_free(&arena);
        }
    }
    static const enum index_reason found[] = {
        INDEX_INCLUDED,   INDEX_UNRECOGNIZED, INDEX_UNDISCLOSED_FORM, INDEX_SAMPLE, INDEX_STALE,
        INDEX_SUSPICIOUS, INDEX_RESOLD};
    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++)
        cr_expect(reasons[found[i]] > 0, "%s", index_reason_name(found[i]));
    snapshot_release(snapshot);
    catalog_free(catalog);
    market_free(&market);
}

/* ---- the filter ---- */

static size_t found_by(struct catalog *catalog, const char *verdict, const char *billing)
{
    struct query_parameter parameters[] = {
        {"verdict", verdict}, {"billing", billing}, {"include_stale", "1"}, {"limit", "500"}};
    struct arena arena = {0};
    struct found *rows;
    size_t total;
    size_t found = catalog_search(catalog, parameters, 4, MARKET_NOW_US, &arena, &rows, &total);
    cr_expect(found == total);
    arena_free(&arena);
    return found;
}

/* Offers with a price of this billing and one of these verdicts, by looking at each offer. */
static size_t counted_by(struct snapshot *snapshot, const struct market *market,
                         const char *verdict, const char *billing)
{
    size_t count = 0;
    for (size_t i = 0; i < market->provider_count; i++) {
        for (size_t j = 0; j < market->providers[i].offer_count; j++) {
            struct buf out = {0};
            if (!snapshot_write_offer(snapshot, market->providers[i].facts.slug,
                                      market->providers[i].offers[j].external_id, MARKET_NOW_US,
                                      &out, NULL))
                continue;
            json_t *answer = json_loadb(out.data, out.length, 0, NULL), *price;
            size_t at;
            bool any = false;
            json_array_foreach(json_object_get(answer, "prices"), at, price) any =
                any ||
                (strstr(verdict, json_string_value(json_object_get(price, "verdict"))) != NULL &&
                 strcmp(billing, json_string_value(json_object_get(price, "billing"))) == 0);
            count += any;
            json_decref(answer);
            buf_free(&out);
        }
    }
    return count;
}

Test(market, the_verdict_filter_finds_what_the_offers_say)
{
    cr_assert(crypt_init());
    struct market market;
    struct catalog *catalog = catalog_new();
    market_make(&market, 5, MARKET_PROVIDERS_MAX, 30);
    cr_assert(market_load(catalog, &market));
    struct snapshot *snapshot = catalog_acquire(catalog);
    static const char *const verdicts[] = {"below_market", "typical", "above_market",
                                           "insufficient_data", "below_market,typical"};
    static const char *const billings[] = {"on_demand", "spot", "reserved"};
    size_t sum = 0;
    for (size_t i = 0; i < 5; i++) {
        for (size_t j = 0; j < 3; j++) {
            size_t found = found_by(catalog, verdicts[i], billings[j]);
            cr_expect(found == counted_by(snapshot, &market, verdicts[i], billings[j]),
                      "%s %s: %zu", verdicts[i], billings[j], found);
            sum += found;
        }
    }
    cr_expect(sum > 200, "%zu", sum);
    snapshot_release(snapshot);
    catalog_free(catalog);
    market_free(&market);
}
