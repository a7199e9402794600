/* Text from outside: whether it may be stored, and a pool that keeps one copy of what repeats from
 * row to row (GPU names, regions, links), so that an upload in memory is smaller than its body. */
#ifndef RACKRATE_INVENTORY_TEXT_H
#define RACKRATE_INVENTORY_TEXT_H

#include "server/base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether the bytes are valid UTF-8 (no surrogates, nothing overlong). Any thread. */
bool text_is_utf8(const char *bytes, size_t length);

/* Whether valid UTF-8 holds no control character, nothing invisible (zero-width characters, marks
 * of direction) and not blanks alone. Any thread. */
bool text_is_clean(const char *bytes, size_t length);

#define TEXT_POOL_SLOTS 512
struct text_pool {
    const char *slots[TEXT_POOL_SLOTS]; /* by hash; a newer text takes the place of an older one */
};

/* The text as a string in the arena: the same pointer as before where the pool still knows it. */
const char *text_pool_keep(struct text_pool *pool, struct arena *arena, const char *bytes,
                           size_t length);

#endif
