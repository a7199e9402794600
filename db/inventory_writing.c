/* What a write leaves beside the offers themselves. Prices that are new with their offer are logged
 * by the server from the rows it has just taken; of an updated offer only the prices that differ
 * are sent. */
#include "db/inventory_writing.h"

#include "db/change_json.h"
#include "db/offer_row.h"
#include "db/price_diff.h"
#include "server/base/timestamp.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <stdlib.h>
#include <string.h>

#define ISSUES_STORED_MAX 100000

int64_t writing_observed_us(const struct writing *writing)
{
    int64_t observed_us = writing->record->confirmed_at_us;
    return observed_us < writing->at_us ? observed_us : TIMESTAMP_UNKNOWN;
}

enum db_status writing_log_created(struct writing *writing, size_t created)
{
    struct db_params params = {0};
    param_bigint(&params, writing->provider->id);
    param_bigint(&params, writing->provider->version);
    param_text(&params, writing->upload_id);
    param_text(&params, writing->record->actor);
    param_time(&params, writing_observed_us(writing));
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
    return memchr(marks, 1, count) != NULL;
}

static enum db_status copy_price_change(struct writing *writing, const struct marking *marking)
{
    const struct offer *before = marking->change->before, *after = marking->change->after;
    struct buf *out = &writing->out;
    uint8_t id[OFFER_ID_BYTES];
    offer_id(writing->provider->slug, after->external_id, id);
    bool had = any_marked(marking->before, before->price_count);
    bool has = any_marked(marking->after, after->price_count);
    enum db_status status = db_copy_row(writing->connection, out, 16);
    wire_bytes(out, id, sizeof(id));
    wire_bigint(out, writing->provider->version);
    wire_bigint(out, writing->provider->id);
    wire_time(out, writing->at_us);
    wire_uuid(out, writing->upload_id);
    wire_text(out, writing->record->actor);
    wire_time(out, writing_observed_us(writing));
    wire_integer(out, had ? before->gpu_count_milli : -1);
    price_array_write(writing->connection, out, before->prices, before->price_count,
                      marking->before);
    wire_integer(out, has ? after->gpu_count_milli : -1);
    price_array_write(writing->connection, out, after->prices, after->price_count, marking->after);
    wire_integer(out, marking->count);
    wire_text(out, gpu_at(before->gpu)->slug);
    wire_text(out, before->place == INDEX_NONE ? NULL : place_at(before->place)->slug);
    wire_text(out, source_kind_name(before->source_kind));
    wire_integer(out, (int32_t)before->flags);
    return status;
}

enum db_status writing_log_updated(struct writing *writing)
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

enum db_status writing_record_upload(struct writing *writing)
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

enum db_status writing_record_issues(struct writing *writing)
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

enum db_status writing_record_audit(struct writing *writing)
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
