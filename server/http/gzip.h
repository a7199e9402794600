/* Compression of answers. Pure; any thread. */
#ifndef RACKRATE_HTTP_GZIP_H
#define RACKRATE_HTTP_GZIP_H

#include <stdbool.h>
#include <stddef.h>

#define GZIP_SMALLEST_BYTES 1024 /* below, the head outweighs what is saved */

/* Whether an Accept-Encoding header (or NULL) takes gzip: named, or `*`, with a quality above 0. */
bool accepts_gzip(const char *header);

/* A malloc'd gzip of the bytes; NULL where it would not be smaller. Level 1 for answers made per
 * request, 9 for files made once. */
unsigned char *gzip_bytes(const void *bytes, size_t length, int level, size_t *ret_length);

#endif
