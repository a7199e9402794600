/* Writing a change set. Rows that change are taken out (which gives their former state) and put in
 * again by one binary COPY with the new ones: an UPDATE would write new versions of row and index
 * entries as well, since the version is indexed, and COPY is the cheapest way to bring many rows
 * (tests/bench). All under the lock on the provider's row. */
#include "db/change_json.h"
#include "db/inventory.h"
#include "db/offer_row.h"
#include "db/price_diff.h"
#include "server/base/log.h"
#include "server/base/timestamp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ISSUES_STORED_MAX 100000

/* One write in progress. */
struct writing {
    struct db_connection *connection;
    struct provider *provider;
    struct change_set *change_set;
    const struct upload_record *record;
    struct arena *arena;
    int64_t at_us;          /* when, by the database's clock, under the lock */
    int64_t *created_at_us; /* by change: of the row before, or at_us */
    const char *upload_id;
    struct buf out; /* of COPY */
};

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

static enum db_status log_created_prices(struct writing *writing, size_t created)
{
    struct db_params params = {0};
    param_bigint(&params, writing->provider->id);
    param_bigint(&params, writing->provider->version);
    param_text(&params, writing->upload_id);
    param_text(&params, writing->record->actor);
    enum db_status status =
        db_run(writing->connection, STATEMENT_PRICES_CREATED, &params, created, NULL);
    params_free(&params);
    return status;
}

/* Which prices of both states differ. */
struct marking {
    const struct change *change;
    bool before[OFFER_PRICES_MAX];
    bool after[OFFER_PRICES_MAX];
    int32_t count;
};

static void mark(void *closure, const struct price *before, const struct price *after)
{
    struct marking *marking = closure;
    if (before != NULL)
        marking->before[before - marking->change->before->prices] = true;
    if (after != NULL)
        marking->after[after - marking->change->after->prices] = true;
    marking->count++;
}

static void wire_uuid(struct buf *out, const char *text)
{
    unsigned char bytes[16];
    size_t at = 0;
    for (const char *digit = text; *digit != '\0' && at < sizeof(bytes); digit++) {
        if (*digit == '-')
            continue;
        char pair[3] = {digit[0], digit[1], '\0'};
        bytes[at++] = (unsigned char)strtoul(pair, NULL, 16);
        digit++;
    }
    wire_bytes(out, bytes, sizeof(bytes));
}

static bool any_marked(const bool *marks, size_t count)
{
    return memchr(marks, true, count) != NULL;
}

static enum db_status copy_price_change(struct writing *writing, const struct marking *marking)
{
    const struct offer *before = marking->change->before, *after = marking->change->after;
    struct buf *out = &writing->out;
    uint8_t id[OFFER_ID_BYTES];
    offer_id(writing->provider->slug, after->external_id, id);
    bool had = any_marked(marking->before, before->price_count);
    bool has = any_marked(marking->after, after->price_count);
    enum db_status status = db_copy_row(writing->connection, out, 11);
    wire_bytes(out, id, sizeof(id));
    wire_bigint(out, writing->provider->version);
    wire_bigint(out, writing->provider->id);
    wire_time(out, writing->at_us);
    wire_uuid(out, writing->upload_id);
    wire_text(out, writing->record->actor);
    wire_integer(out, had ? before->gpu_count_milli : -1);
    price_array_write(writing->connection, out, before->prices, before->price_count,
                      marking->before);
    wire_integer(out, has ? after->gpu_count_milli : -1);
    price_array_write(writing->connection, out, after->prices, after->price_count, marking->after);
    wire_integer(out, marking->count);
    return status;
}

static enum db_status log_updated_prices(struct writing *writing)
{
    const struct change_set *set = writing->change_set;
    enum db_status status = DB_OK;
    size_t rows = 0;
    for (size_t i = 0; i < set->change_count && status == DB_OK; i++) {
        if (set->changes[i].kind != CHANGE_UPDATED)
            continue;
        struct marking marking = {.change = &set->changes[i]};
        price_diff(marking.change->before->prices, marking.change->before->price_count,
                   marking.change->after->prices, marking.change->after->price_count, mark,
                   &marking);
        if (marking.count == 0)
            continue;
        if (rows++ == 0)
            status = db_copy_begin(writing->connection, STATEMENT_PRICES_COPY, &writing->out);
        if (status == DB_OK)
            status = copy_price_change(writing, &marking);
    }
    return status == DB_OK && rows > 0 ? db_copy_end(writing->connection, &writing->out, rows)
                                       : status;
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
        status = log_created_prices(writing, created);
    if (status == DB_OK && updated > 0)
        status = log_updated_prices(writing);
    return status;
}

static enum db_status record_upload(struct writing *writing)
{
    const struct change_set *set = writing->change_set;
    const struct upload_record *record = writing->record;
    struct buf changes = {0};
    bool all = change_json_write(&changes, set);
    struct db_params params = {0};
    param_text(&params, writing->upload_id);
    param_bigint(&params, writing->provider->id);
    param_time(&params, writing->at_us);
    param_text(&params, record->kind);
    param_text(&params, record->format);
    param_text(&params, record->actor);
    const int64_t numbers[] = {writing->provider->version,
                               record->rows_read,
                               set->created,
                               set->updated,
                               set->unchanged,
                               set->removed,
                               record->skipped,
                               record->rejected};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        param_bigint(&params, numbers[i]);
    param_text(&params, set->change_count == 0 ? NULL : changes.data);
    param_bool(&params, !all);
    enum db_status status = db_run(writing->connection, STATEMENT_UPLOAD_ADD, &params, 0, NULL);
    params_free(&params);
    buf_free(&changes);
    return status;
}

static enum db_status copy_issues(struct writing *writing, const struct row_issues *issues,
                                  bool is_error)
{
    enum db_status status = DB_OK;
    for (size_t i = 0; issues != NULL && i < issues->count && i < ISSUES_STORED_MAX; i++) {
        const struct row_issue *issue = &issues->items[i];
        if (status == DB_OK)
            status = db_copy_row(writing->connection, &writing->out, 8);
        wire_uuid(&writing->out, writing->upload_id);
        wire_bool(&writing->out, is_error);
        wire_integer(&writing->out, (int32_t)i);
        wire_bigint(&writing->out, issue->row);
        wire_text(&writing->out, issue->external_id);
        wire_text(&writing->out, issue->pointer);
        wire_text(&writing->out, issue->code);
        wire_text(&writing->out, issue->message);
    }
    return status;
}

static enum db_status record_issues(struct writing *writing)
{
    const struct row_issues *errors = writing->record->errors;
    const struct row_issues *warnings = writing->record->warnings;
    size_t count = (errors == NULL ? 0 : errors->count) + (warnings == NULL ? 0 : warnings->count);
    if (count == 0)
        return DB_OK;
    enum db_status status =
        db_copy_begin(writing->connection, STATEMENT_ISSUES_COPY, &writing->out);
    if (status == DB_OK)
        status = copy_issues(writing, errors, true);
    if (status == DB_OK)
        status = copy_issues(writing, warnings, false);
    return status == DB_OK ? db_copy_end(writing->connection, &writing->out, count) : status;
}

static enum db_status record_audit(struct writing *writing)
{
    const struct change_set *set = writing->change_set;
    struct buf detail = {0};
    buf_add_char(&detail, '{');
    buf_add_json_member_string(&detail, "upload_id", writing->upload_id);
    buf_add_json_member_string(&detail, "kind", writing->record->kind);
    buf_add_json_member_int(&detail, "version", writing->provider->version);
    buf_add_json_member_int(&detail, "created", set->created);
    buf_add_json_member_int(&detail, "updated", set->updated);
    buf_add_json_member_int(&detail, "removed", set->removed);
    buf_add_json_member_int(&detail, "rejected", writing->record->rejected);
    buf_add_char(&detail, '}');
    enum db_status status = db_audit(writing->connection, writing->record->actor, "inventory_write",
                                     writing->provider->id, detail.data);
    buf_free(&detail);
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
        status = record_upload(&writing);
    if (status == DB_OK)
        status = record_issues(&writing);
    if (status == DB_OK)
        status = record_audit(&writing);
    buf_free(&writing.out);
    return status;
}
