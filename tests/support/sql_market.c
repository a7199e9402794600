/* Rows by COPY. */
#include "tests/support/sql_market.h"

#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"
#include "tests/support/must.h"
#include "tests/support/search_oracle.h"

#include <stdlib.h>
#include <string.h>

static const char tables[] =
    "CREATE TABLE place (slug text PRIMARY KEY, country text, continent text);"
    "CREATE TABLE latency (origin text, slug text, centi bigint, PRIMARY KEY (origin, slug));"
    "CREATE TABLE inside (outer_slug text, inner_slug text);"
    "CREATE INDEX ON inside (inner_slug);"
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
    "CREATE TABLE price (offer text COLLATE \"C\", billing text, term int, amount bigint, node "
    "bigint, min_gpus "
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

void sql_run(PGconn *connection, const char *sql)
{
    PGresult *result = PQexec(connection, sql);
    ExecStatusType status = PQresultStatus(result);
    must(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, "%s", PQerrorMessage(connection));
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
    must(PQresultStatus(result) == PGRES_COPY_IN, "%s", PQerrorMessage(connection));
    PQclear(result);
    must(PQputCopyData(connection, rows->data, (int)rows->length) == 1 &&
             PQputCopyEnd(connection, NULL) == 1,
         "%s", PQerrorMessage(connection));
    result = PQgetResult(connection);
    must(PQresultStatus(result) == PGRES_COMMAND_OK, "%s", PQerrorMessage(connection));
    PQclear(result);
    must(PQgetResult(connection) == NULL, "COPY has one result");
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
    must(PQresultStatus(result) == PGRES_COMMAND_OK, "%s", PQerrorMessage(connection));
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

void sql_market_copy(PGconn *connection, const struct market *market)
{
    struct buf providers = {0}, offers = {0}, prices = {0};
    sql_run(connection, "TRUNCATE provider, offer, price, latency");
    sql_run(connection, "DELETE FROM word WHERE kind = 'provider'");
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
    sql_run(connection, "ANALYZE");
}

PGconn *sql_market_open(const char *url)
{
    PGconn *connection = PQconnectdb(url);
    must(PQstatus(connection) == CONNECTION_OK, "%s", PQerrorMessage(connection));
    sql_run(connection, "SET jit = off"); /* compiling costs more than these queries */
    sql_run(connection, tables);
    sql_run(connection, "BEGIN");
    copy_places(connection);
    copy_gpus(connection);
    sql_run(connection, "COMMIT");
    return connection;
}
