/* Several servers on one PostgreSQL: they converge within a second, paging holds while writers
 * write, and a stop under load is graceful. */
#include "tests/support/test_database.h"
#include "tests/support/test_server.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(e2e_cluster, .timeout = 240);

static _Atomic bool stop;

struct writer {
    int port;
    char key[64];
    int number;
    _Atomic int writes;
    _Atomic int failures;
};

/* Keeps changing offers named w<number>-…, never those named stay-…. */
static void *write_on(void *argument)
{
    struct writer *writer = argument;
    char body[600];
    for (int i = 0; !stop; i++) {
        snprintf(body, sizeof(body),
                 "{\"offers\":[{\"external_id\":\"w%d-%d\",\"gpu\":\"L4\",\"gpu_count\":1,"
                 "\"prices\":[{\"billing\":\"on_"
                 "demand\",\"price_per_gpu_hour\":%d.%02d}]}]}",
                 writer->number, i % 50, 1 + i % 9, i % 100);
        struct test_answer answer = test_request(writer->port, "POST", "/v1/providers/acme/offers",
                                                 writer->key, body, 20000);
        if (answer.status == 200)
            writer->writes++;
        else
            writer->failures++;
        test_answer_free(&answer);
    }
    return NULL;
}

static char *inventory(int count)
{
    char *text = malloc((size_t)count * 180 + 64);
    int at = sprintf(text, "{\"offers\":[");
    for (int i = 0; i < count; i++)
        at += sprintf(text + at,
                      "%s{\"external_id\":\"stay-%d\",\"gpu\":\"H100 "
                      "SXM\",\"gpu_count\":8,\"prices\":[{\"billing\":\"on_"
                      "demand\",\"price_per_gpu_hour\":%d.%02d}]}",
                      i == 0 ? "" : ",", i, 2 + i % 5, i % 100);
    sprintf(text + at, "]}");
    return text;
}

Test(e2e_cluster, two_servers_converge_with_writers_on_both)
{
    const char *url = test_database_new();
    struct test_server servers[2] = {{.database_url = url}, {.database_url = url}};
    struct writer writers[4] = {0};
    pthread_t threads[4];
    stop = false;
    cr_assert(test_server_start(&servers[0]) && test_server_start(&servers[1]));
    for (int i = 0; i < 4; i++) {
        writers[i].port = servers[i % 2].port;
        writers[i].number = i;
    }
    cr_assert(test_server_provider(&servers[0], "acme", writers[0].key));
    for (int i = 1; i < 4; i++)
        strcpy(writers[i].key, writers[0].key);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, write_on, &writers[i]);
    sleep(4);
    /* While writers write, what one server acknowledged is on the other within a second. */
    for (int i = 0; i < 5; i++) {
        char body[300], target[100];
        snprintf(body, sizeof(body),
                 "{\"offers\":[{\"external_id\":\"probe-%d\",\"gpu\":\"L4\",\"gpu_count\":1,"
                 "\"prices\":[{\"billing\":"
                 "\"spot\",\"price_per_gpu_hour\":0.5}]}]}",
                 i);
        struct test_answer answer = test_request(
            servers[0].port, "POST", "/v1/providers/acme/offers", writers[0].key, body, 20000);
        cr_expect(answer.status == 200);
        test_answer_free(&answer);
        long long began = test_now_ms();
        int status = 0;
        snprintf(target, sizeof(target), "/v1/providers/acme/offers/probe-%d", i);
        answer = test_request(servers[0].port, "GET", target, NULL, NULL, 5000);
        cr_expect(answer.status == 200, "the next read on the same node shows it");
        test_answer_free(&answer);
        while (status != 200 && test_now_ms() - began < 5000) {
            answer = test_request(servers[1].port, "GET", target, NULL, NULL, 5000);
            status = answer.status;
            test_answer_free(&answer);
            usleep(20000);
        }
        cr_expect(status == 200 && test_now_ms() - began < 1500, "seen after %lld ms",
                  test_now_ms() - began);
    }
    stop = true;
    int writes = 0, failures = 0;
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        writes += writers[i].writes;
        failures += writers[i].failures;
    }
    cr_expect(writes > 20 && failures == 0, "%d writes, %d failures", writes, failures);
    sleep(1);
    struct test_answer left =
        test_request(servers[0].port, "GET", "/v1/offers?limit=500", NULL, NULL, 5000);
    struct test_answer right =
        test_request(servers[1].port, "GET", "/v1/offers?limit=500", NULL, NULL, 5000);
    cr_expect(strcmp(left.body, right.body) == 0, "both answer the same bytes");
    const char *left_tag = strstr(left.head, "ETag"), *right_tag = strstr(right.head, "ETag");
    cr_expect(left_tag != NULL && right_tag != NULL && strncmp(left_tag, right_tag, 30) == 0,
              "and the same tag");
    test_answer_free(&left);
    test_answer_free(&right);
    cr_expect(test_server_stop(&servers[0]) == 0 && test_server_stop(&servers[1]) == 0);
    test_database_drop();
}

Test(e2e_cluster, paging_gives_each_offer_once_while_writers_write)
{
    struct test_server server = {.database_url = test_database_new()};
    struct writer writer = {.number = 0};
    pthread_t thread;
    enum { COUNT = 700 };
    stop = false;
    cr_assert(test_server_start(&server));
    cr_assert(test_server_provider(&server, "acme", writer.key));
    writer.port = server.port;
    char *body = inventory(COUNT);
    struct test_answer answer =
        test_request(server.port, "PUT", "/v1/providers/acme/inventory", writer.key, body, 20000);
    cr_assert(answer.status == 200);
    test_answer_free(&answer);
    free(body);
    pthread_create(&thread, NULL, write_on, &writer);
    for (int round = 0; round < 30 || (writer.writes < 20 && round < 300); round++) {
        int seen[COUNT] = {0}, pages = 0;
        char cursor[260] = "";
        do {
            char target[400];
            snprintf(target, sizeof(target), "/v1/offers?limit=23%s%s",
                     *cursor == '\0' ? "" : "&cursor=", cursor);
            answer = test_request(server.port, "GET", target, NULL, NULL, 5000);
            cr_assert(answer.status == 200, "page %d answered %d", pages, answer.status);
            for (const char *at = answer.body; (at = strstr(at, "\"external_id\":\"stay-")) != NULL;
                 at += 20)
                seen[atoi(at + 20)]++;
            const char *next = strstr(answer.body, "\"next_cursor\":\"");
            cursor[0] = '\0';
            if (next != NULL)
                snprintf(cursor, sizeof(cursor), "%.*s", (int)strcspn(next + 15, "\""), next + 15);
            test_answer_free(&answer);
            pages++;
        } while (*cursor != '\0' && pages < 200);
        for (int i = 0; i < COUNT; i++)
            cr_expect(seen[i] == 1, "round %d: stay-%d came %d times", round, i, seen[i]);
    }
    stop = true;
    pthread_join(thread, NULL);
    cr_expect(writer.writes > 10);
    cr_expect(test_server_stop(&server) == 0);
    test_database_drop();
}

Test(e2e_cluster, a_stop_under_load_answers_what_is_in_flight)
{
    struct test_server server = {.database_url = test_database_new()};
    struct writer writers[8] = {0};
    pthread_t threads[8];
    stop = false;
    cr_assert(test_server_start(&server));
    cr_assert(test_server_provider(&server, "acme", writers[0].key));
    for (int i = 0; i < 8; i++) {
        writers[i].port = server.port;
        writers[i].number = i;
        if (i > 0)
            strcpy(writers[i].key, writers[0].key);
        pthread_create(&threads[i], NULL, write_on, &writers[i]);
    }
    sleep(1);
    cr_expect(test_server_stop(&server) == 0, "SIGTERM under load ends with 0, not by a signal");
    stop = true;
    int writes = 0;
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        writes += writers[i].writes;
    }
    cr_expect(writes > 8);
    test_database_drop();
}

Test(e2e_cluster, a_revoked_key_dies_on_every_node_within_a_second)
{
    const char *url = test_database_new();
    struct test_server servers[2] = {{.database_url = url}, {.database_url = url}};
    char key[64];
    cr_assert(test_server_start(&servers[0]) && test_server_start(&servers[1]));
    cr_assert(test_server_provider(&servers[0], "acme", key));
    for (int i = 0; i < 2; i++) {
        struct test_answer answer =
            test_request(servers[i].port, "GET", "/v1/providers/acme/inventory", key, NULL, 5000);
        cr_expect(answer.status == 200, "a key unknown in memory is looked up: %d", answer.status);
        test_answer_free(&answer);
    }
    char *revoked = test_cli(&servers[0], "key revoke 1");
    cr_assert(revoked != NULL);
    free(revoked);
    usleep(1000000);
    for (int i = 0; i < 2; i++) {
        struct test_answer answer =
            test_request(servers[i].port, "GET", "/v1/providers/acme/inventory", key, NULL, 5000);
        cr_expect(answer.status == 401, "node %d answers %d", i, answer.status);
        test_answer_free(&answer);
    }
    cr_expect(test_server_stop(&servers[0]) == 0 && test_server_stop(&servers[1]) == 0);
    test_database_drop();
}

/* Each uploads offers of one unknown GPU name to a provider of its own until told to stop. */
static void *write_unknown(void *argument)
{
    struct writer *writer = argument;
    char target[100], body[300];
    snprintf(target, sizeof(target), "/v1/providers/unknown-%d/offers", writer->number);
    for (int i = 0; !stop; i++) {
        snprintf(body, sizeof(body),
                 "{\"offers\":[{\"external_id\":\"u-%d\",\"gpu\":\"Bulldog Q9\",\"gpu_count\":1,"
                 "\"prices\":[{\"billing\":\"spot\",\"price_per_gpu_hour\":1}]}]}",
                 i);
        struct test_answer answer =
            test_request(writer->port, "POST", target, writer->key, body, 20000);
        writer->writes += answer.status == 200;
        writer->failures += answer.status != 200;
        test_answer_free(&answer);
    }
    return NULL;
}

Test(e2e_cluster, a_name_given_while_writers_write_misses_no_offer)
{
    const char *url = test_database_new();
    struct test_server servers[2] = {{.database_url = url}, {.database_url = url}};
    struct writer writers[4] = {0};
    pthread_t threads[4];
    stop = false;
    cr_assert(test_server_start(&servers[0]) && test_server_start(&servers[1]));
    for (int i = 0; i < 4; i++) {
        char slug[40];
        snprintf(slug, sizeof(slug), "unknown-%d", i);
        writers[i].port = servers[i % 2].port;
        writers[i].number = i;
        cr_assert(test_server_provider(&servers[0], slug, writers[i].key));
    }
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, write_unknown, &writers[i]);
    usleep(300000);
    char *said = test_cli(&servers[0], "alias set gpu 'Bulldog Q9' h100-sxm --json");
    cr_assert_not_null(said);
    cr_expect(test_json_number(said, "offers") > 0 && test_json_number(said, "providers") == 4,
              "%s", said);
    usleep(300000);
    stop = true;
    int writes = 0, failures = 0;
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        writes += writers[i].writes;
        failures += writers[i].failures;
    }
    cr_expect(writes > 20 && failures == 0, "%d writes, %d failures", writes, failures);
    char *left = test_cli(&servers[0], "alias unknown --json");
    cr_assert_not_null(left);
    cr_expect(strncmp(left, "[]", 2) == 0, "%s", left);
    sleep(1);
    for (int i = 0; i < 2; i++) {
        struct test_answer answer =
            test_request(servers[i].port, "GET", "/v1/offers?gpu=unrecognized&include_stale=1",
                         NULL, NULL, 5000);
        cr_expect(test_json_number(answer.body, "total") == 0, "server %d: %.200s", i, answer.body);
        test_answer_free(&answer);
    }
    free(said);
    free(left);
    cr_expect(test_server_stop(&servers[0]) == 0 && test_server_stop(&servers[1]) == 0);
    test_database_drop();
}
