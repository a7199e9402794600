/* The framing guard: refuses requests whose boundaries or names two parsers could read differently,
 * which the library beneath lets through. Pure; any thread. */
#ifndef RACKRATE_HTTP_GUARD_H
#define RACKRATE_HTTP_GUARD_H

#include "server/http/http.h"

#define HEAD_MAX_BYTES 16384

/* What a request's head looks like before anything of it is believed. Header names as sent. */
struct head {
    const char *method;
    const char *target;  /* raw */
    const char *version; /* "HTTP/1.1" */
    const struct http_pair *headers;
    const size_t *value_lengths; /* of each value: shorter strings hide a NUL */
    size_t header_count;
};

/* 0 when the head is sound, else the status to answer with; *ret_slug and *ret_detail say why. The
 * connection must be closed. */
int guard_check(const struct head *head, const char **ret_slug, const char **ret_detail);

/* The body's length the head declares: -1 chunked, 0 none. Only after guard_check gave 0. */
int64_t guard_body_length(const struct head *head);

#endif
