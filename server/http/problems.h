/* The registry of problems a client can meet: slug, title. The type of a problem is
 * `/docs#problem-SLUG`. */
#ifndef RACKRATE_HTTP_PROBLEMS_H
#define RACKRATE_HTTP_PROBLEMS_H

#define PROBLEMS(X)                                                                                \
    X("bad-request", "The request can't be understood")                                            \
    X("bad-parameter", "A parameter is unknown or malformed")                                      \
    X("bad-header", "A header is malformed")                                                       \
    X("bad-encoding", "The body's encoding is broken")                                             \
    X("malformed-body", "The body is not what it says it is")                                      \
    X("unauthorized", "A valid key is needed")                                                     \
    X("forbidden", "This key may not do that")                                                     \
    X("not-found", "There is nothing here")                                                        \
    X("method-not-allowed", "This address does not take that method")                              \
    X("not-acceptable", "Nothing this address gives is acceptable to the client")                  \
    X("conflict", "The request conflicts with what is there")                                      \
    X("exists", "It exists already")                                                               \
    X("many-removals", "The upload would remove most of the inventory")                            \
    X("idempotency-key-busy", "The first request with this key still runs")                        \
    X("idempotency-key-reused", "The key was used for another request")                            \
    X("gone", "It was here and was removed")                                                       \
    X("length-required", "The body's length must be given")                                        \
    X("precondition-failed", "A precondition does not hold")                                       \
    X("too-large", "The body is too large")                                                        \
    X("uri-too-long", "The address is too long")                                                   \
    X("unsupported-media-type", "The body's type is not taken here")                               \
    X("invalid-body", "The body is not valid")                                                     \
    X("rejected-rows", "Rows of the upload were refused")                                          \
    X("rate-limited", "Too many requests")                                                         \
    X("head-too-large", "The request's head is too large")                                         \
    X("internal", "Something failed here")                                                         \
    X("not-implemented", "The method is not known")                                                \
    X("unavailable", "Not possible right now")

#endif
