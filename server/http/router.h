/* Finding a route by method and path. Pure; any thread. */
#ifndef RACKRATE_HTTP_ROUTER_H
#define RACKRATE_HTTP_ROUTER_H

#include "server/http/http.h"

/* Whether a raw path (before decoding) fits a pattern; fills captures (decoded, in the arena). A
 * segment that can't be decoded fits nothing. */
bool route_matches(const char *pattern, const char *raw_path, struct arena *arena,
                   const char *captures[static 4], size_t *ret_count);

/* The route of (method, path), or NULL; *ret_allowed is the set of methods the path takes, 0 where
 * no pattern fits. */
const struct route *route_find(const struct route *routes, unsigned method, const char *raw_path,
                               bool ops, struct request *request, unsigned *ret_allowed);

/* `GET, HEAD, OPTIONS` of a set of methods. */
const char *methods_text(struct arena *arena, unsigned methods);

/* The method of a word, 0 where unknown. */
unsigned method_parse(const char *text);

#endif
