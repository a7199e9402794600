/* Places, countries and areas with how much is offered in them. */
#include "server/api/app.h"
#include "server/api/resources.h"

#include "server/reference/latency.h"
#include "server/reference/place.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define REGION_WORDS_MAX 8

static const char *const kind_names[] = {"area", "country", "place"};

static void write_place(struct buf *out, struct snapshot *snapshot, uint16_t index, int64_t now_us)
{
    const struct place *place = place_at(index);
    struct offer_summary summary = snapshot_place_summary(snapshot, index, now_us);
    const struct place_extent *extent = place_extent(index);
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "slug", place->slug);
    buf_add_json_member_string(out, "kind", kind_names[place->kind]);
    buf_add_json_member_string(out, "name", place->name);
    buf_add_json_member_string(out, "country", place->country);
    buf_add_json_member_string(out, "continent", place->continent);
    buf_add_json_member_string(out, "parent", place->parent);
    buf_add_json_member_string(out, "precision", place_precision_name(place->precision));
    buf_add_json_key(out, "lat");
    buf_add_decimal(out, llround(extent->point.latitude * 1e6), 6);
    buf_add_json_key(out, "lon");
    buf_add_decimal(out, llround(extent->point.longitude * 1e6), 6);
    buf_add_json_member_int(out, "within_km", llround(extent->reach_km));
    write_summary(out, &summary, true);
    buf_add_char(out, '}');
}

static int compare_slugs(const void *a, const void *b)
{
    return strcmp(place_at(*(const uint16_t *)a)->slug, place_at(*(const uint16_t *)b)->slug);
}

/* What a list is narrowed to; NULL: not. */
struct region_filter {
    const char *kind, *country, *continent;
    const char *words[REGION_WORDS_MAX]; /* folded */
    size_t word_count;
};

/* Whether a word is the beginning of one of a folded name's words. */
static bool begins_word(const char *folded, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = folded; at != NULL; at = strchr(at, '-')) {
        at += *at == '-';
        if (strncmp(at, word, length) == 0)
            return true;
    }
    return false;
}

/* In its slug, its name, or the name of its country. */
static bool has_word(const struct place *place, const char *word)
{
    char folded[100], code[3];
    place_name_fold(place->name, folded, sizeof(folded));
    if (begins_word(folded, word) || begins_word(place->slug, word))
        return true;
    if (place->country == NULL)
        return false;
    snprintf(code, sizeof(code), "%c%c", tolower((unsigned char)place->country[0]),
             tolower((unsigned char)place->country[1]));
    uint16_t country = place_find(code);
    if (country == INDEX_NONE)
        return false;
    place_name_fold(place_at(country)->name, folded, sizeof(folded));
    return begins_word(folded, word);
}

static bool matches(const struct place *place, const struct region_filter *filter)
{
    if ((filter->kind != NULL && strcmp(filter->kind, kind_names[place->kind]) != 0) ||
        (filter->country != NULL &&
         (place->country == NULL || strcasecmp(filter->country, place->country) != 0)) ||
        (filter->continent != NULL && strcasecmp(filter->continent, place->continent) != 0))
        return false;
    for (size_t i = 0; i < filter->word_count; i++) {
        if (!has_word(place, filter->words[i]))
            return false;
    }
    return true;
}

static bool is_continent(const char *text)
{
    for (uint16_t i = 0; i < place_count(); i++) {
        if (strcasecmp(text, place_at(i)->continent) == 0)
            return true;
    }
    return false;
}

/* Up to eight words, each of which must match; false where there are more or none. */
static bool read_words(struct request *request, const char *text, struct region_filter *filter)
{
    char folded[400];
    place_name_fold(text, folded, sizeof(folded));
    char *rest;
    for (char *word = strtok_r(folded, "-", &rest); word != NULL;
         word = strtok_r(NULL, "-", &rest)) {
        if (filter->word_count == REGION_WORDS_MAX)
            return false;
        filter->words[filter->word_count++] = arena_strdup(&request->arena, word);
    }
    return filter->word_count > 0;
}

/* False with a 400 in the reply. */
static bool read_filter(struct request *request, struct reply *reply, struct region_filter *filter)
{
    const char *q = request_parameter(request, "q");
    struct problem_item item = {.code = "unknown_value"};
    *filter = (struct region_filter){
        .kind = request_parameter(request, "kind"),
        .country = request_parameter(request, "country"),
        .continent = request_parameter(request, "continent"),
    };
    if (filter->kind != NULL && strcmp(filter->kind, "area") != 0 &&
        strcmp(filter->kind, "country") != 0 && strcmp(filter->kind, "place") != 0) {
        item.parameter = "kind";
        item.message = "kind is area, country or place.";
    } else if (filter->country != NULL &&
               (strlen(filter->country) != 2 || !country_is_known(filter->country))) {
        item.parameter = "country";
        item.message = "country is an ISO 3166 code of two letters.";
    } else if (filter->continent != NULL && !is_continent(filter->continent)) {
        item.parameter = "continent";
        item.message = "continent is AF, AN, AS, EU, NA, OC or SA.";
    } else if (q != NULL && !read_words(request, q, filter)) {
        item = (struct problem_item){.parameter = "q",
                                     .code = "out_of_range",
                                     .message = "q is one to eight words of letters or digits."};
    } else {
        return true;
    }
    reply_problem(request, reply, 400, "bad-parameter", item.message, &item, 1);
    return false;
}

void regions_list(struct request *request, struct reply *reply)
{
    static const char *const allowed[] = {"limit",     "cursor", "kind", "country",
                                          "continent", "q",      NULL};
    struct app *app = request->app;
    struct region_filter filter;
    struct list_page page;
    if (!request_check_parameters(request, reply, allowed) ||
        !list_page_parse(request, reply, "regions", &page) || !read_filter(request, reply, &filter))
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
        if (matches(place_at(i), &filter))
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
