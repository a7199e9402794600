/* Decoding of request targets: path segments and query strings. Pure; any thread. */
#ifndef RACKRATE_HTTP_QUERY_STRING_H
#define RACKRATE_HTTP_QUERY_STRING_H

#include "server/http/http.h"

#define TARGET_MAX_BYTES 4096

/* Percent-decodes `length` bytes into the arena (`+` is a space where `plus`). NULL where a percent
 * sign is not followed by two hexadecimal digits, or the result holds NUL or is no valid UTF-8. */
char *percent_decode(struct arena *arena, const char *text, size_t length, bool plus);

/* Splits `a=1&b=2` into decoded pairs in the arena. A part without `=` has the value "". On failure
 * gives false and in *ret_bad the name of the parameter that can't be decoded (or "query"). Empty
 * parts are passed over. */
bool query_string_parse(struct arena *arena, const char *text, struct http_pair **ret_pairs,
                        size_t *ret_count, const char **ret_bad);

#endif
