/* Patterns are compared segment by segment; the table is short, so it is scanned in order and the
 * first fit wins. */
#include "server/http/router.h"

#include "server/http/query_string.h"

#include <string.h>

static const struct {
    const char *name;
    unsigned method;
} method_names[] = {
    {"GET", HTTP_GET},     {"HEAD", HTTP_HEAD},     {"PUT", HTTP_PUT},         {"POST", HTTP_POST},
    {"PATCH", HTTP_PATCH}, {"DELETE", HTTP_DELETE}, {"OPTIONS", HTTP_OPTIONS},
};
#define METHOD_COUNT (sizeof(method_names) / sizeof(method_names[0]))

unsigned method_parse(const char *text)
{
    for (size_t i = 0; i < METHOD_COUNT; i++) {
        if (strcmp(text, method_names[i].name) == 0)
            return method_names[i].method;
    }
    return 0;
}

const char *methods_text(struct arena *arena, unsigned methods)
{
    const char *text = "";
    if ((methods & HTTP_GET) != 0)
        methods |= HTTP_HEAD;
    methods |= HTTP_OPTIONS;
    for (size_t i = 0; i < METHOD_COUNT; i++) {
        if ((methods & method_names[i].method) != 0)
            text = arena_printf(arena, "%s%s%s", text, *text == '\0' ? "" : ", ",
                                method_names[i].name);
    }
    return text;
}

bool route_matches(const char *pattern, const char *raw_path, struct arena *arena,
                   const char *captures[static 4], size_t *ret_count)
{
    size_t count = 0;
    const char *p = pattern, *at = raw_path;
    while (*p == '/' && *at == '/') {
        p++;
        at++;
        size_t pattern_length = strcspn(p, "/"), length = strcspn(at, "/");
        bool rest = pattern_length > 2 && p[0] == '{' && p[pattern_length - 2] == '*';
        if (rest)
            length = strlen(at);
        if (p[0] == '{') {
            const char *decoded = length == 0 ? NULL : percent_decode(arena, at, length, false);
            if (decoded == NULL || count == 4)
                return false;
            captures[count++] = decoded;
        } else if (pattern_length != length || memcmp(p, at, length) != 0) {
            return false;
        }
        p += pattern_length;
        at += length;
    }
    *ret_count = count;
    return *p == '\0' && *at == '\0';
}

const struct route *route_find(const struct route *routes, unsigned method, const char *raw_path,
                               bool ops, struct request *request, unsigned *ret_allowed)
{
    const struct route *found = NULL;
    const char *fitting =
        NULL; /* the pattern that fits first rules: a later catch-all adds no methods to it */
    *ret_allowed = 0;
    for (const struct route *route = routes; route->methods != 0; route++) {
        const char *captures[4] = {0};
        size_t count;
        if ((ops && !route->ops) || (fitting != NULL && strcmp(fitting, route->pattern) != 0))
            continue;
        if (fitting == NULL &&
            !route_matches(route->pattern, raw_path, &request->arena, captures, &count))
            continue;
        if (fitting == NULL) {
            memcpy(request->captures, captures, sizeof(captures));
            request->capture_count = count;
            fitting = route->pattern;
        }
        *ret_allowed |= route->methods;
        if ((route->methods & method) != 0 && found == NULL)
            found = route;
    }
    return found;
}
