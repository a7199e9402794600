/* Folding is the reference tables' own. */
#include "server/catalog/names.h"

#include "server/base/crypto.h"
#include "server/model/offer.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <string.h>

#define FOLDED_SIZE (OFFER_RAW_NAME_MAX_BYTES + 1)

static uint64_t hash_of(const char *folded, size_t length)
{
    if (length == 0)
        return 0;
    uint64_t hash = crypt_short_hash(folded, length);
    return hash == 0 ? 1 : hash;
}

uint64_t gpu_name_hash(const char *raw)
{
    char folded[FOLDED_SIZE];
    if (raw == NULL)
        return 0;
    return hash_of(folded, gpu_name_fold(raw, folded, sizeof(folded)));
}

uint64_t region_name_hash(const char *raw)
{
    char folded[FOLDED_SIZE];
    if (raw == NULL)
        return 0;
    place_name_fold(raw, folded, sizeof(folded));
    return hash_of(folded, strlen(folded));
}
