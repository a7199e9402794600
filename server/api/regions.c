/* Places, countries and areas with how much is offered in them. */
#include "server/api/app.h"
#include "server/api/resources.h"

#include "server/reference/place.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const kind_names[] = {"area", "country", "place"};

static void write_place(struct buf *out, struct snapshot *snapshot, uint16_t index, int64_t now_us)
{
    const struct place *place = place_at(index);
    struct offer_summary summary = snapshot_place_summary(snapshot, index, now_us);
    bool located = place->precision != PRECISION_AREA;
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "slug", place->slug);
    buf_add_json_member_string(out, "kind", kind_names[place->kind]);
    buf_add_json_member_string(out, "name", place->name);
    buf_add_json_member_string(out, "country", place->country);
    buf_add_json_member_string(out, "continent", place->continent);
    buf_add_json_member_string(out, "parent", place->parent);
    buf_add_json_member_string(out, "precision", place_precision_name(place->precision));
    buf_add_json_key(out, "lat");
    if (located)
        buf_add_decimal(out, place->latitude_microdegrees, 6);
    else
        buf_add_string(out, "null");
    buf_add_json_key(out, "lon");
    if (located)
        buf_add_decimal(out, place->longitude_microdegrees, 6);
    else
        buf_add_string(out, "null");
    write_summary(out, &summary, true);
    buf_add_char(out, '}');
}

static int compare_slugs(const void *a, const void *b)
{
    return strcmp(place_at(*(const uint16_t *)a)->slug, place_at(*(const uint16_t *)b)->slug);
}

static bool matches(const struct place *place, const char *kind, const char *country)
{
    return (kind == NULL || strcmp(kind, kind_names[place->kind]) == 0) &&
           (country == NULL ||
            (place->country != NULL && strcasecmp(country, place->country) == 0));
}

/* kind must be one of the three words, country two letters. */
static bool check_filters(struct request *request, struct reply *reply, const char *kind,
                          const char *country)
{
    struct problem_item item = {.code = "unknown_value"};
    if (kind != NULL && strcmp(kind, "area") != 0 && strcmp(kind, "country") != 0 &&
        strcmp(kind, "place") != 0) {
        item.parameter = "kind";
        item.message = "kind is area, country or place.";
    } else if (country != NULL && (strlen(country) != 2 || !country_is_known(country))) {
        item.parameter = "country";
        item.message = "country is an ISO 3166 code of two letters.";
    } else {
        return true;
    }
    reply_problem(request, reply, 400, "bad-parameter", item.message, &item, 1);
    return false;
}

void regions_list(struct request *request, struct reply *reply)
{
    static const char *const allowed[] = {"limit", "cursor", "kind", "country", NULL};
    struct app *app = request->app;
    const char *kind = request_parameter(request, "kind");
    const char *country = request_parameter(request, "country");
    struct list_page page;
    if (!request_check_parameters(request, reply, allowed) ||
        !list_page_parse(request, reply, "regions", &page) ||
        !check_filters(request, reply, kind, country))
        return;
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    reply->etag = snapshot_etag(request, snapshot, NULL);
    if (reply_not_modified(request, reply, reply->etag)) {
        snapshot_release(snapshot);
        return;
    }
    uint16_t count = place_count();
    uint16_t *order = arena_calloc(&request->arena, count, sizeof(*order));
    size_t total = 0, shown = 0;
    for (uint16_t i = 0; i < count; i++) {
        if (matches(place_at(i), kind, country))
            order[total++] = i;
    }
    qsort(order, total, sizeof(*order), compare_slugs);
    const char *cursor = NULL;
    buf_add_string(&reply->body, "{\"data\":[");
    for (size_t i = 0; i < total; i++) {
        const char *slug = place_at(order[i])->slug;
        if (page.after != NULL && strcmp(slug, page.after) <= 0)
            continue;
        if (shown == page.limit) {
            cursor = list_page_cursor(request, "regions", place_at(order[i - 1])->slug);
            break;
        }
        if (shown++ > 0)
            buf_add_char(&reply->body, ',');
        write_place(&reply->body, snapshot, order[i], request->received_at_us);
    }
    list_page_finish(request, reply, &page, total, cursor, snapshot_as_of_us(snapshot));
    snapshot_release(snapshot);
}

void region_get(struct request *request, struct reply *reply)
{
    static const char *const allowed[] = {NULL};
    struct app *app = request->app;
    if (!request_check_parameters(request, reply, allowed))
        return;
    uint16_t index = place_find(request->captures[0]);
    if (index == INDEX_NONE) {
        const char *near = place_nearest(request->captures[0]);
        reply_not_found(
            request, reply,
            near == NULL
                ? "No region has this slug; GET /v1/regions lists them."
                : arena_printf(&request->arena, "No region has this slug; did you mean %s?", near));
        return;
    }
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    reply->etag = snapshot_etag(request, snapshot, NULL);
    if (!reply_not_modified(request, reply, reply->etag)) {
        write_place(&reply->body, snapshot, index, request->received_at_us);
        reply->status = 200;
    }
    snapshot_release(snapshot);
}
