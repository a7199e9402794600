/* Operators' names of one version, shared by the snapshots that were published with them. */
#include "server/catalog/operator_names.h"

#include "server/base/arena.h"

#include <stdatomic.h>
#include <stdlib.h>

struct operator_names {
    _Atomic size_t references;
    struct alias_sets sets; /* in `strings` */
    struct arena strings;
};

static struct alias_set copy_set(struct arena *arena, const struct alias_set *set)
{
    struct alias *items = arena_calloc(arena, set->count, sizeof(*items));
    for (size_t i = 0; i < set->count; i++)
        items[i] = (struct alias){arena_strdup(arena, set->items[i].key),
                                  arena_strdup(arena, set->items[i].slug)};
    return (struct alias_set){items, set->count};
}

struct operator_names *operator_names_new(const struct alias_sets *sets)
{
    struct operator_names *names = xcalloc(1, sizeof(*names));
    names->references = 1;
    names->sets.version = sets->version;
    names->sets.gpus = copy_set(&names->strings, &sets->gpus);
    names->sets.places = copy_set(&names->strings, &sets->places);
    return names;
}

struct operator_names *operator_names_reference(struct operator_names *names)
{
    if (names != NULL)
        atomic_fetch_add_explicit(&names->references, 1, memory_order_relaxed);
    return names;
}

void operator_names_release(struct operator_names *names)
{
    if (names == NULL ||
        atomic_fetch_sub_explicit(&names->references, 1, memory_order_acq_rel) != 1)
        return;
    arena_free(&names->strings);
    free(names);
}

const struct alias_sets *operator_names_sets(const struct operator_names *names)
{
    static const struct alias_sets none;
    return names == NULL ? &none : &names->sets;
}
