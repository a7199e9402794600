/* Which providers a change of names touches is read off the distinct raw names; only their offers
 * are looked at. */
#include "db/resolve.h"

#include "db/connection.h"
#include "db/inventory.h"
#include "db/offer_row.h"
#include "db/provider.h"
#include "server/base/log.h"
#include "server/base/timestamp.h"
#include "server/reference/gpu.h"
#include "server/reference/offer_names.h"
#include "server/reference/place.h"

#include <string.h>

struct resolving {
    struct arena *arena;
    const char *provider_slug;
    const struct alias_sets *before, *after;
    struct change_set set;
    size_t capacity;
};

static bool take_offer(void *closure, struct db_row *row)
{
    struct resolving *resolving = closure;
    struct offer_row *stored = arena_alloc(resolving->arena, sizeof(*stored));
    if (!offer_row_read(row, resolving->arena, stored))
        return false;
    struct change_set *set = &resolving->set;
    /* A GPU or place that only another release knows is not for this one to change. */
    if (stored->unknown_gpu || stored->unknown_place ||
        !offer_names_resolve(&stored->offer, resolving->provider_slug, resolving->before,
                             resolving->after))
        return true;
    if (set->change_count == resolving->capacity) {
        size_t capacity = resolving->capacity == 0 ? 64 : resolving->capacity * 2;
        struct change *changes = arena_alloc(resolving->arena, capacity * sizeof(*changes));
        if (set->change_count > 0)
            memcpy(changes, set->changes, set->change_count * sizeof(*changes));
        set->changes = changes;
        resolving->capacity = capacity;
    }
    struct change *change = &set->changes[set->change_count++];
    *change = (struct change){
        .kind = CHANGE_UPDATED, .external_id = stored->offer.external_id, .after = &stored->offer};
    offer_content_hash(&stored->offer, gpu_at(stored->offer.gpu)->slug,
                       stored->offer.place == INDEX_NONE ? NULL
                                                         : place_at(stored->offer.place)->slug,
                       change->hash);
    set->updated++;
    return true;
}

/* One provider. `every`: all of its offers, not only those that mean nothing. *ret_offers is how
 * many mean something else now; *ret_provider (strings in the arena) is as it is after it. */
static enum db_status resolve_provider(struct db_connection *connection, const char *slug,
                                       const struct alias_sets *before,
                                       const struct alias_sets *after, bool every,
                                       const char *actor, struct arena *arena,
                                       struct provider *ret_provider, size_t *ret_offers)
{
    *ret_offers = 0;
    enum db_status status = db_inventory_lock(connection, slug, arena, ret_provider);
    if (status != DB_OK)
        return status;
    struct resolving resolving = {
        .arena = arena,
        .provider_slug = slug,
        .before = before,
        .after = after,
        .set = {.mode = CHANGE_UPSERT, .base_version = ret_provider->version},
    };
    struct db_params params = {0};
    param_bigint(&params, ret_provider->id);
    param_bool(&params, every);
    status =
        db_run_each(connection, STATEMENT_OFFERS_TO_RESOLVE, &params, 0, take_offer, &resolving);
    params_free(&params);
    if (status != DB_OK || resolving.set.change_count == 0)
        return status;
    const struct upload_record record = {
        .kind = "reference",
        .format = "none",
        .actor = actor,
        .confirmed_at_us = TIMESTAMP_UNKNOWN,
    };
    char upload_id[37];
    *ret_offers = resolving.set.change_count;
    log_info("names of offers mean something else now", "provider=%s offers=%zu", slug,
             *ret_offers);
    return db_inventory_apply(connection, ret_provider, &resolving.set, &record, arena, upload_id);
}

enum db_status db_resolve_unknown(struct db_connection *connection, const char *actor)
{
    struct arena arena = {0};
    struct provider *providers;
    size_t count = 0;
    struct alias_sets names;
    enum db_status status = db_alias_sets(connection, &arena, &names);
    if (status == DB_OK)
        status = db_provider_list(connection, &arena, &providers, &count);
    for (size_t i = 0; i < count && status == DB_OK; i++) {
        struct arena scratch = {0};
        struct provider provider;
        size_t offers;
        status = resolve_provider(connection, providers[i].slug, &names, &names, false, actor,
                                  &scratch, &provider, &offers);
        arena_free(&scratch);
    }
    arena_free(&arena);
    return status;
}

/* ---- whom a change touches ---- */

struct scan {
    const struct alias_sets *before, *after;
    const struct provider *providers;
    size_t provider_count;
    bool *touched; /* by index of providers */
    size_t last;   /* index of the provider of the row before: rows come provider by provider */
    struct arena scratch;
};

static size_t index_of(struct scan *scan, int64_t provider_id)
{
    if (scan->last < scan->provider_count && scan->providers[scan->last].id == provider_id)
        return scan->last;
    for (scan->last = 0; scan->last < scan->provider_count; scan->last++) {
        if (scan->providers[scan->last].id == provider_id)
            break;
    }
    return scan->last;
}

static bool take_gpu_name(void *closure, struct db_row *row)
{
    struct scan *scan = closure;
    size_t index = index_of(scan, row_bigint(row));
    if (index < scan->provider_count && !scan->touched[index])
        scan->touched[index] =
            offer_names_gpu_is_disputed(row_text(row, &scan->scratch), scan->before, scan->after);
    arena_reset(&scan->scratch);
    return true;
}

static bool take_place_name(void *closure, struct db_row *row)
{
    struct scan *scan = closure;
    size_t index = index_of(scan, row_bigint(row));
    if (index < scan->provider_count && !scan->touched[index]) {
        const char *region = row_text(row, &scan->scratch), *zone = row_text(row, &scan->scratch);
        const char *slug = scan->providers[index].slug;
        scan->touched[index] =
            offer_names_place_is_disputed(slug, region, scan->before, scan->after) ||
            offer_names_place_is_disputed(slug, zone, scan->before, scan->after);
    }
    arena_reset(&scan->scratch);
    return true;
}

enum db_status db_resolve_changed(struct db_connection *connection, const struct alias_sets *before,
                                  const struct alias_sets *after, const char *actor,
                                  struct arena *arena, struct alias_effect *ret_effect)
{
    struct provider *providers;
    size_t count = 0;
    enum db_status status = db_provider_list(connection, arena, &providers, &count);
    if (status != DB_OK)
        return status;
    struct scan scan = {
        .before = before,
        .after = after,
        .providers = providers,
        .provider_count = count,
        .touched = arena_calloc(arena, count, sizeof(bool)),
    };
    status = db_run_each(connection, STATEMENT_RAW_GPUS, NULL, 0, take_gpu_name, &scan);
    if (status == DB_OK)
        status = db_run_each(connection, STATEMENT_RAW_PLACES, NULL, 0, take_place_name, &scan);
    arena_free(&scan.scratch);
    ret_effect->providers = arena_calloc(arena, count, sizeof(*ret_effect->providers));
    for (size_t i = 0; i < count && status == DB_OK; i++) {
        size_t offers;
        if (!scan.touched[i])
            continue;
        struct provider *provider = &ret_effect->providers[ret_effect->provider_count];
        status = resolve_provider(connection, providers[i].slug, before, after, true, actor, arena,
                                  provider, &offers);
        ret_effect->offers += offers;
        ret_effect->provider_count += offers > 0;
    }
    return status;
}
