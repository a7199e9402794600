/* The names of one offer resolved again after operators' names changed. Pure; any thread. */
#ifndef RACKRATE_REFERENCE_OFFER_NAMES_H
#define RACKRATE_REFERENCE_OFFER_NAMES_H

#include "server/reference/alias.h"

#include <stdbool.h>

struct offer;

/* Resolves what meant nothing so far, and what `before` and `after` disagree about, by `after`;
 * everything else stays as it is (a catalogue's decoder may have known more than the name says).
 * `before` are the operators' names it was resolved with; either may be NULL for none. Gives
 * whether GPU, memory or place of the offer are others now. */
bool offer_names_resolve(struct offer *offer, const char *provider_slug,
                         const struct alias_sets *before, const struct alias_sets *after);

/* Whether two states of the operators' names disagree about a raw GPU name; about a provider's word
 * for a place (NULL: no word). Either state may be NULL for none. */
bool offer_names_gpu_is_disputed(const char *raw, const struct alias_sets *before,
                                 const struct alias_sets *after);
bool offer_names_place_is_disputed(const char *provider_slug, const char *raw,
                                   const struct alias_sets *before, const struct alias_sets *after);

#endif
