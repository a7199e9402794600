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
#include <sys/socket.h>
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

static bool wait_for_write(const struct test_server *server, const char *key, int timeout_ms)
{
    static const char body[] =
        "{\"offers\":[{\"external_id\":\"late\",\"gpu\":\"L4\",\"gpu_count\":1,"
        "\"prices\":[{\"billing\":\"spot\",\"price_per_gpu_hour\":1}]}]}";
    for (long long until = test_now_ms() + timeout_ms; test_now_ms() < until; usleep(50000)) {
        struct test_answer answer =
            test_request(server->port, "POST", "/v1/providers/acme/offers", key, body, 10000);
        int status = answer.status;
        test_answer_free(&answer);
        if (status == 200)
            return true;
        cr_assert(status == 503, "a write meanwhile is 503, not %d", status);
    }
    return false;
}

Test(e2e_durability, a_private_database_that_dies_is_started_again)
{
    struct test_server server = {0};
    char key[64];
    test_state_dir_make(&server);
    cr_assert(test_server_start(&server) && test_server_provider(&server, "acme", key));
    cr_assert(wait_for_write(&server, key, 5000));
    for (int i = 0; i < 2; i++) {
        pid_t dead = postmaster_of(&server);
        kill(dead, SIGKILL);
        struct test_answer answer =
            test_request(server.port, "GET", "/v1/offers?provider=acme", NULL, NULL, 5000);
        cr_expect(answer.status == 200 && test_json_number(answer.body, "total") == 1,
                  "searches go on");
        test_answer_free(&answer);
        /* Wait until it is seen to be away, so that the write is of the new one. */
        while (postmaster_of(&server) == dead)
            usleep(20000);
        cr_expect(wait_for_write(&server, key, 20000), "and writes come back by themselves");
    }
    cr_expect(test_server_stop(&server) == 0);
    test_state_dir_remove(&server);
}

Test(e2e_durability, a_start_right_behind_a_kill_comes_up)
{
    struct test_server server = {0};
    test_state_dir_make(&server);
    for (int i = 0; i < 8; i++) {
        cr_assert(test_server_start(&server), "start %d", i);
        kill(server.pid, SIGKILL); /* the next start does not wait until it is gone */
        pid_t killed = server.pid;
        if (i == 7) {
            cr_assert(test_server_start(&server));
            cr_expect(test_server_stop(&server) == 0);
        }
        waitpid(killed, NULL, WNOHANG);
    }
    test_state_dir_remove(&server);
}

/* SIGTERM while bodies are a byte short; they are completed as the server stops. */
Test(e2e_durability, bodies_completed_while_it_stops_are_answered_or_closed)
{
    enum { CLIENTS = 120 };
    static const char *const env[] = {"RACKRATE_DRAIN_TIMEOUT_MS=300", NULL};
    struct test_server server = {.extra_env = env};
    char key[64], head[300];
    int sockets[CLIENTS];
    static const char body[] = "{\"offers\":[]}";
    test_state_dir_make(&server);
    cr_assert(test_server_start(&server) && test_server_provider(&server, "acme", key));
    int length =
        snprintf(head, sizeof(head),
                 "POST /v1/providers/acme/offers HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer "
                 "%s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                 key, sizeof(body) - 1);
    for (int i = 0; i < CLIENTS; i++) {
        sockets[i] = test_connect_port(server.port);
        cr_assert(sockets[i] >= 0 && send(sockets[i], head, (size_t)length, 0) == length &&
                  send(sockets[i], body, sizeof(body) - 2, 0) == (ssize_t)sizeof(body) - 2);
    }
    usleep(100000);
    kill(server.pid, SIGTERM);
    usleep(200000);
    for (int i = 0; i < CLIENTS; i++) {
        (void)send(sockets[i], body + sizeof(body) - 2, 1, MSG_NOSIGNAL);
        usleep(1500);
    }
    cr_expect(test_server_stop(&server) == 0, "it ends by itself, not by a signal");
    for (int i = 0; i < CLIENTS; i++)
        close(sockets[i]);
    test_state_dir_remove(&server);
}
