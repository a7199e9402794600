/* GET /v1/tools/placement: where to put a service for users who are spread over the world. Takes
 * every filter of a search beside its own inputs. */
#include "server/api/app.h"
#include "server/api/latency.h"
#include "server/api/resources.h"
#include "server/api/tool_inputs.h"

#include "server/base/decimal.h"
#include "server/catalog/stock.h"
#include "server/market/placement.h"
#include "server/reference/place.h"

#include <string.h>

#define GPUS_MAX    100000
#define WEIGHT_MAX  INT64_C(1000000000) /* thousandths */
#define REGIONS_MAX 100                 /* shown */
#define DEFAULT_MS  (100 * LATENCY_CENTI)

/* What is asked beside the filters. */
struct placement_query {
    struct latency_ends users;
    int64_t weights[PLACEMENT_USERS_MAX];
    int64_t gpus;
    int64_t max_centi;
    int64_t share_milli; /* of latency in the score */
    size_t most;
};

static const char *const formulas =
    ",\"formulas\":{"
    "\"weighted_latency_ms\":\"mean of the round trips to all users, each group by its weight\","
    "\"score\":\"latency_share x weighted_latency_ms / the lowest of any region + (1 - "
    "latency_share) x price_per_gpu_hour / the lowest of any region\","
    "\"total_per_hour\":\"price_per_gpu_hour x gpus, for each region of the set\","
    "\"set\":\"the cheapest of at most max_regions regions of which one is within max_latency_ms "
    "of "
    "each group; each runs the whole service\"}";

static bool refuse(struct request *request, struct reply *reply, const char *parameter,
                   const char *code, const char *message)
{
    const struct problem_item item = {.parameter = parameter, .code = code, .message = message};
    reply_problem(request, reply, 400, "bad-parameter", message, &item, 1);
    return false;
}

/* A number of this tool's own; false with a 400. */
static bool read_number(struct request *request, struct reply *reply, const char *name,
                        unsigned decimals, int64_t lowest, int64_t highest, int64_t fallback,
                        int64_t *ret_value)
{
    char least[32], most[32];
    const char *text = request_parameter(request, name);
    *ret_value = fallback;
    if (text == NULL ||
        (decimal_parse(text, strlen(text), decimals, false, ret_value) == DECIMAL_OK &&
         *ret_value >= lowest && *ret_value <= highest))
        return true;
    decimal_print(lowest, decimals, least);
    decimal_print(highest, decimals, most);
    return refuse(request, reply, name, "out_of_range",
                  arena_printf(&request->arena,
                               "%s is a number from %s to %s, of at most %u decimals.", name, least,
                               most, decimals));
}

/* `place:weight;place:weight`: weights off, then places as everywhere. A place may hold a colon of
 * its own (aws:eu-west-1:60). */
static bool read_users(struct request *request, struct reply *reply,
                       const struct snapshot *snapshot, struct placement_query *ret_query)
{
    const char *text = request_parameter(request, "users");
    struct buf places = {0};
    size_t count = 0;
    if (text == NULL)
        return refuse(request, reply, "users", "missing_parameter",
                      "users says where they are and how many: us-east:60;eu-west:30;ap-south:10.");
    for (const char *at = text;; at++) {
        const char *end = strchrnul(at, ';'), *colon = memrchr(at, ':', (size_t)(end - at));
        int64_t weight = 1000;
        size_t length = (size_t)(end - at);
        if (count == PLACEMENT_USERS_MAX) {
            buf_free(&places);
            return refuse(request, reply, "users", "too_many_values",
                          "users takes at most 20 places.");
        }
        if (colon != NULL &&
            decimal_parse(colon + 1, (size_t)(end - colon) - 1, 3, false, &weight) == DECIMAL_OK) {
            if (weight <= 0 || weight > WEIGHT_MAX) {
                buf_free(&places);
                return refuse(request, reply, "users", "out_of_range",
                              "A weight is above 0 and at most 1000000.");
            }
            length = (size_t)(colon - at);
        }
        ret_query->weights[count++] = weight;
        buf_add(&places, at, length);
        buf_add_char(&places, *end == '\0' ? '\0' : ';');
        if (*end == '\0')
            break;
        at = end;
    }
    bool good =
        latency_ends_parse(request, reply, "users", arena_strdup(&request->arena, places.data),
                           snapshot, PLACEMENT_USERS_MAX, &ret_query->users);
    buf_free(&places);
    return good;
}

/* The tool's own inputs; the others are a search's. */
static bool read_inputs(struct request *request, struct reply *reply,
                        const struct snapshot *snapshot, struct placement_query *ret_query)
{
    int64_t most;
    *ret_query = (struct placement_query){0};
    if (!read_users(request, reply, snapshot, ret_query) ||
        !read_number(request, reply, "gpus", 0, 1, GPUS_MAX, 1, &ret_query->gpus) ||
        !read_number(request, reply, "max_latency_ms", 2, 1,
                     (int64_t)LATENCY_MAX_MS * LATENCY_CENTI, DEFAULT_MS, &ret_query->max_centi) ||
        !read_number(request, reply, "latency_share", 3, 0, 1000, 500, &ret_query->share_milli) ||
        !read_number(request, reply, "max_regions", 0, 1, PLACEMENT_REGIONS_MAX, 3, &most))
        return false;
    ret_query->most = (size_t)most;
    return true;
}

static bool is_own(const char *name)
{
    static const char *const own[] = {"users", "max_latency_ms", "latency_share", "max_regions"};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (strcmp(own[i], name) == 0)
            return true;
    }
    return false;
}

/* The search behind it: the filters given, on demand and for one GPU unless said otherwise. */
static bool read_search(struct request *request, struct reply *reply, struct snapshot *snapshot,
                        struct query **ret_query)
{
    static const char *const meaningless[] = {"near", "sort", "limit", "cursor"};
    struct query_parameter *parameters =
        arena_calloc(&request->arena, request->parameter_count + 2, sizeof(*parameters));
    struct query_error *errors;
    size_t count = 0;
    bool billing = false, gpus = false;
    for (size_t i = 0; i < request->parameter_count; i++) {
        const struct http_pair *pair = &request->parameters[i];
        for (size_t j = 0; j < sizeof(meaningless) / sizeof(meaningless[0]); j++) {
            if (strcmp(pair->name, meaningless[j]) == 0)
                return refuse(request, reply, pair->name, "unknown_parameter",
                              arena_printf(&request->arena,
                                           "%s means nothing here; users says "
                                           "where to measure from.",
                                           pair->name));
        }
        if (is_own(pair->name)) {
            for (size_t j = 0; j < i; j++) {
                if (strcmp(request->parameters[j].name, pair->name) == 0)
                    return refuse(
                        request, reply, pair->name, "repeated_parameter",
                        arena_printf(&request->arena, "%s is given more than once.", pair->name));
            }
            continue;
        }
        billing = billing || strcmp(pair->name, "billing") == 0;
        gpus = gpus || strcmp(pair->name, "gpus") == 0;
        parameters[count++] = (struct query_parameter){pair->name, pair->value};
    }
    if (request_parameter(request, "gpu") == NULL)
        return refuse(request, reply, "gpu", "missing_parameter",
                      "gpu says what is to be placed, such as h100-sxm.");
    if (!billing)
        parameters[count++] = (struct query_parameter){"billing", "on_demand"};
    if (!gpus)
        parameters[count++] = (struct query_parameter){"gpus", "1"};
    size_t wrong = query_parse(parameters, count, snapshot, &request->arena, ret_query, &errors);
    return wrong == 0 ||
           refuse(request, reply, errors[0].parameter, errors[0].code, errors[0].message);
}

/* ---- the answer ---- */

static void write_users(struct buf *out, const struct placement_query *query)
{
    int64_t all = 0;
    for (size_t i = 0; i < query->users.count; i++)
        all += query->weights[i];
    buf_add_json_key(out, "users");
    buf_add_char(out, '[');
    for (size_t i = 0; i < query->users.count; i++) {
        buf_add_string(out, i > 0 ? ",{" : "{");
        buf_add_json_member_string(out, "place", query->users.items[i].name);
        buf_add_json_member_decimal(out, "weight", query->weights[i], 3);
        buf_add_json_member_decimal(
            out, "percent", decimal_muldiv_half_even(query->weights[i], 10000, all, NULL), 2);
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
}

static void write_trip(struct buf *out, const struct latency_book *book,
                       const struct latency_item *user, uint16_t place)
{
    const struct latency_item site = {.where = {.place = place}, .place = latency_place(place)};
    latency_cell cell = latency_between(book, user, &site);
    buf_add_json_member_string(out, "user", user->name);
    buf_add_json_member_decimal(out, "rtt_ms", LATENCY_CELL_CENTI(cell), 2);
    buf_add_json_member_string(out, "kind", LATENCY_CELL_MEASURED(cell) ? "measured" : "estimated");
}

/* Each site was made of a stock, so one is there. */
static const struct stock *stock_at(const struct stock *stocks, uint16_t place)
{
    while (stocks->place != place)
        stocks++;
    return stocks;
}

static void write_site(struct buf *out, const struct placement_query *query,
                       const struct latency_book *book, const struct placement_site *site,
                       const struct stock *stock)
{
    const struct place *place = place_at(site->place);
    buf_add_char(out, '{');
    buf_add_json_key(out, "region");
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "slug", place->slug);
    buf_add_json_member_string(out, "name", place->name);
    buf_add_json_member_string(out, "country", place->country);
    buf_add_json_member_string(out, "precision", place_precision_name(place->precision));
    buf_add_char(out, '}');
    buf_add_json_member_decimal(out, "score", (int64_t)(site->score * 10000 + 0.5), 4);
    buf_add_json_member_decimal(out, "weighted_latency_ms", site->weighted_centi, 2);
    buf_add_json_member_decimal(out, "worst_latency_ms", site->worst_centi, 2);
    buf_add_json_key(out, "latency");
    buf_add_char(out, '[');
    for (size_t i = 0; i < query->users.count; i++) {
        buf_add_string(out, i > 0 ? ",{" : "{");
        write_trip(out, book, &query->users.items[i], site->place);
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
    buf_add_json_member_decimal(out, "price_per_gpu_hour", site->per_gpu_hour_microusd, 6);
    buf_add_json_member_decimal(out, "total_per_hour", site->per_gpu_hour_microusd * query->gpus,
                                6);
    buf_add_json_key(out, "offer");
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "id", stock->id);
    buf_add_json_member_string(out, "provider", stock->provider);
    buf_add_json_member_string(out, "external_id", stock->external_id);
    buf_add_json_member_int(out, "gpus_available", stock->gpus_available);
    buf_add_char(out, '}');
    buf_add_json_member_int(out, "offers", (int64_t)stock->offers);
    buf_add_char(out, '}');
}

static void write_set(struct buf *out, const struct placement_query *query,
                      const struct latency_book *book, const struct placement_site *sites,
                      size_t count)
{
    uint32_t max_centi = (uint32_t)query->max_centi;
    size_t users = query->users.count;
    struct placement_set set =
        placement_choose(sites, count, query->weights, users, max_centi, query->most);
    uint32_t out_of_reach = placement_out_of_reach(sites, count, users, max_centi);
    bool first = true;
    buf_add_json_key(out, "set");
    if (set.count == 0) {
        buf_add_string(out, "null");
    } else {
        buf_add_char(out, '{');
        buf_add_json_key(out, "regions");
        buf_add_char(out, '[');
        for (size_t i = 0; i < set.count; i++) {
            if (i > 0)
                buf_add_char(out, ',');
            buf_add_json_string(out, place_at(sites[set.sites[i]].place)->slug);
        }
        buf_add_char(out, ']');
        buf_add_json_member_decimal(out, "total_per_hour", set.per_gpu_hour_microusd * query->gpus,
                                    6);
        buf_add_json_member_decimal(out, "weighted_latency_ms", set.weighted_centi, 2);
        buf_add_json_member_decimal(out, "worst_latency_ms", set.worst_centi, 2);
        buf_add_json_key(out, "serves");
        buf_add_char(out, '[');
        for (size_t i = 0; i < users; i++) {
            uint16_t place = sites[set.sites[placement_serving(&set, sites, i)]].place;
            buf_add_string(out, i > 0 ? ",{" : "{");
            write_trip(out, book, &query->users.items[i], place);
            buf_add_json_member_string(out, "region", place_at(place)->slug);
            buf_add_char(out, '}');
        }
        buf_add_string(out, "]}");
    }
    buf_add_json_key(out, "out_of_reach");
    buf_add_char(out, '[');
    for (size_t i = 0; i < users; i++) {
        if ((out_of_reach >> i & 1) == 0)
            continue;
        if (!first)
            buf_add_char(out, ',');
        first = false;
        buf_add_json_string(out, query->users.items[i].name);
    }
    buf_add_char(out, ']');
}

static void write_answer(struct request *request, struct reply *reply, struct snapshot *snapshot,
                         const struct placement_query *query, const struct query *search)
{
    struct buf *out = &reply->body;
    struct stock *stocks;
    size_t count =
               snapshot_stock(snapshot, search, request->received_at_us, &request->arena, &stocks),
           shown = count < REGIONS_MAX ? count : REGIONS_MAX;
    const struct latency_book *book = snapshot_latency(snapshot);
    struct placement_site *sites = arena_calloc(&request->arena, count, sizeof(*sites));
    for (size_t i = 0; i < count; i++) {
        const struct latency_item site = {.where = {.place = stocks[i].place},
                                          .place = latency_place(stocks[i].place)};
        sites[i].place = stocks[i].place;
        sites[i].per_gpu_hour_microusd = stocks[i].per_gpu_hour_microusd;
        for (size_t user = 0; user < query->users.count; user++)
            sites[i].rtt_centi[user] =
                LATENCY_CELL_CENTI(latency_between(book, &query->users.items[user], &site));
    }
    placement_rank(sites, count, query->weights, query->users.count,
                   (double)query->share_milli / 1000);
    buf_add_char(out, '{');
    write_users(out, query);
    buf_add_json_member_int(out, "gpus", query->gpus);
    buf_add_json_member_decimal(out, "max_latency_ms", query->max_centi, 2);
    buf_add_json_member_decimal(out, "latency_share", query->share_milli, 3);
    buf_add_json_member_int(out, "max_regions", (int64_t)query->most);
    buf_add_json_key(out, "regions");
    buf_add_char(out, '[');
    for (size_t i = 0; i < shown; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        write_site(out, query, book, &sites[i], stock_at(stocks, sites[i].place));
    }
    buf_add_char(out, ']');
    buf_add_json_member_int(out, "total", (int64_t)count);
    write_set(out, query, book, sites, count);
    buf_add_string(out, formulas);
    tool_write_as_of(out, snapshot_as_of_us(snapshot));
    buf_add_json_key(out, "query");
    buf_add_string(out, query_canonical(search));
    buf_add_char(out, '}');
    reply->status = 200;
}

void tool_placement(struct request *request, struct reply *reply)
{
    struct app *app = request->app;
    struct placement_query query;
    struct query *search;
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    if (read_inputs(request, reply, snapshot, &query) &&
        read_search(request, reply, snapshot, &search)) {
        reply->etag = snapshot_etag(request, snapshot, NULL);
        if (!reply_not_modified(request, reply, reply->etag))
            write_answer(request, reply, snapshot, &query, search);
    }
    snapshot_release(snapshot);
}
