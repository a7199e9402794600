/* Thin wrappers, so that the choice of primitives is made in one place: BLAKE2b for hashes,
 * SipHash-2-4 for tables. */
#include "server/base/crypto.h"

#include <assert.h>
#include <sodium.h>

static unsigned char short_hash_key[crypto_shorthash_KEYBYTES];

bool crypt_init(void)
{
    if (sodium_init() < 0)
        return false;
    randombytes_buf(short_hash_key, sizeof(short_hash_key));
    return true;
}

void crypt_random(void *bytes, size_t length)
{
    randombytes_buf(bytes, length);
}

void crypt_hash(const void *bytes, size_t length, void *ret_hash, size_t hash_length)
{
    crypto_generichash(ret_hash, hash_length, bytes, length, NULL, 0);
}

static_assert(sizeof(crypto_generichash_state) <= sizeof(((struct crypt_hasher *)0)->opaque),
              "the hasher has room for libsodium's state");

void crypt_hasher_init(struct crypt_hasher *hasher, size_t hash_length)
{
    hasher->hash_length = hash_length;
    crypto_generichash_init((crypto_generichash_state *)(void *)hasher->opaque, NULL, 0,
                            hash_length);
}

void crypt_hasher_add(struct crypt_hasher *hasher, const void *bytes, size_t length)
{
    crypto_generichash_update((crypto_generichash_state *)(void *)hasher->opaque, bytes, length);
}

void crypt_hasher_finish(struct crypt_hasher *hasher, void *ret_hash)
{
    crypto_generichash_final((crypto_generichash_state *)(void *)hasher->opaque, ret_hash,
                             hasher->hash_length);
}

uint64_t crypt_short_hash(const void *bytes, size_t length)
{
    uint64_t hash;
    static_assert(sizeof(hash) == crypto_shorthash_BYTES, "SipHash gives 64 bits");
    crypto_shorthash((unsigned char *)&hash, bytes, length, short_hash_key);
    return hash;
}

bool crypt_equal(const void *a, const void *b, size_t length)
{
    return sodium_memcmp(a, b, length) == 0;
}

void crypt_wipe(void *bytes, size_t length)
{
    sodium_memzero(bytes, length);
}

void crypt_base64url(const void *bytes, size_t length, char *out)
{
    sodium_bin2base64(out,
                      sodium_base64_encoded_len(length, sodium_base64_VARIANT_URLSAFE_NO_PADDING),
                      bytes, length, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

bool crypt_base64url_decode(const char *text, size_t text_length, void *out, size_t size,
                            size_t *ret_length)
{
    const char *end = NULL;
    /* libsodium takes some bytes above 127 for digits where char is signed. */
    for (size_t i = 0; i < text_length; i++) {
        if ((text[i] & 0x80) != 0)
            return false;
    }
    if (sodium_base642bin(out, size, text, text_length, NULL, ret_length, &end,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0)
        return false;
    return end == text + text_length;
}

void crypt_hex(const void *bytes, size_t length, char *out)
{
    sodium_bin2hex(out, length * 2 + 1, bytes, length);
}
