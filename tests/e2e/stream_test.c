/* Whole results streamed over real sockets: complete and of one moment while writers write, cut for
 * those who don't read, forgotten for those who go away, bounded in number. */
#include "tests/support/test_database.h"
#include "tests/support/test_server.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define OFFERS         6000
#define STREAM_LIMIT   6
#define STREAM_TIMEOUT 4000

static const char *const environment[] = {"RACKRATE_STREAM_LIMIT=6",
                                          "RACKRATE_STREAM_TIMEOUT_MS=4000",
                                          "RACKRATE_DRAIN_TIMEOUT_MS=1000", NULL};
static struct test_server server;
static char steady_key[64], busy_key[64];

/* An inventory of so many offers; their prices start at `price` thousandths. */
static char *inventory(size_t offers, int price)
{
    size_t size = offers * 400 + 100, at = 0;
    char *text = malloc(size);
    at += (size_t)snprintf(text, size, "{\"offers\":[");
    for (size_t i = 0; i < offers; i++)
        at += (size_t)snprintf(
            text + at, size - at,
            "%s{\"external_id\":\"node-%zu\",\"gpu\":\"%s\",\"gpu_count\":8,\"region\":\"us-east\","
            "\"zone\":\"a zone with a rather long name, so that a row has some weight: %zu\","
            "\"prices\":[{\"billing\":\"on_demand\",\"price_per_gpu_hour\":%zu.%03d}]}",
            i > 0 ? "," : "", i, i % 3 == 0 ? "H100 SXM5" : "L40S", i, 1 + i % 50, price % 1000);
    snprintf(text + at, size - at, "]}");
    return text;
}

static bool put(const char *slug, const char *key, size_t offers, int price)
{
    char target[100], *body = inventory(offers, price);
    snprintf(target, sizeof(target), "/v1/providers/%s/inventory", slug);
    struct test_answer answer = test_request(server.port, "PUT", target, key, body, 30000);
    bool good = answer.status == 200;
    test_answer_free(&answer);
    free(body);
    return good;
}

static void set_up(void)
{
    server = (struct test_server){.database_url = test_database_new(), .extra_env = environment};
    cr_assert(test_server_start(&server), "the server starts");
    cr_assert(test_server_provider(&server, "steady", steady_key));
    cr_assert(test_server_provider(&server, "busy", busy_key));
    cr_assert(put("steady", steady_key, OFFERS, 100));
}

static void tear_down(void)
{
    cr_expect(test_server_stop(&server) == 0, "it stops cleanly");
    test_database_drop();
}

TestSuite(e2e_stream, .timeout = 180, .init = set_up, .fini = tear_down);

/* Takes the chunks out of a body, in place; false where the last one is missing. */
static bool join_chunks(char *body)
{
    char *from = body, *to = body;
    size_t left = strlen(body);
    for (;;) {
        char *end;
        unsigned long size = strtoul(from, &end, 16);
        if (end == from || strncmp(end, "\r\n", 2) != 0) {
            *to = '\0';
            return false;
        }
        if (size == 0) {
            *to = '\0';
            return strcmp(end, "\r\n\r\n") == 0;
        }
        left -= (size_t)(end + 2 - from);
        from = end + 2;
        if (left < size + 2) {
            *to = '\0';
            return false;
        }
        memmove(to, from, size);
        to += size;
        from += size + 2;
        left -= size + 2;
    }
}

static struct test_answer stream(const char *target, const char *more, bool *ret_whole)
{
    char request[400];
    int length =
        snprintf(request, sizeof(request),
                 "GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n%s\r\n", target, more);
    struct test_answer answer = test_raw(server.port, request, (size_t)length, 30000);
    *ret_whole = answer.status == 200 && join_chunks(answer.body);
    return answer;
}

static int open_stream(const char *target)
{
    char request[200];
    int fd = test_connect_port(server.port);
    int length = snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", target);
    cr_assert(fd >= 0 && send(fd, request, (size_t)length, MSG_NOSIGNAL) == length);
    return fd;
}

static long long metric(const char *name)
{
    struct test_answer answer = test_request(server.port, "GET", "/metrics", NULL, NULL, 5000);
    char wanted[80];
    snprintf(wanted, sizeof(wanted), "\n%s ", name);
    const char *at = answer.body == NULL ? NULL : strstr(answer.body, wanted);
    long long value = at == NULL ? -1 : atoll(at + strlen(wanted));
    test_answer_free(&answer);
    return value;
}

static bool streams_come_to(long long wanted, int within_ms)
{
    long long until = test_now_ms() + within_ms;
    while (metric("rackrate_streams_open") != wanted && test_now_ms() < until)
        usleep(50000);
    return metric("rackrate_streams_open") == wanted;
}

static atomic_bool writing;
static void *write_on(void *closure)
{
    (void)closure;
    for (int price = 0; writing; price++)
        if (!put("busy", busy_key, 300, price))
            break;
    return NULL;
}

/* Counts a provider's rows and checks that prices go up; and that the busy one's are of one upload.
 */
static void check_lines(char *body, size_t *ret_steady, size_t *ret_busy)
{
    static bool seen[OFFERS];
    double before = 0;
    int thousandths = -1;
    memset(seen, 0, sizeof(seen));
    *ret_steady = *ret_busy = 0;
    for (char *line = body, *end; *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        cr_assert_not_null(end, "a line ends");
        *end = '\0'; /* so that looking for something looks no further */
        const char *price = strstr(line, "\"price\":{"), *id = strstr(line, "\"node-");
        cr_assert(price != NULL && id != NULL);
        double amount = atof(strstr(price, "\"price_per_gpu_hour\":") + 21);
        cr_assert(amount >= before, "%f after %f", amount, before);
        before = amount;
        if (strncmp(strstr(line, "\"provider\":{\"slug\":"), "\"provider\":{\"slug\":\"steady",
                    26) == 0) {
            size_t number = (size_t)atol(id + 6);
            cr_assert(number < OFFERS && !seen[number], "each once: %zu", number);
            seen[number] = true;
            ++*ret_steady;
        } else {
            int own = (int)((amount - (double)(int)amount) * 1000 + 0.5);
            cr_assert(thousandths == -1 || own == thousandths, "of one moment");
            thousandths = own;
            ++*ret_busy;
        }
    }
}

Test(e2e_stream, is_whole_and_of_one_moment_while_writers_write)
{
    pthread_t writer;
    cr_assert(put("busy", busy_key, 300, 999));
    writing = true;
    cr_assert(pthread_create(&writer, NULL, write_on, NULL) == 0);
    for (int i = 0; i < 12; i++) {
        bool whole;
        size_t steady, busy;
        struct test_answer answer =
            stream("/v1/offers?format=ndjson", i % 2 == 0 ? "" : "Accept: */*\r\n", &whole);
        cr_assert(whole, "status %d", answer.status);
        check_lines(answer.body, &steady, &busy);
        cr_assert_eq(steady, OFFERS);
        cr_assert_eq(busy, 300);
        test_answer_free(&answer);
    }
    writing = false;
    pthread_join(writer, NULL);
}

Test(e2e_stream, in_any_form_is_what_the_pages_say)
{
    bool whole;
    size_t rows = 0, length = 0;
    struct test_answer all = stream("/v1/offers?format=ndjson&sort=-updated", "", &whole);
    cr_assert(whole);
    char target[400] = "/v1/offers?format=ndjson&sort=-updated&limit=500";
    while (*target != '\0') {
        struct test_answer page = test_request(server.port, "GET", target, NULL, NULL, 5000);
        cr_assert_eq(page.status, 200);
        size_t got = strlen(page.body);
        cr_assert(strncmp(all.body + length, page.body, got) == 0, "the same bytes");
        length += got;
        for (const char *c = page.body; *c != '\0'; c++)
            rows += *c == '\n';
        const char *link = strstr(page.head, "Link: <");
        *target = '\0';
        if (link != NULL)
            snprintf(target, sizeof(target), "%.*s", (int)strcspn(link + 7, ">"), link + 7);
        test_answer_free(&page);
    }
    cr_assert_eq(rows, OFFERS);
    cr_assert_eq(strlen(all.body), length);
    test_answer_free(&all);
    struct test_answer head =
        test_request(server.port, "HEAD", "/v1/offers?format=csv", NULL, NULL, 5000);
    cr_expect(head.status == 200 && (head.body == NULL || *head.body == '\0'), "HEAD has no body");
    test_answer_free(&head);
    struct test_answer table = stream("/v1/offers", "Accept: text/csv\r\n", &whole);
    rows = 0;
    for (const char *c = table.body; *c != '\0'; c++)
        rows += *c == '\n';
    cr_expect(whole && rows == OFFERS + 1, "%zu lines", rows);
    test_answer_free(&table);
    /* Without chunks, for a client of 1.0. */
    static const char old[] = "GET /v1/offers?format=csv HTTP/1.0\r\nHost: a\r\n\r\n";
    struct test_answer plain = test_raw(server.port, old, sizeof(old) - 1, 20000);
    rows = 0;
    for (const char *c = plain.body; *c != '\0'; c++)
        rows += *c == '\n';
    cr_expect(plain.closed && rows == OFFERS + 1, "%zu lines", rows);
    test_answer_free(&plain);
    cr_expect(streams_come_to(0, 3000));
}

/* Reads what is left, until the server closes; whether the end of the body came. */
static bool read_to_end(int fd, int within_ms)
{
    char bytes[65536], last[8] = "";
    long long until = test_now_ms() + within_ms;
    for (;;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (test_now_ms() >= until || poll(&ready, 1, (int)(until - test_now_ms())) <= 0)
            return false;
        ssize_t got = recv(fd, bytes, sizeof(bytes), 0);
        if (got <= 0)
            return false;
        if (got >= 7)
            memcpy(last, bytes + got - 7, 7);
        if (got >= 7 && memcmp(last, "\r\n0\r\n\r\n", 7) == 0)
            return true;
    }
}

Test(e2e_stream, who_does_not_read_is_cut_and_there_are_only_so_many)
{
    int fds[STREAM_LIMIT];
    bool whole;
    long long begun = test_now_ms();
    for (int i = 0; i < STREAM_LIMIT; i++) {
        int small = 4096;
        fds[i] = open_stream("/v1/offers?format=ndjson");
        setsockopt(fds[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    }
    cr_assert(streams_come_to(STREAM_LIMIT, 2000), "all are open");
    struct test_answer refused = stream("/v1/offers?format=csv", "", &whole);
    cr_expect(refused.status == 503, "one more is too many: %d", refused.status);
    cr_expect(strstr(refused.head, "Retry-After:") != NULL);
    test_answer_free(&refused);
    struct test_answer page =
        test_request(server.port, "GET", "/v1/offers?limit=500", NULL, NULL, 1000);
    cr_expect(page.status == 200, "others are served meanwhile");
    test_answer_free(&page);
    cr_expect(streams_come_to(0, STREAM_TIMEOUT + 3000), "cut after %lld ms",
              test_now_ms() - begun);
    for (int i = 0; i < STREAM_LIMIT; i++) {
        cr_expect(!read_to_end(fds[i], 2000), "and it shows");
        close(fds[i]);
    }
    struct test_answer again = stream("/v1/offers?format=ndjson", "", &whole);
    cr_expect(whole, "then there is room again");
    test_answer_free(&again);
}

Test(e2e_stream, who_goes_away_is_forgotten)
{
    bool whole;
    for (int i = 0; i < 120; i++) {
        char bytes[2000];
        int fd = open_stream(i % 3 == 0 ? "/v1/offers?format=csv" : "/v1/offers?format=ndjson");
        if (i % 2 == 0)
            cr_assert(recv(fd, bytes, sizeof(bytes), 0) > 0);
        struct linger hard = {1, 0};
        if (i % 4 < 2)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
        close(fd);
    }
    cr_expect(streams_come_to(0, STREAM_TIMEOUT + 3000));
    struct test_answer answer = stream("/v1/offers?format=ndjson", "", &whole);
    cr_expect(whole);
    test_answer_free(&answer);
}

static atomic_int good_readers;
static void *read_whole(void *closure)
{
    bool whole;
    size_t *length = closure;
    for (int i = 0; i < 5; i++) {
        struct test_answer answer = stream("/v1/offers?format=ndjson", "", &whole);
        size_t got = whole ? strlen(answer.body) : 0;
        if (whole && (*length == 0 || *length == got))
            good_readers++;
        *length = got;
        test_answer_free(&answer);
    }
    return NULL;
}

Test(e2e_stream, many_at_once_each_get_all)
{
    pthread_t readers[STREAM_LIMIT];
    size_t lengths[STREAM_LIMIT] = {0};
    for (int i = 0; i < STREAM_LIMIT; i++)
        cr_assert(pthread_create(&readers[i], NULL, read_whole, &lengths[i]) == 0);
    for (int i = 0; i < STREAM_LIMIT; i++)
        pthread_join(readers[i], NULL);
    cr_expect_eq(good_readers, 5 * STREAM_LIMIT);
}

Test(e2e_stream, a_server_that_stops_waits_no_longer_than_it_says)
{
    int fds[3];
    for (int i = 0; i < 3; i++)
        fds[i] = open_stream("/v1/offers?format=ndjson");
    cr_assert(streams_come_to(3, 2000) || metric("rackrate_streams_open") >= 0);
    long long begun = test_now_ms();
    cr_expect(test_server_stop(&server) == 0, "it stops cleanly with streams open");
    cr_expect(test_now_ms() - begun < 6000, "after %lld ms", test_now_ms() - begun);
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    cr_assert(test_server_start(&server));
}
