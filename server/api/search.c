/* GET /v1/offers: a page of offers as JSON, or as lines of JSON or CSV; without `limit` those bring
 * the whole result, streamed. All of it from the snapshot. */
#include "server/api/app.h"
#include "server/api/resources.h"

#include "server/catalog/row_stream.h"
#include "server/http/accept.h"

#include <string.h>

const char *const search_media_types[] = {"application/x-ndjson", "application/ndjson", "text/csv",
                                          NULL};

static void refuse_query(struct request *request, struct reply *reply,
                         const struct query_error *errors, size_t count)
{
    struct problem_item *items = arena_calloc(&request->arena, count, sizeof(*items));
    for (size_t i = 0; i < count; i++)
        items[i] = (struct problem_item){
            .parameter = errors[i].parameter,
            .code = errors[i].code,
            .message = errors[i].message,
        };
    reply_problem(request, reply, 400, "bad-parameter", errors[0].message, items, count);
}

/* The format that the Accept header asks for; NULL: JSON, or there is a parameter for it. */
static const char *accepted_format(struct request *request)
{
    static const char *const types[] = {"application/json", "application/x-ndjson",
                                        "application/ndjson", "text/csv"};
    static const char *const formats[] = {NULL, "ndjson", "ndjson", "csv", NULL};
    const char *header = request_header(request, "accept");
    if (header == NULL || request_parameter(request, "format") != NULL)
        return NULL;
    return formats[accept_best(header, types, sizeof(types) / sizeof(types[0]))];
}

/* The request's parameters, the negotiated format among them, in an arena that may outlive it. */
static struct query_parameter *parameters_of(struct request *request, struct arena *arena,
                                             size_t *ret_count)
{
    const char *format = accepted_format(request);
    struct query_parameter *parameters =
        arena_calloc(arena, request->parameter_count + 1, sizeof(*parameters));
    *ret_count = request->parameter_count;
    for (size_t i = 0; i < *ret_count; i++)
        parameters[i] =
            (struct query_parameter){request->parameters[i].name, request->parameters[i].value};
    if (format != NULL)
        parameters[(*ret_count)++] = (struct query_parameter){"format", format};
    return parameters;
}

static const char *media_type_of(enum answer_format format)
{
    switch (format) {
    case ANSWER_NDJSON:
        return "application/x-ndjson";
    case ANSWER_CSV:
        return "text/csv; charset=utf-8; header=present";
    case ANSWER_JSON:
        break;
    }
    return "application/json";
}

static enum stream_step produce_rows(void *closure, struct worker *worker, struct buf *out)
{
    (void)worker;
    return row_stream_next(closure, REPLY_STREAM_BLOCK_BYTES, out) ? STREAM_MORE : STREAM_END;
}

static void free_rows(void *closure)
{
    row_stream_free(closure);
}

/* The whole result: the query moves into an arena of the stream's own, which lives longer than the
 * request. Takes the snapshot's reference over. */
static void stream_rows(struct request *request, struct reply *reply, struct snapshot *snapshot)
{
    struct arena arena = {0};
    struct query *query;
    struct query_error *errors;
    size_t count;
    struct query_parameter *parameters = parameters_of(request, &arena, &count);
    for (size_t i = 0; i < count; i++)
        parameters[i] = (struct query_parameter){arena_strdup(&arena, parameters[i].name),
                                                 arena_strdup(&arena, parameters[i].value)};
    (void)query_parse(parameters, count, snapshot, &arena, &query, &errors); /* as before */
    reply->stream = (struct reply_stream){
        .produce = produce_rows,
        .free = free_rows,
        .closure = row_stream_new(snapshot, query, &arena, request->received_at_us),
    };
}

void offers_search(struct request *request, struct reply *reply)
{
    struct app *app = request->app;
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    struct query *query;
    struct query_error *errors;
    size_t count;
    struct query_parameter *parameters = parameters_of(request, &request->arena, &count);
    size_t error_count = query_parse(parameters, count, snapshot, &request->arena, &query, &errors);
    if (error_count > 0) {
        refuse_query(request, reply, errors, error_count);
        snapshot_release(snapshot);
        return;
    }
    reply->content_type = media_type_of(query_format(query));
    reply->etag = snapshot_etag(request, snapshot, query_canonical(query));
    if (reply_not_modified(request, reply, reply->etag)) {
        snapshot_release(snapshot);
        return;
    }
    reply->status = 200;
    if (query_is_whole(query)) {
        stream_rows(request, reply, snapshot);
        return;
    }
    const struct answer_key key = {reply->etag, request_takes_gzip(request)};
    const char *cursor;
    if (!answer_cache_find(app->answers, &key, reply, &cursor)) {
        query_answer(snapshot, query, request->received_at_us, &request->arena, &reply->body,
                     &cursor);
        reply_encode(request, reply);
        answer_cache_put(app->answers, &key, reply, cursor);
    }
    if (cursor != NULL)
        reply_add_next_link(request, reply, cursor);
    snapshot_release(snapshot);
}
