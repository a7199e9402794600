/* GET /v1/market/history: the fixings of one GPU variant under one commitment, from the book in
 * memory; rows are ready text. */
#include "server/api/app.h"
#include "server/api/market_parameters.h"
#include "server/api/resources.h"

#include "server/base/crypto.h"
#include "server/base/day.h"
#include "server/base/decimal.h"
#include "server/base/nearest.h"
#include "server/base/timestamp.h"
#include "server/market/book.h"
#include "server/reference/gpu.h"

#include <string.h>

/* What is asked for. */
struct history_request {
    struct list_page page;
    uint16_t gpu;
    enum commitment commitment;
    enum continent continent;
    enum book_interval interval;
    int32_t from, to; /* days, both included */
};

/* `billing` and `term_months` as one commitment: on demand unless said otherwise; a term alone
 * means reserved. */
static bool parse_commitment(struct request *request, struct reply *reply,
                             enum commitment *ret_commitment)
{
    static const char *const words[BILLING_COUNT] = {"on_demand", "spot", "reserved"};
    const char *text = request_parameter(request, "billing");
    const char *term = request_parameter(request, "term_months");
    enum billing billing = BILLING_ON_DEMAND;
    int64_t months = 0;
    if (text != NULL && !billing_parse(text, &billing)) {
        const char *near = nearest_name(text, words, BILLING_COUNT);
        return parameter_refuse(request, reply, "billing", "unknown_value",
                                arena_printf(&request->arena, "%.40s is no billing here%s%s%s.",
                                             text, near == NULL ? "" : "; did you mean ",
                                             near == NULL ? "" : near, near == NULL ? "" : "?"));
    }
    if (term != NULL && (decimal_parse(term, strlen(term), 0, false, &months) != DECIMAL_OK ||
                         months < 0 || months > PRICE_TERM_MONTHS_MAX))
        return parameter_refuse(request, reply, "term_months", "out_of_range",
                                "term_months is a whole number of months from 0 to 600.");
    if (text == NULL && months > 0)
        billing = BILLING_RESERVED;
    if (billing == BILLING_RESERVED && months == 0)
        return parameter_refuse(
            request, reply, "term_months", term == NULL ? "missing" : "out_of_range",
            "A reserved price needs term_months from 1 to 600; terms are never mixed.");
    if (billing != BILLING_RESERVED && months > 0)
        return parameter_refuse(request, reply, "term_months", "out_of_range",
                                "term_months is 0 unless billing is reserved.");
    *ret_commitment = commitment_of(billing, (int32_t)months);
    return true;
}

static bool parse_day(struct request *request, struct reply *reply, const char *name,
                      int32_t absent, int32_t *ret_day)
{
    const char *text = request_parameter(request, name);
    *ret_day = absent;
    return text == NULL || day_parse(text, ret_day) ||
           parameter_refuse(request, reply, name, "not_a_date",
                            arena_printf(&request->arena,
                                         "%s is a UTC day of the calendar such as 2026-07-05.",
                                         name));
}

static bool parse_interval(struct request *request, struct reply *reply,
                           enum book_interval *ret_interval)
{
    const char *text = request_parameter(request, "interval");
    *ret_interval = BOOK_DAY;
    return text == NULL || book_interval_parse(text, ret_interval) ||
           parameter_refuse(request, reply, "interval", "unknown_value",
                            "interval is day, week or month.");
}

static bool parse(struct request *request, struct reply *reply, struct history_request *wanted)
{
    static const char *const allowed[] = {"gpu",  "billing", "term_months", "continent", "interval",
                                          "from", "to",      "limit",       "cursor",    NULL};
    if (!request_check_parameters(request, reply, allowed) ||
        !list_page_parse(request, reply, "market-history", &wanted->page) ||
        !parameter_variant(request, reply, "gpu", &wanted->gpu) ||
        !parse_commitment(request, reply, &wanted->commitment) ||
        !parameter_continent(request, reply, &wanted->continent) ||
        !parse_interval(request, reply, &wanted->interval) ||
        !parse_day(request, reply, "from", INT32_MIN, &wanted->from) ||
        !parse_day(request, reply, "to", INT32_MAX, &wanted->to))
        return false;
    return wanted->from <= wanted->to ||
           parameter_refuse(request, reply, "from", "out_of_range", "from is after to.");
}

/* Of the book's version and the request; the same on every server. */
static const char *history_etag(struct request *request, const struct book *book)
{
    struct crypt_hasher hasher;
    uint8_t hash[16];
    char text[CRYPT_BASE64_SIZE(sizeof(hash)) + 4];
    int64_t parts[2] = {book_version(book), INDEX_METHOD_VERSION};
    crypt_hasher_init(&hasher, sizeof(hash));
    crypt_hasher_add(&hasher, parts, sizeof(parts));
    crypt_hasher_add(&hasher, request->path, strlen(request->path) + 1);
    for (size_t i = 0; i < request->parameter_count; i++) {
        crypt_hasher_add(&hasher, request->parameters[i].name,
                         strlen(request->parameters[i].name) + 1);
        crypt_hasher_add(&hasher, request->parameters[i].value,
                         strlen(request->parameters[i].value) + 1);
    }
    crypt_hasher_finish(&hasher, hash);
    crypt_base64url(hash, sizeof(hash), text);
    return arena_printf(&request->arena, "\"%s\"", text);
}

/* The first row, newest first, whose period begins on or before a day. */
static size_t first_until(const struct book_rows *rows, int32_t day)
{
    size_t low = 0, high = rows->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows->first_day[middle] > day)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first row whose period is over before a day: periods that reach into the range count. */
static size_t first_before(const struct book_rows *rows, int32_t day, enum book_interval interval)
{
    if (day == INT32_MIN)
        return rows->count;
    int32_t start = interval == BOOK_WEEK    ? day_week_start(day)
                    : interval == BOOK_MONTH ? day_month_start(day)
                                             : day;
    return first_until(rows, start - 1);
}

/* Writes the rows of the page; gives the cursor of the next, and the number of all. */
static const char *write_rows(struct request *request, struct buf *out,
                              const struct book_rows *rows, const struct history_request *wanted,
                              size_t *ret_total)
{
    *ret_total = 0;
    if (rows == NULL)
        return NULL;
    size_t from = first_until(rows, wanted->to);
    size_t end = first_before(rows, wanted->from, wanted->interval);
    int32_t after;
    *ret_total = end > from ? end - from : 0;
    if (wanted->page.after != NULL && day_parse(wanted->page.after, &after)) {
        size_t next = first_until(rows, after - 1);
        from = next > from ? next : from;
    }
    if (from >= end)
        return NULL;
    size_t last = end - from > wanted->page.limit ? from + wanted->page.limit : end;
    buf_add(out, rows->text + rows->offset[from], rows->offset[last] - 1 - rows->offset[from]);
    if (last == end)
        return NULL;
    char *day = arena_alloc(&request->arena, DAY_TEXT_SIZE);
    day_print(rows->first_day[last - 1], day);
    return list_page_cursor(request, "market-history", day);
}

void market_history(struct request *request, struct reply *reply)
{
    struct app *app = request->app;
    struct history_request wanted;
    if (!parse(request, reply, &wanted))
        return;
    struct book *book = node_fixings(app->node);
    reply->etag = history_etag(request, book);
    if (!reply_not_modified(request, reply, reply->etag)) {
        struct buf *out = &reply->body;
        const struct book_rows *rows =
            book_rows(book, wanted.gpu, wanted.commitment, wanted.continent, wanted.interval);
        int32_t last_day = book_last_day(book);
        size_t total;
        buf_add_char(out, '{');
        buf_add_json_member_string(out, "gpu", gpu_at(wanted.gpu)->slug);
        buf_add_json_member_string(out, "billing",
                                   billing_name(commitment_billing(wanted.commitment)));
        buf_add_json_member_string(out, "term_bucket", commitment_term_name(wanted.commitment));
        buf_add_json_member_string(
            out, "continent",
            wanted.continent == CONTINENT_COUNT ? NULL : continent_code(wanted.continent));
        buf_add_json_member_string(out, "interval", book_interval_name(wanted.interval));
        buf_add_string(out, ",\"data\":[");
        const char *cursor = write_rows(request, out, rows, &wanted, &total);
        list_page_finish(request, reply, &wanted.page, total, cursor,
                         last_day == INT32_MIN ? TIMESTAMP_UNKNOWN : day_start_us(last_day + 1));
    }
    book_release(book);
}
