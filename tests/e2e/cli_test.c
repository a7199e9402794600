/* The command line beside a running server and without one: providers, keys, imports of real
 * catalogues, exports. */
#include "tests/support/test_database.h"
#include "tests/support/test_server.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct test_server server;

static void set_up(void)
{
    server = (struct test_server){.database_url = test_database_new()};
}

static void tear_down(void)
{
    test_database_drop();
}

TestSuite(e2e_cli, .timeout = 120, .init = set_up, .fini = tear_down);

/* The output of a command that must succeed; freed by the caller. */
static char *run(const char *arguments)
{
    char *out = test_cli(&server, arguments);
    cr_assert(out != NULL, "rackrate %s failed", arguments);
    return out;
}

static void expect_refused(const char *arguments)
{
    char *out = test_cli(&server, arguments);
    cr_expect(out == NULL, "rackrate %s should fail", arguments);
    free(out);
}

static const char *data_file(const char *name)
{
    static char path[400];
    const char *root = getenv("RACKRATE_TEST_DATA");
    snprintf(path, sizeof(path), "%s/%s", root == NULL ? "../shared/data" : root, name);
    return access(path, R_OK) == 0 ? path : NULL;
}

Test(e2e_cli, providers_and_keys)
{
    free(run("provider add acme --name Acme --kind marketplace"));
    expect_refused("provider add acme --name Again");
    expect_refused("provider add Bad_Slug --name X");
    expect_refused("provider add nokind --name X --kind bank");
    expect_refused("provider");
    expect_refused("key create nobody");
    expect_refused("key revoke 99");
    expect_refused("nonsense");
    free(run("provider rename acme --name 'Acme Cloud'"));
    char *list = run("provider list --json");
    cr_expect(strstr(list, "\"name\":\"Acme Cloud\"") != NULL &&
              strstr(list, "\"kind\":\"marketplace\"") != NULL);
    free(list);
    char *key = run("key create acme --json");
    cr_expect(strstr(key, "\"key\":\"rr_") != NULL && test_json_number(key, "id") > 0);
    free(key);
    char *keys = run("key list --json");
    cr_expect(strstr(keys, "\"prefix\":\"rr_") != NULL &&
              strlen(strstr(keys, "\"prefix\":\"rr_")) > 10);
    cr_expect(strstr(keys, "\"key\"") == NULL, "keys are shown once");
    free(keys);
    free(run("provider suspend acme"));
    free(run("version"));
    free(run("config"));
    free(run("migrate"));
    free(run("doctor"));
}

Test(e2e_cli, the_azure_catalogue_goes_in_and_the_second_time_nothing_changes)
{
    char arguments[600];
    const char *path = data_file("catalogues/skypilot/azure-vms.csv");
    if (path == NULL)
        cr_skip_test("RACKRATE_TEST_DATA has no Azure catalogue");
    free(run("provider add azure --name Azure --kind hyperscaler"));
    cr_assert(test_server_start(&server));
    snprintf(arguments, sizeof(arguments), "import skypilot --provider azure --json '%s'", path);
    char *first = run(arguments), *second = run(arguments);
    cr_expect(test_json_number(first, "created") == 829 &&
              test_json_number(first, "skipped") == 55842 &&
              test_json_number(first, "rejected") == 0);
    cr_expect(
        test_json_number(second, "created") == 0 && test_json_number(second, "updated") == 0 &&
        test_json_number(second, "removed") == 0 && test_json_number(second, "unchanged") == 829);
    free(first);
    free(second);
    usleep(1200000);
    struct test_answer answer = test_request(
        server.port, "GET", "/v1/offers?provider=azure&include_stale=1&limit=1", NULL, NULL, 5000);
    cr_expect(test_json_number(answer.body, "total") == 829, "the server follows: %lld",
              test_json_number(answer.body, "total"));
    test_answer_free(&answer);
    cr_expect(test_server_stop(&server) == 0);
}

Test(e2e_cli, a_snapshot_of_many_providers_goes_in_out_and_in_again)
{
    char arguments[600], path[] = "/tmp/rackrate-export-XXXXXX",
                         again[] = "/tmp/rackrate-export-XXXXXX";
    const char *snapshot = data_file("catalogues/gpurentalprices/snapshots/2026-08-22.json");
    if (snapshot == NULL)
        cr_skip_test("RACKRATE_TEST_DATA has no snapshots");
    snprintf(arguments, sizeof(arguments), "import gpurentalprices --as-of 2026-08-22 --json '%s'",
             snapshot);
    char *first = run(arguments), *second = run(arguments);
    cr_expect(test_json_number(first, "created") == test_json_number(second, "unchanged") &&
              test_json_number(first, "created") > 200);
    free(first);
    free(second);
    close(mkstemp(path));
    close(mkstemp(again));
    snprintf(arguments, sizeof(arguments), "export ndjson --output %s", path);
    free(run(arguments));
    snprintf(arguments, sizeof(arguments), "import rackrate --json %s", path);
    second = run(arguments);
    cr_expect(test_json_number(second, "created") == 0 &&
                  test_json_number(second, "updated") == 0 &&
                  test_json_number(second, "removed") == 0,
              "what was exported is what is there: %.200s", second);
    free(second);
    snprintf(arguments, sizeof(arguments), "export ndjson --output %s", again);
    free(run(arguments));
    snprintf(arguments, sizeof(arguments), "cmp -s %s %s", path, again);
    cr_expect(system(arguments) == 0, "both exports are the same bytes");
    unlink(path);
    unlink(again);
}

Test(e2e_cli, broken_files_change_nothing)
{
    char path[] = "/tmp/rackrate-broken-XXXXXX", arguments[200];
    int fd = mkstemp(path);
    cr_assert(write(fd, "{\"offers\":[{\"external_id\":", 26) == 26);
    close(fd);
    free(run("provider add acme --name Acme"));
    snprintf(arguments, sizeof(arguments), "import rackrate --provider acme %s", path);
    expect_refused(arguments);
    snprintf(arguments, sizeof(arguments), "import skypilot --provider acme %s", path);
    expect_refused(arguments);
    expect_refused("import skypilot --provider acme /nowhere");
    expect_refused("import rackrate --provider nobody /dev/null");
    snprintf(arguments, sizeof(arguments), "import skypilot %s", path);
    expect_refused(arguments);
    unlink(path);
}

Test(e2e_cli, the_sample_is_labelled_and_can_be_taken_out)
{
    static const char *const with_sample[] = {"RACKRATE_SAMPLE=1", NULL};
    server.extra_env = with_sample;
    cr_assert(test_server_start(&server));
    struct test_answer answer =
        test_request(server.port, "GET", "/v1/offers?limit=500", NULL, NULL, 5000);
    long long total = test_json_number(answer.body, "total");
    size_t samples = 0, dates = 0;
    for (const char *at = answer.body; (at = strstr(at, "\"source\":{\"kind\":\"sample\"")) != NULL;
         at++) {
        samples++;
        const char *seen = strstr(at, "\"observed_at\":\"20");
        dates += seen != NULL && seen - at < 120 && seen[16] <= '2' &&
                 strncmp(seen + 15, "2026", 4) != 0;
    }
    cr_expect(total >= 24 && (long long)samples == total && (long long)dates == total,
              "%lld offers, %zu samples, %zu with the date they were true", total, samples, dates);
    cr_expect(strstr(answer.body, "\"unrecognized\"") == NULL &&
              strstr(answer.body, "\"flags\":[\"") == NULL);
    cr_expect(strstr(answer.body, "\"stale\":true") == NULL, "samples never turn stale");
    test_answer_free(&answer);
    cr_expect(test_server_stop(&server) == 0);
    cr_assert(test_server_start(&server), "a second start loads nothing twice");
    answer = test_request(server.port, "GET", "/v1/offers?limit=1", NULL, NULL, 5000);
    cr_expect(test_json_number(answer.body, "total") == total);
    test_answer_free(&answer);
    cr_expect(test_server_stop(&server) == 0);
    server.extra_env = NULL; /* RACKRATE_SAMPLE=0 */
    cr_assert(test_server_start(&server));
    answer = test_request(server.port, "GET", "/v1/offers?limit=1", NULL, NULL, 5000);
    cr_expect(test_json_number(answer.body, "total") == 0, "RACKRATE_SAMPLE=0 removes it");
    test_answer_free(&answer);
    cr_expect(test_server_stop(&server) == 0);
}
