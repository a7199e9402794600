/* One offer, its price history. Present offers come from the snapshot; only what is gone, and
 * history, ask the database. */
#include "server/api/app.h"
#include "server/api/resources.h"

#include "db/inventory.h"
#include "db/upload.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"

#include <string.h>

#define HISTORY_LIMIT_DEFAULT 50

/* The id in captures[0]; false with a 404 in the reply. */
static bool parse_id(struct request *request, struct reply *reply,
                     uint8_t id[static OFFER_ID_BYTES])
{
    const char *text = request->captures[0];
    if (offer_id_parse(text, strlen(text), id))
        return true;
    reply_not_found(request, reply,
                    "No offer has this id; ids look like of_ and 26 letters and digits.");
    return false;
}

void offer_get_prepare(struct request *request, struct reply *reply)
{
    static const char *const allowed[] = {NULL};
    struct app *app = request->app;
    uint8_t id[OFFER_ID_BYTES];
    if (!request_check_parameters(request, reply, allowed) || !parse_id(request, reply, id))
        return;
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    if (snapshot_write_offer_by_id(snapshot, id, request->received_at_us, &reply->body, NULL)) {
        reply->etag = snapshot_etag(request, snapshot, NULL);
        if (!reply_not_modified(request, reply, reply->etag))
            reply->status = 200;
    }
    snapshot_release(snapshot);
}

void offer_get_execute(struct request *request, struct reply *reply, struct worker *worker)
{
    uint8_t id[OFFER_ID_BYTES];
    if (!parse_id(request, reply, id))
        return;
    struct db_connection *connection = worker_database(request, reply, worker);
    if (connection == NULL)
        return;
    int64_t removed_at_us;
    char text[TIMESTAMP_TEXT_SIZE];
    enum db_status status = db_inventory_tombstone(connection, id, &removed_at_us);
    switch (status) {
    case DB_OK:
        timestamp_print(removed_at_us, text);
        reply_problem(
            request, reply, 410, "gone",
            arena_printf(&request->arena, "This offer was removed by its provider at %s.", text),
            NULL, 0);
        break;
    case DB_NONE:
        reply_not_found(request, reply, "No offer has this id.");
        break;
    case DB_CONFLICT:
    case DB_RETRY:
    case DB_UNAVAILABLE:
    case DB_FAILED:
        reply_database_failed(request, reply, status);
        break;
    }
}

void price_history_prepare(struct request *request, struct reply *reply)
{
    static const char *const allowed[] = {"limit", "cursor", NULL};
    uint8_t id[OFFER_ID_BYTES];
    struct list_page page;
    if (request_check_parameters(request, reply, allowed) && parse_id(request, reply, id))
        (void)list_page_parse(request, reply, "price-history", &page);
}

static void write_history_price(struct buf *out, const char *key, const struct price *price)
{
    buf_add_json_key(out, key);
    if (price->quoted_microusd == 0) {
        buf_add_string(out, "null");
        return;
    }
    buf_add_char(out, '{');
    buf_add_json_member_decimal(out, "price_per_gpu_hour", price->per_gpu_hour_microusd, 6);
    buf_add_json_member_decimal(out, "price_per_node_hour", price->per_node_hour_microusd, 6);
    buf_add_json_member_string(out, "quoted_per",
                               price->quoted_per == PRICE_PER_GPU ? "gpu" : "node");
    buf_add_char(out, '}');
}

/* Who made a change, for everybody to read: which of its keys a provider used is its own business.
 */
static const char *actor_word(const char *actor)
{
    if (strncmp(actor, "key:", 4) == 0)
        return "api";
    return strcmp(actor, "cli") == 0 ? "operator" : actor;
}

static void write_history_row(struct buf *out, const struct price_change *change)
{
    const struct price *price =
        change->after.quoted_microusd != 0 ? &change->after : &change->before;
    char at[TIMESTAMP_TEXT_SIZE], observed_at[TIMESTAMP_TEXT_SIZE];
    timestamp_print(change->at_us, at);
    timestamp_print(change->observed_at_us, observed_at);
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "at", at);
    buf_add_json_member_string(out, "observed_at", observed_at);
    buf_add_json_member_string(out, "by", actor_word(change->actor));
    buf_add_json_member_string(out, "billing", billing_name(price->billing));
    buf_add_json_member_int(out, "term_months", price->term_months);
    buf_add_json_member_string(out, "plan", price->plan);
    buf_add_json_member_int(out, "min_gpus", price->min_gpus);
    buf_add_json_member_decimal(out, "upfront_percent", price->upfront_percent_milli, 3);
    write_history_price(out, "before", &change->before);
    write_history_price(out, "after", &change->after);
    buf_add_char(out, '}');
}

void price_history_execute(struct request *request, struct reply *reply, struct worker *worker)
{
    struct app *app = request->app;
    uint8_t id[OFFER_ID_BYTES];
    struct list_page page;
    if (!parse_id(request, reply, id) || !list_page_parse(request, reply, "price-history", &page))
        return;
    int64_t before_sequence = INT64_MAX;
    if (page.after != NULL &&
        decimal_parse(page.after, strlen(page.after), 0, false, &before_sequence) != DECIMAL_OK)
        before_sequence = INT64_MAX;
    struct db_connection *connection = worker_database(request, reply, worker);
    if (connection == NULL)
        return;
    struct price_change *changes;
    size_t count, total;
    enum db_status status = db_price_history(connection, id, before_sequence, page.limit + 1,
                                             &request->arena, &changes, &count, &total);
    if (status == DB_NONE || (status == DB_OK && total == 0)) {
        reply_not_found(request, reply, "No offer with this id was ever here.");
        return;
    }
    if (status != DB_OK) {
        reply_database_failed(request, reply, status);
        return;
    }
    size_t shown = count > page.limit ? page.limit : count;
    buf_add_string(&reply->body, "{\"data\":[");
    for (size_t i = 0; i < shown; i++) {
        if (i > 0)
            buf_add_char(&reply->body, ',');
        write_history_row(&reply->body, &changes[i]);
    }
    const char *cursor = NULL;
    if (count > page.limit)
        cursor = list_page_cursor(
            request, "price-history",
            arena_printf(&request->arena, "%lld", (long long)changes[shown - 1].sequence));
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    int64_t as_of_us = snapshot_as_of_us(snapshot);
    snapshot_release(snapshot);
    list_page_finish(request, reply, &page, total, cursor, as_of_us);
}
