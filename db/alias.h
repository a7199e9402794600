/* Names that operators give to GPUs and places, and the raw names of offers that mean nothing yet.
 * A change is one transaction: the name, every stored offer it speaks of, the counter `reference`
 * that makes nodes load the names again, and the audit log. */
#ifndef RACKRATE_DB_ALIAS_H
#define RACKRATE_DB_ALIAS_H

#include "db/db.h"
#include "server/base/arena.h"
#include "server/model/provider.h"
#include "server/reference/alias.h"

struct operator_name {
    enum alias_kind kind;
    const char *provider; /* whose word for a place it is; "" for everybody's, and for a GPU */
    const char *name;     /* as it was given */
    const char *slug;     /* what it means */
};

/* All of them, by kind, provider and key. */
enum db_status db_alias_list(struct db_connection *connection, struct arena *arena,
                             struct operator_name **ret_names, size_t *ret_count);

/* All of them as resolvers take them, with the version of the reference data. The version is read
 * first: names that change meanwhile are found to be newer by the next who compares. */
enum db_status db_alias_sets(struct db_connection *connection, struct arena *arena,
                             struct alias_sets *ret_sets);

/* The version of the reference data now; in a transaction that holds a provider's lock, it stays so
 * until that ends. */
enum db_status db_reference_version(struct db_connection *connection, int64_t *ret_version);

/* What a change of names did. */
struct alias_effect {
    size_t offers;              /* that mean something else now */
    struct provider *providers; /* whose offers those are, with their new versions */
    size_t provider_count;
};

/* Sets what a name means, or with slug NULL removes it, and resolves every offer it speaks of
 * again. The name must have a key and the slug be known (alias_key, alias_target_is_known).
 * Joins the caller's transaction, if there is one.
 * DB_CONFLICT: no provider has that slug. DB_NONE: there is no such name to remove. Waits for
 * writers of all providers to end, half a second at a time and at most twenty seconds in all (in
 * the caller's transaction once), and holds new ones up until it is done; DB_RETRY where they take
 * longer. */
enum db_status db_alias_change(struct db_connection *connection, const struct operator_name *name,
                               const char *actor, struct arena *arena,
                               struct alias_effect *ret_effect);

/* A raw name that means nothing, with how many live offers of the provider carry it. */
struct unrecognized_name {
    enum alias_kind kind;
    const char *provider;
    const char *name;
    int64_t offers;
};

/* Those of one provider or (NULL) of all, most offers first; the first 10,000. */
enum db_status db_unrecognized_list(struct db_connection *connection, const char *provider_or_null,
                                    struct arena *arena, struct unrecognized_name **ret_names,
                                    size_t *ret_count);

#endif
