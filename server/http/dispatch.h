/* One request from its head to its finished reply, the same for sockets and the loopback. The
 * stages are called in order: dispatch_head, dispatch_authenticate (worker) if asked for,
 * dispatch_body once the body is there, dispatch_execute (worker) if asked for, dispatch_finish. A
 * stage that sets reply->status ends the request early. */
#ifndef RACKRATE_HTTP_DISPATCH_H
#define RACKRATE_HTTP_DISPATCH_H

#include "server/http/http.h"

enum dispatch_next {
    DISPATCH_REPLY,        /* the reply is filled: finish */
    DISPATCH_AUTHENTICATE, /* run dispatch_authenticate on a worker, then wait for the body */
    DISPATCH_BODY,         /* wait for the body (if any), then dispatch_body */
    DISPATCH_EXECUTE,      /* run dispatch_execute on a worker, then finish */
};

/* Head complete: decodes the target, finds the route, checks method, key and what the headers
 * promise of the body. `declared_length` is -1 unknown (chunked), 0 none. `ops` serves only routes
 * of the ops listener. */
enum dispatch_next dispatch_head(const struct http_hooks *hooks, struct request *request,
                                 struct reply *reply, const char *method, const char *raw_target,
                                 int64_t declared_length, bool ops);
enum dispatch_next dispatch_authenticate(const struct http_hooks *hooks, struct request *request,
                                         struct reply *reply, struct worker *worker);
enum dispatch_next dispatch_body(const struct http_hooks *hooks, struct request *request,
                                 struct reply *reply);
void dispatch_execute(const struct http_hooks *hooks, struct request *request, struct reply *reply,
                      struct worker *worker);

/* Completes the headers (entity tag, caching, CORS, security, request id, Vary), compresses. */
void dispatch_finish(const struct http_hooks *hooks, struct request *request, struct reply *reply);

/* 413 for a body that turned out longer than the route takes. */
void dispatch_too_large(struct request *request, struct reply *reply);

/* A request id: the client's if it is 1-36 of letters, digits, `-_.`, else 16 random bytes as a
 * uuid. */
void dispatch_request_id(struct request *request);

#endif
