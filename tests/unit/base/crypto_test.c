/* Hashes by known answers, base64url both ways, keys. */
#include "server/auth/key.h"
#include "server/auth/key_cache.h"
#include "server/base/crypto.h"

#include <criterion/criterion.h>
#include <string.h>

static void set_up(void)
{
    cr_assert(crypt_init());
}

TestSuite(crypto, .timeout = 20, .init = set_up);

Test(crypto, blake2b_by_a_known_answer)
{
    uint8_t hash[32];
    char hex[65];
    crypt_hash("abc", 3, hash, sizeof(hash));
    crypt_hex(hash, sizeof(hash), hex);
    /* BLAKE2b-256 of "abc". */
    cr_expect_str_eq(hex, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
    struct crypt_hasher hasher;
    uint8_t again[32];
    crypt_hasher_init(&hasher, 32);
    crypt_hasher_add(&hasher, "a", 1);
    crypt_hasher_add(&hasher, "bc", 2);
    crypt_hasher_finish(&hasher, again);
    cr_expect(crypt_equal(hash, again, 32));
}

Test(crypto, base64url_both_ways)
{
    for (size_t length = 0; length < 60; length++) {
        uint8_t bytes[64], back[64];
        char text[CRYPT_BASE64_SIZE(64) + 4];
        size_t got;
        crypt_random(bytes, sizeof(bytes));
        crypt_base64url(bytes, length, text);
        cr_expect(strpbrk(text, "+/=") == NULL);
        cr_assert(crypt_base64url_decode(text, strlen(text), back, sizeof(back), &got));
        cr_expect(got == length && memcmp(bytes, back, length) == 0);
    }
    size_t got;
    char out[8];
    cr_expect(!crypt_base64url_decode("a b", 3, out, sizeof(out), &got));
    cr_expect(!crypt_base64url_decode("AAAAAAAAAAAAAAAA", 16, out, sizeof(out), &got),
              "too long for the room");
}

Test(crypto, keys_are_shaped_and_found_by_hash)
{
    char text[KEY_TEXT_LENGTH + 1], other[KEY_TEXT_LENGTH + 1];
    uint8_t hash[KEY_HASH_BYTES];
    struct arena arena = {0};
    struct key_entry entry = {.key_id = 7, .provider_slug = "acme"}, found;
    key_generate(text);
    key_generate(other);
    cr_expect(strncmp(text, "rr_", 3) == 0 && strlen(text) == KEY_TEXT_LENGTH &&
              strcmp(text, other) != 0);
    cr_assert(key_hash(text, entry.hash));
    cr_expect(!key_hash("rr_short", hash) && !key_hash("", hash));
    struct key_cache *cache = key_cache_new();
    key_cache_replace(cache, 5, false, &entry, 1);
    cr_expect(key_cache_find(cache, entry.hash, &arena, &found) && found.key_id == 7 &&
              strcmp(found.provider_slug, "acme") == 0);
    cr_assert(key_hash(other, hash));
    cr_expect(!key_cache_find(cache, hash, &arena, &found));
    key_cache_replace(cache, 4, false, NULL, 0);
    cr_expect(key_cache_find(cache, entry.hash, &arena, &found), "an older list is passed over");
    key_cache_replace(cache, 6, false, NULL, 0);
    cr_expect(!key_cache_find(cache, entry.hash, &arena, &found), "a replaced cache forgets");
    key_cache_free(cache);
    arena_free(&arena);
}
