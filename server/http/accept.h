/* Which of the media types a resource has the client likes best (RFC 9110, 12.5.1). Pure. */
#ifndef RACKRATE_HTTP_ACCEPT_H
#define RACKRATE_HTTP_ACCEPT_H

#include <stddef.h>

/* What an Accept header (NULL: all is well) thinks of a media type, in thousandths; 0: not at all.
 * The most specific range counts: the type itself, `type/`*, `*`/`*`. */
int accept_quality(const char *header, const char *media_type);

/* Index of the best of `count` types, the first of equal ones; `count` where none is taken. */
size_t accept_best(const char *header, const char *const *media_types, size_t count);

#endif
