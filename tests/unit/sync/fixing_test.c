/* Fixings on a real database: when a day closes, days that passed while nobody ran, revisions, two
 * servers at once, and twenty random days against SQL. Time is given, not waited for: imports of
 * earlier days stand for days gone by. */
#include "server/sync/fixing.h"

#include "db/provider.h"
#include "server/base/crypto.h"
#include "server/base/day.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/inventory/inventory.h"
#include "server/market/book.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"
#include "server/sync/write.h"
#include "tests/support/index_sql.h"
#include "tests/support/random_market.h"
#include "tests/support/test_database.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOUR_US INT64_C(3600000000)

static const char *url;
static struct db_connection *connection;
static struct node *node;

static void start(void)
{
    cr_assert(crypt_init());
    url = test_database_new();
    connection = test_connect(url);
    node = node_new(url);
}

static void stop(void)
{
    node_free(node);
    db_disconnect(connection);
    test_database_drop();
}

TestSuite(fixing, .init = start, .fini = stop, .timeout = 120);

static int32_t day(const char *text)
{
    int32_t result = -1;
    cr_assert(day_parse(text, &result));
    return result;
}

static int64_t at(const char *text)
{
    int64_t us = 0;
    cr_assert(timestamp_parse(text, strlen(text), &us), "%s", text);
    return us;
}

static void add_provider(const char *slug)
{
    struct provider provider = {
        .slug = slug,
        .name = slug,
        .kind = PROVIDER_GPU_CLOUD,
        .freshness_hours = 168,
        .trust = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN},
    };
    cr_assert(db_provider_add(connection, &provider, "cli") == DB_OK);
    /* So that no day between the real one of adding and those of the test is due. */
}

/* Replaces a provider's inventory as seen at a moment, as an import does. */
static void import_at(const char *slug, int64_t seen_us, const char *json)
{
    struct arena arena = {0};
    struct upload upload;
    struct decode_error error;
    struct decode_options options = {
        .format = FORMAT_JSON,
        .provider_slug = slug,
        .source_kind = SOURCE_IMPORT,
        .as_of_us = seen_us,
    };
    cr_assert(upload_decode(&options, json, strlen(json), &arena, &upload, &error) == DECODE_OK,
              "%s", error.message);
    cr_assert(upload.errors.count == 0, "%s", upload.errors.items[0].message);
    struct write_request request = {
        .provider_slug = slug,
        .mode = CHANGE_REPLACE,
        .upload = &upload,
        .confirm_removals = true,
        .skip_publish = true,
        .record = {.kind = "import",
                   .format = "json",
                   .actor = "cli",
                   .rows_read = upload.rows_read,
                   .confirms_all = true,
                   .confirmed_at_us = seen_us,
                   .errors = &upload.errors,
                   .warnings = &upload.warnings},
    };
    struct write_result result;
    cr_assert(write_inventory(node, connection, &request, &arena, &result) == WRITE_DONE);
    buf_free(&result.body);
    arena_free(&arena);
}

static const char *one_offer(const char *price)
{
    static char json[400];
    snprintf(json, sizeof(json),
             "{\"offers\":[{\"external_id\":\"m\",\"gpu\":\"H100 SXM5\",\"gpu_count\":8,\"region\":"
             "\"us-east\",\"prices\":[{\"billing\":\"on_demand\",\"price_per_gpu_hour\":%s}]}]}",
             price);
    return json;
}

static enum fixing_outcome publish_next(const char *now)
{
    cr_assert(node_catch_up(node, connection));
    return fixing_publish_next(node, connection, at(now), true, "server");
}

static void publish_until(const char *now)
{
    enum fixing_outcome outcome;
    while ((outcome = publish_next(now)) == FIXING_PUBLISHED)
        ;
    cr_assert(outcome == FIXING_NOTHING_DUE, "%d", outcome);
    cr_assert(node_catch_up(node, connection));
}

/* The median of h100-sxm on demand on a day, from the book; UNKNOWN where there is none. */
static int64_t median_on(const char *text, int32_t *ret_revision)
{
    const struct book_point *points;
    struct book *book = node_fixings(node);
    size_t count =
        book_points(book, gpu_find("h100-sxm"), COMMITMENT_ON_DEMAND, CONTINENT_COUNT, &points);
    int64_t median = UNKNOWN;
    for (size_t i = 0; i < count; i++) {
        if (points[i].day != day(text))
            continue;
        median = points[i].figures.median;
        if (ret_revision != NULL)
            *ret_revision = points[i].revision;
    }
    book_release(book);
    return median;
}

Test(fixing, a_day_closes_a_minute_after_midnight)
{
    add_provider("acme");
    import_at("acme", at("2024-02-28T12:00:00Z"), one_offer("2.5"));
    cr_expect(publish_next("2024-02-28T23:59:59Z") == FIXING_NOTHING_DUE);
    cr_expect(publish_next("2024-02-29T00:00:59.999999Z") == FIXING_NOTHING_DUE);
    cr_expect(publish_next("2024-02-29T00:01:00Z") == FIXING_PUBLISHED);
    cr_expect(publish_next("2024-02-29T23:59:59Z") == FIXING_NOTHING_DUE, "once");
    /* The leap day is a day as any other, and the first of March comes after it. */
    cr_expect(publish_next("2024-03-01T00:01:00Z") == FIXING_PUBLISHED);
    cr_expect(publish_next("2024-03-02T00:01:00Z") == FIXING_PUBLISHED);
    char *days = test_sql(connection, "SELECT string_agg(day::text || '/' || revision || '/' || "
                                      "row_count, ' ' ORDER BY version) FROM fixing_days");
    cr_expect_str_eq(days, "2024-02-28/1/2 2024-02-29/1/2 2024-03-01/1/2", "%s", days);
    free(days);
}

Test(fixing, days_that_passed_while_nobody_ran_are_told_from_the_record)
{
    add_provider("acme");
    add_provider("other");
    import_at("other", at("2026-07-01T12:00:00Z"), one_offer("4"));
    import_at("acme", at("2026-07-01T12:00:00Z"), one_offer("2"));
    import_at("acme", at("2026-07-03T00:00:00Z"),
              one_offer("3")); /* the first moment of the third */
    import_at("acme", at("2026-07-05T23:59:59.999999Z"), one_offer("2.2"));
    import_at("acme", at("2026-07-06T12:00:00Z"), "{\"offers\":[]}");
    import_at("acme", at("2026-07-07T12:00:00Z"), one_offer("2.4"));
    import_at("acme", at("2026-07-12T12:00:00Z"), one_offer("2.4"));
    publish_until("2026-07-25T00:01:00Z");
    static const struct {
        const char *day;
        int64_t median;
    } wanted[] = {
        {"2026-07-01", 3000000}, /* 2 and 4 */
        {"2026-07-02", 3000000}, {"2026-07-03", 3500000}, {"2026-07-04", 3500000},
        {"2026-07-05", 3100000}, {"2026-07-06", 4000000}, /* acme removed its offer */
        {"2026-07-07", 3200000}, /* other, of the first at noon, is fresh until the eighth at noon
                                  */
        {"2026-07-08", 2400000}, {"2026-07-12", 2400000}, {"2026-07-18", 2400000},
        {"2026-07-19", UNKNOWN}, /* nobody confirmed anything for a week */
    };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        cr_expect(median_on(wanted[i].day, NULL) == wanted[i].median, "%s: %lld", wanted[i].day,
                  (long long)median_on(wanted[i].day, NULL));
    cr_expect(test_sql_int(connection,
                           "SELECT count(*) FROM fixing_days WHERE day >= '2026-07-01'") == 24);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM fixing_days WHERE row_count = 0") >= 6,
              "days without offers are published as such");
}

Test(fixing, a_confirmation_soon_after_midnight_counts_for_the_day)
{
    add_provider("acme");
    import_at("acme", at("2026-07-01T12:00:00Z"), one_offer("2"));
    import_at("acme", at("2026-07-09T00:30:00Z"), one_offer("2"));
    publish_until("2026-07-10T00:01:00Z");
    cr_expect(median_on("2026-07-07", NULL) == 2000000);
    cr_expect(median_on("2026-07-08", NULL) == 2000000,
              "stale since noon, confirmed half an hour later");
}

Test(fixing, what_was_published_stays_and_corrections_are_revisions)
{
    int32_t revision = 0;
    add_provider("acme");
    import_at("acme", at("2026-07-01T12:00:00Z"), one_offer("2"));
    publish_until("2026-07-03T00:01:00Z");
    char *hash = test_sql(connection, "SELECT encode(input_hash, 'hex') FROM fixings WHERE day = "
                                      "'2026-07-02' AND continent = ''");
    add_provider("late");
    import_at("late", at("2026-07-02T12:00:00Z"), one_offer("3"));
    cr_expect(publish_next("2026-07-03T00:01:00Z") == FIXING_NOTHING_DUE);
    cr_assert(node_catch_up(node, connection));
    cr_expect(median_on("2026-07-02", &revision) == 2000000 && revision == 1);
    size_t rows;
    cr_expect(fixing_publish_day(node, connection, day("2026-07-02"), false, "cli", &rows) ==
              FIXING_NOTHING_DUE);
    cr_expect(fixing_publish_day(node, connection, day("2026-07-02"), true, "cli", &rows) ==
              FIXING_PUBLISHED);
    cr_expect(rows == 2);
    cr_assert(node_catch_up(node, connection));
    cr_expect(median_on("2026-07-02", &revision) == 2500000 && revision == 2);
    cr_expect(median_on("2026-07-01", &revision) == 2000000 && revision == 1);
    char *now = test_sql(connection, "SELECT encode(input_hash, 'hex') FROM fixings WHERE day = "
                                     "'2026-07-02' AND continent = '' AND revision = 1");
    cr_expect_str_eq(hash, now);
    free(hash);
    free(now);
    static const char *const forbidden[] = {
        "UPDATE fixings SET median_microusd = 1",
        "DELETE FROM fixings",
        "TRUNCATE fixings",
        "UPDATE fixing_days SET row_count = 0",
        "DELETE FROM fixing_days",
        "TRUNCATE fixing_days CASCADE",
        "INSERT INTO fixing_days (day, revision, version, method_version, row_count, made_by) "
        "VALUES (current_date + 1, 1, 900, 1, 0, 'me')",
        "INSERT INTO fixing_days (day, revision, version, method_version, row_count, made_by) "
        "VALUES ('2026-07-02', 2, 900, 1, 0, 'me')",
        "INSERT INTO fixings SELECT day, revision, gpu, billing, months_from, 'EU', 3, 2, 3, 3, 3, "
        "1, 1, input_hash FROM fixings LIMIT 1"};
    for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
        const char *why = test_sql_refused(connection, forbidden[i]);
        cr_expect(strstr(why, i < 6 ? "only added" : "violates") != NULL, "%s: %s", forbidden[i],
                  why);
    }
}

/* ---- two servers ---- */

struct racer {
    pthread_t thread;
    pthread_barrier_t *barrier;
    int64_t now_us;
    size_t published;
};

static void *race(void *argument)
{
    struct racer *racer = argument;
    struct db_connection *own = test_connect(url);
    struct node *mine = node_new(url);
    bool good = node_catch_up(mine, own);
    pthread_barrier_wait(racer->barrier);
    for (int quiet = 0; good && quiet < 3;) {
        enum fixing_outcome outcome = fixing_publish_next(mine, own, racer->now_us, true, "server");
        racer->published += outcome == FIXING_PUBLISHED;
        quiet = outcome == FIXING_NOTHING_DUE ? quiet + 1 : 0;
        good = outcome != FIXING_FAILED;
    }
    if (!good)
        racer->published = SIZE_MAX / 8;
    node_free(mine);
    db_disconnect(own);
    return NULL;
}

Test(fixing, servers_that_race_publish_each_day_once)
{
    struct racer racers[4];
    pthread_barrier_t barrier;
    add_provider("acme");
    import_at("acme", at("2026-07-01T12:00:00Z"), one_offer("2"));
    pthread_barrier_init(&barrier, NULL, 4);
    for (int i = 0; i < 4; i++) {
        racers[i] = (struct racer){.barrier = &barrier, .now_us = at("2026-07-21T00:01:00Z")};
        cr_assert(pthread_create(&racers[i].thread, NULL, race, &racers[i]) == 0);
    }
    size_t published = 0;
    for (int i = 0; i < 4; i++) {
        pthread_join(racers[i].thread, NULL);
        published += racers[i].published;
    }
    pthread_barrier_destroy(&barrier);
    cr_expect(published == 20, "%zu", published);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM fixing_days WHERE revision = 1") ==
              20);
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM fixing_days WHERE revision > 1") == 0);
    cr_expect(test_sql_int(connection, "SELECT count(DISTINCT version) FROM fixing_days") == 20 &&
              test_sql_int(connection, "SELECT max(version) FROM fixing_days") == 20);
}

/* How often a text stands in a file. */
static int count_in(const char *path, const char *text)
{
    char line[1024];
    int count = 0;
    FILE *file = fopen(path, "r");
    cr_assert(file != NULL);
    while (fgets(line, sizeof(line), file) != NULL)
        count += strstr(line, text) != NULL;
    fclose(file);
    return count;
}

/* Whether SQL that gives one integer gives `wanted` within ten seconds. */
static bool comes_to(const char *sql, int64_t wanted)
{
    for (int i = 0; i < 200; i++) {
        if (test_sql_int(connection, sql) == wanted)
            return true;
        usleep(50000);
    }
    return false;
}

#define SYNC_SESSIONS "pg_stat_activity WHERE application_name = 'replica'"

Test(fixing, a_node_that_cannot_write_says_so_once_and_publishes_when_it_can)
{
    const struct retention keep_all = {0};
    char log[] = "/tmp/rackrate-fixing-XXXXXX";
    struct buf reading = {0};
    int32_t closed = fixing_last_closed_day(timestamp_now_us());
    buf_printf(&reading, "%s%ctarget_session_attrs=any&application_name=replica", url,
               strchr(url, '?') == NULL ? '?' : '&');
    add_provider("a");
    import_at("a", day_start_us(closed) + HOUR_US, one_offer("2.5"));
    free(test_sql(connection, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET "
                              "default_transaction_read_only = on', current_database()); END $$"));
    struct node *replica = node_new(reading.data);
    int own = dup(STDERR_FILENO), file = mkstemp(log);
    dup2(file, STDERR_FILENO);
    cr_assert(node_start_sync(replica, 20, &keep_all));
    bool loaded = comes_to("SELECT count(*) FROM " SYNC_SESSIONS, 1);
    int64_t session = test_sql_int(connection, "SELECT pid FROM " SYNC_SESSIONS);
    usleep(500000);
    int64_t session_later = test_sql_int(connection, "SELECT pid FROM " SYNC_SESSIONS);
    int64_t published = test_sql_int(connection, "SELECT count(*) FROM fixing_days");
    int told = count_in(log, "the database is read-only"), lost = count_in(log, "lost");
    /* A session that begins when the database is writable again. */
    free(test_sql(connection, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET "
                              "default_transaction_read_only', current_database()); END $$"));
    free(test_sql(connection, "SELECT pg_terminate_backend(pid) FROM " SYNC_SESSIONS));
    bool publishes = comes_to("SELECT (count(*) > 0)::int FROM fixing_days", 1);
    node_stop_sync(replica);
    node_free(replica);
    dup2(own, STDERR_FILENO);
    close(own);
    close(file);
    unlink(log);
    buf_free(&reading);
    cr_expect(loaded && session == session_later, "the connection is kept");
    cr_expect(told == 1, "told %d times", told);
    cr_expect(lost == 0 && published == 0);
    cr_expect(publishes);
}

Test(fixing, a_restarted_node_and_another_know_the_same)
{
    add_provider("acme");
    import_at("acme", at("2026-07-01T12:00:00Z"), one_offer("2"));
    publish_until("2026-07-05T00:01:00Z");
    struct node *other = node_new(url);
    cr_assert(node_catch_up(other, connection));
    struct book *mine = node_fixings(node), *theirs = node_fixings(other);
    const struct book_rows *a, *b;
    a = book_rows(mine, gpu_find("h100-sxm"), COMMITMENT_ON_DEMAND, CONTINENT_NA, BOOK_DAY);
    b = book_rows(theirs, gpu_find("h100-sxm"), COMMITMENT_ON_DEMAND, CONTINENT_NA, BOOK_DAY);
    cr_assert(a != NULL && b != NULL);
    cr_expect_str_eq(a->text, b->text);
    cr_expect(book_version(mine) == 4 && book_version(theirs) == 4);
    book_release(mine);
    book_release(theirs);
    node_free(other);
}

/* ---- against SQL, on random days ---- */

#define PROVIDERS 9
#define DAYS      20

/* The state of one provider as the test keeps it. */
struct kept {
    char json[8000];
    int64_t confirmed_us;
};

static const char *const gpus[] = {"H100 SXM5", "H100 PCIe", "H100", "A100-SXM4-80GB", "L4"};
static const char *const slugs[] = {"h100-sxm", "h100-pcie", NULL, "a100-sxm-80gb", "l4"};
static const char *const regions[] = {"us-east", "se-stockholm", "ap-southeast", "nowhere at all"};
static const char *const continents[] = {"NA", "EU", "AS", ""};

/* A random inventory as JSON, and what of it counts as rows of index_input. */
static void random_inventory(struct random *random, const char *slug, char *json, size_t size,
                             struct buf *sql)
{
    size_t length = (size_t)snprintf(json, size, "{\"offers\":[");
    for (uint32_t i = 0, count = random_below(random, 5); i < count; i++) {
        uint32_t gpu = random_below(random, 5), region = random_below(random, 4);
        int on_demand = 100 + (int)random_below(random, 100),
            spot = 40 + (int)random_below(random, 100);
        int reserved = 60 + (int)random_below(random, 60),
            months = 1 + (int)random_below(random, 40);
        length += (size_t)snprintf(
            json + length, size - length,
            "%s{\"external_id\":\"o%u\",\"gpu\":\"%s\",\"gpu_count\":8,\"region\":\"%s\","
            "\"prices\":["
            "{\"billing\":\"on_demand\",\"price_per_gpu_hour\":%d.%02d},"
            "{\"billing\":\"spot\",\"price_per_gpu_hour\":%d.%02d},"
            "{\"billing\":\"reserved\",\"term_months\":%d,\"price_per_gpu_hour\":%d.%02d}]}",
            i > 0 ? "," : "", i, gpus[gpu], regions[region], on_demand / 100, on_demand % 100,
            spot / 100, spot % 100, months, reserved / 100, reserved % 100);
        if (slugs[gpu] == NULL)
            continue; /* form factor undisclosed */
        const struct {
            const char *billing;
            int term, cents;
        } prices[] = {
            {"on_demand", 0, on_demand}, {"spot", 0, spot}, {"reserved", months, reserved}};
        for (int p = 0; p < 3; p++) {
            if (p == 1 && spot >= on_demand)
                continue; /* suspicious */
            buf_printf(sql,
                       "INSERT INTO index_input VALUES ('%s','%s','%s',%d,'1-8','%s','o%u',%d);",
                       slug, slugs[gpu], prices[p].billing, prices[p].term, continents[region], i,
                       prices[p].cents * 10000);
        }
    }
    snprintf(json + length, size - length, "]}");
}

static void expect_day(struct kept *kept, struct buf *inputs, int32_t of)
{
    int64_t midnight_us = day_start_us(of + 1);
    free(test_sql(connection, "TRUNCATE index_input"));
    for (int p = 0; p < PROVIDERS; p++) {
        bool fresh =
            kept[p].confirmed_us > 0 && kept[p].confirmed_us + 168 * HOUR_US >= midnight_us;
        if (fresh && inputs[p].length > 0)
            free(test_sql(connection, inputs[p].data));
    }
    cr_expect(index_sql_differences(connection, of, false) == 0, "day %d", of);
    free(test_sql(connection, "DELETE FROM index_input WHERE continent = ''"));
    cr_expect(index_sql_differences(connection, of, true) == 0, "day %d by continent", of);
}

Test(fixing, random_days_are_what_sql_makes_of_them)
{
    static struct kept kept[PROVIDERS];
    static struct buf inputs[DAYS][PROVIDERS];
    static struct kept at_midnight[DAYS][PROVIDERS];
    struct random random = {20261201};
    int32_t first = day("2026-03-20");
    free(test_sql(connection, INDEX_SQL_TABLES INDEX_SQL_FUNCTIONS));
    for (int p = 0; p < PROVIDERS; p++) {
        char slug[16], sql[80];
        snprintf(slug, sizeof(slug), "p%d", p);
        snprintf(sql, sizeof(sql), "INSERT INTO index_provider VALUES ('%s', NULL)", slug);
        add_provider(slug);
        free(test_sql(connection, sql));
    }
    for (int d = 0; d < DAYS; d++) {
        for (int p = 0; p < PROVIDERS; p++) {
            struct buf sql = {0};
            char slug[16];
            snprintf(slug, sizeof(slug), "p%d", p);
            if (d > 0)
                buf_add(&inputs[d][p], inputs[d - 1][p].data == NULL ? "" : inputs[d - 1][p].data,
                        inputs[d - 1][p].length);
            /* Some stay away for long, so that what they offer turns stale. */
            if (!random_once_in(&random, p % 3 == 0 ? 9 : 2))
                continue;
            kept[p].confirmed_us =
                day_start_us(first + d) + random_below(&random, 86400) * INT64_C(1000000);
            random_inventory(&random, slug, kept[p].json, sizeof(kept[p].json), &sql);
            import_at(slug, kept[p].confirmed_us, kept[p].json);
            buf_free(&inputs[d][p]);
            inputs[d][p] = sql;
        }
        memcpy(at_midnight[d], kept, sizeof(kept));
    }
    publish_until("2026-04-09T00:01:00Z");
    cr_expect(test_sql_int(connection, "SELECT count(*) FROM fixings") > 300);
    for (int d = 0; d < DAYS; d++) {
        if (test_sql_int(connection, "SELECT count(*) FROM fixings") > 0)
            expect_day(at_midnight[d], inputs[d], first + d);
        for (int p = 0; p < PROVIDERS; p++)
            buf_free(&inputs[d][p]);
    }
}
