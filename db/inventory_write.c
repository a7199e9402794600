/* Writing a change set. Rows that change are taken out (which gives their former state) and put in
 * again by one binary COPY with the new ones: an UPDATE would write new versions of row and index
 * entries as well, since the version is indexed, and COPY is the cheapest way to bring many rows
 * (tests/bench). All under the lock on the provider's row. */
#include "db/inventory.h"
#include "db/inventory_writing.h"
#include "db/offer_row.h"
#include "server/base/timestamp.h"

#include <string.h>

static size_t count_kind(const struct change_set *change_set, enum change_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < change_set->change_count; i++)
        count += change_set->changes[i].kind == kind;
    return count;
}

/* Moves the version on, or only reads the clock where nothing moves. */
static enum db_status bump(struct writing *writing)
{
    struct pg_result *result;
    struct db_row row;
    const struct upload_record *record = writing->record;
    enum db_status status;
    if (writing->change_set->change_count == 0 && !record->confirms_all) {
        status = db_run_one(writing->connection, STATEMENT_CLOCK, NULL, &result, &row);
        if (status == DB_OK) {
            writing->at_us = row_time(&row);
            db_result_free(result);
        }
        return status;
    }
    struct db_params params = {0};
    param_bigint(&params, writing->provider->id);
    param_bool(&params, record->confirms_all);
    param_time(&params, record->confirmed_at_us);
    status = db_run_one(writing->connection, STATEMENT_PROVIDER_BUMP, &params, &result, &row);
    params_free(&params);
    if (status != DB_OK)
        return status;
    writing->provider->version = row_bigint(&row);
    writing->provider->confirmed_at_us = row_time(&row);
    writing->provider->updated_at_us = row_time(&row);
    writing->at_us = writing->provider->updated_at_us;
    db_result_free(result);
    return DB_OK;
}

static void add_external_ids(const struct writing *writing, struct db_params *params,
                             enum change_kind kind, size_t count)
{
    const struct change_set *set = writing->change_set;
    param_bigint(params, writing->provider->id);
    param_array_begin(params, TEXT_OID, count);
    for (size_t i = 0; i < set->change_count; i++) {
        if (set->changes[i].kind == kind)
            wire_text(&params->bytes, set->changes[i].external_id);
    }
    param_array_end(params);
}

struct taking {
    struct writing *writing;
    size_t matched;
};

/* The former state of an updated row, matched to its change. */
static bool take_before(void *closure, struct db_row *row)
{
    struct taking *taking = closure;
    const struct change_set *set = taking->writing->change_set;
    struct offer_row *stored = arena_alloc(taking->writing->arena, sizeof(*stored));
    if (!offer_row_read(row, taking->writing->arena, stored))
        return false;
    size_t low = 0, high = set->change_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(set->changes[middle].external_id, stored->offer.external_id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == set->change_count ||
        strcmp(set->changes[low].external_id, stored->offer.external_id) != 0)
        return false;
    struct change *change = &set->changes[low];
    change->before = &stored->offer;
    change->fields = offer_compare_fields(change->before, change->after);
    taking->writing->created_at_us[low] = stored->created_at_us;
    taking->matched++;
    return true;
}

static enum db_status take_updated(struct writing *writing)
{
    size_t count = count_kind(writing->change_set, CHANGE_UPDATED);
    if (count == 0)
        return DB_OK;
    struct db_params params = {0};
    struct taking taking = {.writing = writing};
    add_external_ids(writing, &params, CHANGE_UPDATED, count);
    enum db_status status = db_run_each(writing->connection, STATEMENT_OFFERS_TAKE, &params, count,
                                        take_before, &taking);
    params_free(&params);
    return status == DB_OK && taking.matched != count ? DB_CONFLICT : status;
}

static enum db_status remove_gone(struct writing *writing)
{
    size_t count = count_kind(writing->change_set, CHANGE_REMOVED);
    if (count == 0)
        return DB_OK;
    struct db_params params = {0};
    struct pg_result *result;
    add_external_ids(writing, &params, CHANGE_REMOVED, count);
    param_bigint(&params, writing->provider->version);
    param_time(&params, writing->at_us);
    param_text(&params, writing->upload_id);
    param_text(&params, writing->record->actor);
    param_time(&params, writing_observed_us(writing));
    enum db_status status =
        db_run(writing->connection, STATEMENT_OFFERS_REMOVE, &params, count, &result);
    params_free(&params);
    if (status != DB_OK)
        return status;
    if ((size_t)db_result_affected(result) != count)
        status = DB_CONFLICT;
    db_result_free(result);
    return status;
}

/* What is created again is not removed any more. Asked first, since most providers never removed
 * anything. */
static enum db_status undo_tombstones(struct writing *writing, size_t created)
{
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_bigint(&params, writing->provider->id);
    enum db_status status =
        db_run_one(writing->connection, STATEMENT_HAS_TOMBSTONES, &params, &result, &row);
    params_free(&params);
    if (status != DB_OK)
        return status;
    bool any = row_bool(&row);
    db_result_free(result);
    if (!any)
        return DB_OK;
    param_array_begin(&params, BYTEA_OID, created);
    for (size_t i = 0; i < writing->change_set->change_count; i++) {
        const struct change *change = &writing->change_set->changes[i];
        if (change->kind != CHANGE_CREATED)
            continue;
        uint8_t id[OFFER_ID_BYTES];
        offer_id(writing->provider->slug, change->external_id, id);
        wire_bytes(&params.bytes, id, sizeof(id));
    }
    param_array_end(&params);
    status = db_run(writing->connection, STATEMENT_TOMBSTONES_UNDO, &params, created, NULL);
    params_free(&params);
    return status;
}

/* Completes `after` with what only the database knew, and writes it. */
static enum db_status copy_offer(struct writing *writing, size_t index)
{
    struct change *change = &writing->change_set->changes[index];
    /* The change set's maker made `after` for this write; only these three facts are filled in. */
    struct offer *after = (struct offer *)change->after;
    after->version = writing->provider->version;
    after->updated_at_us = writing->at_us;
    if (after->observed_at_us == TIMESTAMP_UNKNOWN)
        after->observed_at_us = writing->at_us;
    struct offer_row row = {.offer = *after};
    offer_id(writing->provider->slug, after->external_id, row.id);
    memcpy(row.hash, change->hash, sizeof(row.hash));
    row.created_at_us =
        change->kind == CHANGE_CREATED ? writing->at_us : writing->created_at_us[index];
    enum db_status status = db_copy_row(writing->connection, &writing->out, OFFER_COLUMN_COUNT);
    offer_row_write(writing->connection, &writing->out, writing->provider->id, &row);
    return status;
}

static enum db_status put_offers(struct writing *writing, size_t count)
{
    enum db_status status =
        db_copy_begin(writing->connection, STATEMENT_OFFERS_COPY, &writing->out);
    for (size_t i = 0; i < writing->change_set->change_count && status == DB_OK; i++) {
        if (writing->change_set->changes[i].kind != CHANGE_REMOVED)
            status = copy_offer(writing, i);
    }
    return status == DB_OK ? db_copy_end(writing->connection, &writing->out, count) : status;
}

static enum db_status write_rows(struct writing *writing)
{
    const struct change_set *set = writing->change_set;
    size_t created = count_kind(set, CHANGE_CREATED);
    size_t updated = count_kind(set, CHANGE_UPDATED);
    writing->created_at_us =
        arena_calloc(writing->arena, set->change_count, sizeof(*writing->created_at_us));
    enum db_status status = db_type_oids(writing->connection);
    if (status == DB_OK)
        status = take_updated(writing);
    if (status == DB_OK)
        status = remove_gone(writing);
    if (status == DB_OK && created > 0)
        status = undo_tombstones(writing, created);
    if (status == DB_OK && created + updated > 0)
        status = put_offers(writing, created + updated);
    if (status == DB_OK && created > 0)
        status = writing_log_created(writing, created);
    if (status == DB_OK && updated > 0)
        status = writing_log_updated(writing);
    return status;
}

enum db_status db_inventory_apply(struct db_connection *connection, struct provider *provider,
                                  struct change_set *change_set, const struct upload_record *record,
                                  struct arena *arena, char ret_upload_id[static 37])
{
    if (change_set->base_version != provider->version)
        return DB_CONFLICT;
    db_new_uuid(ret_upload_id);
    struct writing writing = {
        .connection = connection,
        .provider = provider,
        .change_set = change_set,
        .record = record,
        .arena = arena,
        .upload_id = ret_upload_id,
    };
    enum db_status status = bump(&writing);
    if (status == DB_OK && change_set->change_count > 0)
        status = write_rows(&writing);
    if (status == DB_OK)
        status = writing_record_upload(&writing);
    if (status == DB_OK)
        status = writing_record_issues(&writing);
    if (status == DB_OK)
        status = writing_record_audit(&writing);
    buf_free(&writing.out);
    return status;
}
