/* What was acknowledged is there, whatever is killed; what was not is there whole or not at all. */
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

TestSuite(e2e_durability, .timeout = 240);

#define OFFERS 2000

/* An inventory in which every offer has the same price, so that a half-applied one shows. */
static char *generation(int price)
{
    char *text = malloc(OFFERS * 160 + 64);
    int at = sprintf(text, "{\"offers\":[");
    for (int i = 0; i < OFFERS; i++)
        at += sprintf(text + at,
                      "%s{\"external_id\":\"o%d\",\"gpu\":\"L4\",\"gpu_count\":1,\"prices\":[{"
                      "\"billing\":\"on_demand\","
                      "\"price_per_gpu_hour\":%d}]}",
                      i == 0 ? "" : ",", i, price);
    sprintf(text + at, "]}");
    return text;
}

struct writing {
    struct test_server *server;
    char key[64];
    _Atomic bool stop;
    _Atomic int acknowledged; /* highest generation answered with 200 */
    _Atomic int tried;
};

static void *write_on(void *argument)
{
    struct writing *writing = argument;
    for (int price = 1; !writing->stop; price++) {
        char *body = generation(price);
        writing->tried = price;
        struct test_answer answer =
            test_request(writing->server->port, "PUT", "/v1/providers/acme/inventory", writing->key,
                         body, 10000);
        if (answer.status == 200)
            writing->acknowledged = price;
        test_answer_free(&answer);
        free(body);
    }
    return NULL;
}

/* All offers carry one price, at least the last acknowledged one. */
static void expect_whole(const struct writing *writing, const char *when)
{
    char target[120];
    struct test_answer cheapest =
        test_request(writing->server->port, "GET", "/v1/offers?provider=acme&limit=1&sort=price",
                     NULL, NULL, 5000);
    struct test_answer dearest =
        test_request(writing->server->port, "GET", "/v1/offers?provider=acme&limit=1&sort=-price",
                     NULL, NULL, 5000);
    long long low = test_json_number(cheapest.body, "price_per_gpu_hour");
    long long high = test_json_number(dearest.body, "price_per_gpu_hour");
    cr_expect(test_json_number(cheapest.body, "total") == OFFERS, "%s: %lld offers", when,
              test_json_number(cheapest.body, "total"));
    cr_expect(low == high, "%s: half an upload, generations %lld and %lld", when, low, high);
    cr_expect(low >= writing->acknowledged, "%s: %d was acknowledged, %lld is there", when,
              writing->acknowledged, low);
    snprintf(target, sizeof(target),
             "/v1/offers?provider=acme&min_price=%lld&max_price=%lld&limit=1", low, low);
    test_answer_free(&cheapest);
    test_answer_free(&dearest);
}

Test(e2e_durability, the_server_is_killed_amid_uploads)
{
    struct test_server server = {.database_url = test_database_new()};
    struct writing writing = {.server = &server};
    pthread_t thread;
    cr_assert(test_server_start(&server));
    cr_assert(test_server_provider(&server, "acme", writing.key));
    char *first = generation(1);
    struct test_answer answer =
        test_request(server.port, "PUT", "/v1/providers/acme/inventory", writing.key, first, 10000);
    cr_assert(answer.status == 200, "answered %d: %s", answer.status, answer.body);
    test_answer_free(&answer);
    free(first);
    pthread_create(&thread, NULL, write_on, &writing);
    for (int i = 0; i < 4; i++) {
        usleep(700000);
        test_server_kill(&server);
        cr_assert(test_server_start(&server), "it starts again after kill %d", i);
    }
    writing.stop = true;
    pthread_join(thread, NULL);
    expect_whole(&writing, "after four kills");
    cr_expect(writing.acknowledged > 0);
    cr_expect(test_server_stop(&server) == 0);
    test_database_drop();
}

/* The private cluster's postmaster: the server's only child. */
static pid_t postmaster_of(const struct test_server *server)
{
    char path[64];
    pid_t child = 0;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", server->pid, server->pid);
    FILE *file = fopen(path, "r");
    if (file != NULL && fscanf(file, "%d", &child) != 1)
        child = 0;
    if (file != NULL)
        fclose(file);
    return child;
}

static void signal_family(pid_t postmaster, int number)
{
    char command[120];
    snprintf(command, sizeof(command), "kill -%d %d $(ps -o pid= --ppid %d) 2>/dev/null", number,
             postmaster, postmaster);
    if (system(command) != 0)
        fprintf(stderr, "some processes were gone already\n");
}

Test(e2e_durability, the_database_stops_answering_and_comes_back)
{
    struct test_server server = {0};
    char key[64];
    test_state_dir_make(&server);
    cr_assert(test_server_start(&server));
    cr_assert(test_server_provider(&server, "acme", key));
    char *body = generation(1);
    struct test_answer answer =
        test_request(server.port, "PUT", "/v1/providers/acme/inventory", key, body, 10000);
    cr_assert(answer.status == 200);
    test_answer_free(&answer);
    pid_t postmaster = postmaster_of(&server);
    cr_assert(postmaster > 0);
    signal_family(postmaster, SIGSTOP);
    for (int i = 0; i < 20; i++) {
        char target[80];
        long long began = test_now_ms();
        snprintf(target, sizeof(target), "/v1/offers?provider=acme&max_price=%d", 2 + i);
        answer = test_request(server.port, "GET", target, NULL, NULL, 2000);
        cr_expect(answer.status == 200 && test_json_number(answer.body, "total") == OFFERS);
        cr_expect(test_now_ms() - began < 1000, "a search waited for the database");
        test_answer_free(&answer);
        usleep(100000);
    }
    answer = test_request(server.port, "PUT", "/v1/providers/acme/inventory", key, body, 40000);
    cr_expect(answer.status == 503 && strstr(answer.head, "Retry-After") != NULL,
              "a write while away: %d", answer.status);
    test_answer_free(&answer);
    signal_family(postmaster, SIGCONT);
    int status = 0;
    for (long long until = test_now_ms() + 20000; status != 200 && test_now_ms() < until;
         usleep(200000)) {
        answer = test_request(server.port, "PUT", "/v1/providers/acme/inventory", key, body, 20000);
        status = answer.status;
        test_answer_free(&answer);
    }
    cr_expect(status == 200, "it recovers: %d", status);
    free(body);
    cr_expect(test_server_stop(&server) == 0);
    test_state_dir_remove(&server);
}

Test(e2e_durability, kill_9_of_all_and_a_restart_keep_the_data)
{
    struct test_server server = {0};
    char key[64];
    test_state_dir_make(&server);
    cr_assert(test_server_start(&server));
    cr_assert(test_server_provider(&server, "acme", key));
    char *body = generation(7);
    struct test_answer answer =
        test_request(server.port, "PUT", "/v1/providers/acme/inventory", key, body, 10000);
    cr_assert(answer.status == 200);
    test_answer_free(&answer);
    free(body);
    pid_t postmaster = postmaster_of(&server);
    kill(server.pid, SIGKILL);
    kill(postmaster, SIGKILL);
    waitpid(server.pid, NULL, 0);
    cr_assert(test_server_start(&server), "it recovers from kill -9 of server and database");
    answer = test_request(server.port, "GET", "/v1/offers?provider=acme&limit=1", NULL, NULL, 5000);
    cr_expect(test_json_number(answer.body, "total") == OFFERS);
    test_answer_free(&answer);
    cr_expect(test_server_stop(&server) == 0);
    cr_assert(test_server_start(&server), "and from a stop");
    answer = test_request(server.port, "GET", "/v1/offers?provider=acme&limit=1", NULL, NULL, 5000);
    cr_expect(test_json_number(answer.body, "total") == OFFERS);
    test_answer_free(&answer);
    cr_expect(test_server_stop(&server) == 0);
    test_state_dir_remove(&server);
}

Test(e2e_durability, the_database_dies_and_the_server_says_so)
{
    struct test_server server = {0};
    int status = 0;
    test_state_dir_make(&server);
    cr_assert(test_server_start(&server));
    kill(postmaster_of(&server), SIGKILL);
    cr_assert(waitpid(server.pid, &status, 0) == server.pid);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 1, "it ends with 1");
    test_state_dir_remove(&server);
}
