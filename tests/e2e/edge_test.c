/* The bare server against hostile and slow clients, over real sockets. */
#include "tests/support/test_database.h"
#include "tests/support/test_server.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *const environment[] = {
    "RACKRATE_HEADER_TIMEOUT_MS=1500", "RACKRATE_BODY_TIMEOUT_MS=1500",
    "RACKRATE_IDLE_TIMEOUT_MS=3000", "RACKRATE_CONNECTION_LIMIT=64", NULL};
static struct test_server server;

static void set_up(void)
{
    server = (struct test_server){.database_url = test_database_new(), .extra_env = environment};
    cr_assert(test_server_start(&server), "the server starts");
}

static void tear_down(void)
{
    cr_expect(test_server_stop(&server) == 0, "it stops cleanly");
    test_database_drop();
}

TestSuite(e2e_edge, .timeout = 120, .init = set_up, .fini = tear_down);

#define HOST "Host: a\r\n"
#define NEXT "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"

Test(e2e_edge, framing_tricks_are_refused_and_the_connection_closed)
{
    static const struct {
        const char *name, *bytes;
    } cases[] = {
        {"length and chunks",
         "POST /v1/offers HTTP/1.1\r\n" HOST
         "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" NEXT},
        {"two lengths", "POST /v1/offers HTTP/1.1\r\n" HOST
                        "Content-Length: 0\r\nContent-Length: 40\r\n\r\n" NEXT},
        {"two hosts", "GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"},
        {"no host", "GET /livez HTTP/1.1\r\n\r\n"},
        {"another coding",
         "POST /v1/offers HTTP/1.1\r\n" HOST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"},
        {"two codings",
         "POST /v1/offers HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"},
        {"chunks in 1.0",
         "POST /v1/offers HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        {"space before colon", "GET /livez HTTP/1.1\r\nHost : a\r\n\r\n"},
        {"signed length", "POST /v1/offers HTTP/1.1\r\n" HOST "Content-Length: +3\r\n\r\nabc"},
        {"length list", "POST /v1/offers HTTP/1.1\r\n" HOST "Content-Length: 3, 3\r\n\r\nabc"},
        {"absolute target", "GET http://evil/livez HTTP/1.1\r\n" HOST "\r\n"},
        {"unknown method", "BREW /livez HTTP/1.1\r\n" HOST "\r\n"},
        {"control byte", "GET /livez HTTP/1.1\r\n" HOST "X-A: a\x01 b\r\n\r\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct test_answer answer =
            test_raw(server.port, cases[i].bytes, strlen(cases[i].bytes), 5000);
        cr_expect(answer.status >= 400 || answer.status == 0, "%s: answered %d", cases[i].name,
                  answer.status);
        cr_expect(strstr(answer.body, "HTTP/1.1 200") == NULL, "%s: a second request was served",
                  cases[i].name);
        cr_expect(answer.closed, "%s: the connection stays open", cases[i].name);
        test_answer_free(&answer);
    }
}

Test(e2e_edge, long_targets_and_heads_are_refused)
{
    char *bytes = malloc(60000);
    int at = sprintf(bytes, "GET /v1/offers?q=");
    memset(bytes + at, 'x', 5000);
    strcpy(bytes + at + 5000, " HTTP/1.1\r\n" HOST "\r\n");
    struct test_answer answer = test_raw(server.port, bytes, strlen(bytes), 5000);
    cr_expect(answer.status == 414, "answered %d", answer.status);
    test_answer_free(&answer);
    at = sprintf(bytes, "GET /livez HTTP/1.1\r\n" HOST "X-Long: ");
    memset(bytes + at, 'x', 20000);
    strcpy(bytes + at + 20000, "\r\n\r\n");
    answer = test_raw(server.port, bytes, strlen(bytes), 5000);
    cr_expect(answer.status == 431, "answered %d", answer.status);
    test_answer_free(&answer);
    free(bytes);
}

Test(e2e_edge, a_head_of_a_byte_a_second_is_cut_off)
{
    int fd = test_connect_port(server.port);
    const char *head = "GET /livez HTTP/1.1\r\nHost: a\r\nX-Slow: yes and very slow indeed\r\n\r\n";
    long long began = test_now_ms();
    bool cut = false;
    for (size_t i = 0; i < strlen(head) && !cut && test_now_ms() - began < 20000; i++) {
        char byte;
        if (send(fd, head + i, 1, MSG_NOSIGNAL) <= 0)
            cut = true;
        usleep(300000);
        ssize_t got = recv(fd, &byte, 1, MSG_DONTWAIT);
        cut = cut || got == 0;
    }
    cr_expect(cut && test_now_ms() - began < 5000, "cut off after %lld ms", test_now_ms() - began);
    close(fd);
}

Test(e2e_edge, a_body_that_stops_is_cut_off_and_others_are_served)
{
    char key[64];
    cr_assert(test_server_provider(&server, "acme", key));
    char head[300];
    snprintf(head, sizeof(head),
             "PUT /v1/providers/acme/inventory HTTP/1.1\r\n" HOST
             "Authorization: Bearer %s\r\nContent-Length: "
             "1000\r\n\r\n{\"offers\":",
             key);
    int fds[20];
    for (int i = 0; i < 20; i++) {
        fds[i] = test_connect_port(server.port);
        cr_assert(send(fds[i], head, strlen(head), MSG_NOSIGNAL) > 0);
    }
    struct test_answer answer = test_request(server.port, "GET", "/v1/offers", NULL, NULL, 3000);
    cr_expect(answer.status == 200, "others are served: %d", answer.status);
    test_answer_free(&answer);
    sleep(4);
    for (int i = 0; i < 20; i++) {
        char bytes[2000];
        ssize_t got;
        while ((got = recv(fds[i], bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
            ;
        cr_expect(got == 0, "connection %d was shut", i);
        close(fds[i]);
    }
}

Test(e2e_edge, health_answers_beside_a_full_public_port)
{
    int fds[80];
    for (int i = 0; i < 80; i++)
        fds[i] = test_connect_port(server.port);
    struct test_answer answer = test_request(server.ops_port, "GET", "/livez", NULL, NULL, 3000);
    cr_expect(answer.status == 200, "answered %d", answer.status);
    test_answer_free(&answer);
    answer = test_request(server.ops_port, "GET", "/v1/offers", NULL, NULL, 3000);
    cr_expect(answer.status == 404, "only health and metrics are there: %d", answer.status);
    test_answer_free(&answer);
    for (int i = 0; i < 80; i++)
        close(fds[i]);
}

Test(e2e_edge, connections_are_kept_and_reused)
{
    const char *twice = "GET /livez HTTP/1.1\r\n" HOST "\r\nGET /v1/offers HTTP/1.1\r\n" HOST
                        "Connection: close\r\n\r\n";
    struct test_answer answer = test_raw(server.port, twice, strlen(twice), 5000);
    cr_expect(answer.status == 200 && strstr(answer.body, "HTTP/1.1 200") != NULL,
              "both are answered in order");
    test_answer_free(&answer);
}

Test(e2e_edge, a_port_is_one_servers)
{
    char arguments[100];
    snprintf(arguments, sizeof(arguments), "serve --listen 127.0.0.1:%d --ops-listen off",
             server.port);
    char *second = test_cli(&server, arguments);
    cr_expect_null(second, "a second server on the port says no and ends");
    free(second);
}
