/* The promise that search gives the same rows in the same order as SQL over the same data: random
 * markets go into plain tables of a PostgreSQL, and ten thousand random queries are asked of both,
 * every tenth with facets. */
#include "server/base/crypto.h"
#include "server/catalog/kernels.h"
#include "tests/support/search_oracle.h"
#include "tests/support/sql_search.h"
#include "tests/support/test_database.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MARKETS             10 /* half of them in each test */
#define QUERIES_OF_A_MARKET 1000

TestSuite(differential, .timeout = 600);

/* Asks both; false where they differ. */
static bool ask_both(PGconn *connection, struct catalog *catalog,
                     const struct query_parameter *parameters, size_t count)
{
    struct arena arena = {0};
    struct found *rows;
    size_t total,
        found = catalog_search(catalog, parameters, count, MARKET_NOW_US, &arena, &rows, &total),
        row = 0;
    PGresult *result = sql_search(connection, parameters, count);
    size_t wanted = (size_t)PQntuples(result);
    while (row < wanted && row < found &&
           strcmp(PQgetvalue(result, (int)row, 0), rows[row].id) == 0 &&
           strtoll(PQgetvalue(result, (int)row, 1), NULL, 10) == rows[row].per_gpu_hour_microusd &&
           strtoll(PQgetvalue(result, (int)row, 2), NULL, 10) == rows[row].latency_centi &&
           strtoll(PQgetvalue(result, (int)row, 3), NULL, 10) == rows[row].total_microusd &&
           strtoll(PQgetvalue(result, (int)row, 4), NULL, 10) == rows[row].unit_microusd[0] &&
           strtoll(PQgetvalue(result, (int)row, 5), NULL, 10) == rows[row].unit_microusd[1] &&
           strtoll(PQgetvalue(result, (int)row, 6), NULL, 10) == rows[row].unit_microusd[2])
        row++;
    bool same = total == wanted && found == wanted && row == wanted;
    cr_expect(same, "%s: total %zu, %zu rows, SQL has %zu, the first difference at %zu",
              market_query_text(&arena, parameters, count), total, found, wanted, row);
    PQclear(result);
    arena_free(&arena);
    return same;
}

static json_t *answer_of(struct catalog *catalog, const struct query_parameter *parameters,
                         size_t count)
{
    struct arena arena = {0};
    struct buf out = {0};
    struct query *query;
    struct query_error *errors;
    const char *cursor;
    struct snapshot *snapshot = catalog_acquire(catalog);
    cr_assert(query_parse(parameters, count, snapshot, &arena, &query, &errors) == 0, "%s",
              errors[0].message);
    query_answer(snapshot, query, MARKET_NOW_US, &arena, &out, &cursor);
    snapshot_release(snapshot);
    json_t *answer = json_loadb(out.data, out.length, JSON_REJECT_DUPLICATES, NULL);
    cr_assert(answer != NULL);
    buf_free(&out);
    arena_free(&arena);
    return answer;
}

/* A facet's value as SQL prints it; latency bands there have leading zeros, which sort. */
static bool same_value(const char *facet, const json_t *value, const PGresult *result, int row)
{
    const char *text = PQgetvalue(result, row, 0);
    if (json_is_null(value) || PQgetisnull(result, row, 0))
        return json_is_null(value) && PQgetisnull(result, row, 0);
    if (json_is_string(value)) {
        while (strcmp(facet, "latency") == 0 && text[0] == '0' && text[1] != '-')
            text++;
        return strcmp(json_string_value(value), text) == 0;
    }
    double scale = strcmp(facet, "gpu_count") == 0 ? 1000 : 1;
    return llround(json_number_value(value) * scale) == strtoll(text, NULL, 10);
}

static int64_t micro(const json_t *object, const char *key)
{
    return llround(json_number_value(json_object_get(object, key)) * 1e6);
}

/* All facets of a query against SQL. */
static void ask_facets(PGconn *connection, struct catalog *catalog,
                       const struct query_parameter *parameters, size_t count)
{
    static const char all[] = "gpu,vendor,form_factor,gpu_count,billing,term_months,fabric,"
                              "interconnect,region,country,continent,provider,provider_kind,"
                              "availability";
    struct query_parameter with[MARKET_PARAMETERS_MAX + 1];
    struct arena arena = {0};
    bool near = false;
    const char *name;
    json_t *of_facet;
    for (size_t i = 0; i < count; i++) {
        with[i] = parameters[i];
        near = near || strcmp(parameters[i].name, "near") == 0;
    }
    with[count] =
        (struct query_parameter){"facets", near ? arena_printf(&arena, "latency,%s", all) : all};
    json_t *answer = answer_of(catalog, with, count + 1);
    json_t *facets = json_object_get(answer, "facets");
    cr_assert(json_object_size(facets) == (near ? 15 : 14));
    json_object_foreach(facets, name, of_facet)
    {
        PGresult *result = sql_facet(connection, parameters, count, name);
        int wanted = PQntuples(result), row = 0;
        for (; row < wanted; row++) {
            const json_t *value = json_array_get(of_facet, (size_t)row);
            if (!same_value(name, json_object_get(value, "value"), result, row) ||
                json_integer_value(json_object_get(value, "offers")) !=
                    strtoll(PQgetvalue(result, row, 1), NULL, 10) ||
                micro(value, "min_price_per_gpu_hour") !=
                    strtoll(PQgetvalue(result, row, 2), NULL, 10) ||
                micro(value, "median_price_per_gpu_hour") !=
                    strtoll(PQgetvalue(result, row, 3), NULL, 10))
                break;
        }
        cr_assert(row == wanted && json_array_size(of_facet) == (size_t)wanted,
                  "%s: facet %s differs at value %d of %d (%zu answered): SQL has %s, %s, %s, %s",
                  market_query_text(&arena, parameters, count), name, row, wanted,
                  json_array_size(of_facet), row < wanted ? PQgetvalue(result, row, 0) : "none",
                  row < wanted ? PQgetvalue(result, row, 1) : "",
                  row < wanted ? PQgetvalue(result, row, 2) : "",
                  row < wanted ? PQgetvalue(result, row, 3) : "");
        PQclear(result);
    }
    json_decref(answer);
    arena_free(&arena);
}

/* Every second market from `first` on. */
static void compare_markets(uint64_t first)
{
    if (getenv("RACKRATE_TEST_DATABASE_URL") == NULL)
        cr_skip_test("RACKRATE_TEST_DATABASE_URL names no PostgreSQL: run this through make test");
    cr_assert(crypt_init());
    PGconn *connection = sql_market_open(test_database_new_empty());
    size_t with_rows = 0;
    for (uint64_t seed = first; seed <= MARKETS; seed += 2) {
        struct market market;
        struct catalog *catalog = catalog_new();
        market_make(&market, 100 + seed, 3 + seed, 8 + 3 * seed);
        cr_assert(market_load(catalog, &market));
        sql_market_copy(connection, &market);
        for (int i = 0; i < QUERIES_OF_A_MARKET; i++) {
            struct query_parameter parameters[MARKET_PARAMETERS_MAX];
            struct arena arena = {0};
            struct found *rows;
            size_t count = market_random_query(&market, parameters);
            kernels_use_avx2(i % 4 != 0);
            cr_assert(ask_both(connection, catalog, parameters, count));
            if (i % 10 == 0)
                ask_facets(connection, catalog, parameters, count);
            with_rows +=
                oracle_search(&market, parameters, count, MARKET_NOW_US, &arena, &rows) > 0;
            arena_free(&arena);
        }
        catalog_free(catalog);
        market_free(&market);
    }
    cr_expect(with_rows > MARKETS / 2 * QUERIES_OF_A_MARKET / 3,
              "most queries should find something: %zu", with_rows);
    PQfinish(connection);
}

Test(differential, random_queries_give_what_sql_gives, .fini = test_database_drop)
{
    compare_markets(1);
}

Test(differential, random_queries_give_what_sql_gives_in_other_markets, .fini = test_database_drop)
{
    compare_markets(2);
}
