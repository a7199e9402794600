/* Names that operators add to those compiled in: which spelling means which GPU or place. Consulted
 * before the program's own. */
#ifndef RACKRATE_REFERENCE_ALIAS_H
#define RACKRATE_REFERENCE_ALIAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest spelling an operator may give, in bytes, and room for its key. */
#define ALIAS_NAME_MAX_BYTES 200
#define ALIAS_KEY_SIZE       320

enum alias_kind { ALIAS_GPU, ALIAS_PLACE };

struct alias {
    const char *key; /* folded, as alias_key makes it */
    const char *slug;
};

struct alias_set {
    const struct alias *items; /* sorted by key, bytes */
    size_t count;
};

/* All operators' names as one state of the database had them. */
struct alias_sets {
    struct alias_set gpus, places;
    int64_t version; /* of the reference data they were read with; 0: none were read */
};

/* The slug of a folded key, or NULL. `set` may be NULL. Any thread. */
const char *alias_set_find(const struct alias_set *set, const char *folded_key);

/* The word of the API for a kind, and back: false for any other word. */
const char *alias_kind_name(enum alias_kind kind);
bool alias_kind_parse(const char *text, enum alias_kind *ret);

/* The key of a spelling in the set of its kind. A place's is its provider's own ("" or NULL:
 * everybody's); a GPU's is everybody's. False where nothing of the name counts (it has no letter or
 * digit). Any thread. */
bool alias_key(enum alias_kind kind, const char *provider, const char *name,
               char out[static ALIAS_KEY_SIZE]);

/* Whether a slug is one that an operator's name may mean: a GPU but `unrecognized`, or a place.
 * Any thread. */
bool alias_target_is_known(enum alias_kind kind, const char *slug);

/* What of the program's own table a name is nearest to, to propose it; NULL where nothing is. Any
 * thread. */
const char *alias_nearest_target(enum alias_kind kind, const char *name);

#endif
