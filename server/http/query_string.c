/* The target is split before it is decoded, so that %2F inside a segment and %26 inside a value
 * stay what they are. */
#include "server/http/query_string.h"

#include <string.h>
#include <utf8proc.h>

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static bool is_utf8(const char *text, size_t length)
{
    const utf8proc_uint8_t *at = (const utf8proc_uint8_t *)text;
    utf8proc_ssize_t rest = (utf8proc_ssize_t)length;
    while (rest > 0) {
        utf8proc_int32_t codepoint;
        utf8proc_ssize_t used = utf8proc_iterate(at, rest, &codepoint);
        if (used < 1)
            return false;
        at += used;
        rest -= used;
    }
    return true;
}

char *percent_decode(struct arena *arena, const char *text, size_t length, bool plus)
{
    char *out = arena_alloc(arena, length + 1);
    size_t at = 0;
    for (size_t i = 0; i < length; i++) {
        char byte = text[i];
        if (byte == '%') {
            if (length - i < 3)
                return NULL;
            int high = hex_value(text[i + 1]);
            int low = hex_value(text[i + 2]);
            if (high < 0 || low < 0)
                return NULL;
            byte = (char)(high * 16 + low);
            i += 2;
        } else if (plus && byte == '+') {
            byte = ' ';
        }
        if (byte == '\0')
            return NULL;
        out[at++] = byte;
    }
    out[at] = '\0';
    return is_utf8(out, at) ? out : NULL;
}

bool query_string_parse(struct arena *arena, const char *text, struct http_pair **ret_pairs,
                        size_t *ret_count, const char **ret_bad)
{
    size_t parts = 1;
    for (const char *c = text; *c != '\0'; c++)
        parts += *c == '&';
    struct http_pair *pairs = arena_calloc(arena, parts, sizeof(*pairs));
    size_t count = 0;
    for (const char *at = text;;) {
        size_t length = strcspn(at, "&");
        if (length > 0) {
            const char *equals = memchr(at, '=', length);
            size_t name_length = equals == NULL ? length : (size_t)(equals - at);
            const char *name = percent_decode(arena, at, name_length, true);
            const char *value =
                equals == NULL ? ""
                               : percent_decode(arena, equals + 1, length - name_length - 1, true);
            if (name == NULL || value == NULL) {
                *ret_bad = name == NULL ? "query" : name;
                return false;
            }
            pairs[count++] = (struct http_pair){name, value};
        }
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    *ret_pairs = pairs;
    *ret_count = count;
    return true;
}
