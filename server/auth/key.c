/* High-entropy keys need no slow hash: one BLAKE2b, looked up by equality. */
#include "server/auth/key.h"

#include "server/base/crypto.h"

#include <string.h>

void key_generate(char ret_text[static KEY_TEXT_LENGTH + 1])
{
    uint8_t secret[32];
    crypt_random(secret, sizeof(secret));
    memcpy(ret_text, "rr_", 3);
    crypt_base64url(secret, sizeof(secret), ret_text + 3);
    crypt_wipe(secret, sizeof(secret));
}

bool key_hash(const char *text, uint8_t ret_hash[static KEY_HASH_BYTES])
{
    if (strlen(text) != KEY_TEXT_LENGTH || strncmp(text, "rr_", 3) != 0)
        return false;
    crypt_hash(text, KEY_TEXT_LENGTH, ret_hash, KEY_HASH_BYTES);
    return true;
}
