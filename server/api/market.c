/* GET /v1/market/summary: what GPUs cost now, by variant and commitment, and on request every price
 * with the reason why it counts or does not. The figures lie ready in the snapshot; an explanation
 * looks at all offers of one GPU, on a worker. */
#include "server/api/app.h"
#include "server/api/market_parameters.h"
#include "server/api/resources.h"

#include "server/base/decimal.h"
#include "server/catalog/market.h"
#include "server/reference/gpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is asked for. */
struct summary_request {
    struct list_page page;
    uint8_t *gpus; /* by index; NULL: all */
    unsigned commitments;
    enum continent continent;
    bool explain;
    uint16_t gpu; /* to explain */
};

static uint16_t *by_slug;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int compare_slugs(const void *a, const void *b)
{
    return strcmp(gpu_at(*(const uint16_t *)a)->slug, gpu_at(*(const uint16_t *)b)->slug);
}

static void order_gpus(void)
{
    by_slug = xcalloc(gpu_count(), sizeof(*by_slug));
    for (uint16_t i = 0; i < gpu_count(); i++)
        by_slug[i] = i;
    qsort(by_slug, gpu_count(), sizeof(*by_slug), compare_slugs);
}

/* One GPU: also a family or `unrecognized`, to see what is left out for leaving the variant open.
 */
static bool parse_explained(struct request *request, struct reply *reply,
                            struct summary_request *wanted)
{
    const char *slug = request_parameter(request, "gpu");
    wanted->gpu = slug == NULL ? INDEX_NONE : gpu_find(slug);
    return wanted->gpu != INDEX_NONE || parameter_variant(request, reply, "gpu", &wanted->gpu);
}

static bool parse(struct request *request, struct reply *reply, struct summary_request *wanted)
{
    static const char *const allowed[] = {"gpu",     "billing", "term_months", "continent",
                                          "explain", "limit",   "cursor",      NULL};
    *wanted = (struct summary_request){0};
    return request_check_parameters(request, reply, allowed) &&
           list_page_parse(request, reply, "market-summary", &wanted->page) &&
           parameter_gpus(request, reply, "gpu", &wanted->gpus) &&
           parameter_commitments(request, reply, &wanted->commitments) &&
           parameter_continent(request, reply, &wanted->continent) &&
           parameter_flag(request, reply, "explain", &wanted->explain) &&
           (!wanted->explain || parse_explained(request, reply, wanted));
}

/* Where a row stands: GPUs by slug, then commitments. */
static const char *row_key(struct request *request, uint16_t gpu, unsigned commitment)
{
    return arena_printf(&request->arena, "%s/%u", gpu_at(gpu)->slug, commitment);
}

/* Whether a row stands after the one a key names. */
static bool is_after(const char *key, uint16_t gpu, unsigned commitment)
{
    if (key == NULL)
        return true;
    size_t length = strcspn(key, "/");
    const char *slug = gpu_at(gpu)->slug;
    int order = strncmp(slug, key, length);
    if (order == 0 && slug[length] != '\0')
        order = 1;
    return order != 0
               ? order > 0
               : key[length] == '/' && commitment > (unsigned)strtoul(key + length + 1, NULL, 10);
}

/* Writes the rows of the page; gives the cursor of the next, and the number of all. */
static const char *write_rows(struct request *request, struct buf *out, struct snapshot *snapshot,
                              const struct summary_request *wanted, size_t *ret_total)
{
    const char *cursor = NULL;
    size_t shown = 0, total = 0;
    uint16_t last_gpu = 0;
    unsigned last_commitment = 0;
    for (uint16_t i = 0; i < gpu_count(); i++) {
        uint16_t gpu = by_slug[i];
        if (wanted->gpus != NULL && wanted->gpus[gpu] == 0)
            continue;
        unsigned offered = snapshot_market_commitments(snapshot, gpu, request->received_at_us);
        for (unsigned left = offered & wanted->commitments; left != 0; left &= left - 1) {
            unsigned c = (unsigned)__builtin_ctz(left);
            size_t before = out->length;
            if (shown > 0)
                buf_add_char(out, ',');
            if (!snapshot_market_write(snapshot, gpu, (enum commitment)c, wanted->continent,
                                       request->received_at_us, out)) {
                out->length = before;
                continue;
            }
            total++;
            if (shown == wanted->page.limit || !is_after(wanted->page.after, gpu, c)) {
                out->length = before;
                if (shown == wanted->page.limit && cursor == NULL)
                    cursor = list_page_cursor(request, "market-summary",
                                              row_key(request, last_gpu, last_commitment));
                continue;
            }
            shown++;
            last_gpu = gpu;
            last_commitment = c;
        }
    }
    *ret_total = total;
    return cursor;
}

void market_summary_prepare(struct request *request, struct reply *reply)
{
    struct app *app = request->app;
    struct summary_request wanted;
    if (!parse(request, reply, &wanted))
        return;
    pthread_once(&once, order_gpus);
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    reply->etag = snapshot_etag(request, snapshot, NULL);
    if (!reply_not_modified(request, reply, reply->etag) && !wanted.explain) {
        size_t total;
        buf_printf(&reply->body, "{\"method_version\":%d,\"prices\":null,\"data\":[",
                   INDEX_METHOD_VERSION);
        const char *cursor = write_rows(request, &reply->body, snapshot, &wanted, &total);
        list_page_finish(request, reply, &wanted.page, total, cursor, snapshot_as_of_us(snapshot));
    }
    snapshot_release(snapshot);
}

static void write_explanation(struct buf *out, const struct market_explanation *price)
{
    char id[OFFER_ID_TEXT_LENGTH + 1];
    offer_id_print(price->offer_id, id);
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "offer_id", id);
    buf_add_json_member_string(out, "provider", price->provider->slug);
    buf_add_json_member_string(out, "external_id", price->external_id);
    buf_add_json_member_string(out, "billing", billing_name(commitment_billing(price->commitment)));
    buf_add_json_member_int(out, "term_months", price->term_months);
    buf_add_json_member_string(out, "term_bucket", commitment_term_name(price->commitment));
    buf_add_json_member_string(out, "cluster_size", cluster_size_name(price->cluster_size));
    buf_add_json_member_string(out, "continent", continent_code(price->continent));
    buf_add_json_member_decimal(out, "price_per_gpu_hour", price->microusd, 6);
    buf_add_json_member_decimal(out, "vote_price_per_gpu_hour", price->vote_microusd, 6);
    buf_add_json_member_bool(out, "included", price->reason == INDEX_INCLUDED);
    buf_add_json_member_string(out, "reason", index_reason_name(price->reason));
    buf_add_char(out, '}');
}

/* Where a price stands in its list. */
static const char *price_key(struct request *request, const struct market_explanation *price)
{
    char id[OFFER_ID_TEXT_LENGTH + 1];
    offer_id_print(price->offer_id, id);
    return arena_printf(&request->arena, "%u/%s/%015lld/%s/%03u", (unsigned)price->commitment,
                        price->provider->slug, (long long)price->microusd, id, price->number);
}

/* The first price after the one a key names; by the parts of the key, as the list is ordered. */
static size_t first_after(struct request *request, const struct market_explanation *list,
                          size_t count, const char *key)
{
    size_t low = 0, high = key == NULL ? 0 : count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *own = price_key(request, &list[middle]);
        /* The slash between the parts sorts before all that slugs are made of but the hyphen. */
        size_t slug = strcspn(own + 2, "/") + 2,
               other = strlen(key) > 2 ? strcspn(key + 2, "/") + 2 : 0;
        size_t shorter = slug < other ? slug : other;
        int order = strncmp(own, key, shorter);
        if (order == 0 && slug != other)
            order = slug < other ? -1 : 1;
        if (order == 0)
            order = strcmp(own + slug, key + slug);
        if (order <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const char *write_prices(struct request *request, struct buf *out, struct snapshot *snapshot,
                                const struct summary_request *wanted, size_t *ret_total)
{
    struct market_explanation *list;
    size_t count = snapshot_market_explain(snapshot, wanted->gpu, wanted->commitments,
                                           request->received_at_us, &request->arena, &list);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (wanted->continent == CONTINENT_COUNT || list[i].continent == wanted->continent)
            list[kept++] = list[i];
    }
    size_t from = first_after(request, list, kept, wanted->page.after), shown = 0;
    for (; shown < wanted->page.limit && from + shown < kept; shown++) {
        if (shown > 0)
            buf_add_char(out, ',');
        write_explanation(out, &list[from + shown]);
    }
    *ret_total = kept;
    return shown > 0 && from + shown < kept
               ? list_page_cursor(request, "market-summary",
                                  price_key(request, &list[from + shown - 1]))
               : NULL;
}

void market_summary_execute(struct request *request, struct reply *reply, struct worker *worker)
{
    struct app *app = request->app;
    struct summary_request wanted;
    size_t total, rows;
    (void)worker; /* all of it is in memory */
    if (!parse(request, reply, &wanted))
        return;
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    reply->etag = snapshot_etag(request, snapshot, NULL);
    struct summary_request figures = wanted;
    figures.page = (struct list_page){.limit = COMMITMENT_COUNT};
    figures.gpus = arena_calloc(&request->arena, gpu_count(), 1);
    figures.gpus[wanted.gpu] = 1;
    buf_printf(&reply->body, "{\"method_version\":%d,\"prices\":[", INDEX_METHOD_VERSION);
    const char *cursor = write_prices(request, &reply->body, snapshot, &wanted, &total);
    buf_add_string(&reply->body, "],\"data\":[");
    (void)write_rows(request, &reply->body, snapshot, &figures, &rows);
    list_page_finish(request, reply, &wanted.page, total, cursor, snapshot_as_of_us(snapshot));
    snapshot_release(snapshot);
}
