/* Files of static/ and migrations/ that travel inside the binary. The table is made at build time
 * by tests/tools/embed.sh; it is constant, so any thread may read it. */
#ifndef RACKRATE_BASE_ASSET_H
#define RACKRATE_BASE_ASSET_H

#include <stddef.h>

struct asset {
    const char *path; /* from the project's root, e.g. "static/index.html"; NULL ends the table */
    const unsigned char
        *start; /* first byte; one NUL follows the last, so text can be read as a string */
    const unsigned char *end;
};

/* All embedded files, in byte order of their paths. */
extern const struct asset asset_table[];

/* Length of an asset in bytes, without the NUL behind it. */
static inline size_t asset_size(const struct asset *asset)
{
    return (size_t)(asset->end - asset->start);
}

#endif
