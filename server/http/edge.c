/* The only file that knows libmicrohttpd. Its rules, learnt the hard way: a reply in the first
 * callback closes the connection (good for refusing an upload, wrong for anything else); a request
 * is suspended before a worker gets it and resumed by the worker; stopping with a suspended
 * connection aborts, so the drain waits for none; a client that went away isn't noticed while
 * suspended. */
#include "server/http/assets.h"
#include "server/http/dispatch.h"
#include "server/http/guard.h"
#include "server/http/rate_limit.h"
#include "server/http/reaper.h"
#include "server/http/stream.h"

#include "server/base/budget.h"
#include "server/base/log.h"
#include "server/base/metrics.h"
#include "server/base/timestamp.h"
#include "server/base/workers.h"

#include <ctype.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTION_MEMORY_BYTES ((size_t)32768)
#define BODY_FIRST_BYTES        ((size_t)8192)
/* A body slower than this over its whole length is cut, and a reader of an answer. */
#define SLOWEST_BYTES_PER_SECOND        4096
#define SLOWEST_READER_BYTES_PER_SECOND 32768
/* Answers up to this size are not counted: a page of search is smaller. */
#define REPLY_SMALL_BYTES ((size_t)1 << 20)
/* What the library asks a stream for at once where it can; in chunks it is bounded by the
 * connection's memory. */
#define STREAM_READ_BYTES ((size_t)64 << 10)
/* Threads that make streams: as many as can be read at full speed on a small machine. */
#define STREAM_WORKERS 2

struct http_server {
    struct http_options options;
    struct http_hooks hooks;
    struct MHD_Daemon *daemon;
    struct MHD_Daemon *ops_daemon;
    struct workers *workers;
    struct workers *stream_workers; /* of their own: a long answer holds up no write */
    struct reaper *reaper;
    struct rate_limit *rate_limit;
    struct budget budget;  /* of request bodies */
    struct budget replies; /* of answers over REPLY_SMALL_BYTES that wait for their readers */
    _Atomic bool stopping;
    _Atomic unsigned streams; /* open now */
    _Atomic int64_t active;   /* requests between their head and their completion */
};

enum exchange_state {
    EXCHANGE_NEW,
    EXCHANGE_AUTHENTICATING, /* suspended, a worker looks the key up */
    EXCHANGE_BODY,           /* the body comes in, or the final call is awaited */
    EXCHANGE_EXECUTING,      /* suspended, a worker has it */
    EXCHANGE_QUEUED,         /* answered */
};

/* One request on one connection. */
struct exchange {
    struct http_server *server;
    struct MHD_Connection *connection;
    struct watched *watched;
    struct request request;
    struct reply reply;
    char *raw_target;
    enum exchange_state state;
    enum dispatch_next next;
    bool counted;
    int64_t declared_length;
    size_t body_capacity; /* taken from the budget */
    size_t reply_held;    /* bytes of a large answer, taken from the replies' budget */
    int64_t body_started_us;
};

static bool is_ops(const struct exchange *exchange, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_DAEMON);
    return info != NULL && exchange->server->ops_daemon != NULL &&
           info->daemon == exchange->server->ops_daemon;
}

/* Called with the raw request target before the library decodes it; what it returns becomes the
 * request's own pointer. */
static void *begin_exchange(void *closure, const char *uri, struct MHD_Connection *connection)
{
    struct exchange *exchange = xcalloc(1, sizeof(*exchange));
    exchange->server = closure;
    exchange->connection = connection;
    exchange->raw_target = xstrdup(uri);
    exchange->request.received_at_us = timestamp_now_us();
    return exchange;
}

static void free_exchange(struct exchange *exchange)
{
    if (exchange->body_capacity > 0) {
        budget_give(&exchange->server->budget, exchange->body_capacity);
        metric_add(METRIC_BODY_BYTES, -(int64_t)exchange->body_capacity);
    }
    budget_give(&exchange->server->replies, exchange->reply_held);
    if (exchange->counted)
        exchange->server->active--;
    free(exchange->request.body);
    buf_free(&exchange->reply.body);
    if (exchange->reply.fixed_release != NULL)
        exchange->reply.fixed_release(exchange->reply.fixed_owner);
    if (exchange->reply.stream.produce != NULL) /* never sent: the client went away */
        exchange->reply.stream.free(exchange->reply.stream.closure);
    arena_free(&exchange->request.arena);
    free(exchange->raw_target);
    free(exchange);
}

static void end_exchange(void *closure, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code)
{
    struct http_server *server = closure;
    struct exchange *exchange = *context;
    (void)connection;
    (void)code;
    if (exchange == NULL)
        return;
    if (exchange->watched != NULL)
        watched_set_deadline(exchange->watched,
                             monotonic_now_us() + (int64_t)server->options.idle_timeout_ms * 1000);
    free_exchange(exchange);
    *context = NULL;
}

static void notice_connection(void *closure, struct MHD_Connection *connection,
                              void **socket_context, enum MHD_ConnectionNotificationCode code)
{
    struct http_server *server = closure;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        metric_add(METRIC_HTTP_CONNECTIONS, 1);
        metric_add(METRIC_HTTP_CONNECTIONS_OPEN, 1);
        if (info != NULL)
            *socket_context =
                reaper_add(server->reaper, info->connect_fd,
                           monotonic_now_us() + (int64_t)server->options.header_timeout_ms * 1000);
    } else {
        metric_add(METRIC_HTTP_CONNECTIONS_OPEN, -1);
        reaper_remove(server->reaper, *socket_context);
        *socket_context = NULL;
    }
}

static void watch(struct exchange *exchange, int64_t deadline_us)
{
    if (exchange->watched != NULL)
        watched_set_deadline(exchange->watched, deadline_us);
}

/* ---- answering
 * ------------------------------------------------------------------------------------------------------
 */

static struct MHD_Response *make_response(struct reply *reply, size_t *ret_length)
{
    struct MHD_Response *response;
    if (reply->fixed != NULL && reply->fixed_release != NULL) {
        *ret_length = reply->fixed_length;
        response = MHD_create_response_from_buffer_with_free_callback_cls(
            reply->fixed_length, (void *)(uintptr_t)reply->fixed, reply->fixed_release,
            reply->fixed_owner);
        if (response != NULL)
            reply->fixed_release = NULL; /* the library does it */
    } else if (reply->fixed != NULL) {
        *ret_length = reply->fixed_length;
        response = MHD_create_response_from_buffer(
            reply->fixed_length, (void *)(uintptr_t)reply->fixed, MHD_RESPMEM_PERSISTENT);
    } else {
        char *data = buf_detach(&reply->body, ret_length);
        response = MHD_create_response_from_buffer_with_free_callback(*ret_length, data, free);
        if (response == NULL)
            free(data);
    }
    return response;
}

/* Readers that take nothing must not fill the memory: large answers share a budget, and who finds
 * it empty is told to come again. */
static void hold_reply(struct exchange *exchange)
{
    struct reply *reply = &exchange->reply;
    size_t bytes = reply->fixed == NULL ? reply->body.length : 0;
    if (bytes <= REPLY_SMALL_BYTES)
        return;
    if (budget_take(&exchange->server->replies, bytes)) {
        exchange->reply_held = bytes;
        return;
    }
    metric_add(METRIC_REPLIES_REFUSED, 1);
    buf_free(&reply->body);
    reply->encoded = reply->gzip = false;
    reply->etag = NULL;
    reply_unavailable(&exchange->request, reply,
                      "Too many large answers are being sent; try again shortly.", 5);
}

/* ---- streams
 * ----------------------------------------------------------------------------------------------------------
 */

/* A stream on its way to its reader; lives as long as the library's response. */
struct sending {
    struct http_server *server;
    struct MHD_Connection *connection;
    struct watched *watched;
    struct stream *stream; /* NULL: only the head is asked for */
    int64_t started_us;    /* less the time it waited for us */
    int64_t latest_us;     /* by then it ends, whole or not */
    int64_t suspended_us;  /* since when it waits; 0: it doesn't */
};

static void suspend_sending(void *closure)
{
    struct sending *sending = closure;
    sending->suspended_us = monotonic_now_us();
    if (sending->watched != NULL)
        watched_set_deadline(sending->watched, INT64_MAX);
    MHD_suspend_connection(sending->connection);
}

static void resume_sending(void *closure)
{
    struct sending *sending = closure;
    MHD_resume_connection(sending->connection);
}

/* A reader may take its time but not for ever, and what it gave up reading must not stay: the
 * bytes taken so far buy time, up to the stream's own end. */
static void watch_sending(struct sending *sending, uint64_t sent)
{
    int64_t deadline_us = sending->started_us +
                          (int64_t)sending->server->options.body_timeout_ms * 1000 +
                          (int64_t)(sent * 1000000 / SLOWEST_READER_BYTES_PER_SECOND);
    if (sending->watched != NULL)
        watched_set_deadline(sending->watched,
                             deadline_us < sending->latest_us ? deadline_us : sending->latest_us);
}

static ssize_t read_stream(void *closure, uint64_t sent, char *out, size_t size)
{
    struct sending *sending = closure;
    size_t length;
    if (sending->stream == NULL)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (sending->suspended_us != 0) {
        sending->started_us += monotonic_now_us() - sending->suspended_us;
        sending->suspended_us = 0;
    }
    if (monotonic_now_us() > sending->latest_us)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    watch_sending(sending, sent);
    switch (stream_read(sending->stream, out, size, &length)) {
    case STREAM_DATA:
        return (ssize_t)length;
    case STREAM_WAIT:
        return 0;
    case STREAM_DONE:
        return MHD_CONTENT_READER_END_OF_STREAM;
    case STREAM_BROKEN:
        break;
    }
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

static void free_sending(void *closure)
{
    struct sending *sending = closure;
    if (sending->stream != NULL)
        stream_end(sending->stream);
    free(sending);
}

static void give_stream_back(void *closure)
{
    struct http_server *server = closure;
    atomic_fetch_sub(&server->streams, 1);
    metric_add(METRIC_STREAMS_OPEN, -1);
}

/* Streams hold a snapshot each: there are only so many at once. Without a place, a 503. */
static void hold_stream(struct exchange *exchange)
{
    struct http_server *server = exchange->server;
    struct reply *reply = &exchange->reply;
    if (exchange->request.head ||
        atomic_fetch_add(&server->streams, 1) < server->options.stream_limit)
        return;
    atomic_fetch_sub(&server->streams, 1);
    metric_add(METRIC_STREAMS_REFUSED, 1);
    reply->stream.free(reply->stream.closure);
    reply->stream = (struct reply_stream){0};
    reply->encoded = reply->gzip = false;
    reply->etag = NULL;
    reply_unavailable(&exchange->request, reply,
                      "Too many whole results are being sent; try again shortly.", 5);
}

static struct MHD_Response *make_streamed_response(struct exchange *exchange)
{
    struct http_server *server = exchange->server;
    struct reply *reply = &exchange->reply;
    int64_t now_us = monotonic_now_us();
    struct sending *sending = xcalloc(1, sizeof(*sending));
    *sending = (struct sending){
        .server = server,
        .connection = exchange->connection,
        .watched = exchange->watched,
        .started_us = now_us,
        .latest_us = now_us + (int64_t)server->options.stream_timeout_ms * 1000,
    };
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, STREAM_READ_BYTES, read_stream, sending, free_sending);
    if (response == NULL) {
        free(sending);
        return NULL;
    }
    if (exchange->request.head) {
        /* The library ends chunks even where none may be sent, which the next answer on the
         * connection would be taken for: no chunks, and no next answer. */
        MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
        reply->stream.free(reply->stream.closure);
    } else {
        const struct stream_connection connection = {suspend_sending, resume_sending, sending,
                                                     give_stream_back, server};
        metric_add(METRIC_STREAMS_OPEN, 1);
        sending->stream =
            stream_start(&reply->stream, reply->gzip, server->stream_workers, &connection);
    }
    reply->stream = (struct reply_stream){0};
    return response;
}

static enum MHD_Result queue_reply(struct exchange *exchange)
{
    struct http_server *server = exchange->server;
    struct reply *reply = &exchange->reply;
    if (reply->stream.produce != NULL)
        hold_stream(exchange);
    hold_reply(exchange);
    dispatch_finish(&server->hooks, &exchange->request, reply);
    if (reply->status == 204 || reply->status == 304)
        buf_clear(&reply->body);
    size_t length = 0;
    int status = reply->status;
    struct MHD_Response *response = reply->stream.produce != NULL ? make_streamed_response(exchange)
                                                                  : make_response(reply, &length);
    if (response == NULL)
        return MHD_NO;
    for (size_t i = 0; i < reply->header_count; i++)
        MHD_add_response_header(response, reply->headers[i].name, reply->headers[i].value);
    if (reply->close || server->stopping)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    enum MHD_Result result =
        MHD_queue_response(exchange->connection, (unsigned int)status, response);
    MHD_destroy_response(response);
    exchange->state = EXCHANGE_QUEUED;
    /* A reader may take its time, but not for ever. */
    watch(exchange, monotonic_now_us() + (int64_t)server->options.body_timeout_ms * 1000 +
                        (int64_t)length * 1000000 / SLOWEST_READER_BYTES_PER_SECOND);
    return result;
}

static enum MHD_Result refuse_and_close(struct exchange *exchange, int status, const char *slug,
                                        const char *detail)
{
    reply_problem(&exchange->request, &exchange->reply, status, slug, detail, NULL, 0);
    exchange->reply.close = true;
    return queue_reply(exchange);
}

/* ---- workers
 * --------------------------------------------------------------------------------------------------------
 */

static void authenticate_on_worker(void *closure, void *thread_context)
{
    struct exchange *exchange = closure;
    exchange->next = dispatch_authenticate(&exchange->server->hooks, &exchange->request,
                                           &exchange->reply, thread_context);
    MHD_resume_connection(exchange->connection);
}

static void execute_on_worker(void *closure, void *thread_context)
{
    struct exchange *exchange = closure;
    dispatch_execute(&exchange->server->hooks, &exchange->request, &exchange->reply,
                     thread_context);
    exchange->next = DISPATCH_REPLY;
    MHD_resume_connection(exchange->connection);
}

/* Suspends and hands the request to a worker; false (and a 503 in the reply) when the queue is
 * full. */
static bool hand_over(struct exchange *exchange, worker_job *job, enum exchange_state state)
{
    struct http_server *server = exchange->server;
    exchange->state = state;
    watch(exchange, INT64_MAX);
    MHD_suspend_connection(exchange->connection);
    if (workers_submit(server->workers, job, exchange))
        return true;
    metric_add(METRIC_QUEUE_REFUSED, 1);
    reply_unavailable(&exchange->request, &exchange->reply,
                      "Too many requests are waiting; try again shortly.", 1);
    exchange->next = DISPATCH_REPLY;
    MHD_resume_connection(exchange->connection); /* the callback comes again and answers */
    return false;
}

/* ---- the head
 * -------------------------------------------------------------------------------------------------------
 */

struct header_list {
    struct exchange *exchange;
    struct http_pair *pairs;
    size_t *lengths;
    size_t count, capacity;
};

static enum MHD_Result take_header(void *closure, enum MHD_ValueKind kind, const char *name,
                                   size_t name_length, const char *value, size_t value_length)
{
    struct header_list *list = closure;
    struct arena *arena = &list->exchange->request.arena;
    (void)kind;
    (void)name_length;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
        struct http_pair *pairs = arena_calloc(arena, capacity, sizeof(*pairs));
        size_t *lengths = arena_calloc(arena, capacity, sizeof(*lengths));
        if (list->count > 0) {
            memcpy(pairs, list->pairs, list->count * sizeof(*pairs));
            memcpy(lengths, list->lengths, list->count * sizeof(*lengths));
        }
        list->pairs = pairs;
        list->lengths = lengths;
        list->capacity = capacity;
    }
    list->pairs[list->count] = (struct http_pair){name, value == NULL ? "" : value};
    list->lengths[list->count++] = value == NULL ? 0 : value_length;
    return MHD_YES;
}

/* Copies the headers with lower-case names, once the guard has seen them as they came. */
static void keep_headers(struct request *request, const struct header_list *list)
{
    request->headers = arena_calloc(&request->arena, list->count, sizeof(*request->headers));
    for (size_t i = 0; i < list->count; i++) {
        char *name = arena_strdup(&request->arena, list->pairs[i].name);
        for (char *c = name; *c != '\0'; c++)
            *c = (char)tolower((unsigned char)*c);
        request->headers[i] =
            (struct http_pair){name, arena_strdup(&request->arena, list->pairs[i].value)};
    }
    request->header_count = list->count;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return (ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >>
                24) == 127;
    if (address->sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(
            &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
    return true;
}

/* Takes a token of the client's address; false with a 429 in the reply. */
static bool within_rate(struct exchange *exchange)
{
    struct http_server *server = exchange->server;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (server->rate_limit == NULL || info == NULL || info->client_addr == NULL ||
        is_loopback(info->client_addr))
        return true;
    const struct sockaddr *address = info->client_addr;
    const void *bytes =
        address->sa_family == AF_INET
            ? (const void *)&((const struct sockaddr_in *)(const void *)address)->sin_addr
            : (const void *)&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    unsigned remaining, reset;
    bool good = rate_limit_take(server->rate_limit, bytes, address->sa_family == AF_INET ? 4 : 8,
                                monotonic_now_us(), &remaining, &reset);
    struct arena *arena = &exchange->request.arena;
    if (!good) {
        metric_add(METRIC_RATE_LIMITED, 1);
        reply_problem(&exchange->request, &exchange->reply, 429, "rate-limited",
                      "This address sent too many requests to this node.", NULL, 0);
        reply_add_header(&exchange->reply, "Retry-After", arena_printf(arena, "%u", reset));
    }
    reply_add_header(&exchange->reply, "RateLimit-Policy",
                     arena_printf(arena, "\"node\";q=%u;w=60", server->options.rate_per_minute));
    reply_add_header(&exchange->reply, "RateLimit",
                     arena_printf(arena, "\"node\";r=%u;t=%u", remaining, reset));
    return good;
}

/* The first callback of a request: the head is complete, nothing of the body was read. */
static enum MHD_Result begin_request(struct exchange *exchange, const char *method,
                                     const char *version)
{
    struct http_server *server = exchange->server;
    struct request *request = &exchange->request;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    exchange->watched = info == NULL ? NULL : info->socket_context;
    exchange->state = EXCHANGE_BODY;
    exchange->counted = true;
    server->active++;

    struct header_list list = {.exchange = exchange};
    MHD_get_connection_values_n(exchange->connection, MHD_HEADER_KIND, take_header, &list);
    const struct head head = {
        .method = method,
        .target = exchange->raw_target,
        .version = version,
        .headers = list.pairs,
        .value_lengths = list.lengths,
        .header_count = list.count,
    };
    const char *slug, *detail;
    int status = guard_check(&head, &slug, &detail);
    if (status == 0)
        keep_headers(request, &list);
    dispatch_request_id(request);
    request->path = exchange->raw_target;
    if (status != 0) {
        metric_add(METRIC_HTTP_REFUSED_FRAMING, 1);
        return refuse_and_close(exchange, status, slug, detail);
    }
    exchange->declared_length = guard_body_length(&head);
    bool has_body = exchange->declared_length != 0;
    if (server->stopping) {
        reply_unavailable(request, &exchange->reply, "The server is stopping.", 1);
        exchange->next = DISPATCH_REPLY;
    } else if (!within_rate(exchange)) {
        exchange->next = DISPATCH_REPLY;
    } else {
        exchange->next =
            dispatch_head(&server->hooks, request, &exchange->reply, method, exchange->raw_target,
                          exchange->declared_length, is_ops(exchange, exchange->connection));
    }
    exchange->body_started_us = monotonic_now_us();
    watch(exchange, exchange->body_started_us + (int64_t)server->options.body_timeout_ms * 1000);
    if (exchange->next == DISPATCH_AUTHENTICATE) {
        hand_over(exchange, authenticate_on_worker, EXCHANGE_AUTHENTICATING);
        return MHD_YES;
    }
    /* Refusing before the body: answer now, which closes the connection, rather than read what
     * nobody wants. */
    if (exchange->next == DISPATCH_REPLY && has_body)
        return queue_reply(exchange);
    return MHD_YES;
}

/* ---- the body
 * -------------------------------------------------------------------------------------------------------
 */

static bool grow_body(struct exchange *exchange, size_t needed)
{
    struct http_server *server = exchange->server;
    size_t capacity = exchange->body_capacity == 0 ? BODY_FIRST_BYTES : exchange->body_capacity * 2;
    if (exchange->declared_length > 0 && capacity > (size_t)exchange->declared_length)
        capacity = (size_t)exchange->declared_length;
    if (capacity < needed)
        capacity = needed;
    if (!budget_take(&server->budget, capacity - exchange->body_capacity))
        return false;
    metric_add(METRIC_BODY_BYTES, (int64_t)(capacity - exchange->body_capacity));
    exchange->body_capacity = capacity;
    exchange->request.body = xrealloc(exchange->request.body, capacity + 1);
    return true;
}

/* Adds a piece of the body, or decides on an error that is answered once the rest was read and
 * thrown away. */
static void take_body(struct exchange *exchange, const char *bytes, size_t length)
{
    struct request *request = &exchange->request;
    int64_t now_us = monotonic_now_us();
    int64_t patience_us = (int64_t)exchange->server->options.body_timeout_ms * 1000;
    int64_t whole_us =
        exchange->body_started_us + patience_us +
        (int64_t)(request->body_length + length) * 1000000 / SLOWEST_BYTES_PER_SECOND;
    watch(exchange, now_us + patience_us < whole_us ? now_us + patience_us : whole_us);
    if (exchange->next == DISPATCH_REPLY)
        return;
    if (request->body_length + length > request->route->body_limit_bytes) {
        dispatch_too_large(request, &exchange->reply);
        exchange->next = DISPATCH_REPLY;
        return;
    }
    if (request->body_length + length > exchange->body_capacity &&
        !grow_body(exchange, request->body_length + length)) {
        metric_add(METRIC_BODY_REFUSED, 1);
        reply_unavailable(request, &exchange->reply,
                          "Too many large bodies are being read; try again shortly.", 2);
        exchange->reply.close = true;
        exchange->next = DISPATCH_REPLY;
        return;
    }
    memcpy(request->body + request->body_length, bytes, length);
    request->body_length += length;
    request->body[request->body_length] = '\0';
}

/* ---- the callback
 * ---------------------------------------------------------------------------------------------------
 */

static enum MHD_Result handle(void *closure, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload_data,
                              size_t *upload_data_size, void **context)
{
    struct exchange *exchange = *context;
    (void)closure;
    (void)url;
    if (exchange == NULL)
        return MHD_NO;
    exchange->connection = connection;
    switch (exchange->state) {
    case EXCHANGE_NEW:
        return begin_request(exchange, method, version);
    case EXCHANGE_AUTHENTICATING: /* resumed */
        exchange->state = EXCHANGE_BODY;
        exchange->body_started_us = monotonic_now_us();
        watch(exchange, exchange->body_started_us +
                            (int64_t)exchange->server->options.body_timeout_ms * 1000);
        if (exchange->next == DISPATCH_REPLY)
            return queue_reply(exchange);
        return MHD_YES;
    case EXCHANGE_BODY:
        if (*upload_data_size > 0) {
            take_body(exchange, upload_data, *upload_data_size);
            *upload_data_size = 0;
            return MHD_YES;
        }
        if (exchange->next == DISPATCH_BODY)
            exchange->next =
                dispatch_body(&exchange->server->hooks, &exchange->request, &exchange->reply);
        if (exchange->next == DISPATCH_EXECUTE) {
            hand_over(exchange, execute_on_worker, EXCHANGE_EXECUTING);
            return MHD_YES;
        }
        return queue_reply(exchange);
    case EXCHANGE_EXECUTING: /* resumed */
        return queue_reply(exchange);
    case EXCHANGE_QUEUED:
        break;
    }
    return MHD_YES;
}

/* ---- starting and stopping
 * ------------------------------------------------------------------------------------------ */

static void log_library(void *closure, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
static void log_library(void *closure, const char *format, va_list arguments)
{
    char text[300];
    (void)closure;
    vsnprintf(text, sizeof(text), format, arguments);
    text[strcspn(text, "\n")] = '\0';
    for (char *c = text; *c != '\0'; c++) {
        if (*c == '"')
            *c = '\'';
    }
    log_debug("from the HTTP library", "text=\"%s\"", text);
}

/* Splits host:port (or [v6]:port) and resolves it. NULL and *ret_error where it can't. */
static struct addrinfo *resolve(const char *listen, char **ret_error)
{
    const char *colon = strrchr(listen, ':');
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char host[256] = "";
    if (colon != NULL && (size_t)(colon - listen) < sizeof(host)) {
        bool bracket = listen[0] == '[' && colon > listen && colon[-1] == ']';
        snprintf(host, sizeof(host), "%.*s", (int)(colon - listen) - (bracket ? 2 : 0),
                 listen + (bracket ? 1 : 0));
    }
    int status = colon == NULL
                     ? EAI_NONAME
                     : getaddrinfo(*host == '\0' ? NULL : host, colon + 1, &hints, &found);
    if (status != 0 && asprintf(ret_error, "\"%s\" is no address to listen on (host:port): %s",
                                listen, gai_strerror(status)) < 0)
        *ret_error = NULL;
    return status == 0 ? found : NULL;
}

static struct MHD_Daemon *start_daemon(struct http_server *server, const char *listen,
                                       unsigned loops, unsigned connections, char **ret_error)
{
    struct addrinfo *address = resolve(listen, ret_error);
    if (address == NULL)
        return NULL;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    if (address->ai_family == AF_INET6)
        flags |= MHD_USE_IPv6;
    struct MHD_OptionItem pool[] = {
        {loops > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, (intptr_t)loops, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    errno = 0;
    /* Without MHD_OPTION_LISTENING_ADDRESS_REUSE, which would set SO_REUSEPORT too: a second server
     * would share the port in silence, and each client get the one or the other. */
    struct MHD_Daemon *daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, handle, server, MHD_OPTION_EXTERNAL_LOGGER, log_library, NULL,
        MHD_OPTION_SOCK_ADDR, address->ai_addr, MHD_OPTION_URI_LOG_CALLBACK, begin_exchange, server,
        MHD_OPTION_NOTIFY_COMPLETED, end_exchange, server, MHD_OPTION_NOTIFY_CONNECTION,
        notice_connection, server, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
        0U, MHD_OPTION_LISTEN_BACKLOG_SIZE, 1024U, MHD_OPTION_ARRAY, pool, MHD_OPTION_END);
    freeaddrinfo(address);
    if (daemon == NULL &&
        asprintf(ret_error, "can't listen on %s: %s", listen,
                 errno == 0 ? "the address is in use or not this machine's" : strerror(errno)) < 0)
        *ret_error = NULL;
    return daemon;
}

static void raise_file_limit(unsigned connections)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)connections + 256;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted > limit.rlim_max ? limit.rlim_max : wanted;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < wanted)
        log_warning("fewer files may be open than connections are allowed",
                    "limit=%llu connections=%u", (unsigned long long)limit.rlim_cur, connections);
}

static void free_server(struct http_server *server)
{
    if (server->ops_daemon != NULL)
        MHD_stop_daemon(server->ops_daemon);
    if (server->daemon != NULL)
        MHD_stop_daemon(server->daemon);
    workers_stop(server->workers);
    workers_stop(server->stream_workers);
    reaper_stop(server->reaper);
    rate_limit_free(server->rate_limit);
    free(server);
}

static void *begin_worker(void *closure)
{
    struct http_server *server = closure;
    return server->hooks.worker_new == NULL ? NULL : server->hooks.worker_new(server->hooks.app);
}

static void end_worker(void *closure, void *thread_context)
{
    struct http_server *server = closure;
    if (server->hooks.worker_free != NULL)
        server->hooks.worker_free(server->hooks.app, thread_context);
}

struct http_server *http_server_start(const struct http_options *options,
                                      const struct http_hooks *hooks, char **ret_error)
{
    struct http_server *server = xcalloc(1, sizeof(*server));
    *ret_error = NULL;
    server->options = *options;
    server->hooks = *hooks;
    server->budget.limit_bytes = options->body_budget_bytes;
    server->replies.limit_bytes = options->body_budget_bytes;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned loops = options->loops != 0 ? options->loops : cores < 1 ? 1 : (unsigned)cores;
    assets_init();
    raise_file_limit(options->connection_limit);
    if (options->rate_per_minute > 0)
        server->rate_limit = rate_limit_new(options->rate_per_minute);
    const struct worker_hooks worker_hooks = {
        .begin = begin_worker, .end = end_worker, .closure = server};
    server->reaper = reaper_start();
    server->workers = workers_start(options->workers == 0 ? 4 : options->workers,
                                    options->queue_limit, &worker_hooks);
    server->stream_workers = workers_start(STREAM_WORKERS, options->stream_limit, &worker_hooks);
    if (server->reaper != NULL && server->workers != NULL && server->stream_workers != NULL)
        server->daemon =
            start_daemon(server, options->listen, loops, options->connection_limit, ret_error);
    if (server->daemon != NULL && options->ops_listen != NULL) {
        server->ops_daemon = start_daemon(server, options->ops_listen, 1, 64, ret_error);
        if (server->ops_daemon == NULL) {
            free_server(server);
            return NULL;
        }
    }
    if (server->daemon == NULL) {
        free_server(server);
        return NULL;
    }
    return server;
}

static unsigned port_of(struct MHD_Daemon *daemon)
{
    const union MHD_DaemonInfo *info =
        daemon == NULL ? NULL : MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info == NULL ? 0 : info->port;
}

unsigned http_server_port(const struct http_server *server)
{
    return port_of(server->daemon);
}

unsigned http_server_ops_port(const struct http_server *server)
{
    return port_of(server->ops_daemon);
}

void http_server_stop(struct http_server *server, unsigned grace_ms)
{
    server->stopping = true;
    MHD_socket listening = MHD_quiesce_daemon(server->daemon);
    MHD_socket ops_listening =
        server->ops_daemon == NULL ? MHD_INVALID_SOCKET : MHD_quiesce_daemon(server->ops_daemon);
    if (listening != MHD_INVALID_SOCKET)
        close(listening);
    if (ops_listening != MHD_INVALID_SOCKET)
        close(ops_listening);
    int64_t until_us = monotonic_now_us() + (int64_t)grace_ms * 1000;
    while (server->active > 0 && monotonic_now_us() < until_us)
        usleep(5000);
    /* Whatever is still with a worker must come back before the library may stop: each job has
     * deadlines of its own. The loops still run: a body that is complete only now is told no. */
    workers_drain(server->workers);
    workers_drain(server->stream_workers);
    usleep(20000); /* let the loops take the resumed connections up */
    free_server(server);
}
