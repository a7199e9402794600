/* Real prices: 49 daily catalogues imported in order of date, and the reserved prices of a
 * hyperscaler. What the market says of them is held against what the test makes of the same files
 * itself: it reads the JSON, groups, and leaves the statistics to SQL. */
#include "server/base/buf.h"
#include "server/base/crypto.h"
#include "server/base/day.h"
#include "server/base/decimal.h"
#include "server/model/price.h"
#include "server/reference/gpu.h"
#include "tests/support/index_sql.h"
#include "tests/support/test_database.h"
#include "tests/support/test_server.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SNAPSHOTS "catalogues/gpurentalprices/snapshots"
#define DAYS_MAX  100

static struct test_server server;
static struct db_connection *connection;

static void set_up(void)
{
    cr_assert(crypt_init());
    server = (struct test_server){.database_url = test_database_new()};
    connection = test_connect(server.database_url);
    free(test_sql(connection, INDEX_SQL_TABLES INDEX_SQL_FUNCTIONS));
}

static void tear_down(void)
{
    db_disconnect(connection);
    test_database_drop();
}

TestSuite(e2e_market, .timeout = 300, .init = set_up, .fini = tear_down);

static const char *data_path(const char *name)
{
    static char path[400];
    const char *root = getenv("RACKRATE_TEST_DATA");
    snprintf(path, sizeof(path), "%s/%s", root == NULL ? "../shared/data" : root, name);
    return access(path, R_OK) == 0 ? path : NULL;
}

static char *run(const char *arguments)
{
    char *out = test_cli(&server, arguments);
    cr_assert(out != NULL, "rackrate %s failed", arguments);
    return out;
}

/* ---- the daily catalogues ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Dates of the files, in order. */
static size_t list_dates(const char *directory, char **dates)
{
    DIR *open = opendir(directory);
    size_t count = 0;
    struct dirent *entry;
    cr_assert_not_null(open);
    while ((entry = readdir(open)) != NULL && count < DAYS_MAX) {
        if (strlen(entry->d_name) == 15 && strcmp(entry->d_name + 10, ".json") == 0)
            dates[count++] = strndup(entry->d_name, 10);
    }
    closedir(open);
    qsort(dates, count, sizeof(*dates), compare_names);
    return count;
}

/* Two rows are of one offer when they have the same GPU, size and smallest order. */
static bool same_offer(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {"provider", "gpu", "vram_gb", "min_gpus"};
    for (size_t i = 0; i < 4; i++) {
        const json_t *x = json_object_get(a, keys[i]), *y = json_object_get(b, keys[i]);
        if ((x == NULL) != (y == NULL) ||
            (x != NULL && !json_equal((json_t *)(uintptr_t)x, (json_t *)(uintptr_t)y)))
            return false;
    }
    return true;
}

static long long micro(const json_t *row)
{
    return llround(json_number_value(json_object_get(row, "usd_hr")) * 1e6);
}

static const char *text(const json_t *row, const char *key)
{
    const char *value = json_string_value(json_object_get(row, key));
    return value == NULL ? "" : value;
}

/* Whether a row says the same of the same price as an earlier one, or more: the cheapest stands. */
static bool is_beaten(const json_t *rows, size_t at)
{
    const json_t *row = json_array_get(rows, at);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *other = json_array_get(rows, i);
        if (i != at && same_offer(row, other) &&
            strcmp(text(row, "kind"), text(other, "kind")) == 0 &&
            (micro(other) < micro(row) || (micro(other) == micro(row) && i < at)))
            return true;
    }
    return false;
}

/* Whether an offer's cheapest spot price is not below its cheapest price on demand. */
static bool spot_is_doubtful(const json_t *rows, const json_t *row)
{
    long long spot = -1, on_demand = -1;
    size_t i;
    json_t *other;
    json_array_foreach((json_t *)(uintptr_t)rows, i, other)
    {
        if (!same_offer(row, other))
            continue;
        long long *cheapest = strcmp(text(other, "kind"), "spot") == 0 ? &spot : &on_demand;
        if (*cheapest < 0 || micro(other) < *cheapest)
            *cheapest = micro(other);
    }
    return spot >= 0 && on_demand >= 0 && spot >= on_demand;
}

/* The slug a row's GPU counts under, or NULL where it counts nowhere. */
static const char *counted_gpu(const json_t *row)
{
    struct gpu_match match;
    const json_t *vram = json_object_get(row, "vram_gb");
    gpu_resolve(text(row, "gpu"),
                json_is_number(vram) ? (int64_t)llround(json_number_value(vram) * 1000) : UNKNOWN,
                NULL, &match);
    const struct gpu *gpu = gpu_at(match.gpu);
    bool counts = match.gpu != gpu_unrecognized() && !gpu->is_family && match.vram_fits;
    return counts ? gpu->slug : NULL;
}

/* The last file up to a day that names a provider. */
struct last_seen {
    const char *provider;
    const json_t *rows; /* of that file */
    int32_t day;
};

static void add_inputs(const struct last_seen *seen, struct buf *sql)
{
    for (size_t i = 0; i < json_array_size(seen->rows); i++) {
        const json_t *row = json_array_get(seen->rows, i);
        bool spot = strcmp(text(row, "kind"), "spot") == 0;
        const char *gpu = counted_gpu(row);
        if (strcmp(text(row, "provider"), seen->provider) != 0 || gpu == NULL ||
            is_beaten(seen->rows, i) || (spot && spot_is_doubtful(seen->rows, row)))
            continue;
        buf_printf(sql,
                   "INSERT INTO index_input VALUES ('%s','%s','%s',0,'','','%s/%lld/%lld',%lld);",
                   seen->provider, gpu, spot ? "spot" : "on_demand", text(row, "gpu"),
                   json_is_number(json_object_get(row, "vram_gb"))
                       ? llround(json_number_value(json_object_get(row, "vram_gb")))
                       : -1,
                   (long long)json_integer_value(json_object_get(row, "min_gpus")), micro(row));
    }
}

/* The medians of a day from the answer of the API, one line each, against those of SQL. */
static void expect_history(const char *gpu, const char *billing, const char *date, double median)
{
    char target[256];
    snprintf(target, sizeof(target), "/v1/market/history?gpu=%s&billing=%s&from=%s&to=%s", gpu,
             billing, date, date);
    struct test_answer answer = test_request(server.port, "GET", target, NULL, NULL, 5000);
    cr_assert(answer.status == 200, "%s: %d", target, answer.status);
    json_t *body = json_loads(answer.body, 0, NULL);
    json_t *row = json_array_get(json_object_get(body, "data"), 0);
    double got =
        json_number_value(json_object_get(json_object_get(row, "price_per_gpu_hour"), "median"));
    cr_expect(fabs(got - median) < 1e-9, "%s: %f, not %f", target, got, median);
    json_decref(body);
    test_answer_free(&answer);
}

Test(e2e_market, daily_catalogues_give_the_history_they_hold)
{
    static char *dates[DAYS_MAX];
    static json_t *files[DAYS_MAX];
    static struct last_seen seen[200];
    size_t seen_count = 0, figures = 0;
    if (data_path(SNAPSHOTS) == NULL)
        cr_skip_test("real data are not there");
    char directory[400];
    snprintf(directory, sizeof(directory), "%s", data_path(SNAPSHOTS));
    size_t count = list_dates(directory, dates);
    cr_assert(count == 49);
    for (size_t i = 0; i < count; i++) {
        char arguments[900], path[500];
        snprintf(path, sizeof(path), "%s/%s.json", directory, dates[i]);
        snprintf(arguments, sizeof(arguments), "import gpurentalprices --as-of %s %s --json",
                 dates[i], path);
        free(run(arguments));
        json_t *file = json_load_file(path, 0, NULL);
        files[i] = json_incref(json_object_get(file, "offers"));
        json_decref(file);
    }
    free(run("fixing publish"));
    cr_assert(test_sql_int(connection, "SELECT count(*) FROM offers WHERE (flags & 19) <> 0") == 0,
              "no flag but those the test knows");
    for (size_t i = 0; i < count; i++) {
        int32_t day;
        size_t at;
        json_t *row;
        struct buf sql = {0};
        cr_assert(day_parse(dates[i], &day));
        json_array_foreach(files[i], at, row)
        {
            size_t p = 0;
            while (p < seen_count && strcmp(seen[p].provider, text(row, "provider")) != 0)
                p++;
            seen_count += p == seen_count;
            seen[p] = (struct last_seen){text(row, "provider"), files[i], day};
        }
        buf_add_string(&sql, "TRUNCATE index_input, index_provider;");
        for (size_t p = 0; p < seen_count; p++) {
            buf_printf(&sql, "INSERT INTO index_provider VALUES ('%s', NULL);", seen[p].provider);
            /* Seen at noon, fresh for seven days: at midnight six days later for the last time. */
            if (day - seen[p].day <= 6)
                add_inputs(&seen[p], &sql);
        }
        free(test_sql(connection, sql.data));
        buf_free(&sql);
        cr_expect(index_sql_differences(connection, day, false) == 0, "%s", dates[i]);
        char counting[120];
        snprintf(counting, sizeof(counting), "SELECT count(*) FROM fixings WHERE day = '%s'",
                 dates[i]);
        figures += (size_t)test_sql_int(connection, counting);
    }
    cr_expect(figures > 1500, "%zu", figures);

    /* What stands in the table is what is served. */
    cr_assert(test_server_start(&server));
    static const char *const asked[][2] = {
        {"h100-sxm", "on_demand"}, {"rtx-4090", "on_demand"}, {"h200", "on_demand"}};
    for (size_t i = 0; i < count; i += 8) {
        for (size_t a = 0; a < 3; a++) {
            char sql[300];
            snprintf(sql, sizeof(sql),
                     "SELECT coalesce(max(median_microusd), 0) FROM fixings WHERE day = '%s' AND "
                     "gpu = '%s' AND "
                     "billing = '%s' AND continent = ''",
                     dates[i], asked[a][0], asked[a][1]);
            int64_t median = test_sql_int(connection, sql);
            if (median > 0)
                expect_history(asked[a][0], asked[a][1], dates[i], (double)median / 1e6);
        }
    }
    struct test_answer all =
        test_request(server.port, "GET",
                     "/v1/market/history?gpu=h100-sxm&from=2026-07-05&to=2026-08-22&limit=500",
                     NULL, NULL, 5000);
    cr_expect(test_json_number(all.body, "total") == 49, "%.200s", all.body);
    test_answer_free(&all);
    cr_expect(test_server_stop(&server) == 0);

    /* Each change of a price is in the record with the day it was seen. */
    cr_expect(test_sql_int(connection,
                           "SELECT count(DISTINCT observed_at::date) FROM price_changes") >= 40);
    cr_expect(test_sql_int(connection,
                           "SELECT count(*) FROM price_changes WHERE observed_at IS NULL") == 0);
    for (size_t i = 0; i < count; i++) {
        json_decref(files[i]);
        free(dates[i]);
    }
}

/* ---- reserved prices ---- */

/* Rows of index_input for one converted offer; flags of the stored one say what is doubtful. */
static void add_reserved(const json_t *offer, struct buf *sql)
{
    struct gpu_match match;
    const char *id = text(offer, "external_id");
    int32_t count_milli =
        (int32_t)llround(json_number_value(json_object_get(offer, "gpu_count")) * 1000);
    size_t i;
    json_t *row;
    gpu_resolve(text(offer, "gpu"), UNKNOWN, NULL, &match);
    if (match.gpu == gpu_unrecognized() || gpu_at(match.gpu)->is_family)
        return;
    json_array_foreach(json_object_get(offer, "prices"), i, row)
    {
        struct price price = {
            .billing = BILLING_RESERVED,
            .quoted_per = PRICE_PER_NODE,
            .quoted_microusd =
                llround(json_number_value(json_object_get(row, "price_per_node_hour")) * 1e6)};
        cr_assert(price_derive(&price, count_milli));
        buf_printf(sql,
                   "INSERT INTO index_input SELECT 'aws-list','%s','reserved',%lld,'','','%s',%lld "
                   "WHERE NOT EXISTS (SELECT FROM offers WHERE external_id = '%s' AND (flags & 31 "
                   "& ~4) <> 0);",
                   gpu_at(match.gpu)->slug,
                   (long long)json_integer_value(json_object_get(row, "term_months")), id,
                   (long long)price.per_gpu_hour_microusd, id);
    }
}

Test(e2e_market, reserved_prices_count_in_their_term)
{
    char command[1200], file[64] = "/tmp/rackrate-reserved-XXXXXX", arguments[300];
    const char *source = data_path("catalogues/offers-real-reserved.ndjson");
    if (source == NULL)
        cr_skip_test("real data are not there");
    int fd = mkstemp(file);
    cr_assert(fd >= 0);
    close(fd);
    snprintf(command, sizeof(command),
             "jq -c -n -f deploy/convert/neutral.jq '%s' | jq -c 'del(.provider)' > %s", source,
             file);
    cr_assert(system(command) == 0);
    free(run("provider add aws-list --name 'AWS list prices' --kind hyperscaler"));
    snprintf(arguments, sizeof(arguments), "import rackrate --provider aws-list %s --json", file);
    free(run(arguments));
    FILE *lines = fopen(file, "r");
    struct buf sql = {0};
    char *line = NULL;
    size_t size = 0, offers = 0;
    buf_add_string(&sql, "INSERT INTO index_provider VALUES ('aws-list', NULL);");
    while (getline(&line, &size, lines) > 0) {
        json_t *offer = json_loads(line, 0, NULL);
        cr_assert_not_null(offer);
        add_reserved(offer, &sql);
        json_decref(offer);
        offers++;
    }
    free(line);
    fclose(lines);
    unlink(file);
    cr_expect(offers > 500, "%zu", offers);
    free(test_sql(connection, sql.data));
    buf_free(&sql);
    cr_assert(test_server_start(&server));
    struct test_answer answer = test_request(
        server.port, "GET", "/v1/market/summary?billing=reserved&limit=500", NULL, NULL, 5000);
    json_t *body = json_loads(answer.body, 0, NULL), *row;
    size_t i, compared = 0;
    json_array_foreach(json_object_get(body, "data"), i, row)
    {
        char question[3000];
        snprintf(question, sizeof(question),
                 "SELECT min FROM (%s) x WHERE gpu = '%s' AND bucket = '%s'",
                 INDEX_SQL("gpu, bucket"), text(row, "gpu"), text(row, "term_bucket"));
        json_t *median = json_object_get(json_object_get(row, "price_per_gpu_hour"), "median");
        if (json_is_null(median))
            continue;
        /* With one provider the lowest vote is the median. */
        int64_t wanted = test_sql_int(connection, question);
        cr_expect(llround(json_number_value(median) * 1e6) == wanted, "%s %s: %f, not %lld",
                  text(row, "gpu"), text(row, "term_bucket"), json_number_value(median),
                  (long long)wanted);
        cr_expect(json_integer_value(json_object_get(row, "providers")) == 1);
        compared++;
    }
    cr_expect(compared > 15, "%zu", compared);
    json_decref(body);
    test_answer_free(&answer);
    cr_expect(test_server_stop(&server) == 0);
}
