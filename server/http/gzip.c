/* zlib with a gzip wrapper. */
#include "server/http/gzip.h"

#include "server/base/arena.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

/* Whether the parameters of one coding (`;q=0.000`) say "not at all". */
static bool quality_is_zero(const char *parameters, size_t length)
{
    for (size_t i = 0; i + 2 < length; i++) {
        if ((parameters[i] == 'q' || parameters[i] == 'Q') && parameters[i + 1] == '=') {
            for (size_t k = i + 2; k < length && parameters[k] != ';'; k++) {
                if (parameters[k] >= '1' && parameters[k] <= '9')
                    return false;
            }
            return true;
        }
    }
    return false;
}

bool accepts_gzip(const char *header)
{
    bool star = false;
    for (const char *at = header; at != NULL && *at != '\0';) {
        at += strspn(at, " \t,");
        size_t part = strcspn(at, ",");
        size_t name = strcspn(at, "; \t,");
        bool zero = quality_is_zero(at + name, part - name);
        if ((name == 4 && strncasecmp(at, "gzip", 4) == 0) ||
            (name == 6 && strncasecmp(at, "x-gzip", 6) == 0))
            return !zero;
        if (name == 1 && *at == '*')
            star = !zero;
        at += part;
    }
    return star;
}

unsigned char *gzip_bytes(const void *bytes, size_t length, int level, size_t *ret_length)
{
    z_stream stream = {0};
    if (length == 0 || length > UINT_MAX ||
        deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return NULL;
    unsigned char *out = xmalloc(length);
    stream.next_in = (z_const Bytef *)bytes;
    stream.avail_in = (uInt)length;
    stream.next_out = out;
    stream.avail_out = (uInt)length;
    int status = deflate(&stream, Z_FINISH);
    *ret_length = length - stream.avail_out;
    deflateEnd(&stream);
    if (status != Z_STREAM_END) {
        free(out);
        return NULL;
    }
    return out;
}
