/* What handlers see of HTTP: a request to read, a reply to fill, and the table that binds them. No
 * handler sees a socket or the library beneath. */
#ifndef RACKRATE_HTTP_HTTP_H
#define RACKRATE_HTTP_HTTP_H

#include "server/base/arena.h"
#include "server/base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum http_method {
    HTTP_GET = 1 << 0, /* HEAD is served by the GET route */
    HTTP_PUT = 1 << 1,
    HTTP_POST = 1 << 2,
    HTTP_PATCH = 1 << 3,
    HTTP_DELETE = 1 << 4,
    HTTP_HEAD = 1 << 5,
    HTTP_OPTIONS = 1 << 6,
};

struct http_pair {
    const char *name;
    const char *value;
};

/* Who asks, once the key is looked up. */
struct principal {
    int64_t key_id;            /* 0: nobody */
    const char *provider_slug; /* NULL for an operator */
    bool admin;
    bool suspended; /* its provider is: refused */
};

struct route;
struct worker; /* what a worker thread brings to execute; made by the application */

struct request {
    struct arena arena; /* lives as long as the request */
    enum http_method method;
    bool head;                 /* HEAD, served as GET without a body */
    const char *path;          /* raw path as sent, before decoding */
    const struct route *route; /* NULL while unmatched */
    const char *captures[4];   /* percent-decoded {…} segments of the pattern, in order */
    size_t capture_count;
    struct http_pair *parameters; /* decoded query string, in order; repeated ones are all here */
    size_t parameter_count;
    struct http_pair *headers; /* names lower-cased */
    size_t header_count;
    char *body; /* as received (still encoded); NULL until complete or none */
    size_t body_length;
    char id[37]; /* request id: the client's X-Request-Id if well-formed, else a new uuid */
    struct principal principal;
    const char *client; /* address for the log and rate limits */
    int64_t received_at_us;
    void *state; /* between prepare, execute and finish; allocate from the arena */
    void *app;   /* the application's own context, as given to http_server_start */
};

/* First header by lower-case name, or NULL. */
const char *request_header(const struct request *request, const char *name);
/* First parameter by name, or NULL. */
const char *request_parameter(const struct request *request, const char *name);

/* False, and a 400 in the reply, when the request has a parameter not in `allowed` (ends with NULL)
 * or one twice; the problem names it and the nearest known one. Called by every route but search,
 * which has its own table. */
struct reply;
bool request_check_parameters(struct request *request, struct reply *reply,
                              const char *const *allowed);

struct reply_header {
    const char *name;
    const char *value;
};

/* A body made piece by piece while it is sent, by worker threads, one piece at a time. */
enum stream_step {
    STREAM_MORE,
    STREAM_END,    /* this piece, which may be empty, was the last */
    STREAM_FAILED, /* there is no way to go on: the reader finds its connection cut */
};
struct reply_stream {
    /* Appends the next piece, of about REPLY_STREAM_BLOCK_BYTES, to `out`; NULL: no stream. */
    enum stream_step (*produce)(void *closure, struct worker *worker, struct buf *out);
    void (*free)(void *closure); /* once, on any thread */
    void *closure;
};
#define REPLY_STREAM_BLOCK_BYTES ((size_t)256 << 10)

struct reply {
    int status;               /* 0 until set */
    const char *content_type; /* default application/json; charset=utf-8 is not added to JSON */
    struct buf body;
    const char *etag; /* strong, with quotes, before the encoding suffix that conditional.c adds;
                         NULL none */
    const char *cache_control; /* NULL: by the route's cache policy */
    struct reply_header headers[16];
    size_t header_count;
    bool close;         /* close the connection after it */
    bool encoded, gzip; /* the body is as it goes out; compressed */
    /* Content of somebody else's instead of `body`: static with a gzip twin made once at start, or
     * shared until it is released. */
    const unsigned char *fixed;
    size_t fixed_length;
    const unsigned char *fixed_gzip;
    size_t fixed_gzip_length;
    void (*fixed_release)(void *owner); /* once `fixed` is sent, on any thread; NULL: it stays */
    void *fixed_owner;
    struct reply_stream stream; /* instead of `body`: a long answer that is never held whole */
};

/* name is trusted; value lives as long as the request (use its arena). */
void reply_add_header(struct reply *reply, const char *name, const char *value);

/* Puts the body into the encoding that the client takes, as happens at the end anyway: for those
 * who keep it as it goes out. */
void reply_encode(struct request *request, struct reply *reply);
/* Whether the client takes gzip. */
bool request_takes_gzip(const struct request *request);

/* RFC 9457 problems. The registry of types is server/http/problems.h: code -> status, slug, title.
 */
struct problem_item {
    const char *pointer;   /* JSON pointer into the body, or NULL */
    const char *parameter; /* query parameter or header, or NULL */
    const char *code;
    const char *message;
    int64_t row;             /* > 0: also written, for uploads */
    const char *external_id; /* written when row > 0 */
};
/* Fills the reply (dropping what it held) with a problem+json of that status: type, title, status,
 * detail, errors[], request_id. */
void reply_problem(struct request *request, struct reply *reply, int status, const char *slug,
                   const char *detail, const struct problem_item *items, size_t item_count);
/* As reply_problem with extra raw JSON members (`"a":1,"b":2`) spliced in; NULL none. */
void reply_problem_with(struct request *request, struct reply *reply, int status, const char *slug,
                        const char *detail, const struct problem_item *items, size_t item_count,
                        const char *members);
/* 503 with Retry-After. */
void reply_unavailable(struct request *request, struct reply *reply, const char *detail,
                       int retry_after_seconds);

/* True, and the reply filled with 304 or 412, when the request's If-None-Match (GET) says so for
 * this etag: call it before building a body. Handles lists, weak comparison, `*`, and the encoding
 * suffix. */
bool reply_not_modified(struct request *request, struct reply *reply, const char *etag);

enum access {
    ACCESS_PUBLIC,
    ACCESS_ANY_KEY, /* a provider's or an admin's; what it may say is the handler's business */
    ACCESS_PROVIDER,
    ACCESS_ADMIN
}; /* PROVIDER: the key's own provider = captures[0], or an admin */
enum cache_policy {
    CACHE_NONE,       /* no-store */
    CACHE_REVALIDATE, /* no-cache: keep it, ask each time */
    CACHE_SHORT,      /* public, max-age=5: assets of the page revalidated soon */
    CACHE_IMMUTABLE,  /* a year: versioned vendor files */
};

struct route {
    unsigned methods; /* one method per row */
    const char
        *pattern; /* "/v1/offers/{id}"; a last segment "{rest*}" takes the rest of the path */
    const char *operation; /* operationId in openapi.json; NULL for the page's files */
    enum access access;
    size_t body_limit_bytes; /* as received; 0: no body allowed */
    enum cache_policy cache;
    const char *const *media_types; /* answered beside application/json, ended by NULL; NULL none */
    bool ops;                       /* also answered on the ops listener */
    /* Either handle (on the loop, memory only), or prepare (loop; leaves reply->status 0 to go on)
     * + execute (worker) + finish (loop; may be NULL when execute filled the reply). */
    void (*handle)(struct request *request, struct reply *reply);
    void (*prepare)(struct request *request, struct reply *reply);
    void (*execute)(struct request *request, struct reply *reply, struct worker *worker);
    void (*finish)(struct request *request, struct reply *reply);
};

struct http_hooks {
    void *app;
    const struct route *routes; /* ends with methods == 0 */
    /* Looks a bearer key up in memory: 1 known (principal filled), 0 unknown here (execute may look
     * in the database). */
    int (*authenticate)(void *app, const char *key, struct arena *arena,
                        struct principal *ret_principal);
    /* Same against the database, on a worker; 1 found, 0 no such key, -1 database away. */
    int (*authenticate_slow)(void *app, struct worker *worker, const char *key, struct arena *arena,
                             struct principal *ret_principal);
    struct worker *(*worker_new)(void *app); /* on the worker's own thread */
    void (*worker_free)(void *app, struct worker *worker);
    /* Adds response headers to every answer from memory while the database is away (how old the
     * data are); may be NULL. */
    void (*decorate)(struct request *request, struct reply *reply);
};

struct http_options {
    const char *listen;         /* host:port; port 0 picks a free one */
    const char *ops_listen;     /* NULL: none */
    unsigned loops;             /* event loops; 0: one per core */
    unsigned workers;           /* worker threads; 0: 4 */
    unsigned queue_limit;       /* waiting requests; beyond: 503 */
    size_t body_budget_bytes;   /* all request bodies in flight together, and again all answers over
                                   1 MiB; beyond: 503 with Retry-After */
    unsigned connection_limit;  /* in all */
    unsigned header_timeout_ms; /* reaper: head complete in time */
    unsigned body_timeout_ms;   /* reaper: no progress in a body (and a floor on its rate) */
    unsigned idle_timeout_ms;   /* keep-alive */
    unsigned stream_limit;      /* bodies streamed at once; beyond: 503 with Retry-After */
    unsigned stream_timeout_ms; /* a stream holds what it tells of for so long, then it is cut */
    unsigned rate_per_minute;   /* requests a minute and client address, on this node; 0: no limit.
                                   Loopback is exempt */
};

struct http_server;
/* Starts listeners, loops, workers. NULL and *ret_error (malloc'd) where it can't. */
struct http_server *http_server_start(const struct http_options *options,
                                      const struct http_hooks *hooks, char **ret_error);
/* The port that was bound. */
unsigned http_server_port(const struct http_server *server);
unsigned http_server_ops_port(const struct http_server *server);
/* Graceful drain: stop accepting, answer what is in flight (new requests on kept connections get
 * 503 + close), wait up to `grace_ms`, stop. Safe with suspended connections. */
void http_server_stop(struct http_server *server, unsigned grace_ms);

/* The loopback: runs one request through router, auth, handler, conditional and compression exactly
 * as a socket would, without one, on the calling thread. `raw_target` is path and query as sent.
 * Reply bytes are in *ret_reply; free with loopback_reply_free. */
struct loopback_reply {
    int status;
    char *head; /* "Name: value\r\n"… */
    char *body;
    size_t body_length;
};
void http_loopback(const struct http_hooks *hooks, struct worker *worker, const char *method,
                   const char *raw_target, const struct http_pair *headers, size_t header_count,
                   const char *body, size_t body_length, struct loopback_reply *ret_reply);
void loopback_reply_free(struct loopback_reply *reply);

#endif
