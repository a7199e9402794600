/* The stages of a request. Errors before the body is read end the request early; the edge then
 * closes the connection, so a refused upload isn't read to its end. */
#include "server/http/dispatch.h"

#include "server/base/crypto.h"
#include "server/base/metrics.h"
#include "server/base/timestamp.h"
#include "server/http/accept.h"
#include "server/http/conditional.h"
#include "server/http/gzip.h"
#include "server/http/query_string.h"
#include "server/http/router.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void dispatch_request_id(struct request *request)
{
    static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
    const char *given = request_header(request, "x-request-id");
    if (given != NULL && *given != '\0' && strlen(given) <= 36 &&
        strspn(given, good) == strlen(given)) {
        snprintf(request->id, sizeof(request->id), "%s", given);
        return;
    }
    unsigned char bytes[16];
    char hex[33];
    crypt_random(bytes, sizeof(bytes));
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40); /* version 4, variant 1 of RFC 9562 */
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    crypt_hex(bytes, sizeof(bytes), hex);
    snprintf(request->id, sizeof(request->id), "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12,
             hex + 16, hex + 20);
}

static bool decode_target(struct request *request, struct reply *reply, const char *raw_target)
{
    const char *mark = strchr(raw_target, '?');
    size_t path_length = mark == NULL ? strlen(raw_target) : (size_t)(mark - raw_target);
    request->path = arena_strndup(&request->arena, raw_target, path_length);
    if (raw_target[0] != '/') {
        reply_problem(request, reply, 400, "bad-request", "The request target must be a path.",
                      NULL, 0);
        return false;
    }
    if (percent_decode(&request->arena, request->path, path_length, false) == NULL) {
        reply_problem(request, reply, 400, "bad-request",
                      "The path holds a broken percent-encoding, %00 or bytes that are no UTF-8.",
                      NULL, 0);
        return false;
    }
    const char *bad = NULL;
    if (mark != NULL && !query_string_parse(&request->arena, mark + 1, &request->parameters,
                                            &request->parameter_count, &bad)) {
        const struct problem_item item = {
            .parameter = bad,
            .code = "malformed",
            .message = arena_printf(
                &request->arena,
                "%.100s holds a broken percent-encoding, %%00 or bytes that are no UTF-8.", bad),
        };
        reply_problem(request, reply, 400, "bad-parameter", item.message, &item, 1);
        return false;
    }
    return true;
}

/* A key in the Authorization header, or NULL. */
static const char *bearer_key(const struct request *request)
{
    const char *header = request_header(request, "authorization");
    if (header == NULL || strncasecmp(header, "Bearer ", 7) != 0)
        return NULL;
    header += 7;
    return header + strspn(header, " ");
}

static enum dispatch_next refuse_key(struct request *request, struct reply *reply,
                                     const char *detail)
{
    reply_problem(request, reply, 401, "unauthorized", detail, NULL, 0);
    reply_add_header(reply, "WWW-Authenticate", "Bearer realm=\"rackrate\"");
    return DISPATCH_REPLY;
}

/* Whether the principal, once known, may call the route. Someone else's provider answers like a
 * missing right, whether it exists or not. */
static bool authorize(struct request *request, struct reply *reply)
{
    const struct principal *principal = &request->principal;
    if (principal->suspended) {
        reply_problem(request, reply, 403, "forbidden",
                      "This provider is suspended, and its keys are refused; ask the operator.",
                      NULL, 0);
        return false;
    }
    bool allowed = principal->admin || request->route->access == ACCESS_ANY_KEY ||
                   (request->route->access == ACCESS_PROVIDER && principal->provider_slug != NULL &&
                    strcmp(principal->provider_slug, request->captures[0]) == 0);
    if (!allowed)
        reply_problem(request, reply, 403, "forbidden",
                      request->route->access == ACCESS_ADMIN
                          ? "This call needs an operator's key."
                          : "This key belongs to another provider.",
                      NULL, 0);
    return allowed;
}

static enum dispatch_next check_access(const struct http_hooks *hooks, struct request *request,
                                       struct reply *reply)
{
    if (request->route->access == ACCESS_PUBLIC)
        return DISPATCH_BODY;
    const char *key = bearer_key(request);
    if (key == NULL)
        return refuse_key(request, reply, "Send a key: Authorization: Bearer rr_…");
    if (hooks->authenticate(hooks->app, key, &request->arena, &request->principal) == 1)
        return authorize(request, reply) ? DISPATCH_BODY : DISPATCH_REPLY;
    if (strncmp(key, "rr_", 3) != 0 || hooks->authenticate_slow == NULL)
        return refuse_key(request, reply, "This key is not known.");
    return DISPATCH_AUTHENTICATE;
}

/* What the headers promise of the body: none where none is taken, a length or chunks where one is,
 * not too long. */
static bool check_body(struct request *request, struct reply *reply, int64_t declared_length)
{
    size_t limit = request->route->body_limit_bytes;
    bool writes = (request->route->methods & (HTTP_PUT | HTTP_POST | HTTP_PATCH)) != 0;
    if (writes && declared_length == 0 && request_header(request, "content-length") == NULL) {
        reply_problem(request, reply, 411, "length-required",
                      "Send Content-Length or a chunked body.", NULL, 0);
        return false;
    }
    if (declared_length > 0 && (uint64_t)declared_length > limit) {
        dispatch_too_large(request, reply);
        return false;
    }
    if (declared_length < 0 && limit == 0) {
        dispatch_too_large(request, reply);
        return false;
    }
    return true;
}

void dispatch_too_large(struct request *request, struct reply *reply)
{
    size_t limit = request->route == NULL ? 0 : request->route->body_limit_bytes;
    reply_problem(request, reply, 413, "too-large",
                  limit == 0
                      ? "This call takes no body."
                      : arena_printf(&request->arena, "This call takes at most %zu bytes.", limit),
                  NULL, 0);
    reply->close = true;
}

static void answer_options(struct request *request, struct reply *reply, unsigned allowed)
{
    const char *methods = methods_text(&request->arena, allowed);
    reply->status = 204;
    reply_add_header(reply, "Allow", methods);
    reply_add_header(reply, "Access-Control-Allow-Methods", "GET, HEAD, OPTIONS");
    reply_add_header(reply, "Access-Control-Allow-Headers", "Accept, If-None-Match, X-Request-Id");
    reply_add_header(reply, "Access-Control-Max-Age", "86400");
}

/* Whether an Accept header takes what the route gives; a missing one takes all. */
static bool acceptable(const struct request *request)
{
    const char *header = request_header(request, "accept");
    if (header == NULL || *header == '\0')
        return true;
    for (const char *const *type = request->route->media_types; type != NULL && *type != NULL;
         type++) {
        if (accept_quality(header, *type) > 0)
            return true;
    }
    if (request->route->operation == NULL || strncmp(request->path, "/v1/", 4) != 0 ||
        strncmp(request->path, "/v1/export/", 11) == 0)
        return true; /* the page, assets and texts: browsers say what they like */
    return strstr(header, "*/*") != NULL || strcasestr(header, "application/json") != NULL ||
           strcasestr(header, "application/*") != NULL ||
           strcasestr(header, "application/problem+json") != NULL;
}

enum dispatch_next dispatch_head(const struct http_hooks *hooks, struct request *request,
                                 struct reply *reply, const char *method, const char *raw_target,
                                 int64_t declared_length, bool ops)
{
    request->app = hooks->app;
    unsigned parsed = method_parse(method);
    if (parsed == 0) {
        reply_problem(request, reply, 501, "not-implemented", "No such method is known here.", NULL,
                      0);
        return DISPATCH_REPLY;
    }
    request->head = parsed == HTTP_HEAD;
    request->method = request->head ? HTTP_GET : (enum http_method)parsed;
    if (!decode_target(request, reply, raw_target))
        return DISPATCH_REPLY;
    unsigned allowed;
    request->route =
        route_find(hooks->routes, request->method, request->path, ops, request, &allowed);
    if (allowed == 0) {
        reply_problem(request, reply, 404, "not-found",
                      "Nothing is at this address; /docs lists what there is.", NULL, 0);
        return DISPATCH_REPLY;
    }
    if (parsed == HTTP_OPTIONS) {
        answer_options(request, reply, allowed);
        return DISPATCH_REPLY;
    }
    if (request->route == NULL) {
        const char *methods = methods_text(&request->arena, allowed);
        reply_problem(request, reply, 405, "method-not-allowed",
                      arena_printf(&request->arena, "This address takes %s.", methods), NULL, 0);
        reply_add_header(reply, "Allow", methods);
        return DISPATCH_REPLY;
    }
    if (!acceptable(request)) {
        reply_problem(request, reply, 406, "not-acceptable", "This address gives application/json.",
                      NULL, 0);
        return DISPATCH_REPLY;
    }
    enum dispatch_next next = check_access(hooks, request, reply);
    if (next != DISPATCH_REPLY && !check_body(request, reply, declared_length))
        next = DISPATCH_REPLY;
    return next;
}

enum dispatch_next dispatch_authenticate(const struct http_hooks *hooks, struct request *request,
                                         struct reply *reply, struct worker *worker)
{
    const char *key = bearer_key(request);
    switch (
        hooks->authenticate_slow(hooks->app, worker, key, &request->arena, &request->principal)) {
    case 1:
        return authorize(request, reply) ? DISPATCH_BODY : DISPATCH_REPLY;
    case 0:
        return refuse_key(request, reply, "This key is not known, or was revoked.");
    default:
        reply_unavailable(request, reply,
                          "The database does not answer, so the key can't be checked.", 2);
        return DISPATCH_REPLY;
    }
}

enum dispatch_next dispatch_body(const struct http_hooks *hooks, struct request *request,
                                 struct reply *reply)
{
    (void)hooks;
    const struct route *route = request->route;
    if (route->handle != NULL) {
        route->handle(request, reply);
        return DISPATCH_REPLY;
    }
    if (route->prepare != NULL)
        route->prepare(request, reply);
    return reply->status != 0 ? DISPATCH_REPLY : DISPATCH_EXECUTE;
}

static const char *cache_control(const struct request *request, const struct reply *reply)
{
    if (reply->cache_control != NULL)
        return reply->cache_control;
    if (request->route == NULL)
        return "no-store";
    switch (request->route->cache) {
    case CACHE_NONE:
        return "no-store";
    case CACHE_REVALIDATE:
        return "no-cache";
    case CACHE_SHORT:
        return "public, max-age=5";
    case CACHE_IMMUTABLE:
        return "public, max-age=31536000, immutable";
    }
    return "no-store";
}

static bool is_text(const char *content_type)
{
    return strstr(content_type, "json") != NULL || strncmp(content_type, "text/", 5) == 0 ||
           strstr(content_type, "csv") != NULL;
}

/* Compresses the body when the client takes gzip and it is worth it; true when the reply is gzip
 * now. */
static bool compress_body(struct reply *reply)
{
    if (reply->stream.produce != NULL)
        return true; /* as it is made */
    if (reply->fixed != NULL) {
        if (reply->fixed_gzip == NULL)
            return false;
        reply->fixed = reply->fixed_gzip;
        reply->fixed_length = reply->fixed_gzip_length;
        return true;
    }
    if (reply->body.length < GZIP_SMALLEST_BYTES)
        return false;
    size_t length;
    unsigned char *bytes = gzip_bytes(reply->body.data, reply->body.length, 1, &length);
    if (bytes == NULL)
        return false;
    buf_free(&reply->body);
    reply->body = (struct buf){.data = (char *)bytes, .length = length, .capacity = length};
    return true;
}

bool request_takes_gzip(const struct request *request)
{
    return accepts_gzip(request_header(request, "accept-encoding"));
}

/* Once, on the thread that made it. */
void reply_encode(struct request *request, struct reply *reply)
{
    if (reply->encoded)
        return;
    reply->encoded = true;
    if (reply->content_type == NULL)
        reply->content_type = "application/json";
    if (!request_takes_gzip(request) || !is_text(reply->content_type))
        return;
    bool has_body = reply->status != 204 && reply->status != 304;
    reply->gzip = has_body ? compress_body(reply) : reply->status == 304;
}

void dispatch_execute(const struct http_hooks *hooks, struct request *request, struct reply *reply,
                      struct worker *worker)
{
    (void)hooks;
    request->route->execute(request, reply, worker);
    if (reply->status != 0 && request->route->finish == NULL)
        reply_encode(request, reply);
}

void dispatch_finish(const struct http_hooks *hooks, struct request *request, struct reply *reply)
{
    if (reply->status == 0)
        reply_problem(request, reply, 500, "internal",
                      "The request was not answered; it is logged.", NULL, 0);
    if (request->route != NULL && request->route->finish != NULL)
        request->route->finish(request, reply);
    reply_encode(request, reply);
    bool has_body = reply->status != 204 && reply->status != 304;
    bool gzip = reply->gzip;
    bool readable = request->route != NULL && request->method == HTTP_GET;
    if (gzip && has_body)
        reply_add_header(reply, "Content-Encoding", "gzip");
    if (has_body)
        reply_add_header(reply, "Content-Type", reply->content_type);
    if (readable && request->route->media_types != NULL)
        reply_add_header(reply, "Vary", "Accept, Accept-Encoding");
    else if (readable || gzip)
        reply_add_header(reply, "Vary", "Accept-Encoding");
    if (reply->etag != NULL && reply->status < 400)
        reply_add_header(reply, "ETag", etag_of_variant(&request->arena, reply->etag, gzip));
    reply_add_header(reply, "Cache-Control", cache_control(request, reply));
    reply_add_header(reply, "X-Request-Id", request->id);
    reply_add_header(reply, "X-Content-Type-Options", "nosniff");
    reply_add_header(reply, "Access-Control-Allow-Origin", "*");
    reply_add_header(reply, "Access-Control-Expose-Headers",
                     "ETag, Link, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, "
                     "X-Rackrate-Data-Age-Seconds");
    if (hooks->decorate != NULL && readable)
        hooks->decorate(request, reply);
    metrics_observe_request(request->route == NULL ? NULL : request->route->operation,
                            reply->status, timestamp_now_us() - request->received_at_us);
}
