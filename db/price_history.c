/* The history of an offer's prices. A stored row holds all prices that one write changed; a reader
 * sees one change a price, numbered by version and place within the write, so that pages can end
 * anywhere. */
#include "db/offer_row.h"
#include "db/price_diff.h"
#include "db/upload.h"
#include "server/base/timestamp.h"

#include <string.h>

/* More than the changes of one write to one offer can be: 200 prices before and 200 others after.
 */
#define CHANGES_PER_VERSION 1024

struct expansion {
    struct price_change *changes; /* of one stored row, oldest sequence first */
    size_t count;
};

static void expand_one(void *closure, const struct price *before, const struct price *after)
{
    struct expansion *expansion = closure;
    struct price_change *change = &expansion->changes[expansion->count++];
    const struct price *known = after != NULL ? after : before;
    /* The missing side keeps the identity, so that either tells which price it is. */
    struct price absent = {.billing = known->billing,
                           .quoted_per = known->quoted_per,
                           .term_months = known->term_months,
                           .min_gpus = known->min_gpus,
                           .max_gpus = known->max_gpus,
                           .upfront_percent_milli = known->upfront_percent_milli,
                           .plan = known->plan};
    change->before = before != NULL ? *before : absent;
    change->after = after != NULL ? *after : absent;
}

/* Turns one stored row into changes; false where it is malformed. */
static bool expand(struct db_row *row, struct arena *arena, struct expansion *ret_expansion)
{
    int64_t version = row_bigint(row);
    int64_t at_us = row_time(row), observed_us = row_time(row);
    char upload_id[37];
    row_uuid(row, upload_id);
    const char *actor = row_text(row, arena);
    struct price *before, *after;
    size_t before_count, after_count;
    int32_t gpu_count_milli = row_integer(row);
    if (!price_array_read(row, arena, gpu_count_milli, &before, &before_count))
        return false;
    gpu_count_milli = row_integer(row);
    if (!price_array_read(row, arena, gpu_count_milli, &after, &after_count))
        return false;
    *ret_expansion = (struct expansion){
        .changes = arena_calloc(arena, before_count + after_count, sizeof(*ret_expansion->changes)),
    };
    price_diff(before, before_count, after, after_count, expand_one, ret_expansion);
    for (size_t i = 0; i < ret_expansion->count; i++) {
        ret_expansion->changes[i].sequence = version * CHANGES_PER_VERSION + (int64_t)i;
        ret_expansion->changes[i].at_us = at_us;
        ret_expansion->changes[i].observed_at_us =
            observed_us == TIMESTAMP_UNKNOWN ? at_us : observed_us;
        ret_expansion->changes[i].actor = actor;
        memcpy(ret_expansion->changes[i].upload_id, upload_id, sizeof(upload_id));
    }
    return true;
}

static enum db_status count_changes(struct db_connection *connection,
                                    const uint8_t offer_id[static OFFER_ID_BYTES],
                                    size_t *ret_total)
{
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_bytes(&params, offer_id, OFFER_ID_BYTES);
    enum db_status status = db_run_one(connection, STATEMENT_HISTORY_TOTAL, &params, &result, &row);
    params_free(&params);
    if (status != DB_OK)
        return status;
    *ret_total = (size_t)row_bigint(&row);
    db_result_free(result);
    return DB_OK;
}

enum db_status db_price_history(struct db_connection *connection,
                                const uint8_t offer_id[static OFFER_ID_BYTES],
                                int64_t before_sequence, size_t limit, struct arena *arena,
                                struct price_change **ret_changes, size_t *ret_count,
                                size_t *ret_total)
{
    *ret_changes = NULL;
    *ret_count = 0;
    enum db_status status = count_changes(connection, offer_id, ret_total);
    if (status != DB_OK || *ret_total == 0 || before_sequence <= 0)
        return status;
    struct db_params params = {0};
    struct pg_result *result;
    param_bytes(&params, offer_id, OFFER_ID_BYTES);
    param_bigint(&params, (before_sequence - 1) / CHANGES_PER_VERSION);
    param_bigint(&params, (int64_t)limit + 1); /* the first row may be wholly on the page before */
    status = db_run(connection, STATEMENT_HISTORY, &params, 0, &result);
    params_free(&params);
    if (status != DB_OK)
        return status;
    struct price_change *changes = arena_calloc(arena, limit, sizeof(*changes));
    size_t count = 0;
    for (size_t i = 0; i < db_result_rows(result) && count < limit && status == DB_OK; i++) {
        struct db_row row = {.result = result, .row = (int)i};
        struct expansion expansion;
        if (!expand(&row, arena, &expansion)) {
            status = DB_FAILED;
            break;
        }
        for (size_t k = expansion.count; k > 0 && count < limit; k--) {
            if (expansion.changes[k - 1].sequence < before_sequence)
                changes[count++] = expansion.changes[k - 1];
        }
    }
    db_result_free(result);
    *ret_changes = changes;
    *ret_count = count;
    return status;
}
