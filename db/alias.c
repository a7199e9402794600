/* Names are few: each change reads all of them before and after, so that what it does to offers is
 * the difference of two sets. */
#include "db/alias.h"

#include "db/connection.h"
#include "db/provider.h"
#include "db/resolve.h"
#include "server/base/buf.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHANGE_TRIES 15

struct stored_name {
    struct operator_name name;
    const char *key; /* as stored: folded, a place's without its provider */
};

static enum db_status list_stored(struct db_connection *connection, struct arena *arena,
                                  struct stored_name **ret_names, size_t *ret_count)
{
    struct pg_result *result;
    enum db_status status = db_run(connection, STATEMENT_ALIAS_LIST, NULL, 0, &result);
    if (status != DB_OK)
        return status;
    *ret_count = db_result_rows(result);
    *ret_names = arena_calloc(arena, *ret_count, sizeof(**ret_names));
    for (size_t i = 0; i < *ret_count; i++) {
        struct db_row row = {.result = result, .row = (int)i};
        struct stored_name *stored = &(*ret_names)[i];
        stored->name.kind = row_integer(&row) == 0 ? ALIAS_GPU : ALIAS_PLACE;
        stored->name.provider = row_text(&row, arena);
        stored->key = row_text(&row, arena);
        stored->name.slug = row_text(&row, arena);
        stored->name.name = row_text(&row, arena);
    }
    db_result_free(result);
    return DB_OK;
}

enum db_status db_alias_list(struct db_connection *connection, struct arena *arena,
                             struct operator_name **ret_names, size_t *ret_count)
{
    struct stored_name *stored;
    enum db_status status = list_stored(connection, arena, &stored, ret_count);
    if (status != DB_OK)
        return status;
    *ret_names = arena_calloc(arena, *ret_count, sizeof(**ret_names));
    for (size_t i = 0; i < *ret_count; i++)
        (*ret_names)[i] = stored[i].name;
    return DB_OK;
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const struct alias *)a)->key, ((const struct alias *)b)->key);
}

enum db_status db_reference_version(struct db_connection *connection, int64_t *ret_version)
{
    struct pg_result *result;
    struct db_row row;
    enum db_status status =
        db_run_one(connection, STATEMENT_REFERENCE_VERSION, NULL, &result, &row);
    if (status != DB_OK)
        return status == DB_NONE ? DB_FAILED : status;
    *ret_version = row_bigint(&row);
    db_result_free(result);
    return DB_OK;
}

enum db_status db_alias_sets(struct db_connection *connection, struct arena *arena,
                             struct alias_sets *ret_sets)
{
    struct stored_name *stored;
    size_t count;
    *ret_sets = (struct alias_sets){0};
    enum db_status status = db_reference_version(connection, &ret_sets->version);
    if (status == DB_OK)
        status = list_stored(connection, arena, &stored, &count);
    if (status != DB_OK)
        return status;
    struct alias *gpus = arena_calloc(arena, count, sizeof(*gpus));
    struct alias *places = arena_calloc(arena, count, sizeof(*places));
    for (size_t i = 0; i < count; i++) {
        const struct stored_name *from = &stored[i];
        if (from->name.kind == ALIAS_GPU)
            gpus[ret_sets->gpus.count++] = (struct alias){from->key, from->name.slug};
        else
            places[ret_sets->places.count++] = (struct alias){
                arena_printf(arena, "%s/%s", from->name.provider, from->key), from->name.slug};
    }
    qsort(places, ret_sets->places.count, sizeof(*places), compare_keys);
    ret_sets->gpus.items = gpus;
    ret_sets->places.items = places;
    return DB_OK;
}

/* The name itself. */
static enum db_status write_name(struct db_connection *connection, const struct operator_name *name)
{
    static const enum statement statements[2][2] = {
        {STATEMENT_ALIAS_GPU_REMOVE, STATEMENT_ALIAS_PLACE_REMOVE},
        {STATEMENT_ALIAS_GPU_SET, STATEMENT_ALIAS_PLACE_SET},
    };
    char key[ALIAS_KEY_SIZE];
    if (!alias_key(name->kind, name->provider, name->name, key))
        return DB_FAILED;
    struct db_params params = {0};
    const char *stored_key = key;
    if (name->kind == ALIAS_PLACE) {
        param_text(&params, name->provider);
        stored_key += strlen(name->provider) + 1;
    }
    param_text(&params, stored_key);
    if (name->slug == NULL) {
        struct pg_result *result;
        struct db_row row;
        enum db_status status =
            db_run_one(connection, statements[0][name->kind], &params, &result, &row);
        params_free(&params);
        if (status == DB_OK)
            db_result_free(result);
        return status;
    }
    param_text(&params, name->slug);
    param_text(&params, name->name);
    enum db_status status = db_run(connection, statements[1][name->kind], &params, 0, NULL);
    params_free(&params);
    return status;
}

static enum db_status audit_change(struct db_connection *connection, const char *actor,
                                   const struct operator_name *name, int64_t provider_id,
                                   size_t offers)
{
    struct buf detail = {0};
    buf_add_char(&detail, '{');
    buf_add_json_member_string(&detail, "kind", alias_kind_name(name->kind));
    buf_add_json_member_string(&detail, "name", name->name);
    buf_add_json_member_string(&detail, "slug", name->slug);
    buf_add_json_member_int(&detail, "offers", (int64_t)offers);
    buf_add_char(&detail, '}');
    enum db_status status =
        db_audit(connection, actor, name->slug == NULL ? "alias_remove" : "alias_set", provider_id,
                 detail.data);
    buf_free(&detail);
    return status;
}

/* Inside a transaction. */
static enum db_status change(struct db_connection *connection, const struct operator_name *name,
                             const char *actor, struct arena *arena,
                             struct alias_effect *ret_effect)
{
    struct provider owner = {0};
    struct alias_sets before, after;
    *ret_effect = (struct alias_effect){0};
    /* Nobody writes offers from here on: those that were written by the names before are visible
     * now, and who comes later finds the version of the names moved. */
    enum db_status status = db_run(connection, STATEMENT_LOCK_BRIEFLY, NULL, 0, NULL);
    if (status == DB_OK)
        status = db_run(connection, STATEMENT_PROVIDERS_STILL, NULL, 0, NULL);
    if (status == DB_OK && name->provider[0] != '\0') {
        status = db_provider_find(connection, name->provider, arena, &owner);
        if (status == DB_NONE)
            status = DB_CONFLICT;
    }
    if (status == DB_OK)
        status = db_alias_sets(connection, arena, &before);
    if (status == DB_OK)
        status = write_name(connection, name);
    if (status == DB_OK)
        status = db_bump_counter(connection, "reference");
    if (status == DB_OK)
        status = db_alias_sets(connection, arena, &after);
    if (status == DB_OK)
        status = db_resolve_changed(connection, &before, &after, actor, arena, ret_effect);
    return status == DB_OK ? audit_change(connection, actor, name, owner.id, ret_effect->offers)
                           : status;
}

enum db_status db_alias_change(struct db_connection *connection, const struct operator_name *name,
                               const char *actor, struct arena *arena,
                               struct alias_effect *ret_effect)
{
    enum db_status status = DB_RETRY;
    bool own = true;
    for (int i = 0; i < CHANGE_TRIES && status == DB_RETRY && own; i++) {
        /* Everybody's writes queue behind the lock that is waited for: wait little, let them by. */
        if (i > 0)
            nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
        status = db_begin_own(connection, &own);
        if (status == DB_OK)
            status =
                db_end_own(connection, own, change(connection, name, actor, arena, ret_effect));
    }
    return status;
}

enum db_status db_unrecognized_list(struct db_connection *connection, const char *provider_or_null,
                                    struct arena *arena, struct unrecognized_name **ret_names,
                                    size_t *ret_count)
{
    struct db_params params = {0};
    struct pg_result *result;
    param_text(&params, provider_or_null);
    enum db_status status = db_run(connection, STATEMENT_UNRECOGNIZED, &params, 0, &result);
    params_free(&params);
    if (status != DB_OK)
        return status;
    *ret_count = db_result_rows(result);
    *ret_names = arena_calloc(arena, *ret_count, sizeof(**ret_names));
    for (size_t i = 0; i < *ret_count; i++) {
        struct db_row row = {.result = result, .row = (int)i};
        struct unrecognized_name *name = &(*ret_names)[i];
        name->kind = row_integer(&row) == 0 ? ALIAS_GPU : ALIAS_PLACE;
        name->provider = row_text(&row, arena);
        name->name = row_text(&row, arena);
        name->offers = row_bigint(&row);
    }
    db_result_free(result);
    return DB_OK;
}
