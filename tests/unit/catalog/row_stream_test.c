/* The whole result as lines: the same rows in the same order as the pages, and cells that say what
 * the rows say. */
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/catalog/row_stream.h"
#include "tests/support/random_market.h"
#include "tests/support/test_offers.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <string.h>

TestSuite(row_stream, .timeout = 120);

/* The query parsed into an arena of its own; NULL where it is refused. */
static struct row_stream *open_rows(struct catalog *catalog,
                                    const struct query_parameter *parameters, size_t count)
{
    struct arena arena = {0};
    struct query *query;
    struct query_error *errors;
    struct snapshot *snapshot = catalog_acquire(catalog);
    if (query_parse(parameters, count, snapshot, &arena, &query, &errors) > 0) {
        snapshot_release(snapshot);
        arena_free(&arena);
        return NULL;
    }
    cr_assert(query_is_whole(query));
    return row_stream_new(snapshot, query, &arena, MARKET_NOW_US);
}

/* All of it, in pieces of about `bytes`. */
static bool read_rows(struct catalog *catalog, const struct query_parameter *parameters,
                      size_t count, size_t bytes, struct buf *out)
{
    struct row_stream *rows = open_rows(catalog, parameters, count);
    struct buf piece = {0};
    bool more = rows != NULL;
    while (more) {
        buf_clear(&piece);
        more = row_stream_next(rows, bytes, &piece);
        cr_assert(piece.length > 0 || !more, "a piece holds something");
        cr_assert_lt(piece.length, bytes + 400000, "and not much more than asked for");
        buf_add(out, piece.data, piece.length);
    }
    buf_free(&piece);
    row_stream_free(rows);
    return rows != NULL;
}

/* The rows of all pages, a line each. */
static void read_pages(struct catalog *catalog, const struct query_parameter *parameters,
                       size_t count, const char *limit, struct buf *out)
{
    struct query_parameter all[MARKET_PARAMETERS_MAX + 3];
    char cursor[200] = "";
    memcpy(all, parameters, count * sizeof(*all));
    do {
        struct arena arena = {0};
        struct query *query;
        struct query_error *errors;
        struct snapshot *snapshot = catalog_acquire(catalog);
        const char *next;
        size_t given = count;
        all[given++] = (struct query_parameter){"limit", limit};
        if (*cursor != '\0')
            all[given++] = (struct query_parameter){"cursor", cursor};
        cr_assert(query_parse(all, given, snapshot, &arena, &query, &errors) == 0, "%s",
                  errors[0].message);
        cr_assert_not(query_is_whole(query));
        query_answer(snapshot, query, MARKET_NOW_US, &arena, out, &next);
        snprintf(cursor, sizeof(cursor), "%s", next == NULL ? "" : next);
        snapshot_release(snapshot);
        arena_free(&arena);
    } while (*cursor != '\0');
}

/* Limit and cursor of a random query don't belong to a whole result. */
static size_t without_pages(struct query_parameter *parameters, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(parameters[i].name, "limit") != 0 && strcmp(parameters[i].name, "cursor") != 0 &&
            strcmp(parameters[i].name, "facets") != 0)
            parameters[kept++] = parameters[i];
    }
    return kept;
}

Test(row_stream, lines_are_the_pages_joined)
{
    cr_assert(crypt_init());
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct market market;
        struct catalog *catalog = catalog_new();
        size_t compared = 0;
        market_make(&market, seed, 8, seed == 3 ? 5000 : 60);
        cr_assert(market_load(catalog, &market));
        for (int i = 0; i < (seed == 3 ? 6 : 120); i++) {
            struct query_parameter parameters[MARKET_PARAMETERS_MAX + 3];
            size_t count = without_pages(parameters, market_random_query(&market, parameters));
            struct buf whole = {0}, pages = {0};
            if (seed ==
                3) /* more rows than a step: every offer, by what sorts unlike it is stored */
                count = 0;
            if (seed == 3 && i > 0)
                parameters[count++] = (struct query_parameter){
                    "sort", (const char *[]){"price", "-price", "updated", "-vram", "total_price",
                                             "-updated"}[i]};
            parameters[count++] = (struct query_parameter){"format", "ndjson"};
            if (!read_rows(catalog, parameters, count, 1 + random_below(&market.random, 300000),
                           &whole))
                continue;
            read_pages(catalog, parameters, count, seed == 3 ? "500" : "7", &pages);
            cr_assert_eq(whole.length, pages.length, "%s",
                         market_query_text(&market.arena, parameters, count));
            cr_assert(whole.length == 0 || memcmp(whole.data, pages.data, whole.length) == 0);
            compared += whole.length;
            buf_free(&whole);
            buf_free(&pages);
        }
        cr_assert_gt(compared, 10000, "something was found");
        catalog_free(catalog);
        market_free(&market);
    }
}

/* The next cell of a CSV, unquoted, into `cell`; *ret_end tells that its line ends. */
static const char *next_cell(const char *at, char *cell, bool *ret_end)
{
    if (*at == '"') {
        for (at++; *at != '"' || at[1] == '"'; at++) {
            *cell++ = *at;
            at += *at == '"';
        }
        at++;
    } else {
        while (*at != ',' && *at != '\n') {
            cr_assert_neq(*at, '\0', "a line ends");
            cr_assert_neq(*at, '"', "a quote is quoted");
            *cell++ = *at++;
        }
    }
    *cell = '\0';
    *ret_end = *at == '\n';
    cr_assert(*at == ',' || *at == '\n');
    return at + 1;
}

/* The value of `a` or `a.b`. */
static json_t *value_of(json_t *row, const char *name)
{
    const char *dot = strchr(name, '.');
    char object[64];
    if (dot == NULL)
        return json_object_get(row, name);
    snprintf(object, sizeof(object), "%.*s", (int)(dot - name), name);
    return json_object_get(json_object_get(row, object), dot + 1);
}

static void check_cell(json_t *value, const char *cell, const char *name)
{
    cr_assert_not_null(value, "%s is a field", name);
    if (json_is_null(value)) {
        cr_assert_str_empty(cell, "%s", name);
    } else if (json_is_string(value)) {
        const char *text = json_string_value(value);
        bool harmless = cell[0] == '\'' && strlen(cell) == strlen(text) + 1;
        cr_assert_str_eq(cell + harmless, text, "%s", name);
        cr_assert(strchr("=+-@", *cell) == NULL || *cell == '\0', "%s would run: %s", name, cell);
    } else {
        json_t *read = json_loads(cell, JSON_DECODE_ANY, NULL);
        cr_assert(json_equal(read, value), "%s: %s", name, cell);
        json_decref(read);
    }
}

/* Lines of CSV whose header names fields, against lines of JSON. */
static void check_table(const char *csv, const char *lines)
{
    char names[100][64], *cell = malloc(1 << 20);
    size_t columns = 0;
    bool end = false;
    while (!end) {
        csv = next_cell(csv, cell, &end);
        snprintf(names[columns++], 64, "%s", cell);
    }
    while (*lines != '\0') {
        const char *line_end = strchr(lines, '\n');
        json_t *row = json_loadb(lines, (size_t)(line_end - lines), 0, NULL);
        cr_assert_not_null(row);
        for (size_t i = 0; i < columns; i++) {
            csv = next_cell(csv, cell, &end);
            cr_assert_eq(end, i + 1 == columns, "every line has as many cells");
            check_cell(value_of(row, names[i]), cell, names[i]);
        }
        json_decref(row);
        lines = line_end + 1;
    }
    cr_assert_eq(*csv, '\0', "and no line more");
    free(cell);
}

static void compare_formats(struct catalog *catalog, const char *fields)
{
    struct query_parameter parameters[4] = {
        {"include_stale", "1"}, {"near", "us-ashburn"}, {"format", "csv"}, {"fields", fields}};
    struct buf table = {0}, lines = {0};
    cr_assert(read_rows(catalog, parameters, 4, 10000, &table));
    parameters[2].value = "ndjson";
    cr_assert(read_rows(catalog, parameters, 3, 10000, &lines));
    check_table(table.data, lines.data);
    buf_free(&table);
    buf_free(&lines);
}

static const char every_field[] =
    "id,provider,external_id,gpu,gpu_count,total_vram_gb,node,interconnect,fabric,fabric_gbps,"
    "region,availability,extra_costs,prices,order_url,source,flags,updated_at,price,stale,"
    "trust_score,latency_ms,latency_kind,location_contradicted_by";

Test(row_stream, cells_say_what_the_rows_say)
{
    struct market market;
    struct catalog *catalog = catalog_new();
    cr_assert(crypt_init());
    market_make(&market, 11, 8, 60);
    cr_assert(market_load(catalog, &market));
    compare_formats(catalog, every_field);
    compare_formats(catalog, "price.total_price,gpu,id,flags");
    catalog_free(catalog);
    market_free(&market);
}

Test(row_stream, cells_of_awkward_texts_are_quoted_and_run_nowhere)
{
    static const char *const texts[] = {"=HYPERLINK(\"http://evil\")",
                                        "+1",
                                        "-2",
                                        "@SUM(A1)",
                                        "'=1",
                                        "a,b",
                                        "a\"b",
                                        "a\nb",
                                        "a\r\nb",
                                        " outer ",
                                        "\xe2\x80\xa8line",
                                        "back\\slash",
                                        "\x01\x1f",
                                        "é",
                                        "'",
                                        "\tx"};
    struct catalog *catalog = catalog_new();
    struct arena arena = {0};
    size_t count = sizeof(texts) / sizeof(texts[0]);
    struct offer *offers = arena_calloc(&arena, count, sizeof(*offers));
    struct provider provider = {.slug = "acme",
                                .name = "Acme",
                                .version = 1,
                                .freshness_hours = UNKNOWN,
                                .trust = {UNKNOWN, -1, -1, -1},
                                .confirmed_at_us = MARKET_NOW_US,
                                .updated_at_us = MARKET_NOW_US};
    struct catalog_update update = {
        .provider = &provider, .reload = true, .upserts = offers, .upsert_count = count};
    cr_assert(crypt_init());
    for (size_t i = 0; i < count; i++) {
        offers[i] = *test_full_offer(&arena, arena_printf(&arena, "o%zu", i));
        offers[i].zone = texts[i];
        offers[i].region_raw = texts[count - 1 - i];
    }
    cr_assert(catalog_apply(catalog, &update, 1));
    compare_formats(catalog, "id,region.raw,region.zone,external_id,prices");
    struct query_parameter parameter = {"format", "csv"};
    struct buf table = {0};
    cr_assert(read_rows(catalog, &parameter, 1, 1000, &table));
    static const char start[] = "id,provider,external_id,gpu,gpu_name,";
    cr_expect(strncmp(table.data, start, sizeof(start) - 1) == 0, "%.80s", table.data);
    buf_free(&table);
    catalog_free(catalog);
    arena_free(&arena);
}
