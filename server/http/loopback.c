/* The loopback: the same stages as a socket's request, on the calling thread. With
 * RACKRATE_CONTRACT_LOG set, each exchange is appended there as one line, to be checked against the
 * contract. */
#include "server/http/assets.h"
#include "server/http/dispatch.h"
#include "server/http/stream.h"

#include "server/base/crypto.h"
#include "server/base/timestamp.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void record(const char *method, const char *target, const struct loopback_reply *reply,
                   const struct reply *made)
{
    const char *path = getenv("RACKRATE_CONTRACT_LOG");
    if (path == NULL || *path == '\0')
        return;
    struct buf line = {0};
    buf_add_char(&line, '{');
    buf_add_json_member_string(&line, "method", method);
    buf_add_json_member_string(&line, "path", target);
    buf_add_json_member_int(&line, "status", reply->status);
    buf_add_json_key(&line, "headers");
    buf_add_char(&line, '{');
    for (size_t i = 0; i < made->header_count; i++)
        buf_add_json_member_string(&line, made->headers[i].name, made->headers[i].value);
    buf_add_char(&line, '}');
    /* A compressed body is no text: its bytes go in base64 beside an empty one. */
    const char *encoding = NULL;
    for (size_t i = 0; i < made->header_count; i++) {
        if (strcmp(made->headers[i].name, "Content-Encoding") == 0)
            encoding = made->headers[i].value;
    }
    buf_add_json_key(&line, "body");
    /* The edge sends no body with an answer to HEAD, so none is recorded. */
    bool plain = encoding == NULL && strcmp(method, "HEAD") != 0;
    buf_add_json_bytes(&line, reply->body, plain ? reply->body_length : 0);
    if (encoding != NULL) {
        char *text = xmalloc(CRYPT_BASE64_SIZE(reply->body_length) + 4);
        crypt_base64url(reply->body, reply->body_length, text);
        buf_add_json_member_string(&line, "bytes", text);
        free(text);
    }
    buf_add_string(&line, "}\n");
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd >= 0) {
        ssize_t written = write(fd, line.data, line.length);
        (void)written; /* a short recording fails the check that reads it */
        close(fd);
    }
    buf_free(&line);
}

static void run(const struct http_hooks *hooks, struct worker *worker, struct request *request,
                struct reply *reply, const char *method, const char *raw_target)
{
    int64_t declared =
        request_header(request, "content-length") == NULL ? 0 : (int64_t)request->body_length;
    enum dispatch_next next =
        dispatch_head(hooks, request, reply, method, raw_target, declared, false);
    if (next == DISPATCH_AUTHENTICATE)
        next = dispatch_authenticate(hooks, request, reply, worker);
    if (next == DISPATCH_BODY)
        next = dispatch_body(hooks, request, reply);
    if (next == DISPATCH_EXECUTE)
        dispatch_execute(hooks, request, reply, worker);
}

void http_loopback(const struct http_hooks *hooks, struct worker *worker, const char *method,
                   const char *raw_target, const struct http_pair *headers, size_t header_count,
                   const char *body, size_t body_length, struct loopback_reply *ret_reply)
{
    assets_init();
    struct request request = {
        .path = raw_target,
        .client = "loopback",
        .received_at_us = timestamp_now_us(),
        .body_length = body_length,
    };
    struct reply reply = {0};
    request.headers = arena_calloc(&request.arena, header_count + 1, sizeof(*request.headers));
    for (size_t i = 0; i < header_count; i++)
        request.headers[request.header_count++] = headers[i];
    if (body != NULL) {
        request.body = arena_strndup(&request.arena, body, body_length);
        request.headers[request.header_count++] =
            (struct http_pair){"content-length", arena_printf(&request.arena, "%zu", body_length)};
    }
    dispatch_request_id(&request);
    run(hooks, worker, &request, &reply, method, raw_target);
    dispatch_finish(hooks, &request, &reply);

    struct buf head = {0};
    for (size_t i = 0; i < reply.header_count; i++)
        buf_printf(&head, "%s: %s\r\n", reply.headers[i].name, reply.headers[i].value);
    *ret_reply = (struct loopback_reply){.status = reply.status, .head = buf_detach(&head, NULL)};
    if (reply.stream.produce != NULL) {
        struct buf whole = {0};
        if (strcmp(method, "HEAD") == 0)
            reply.stream.free(reply.stream.closure);
        else if (!stream_drain(&reply.stream, reply.gzip, worker, &whole))
            ret_reply->status = 0; /* a socket would be cut */
        ret_reply->body = buf_detach(&whole, &ret_reply->body_length);
    } else if (reply.fixed != NULL) {
        struct buf copy = {0};
        buf_add(&copy, reply.fixed, reply.fixed_length);
        ret_reply->body = buf_detach(&copy, &ret_reply->body_length);
    } else {
        ret_reply->body = buf_detach(&reply.body, &ret_reply->body_length);
    }
    if (reply.fixed_release != NULL)
        reply.fixed_release(reply.fixed_owner);
    record(method, raw_target, ret_reply, &reply);
    arena_free(&request.arena);
}

void loopback_reply_free(struct loopback_reply *reply)
{
    free(reply->head);
    free(reply->body);
    *reply = (struct loopback_reply){0};
}
