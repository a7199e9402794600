/* One pass over the ranges of the header for each type. */
#include "server/http/accept.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* `q=0.75` among a range's parameters; 1000 where there is none. */
static int quality_of(const char *parameters, size_t length)
{
    const char *end = parameters + length;
    for (const char *at = parameters; at < end; at++) {
        if (*at != ';')
            continue;
        for (at++; at < end && (*at == ' ' || *at == '\t'); at++)
            ;
        if (end - at < 3 || (*at != 'q' && *at != 'Q') || at[1] != '=') {
            at--;
            continue;
        }
        int quality = at[2] == '1' ? 1000 : 0, place = 100;
        if (at[2] == '0' && at + 3 < end && at[3] == '.') {
            for (at += 4; at < end && *at >= '0' && *at <= '9' && place > 0; at++, place /= 10)
                quality += (*at - '0') * place;
        }
        return quality;
    }
    return 1000;
}

/* How well a range names the type: 3 itself, 2 all of its kind, 1 anything, 0 not. */
static int fit_of(const char *range, size_t length, const char *type)
{
    size_t kind = strcspn(type, "/") + 1;
    if (length == strlen(type) && strncasecmp(range, type, length) == 0)
        return 3;
    if (length == kind + 1 && strncasecmp(range, type, kind) == 0 && range[kind] == '*')
        return 2;
    return length == 3 && memcmp(range, "*/*", 3) == 0;
}

int accept_quality(const char *header, const char *media_type)
{
    int best_fit = 0, quality = 0;
    if (header == NULL || *header == '\0')
        return 1000;
    for (const char *at = header; *at != '\0';) {
        at += strspn(at, " \t,");
        size_t part = strcspn(at, ","), name = strcspn(at, "; \t,");
        int fit = fit_of(at, name, media_type);
        if (fit > best_fit) {
            best_fit = fit;
            quality = quality_of(at + name, part - name);
        }
        at += part;
    }
    return quality;
}

size_t accept_best(const char *header, const char *const *media_types, size_t count)
{
    size_t best = count;
    int most = 0;
    for (size_t i = 0; i < count; i++) {
        int quality = accept_quality(header, media_types[i]);
        if (quality > most) {
            most = quality;
            best = i;
        }
    }
    return best;
}
