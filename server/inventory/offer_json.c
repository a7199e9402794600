/* Members are read by name with their type and range; what nobody asked for is an error that names
 * the nearest known member. */
#include "server/inventory/offer_json.h"

#include "server/inventory/json_fields.h"

#include "server/base/decimal.h"
#include "server/base/timestamp.h"

#include <stdlib.h>
#include <string.h>

#define DAY_US (INT64_C(86400) * 1000000)

static const struct number_rule money_rule = {6, 1, PRICE_MAX_MICROUSD,
                                              "over 0 and at most 10,000,000 USD an hour"};
static const struct number_rule cost_rule = {6, 0, PRICE_MAX_MICROUSD,
                                             "0 or more, at most 10,000,000 USD"};
static const struct number_rule gpus_rule = {0, 1, 10000000, "from 1 to 10,000,000"};
static const struct number_rule stock_rule = {0, 0, 10000000, "from 0 to 10,000,000"};
static const struct number_rule days_rule = {0, 0, 3650, "from 0 to 3,650 days"};

static void read_quote(struct row *row, const struct json_value *value, const char *base,
                       int32_t gpu_count_milli, struct price *price)
{
    int64_t per_gpu, per_node;
    size_t errors = row->decoding->upload->errors.count;
    field_number(row, value, base, "price_per_gpu_hour", &money_rule, &per_gpu);
    field_number(row, value, base, "price_per_node_hour", &money_rule, &per_node);
    if (row->decoding->upload->errors.count > errors)
        return;
    if (per_gpu == UNKNOWN && per_node == UNKNOWN) {
        row_error(row, base, "missing_field",
                  "A price needs price_per_gpu_hour or price_per_node_hour.");
        return;
    }
    price->quoted_per = per_gpu != UNKNOWN ? PRICE_PER_GPU : PRICE_PER_NODE;
    price->quoted_microusd = per_gpu != UNKNOWN ? per_gpu : per_node;
    if (per_gpu != UNKNOWN && per_node != UNKNOWN && gpu_count_milli > 0) {
        struct price node = {.quoted_per = PRICE_PER_NODE, .quoted_microusd = per_node};
        if (!price_derive(&node, gpu_count_milli) ||
            llabs(node.per_gpu_hour_microusd - per_gpu) > 1)
            row_error(row, field_path(row, base, "price_per_node_hour"), "prices_disagree",
                      "price_per_node_hour divided by gpu_count is not price_per_gpu_hour; give "
                      "one of them.");
    }
}

static void read_price(struct row *row, const struct json_value *value, size_t index,
                       int32_t gpu_count_milli, struct price *price)
{
    static const struct number_rule term_rule = {0, 0, PRICE_TERM_MONTHS_MAX,
                                                 "from 0 to 600 months"};
    static const struct number_rule percent_rule = {3, 0, 100000, "from 0 to 100"};
    const char *base = arena_printf(&row->decoding->scratch, "/prices/%zu", index);
    *price =
        (struct price){.min_gpus = UNKNOWN, .max_gpus = UNKNOWN, .upfront_percent_milli = UNKNOWN};
    if (value->type != JSON_TYPE_OBJECT) {
        row_error(row, base, "wrong_type", "A price must be an object.");
        return;
    }
    const struct json_value *currency = field_present(value, "currency");
    if (currency != NULL &&
        (currency->type != JSON_TYPE_STRING || strcmp(currency->text, "USD") != 0))
        row_error(row, field_path(row, base, "currency"), "unsupported_currency",
                  "Prices are in USD; %.20s is not taken.",
                  currency->type == JSON_TYPE_STRING ? currency->text : "this");
    CHECK_MEMBERS(row, value, base, "billing", "term_months", "plan", "price_per_gpu_hour",
                  "price_per_node_hour", "min_gpus", "max_gpus", "upfront_percent", "currency");
    const char *billing = field_text(row, value, base, "billing", 40);
    if (field_present(value, "billing") == NULL)
        row_error(row, field_path(row, base, "billing"), "missing_field",
                  "billing is required: on_demand, spot or reserved.");
    else if (billing != NULL && !billing_parse(billing, &price->billing))
        row_error(row, field_path(row, base, "billing"), "unknown_value",
                  "billing is on_demand, spot or reserved, not %s.", billing);
    field_int32(row, value, base, "term_months", &term_rule, &price->term_months);
    if (price->term_months == UNKNOWN)
        price->term_months = 0;
    if (price->billing == BILLING_RESERVED && price->term_months == 0 &&
        field_present(value, "term_months") == NULL)
        row_error(row, field_path(row, base, "term_months"), "missing_field",
                  "A reserved price needs term_months (1 to 600).");
    else if (price->billing == BILLING_RESERVED && price->term_months == 0)
        row_error(row, field_path(row, base, "term_months"), "out_of_range",
                  "A reserved price has 1 to 600 months.");
    else if (price->billing != BILLING_RESERVED && price->term_months != 0)
        row_error(row, field_path(row, base, "term_months"), "out_of_range",
                  "Only a reserved price has term_months; leave it out or 0 here.");
    price->plan = field_text(row, value, base, "plan", PRICE_PLAN_MAX_BYTES);
    field_int32(row, value, base, "min_gpus", &gpus_rule, &price->min_gpus);
    field_int32(row, value, base, "max_gpus", &gpus_rule, &price->max_gpus);
    if (price->min_gpus != UNKNOWN && price->max_gpus != UNKNOWN &&
        price->max_gpus < price->min_gpus)
        row_error(row, field_path(row, base, "max_gpus"), "out_of_range",
                  "max_gpus must not be below min_gpus.");
    field_int32(row, value, base, "upfront_percent", &percent_rule, &price->upfront_percent_milli);
    if (price->billing != BILLING_RESERVED && price->upfront_percent_milli > 0)
        row_error(row, field_path(row, base, "upfront_percent"), "out_of_range",
                  "Only a reserved price can be paid upfront.");
    read_quote(row, value, base, gpu_count_milli, price);
}

static struct price *read_prices(struct row *row, const struct json_value *value,
                                 int32_t gpu_count_milli, size_t *ret_count)
{
    const struct json_value *list = field_present(value, "prices");
    *ret_count = 0;
    if (list == NULL) {
        row_error(row, "/prices", "missing_field", "prices is required: at least one price.");
        return NULL;
    }
    if (list->type != JSON_TYPE_ARRAY || list->length == 0 || list->length > OFFER_PRICES_MAX) {
        row_error(row, "/prices", list->type != JSON_TYPE_ARRAY ? "wrong_type" : "out_of_range",
                  "prices must be an array of 1 to %d prices.", OFFER_PRICES_MAX);
        return NULL;
    }
    struct price *prices = arena_calloc(row->decoding->arena, list->length, sizeof(*prices));
    for (const struct json_value *item = list->first; item != NULL; item = item->next) {
        read_price(row, item, *ret_count, gpu_count_milli, &prices[*ret_count]);
        (*ret_count)++;
    }
    return prices;
}

static void read_schedule(struct row *row, const struct json_value *availability,
                          struct availability *ret)
{
    const struct json_value *list = field_present(availability, "schedule");
    if (list == NULL)
        return;
    if (list->type != JSON_TYPE_ARRAY || list->length > OFFER_SCHEDULE_MAX) {
        row_error(row, "/availability/schedule", "wrong_type",
                  "schedule must be an array of at most %d deliveries.", OFFER_SCHEDULE_MAX);
        return;
    }
    struct delivery *schedule = arena_calloc(row->decoding->arena, list->length, sizeof(*schedule));
    size_t count = 0;
    for (const struct json_value *item = list->first; item != NULL; item = item->next, count++) {
        const char *base =
            arena_printf(&row->decoding->scratch, "/availability/schedule/%zu", count);
        if (item->type != JSON_TYPE_OBJECT) {
            row_error(row, base, "wrong_type", "A delivery must be an object with gpus and days.");
            continue;
        }
        CHECK_MEMBERS(row, item, base, "gpus", "days");
        field_int32(row, item, base, "gpus", &gpus_rule, &schedule[count].gpus);
        field_int32(row, item, base, "days", &days_rule, &schedule[count].days);
        if (field_present(item, "gpus") == NULL || field_present(item, "days") == NULL)
            row_error(row, base, "missing_field", "A delivery needs gpus and days.");
    }
    ret->schedule = schedule;
    ret->schedule_count = count;
}

static void read_availability(struct row *row, const struct json_value *value,
                              struct availability *ret)
{
    const struct json_value *object = field_object(row, value, "availability");
    if (object == NULL)
        return;
    CHECK_MEMBERS(row, object, "/availability", "status", "gpus_available", "lead_time_days",
                  "schedule");
    const char *status = field_text(row, object, "/availability", "status", 40);
    if (status != NULL && !availability_parse(status, &ret->status))
        row_error(row, "/availability/status", "unknown_value",
                  "status is available, limited, waitlist, sold_out or unknown, not %s.", status);
    field_int32(row, object, "/availability", "gpus_available", &stock_rule, &ret->gpus_available);
    field_int32(row, object, "/availability", "lead_time_days", &days_rule, &ret->lead_time_days);
    read_schedule(row, object, ret);
}

static void read_node(struct row *row, const struct json_value *value, struct offer *offer)
{
    static const struct number_rule vcpus_rule = {3, 1, 100000000, "over 0 and at most 100,000"};
    static const struct number_rule memory_rule = {3, 1, INT64_C(10000000000),
                                                   "over 0 and at most 10,000,000 GiB"};
    static const struct number_rule storage_rule = {3, 0, INT64_C(1000000000000),
                                                    "from 0 to 1,000,000,000 GB"};
    const struct json_value *node = field_object(row, value, "node");
    if (node == NULL)
        return;
    CHECK_MEMBERS(row, node, "/node", "vcpus", "memory_gib", "storage_gb");
    field_number(row, node, "/node", "vcpus", &vcpus_rule, &offer->vcpus_milli);
    field_number(row, node, "/node", "memory_gib", &memory_rule, &offer->memory_gib_milli);
    field_number(row, node, "/node", "storage_gb", &storage_rule, &offer->storage_gb_milli);
}

static void read_extra_costs(struct row *row, const struct json_value *value,
                             struct extra_costs *ret)
{
    static const struct number_rule seconds_rule = {0, 1, 31536000, "from 1 to 31,536,000 seconds"};
    const struct json_value *costs = field_object(row, value, "extra_costs");
    if (costs == NULL)
        return;
    CHECK_MEMBERS(row, costs, "/extra_costs", "egress_per_gb", "storage_per_gb_month",
                  "billing_increment_seconds", "minimum_duration_seconds");
    field_number(row, costs, "/extra_costs", "egress_per_gb", &cost_rule,
                 &ret->egress_per_gb_microusd);
    field_number(row, costs, "/extra_costs", "storage_per_gb_month", &cost_rule,
                 &ret->storage_per_gb_month_microusd);
    field_int32(row, costs, "/extra_costs", "billing_increment_seconds", &seconds_rule,
                &ret->billing_increment_seconds);
    field_int32(row, costs, "/extra_costs", "minimum_duration_seconds", &seconds_rule,
                &ret->minimum_duration_seconds);
}

static void read_observed_at(struct row *row, const struct json_value *value, struct offer *offer)
{
    const char *text = field_text(row, value, "", "observed_at", 64);
    if (text == NULL)
        return;
    if (!timestamp_parse(text, strlen(text), &offer->observed_at_us))
        row_error(row, "/observed_at", "bad_time",
                  "observed_at must be an RFC 3339 time such as 2026-11-30T12:00:00Z.");
    else if (offer->observed_at_us > timestamp_now_us() + DAY_US)
        row_error(row, "/observed_at", "out_of_range",
                  "observed_at lies more than a day in the future.");
}

static void read_words(struct row *row, const struct json_value *value, struct offer *offer)
{
    const char *interconnect = field_text(row, value, "", "interconnect", 40);
    const char *fabric = field_text(row, value, "", "fabric", 40);
    if (interconnect != NULL && !interconnect_parse(interconnect, &offer->interconnect))
        row_error(row, "/interconnect", "unknown_value", "interconnect is nvlink or pcie, not %s.",
                  interconnect);
    if (fabric != NULL && !fabric_parse(fabric, &offer->fabric))
        row_error(row, "/fabric", "unknown_value",
                  "fabric is infiniband, roce, ethernet or none, not %s.", fabric);
    offer->region_raw = field_text(row, value, "", "region", OFFER_RAW_NAME_MAX_BYTES);
    offer->zone = field_text(row, value, "", "zone", OFFER_RAW_NAME_MAX_BYTES);
    offer->order_url = field_url(row, value, "order_url");
    offer->source_url = field_url(row, value, "source_url");
    offer->attribution = field_text(row, value, "", "attribution", 300);
}

/* The row's id first of all, so that every issue can name it. */
static const char *read_external_id(struct row *row, const struct json_value *value)
{
    const struct json_value *id = field_present(value, "external_id");
    if (id == NULL || id->type != JSON_TYPE_STRING || id->length == 0 ||
        id->length > OFFER_EXTERNAL_ID_MAX_BYTES || !text_is_clean(id->text, id->length)) {
        field_text(row, value, "", "external_id", OFFER_EXTERNAL_ID_MAX_BYTES);
        return NULL;
    }
    if (row->external_id == NULL)
        row->external_id = arena_strdup(row->decoding->arena, id->text);
    return row->external_id;
}

/* A row may say whose it is; it must be right. */
static void check_provider(struct row *row, const struct json_value *value)
{
    const char *named = field_text(row, value, "", "provider", PROVIDER_SLUG_MAX);
    const char *slug = row->decoding->options->provider_slug;
    if (named != NULL && slug != NULL && strcmp(named, slug) != 0)
        row_error(row, "/provider", "wrong_provider", "This is the inventory of %s, not of %s.",
                  slug, named);
}

bool offer_from_json(struct row *row, const struct json_value *value, struct offer *ret_offer)
{
    static const struct number_rule count_rule = {3, 1, OFFER_GPU_COUNT_MAX_MILLI,
                                                  "over 0 and at most 100,000"};
    static const struct number_rule vram_rule = {3, 1, INT64_C(10000000000),
                                                 "over 0, in GB (or in MiB, as drivers report it)"};
    static const struct number_rule gbps_rule = {3, 0, 1000000000, "from 0 to 1,000,000 Gb/s"};
    struct offer offer = offer_unknown();
    if (value->type != JSON_TYPE_OBJECT) {
        row_error(row, "", "wrong_type", "An offer must be an object.");
        return false;
    }
    offer.external_id = read_external_id(row, value);
    CHECK_MEMBERS(row, value, "", "external_id", "gpu", "gpu_count", "vram_gb", "node",
                  "interconnect", "fabric", "fabric_gbps", "region", "zone", "availability",
                  "prices", "extra_costs", "order_url", "source_url", "attribution", "observed_at",
                  "provider");
    check_provider(row, value);
    offer.gpu_raw = field_text(row, value, "", "gpu", OFFER_RAW_NAME_MAX_BYTES);
    int64_t count;
    field_number(row, value, "", "gpu_count", &count_rule, &count);
    offer.gpu_count_milli = (int32_t)count;
    static const char *const required[] = {"external_id", "gpu", "gpu_count"};
    for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++) {
        if (field_present(value, required[i]) == NULL)
            row_error(row, field_path(row, "", required[i]), "missing_field", "%s is required.",
                      required[i]);
    }
    field_number(row, value, "", "vram_gb", &vram_rule, &offer.vram_gb_given_milli);
    read_node(row, value, &offer);
    read_words(row, value, &offer);
    field_number(row, value, "", "fabric_gbps", &gbps_rule, &offer.fabric_gbps_milli);
    read_availability(row, value, &offer.availability);
    read_extra_costs(row, value, &offer.extra_costs);
    read_observed_at(row, value, &offer);
    size_t price_count;
    struct price *prices = read_prices(row, value, offer.gpu_count_milli, &price_count);
    row_finish_offer(row, &offer, prices, price_count);
    *ret_offer = offer;
    return !row_failed(row);
}
