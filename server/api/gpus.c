/* GPU specifications with what they cost now and who offers them. */
#include "server/api/app.h"
#include "server/api/resources.h"

#include "server/base/decimal.h"
#include "server/base/nearest.h"
#include "server/reference/gpu.h"

#include <stdlib.h>
#include <string.h>

static void write_sources(struct buf *out, const struct gpu *gpu)
{
    const struct {
        const char *field;
        const char *source;
    } sources[] = {
        {"vram_gb", gpu->sources.vram},
        {"memory_bandwidth_gb_per_s", gpu->sources.memory_bandwidth},
        {"bf16_dense_tflops", gpu->sources.bf16},
        {"fp8_dense_tflops", gpu->sources.fp8},
        {"tdp_watts", gpu->sources.tdp},
        {"nvlink_gb_per_s", gpu->sources.nvlink},
        {"year", gpu->sources.year},
    };
    buf_add_json_key(out, "sources");
    buf_add_char(out, '{');
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        if (sources[i].source != NULL)
            buf_add_json_member_string(out, sources[i].field, sources[i].source);
    }
    buf_add_char(out, '}');
}

/* The members every GPU has; the object stays open. */
static void write_gpu(struct buf *out, struct snapshot *snapshot, uint16_t index, int64_t now_us)
{
    const struct gpu *gpu = gpu_at(index);
    struct offer_summary summary = snapshot_gpu_summary(snapshot, index, now_us);
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "slug", gpu->slug);
    buf_add_json_member_string(out, "family", gpu->family);
    buf_add_json_member_bool(out, "is_family", gpu->is_family);
    buf_add_json_member_string(out, "vendor", gpu->vendor);
    buf_add_json_member_string(out, "name", gpu->name);
    buf_add_json_member_string(out, "form_factor", form_factor_name(gpu->form_factor));
    buf_add_json_member_decimal(out, "vram_gb", gpu->vram_gb_milli, 3);
    buf_add_json_member_decimal(out, "memory_bandwidth_gb_per_s",
                                gpu->memory_bandwidth_gb_per_s_milli, 3);
    buf_add_json_member_decimal(out, "bf16_dense_tflops", gpu->bf16_dense_tflops_milli, 3);
    buf_add_json_member_decimal(out, "fp8_dense_tflops", gpu->fp8_dense_tflops_milli, 3);
    buf_add_json_member_int(out, "tdp_watts", gpu->tdp_watts);
    buf_add_json_member_decimal(out, "nvlink_gb_per_s", gpu->nvlink_gb_per_s_milli, 3);
    buf_add_json_member_int(out, "year", gpu->year);
    buf_add_json_key(out, "aliases");
    buf_add_char(out, '[');
    for (size_t i = 0; gpu->aliases != NULL && gpu->aliases[i] != NULL; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        buf_add_json_string(out, gpu->aliases[i]);
    }
    buf_add_char(out, ']');
    write_sources(out, gpu);
    write_summary(out, &summary, true);
}

static int compare_slugs(const void *a, const void *b)
{
    return strcmp(gpu_at(*(const uint16_t *)a)->slug, gpu_at(*(const uint16_t *)b)->slug);
}

/* Whether a filter's value is one that some GPU has; a 400 in the reply with the nearest one
 * otherwise. */
static bool check_filter(struct request *request, struct reply *reply, const char *parameter,
                         const char *value, bool of_vendor)
{
    const char **known = arena_calloc(&request->arena, gpu_count(), sizeof(*known));
    for (uint16_t i = 0; i < gpu_count(); i++) {
        known[i] = of_vendor ? gpu_at(i)->vendor : gpu_at(i)->family;
        if (value == NULL || (*value != '\0' && strcmp(known[i], value) == 0))
            return true;
        if (known[i][0] == '\0')
            known[i] = NULL;
    }
    const char *nearest = nearest_name(value, known, gpu_count());
    const struct problem_item item = {
        .parameter = parameter,
        .code = "unknown_value",
        .message = arena_printf(&request->arena, "No GPU has the %s \"%.60s\".%s%s%s", parameter,
                                value, nearest == NULL ? "" : " Did you mean ",
                                nearest == NULL ? "" : nearest, nearest == NULL ? "" : "?"),
    };
    reply_problem(request, reply, 400, "bad-parameter", item.message, &item, 1);
    return false;
}

void gpus_list(struct request *request, struct reply *reply)
{
    static const char *const allowed[] = {"limit", "cursor", "vendor", "family", NULL};
    struct app *app = request->app;
    struct list_page page;
    if (!request_check_parameters(request, reply, allowed) ||
        !list_page_parse(request, reply, "gpus", &page))
        return;
    const char *vendor = request_parameter(request, "vendor");
    const char *family = request_parameter(request, "family");
    if (!check_filter(request, reply, "vendor", vendor, true) ||
        !check_filter(request, reply, "family", family, false))
        return;
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    reply->etag = snapshot_etag(request, snapshot, NULL);
    if (reply_not_modified(request, reply, reply->etag)) {
        snapshot_release(snapshot);
        return;
    }
    uint16_t count = gpu_count();
    uint16_t *order = arena_calloc(&request->arena, count, sizeof(*order));
    size_t total = 0, shown = 0;
    for (uint16_t i = 0; i < count; i++) {
        const struct gpu *gpu = gpu_at(i);
        if ((vendor == NULL || strcmp(vendor, gpu->vendor) == 0) &&
            (family == NULL || strcmp(family, gpu->family) == 0))
            order[total++] = i;
    }
    qsort(order, total, sizeof(*order), compare_slugs);
    const char *cursor = NULL;
    buf_add_string(&reply->body, "{\"data\":[");
    for (size_t i = 0; i < total; i++) {
        const char *slug = gpu_at(order[i])->slug;
        if (page.after != NULL && strcmp(slug, page.after) <= 0)
            continue;
        if (shown == page.limit) {
            cursor = list_page_cursor(request, "gpus", gpu_at(order[i - 1])->slug);
            break;
        }
        if (shown++ > 0)
            buf_add_char(&reply->body, ',');
        write_gpu(&reply->body, snapshot, order[i], request->received_at_us);
        buf_add_char(&reply->body, '}');
    }
    list_page_finish(request, reply, &page, total, cursor, snapshot_as_of_us(snapshot));
    snapshot_release(snapshot);
}

static void write_offered_by(struct request *request, struct buf *out, struct snapshot *snapshot,
                             uint16_t index)
{
    struct gpu_provider *providers;
    size_t count = snapshot_gpu_providers(snapshot, index, request->received_at_us, &request->arena,
                                          &providers);
    buf_add_json_key(out, "offered_by");
    buf_add_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        const struct provider *provider = snapshot_provider(snapshot, providers[i].provider_index);
        buf_add_string(out, i > 0 ? ",{" : "{");
        buf_add_json_member_string(out, "provider", provider->slug);
        buf_add_json_member_string(out, "name", provider->name);
        write_summary(out, &providers[i].summary, false);
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
}

void gpu_get(struct request *request, struct reply *reply)
{
    static const char *const allowed[] = {NULL};
    struct app *app = request->app;
    if (!request_check_parameters(request, reply, allowed))
        return;
    uint16_t index = gpu_find(request->captures[0]);
    if (index == INDEX_NONE) {
        const char *near = gpu_nearest(request->captures[0]);
        reply_not_found(
            request, reply,
            near == NULL
                ? "No GPU has this slug; GET /v1/gpus lists them."
                : arena_printf(&request->arena, "No GPU has this slug; did you mean %s?", near));
        return;
    }
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    reply->etag = snapshot_etag(request, snapshot, NULL);
    if (!reply_not_modified(request, reply, reply->etag)) {
        write_gpu(&reply->body, snapshot, index, request->received_at_us);
        write_offered_by(request, &reply->body, snapshot, index);
        buf_add_char(&reply->body, '}');
        reply->status = 200;
    }
    snapshot_release(snapshot);
}
