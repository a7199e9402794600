/* Any text as a cursor, of a query of any hash: accepted only if it is the very text that
 * cursor_print gives for what was read. The first 8 bytes are the query's hash; the rest is the
 * text, or, where it starts with `!`, 24 bytes to make a cursor of and bytes to change in it. */
#include "server/base/crypto.h"
#include "server/catalog/query_private.h"

#include <stdlib.h>
#include <string.h>

static void check(const char *text, uint64_t hash)
{
    struct offer_key id;
    int64_t key;
    char again[CURSOR_TEXT_SIZE];
    if (!cursor_parse(text, hash, &key, &id))
        return;
    cursor_print(hash, key, id, again);
    if (strcmp(text, again) != 0)
        abort(); /* two texts for one place */
}

static void make_and_change(const uint8_t *data, size_t size, uint64_t hash)
{
    char text[CURSOR_TEXT_SIZE];
    struct offer_key id, back;
    int64_t key, key_back;
    if (size < 24)
        return;
    memcpy(&key, data, 8);
    memcpy(&id.high, data + 8, 8);
    memcpy(&id.low, data + 16, 8);
    cursor_print(hash, key, id, text);
    if (!cursor_parse(text, hash, &key_back, &back) || key_back != key ||
        offer_key_compare(id, back) != 0)
        abort();
    if (cursor_parse(text, hash + 1, &key_back, &back))
        abort(); /* bound to its query */
    for (size_t i = 24; i + 1 < size; i += 2) {
        size_t at = data[i] % strlen(text);
        char old = text[at];
        text[at] = (char)data[i + 1];
        if (text[at] != old && cursor_parse(text, hash, &key_back, &back))
            abort();
        text[at] = old;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t hash;
    struct arena arena = {0};
    if (!crypt_init() || size < 9)
        return 0;
    memcpy(&hash, data, 8);
    if (data[8] == '!')
        make_and_change(data + 9, size - 9, hash);
    else
        check(arena_strndup(&arena, (const char *)data + 8, size - 8), hash);
    arena_free(&arena);
    return 0;
}
