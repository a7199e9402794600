/* How a day is published. What the market was at midnight is what the catalogue holds, with the few
 * changes since undone; both are read while one transaction sees one state of the database, and the
 * catalogue must be of that state. */
#include "server/sync/fixing.h"

#include "db/fixing.h"
#include "db/provider.h"
#include "server/base/day.h"
#include "server/base/log.h"
#include "server/base/metrics.h"
#include "server/base/timestamp.h"
#include "server/catalog/market.h"
#include "server/market/book.h"
#include "server/reference/gpu.h"

#include <stdlib.h>
#include <string.h>

/* One day on its way. */
struct closing {
    struct db_connection *connection;
    struct snapshot *snapshot;
    struct arena arena;
    int32_t day;
    int64_t at_us; /* its end */
    size_t *by_id; /* indexes of the snapshot's providers by database id */
    int64_t *confirmed_us;
};

static enum fixing_outcome outcome_of(enum db_status status)
{
    return status == DB_OK                               ? FIXING_PUBLISHED
           : status == DB_RETRY || status == DB_CONFLICT ? FIXING_BUSY
                                                         : FIXING_FAILED;
}

static int compare_ids(const void *a, const void *b, void *closure)
{
    struct snapshot *snapshot = closure;
    int64_t x = snapshot_provider(snapshot, *(const size_t *)a)->id,
            y = snapshot_provider(snapshot, *(const size_t *)b)->id;
    return (x > y) - (x < y);
}

static void order_providers(struct closing *closing)
{
    size_t count = snapshot_provider_count(closing->snapshot);
    closing->by_id = arena_calloc(&closing->arena, count, sizeof(*closing->by_id));
    for (size_t i = 0; i < count; i++)
        closing->by_id[i] = i;
    qsort_r(closing->by_id, count, sizeof(*closing->by_id), compare_ids, closing->snapshot);
}

/* Index in the snapshot of a provider's database id, or SIZE_MAX. */
static size_t provider_index(const struct closing *closing, int64_t id)
{
    size_t low = 0, high = snapshot_provider_count(closing->snapshot);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int64_t other = snapshot_provider(closing->snapshot, closing->by_id[middle])->id;
        if (other == id)
            return closing->by_id[middle];
        if (other < id)
            low = middle + 1;
        else
            high = middle;
    }
    return SIZE_MAX;
}

/* DB_RETRY where the catalogue lags behind what the transaction sees. */
static enum db_status check_versions(struct closing *closing)
{
    struct version_table table;
    enum db_status status = db_versions(closing->connection, &table);
    if (status != DB_OK)
        return status;
    for (size_t i = 0; i < table.provider_count && status == DB_OK; i++) {
        size_t index = provider_index(closing, table.providers[i].id);
        if (index == SIZE_MAX ||
            snapshot_provider(closing->snapshot, index)->version != table.providers[i].version)
            status = DB_RETRY;
    }
    free(table.providers);
    return status;
}

/* When each provider had last confirmed all by the day's end, or did within the grace. */
static enum db_status find_confirmations(struct closing *closing)
{
    struct past_confirmation *list;
    size_t count, providers = snapshot_provider_count(closing->snapshot);
    enum db_status status =
        db_fixing_confirmations(closing->connection, closing->day, &closing->arena, &list, &count);
    if (status != DB_OK)
        return status;
    closing->confirmed_us =
        arena_calloc(&closing->arena, providers, sizeof(*closing->confirmed_us));
    for (size_t i = 0; i < providers; i++)
        closing->confirmed_us[i] = TIMESTAMP_UNKNOWN;
    for (size_t i = 0; i < count; i++) {
        size_t index = provider_index(closing, list[i].provider_id);
        if (index == SIZE_MAX)
            continue;
        int64_t now_us = snapshot_provider(closing->snapshot, index)->confirmed_at_us;
        bool in_grace = now_us >= closing->at_us && now_us <= closing->at_us + FIXING_GRACE_US;
        closing->confirmed_us[index] = in_grace ? closing->at_us : list[i].at_us;
    }
    return DB_OK;
}

static enum db_status find_past(struct closing *closing, struct market_past *past)
{
    uint8_t(*unsure)[OFFER_ID_BYTES];
    struct past_offer *offers;
    size_t count;
    size_t unsure_count = snapshot_market_unsure(
        closing->snapshot, past, closing->at_us + FIXING_GRACE_US, &closing->arena, &unsure);
    enum db_status status = db_fixing_past_offers(
        closing->connection, closing->at_us, FIXING_GRACE_US,
        (const uint8_t(*)[OFFER_ID_BYTES])unsure, unsure_count, &closing->arena, &offers, &count);
    if (status != DB_OK)
        return status;
    struct market_past_offer *list = arena_calloc(&closing->arena, count, sizeof(*list));
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct market_past_offer *to = &list[kept];
        memcpy(to->id, offers[i].id, sizeof(to->id));
        to->provider_index = provider_index(closing, offers[i].provider_id);
        if (offers[i].existed && to->provider_index != SIZE_MAX)
            to->offer = &offers[i].offer;
        kept++;
    }
    past->offers = list;
    past->offer_count = kept;
    return DB_OK;
}

static enum db_status publish(struct closing *closing, const struct market_past *past,
                              int32_t revision, const char *made_by, size_t *ret_rows)
{
    struct market_figure *figures;
    size_t count = snapshot_market_past(closing->snapshot, past, &closing->arena, &figures);
    struct fixing_row *rows = arena_calloc(&closing->arena, count, sizeof(*rows));
    for (size_t i = 0; i < count; i++) {
        const struct index_figures *from = &figures[i].figures;
        rows[i] = (struct fixing_row){
            .gpu = gpu_at(figures[i].gpu)->slug,
            .billing = commitment_billing(figures[i].commitment),
            .months_from = commitment_months_from(figures[i].commitment),
            .continent = figures[i].continent == CONTINENT_COUNT
                             ? NULL
                             : continent_code(figures[i].continent),
            .min_microusd = from->min,
            .p25_microusd = from->p25,
            .median_microusd = from->median,
            .p75_microusd = from->p75,
            .max_microusd = from->max,
            .offers = (int32_t)from->offers,
            .providers = (int32_t)from->providers,
        };
        memcpy(rows[i].input_hash, figures[i].input_hash, sizeof(rows[i].input_hash));
    }
    struct fixing_day day = {
        .day = closing->day, .revision = revision, .method_version = INDEX_METHOD_VERSION};
    *ret_rows = count;
    return db_fixing_publish(closing->connection, &day, made_by, rows, count);
}

/* Everything inside the transaction; DB_NONE where the day is published already. */
static enum db_status close_day(struct closing *closing, bool revise, const char *made_by,
                                size_t *ret_rows)
{
    struct market_past past = {.at_us = closing->at_us};
    int32_t revision;
    enum db_status status = db_fixing_revision(closing->connection, closing->day, &revision);
    if (status == DB_OK && revision > 0 && !revise)
        return DB_NONE;
    if (status == DB_OK)
        status = check_versions(closing);
    if (status == DB_OK)
        status = find_confirmations(closing);
    past.confirmed_us = closing->confirmed_us;
    if (status == DB_OK)
        status = find_past(closing, &past);
    if (status == DB_OK)
        status = publish(closing, &past, revision + 1, made_by, ret_rows);
    return status;
}

enum fixing_outcome fixing_publish_day(struct node *node, struct db_connection *connection,
                                       int32_t day, bool revise, const char *made_by,
                                       size_t *ret_rows)
{
    struct closing closing = {.connection = connection, .day = day, .at_us = day_start_us(day + 1)};
    size_t rows = 0;
    int64_t started_us = monotonic_now_us();
    closing.snapshot = catalog_acquire(node_catalog(node));
    order_providers(&closing);
    enum db_status status = db_fixing_begin(connection);
    if (status == DB_OK) {
        status = close_day(&closing, revise, made_by, &rows);
        if (status == DB_OK)
            status = db_commit(connection);
        else
            db_rollback(connection);
    }
    snapshot_release(closing.snapshot);
    arena_free(&closing.arena);
    if (ret_rows != NULL)
        *ret_rows = rows;
    if (status == DB_NONE)
        return FIXING_NOTHING_DUE;
    if (status == DB_OK) {
        char text[DAY_TEXT_SIZE];
        day_print(day, text);
        metric_add(METRIC_FIXINGS_PUBLISHED, 1);
        log_info("published the fixings of a day", "day=%s rows=%zu ms=%lld", text, rows,
                 (long long)((monotonic_now_us() - started_us) / 1000));
    }
    return outcome_of(status);
}

int32_t fixing_last_closed_day(int64_t now_us)
{
    return day_of_us(now_us - FIXING_WAIT_US) - 1;
}

bool fixing_next_due(struct db_connection *connection, int64_t now_us, int32_t *ret_day)
{
    struct arena arena = {0};
    int32_t *days;
    size_t count;
    bool good = db_fixing_due(connection, fixing_last_closed_day(now_us), 1, &arena, &days,
                              &count) == DB_OK;
    *ret_day = good && count > 0 ? days[0] : FIXING_NO_DAY;
    arena_free(&arena);
    return good;
}

enum fixing_outcome fixing_publish_next(struct node *node, struct db_connection *connection,
                                        int64_t now_us, bool settled, const char *made_by)
{
    int32_t day;
    bool importing = false;
    if (!fixing_next_due(connection, now_us, &day))
        return FIXING_FAILED;
    if (day == FIXING_NO_DAY)
        return FIXING_NOTHING_DUE;
    if (day < fixing_last_closed_day(now_us) && !settled &&
        db_fixing_imported_since(connection, now_us - FIXING_QUIET_US, &importing) != DB_OK)
        return FIXING_FAILED;
    return importing ? FIXING_BUSY
                     : fixing_publish_day(node, connection, day, false, made_by, NULL);
}

/* ---- the book ---- */

static bool take_fixing(void *closure, const struct fixing_day *day, const struct fixing_row *row)
{
    struct book_edit *edit = closure;
    if (row == NULL) {
        book_edit_day(edit, day->version, day->day, day->revision);
        return true;
    }
    uint16_t gpu = gpu_find(row->gpu);
    if (gpu == INDEX_NONE)
        return true; /* a newer release knows it */
    struct book_point point = {
        .day = day->day,
        .revision = day->revision,
        .method_version = day->method_version,
        .figures = {row->min_microusd, row->p25_microusd, row->median_microusd, row->p75_microusd,
                    row->max_microusd, (uint32_t)row->offers, (uint32_t)row->providers},
    };
    memcpy(point.input_hash, row->input_hash, sizeof(point.input_hash));
    enum continent continent =
        row->continent == NULL ? CONTINENT_COUNT : continent_of(row->continent);
    book_edit_add(edit, gpu, commitment_of(row->billing, row->months_from), continent, &point);
    return true;
}

struct book *fixing_load(struct db_connection *connection, const struct book *from, bool anew)
{
    struct book *empty = anew ? book_new() : NULL;
    struct book_edit *edit = book_edit_new(anew ? empty : from);
    enum db_status status =
        db_fixing_since(connection, anew ? 0 : book_version(from), take_fixing, edit);
    book_release(empty);
    if (status == DB_OK)
        return book_edit_finish(edit);
    book_edit_abandon(edit);
    return NULL;
}
