/* The snapshot holds an offer as the text it is answered with; numbers are read from it digit by
 * digit, as from an upload. */
#include "server/api/offer_prices.h"

#include "server/api/market_parameters.h"
#include "server/base/decimal.h"
#include "server/inventory/json_reader.h"

#include <string.h>

static int64_t number(const struct json_value *object, const char *name, unsigned decimals)
{
    const struct json_value *member = json_member(object, name);
    int64_t value;
    if (member == NULL || member->type != JSON_TYPE_NUMBER ||
        decimal_parse_json(member->text, member->length, decimals, false, &value) != DECIMAL_OK)
        return UNKNOWN;
    return value;
}

static int32_t number32(const struct json_value *object, const char *name, unsigned decimals)
{
    return (int32_t)number(object, name, decimals);
}

static const char *text(const struct json_value *object, const char *name)
{
    const struct json_value *member = json_member(object, name);
    return member != NULL && member->type == JSON_TYPE_STRING ? member->text : NULL;
}

static void read_price(const struct json_value *object, struct price *price)
{
    bool per_node = strcmp(text(object, "quoted_per"), "node") == 0;
    *price = (struct price){
        .quoted_per = per_node ? PRICE_PER_NODE : PRICE_PER_GPU,
        .term_months = number32(object, "term_months", 0),
        .min_gpus = number32(object, "min_gpus", 0),
        .max_gpus = number32(object, "max_gpus", 0),
        .upfront_percent_milli = number32(object, "upfront_percent", 3),
        .plan = text(object, "plan"),
        .per_gpu_hour_microusd = number(object, "price_per_gpu_hour", 6),
        .per_node_hour_microusd = number(object, "price_per_node_hour", 6),
    };
    price->quoted_microusd =
        per_node ? price->per_node_hour_microusd : price->per_gpu_hour_microusd;
    (void)billing_parse(text(object, "billing"), &price->billing);
}

static void read_offer(struct arena *arena, const struct json_value *object,
                       struct offer_prices *offer)
{
    const struct json_value *prices = json_member(object, "prices");
    const struct json_value *costs = json_member(object, "extra_costs");
    *offer = (struct offer_prices){
        .id = text(object, "id"),
        .provider = text(json_member(object, "provider"), "slug"),
        .external_id = text(object, "external_id"),
        .gpu = text(json_member(object, "gpu"), "slug"),
        .gpu_count_milli = number32(object, "gpu_count", 3),
        .extra_costs = {number(costs, "egress_per_gb", 6), number(costs, "storage_per_gb_month", 6),
                        number32(costs, "billing_increment_seconds", 0),
                        number32(costs, "minimum_duration_seconds", 0)},
        .prices = arena_calloc(arena, prices->length, sizeof(*offer->prices)),
    };
    for (const struct json_value *item = prices->first; item != NULL; item = item->next)
        read_price(item, &offer->prices[offer->price_count++]);
}

bool offer_prices_read(struct request *request, struct reply *reply, struct snapshot *snapshot,
                       struct offer_prices *ret)
{
    const char *id_text = request_parameter(request, "offer");
    uint8_t id[OFFER_ID_BYTES];
    struct buf json = {0};
    if (id_text == NULL)
        return parameter_refuse(request, reply, "offer", "missing",
                                "offer is needed: the id of an offer, such as of_….");
    if (!offer_id_parse(id_text, strlen(id_text), id))
        return parameter_refuse(request, reply, "offer", "not_an_id",
                                "offer is an offer's id: of_ and 26 letters and digits.");
    if (!snapshot_write_offer_by_id(snapshot, id, request->received_at_us, &json, NULL))
        return parameter_refuse(request, reply, "offer", "unknown_value",
                                "No offer here has this id; it may have been removed.");
    struct json_reader reader;
    json_reader_init(&reader, json.data, json.length, &request->arena);
    const struct json_value *object = json_reader_value(&reader);
    if (object != NULL)
        read_offer(&request->arena, object, ret);
    else
        reply_problem(request, reply, 500, "internal", "The offer could not be read.", NULL, 0);
    buf_free(&json);
    return object != NULL;
}

void offer_prices_write(struct buf *out, const struct offer_prices *offer)
{
    buf_add_json_key(out, "offer");
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "id", offer->id);
    buf_add_json_member_string(out, "provider", offer->provider);
    buf_add_json_member_string(out, "external_id", offer->external_id);
    buf_add_json_member_string(out, "gpu", offer->gpu);
    buf_add_json_member_decimal(out, "gpu_count", offer->gpu_count_milli, 3);
    buf_add_char(out, '}');
}

void offer_price_write_identity(struct buf *out, const struct price *price)
{
    buf_add_json_member_string(out, "billing", billing_name(price->billing));
    buf_add_json_member_int(out, "term_months", price->term_months);
    buf_add_json_member_string(out, "plan", price->plan);
    buf_add_json_member_int(out, "min_gpus", price->min_gpus);
    buf_add_json_member_int(out, "max_gpus", price->max_gpus);
    buf_add_json_member_decimal(out, "upfront_percent", price->upfront_percent_milli, 3);
}
