/* UTF-8 by utf8proc; the pool is a table without chains: a lost slot costs one more copy. */
#include "server/inventory/text.h"

#include <stdint.h>
#include <string.h>
#include <utf8proc.h>

bool text_is_utf8(const char *bytes, size_t length)
{
    const utf8proc_uint8_t *at = (const utf8proc_uint8_t *)bytes;
    utf8proc_ssize_t rest = (utf8proc_ssize_t)length;
    while (rest > 0) {
        utf8proc_int32_t codepoint;
        uint64_t eight;
        if (rest >= 8 && (memcpy(&eight, at, 8), (eight & UINT64_C(0x8080808080808080)) == 0)) {
            at += 8;
            rest -= 8;
            continue;
        }
        utf8proc_ssize_t used = *at < 0x80 ? 1 : utf8proc_iterate(at, rest, &codepoint);
        if (used < 1)
            return false;
        at += used;
        rest -= used;
    }
    return true;
}

/* Of UTF-8: C1 controls, and what is not seen but changes what is read: zero-width characters,
 * marks and overrides of direction, the byte order mark. */
static bool is_invisible(const unsigned char *at, size_t left)
{
    if (left >= 2 && at[0] == 0xc2)
        return at[1] <= 0x9f;
    if (left < 3)
        return false;
    if (at[0] == 0xe2 && at[1] == 0x80)
        return (at[2] >= 0x8b && at[2] <= 0x8f) || (at[2] >= 0xaa && at[2] <= 0xae);
    return (at[0] == 0xe2 && at[1] == 0x81 && at[2] >= 0xa0 && at[2] <= 0xa9) ||
           (at[0] == 0xef && at[1] == 0xbb && at[2] == 0xbf);
}

bool text_is_clean(const char *bytes, size_t length)
{
    const unsigned char *at = (const unsigned char *)bytes;
    bool blank = length > 0;
    for (size_t i = 0; i < length; i++) {
        if (at[i] < 0x20 || at[i] == 0x7f || (at[i] > 0x7f && is_invisible(at + i, length - i)))
            return false;
        blank = blank && at[i] == ' ';
    }
    return !blank;
}

const char *text_pool_keep(struct text_pool *pool, struct arena *arena, const char *bytes,
                           size_t length)
{
    /* FNV-1a; who chooses colliding texts only loses the saving. */
    uint32_t hash = 2166136261U;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 16777619U;
    const char **slot = &pool->slots[hash % TEXT_POOL_SLOTS];
    if (*slot == NULL || strlen(*slot) != length || memcmp(*slot, bytes, length) != 0)
        *slot = arena_strndup(arena, bytes, length);
    return *slot;
}
