/* Providers and keys in the database. */
#ifndef RACKRATE_DB_PROVIDER_H
#define RACKRATE_DB_PROVIDER_H

#include "db/db.h"
#include "server/model/provider.h"

/* Adds a provider; DB_CONFLICT where the slug is taken. Sets provider->id and version. Audited as
 * `actor`. */
enum db_status db_provider_add(struct db_connection *connection, struct provider *provider,
                               const char *actor);

/* All providers, by slug, into the arena. */
enum db_status db_provider_list(struct db_connection *connection, struct arena *arena,
                                struct provider **ret_providers, size_t *ret_count);
enum db_status db_provider_find(struct db_connection *connection, const char *slug,
                                struct arena *arena, struct provider *ret_provider);

/* Stores everything but slug, id and version of `provider`, bumps its version. DB_NONE where there
 * is none. */
enum db_status db_provider_update(struct db_connection *connection, const struct provider *provider,
                                  const char *actor);

/* What sync polls: (id, version) of every provider, and the version counters of reference and keys.
 * Cheap. */
struct provider_version {
    int64_t id;
    int64_t version;
};
struct version_table {
    struct provider_version *providers; /* by id; malloc'd, free with free() */
    size_t provider_count;
    int64_t keys_version;
    int64_t reference_version;
    int64_t fixings_version; /* of the last fixing published; 0 before the first */
    int64_t latency_version; /* of the measured round trips */
};
enum db_status db_versions(struct db_connection *connection, struct version_table *ret_table);

struct api_key {
    int64_t id;
    char prefix[16];           /* first characters of the key, to tell keys apart in a list */
    uint8_t hash[32];          /* BLAKE2b-256 of the whole key text */
    const char *provider_slug; /* NULL for an operator's */
    bool admin;
    bool revoked;
    int64_t created_at_us;
};
/* Stores a key; provider_slug NULL and admin for an operator's. DB_NONE where the provider is
 * missing. Sets key->id. */
enum db_status db_key_add(struct db_connection *connection, struct api_key *key, const char *actor);
enum db_status db_key_list(struct db_connection *connection, const char *provider_slug_or_null,
                           struct arena *arena, struct api_key **ret_keys, size_t *ret_count);
enum db_status db_key_find(struct db_connection *connection, const uint8_t hash[static 32],
                           struct arena *arena, struct api_key *ret_key);
enum db_status db_key_revoke(struct db_connection *connection, int64_t id, const char *actor);

#endif
