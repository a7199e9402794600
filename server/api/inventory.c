/* Providers' writes: the whole inventory, many offers, one offer; and reading the inventory back.
 */
#include "server/api/app.h"
#include "server/api/resources.h"

#include "db/provider.h"
#include "server/api/once.h"
#include "server/api/upload_answer.h"
#include "server/base/crypto.h"
#include "server/base/metrics.h"
#include "server/base/timestamp.h"
#include "server/sync/write.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define IDEMPOTENCY_KEY_MAX 255

/* What prepare read of the headers and parameters, for execute. */
/* What is held for a compressed body at first: at least so much, and so many times its size. */
#define DECODED_LEAST_BYTES ((size_t)1 << 20)
#define DECODED_USUAL_TIMES 40

struct upload_options {
    enum change_mode mode;
    enum upload_format format;
    enum upload_encoding encoding;
    bool dry_run;
    bool skip_bad_rows;
    bool confirm_removals;
    const char *idempotency_key; /* NULL: none */
};

static bool refuse_parameter(struct request *request, struct reply *reply, const char *name,
                             const char *message)
{
    const struct problem_item item = {
        .parameter = name, .code = "unknown_value", .message = message};
    reply_problem(request, reply, 400, "bad-parameter", message, &item, 1);
    return false;
}

/* The media type before any parameter, compared without case. */
static bool is_media_type(const char *header, const char *type)
{
    size_t length = strlen(type);
    if (strncasecmp(header, type, length) != 0)
        return false;
    const char *rest = header + length + strspn(header + length, " \t");
    return *rest == '\0' || *rest == ';';
}

static bool read_format(struct request *request, struct reply *reply,
                        enum upload_format *ret_format)
{
    static const struct {
        const char *name;
        enum upload_format format;
    } names[] = {
        {"json", FORMAT_JSON},        {"ndjson", FORMAT_NDJSON},
        {"csv", FORMAT_CSV},          {"skypilot", FORMAT_SKYPILOT},
        {"rackrate", FORMAT_UNKNOWN}, {"gpurentalprices", FORMAT_GPURENTALPRICES},
    };
    *ret_format = FORMAT_UNKNOWN;
    const char *name = request_parameter(request, "format");
    const char *type = request_header(request, "content-type");
    if (name != NULL) {
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            if (strcmp(name, names[i].name) == 0) {
                *ret_format = names[i].format;
                if (*ret_format != FORMAT_UNKNOWN)
                    return true;
                name = NULL;
                break;
            }
        }
        if (name != NULL)
            return refuse_parameter(
                request, reply, "format",
                "format is json, ndjson, csv, rackrate, skypilot or gpurentalprices.");
    }
    /* curl -d says form-urlencoded and curl -T nothing; both mean "look at it". */
    if (type == NULL || is_media_type(type, "application/octet-stream"))
        return true;
    if (is_media_type(type, "application/json"))
        *ret_format = FORMAT_JSON;
    else if (is_media_type(type, "application/x-ndjson"))
        *ret_format = FORMAT_NDJSON;
    else if (is_media_type(type, "text/csv"))
        *ret_format = FORMAT_CSV;
    else {
        reply_problem(request, reply, 415, "unsupported-media-type",
                      "An inventory is application/json, application/x-ndjson or text/csv.", NULL,
                      0);
        return false;
    }
    return true;
}

static bool read_encoding(struct request *request, struct reply *reply,
                          enum upload_encoding *ret_encoding)
{
    const char *text = request_header(request, "content-encoding");
    *ret_encoding = ENCODING_IDENTITY;
    if (text == NULL || strcasecmp(text, "identity") == 0)
        return true;
    if (strcasecmp(text, "gzip") == 0 || strcasecmp(text, "x-gzip") == 0)
        *ret_encoding = ENCODING_GZIP;
    else if (strcasecmp(text, "zstd") == 0)
        *ret_encoding = ENCODING_ZSTD;
    else {
        reply_problem(request, reply, 415, "unsupported-media-type",
                      "Content-Encoding is gzip or zstd, or left out.", NULL, 0);
        return false;
    }
    return true;
}

static void prepare_upload(struct request *request, struct reply *reply, enum change_mode mode)
{
    static const char *const allowed[] = {"dry_run", "on_error", "confirm_removals", "format",
                                          NULL};
    struct upload_options *options = arena_calloc(&request->arena, 1, sizeof(*options));
    options->mode = mode;
    request->state = options;
    if (!request_check_parameters(request, reply, allowed) ||
        !parameter_flag(request, reply, "dry_run", &options->dry_run) ||
        !parameter_flag(request, reply, "confirm_removals", &options->confirm_removals) ||
        !read_format(request, reply, &options->format) ||
        !read_encoding(request, reply, &options->encoding) ||
        !idempotency_key_read(request, reply, &options->idempotency_key))
        return;
    const char *on_error = request_parameter(request, "on_error");
    options->skip_bad_rows = on_error != NULL && strcmp(on_error, "skip") == 0;
    if (on_error != NULL && !options->skip_bad_rows && strcmp(on_error, "refuse") != 0)
        (void)refuse_parameter(request, reply, "on_error",
                               "on_error is refuse (the default) or skip.");
}

void inventory_put_prepare(struct request *request, struct reply *reply)
{
    prepare_upload(request, reply, CHANGE_REPLACE);
}

void offers_post_prepare(struct request *request, struct reply *reply)
{
    prepare_upload(request, reply, CHANGE_UPSERT);
}

static void refuse_body(struct request *request, struct reply *reply, enum decode_status status,
                        const struct decode_error *error)
{
    const char *detail = arena_strdup(&request->arena, error->message);
    switch (status) {
    case DECODE_BAD_ENCODING:
        reply_problem(request, reply, 400, "bad-encoding", detail, NULL, 0);
        break;
    case DECODE_TOO_LARGE:
        reply_problem(request, reply, 413, "too-large", detail, NULL, 0);
        break;
    case DECODE_UNKNOWN_FORMAT:
        reply_problem(request, reply, 415, "unsupported-media-type", detail, NULL, 0);
        break;
    case DECODE_MALFORMED:
    case DECODE_OK:
        reply_problem(request, reply, 400, "malformed-body", detail, NULL, 0);
        break;
    }
}

void reply_write_outcome(struct request *request, struct reply *reply, enum write_outcome outcome,
                         const struct write_result *result)
{
    switch (outcome) {
    case WRITE_DONE:
        reply->status = 200;
        break;
    case WRITE_REPLAYED:
        reply->status = result->replay_status;
        buf_add_string(&reply->body, result->replay_body);
        reply_add_header(reply, "Idempotency-Replayed", "true");
        break;
    case WRITE_KEY_REUSED:
        reply_key_reused(request, reply);
        break;
    case WRITE_KEY_BUSY:
        reply_key_busy(request, reply);
        break;
    case WRITE_NO_PROVIDER:
        reply_not_found(request, reply, "No provider has this slug.");
        break;
    case WRITE_NO_OFFER:
        reply_not_found(request, reply, "This provider has no offer with that external_id.");
        break;
    case WRITE_PRECONDITION:
        reply_problem(request, reply, 412, "precondition-failed",
                      "The offer changed since: If-Match does not hold. GET it again.", NULL, 0);
        break;
    case WRITE_MANY_REMOVALS:
        reply_problem(
            request, reply, 409, "many-removals",
            arena_printf(&request->arena,
                         "This would remove %lld offers, over half of the inventory. Repeat with "
                         "?confirm_removals=1 if that is meant.",
                         (long long)result->change_set.removed),
            NULL, 0);
        break;
    case WRITE_REJECTED:
        reply_rejected(request, reply, &result->upload, NULL);
        break;
    case WRITE_MALFORMED:
        refuse_body(request, reply, DECODE_MALFORMED, &result->error);
        break;
    case WRITE_BUSY:
        reply_unavailable(request, reply,
                          "Another write to this provider is still going on; try again shortly.",
                          5);
        break;
    case WRITE_UNAVAILABLE:
        reply_unavailable(
            request, reply,
            "The database does not answer; try again. With an Idempotency-Key it is safe.", 2);
        break;
    case WRITE_FAILED:
        reply_database_failed(request, reply, DB_FAILED);
        break;
    }
}

/* A refused upload is recorded with its rejected rows, so that all of them can be read at its own
 * address. */
static void record_refusal(struct request *request, struct db_connection *connection,
                           const struct upload *upload, const struct write_request *refused,
                           struct write_result *ret_result)
{
    struct app *app = request->app;
    static const struct upload nothing;
    struct write_request write = *refused;
    write.mode = CHANGE_UPSERT;
    write.upload = &nothing;
    write.idempotency = NULL;
    write.render = NULL;
    write.record.confirms_all = false;
    write.record.rejected = upload->rejected;
    if (write_inventory(app->node, connection, &write, &request->arena, ret_result) != WRITE_DONE)
        ret_result->upload_id[0] = '\0';
    buf_free(&ret_result->body);
}

/* The market an upload is held against: medians of everybody else's prices, looked up once per kind
 * of price. */
struct market {
    struct snapshot *snapshot;
    const char *provider_slug;
    struct {
        uint16_t gpu;
        enum billing billing;
        int32_t term_months;
        int64_t microusd;
    } known[64];
    size_t known_count;
};

static int64_t market_median(void *closure, uint16_t gpu, const struct price *price)
{
    struct market *market = closure;
    for (size_t i = 0; i < market->known_count; i++) {
        if (market->known[i].gpu == gpu && market->known[i].billing == price->billing &&
            market->known[i].term_months == price->term_months)
            return market->known[i].microusd;
    }
    int64_t microusd = snapshot_price_median(market->snapshot, gpu, price->billing,
                                             price->term_months, market->provider_slug);
    /* Beyond 64 kinds the oldest make room: an upload names its kinds in runs. */
    size_t at = market->known_count < 64 ? market->known_count++ : (size_t)gpu % 64;
    market->known[at].gpu = gpu;
    market->known[at].billing = price->billing;
    market->known[at].term_months = price->term_months;
    market->known[at].microusd = microusd;
    return microusd;
}

/* Decodes and writes against the market and the operators' names of one snapshot. */
static void apply_upload(struct request *request, struct reply *reply, struct worker *worker,
                         const struct upload_options *options, const char *body, size_t length,
                         struct snapshot *snapshot)
{
    struct app *app = request->app;
    struct decode_options decode = {
        .format = options->format,
        .provider_slug = request->captures[0],
        .source_kind = SOURCE_PROVIDER_API,
        .skip_bad_rows = options->skip_bad_rows,
        .as_of_us = TIMESTAMP_UNKNOWN,
    };
    struct market market = {
        .snapshot = snapshot,
        .provider_slug = request->captures[0],
    };
    decode.median = market_median;
    decode.median_closure = &market;
    decode.aliases = snapshot_operator_names(snapshot);
    struct upload upload = {0};
    struct decode_error error = {0};
    enum decode_status status =
        upload_decode(&decode, body, length, &request->arena, &upload, &error);
    if (status != DECODE_OK) {
        metric_add(METRIC_UPLOADS_REFUSED, 1);
        refuse_body(request, reply, status, &error);
        return;
    }
    metric_add(METRIC_ROWS_REJECTED, upload.rejected);
    struct answer_closure closure = {.upload = &upload, .dry_run = options->dry_run};
    struct write_request write = {
        .provider_slug = request->captures[0],
        .mode = options->mode,
        .upload = &upload,
        .names = decode.aliases,
        .dry_run = options->dry_run,
        .confirm_removals = options->confirm_removals,
        .record =
            {
                .kind = options->mode == CHANGE_REPLACE ? "replace" : "upsert",
                .format = upload_format_name(options->format, body, length),
                .actor = request_actor(request),
                .rows_read = upload.rows_read,
                .rejected = upload.rejected,
                .skipped = upload.skipped,
                .confirms_all = options->mode == CHANGE_REPLACE,
                .confirmed_at_us = TIMESTAMP_UNKNOWN,
                .errors = &upload.errors,
                .warnings = &upload.warnings,
            },
        .idempotency = idempotency_make(request, options->idempotency_key, body, length),
        .render = render_upload_answer,
        .render_closure = &closure,
    };
    struct db_connection *connection = worker_database(request, reply, worker);
    if (connection == NULL)
        return;
    struct write_result result;
    if (upload.errors.count > 0 && !options->skip_bad_rows) {
        result = (struct write_result){0};
        if (!options->dry_run)
            record_refusal(request, connection, &upload, &write, &result);
        metric_add(METRIC_UPLOADS_REFUSED, 1);
        reply_rejected(request, reply, &upload,
                       result.upload_id[0] == '\0' ? NULL : result.upload_id);
        return;
    }
    enum write_outcome outcome =
        write_inventory(app->node, connection, &write, &request->arena, &result);
    if (outcome == WRITE_DONE) {
        buf_free(&reply->body);
        reply->body = result.body;
    } else {
        buf_free(&result.body);
    }
    reply_write_outcome(request, reply, outcome, &result);
}

/* Decompresses under the byte budget of decoded bodies, as much as it may take being held first:
 * what an inventory usually comes to, and all that is allowed where that is too little. False with
 * the reply made; else *ret_held goes back to the budget when the body is done with. */
static bool decompress(struct request *request, struct reply *reply,
                       const struct upload_options *options, const char **ret_body,
                       size_t *ret_length, char **ret_owned, size_t *ret_held)
{
    struct app *app = request->app;
    const char *bytes = request->body == NULL ? "" : request->body;
    size_t length = request->body_length, most = UPLOAD_DECODED_MAX_BYTES;
    size_t usual = DECODED_LEAST_BYTES + length * DECODED_USUAL_TIMES;
    if (options->encoding != ENCODING_IDENTITY && most > app->decoded.limit_bytes)
        most = app->decoded.limit_bytes;
    struct decode_error error = {0};
    enum decode_status status = DECODE_TOO_LARGE;
    *ret_held = 0;
    for (int i = 0; i < 2 && status == DECODE_TOO_LARGE; i++) {
        size_t wanted = options->encoding == ENCODING_IDENTITY ? 0
                        : i == 0 && usual < most               ? usual
                                                               : most;
        if (!budget_take(&app->decoded, wanted)) {
            metric_add(METRIC_BODY_REFUSED, 1);
            reply_unavailable(request, reply,
                              "Too many compressed bodies are being read; try again shortly.", 2);
            return false;
        }
        status = upload_decompress(options->encoding, bytes, length, wanted == 0 ? most : wanted,
                                   ret_body, ret_length, ret_owned, &error);
        *ret_held = status == DECODE_OK && wanted > *ret_length ? *ret_length : 0;
        budget_give(&app->decoded, wanted - *ret_held);
        if (wanted == most || wanted == 0)
            break;
    }
    if (status != DECODE_OK)
        refuse_body(request, reply, status, &error);
    return status == DECODE_OK;
}

void inventory_write_execute(struct request *request, struct reply *reply, struct worker *worker)
{
    struct app *app = request->app;
    const struct upload_options *options = request->state;
    const char *body;
    size_t length, held;
    char *owned = NULL;
    if (!decompress(request, reply, options, &body, &length, &owned, &held))
        return;
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    apply_upload(request, reply, worker, options, body, length, snapshot);
    snapshot_release(snapshot);
    free(owned);
    budget_give(&app->decoded, held);
}

static void prepare_one(struct request *request, struct reply *reply, enum change_mode mode)
{
    static const char *const allowed[] = {"dry_run", NULL};
    struct upload_options *options = arena_calloc(&request->arena, 1, sizeof(*options));
    options->mode = mode;
    request->state = options;
    if (!request_check_parameters(request, reply, allowed) ||
        !parameter_flag(request, reply, "dry_run", &options->dry_run) ||
        !idempotency_key_read(request, reply, &options->idempotency_key))
        return;
    const char *type = request_header(request, "content-type");
    if (mode == CHANGE_UPSERT && type != NULL && !is_media_type(type, "application/json") &&
        !is_media_type(type, "application/merge-patch+json"))
        reply_problem(request, reply, 415, "unsupported-media-type",
                      "A change is application/merge-patch+json or application/json.", NULL, 0);
}

void offer_patch_prepare(struct request *request, struct reply *reply)
{
    prepare_one(request, reply, CHANGE_UPSERT);
}

void offer_delete_prepare(struct request *request, struct reply *reply)
{
    prepare_one(request, reply, CHANGE_DELETE);
}

void offer_write_execute(struct request *request, struct reply *reply, struct worker *worker)
{
    struct app *app = request->app;
    const struct upload_options *options = request->state;
    const char *body = request->body == NULL ? "" : request->body;
    struct answer_closure closure = {.dry_run = options->dry_run};
    struct write_request write = {
        .provider_slug = request->captures[0],
        .mode = options->mode,
        .external_id = request->captures[1],
        .patch = options->mode == CHANGE_UPSERT ? body : NULL,
        .patch_length = request->body_length,
        .if_match = request_header(request, "if-match"),
        .dry_run = options->dry_run,
        .record =
            {
                .kind = options->mode == CHANGE_UPSERT ? "patch" : "delete",
                .format = "json",
                .actor = request_actor(request),
                .rows_read = 1,
                .confirmed_at_us = TIMESTAMP_UNKNOWN,
            },
        .idempotency =
            idempotency_make(request, options->idempotency_key, body, request->body_length),
        .render = render_upload_answer,
        .render_closure = &closure,
    };
    struct db_connection *connection = worker_database(request, reply, worker);
    if (connection == NULL)
        return;
    struct write_result result;
    enum write_outcome outcome =
        write_inventory(app->node, connection, &write, &request->arena, &result);
    if (outcome == WRITE_DONE) {
        buf_free(&reply->body);
        reply->body = result.body;
        if (options->mode == CHANGE_UPSERT && !options->dry_run && result.change_set.updated > 0)
            reply_add_header(reply, "ETag",
                             arena_printf(&request->arena, "\"v%lld\"", (long long)result.version));
    } else {
        buf_free(&result.body);
    }
    reply_write_outcome(request, reply, outcome, &result);
}

void inventory_get_prepare(struct request *request, struct reply *reply)
{
    static const char *const allowed[] = {NULL};
    (void)request_check_parameters(request, reply, allowed);
}

void inventory_get_execute(struct request *request, struct reply *reply, struct worker *worker)
{
    struct db_connection *connection = worker_database(request, reply, worker);
    if (connection == NULL)
        return;
    struct provider provider;
    struct inventory_delta delta;
    enum db_status status =
        db_provider_find(connection, request->captures[0], &request->arena, &provider);
    if (status == DB_NONE) {
        reply_not_found(request, reply, "No provider has this slug.");
        return;
    }
    if (status == DB_OK)
        status = db_inventory_since(connection, &provider, -1, &request->arena, &delta);
    if (status != DB_OK) {
        reply_database_failed(request, reply, status);
        return;
    }
    buf_add_string(&reply->body, "{\"offers\":[");
    for (size_t i = 0; i < delta.offer_count; i++) {
        if (i > 0)
            buf_add_char(&reply->body, ',');
        inventory_write_offer(&reply->body, &delta.offers[i]);
    }
    buf_add_string(&reply->body, "]}");
    reply->etag = arena_printf(&request->arena, "\"i%lld\"", (long long)provider.version);
    if (reply_not_modified(request, reply, reply->etag))
        return;
    reply->status = 200;
}
