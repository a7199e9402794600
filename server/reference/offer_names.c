/* Operators' names decide alone where they know a name, so that only those that differ need another
 * look. */
#include "server/reference/offer_names.h"

#include "server/base/decimal.h"
#include "server/model/offer.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <string.h>

static bool same_slug(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

bool offer_names_gpu_is_disputed(const char *raw, const struct alias_sets *before,
                                 const struct alias_sets *after)
{
    char key[ALIAS_KEY_SIZE];
    return alias_key(ALIAS_GPU, NULL, raw, key) &&
           !same_slug(alias_set_find(before == NULL ? NULL : &before->gpus, key),
                      alias_set_find(after == NULL ? NULL : &after->gpus, key));
}

bool offer_names_place_is_disputed(const char *provider_slug, const char *raw,
                                   const struct alias_sets *before, const struct alias_sets *after)
{
    const char *const owners[] = {provider_slug, ""};
    char key[ALIAS_KEY_SIZE];
    for (size_t i = 0; raw != NULL && i < 2; i++) {
        if (alias_key(ALIAS_PLACE, owners[i], raw, key) &&
            !same_slug(alias_set_find(before == NULL ? NULL : &before->places, key),
                       alias_set_find(after == NULL ? NULL : &after->places, key)))
            return true;
    }
    return false;
}

static bool resolve_gpu(struct offer *offer, const struct alias_sets *after)
{
    struct gpu_match match;
    gpu_resolve(offer->gpu_raw, offer->vram_gb_given_milli, after == NULL ? NULL : &after->gpus,
                &match);
    int64_t vram_gb_milli =
        match.vram_fits ? match.vram_gb_milli : gpu_at(match.gpu)->vram_gb_milli;
    if (match.gpu == offer->gpu && vram_gb_milli == offer->vram_gb_milli)
        return false;
    offer->gpu = match.gpu;
    offer->vram_gb_milli = vram_gb_milli;
    offer->flags &= ~OFFER_FLAG(VRAM_FITS_NO_VARIANT);
    if (!match.vram_fits) {
        offer->flags |= OFFER_FLAG(VRAM_FITS_NO_VARIANT);
        offer->vram_gb_given_milli = UNKNOWN;
    }
    return true;
}

bool offer_names_resolve(struct offer *offer, const char *provider_slug,
                         const struct alias_sets *before, const struct alias_sets *after)
{
    bool news = false;
    if (offer->gpu == gpu_unrecognized() ||
        offer_names_gpu_is_disputed(offer->gpu_raw, before, after))
        news = resolve_gpu(offer, after);
    if (offer->place == INDEX_NONE ||
        offer_names_place_is_disputed(provider_slug, offer->region_raw, before, after) ||
        offer_names_place_is_disputed(provider_slug, offer->zone, before, after)) {
        uint16_t place = place_resolve(provider_slug, offer->region_raw, offer->zone,
                                       after == NULL ? NULL : &after->places);
        news = news || place != offer->place;
        offer->place = place;
    }
    return news;
}
