/* The whole result streamed: bytes a second over loopback and what memory it takes, as NDJSON, CSV
 * and compressed; beside the making alone, and a bare socket that sends as many bytes. No database.
 * Usage: stream_bench [OFFERS], by default 1000000. */
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/catalog/row_stream.h"
#include "server/http/http.h"
#include "tests/support/random_market.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define OFFERS_A_PROVIDER 1000
#define READ_BYTES        ((size_t)256 << 10)

static struct catalog *catalog;

static void fill(size_t offers)
{
    struct market market;
    market_make(&market, 1, 1, 1);
    catalog = catalog_new();
    for (size_t p = 0; p * OFFERS_A_PROVIDER < offers; p++) {
        struct arena keep = market.arena;
        market.arena = (struct arena){0};
        struct offer *list = arena_calloc(&market.arena, OFFERS_A_PROVIDER, sizeof(*list));
        for (size_t i = 0; i < OFFERS_A_PROVIDER; i++) {
            market_random_offer(&market, arena_printf(&market.arena, "node-%zu-%zu", p, i),
                                &list[i]);
            list[i].order_url = "https://provider.example/order?type=node&ref=rackrate";
        }
        struct provider provider = {
            .id = (int64_t)p + 1,
            .slug = arena_printf(&market.arena, "provider-%zu", p),
            .name = arena_printf(&market.arena, "Provider %zu", p),
            .version = 1,
            .freshness_hours = UNKNOWN,
            .trust = {UNKNOWN, -1, -1, -1},
            .confirmed_at_us = MARKET_NOW_US,
            .updated_at_us = MARKET_NOW_US,
        };
        struct catalog_update update = {.provider = &provider,
                                        .reload = true,
                                        .upserts = list,
                                        .upsert_count = OFFERS_A_PROVIDER};
        if (!catalog_apply(catalog, &update, 1))
            abort();
        arena_free(&market.arena);
        market.arena = keep;
    }
    market_free(&market);
}

static struct row_stream *open_rows(const struct query_parameter *parameters, size_t count)
{
    struct arena arena = {0};
    struct query *query;
    struct query_error *errors;
    struct snapshot *snapshot = catalog_acquire(catalog);
    if (query_parse(parameters, count, snapshot, &arena, &query, &errors) > 0) {
        fprintf(stderr, "%s\n", errors[0].message);
        exit(1);
    }
    return row_stream_new(snapshot, query, &arena, MARKET_NOW_US);
}

static enum stream_step produce(void *closure, struct worker *worker, struct buf *out)
{
    (void)worker;
    return row_stream_next(closure, REPLY_STREAM_BLOCK_BYTES, out) ? STREAM_MORE : STREAM_END;
}

static void free_rows(void *closure)
{
    row_stream_free(closure);
}

static void answer(struct request *request, struct reply *reply)
{
    struct query_parameter parameters[16];
    size_t count = 0;
    for (; count < request->parameter_count && count < 16; count++)
        parameters[count] = (struct query_parameter){request->parameters[count].name,
                                                     request->parameters[count].value};
    reply->status = 200;
    reply->content_type = "application/x-ndjson";
    reply->stream = (struct reply_stream){produce, free_rows, open_rows(parameters, count)};
}

static const struct route routes[] = {
    {.methods = HTTP_GET, .pattern = "/rows", .operation = "rows", .handle = answer},
    {0},
};

static double resident_mib(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL && fscanf(file, "%ld %ld", &pages, &resident) != 2)
        resident = 0;
    if (file != NULL)
        fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1048576;
}

static int connect_to(unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        abort();
    return fd;
}

/* Reads to the end in a process of its own, so that this one's memory is the server's; gives MB/s.
 */
static double read_all(unsigned port, const char *request, double *ret_mb, double *ret_peak_mib)
{
    int ends[2];
    double figures[2] = {0};
    if (pipe(ends) != 0)
        abort();
    pid_t child = fork();
    if (child == 0) {
        char *bytes = malloc(READ_BYTES);
        int fd = connect_to(port);
        int64_t begun = monotonic_now_us();
        if (*request != '\0' && send(fd, request, strlen(request), 0) < 0)
            abort();
        for (ssize_t got; (got = recv(fd, bytes, READ_BYTES, 0)) > 0;)
            figures[0] += (double)got / 1e6;
        figures[1] = (double)(monotonic_now_us() - begun) / 1e6;
        if (write(ends[1], figures, sizeof(figures)) != sizeof(figures))
            abort();
        _exit(0);
    }
    *ret_peak_mib = 0;
    while (waitpid(child, NULL, WNOHANG) == 0) {
        double now = resident_mib();
        *ret_peak_mib = now > *ret_peak_mib ? now : *ret_peak_mib;
        usleep(5000);
    }
    if (read(ends[0], figures, sizeof(figures)) != sizeof(figures))
        abort();
    close(ends[0]);
    close(ends[1]);
    *ret_mb = figures[0];
    return figures[0] / figures[1];
}

static void make_alone(const char *name, const struct query_parameter *parameters, size_t count)
{
    struct row_stream *rows = open_rows(parameters, count);
    struct buf out = {0};
    double mb = 0;
    bool more = true;
    int64_t begun = monotonic_now_us(), longest = 0;
    while (more) {
        int64_t block = monotonic_now_us();
        buf_clear(&out);
        more = row_stream_next(rows, REPLY_STREAM_BLOCK_BYTES, &out);
        mb += (double)out.length / 1e6;
        block = monotonic_now_us() - block;
        longest = block > longest ? block : longest;
    }
    double seconds = (double)(monotonic_now_us() - begun) / 1e6;
    printf("  made alone, %-28s %7.0f MB, %6.0f MB/s, longest block %.1f ms\n", name, mb,
           mb / seconds, (double)longest / 1e3);
    row_stream_free(rows);
    buf_free(&out);
}

struct bare {
    int listening;
    double mb;
};

/* A socket that sends as many bytes in pieces as large as ours, with no work at all. */
static void *send_bare(void *closure)
{
    struct bare *bare = closure;
    static char bytes[24 << 10];
    int fd = accept(bare->listening, NULL, NULL);
    for (double sent = 0; sent < bare->mb * 1e6;) {
        ssize_t got = send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL);
        if (got <= 0)
            break;
        sent += (double)got;
    }
    close(fd);
    return NULL;
}

static double bare_rate(double mb)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof(address);
    struct bare bare = {socket(AF_INET, SOCK_STREAM, 0), mb};
    pthread_t thread;
    double read_mb, peak;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(bare.listening, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(bare.listening, 1) != 0 ||
        getsockname(bare.listening, (struct sockaddr *)&address, &size) != 0 ||
        pthread_create(&thread, NULL, send_bare, &bare) != 0)
        abort();
    double rate = read_all(ntohs(address.sin_port), "", &read_mb, &peak);
    pthread_join(thread, NULL);
    close(bare.listening);
    return rate;
}

int main(int argument_count, char **arguments)
{
    size_t offers = argument_count > 1 ? strtoul(arguments[1], NULL, 10) : 1000000;
    char *error;
    if (!crypt_init())
        return 1;
    fill(offers);
    sleep(1); /* the merger's last work */
    struct query_parameter ndjson[] = {{"format", "ndjson"}, {"include_stale", "1"}, {NULL, NULL}};
    struct query_parameter csv[] = {{"format", "csv"}, {"include_stale", "1"}, {NULL, NULL}};
    printf("%zu offers, %.0f MiB resident\n", offers, resident_mib());
    make_alone("NDJSON by price", ndjson, 2);
    ndjson[2] = (struct query_parameter){"sort", "-updated"};
    make_alone("NDJSON by -updated", ndjson, 3);
    ndjson[2] = (struct query_parameter){"max_price", "50"};
    make_alone("NDJSON under a price", ndjson, 3);
    make_alone("CSV by price", csv, 2);
    const struct http_hooks hooks = {.routes = routes};
    const struct http_options options = {.listen = "127.0.0.1:0",
                                         .queue_limit = 64,
                                         .body_budget_bytes = (size_t)64 << 20,
                                         .connection_limit = 64,
                                         .header_timeout_ms = 10000,
                                         .body_timeout_ms = 30000,
                                         .idle_timeout_ms = 60000,
                                         .stream_limit = 8,
                                         .stream_timeout_ms = 600000};
    struct http_server *server = http_server_start(&options, &hooks, &error);
    if (server == NULL)
        return 1;
    static const struct {
        const char *name, *request;
    } cases[] = {
        {"NDJSON", "GET /rows?format=ndjson&include_stale=1 HTTP/1.1\r\nHost: a\r\nConnection: "
                   "close\r\n\r\n"},
        {"CSV", "GET /rows?format=csv&include_stale=1 HTTP/1.1\r\nHost: a\r\nConnection: "
                "close\r\n\r\n"},
        {"NDJSON, gzip", "GET /rows?format=ndjson&include_stale=1 HTTP/1.1\r\nHost: a\r\n"
                         "Accept-Encoding: gzip\r\nConnection: close\r\n\r\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double mb, peak, before = resident_mib();
        double rate = read_all(http_server_port(server), cases[i].request, &mb, &peak);
        double bare = bare_rate(mb);
        printf("  streamed %-14s %7.0f MB, %6.0f MB/s, %.2f of a bare socket's %.0f; resident "
               "%+.1f MiB\n",
               cases[i].name, mb, rate, rate / bare, bare, peak - before);
    }
    http_server_stop(server, 1000);
    catalog_free(catalog);
    return 0;
}
