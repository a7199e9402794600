/* Reading inventories: under the lock for a writer, by version for a node that keeps up. */
#include "db/inventory.h"

#include "db/offer_row.h"
#include "db/provider_row.h"
#include "server/base/timestamp.h"

#include <string.h>

enum db_status db_inventory_lock(struct db_connection *connection, const char *provider_slug,
                                 struct arena *arena, struct provider *ret_provider)
{
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_text(&params, provider_slug);
    enum db_status status = db_run_one(connection, STATEMENT_PROVIDER_LOCK, &params, &result, &row);
    params_free(&params);
    if (status != DB_OK)
        return status;
    if (!provider_row_read(&row, arena, ret_provider))
        status = DB_FAILED;
    db_result_free(result);
    return status;
}

/* Grows by doubling inside the arena. */
struct baseline_list {
    struct arena *arena;
    struct baseline_entry *entries;
    size_t count, capacity;
};

static bool take_baseline(void *closure, struct db_row *row)
{
    struct baseline_list *list = closure;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 64 : list->capacity * 2;
        struct baseline_entry *entries = arena_alloc(list->arena, capacity * sizeof(*entries));
        if (list->count > 0)
            memcpy(entries, list->entries, list->count * sizeof(*entries));
        list->entries = entries;
        list->capacity = capacity;
    }
    struct baseline_entry *entry = &list->entries[list->count++];
    entry->external_id = row_text(row, list->arena);
    return row_fixed_bytes(row, entry->hash, sizeof(entry->hash));
}

enum db_status db_inventory_baseline(struct db_connection *connection,
                                     const struct provider *provider, struct arena *arena,
                                     struct baseline *ret_baseline)
{
    struct baseline_list list = {.arena = arena};
    struct db_params params = {0};
    param_bigint(&params, provider->id);
    enum db_status status =
        db_run_each(connection, STATEMENT_BASELINE, &params, 0, take_baseline, &list);
    params_free(&params);
    *ret_baseline = (struct baseline){
        .version = provider->version,
        .entries = list.entries,
        .entry_count = list.count,
    };
    return status;
}

enum db_status db_inventory_find(struct db_connection *connection, const struct provider *provider,
                                 const char *external_id, struct arena *arena,
                                 struct offer *ret_offer)
{
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_bigint(&params, provider->id);
    param_text(&params, external_id);
    enum db_status status = db_run_one(connection, STATEMENT_OFFER_FIND, &params, &result, &row);
    params_free(&params);
    if (status != DB_OK)
        return status;
    struct offer_row stored;
    if (!offer_row_read(&row, arena, &stored))
        status = DB_FAILED;
    *ret_offer = stored.offer;
    db_result_free(result);
    return status;
}

struct offer_list {
    struct arena *arena;
    struct offer *offers;
    size_t count, capacity;
};

static bool take_offer(void *closure, struct db_row *row)
{
    struct offer_list *list = closure;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
        struct offer *offers = arena_alloc(list->arena, capacity * sizeof(*offers));
        if (list->count > 0)
            memcpy(offers, list->offers, list->count * sizeof(*offers));
        list->offers = offers;
        list->capacity = capacity;
    }
    struct offer_row stored;
    bool good = offer_row_read(row, list->arena, &stored);
    list->offers[list->count++] = stored.offer;
    return good;
}

struct removed_list {
    struct arena *arena;
    const char **external_ids;
    size_t count, capacity;
};

static bool take_removed(void *closure, struct db_row *row)
{
    struct removed_list *list = closure;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
        const char **external_ids = arena_alloc(list->arena, capacity * sizeof(*external_ids));
        if (list->count > 0)
            memcpy(external_ids, list->external_ids, list->count * sizeof(*external_ids));
        list->external_ids = external_ids;
        list->capacity = capacity;
    }
    list->external_ids[list->count] = row_text(row, list->arena);
    return list->external_ids[list->count++] != NULL;
}

/* Whether removals after this version are still remembered. */
static enum db_status check_remembered(struct db_connection *connection, int64_t provider_id,
                                       int64_t after_version, bool *ret_remembered)
{
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_bigint(&params, provider_id);
    enum db_status status =
        db_run_one(connection, STATEMENT_TOMBSTONES_FROM, &params, &result, &row);
    params_free(&params);
    if (status != DB_OK)
        return status;
    *ret_remembered = row_bigint(&row) <= after_version;
    db_result_free(result);
    return DB_OK;
}

static enum db_status read_since(struct db_connection *connection, const struct provider *provider,
                                 int64_t after_version, struct arena *arena,
                                 struct inventory_delta *ret_delta)
{
    bool remembered = false;
    enum db_status status = DB_OK;
    if (after_version >= 0)
        status = check_remembered(connection, provider->id, after_version, &remembered);
    if (status != DB_OK)
        return status;
    struct offer_list offers = {.arena = arena};
    struct removed_list removed = {.arena = arena};
    struct db_params params = {0};
    param_bigint(&params, provider->id);
    if (remembered)
        param_bigint(&params, after_version);
    status = db_run_each(connection, remembered ? STATEMENT_OFFERS_SINCE : STATEMENT_OFFERS_ALL,
                         &params, 0, take_offer, &offers);
    if (status == DB_OK && remembered)
        status =
            db_run_each(connection, STATEMENT_REMOVED_SINCE, &params, 0, take_removed, &removed);
    params_free(&params);
    *ret_delta = (struct inventory_delta){
        .whole = !remembered,
        .offers = offers.offers,
        .offer_count = offers.count,
        .removed_external_ids = removed.external_ids,
        .removed_count = removed.count,
    };
    return status;
}

enum db_status db_inventory_since(struct db_connection *connection, const struct provider *provider,
                                  int64_t after_version, struct arena *arena,
                                  struct inventory_delta *ret_delta)
{
    /* What changed and what was removed must be of one moment. */
    bool own = !db_in_transaction(connection);
    enum db_status status =
        own ? db_run(connection, STATEMENT_BEGIN_SNAPSHOT, NULL, 0, NULL) : DB_OK;
    if (status != DB_OK)
        return status;
    status = read_since(connection, provider, after_version, arena, ret_delta);
    return db_end_own(connection, own, status);
}

enum db_status db_inventory_tombstone(struct db_connection *connection,
                                      const uint8_t offer_id[static OFFER_ID_BYTES],
                                      int64_t *ret_removed_at_us)
{
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_bytes(&params, offer_id, OFFER_ID_BYTES);
    enum db_status status = db_run_one(connection, STATEMENT_TOMBSTONE, &params, &result, &row);
    params_free(&params);
    if (status != DB_OK)
        return status;
    *ret_removed_at_us = row_time(&row);
    db_result_free(result);
    return DB_OK;
}

enum db_status db_type_oids(struct db_connection *connection)
{
    if (connection->oids[0] != 0)
        return DB_OK;
    struct pg_result *result;
    struct db_row row;
    enum db_status status = db_run_one(connection, STATEMENT_TYPE_OIDS, NULL, &result, &row);
    if (status != DB_OK)
        return status;
    for (int i = 0; i < OID_COUNT; i++)
        connection->oids[i] = (uint32_t)row_bigint(&row);
    db_result_free(result);
    return DB_OK;
}
