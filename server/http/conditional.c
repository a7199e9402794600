/* If-None-Match and the entity tags of compressed variants: `"x-gzip"` stands for the gzip form of
 * `"x"`. */
#include "server/http/conditional.h"

#include <string.h>

#define SUFFIX "-gzip\""

static bool same_tag(const char *listed, size_t length, const char *etag, bool *ret_gzip)
{
    size_t etag_length = strlen(etag);
    *ret_gzip = false;
    if (length == etag_length && memcmp(listed, etag, length) == 0)
        return true;
    *ret_gzip = true;
    /* etag is `"x"`: the variant is `"x-gzip"`. */
    return length == etag_length + 5 && memcmp(listed, etag, etag_length - 1) == 0 &&
           memcmp(listed + etag_length - 1, SUFFIX, sizeof(SUFFIX) - 1) == 0;
}

bool etag_list_matches(const char *header, const char *etag, bool *ret_gzip)
{
    const char *at = header;
    for (;;) {
        at += strspn(at, " \t,");
        if (*at == '\0')
            return false;
        *ret_gzip = false;
        if (*at == '*')
            return true;
        if (at[0] == 'W' && at[1] == '/')
            at += 2; /* GET compares weakly */
        if (*at != '"')
            return false;
        const char *end = strchr(at + 1, '"');
        if (end == NULL)
            return false;
        if (same_tag(at, (size_t)(end - at) + 1, etag, ret_gzip))
            return true;
        at = end + 1;
    }
}

bool reply_not_modified(struct request *request, struct reply *reply, const char *etag)
{
    const char *header = request_header(request, "if-none-match");
    bool gzip = false;
    if (header == NULL || request->method != HTTP_GET || !etag_list_matches(header, etag, &gzip))
        return false;
    buf_clear(&reply->body);
    reply->status = 304;
    reply->etag = etag;
    /* The tag the client holds: whether its answer was compressed depends on its size. */
    reply->encoded = true;
    reply->gzip = gzip;
    return true;
}

const char *etag_of_variant(struct arena *arena, const char *etag, bool gzip)
{
    return gzip ? arena_printf(arena, "%.*s" SUFFIX, (int)strlen(etag) - 1, etag) : etag;
}
