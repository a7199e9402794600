/* API keys: `rr_` and 43 characters of base64url over 32 random bytes. Only their hash is kept.
 * Pure but for randomness; any thread. */
#ifndef RACKRATE_AUTH_KEY_H
#define RACKRATE_AUTH_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEY_TEXT_LENGTH 46
#define KEY_HASH_BYTES  32
#define KEY_PREFIX_LENGTH                                                                          \
    9 /* `rr_` and six characters: enough to tell keys apart, useless to guess the rest */

/* Makes a new key. The text is shown once and wiped by the caller (crypt_wipe). */
void key_generate(char ret_text[static KEY_TEXT_LENGTH + 1]);

/* BLAKE2b-256 of the key's text; false where it is not shaped like a key. */
bool key_hash(const char *text, uint8_t ret_hash[static KEY_HASH_BYTES]);

#endif
