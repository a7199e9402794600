/* Randomness and hashing; the only file pair that knows libsodium. Call crypt_init before threads
 * start; the rest may be called by any thread. */
#ifndef RACKRATE_BASE_CRYPT_H
#define RACKRATE_BASE_CRYPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CRYPT_HASH_BYTES 32
#define CRYPT_ID_BYTES   16

/* Makes the library ready; false is fatal. */
bool crypt_init(void);

/* Fills with random bytes. */
void crypt_random(void *bytes, size_t length);

/* BLAKE2b of `length` bytes, `hash_length` (16..32) bytes long. */
void crypt_hash(const void *bytes, size_t length, void *ret_hash, size_t hash_length);

/* A hash fed piece by piece. Opaque; on the stack of the caller. */
struct crypt_hasher {
    _Alignas(64) unsigned char opaque[384];
    size_t hash_length;
};
void crypt_hasher_init(struct crypt_hasher *hasher, size_t hash_length);
void crypt_hasher_add(struct crypt_hasher *hasher, const void *bytes, size_t length);
void crypt_hasher_finish(struct crypt_hasher *hasher, void *ret_hash);

/* SipHash of bytes under a key chosen at crypt_init: for tables whose keys an attacker can choose.
 */
uint64_t crypt_short_hash(const void *bytes, size_t length);

/* Compares equally long secrets in constant time. */
bool crypt_equal(const void *a, const void *b, size_t length);

/* Overwrites a secret. */
void crypt_wipe(void *bytes, size_t length);

/* Base64url without padding; `out` holds at least CRYPT_BASE64_SIZE(length) bytes, NUL included.
 */
#define CRYPT_BASE64_SIZE(length) (((length)*4 + 2) / 3 + 1)
void crypt_base64url(const void *bytes, size_t length, char *out);

/* Decodes base64url without padding into at most `size` bytes; false where malformed or too long.
 */
bool crypt_base64url_decode(const char *text, size_t text_length, void *out, size_t size,
                            size_t *ret_length);

/* Lower-case hexadecimal; `out` holds length * 2 + 1 bytes. */
void crypt_hex(const void *bytes, size_t length, char *out);

#endif
