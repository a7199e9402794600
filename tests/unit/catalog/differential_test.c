/* The promise that search gives the same rows in the same order as SQL over the same data: random
 * markets go into plain tables of a PostgreSQL, and ten thousand random queries are asked of both.
 */
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"
#include "tests/support/search_oracle.h"
#include "tests/support/test_database.h"

#include <criterion/criterion.h>
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

#define MARKETS             10
#define QUERIES_OF_A_MARKET 1000

TestSuite(differential, .timeout = 300);

static const char tables[] =
    "CREATE TABLE place (slug text PRIMARY KEY, country text, continent text);"
    "CREATE TABLE latency (origin text, slug text, centi bigint, PRIMARY KEY (origin, slug));"
    "CREATE TABLE inside (outer_slug text, inner_slug text);"
    "CREATE TABLE provider (slug text PRIMARY KEY, kind text, suspended bool, fresh_us bigint, "
    "confirmed_us bigint,"
    " sla bigint, burn_in bool, monitoring bool, on_site bool);"
    "CREATE TABLE offer (id text COLLATE \"C\" PRIMARY KEY, provider text, gpu text, family text, "
    "vendor text, form text,"
    " gn bigint, gd bigint, available bigint, gpus bigint, vram bigint, total_vram bigint, vcpus "
    "bigint, memory bigint, storage bigint, "
    "interconnect text,"
    " fabric text, gbps bigint, place text, status text, lead bigint, sample bool, own_us bigint, "
    "updated_us bigint);"
    "CREATE TABLE price (offer text, billing text, term int, amount bigint, node bigint, min_gpus "
    "bigint, max_gpus bigint, position int);"
    "CREATE INDEX ON price (offer);"
    "CREATE TABLE gpu (slug text PRIMARY KEY, tflops bigint, gbps bigint);"
    "CREATE TABLE word (kind text, slug text, word text);"
    "CREATE INDEX ON word (kind, slug);"
    "CREATE FUNCTION half_even(n numeric, d numeric) RETURNS bigint IMMUTABLE LANGUAGE sql RETURN"
    " (div(n, d) + CASE WHEN 2 * mod(n, d) > d OR (2 * mod(n, d) = d AND mod(div(n, d), 2) = 1)"
    " THEN 1 ELSE 0 END)::bigint;"
    "CREATE FUNCTION has_words(gpu text, place text, provider text, q text) RETURNS bool STABLE "
    "LANGUAGE sql RETURN NOT EXISTS (SELECT FROM string_to_table(lower(q), ' ') AS wanted WHERE "
    "NOT EXISTS (SELECT FROM word w WHERE starts_with(w.word, wanted) AND ((w.kind = 'gpu' AND "
    "w.slug = gpu) OR (w.kind = 'provider' AND w.slug = provider) OR (w.kind = 'place' AND w.slug "
    "IN (SELECT outer_slug FROM inside WHERE inner_slug = place)))));";

static void run_sql(PGconn *connection, const char *sql)
{
    PGresult *result = PQexec(connection, sql);
    ExecStatusType status = PQresultStatus(result);
    cr_assert(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, "%s",
              PQerrorMessage(connection));
    PQclear(result);
}

/* COPY's text: columns parted by tabs, \N for unknown. */
static void put_text(struct buf *rows, const char *text)
{
    buf_add_string(rows, text == NULL ? "\\N" : text);
    buf_add_char(rows, '\t');
}

static void put_number(struct buf *rows, int64_t value, bool known)
{
    if (known)
        buf_add_int(rows, value);
    else
        buf_add_string(rows, "\\N");
    buf_add_char(rows, '\t');
}

static void put_flag(struct buf *rows, int flag)
{
    put_text(rows, flag < 0 ? NULL : flag > 0 ? "t" : "f");
}

static void end_row(struct buf *rows)
{
    rows->data[rows->length - 1] = '\n';
}

static void copy_rows(PGconn *connection, const char *table, struct buf *rows)
{
    char sql[64];
    snprintf(sql, sizeof(sql), "COPY %s FROM STDIN", table);
    PGresult *result = PQexec(connection, sql);
    cr_assert(PQresultStatus(result) == PGRES_COPY_IN, "%s", PQerrorMessage(connection));
    PQclear(result);
    cr_assert(PQputCopyData(connection, rows->data, (int)rows->length) == 1 &&
              PQputCopyEnd(connection, NULL) == 1);
    result = PQgetResult(connection);
    cr_assert(PQresultStatus(result) == PGRES_COMMAND_OK, "%s", PQerrorMessage(connection));
    PQclear(result);
    cr_assert(PQgetResult(connection) == NULL);
    buf_free(rows);
}

static void copy_places(PGconn *connection)
{
    struct buf places = {0}, inside = {0};
    for (uint16_t i = 0; i < place_count(); i++) {
        put_text(&places, place_at(i)->slug);
        put_text(&places, place_at(i)->country);
        put_text(&places, place_at(i)->continent);
        end_row(&places);
        for (uint16_t j = 0; j < place_count(); j++) {
            if (!place_contains(i, j))
                continue;
            put_text(&inside, place_at(i)->slug);
            put_text(&inside, place_at(j)->slug);
            end_row(&inside);
        }
    }
    copy_rows(connection, "place", &places);
    copy_rows(connection, "inside", &inside);
}

/* The words of a text, parted by SQL. */
static void insert_words(PGconn *connection, const char *kind, const char *slug, const char *text)
{
    const char *const values[] = {kind, slug, text};
    if (text == NULL)
        return;
    PGresult *result =
        PQexecParams(connection,
                     "INSERT INTO word SELECT $1, $2, w FROM "
                     "regexp_split_to_table(lower($3), '[^a-z0-9]+') AS w WHERE w <> ''",
                     3, NULL, values, NULL, NULL, 0);
    cr_assert(PQresultStatus(result) == PGRES_COMMAND_OK, "%s", PQerrorMessage(connection));
    PQclear(result);
}

static void copy_gpus(PGconn *connection)
{
    struct buf rows = {0};
    for (uint16_t i = 0; i < gpu_count(); i++) {
        const struct gpu *gpu = gpu_at(i);
        const char *const texts[] = {gpu->slug, gpu->family, gpu->vendor, gpu->name};
        put_text(&rows, gpu->slug);
        put_number(&rows, gpu->bf16_dense_tflops_milli, gpu->bf16_dense_tflops_milli > 0);
        put_number(&rows, gpu->memory_bandwidth_gb_per_s_milli,
                   gpu->memory_bandwidth_gb_per_s_milli > 0);
        end_row(&rows);
        for (size_t j = 0; j < sizeof(texts) / sizeof(texts[0]); j++)
            insert_words(connection, "gpu", gpu->slug, texts[j]);
        for (size_t j = 0; gpu->aliases != NULL && gpu->aliases[j] != NULL; j++)
            insert_words(connection, "gpu", gpu->slug, gpu->aliases[j]);
    }
    copy_rows(connection, "gpu", &rows);
    for (uint16_t i = 0; i < place_count(); i++) {
        insert_words(connection, "place", place_at(i)->slug, place_at(i)->slug);
        insert_words(connection, "place", place_at(i)->slug, place_at(i)->name);
    }
}

static void put_provider(struct buf *rows, const struct provider *provider)
{
    put_text(rows, provider->slug);
    put_text(rows, provider_kind_name(provider->kind));
    put_flag(rows, provider->suspended);
    put_number(rows, provider->freshness_hours * INT64_C(3600000000),
               provider->freshness_hours >= 0);
    put_number(rows, provider->confirmed_at_us, provider->confirmed_at_us != TIMESTAMP_UNKNOWN);
    put_number(rows, provider->trust.sla_percent_milli, provider->trust.sla_percent_milli >= 0);
    put_flag(rows, provider->trust.burn_in);
    put_flag(rows, provider->trust.monitoring);
    put_flag(rows, provider->trust.on_site);
    end_row(rows);
}

static int64_t total_vram(const struct offer *offer)
{
    int64_t numerator, denominator;
    gpu_count_fraction(offer->gpu_count_milli, &numerator, &denominator);
    return offer->vram_gb_milli < 0
               ? UNKNOWN
               : decimal_muldiv_half_even(offer->vram_gb_milli, numerator, denominator, NULL);
}

static void put_offer(struct buf *offers, struct buf *prices, const struct provider *provider,
                      const struct offer *offer)
{
    const struct gpu *gpu = gpu_at(offer->gpu);
    int64_t numerator, denominator;
    gpu_count_fraction(offer->gpu_count_milli, &numerator, &denominator);
    const int64_t quantities[] = {numerator,
                                  denominator,
                                  offer->availability.gpus_available,
                                  offer->gpu_count_milli,
                                  offer->vram_gb_milli,
                                  total_vram(offer),
                                  offer->vcpus_milli,
                                  offer->memory_gib_milli,
                                  offer->storage_gb_milli};
    uint8_t id[OFFER_ID_BYTES];
    char text[OFFER_ID_TEXT_LENGTH + 1];
    offer_id(provider->slug, offer->external_id, id);
    offer_id_print(id, text);
    put_text(offers, text);
    put_text(offers, provider->slug);
    put_text(offers, gpu->slug);
    put_text(offers, gpu->family);
    put_text(offers, gpu->vendor);
    put_text(offers, form_factor_name(gpu->form_factor));
    for (size_t i = 0; i < sizeof(quantities) / sizeof(quantities[0]); i++)
        put_number(offers, quantities[i], quantities[i] >= 0);
    put_text(offers, interconnect_name(offer->interconnect));
    put_text(offers, fabric_name(offer->fabric));
    put_number(offers, offer->fabric_gbps_milli, offer->fabric_gbps_milli >= 0);
    put_text(offers, offer->place == INDEX_NONE ? NULL : place_at(offer->place)->slug);
    put_text(offers, availability_name(offer->availability.status));
    put_number(offers, offer->availability.lead_time_days, offer->availability.lead_time_days >= 0);
    put_flag(offers, offer->source_kind == SOURCE_SAMPLE);
    put_number(offers,
               offer->observed_at_us == TIMESTAMP_UNKNOWN ? offer->updated_at_us
                                                          : offer->observed_at_us,
               true);
    put_number(offers, offer->updated_at_us, true);
    end_row(offers);
    for (size_t i = 0; i < offer->price_count; i++) {
        put_text(prices, text);
        put_text(prices, billing_name(offer->prices[i].billing));
        put_number(prices, offer->prices[i].term_months, true);
        put_number(prices, offer->prices[i].per_gpu_hour_microusd, true);
        put_number(prices, offer->prices[i].per_node_hour_microusd, true);
        put_number(prices, offer->prices[i].min_gpus, offer->prices[i].min_gpus >= 0);
        put_number(prices, offer->prices[i].max_gpus, offer->prices[i].max_gpus >= 0);
        put_number(prices, (int64_t)i, true);
        end_row(prices);
    }
}

/* What the search may measure from, to everywhere. */
static void copy_latency(PGconn *connection, const struct market *market)
{
    struct buf rows = {0};
    for (size_t i = 0; i < MARKET_ENDS; i++) {
        for (uint16_t place = 0; place < place_count(); place++) {
            put_text(&rows, market_ends[i]);
            put_text(&rows, place_at(place)->slug);
            put_number(&rows, oracle_latency_centi(market, market_ends[i], place, NULL), true);
            end_row(&rows);
        }
    }
    copy_rows(connection, "latency", &rows);
}

static void copy_market(PGconn *connection, const struct market *market)
{
    struct buf providers = {0}, offers = {0}, prices = {0};
    run_sql(connection, "TRUNCATE provider, offer, price, latency");
    run_sql(connection, "DELETE FROM word WHERE kind = 'provider'");
    copy_latency(connection, market);
    for (size_t i = 0; i < market->provider_count; i++) {
        const struct market_provider *provider = &market->providers[i];
        put_provider(&providers, &provider->facts);
        insert_words(connection, "provider", provider->facts.slug, provider->facts.slug);
        insert_words(connection, "provider", provider->facts.slug, provider->facts.name);
        for (size_t j = 0; j < provider->offer_count; j++)
            put_offer(&offers, &prices, &provider->facts, &provider->offers[j]);
    }
    copy_rows(connection, "provider", &providers);
    copy_rows(connection, "offer", &offers);
    copy_rows(connection, "price", &prices);
    run_sql(connection, "ANALYZE");
}

/* What each parameter is in SQL; $V stands for the quoted value. Of prices where it begins with
 * `p.`. */
static const struct {
    const char *name, *condition;
} conditions[] = {
    {"gpu", "(gpu = ANY (string_to_array($V, ',')) OR family = ANY (string_to_array($V, ',')))"},
    {"vendor", "vendor = ANY (string_to_array($V, ','))"},
    {"form_factor", "form = ANY (string_to_array($V, ','))"},
    {"min_vram_gb", "vram >= $V::numeric * 1000"},
    {"min_total_vram_gb", "total_vram >= $V::numeric * 1000"},
    {"gpu_count", "gpus / 1000.0 = ANY (string_to_array($V, ',')::numeric[])"},
    {"min_gpu_count", "gpus >= $V::numeric * 1000"},
    {"max_gpu_count", "gpus <= $V::numeric * 1000"},
    {"billing", "p.billing = ANY (string_to_array($V, ','))"},
    {"term_months", "p.term = ANY (string_to_array($V, ',')::int[])"},
    {"max_term_months", "p.term <= $V::int"},
    {"min_price", "p.amount >= $V::numeric * 1000000"},
    {"max_price", "p.amount <= $V::numeric * 1000000"},
    {"max_total_price", "p.node * nodes <= $V::numeric * 1000000"},
    {"gpus", "available * gd >= nodes * gn"},
    {"q", "has_words(gpu, place, provider, $V)"},
    {"fabric", "fabric = ANY (string_to_array($V, ','))"},
    {"min_fabric_gbps", "gbps >= $V::numeric * 1000"},
    {"interconnect", "interconnect = ANY (string_to_array($V, ','))"},
    {"min_vcpus", "vcpus >= $V::numeric * 1000"},
    {"min_memory_gib", "memory >= $V::numeric * 1000"},
    {"min_storage_gb", "storage >= $V::numeric * 1000"},
    {"region",
     "place IN (SELECT inner_slug FROM inside WHERE outer_slug = ANY (string_to_array($V, ',')))"},
    {"country",
     "(SELECT country FROM place WHERE slug = place) = ANY (string_to_array(upper($V), ','))"},
    {"continent",
     "(SELECT continent FROM place WHERE slug = place) = ANY (string_to_array($V, ','))"},
    {"provider", "provider = ANY (string_to_array($V, ','))"},
    {"provider_kind", "kind = ANY (string_to_array($V, ','))"},
    {"availability", "status = ANY (string_to_array($V, ','))"},
    {"max_lead_time_days", "lead <= $V::int"},
    {"min_sla_percent", "sla >= $V::numeric * 1000"},
    {"burn_in", "burn_in = $V::bool"},
    {"monitoring", "monitoring = $V::bool"},
    {"on_site", "on_site = $V::bool"},
    {"updated_since", "updated_us >= extract(epoch FROM $V::timestamptz) * 1000000"},
    {"include_stale", "($V::bool OR NOT stale)"},
    {"max_latency_ms", "latency <= $V::numeric * 100"},
    {"near", NULL},
    {"sort", NULL},
    {"limit", NULL},
};

static void add_condition(PGconn *connection, struct buf *sql, const char *condition,
                          const char *value)
{
    char *quoted = PQescapeLiteral(connection, value, strlen(value));
    buf_add_string(sql, " AND ");
    for (const char *at = condition; *at != '\0'; at++) {
        if (strncmp(at, "$V", 2) == 0) {
            buf_add_string(sql, quoted);
            at++;
        } else {
            buf_add_char(sql, *at);
        }
    }
    PQfreemem(quoted);
}

static const char *value_of(const struct query_parameter *parameters, size_t count,
                            const char *name, const char *fallback)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(parameters[i].name, name) == 0)
            return parameters[i].value;
    }
    return fallback;
}

static const char *sort_column(const char *sort)
{
    return strstr(sort, "total_price") ? "node * nodes"
           : strstr(sort, "per_vram")  ? "per_vram"
           : strstr(sort, "per_tflop") ? "per_tflop"
           : strstr(sort, "per_tbps")  ? "per_tbps"
           : strstr(sort, "price")     ? "amount"
           : strstr(sort, "vram")      ? "vram"
           : strstr(sort, "latency")   ? "latency"
                                       : "updated_us";
}

static void write_sql(PGconn *connection, struct buf *sql, const struct query_parameter *parameters,
                      size_t count, struct arena *arena)
{
    const char *sort = value_of(parameters, count, "sort", "price");
    struct buf of_offer = {0}, of_price = {0};
    buf_add_string(&of_offer, "");
    buf_add_string(&of_price, "");
    for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
        const char *value = value_of(parameters, count, conditions[i].name,
                                     strcmp(conditions[i].name, "include_stale") == 0 ? "0" : NULL);
        if (value != NULL && conditions[i].condition != NULL)
            add_condition(connection,
                          strncmp(conditions[i].condition, "p.", 2) == 0 ? &of_price : &of_offer,
                          conditions[i].condition, value);
    }
    const char *near = value_of(parameters, count, "near", NULL), *latency = "NULL::bigint";
    if (near != NULL) {
        char *ends = PQescapeLiteral(connection, near, strlen(near));
        latency = arena_printf(arena,
                               "(SELECT max(l.centi) FROM latency l WHERE l.slug = o.place AND "
                               "l.origin = ANY (string_to_array(%s, ';')))",
                               ends);
        PQfreemem(ends);
    }
    const char *gpus = value_of(parameters, count, "gpus", NULL), *nodes = "1";
    if (gpus != NULL) {
        /* 0.333 stands for a third. */
        nodes = arena_printf(arena, "ceil(round(%s * gd * 6, 3) / (gn * 6))::bigint",
                             strcmp(gpus, "0.333") == 0 ? "1.0/3" : gpus);
        buf_add_string(&of_price, " AND (p.min_gpus IS NULL OR p.min_gpus * gd <= nodes * gn)"
                                  " AND (p.max_gpus IS NULL OR p.max_gpus * gd >= nodes * gn)");
    }
    buf_printf(sql,
               "SELECT id, amount, coalesce(latency, -1), node * nodes, coalesce(per_vram, -1), "
               "coalesce(per_tflop, -1), coalesce(per_tbps, -1) FROM (SELECT *, "
               "half_even(amount * 1000.0, vram) AS per_vram, half_even(amount * 1000.0, tflops) "
               "AS per_tflop, half_even(amount * 1000000.0, bandwidth) AS per_tbps FROM "
               "(SELECT o.*, %s AS nodes, %s AS latency, v.kind, v.suspended, v.sla, v.burn_in, "
               "v.monitoring, v.on_site, coalesce(NOT sample AND greatest(own_us, confirmed_us) + "
               "fresh_us < %lld, false) AS stale, g.tflops, g.gbps AS bandwidth FROM offer o JOIN "
               "provider v ON v.slug = o.provider JOIN gpu g ON g.slug = o.gpu) o, LATERAL (SELECT "
               "p.amount, p.node FROM price p WHERE p.offer = o.id%s ORDER BY p.amount, p.position "
               "LIMIT 1) c WHERE NOT suspended%s) found ORDER BY %s %s NULLS LAST, id",
               nodes, latency, (long long)(MARKET_NOW_US / 1000000 * 1000000), of_price.data,
               of_offer.data, sort_column(sort), sort[0] == '-' ? "DESC" : "ASC");
    buf_free(&of_offer);
    buf_free(&of_price);
}

/* Asks both; false where they differ. */
static bool ask_both(PGconn *connection, struct catalog *catalog,
                     const struct query_parameter *parameters, size_t count)
{
    struct arena arena = {0};
    struct buf sql = {0};
    struct found *rows;
    size_t total,
        found = catalog_search(catalog, parameters, count, MARKET_NOW_US, &arena, &rows, &total),
        row = 0;
    write_sql(connection, &sql, parameters, count, &arena);
    PGresult *result = PQexec(connection, sql.data);
    cr_assert(PQresultStatus(result) == PGRES_TUPLES_OK, "%s\n%s", PQerrorMessage(connection),
              sql.data);
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
    buf_free(&sql);
    arena_free(&arena);
    return same;
}

Test(differential, ten_thousand_random_queries_give_what_sql_gives, .fini = test_database_drop)
{
    if (getenv("RACKRATE_TEST_DATABASE_URL") == NULL)
        cr_skip_test("RACKRATE_TEST_DATABASE_URL names no PostgreSQL: run this through make test");
    cr_assert(crypt_init());
    PGconn *connection = PQconnectdb(test_database_new_empty());
    cr_assert(PQstatus(connection) == CONNECTION_OK, "%s", PQerrorMessage(connection));
    run_sql(connection, "SET jit = off"); /* compiling costs more than these queries */
    run_sql(connection, tables);
    copy_places(connection);
    run_sql(connection, "BEGIN");
    copy_gpus(connection);
    run_sql(connection, "COMMIT");
    size_t with_rows = 0;
    for (uint64_t seed = 1; seed <= MARKETS; seed++) {
        struct market market;
        struct catalog *catalog = catalog_new();
        market_make(&market, 100 + seed, 3 + seed, 8 + 3 * seed);
        cr_assert(market_load(catalog, &market));
        copy_market(connection, &market);
        for (int i = 0; i < QUERIES_OF_A_MARKET; i++) {
            struct query_parameter parameters[MARKET_PARAMETERS_MAX];
            struct arena arena = {0};
            struct found *rows;
            size_t count = market_random_query(&market, parameters);
            cr_assert(ask_both(connection, catalog, parameters, count));
            with_rows +=
                oracle_search(&market, parameters, count, MARKET_NOW_US, &arena, &rows) > 0;
            arena_free(&arena);
        }
        catalog_free(catalog);
        market_free(&market);
    }
    cr_expect(with_rows > MARKETS * QUERIES_OF_A_MARKET / 3,
              "most queries should find something: %zu", with_rows);
    PQfinish(connection);
}
