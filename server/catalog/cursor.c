/* A cursor is 41 bytes in base64url: version, hash of its query, last sort key, last id, and a
 * check over these, so that a text that was cut, altered or made for another query is known for
 * what it is. It holds nothing secret and needs no key: every node reads every node's, and one that
 * somebody forges with care leads to a page of the same public list. */
#include "server/base/crypto.h"
#include "server/catalog/query_private.h"

#include <assert.h>
#include <string.h>

#define CURSOR_VERSION 1
#define CURSOR_BYTES   41
#define CHECKED_BYTES  33

static const char domain[] = "rackrate offers cursor";

static void put_number(uint8_t *out, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get_number(const uint8_t *in)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)in[i] << (8 * i);
    return value;
}

static void add_check(uint8_t bytes[static CURSOR_BYTES])
{
    uint8_t input[sizeof(domain) + CHECKED_BYTES], hash[16];
    memcpy(input, domain, sizeof(domain));
    memcpy(input + sizeof(domain), bytes, CHECKED_BYTES);
    crypt_hash(input, sizeof(input), hash, sizeof(hash));
    memcpy(bytes + CHECKED_BYTES, hash, CURSOR_BYTES - CHECKED_BYTES);
}

void cursor_print(uint64_t query_hash, int64_t key, struct offer_key id,
                  char out[static CURSOR_TEXT_SIZE])
{
    static_assert(CRYPT_BASE64_SIZE(CURSOR_BYTES) <= CURSOR_TEXT_SIZE, "a cursor fits its buffer");
    uint8_t bytes[CURSOR_BYTES];
    bytes[0] = CURSOR_VERSION;
    put_number(bytes + 1, query_hash);
    put_number(bytes + 9, (uint64_t)key);
    put_number(bytes + 17, id.high);
    put_number(bytes + 25, id.low);
    add_check(bytes);
    crypt_base64url(bytes, sizeof(bytes), out);
}

bool cursor_parse(const char *text, uint64_t query_hash, int64_t *ret_key, struct offer_key *ret_id)
{
    uint8_t bytes[CURSOR_BYTES], expected[CURSOR_BYTES];
    size_t length;
    if (!crypt_base64url_decode(text, strlen(text), bytes, sizeof(bytes), &length) ||
        length != CURSOR_BYTES)
        return false;
    memcpy(expected, bytes, CHECKED_BYTES);
    add_check(expected);
    if (memcmp(bytes, expected, CURSOR_BYTES) != 0 || bytes[0] != CURSOR_VERSION ||
        get_number(bytes + 1) != query_hash)
        return false;
    *ret_key = (int64_t)get_number(bytes + 9);
    ret_id->high = get_number(bytes + 17);
    ret_id->low = get_number(bytes + 25);
    return true;
}
