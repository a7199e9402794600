/* Naive on purpose. */
#include "tests/support/search_oracle.h"
#include "tests/support/must.h"
#include "tests/support/oracle_facts.h"

#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/reference/gpu.h"
#include "server/reference/latency_where.h"
#include "server/reference/place.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HOUR_US INT64_C(3600000000)

/* Whether some item of a comma list makes the test true. */
#define ANY_ITEM(list, item, test)                                                                 \
    ({                                                                                             \
        bool any_ = false;                                                                         \
        char copy_[4096];                                                                          \
        snprintf(copy_, sizeof(copy_), "%s", (list));                                              \
        for (char *rest_ = copy_, *item; (item = strsep(&rest_, ",")) != NULL;)                    \
            any_ = any_ || (test);                                                                 \
        any_;                                                                                      \
    })

static int64_t number(const char *text, unsigned decimals)
{
    int64_t value;
    must(decimal_parse(text, strlen(text), decimals, false, &value) == DECIMAL_OK, "%s", text);
    return value;
}

static bool same(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* Whether one price meets what a parameter asks of prices. */
static bool price_meets(const struct price *price, const char *name, const char *value)
{
    if (strcmp(name, "billing") == 0)
        return ANY_ITEM(value, item, same(billing_name(price->billing), item));
    if (strcmp(name, "term_months") == 0)
        return ANY_ITEM(value, item, price->term_months == atoi(item));
    if (strcmp(name, "max_term_months") == 0)
        return price->term_months <= atoi(value);
    if (strcmp(name, "min_price") == 0)
        return price->per_gpu_hour_microusd >= number(value, 6);
    if (strcmp(name, "max_price") == 0)
        return price->per_gpu_hour_microusd <= number(value, 6);
    return true;
}

static bool at_least(int64_t known, const char *value)
{
    return known >= 0 && known >= number(value, 3);
}

static int64_t total_vram(const struct offer *offer)
{
    int64_t numerator, denominator;
    if (offer->vram_gb_milli < 0)
        return UNKNOWN;
    gpu_count_fraction(offer->gpu_count_milli, &numerator, &denominator);
    return decimal_muldiv_half_even(offer->vram_gb_milli, numerator, denominator, NULL);
}

static bool machine_meets(const struct offer *offer, const char *name, const char *value)
{
    const struct gpu *gpu = gpu_at(offer->gpu);
    if (strcmp(name, "gpu") == 0)
        return ANY_ITEM(value, item, same(gpu->slug, item) || same(gpu->family, item));
    if (strcmp(name, "vendor") == 0)
        return ANY_ITEM(value, item, same(gpu->vendor, item));
    if (strcmp(name, "form_factor") == 0)
        return ANY_ITEM(value, item, same(form_factor_name(gpu->form_factor), item));
    if (strcmp(name, "min_vram_gb") == 0)
        return at_least(offer->vram_gb_milli, value);
    if (strcmp(name, "min_total_vram_gb") == 0)
        return at_least(total_vram(offer), value);
    if (strcmp(name, "gpu_count") == 0)
        return ANY_ITEM(value, item, offer->gpu_count_milli == number(item, 3));
    if (strcmp(name, "min_gpu_count") == 0)
        return at_least(offer->gpu_count_milli, value);
    if (strcmp(name, "max_gpu_count") == 0)
        return offer->gpu_count_milli <= number(value, 3);
    if (strcmp(name, "fabric") == 0)
        return ANY_ITEM(value, item, same(fabric_name(offer->fabric), item));
    if (strcmp(name, "min_fabric_gbps") == 0)
        return at_least(offer->fabric_gbps_milli, value);
    if (strcmp(name, "interconnect") == 0)
        return ANY_ITEM(value, item, same(interconnect_name(offer->interconnect), item));
    if (strcmp(name, "min_vcpus") == 0)
        return at_least(offer->vcpus_milli, value);
    if (strcmp(name, "min_memory_gib") == 0)
        return at_least(offer->memory_gib_milli, value);
    if (strcmp(name, "min_storage_gb") == 0)
        return at_least(offer->storage_gb_milli, value);
    return true;
}

static bool flag_meets(int known, const char *value)
{
    return known == (strcmp(value, "1") == 0 || strcmp(value, "true") == 0);
}

static bool source_meets(const struct offer *offer, const struct provider *provider,
                         const char *name, const char *value)
{
    const struct place *place = offer->place == INDEX_NONE ? NULL : place_at(offer->place);
    int64_t since;
    if (strcmp(name, "region") == 0)
        return place != NULL &&
               ANY_ITEM(value, item, place_contains(place_find(item), offer->place));
    if (strcmp(name, "country") == 0)
        return place != NULL && place->country != NULL &&
               ANY_ITEM(value, item, strcasecmp(place->country, item) == 0);
    if (strcmp(name, "continent") == 0)
        return place != NULL && ANY_ITEM(value, item, same(place->continent, item));
    if (strcmp(name, "provider") == 0)
        return ANY_ITEM(value, item, same(provider->slug, item));
    if (strcmp(name, "provider_kind") == 0)
        return ANY_ITEM(value, item, same(provider_kind_name(provider->kind), item));
    if (strcmp(name, "availability") == 0)
        return ANY_ITEM(value, item, same(availability_name(offer->availability.status), item));
    if (strcmp(name, "max_lead_time_days") == 0)
        return offer->availability.lead_time_days >= 0 &&
               offer->availability.lead_time_days <= atoi(value);
    if (strcmp(name, "min_sla_percent") == 0)
        return at_least(provider->trust.sla_percent_milli, value);
    if (strcmp(name, "burn_in") == 0)
        return flag_meets(provider->trust.burn_in, value);
    if (strcmp(name, "monitoring") == 0)
        return flag_meets(provider->trust.monitoring, value);
    if (strcmp(name, "on_site") == 0)
        return flag_meets(provider->trust.on_site, value);
    if (strcmp(name, "updated_since") == 0)
        return timestamp_parse(value, strlen(value), &since) && offer->updated_at_us >= since;
    return true;
}

int64_t oracle_latency_centi(const struct market *market, const char *near, uint16_t place,
                             bool *ret_measured)
{
    int64_t worst = UNKNOWN;
    char copy[256];
    snprintf(copy, sizeof(copy), "%s", near);
    for (char *rest = copy, *item; place != INDEX_NONE && (item = strsep(&rest, ";")) != NULL;) {
        struct arena arena = {0};
        struct latency_where where;
        struct latency_place from;
        const char *code;
        bool reversed;
        must(latency_where_parse(item, NULL, NULL, &arena, &where, &code) == NULL, "%s", item);
        const struct latency_measurement *measurement =
            where.place == INDEX_NONE
                ? NULL
                : latency_book_find(market->latency, where.place, place, &reversed);
        if (where.place == INDEX_NONE)
            latency_place_at(where.point, &from);
        else
            from = *latency_place(where.place);
        double ms = latency_estimate(&from, latency_place(place)).rtt_ms;
        int64_t centi = measurement != NULL ? (measurement->median_us + 5) / 10
                                            : (int64_t)ceil(ms * 100 - 1e-6);
        if (centi > worst) {
            worst = centi;
            if (ret_measured != NULL)
                *ret_measured = measurement != NULL;
        }
        arena_free(&arena);
    }
    return worst;
}

static bool is_stale(const struct offer *offer, const struct provider *provider, int64_t now_us)
{
    if (provider->freshness_hours < 0 || offer->source_kind == SOURCE_SAMPLE)
        return false;
    int64_t own =
        offer->observed_at_us == TIMESTAMP_UNKNOWN ? offer->updated_at_us : offer->observed_at_us;
    int64_t confirmed = own > provider->confirmed_at_us ? own : provider->confirmed_at_us;
    return confirmed + provider->freshness_hours * HOUR_US < now_us / 1000000 * 1000000;
}

static const char *value_of(const struct query_parameter *parameters, size_t count,
                            const char *name, const char *fallback)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(parameters[i].name, name) == 0)
            return parameters[i].value;
    }
    return fallback;
}

/* A match with its sort key as the oracle sees it. */
struct candidate {
    struct found row;
    bool unknown;
    int64_t key;
};

static _Thread_local bool descending;

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->unknown != y->unknown)
        return x->unknown ? 1 : -1;
    if (!x->unknown && x->key != y->key)
        return (x->key < y->key) != descending ? -1 : 1;
    return strcmp(x->row.id, y->row.id);
}

/* The cheapest price that meets everything, or NULL. */
static const struct price *best_price(const struct offer *offer,
                                      const struct query_parameter *parameters, size_t count)
{
    const struct price *best = NULL;
    const char *gpus = value_of(parameters, count, "gpus", NULL),
               *most = value_of(parameters, count, "max_total_price", NULL);
    for (size_t i = 0; i < offer->price_count; i++) {
        bool meets = oracle_tier_meets(offer, &offer->prices[i], gpus, most);
        for (size_t j = 0; j < count; j++)
            meets =
                meets && price_meets(&offer->prices[i], parameters[j].name, parameters[j].value);
        if (meets &&
            (best == NULL || offer->prices[i].per_gpu_hour_microusd < best->per_gpu_hour_microusd))
            best = &offer->prices[i];
    }
    return best;
}

static bool meets(const struct offer *offer, const struct provider *provider,
                  const struct query_parameter *parameters, size_t count, int64_t now_us)
{
    const char *include = value_of(parameters, count, "include_stale", "0");
    if (provider->suspended || (!flag_meets(1, include) && is_stale(offer, provider, now_us)))
        return false;
    const char *q = value_of(parameters, count, "q", "");
    if (!oracle_stock_meets(offer, value_of(parameters, count, "gpus", NULL)) ||
        !oracle_words_meet(offer, provider, q))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!machine_meets(offer, parameters[i].name, parameters[i].value) ||
            !source_meets(offer, provider, parameters[i].name, parameters[i].value))
            return false;
    }
    return true;
}

static struct candidate candidate_of(const struct market *market, const struct offer *offer,
                                     const struct provider *provider, const struct price *price,
                                     const char *sort, const char *near, const char *gpus,
                                     int64_t now_us)
{
    struct candidate candidate = {.row = {.per_gpu_hour_microusd = price->per_gpu_hour_microusd,
                                          .billing = price->billing,
                                          .term_months = price->term_months,
                                          .stale = is_stale(offer, provider, now_us)}};
    uint8_t id[OFFER_ID_BYTES];
    offer_id(provider->slug, offer->external_id, id);
    offer_id_print(id, candidate.row.id);
    candidate.row.latency_centi =
        near == NULL ? UNKNOWN
                     : oracle_latency_centi(market, near, offer->place, &candidate.row.measured);
    int64_t nodes = oracle_nodes(offer, gpus);
    candidate.row.gpus_milli = oracle_gpus_milli(offer, nodes);
    candidate.row.total_microusd = nodes * price->per_node_hour_microusd;
    for (int unit = 0; unit < 3; unit++)
        candidate.row.unit_microusd[unit] = oracle_unit_microusd(offer, price, unit);
    candidate.key = strstr(sort, "total_price") != NULL ? candidate.row.total_microusd
                    : strstr(sort, "per_vram") != NULL  ? candidate.row.unit_microusd[0]
                    : strstr(sort, "per_tflop") != NULL ? candidate.row.unit_microusd[1]
                    : strstr(sort, "per_tbps") != NULL  ? candidate.row.unit_microusd[2]
                    : strstr(sort, "price") != NULL     ? price->per_gpu_hour_microusd
                    : strstr(sort, "vram") != NULL      ? offer->vram_gb_milli
                    : strstr(sort, "latency") != NULL   ? candidate.row.latency_centi
                                                        : offer->updated_at_us;
    candidate.unknown = candidate.key < 0;
    return candidate;
}

size_t oracle_search(const struct market *market, const struct query_parameter *parameters,
                     size_t count, int64_t now_us, struct arena *arena, struct found **ret_rows)
{
    const char *sort = value_of(parameters, count, "sort", "price"),
               *near = value_of(parameters, count, "near", NULL),
               *most = value_of(parameters, count, "max_latency_ms", NULL);
    size_t all = 0, found = 0;
    for (size_t i = 0; i < market->provider_count; i++)
        all += market->providers[i].offer_count;
    struct candidate *candidates = arena_calloc(arena, all, sizeof(*candidates));
    for (size_t i = 0; i < market->provider_count; i++) {
        const struct market_provider *provider = &market->providers[i];
        for (size_t j = 0; j < provider->offer_count; j++) {
            const struct offer *offer = &provider->offers[j];
            const struct price *price = best_price(offer, parameters, count);
            if (price == NULL || !meets(offer, &provider->facts, parameters, count, now_us))
                continue;
            struct candidate candidate =
                candidate_of(market, offer, &provider->facts, price, sort, near,
                             value_of(parameters, count, "gpus", NULL), now_us);
            if (most != NULL &&
                (candidate.row.latency_centi < 0 || candidate.row.latency_centi > number(most, 2)))
                continue;
            candidates[found++] = candidate;
        }
    }
    descending = sort[0] == '-';
    qsort(candidates, found, sizeof(*candidates), compare_candidates);
    *ret_rows = arena_calloc(arena, found, sizeof(**ret_rows));
    for (size_t i = 0; i < found; i++)
        (*ret_rows)[i] = candidates[i].row;
    return found;
}

/* A decimal of an object, scaled; UNKNOWN of null. */
static int64_t scaled(const json_t *object, const char *key, double scale)
{
    const json_t *value = json_object_get(object, key);
    must(json_is_number(value) || json_is_null(value), "%s", key);
    return json_is_null(value) ? UNKNOWN : llround(json_number_value(value) * scale);
}

static struct found row_of(const json_t *offer)
{
    struct found row = {0};
    const json_t *price = json_object_get(offer, "price");
    snprintf(row.id, sizeof(row.id), "%s", json_string_value(json_object_get(offer, "id")));
    row.per_gpu_hour_microusd =
        llround(json_number_value(json_object_get(price, "price_per_gpu_hour")) * 1e6);
    must(billing_parse(json_string_value(json_object_get(price, "billing")), &row.billing),
         "a billing");
    row.term_months = (int32_t)json_integer_value(json_object_get(price, "term_months"));
    row.gpus_milli = scaled(price, "gpus", 1e3);
    row.total_microusd = scaled(price, "total_price", 1e6);
    row.unit_microusd[0] = scaled(price, "price_per_vram_gb", 1e6);
    row.unit_microusd[1] = scaled(price, "price_per_tflop", 1e6);
    row.unit_microusd[2] = scaled(price, "price_per_tbps", 1e6);
    row.stale = json_is_true(json_object_get(offer, "stale"));
    const json_t *latency = json_object_get(offer, "latency_ms");
    const char *kind = json_string_value(json_object_get(offer, "latency_kind"));
    row.latency_centi = json_is_null(latency) ? UNKNOWN : llround(json_number_value(latency) * 100);
    row.measured = same(kind, "measured");
    must((kind == NULL) == json_is_null(latency), "a number has its kind");
    return row;
}

/* Runs one page; the answer parsed. */
static json_t *page(struct catalog *catalog, const struct query_parameter *parameters, size_t count,
                    int64_t now_us)
{
    struct arena arena = {0};
    struct buf out = {0};
    struct query *query;
    struct query_error *errors;
    const char *cursor;
    json_error_t error;
    struct snapshot *snapshot = catalog_acquire(catalog);
    size_t error_count = query_parse(parameters, count, snapshot, &arena, &query, &errors);
    must(error_count == 0, "%s: %s", market_query_text(&arena, parameters, count),
         errors[0].message);
    query_answer(snapshot, query, now_us, &arena, &out, &cursor);
    snapshot_release(snapshot);
    json_t *answer = json_loadb(out.data, out.length, JSON_REJECT_DUPLICATES, &error);
    must(answer != NULL, "%s at %d: %.80s", error.text, error.position,
         error.position > 40 ? out.data + error.position - 40 : out.data);
    buf_free(&out);
    arena_free(&arena);
    return answer;
}

size_t catalog_search(struct catalog *catalog, const struct query_parameter *parameters,
                      size_t count, int64_t now_us, struct arena *arena, struct found **ret_rows,
                      size_t *ret_total)
{
    struct query_parameter with_cursor[MARKET_PARAMETERS_MAX + 1];
    size_t found = 0, capacity = 64;
    struct found *rows = xcalloc(capacity, sizeof(*rows));
    for (size_t i = 0; i < count; i++)
        with_cursor[i] = parameters[i];
    with_cursor[count].name = "cursor";
    for (const char *cursor = NULL;;) {
        with_cursor[count].value = cursor;
        json_t *answer = page(catalog, with_cursor, count + (cursor != NULL), now_us);
        const json_t *data = json_object_get(answer, "data"), *offer;
        size_t total = (size_t)json_integer_value(json_object_get(answer, "total")), index;
        must(cursor == NULL || total == *ret_total, "pages disagree on the total");
        *ret_total = total;
        json_array_foreach(data, index, offer)
        {
            if (found == capacity)
                rows = xrealloc(rows, (capacity *= 2) * sizeof(*rows));
            rows[found++] = row_of(offer);
        }
        const char *next = json_string_value(json_object_get(answer, "next_cursor"));
        cursor = arena_strdup(arena, next);
        json_decref(answer);
        if (cursor == NULL)
            break;
    }
    *ret_rows = arena_calloc(arena, found, sizeof(*rows));
    memcpy(*ret_rows, rows, found * sizeof(*rows));
    free(rows);
    return found;
}

bool oracle_agrees(struct catalog *catalog, const struct market *market,
                   const struct query_parameter *parameters, size_t count, int64_t now_us)
{
    struct arena arena = {0};
    struct found *want, *got;
    size_t total, wanted = oracle_search(market, parameters, count, now_us, &arena, &want);
    size_t found = catalog_search(catalog, parameters, count, now_us, &arena, &got, &total),
           row = 0;
    const char *text = market_query_text(&arena, parameters, count);
    if (total != wanted || found != wanted)
        complain("%s: total %zu, %zu rows, want %zu", text, total, found, wanted);
    while (row < wanted && row < found && strcmp(want[row].id, got[row].id) == 0 &&
           want[row].per_gpu_hour_microusd == got[row].per_gpu_hour_microusd &&
           want[row].billing == got[row].billing && want[row].term_months == got[row].term_months &&
           want[row].gpus_milli == got[row].gpus_milli &&
           want[row].total_microusd == got[row].total_microusd &&
           memcmp(want[row].unit_microusd, got[row].unit_microusd,
                  sizeof(want[row].unit_microusd)) == 0 &&
           want[row].stale == got[row].stale && want[row].latency_centi == got[row].latency_centi &&
           want[row].measured == got[row].measured)
        row++;
    bool good = total == wanted && found == wanted && row == wanted;
    if (row < wanted && row < found)
        complain("%s: row %zu is %s at %lld, want %s at %lld", text, row, got[row].id,
                 (long long)got[row].per_gpu_hour_microusd, want[row].id,
                 (long long)want[row].per_gpu_hour_microusd);
    arena_free(&arena);
    return good;
}
