/* Sets of extra names, as operators add them: sorted by folded key. */
#ifndef RACKRATE_REFERENCE_ALIAS_H
#define RACKRATE_REFERENCE_ALIAS_H

#include <stddef.h>

struct alias {
    const char *key; /* folded */
    const char *slug;
};

struct alias_set {
    const struct alias *items; /* sorted by key, bytes */
    size_t count;
};

/* The slug of a folded key, or NULL. `set` may be NULL. Any thread. */
const char *alias_set_find(const struct alias_set *set, const char *folded_key);

#endif
