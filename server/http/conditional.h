/* Entity tags: comparison and the tags of compressed variants. Pure; any thread. */
#ifndef RACKRATE_HTTP_CONDITIONAL_H
#define RACKRATE_HTTP_CONDITIONAL_H

#include "server/http/http.h"

/* Whether an If-None-Match header (a list, or `*`) names this strong tag or its gzip variant,
 * weakly compared; *ret_gzip tells which of them matched. */
bool etag_list_matches(const char *header, const char *etag, bool *ret_gzip);

/* The tag as sent: `"x"` plain, `"x-gzip"` compressed. */
const char *etag_of_variant(struct arena *arena, const char *etag, bool gzip);

#endif
