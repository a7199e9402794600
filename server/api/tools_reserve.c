/* GET /v1/tools/reserve-vs-on-demand. Two prices and one offer are answered on the loop; the prices
 * of a GPU in a region are gathered on a worker. */
#include "server/api/tools_reserve.h"

#include "server/api/market_parameters.h"
#include "server/api/offer_prices.h"
#include "server/api/resources.h"
#include "server/base/decimal.h"
#include "server/catalog/market.h"
#include "server/market/tier.h"
#include "server/reference/gpu.h"

static const struct tool_input inputs[RESERVE_INPUT_COUNT] = {
    [RESERVE_RESERVED_PRICE] = {"reserved_price", "USD a GPU-hour, upfront included", 6, 1,
                                CALCULATOR_PRICE_MAX_MICROUSD, UNKNOWN, NULL},
    [RESERVE_ON_DEMAND_PRICE] = {"on_demand_price", "USD a GPU-hour", 6, 1,
                                 CALCULATOR_PRICE_MAX_MICROUSD, UNKNOWN, NULL},
    [RESERVE_TERM] = {"term_months", "months", 0, 1, PRICE_TERM_MONTHS_MAX, UNKNOWN, NULL},
    [RESERVE_UPFRONT] = {"upfront_percent", "percent of the commitment", 3, 0, 100000, 0, NULL},
    [RESERVE_GPUS] = {"gpus", "GPUs", 0, 1, CALCULATOR_GPUS_MAX, UNKNOWN, NULL},
    [RESERVE_HOURS] = {"hours_per_month", "hours of use of each GPU", 3, 0,
                       HOURS_PER_MONTH_MAX_MILLI, HOURS_PER_MONTH * 1000, "every hour of a month"},
    [RESERVE_FALL] = {"yearly_price_fall_percent", "percent a year", 3, 0, 100000, 0, NULL},
};
static const char *const others[] = {"offer", "gpu", "region", NULL};
static _Atomic(struct input_text *) texts;
const struct tool reserve_tool = {inputs, RESERVE_INPUT_COUNT, NULL, 0, others, &texts};

struct reservation_input reserve_expectations(const struct tool_value *values)
{
    return (struct reservation_input){
        .hours_per_month_milli = (int32_t)values[RESERVE_HOURS].value,
        .fall_percent_milli = (int32_t)values[RESERVE_FALL].value,
    };
}

static void write_nothing(struct buf *out)
{
    static const char *const members[] = {"cheaper",
                                          "saving_usd",
                                          "saving_percent",
                                          "break_even_utilization",
                                          "break_even_hours_per_month",
                                          "break_even_hours",
                                          "break_even_utilization_with_fall",
                                          "break_even_month",
                                          "on_demand_cheaper_from_month",
                                          "break_even_yearly_price_fall_percent",
                                          "on_demand_total_usd"};
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        buf_add_json_member_string(out, members[i], NULL);
}

void reserve_write_result(struct buf *out, const struct reservation_result *result)
{
    if (result == NULL) {
        write_nothing(out);
        return;
    }
    buf_add_json_member_string(out, "cheaper", cheaper_name(result->cheaper));
    buf_add_json_member_decimal(out, "saving_usd", result->saving_microusd, 6);
    buf_add_json_member_decimal(out, "saving_percent", result->saving_percent_micro, 6);
    buf_add_json_member_decimal(out, "break_even_utilization", result->break_even_utilization_micro,
                                6);
    buf_add_json_member_decimal(out, "break_even_hours_per_month", result->break_even_hours_micro,
                                6);
    buf_add_json_member_decimal(out, "break_even_hours", result->break_even_hours_of_term_micro, 6);
    buf_add_json_member_decimal(out, "break_even_utilization_with_fall",
                                result->falling_utilization_micro, 6);
    buf_add_json_member_int(out, "break_even_month", result->break_even_month);
    buf_add_json_member_int(out, "on_demand_cheaper_from_month",
                            result->on_demand_cheaper_from_month);
    buf_add_json_member_decimal(out, "break_even_yearly_price_fall_percent",
                                result->break_even_fall_percent_centi, 2);
    buf_add_json_member_decimal(out, "on_demand_total_usd", result->on_demand_microusd, 6);
}

void reserve_finish(struct buf *out, struct snapshot *snapshot, const struct tool_value *values)
{
    buf_add_string(
        out,
        ",\"formulas\":{"
        "\"effective_price\":\"what is quoted spreads the part due at once over the term\","
        "\"total_commitment_usd\":\"reserved price x 730 x term_months x gpus\","
        "\"due_at_once_usd\":\"total_commitment_usd x upfront_percent / 100\","
        "\"on_demand_total_usd\":\"sum over the months of the term of that month's on-demand price "
        "x "
        "hours_per_month x gpus\","
        "\"discount_percent\":\"100 x (1 - reserved price / on-demand price)\","
        "\"break_even_utilization\":\"reserved price / on-demand price\","
        "\"break_even_hours_per_month\":\"730 x break_even_utilization\","
        "\"break_even_hours\":\"730 x term_months x break_even_utilization\","
        "\"break_even_utilization_with_fall\":\"reserved price x term_months / sum of the "
        "on-demand "
        "prices of its months\","
        "\"break_even_month\":\"first month at whose end on-demand has cost total_commitment_usd\","
        "\"on_demand_cheaper_from_month\":\"first month whose hours on demand cost less than 730 x "
        "reserved price\","
        "\"break_even_yearly_price_fall_percent\":\"lowest yearly fall, in hundredths of a "
        "percent, "
        "at which on-demand is no dearer over the term\","
        "\"yearly_price_fall_percent\":\"compounds from year to year, goes evenly within a "
        "year\"}" TOOL_PRICE_FALLS);
    tool_write_inputs(out, &reserve_tool, values, NULL);
    tool_write_as_of(out, snapshot_as_of_us(snapshot));
    buf_add_char(out, '}');
}

/* The GPUs of an order where none were given: the smallest one a price is for. */
static int64_t order_of(const struct tool_value *values, const struct price *price,
                        int32_t gpu_count_milli)
{
    return values[RESERVE_GPUS].given ? values[RESERVE_GPUS].value
                                      : price_smallest_order(price, gpu_count_milli);
}

/* What a price is held against, and who says so. */
struct yardstick {
    int64_t microusd; /* UNKNOWN: nothing */
    const char *source;
};

/* The price on demand: as given, else of the same offer, else today's index. */
static struct yardstick on_demand_of(struct snapshot *snapshot, const struct offer_prices *offer,
                                     int64_t gpus, const struct tool_value *values, int64_t now_us)
{
    const struct price *own =
        price_cheapest(offer->prices, offer->price_count, BILLING_ON_DEMAND, gpus);
    struct index_figures figures;
    uint16_t gpu = gpu_find(offer->gpu);
    if (values[RESERVE_ON_DEMAND_PRICE].given)
        return (struct yardstick){values[RESERVE_ON_DEMAND_PRICE].value, "given"};
    if (own != NULL)
        return (struct yardstick){own->per_gpu_hour_microusd, "offer"};
    if (gpu != INDEX_NONE && snapshot_market_figures(snapshot, gpu, COMMITMENT_ON_DEMAND,
                                                     CONTINENT_COUNT, now_us, &figures))
        return (struct yardstick){figures.median, "index"};
    return (struct yardstick){UNKNOWN, NULL};
}

static void write_discount(struct buf *out, const char *key, int64_t microusd, int64_t other)
{
    if (other <= 0)
        buf_add_json_member_string(out, key, NULL);
    else
        tool_write_signed(out, key, discount_percent_micro(microusd, other));
}

static bool write_term(struct buf *out, struct snapshot *snapshot, const struct offer_prices *offer,
                       const struct price *price, const struct tool_value *values, int64_t now_us)
{
    int64_t gpus = order_of(values, price, offer->gpu_count_milli);
    int64_t microusd = price->per_gpu_hour_microusd;
    struct yardstick on_demand = on_demand_of(snapshot, offer, gpus, values, now_us);
    const struct price *spot =
        price_cheapest(offer->prices, offer->price_count, BILLING_SPOT, gpus);
    struct commitment_sums sums;
    struct reservation_input input = reserve_expectations(values);
    struct reservation_result result;
    bool reserved = price->billing == BILLING_RESERVED;
    bool compared = reserved && on_demand.microusd > 0;
    if (!reservation_sums(microusd, price->term_months, price->upfront_percent_milli, gpus, &sums))
        return false;
    input.reserved_microusd = microusd;
    input.on_demand_microusd = on_demand.microusd;
    input.term_months = price->term_months;
    input.upfront_percent_milli = price->upfront_percent_milli;
    input.gpus = gpus;
    if (compared && !reservation_compare(&input, &result))
        return false;
    buf_add_char(out, '{');
    offer_price_write_identity(out, price);
    buf_add_json_member_int(out, "gpus", gpus);
    buf_add_json_member_decimal(out, "effective_price_per_gpu_hour", microusd, 6);
    buf_add_json_member_decimal(out, "hourly_price_per_gpu_hour",
                                reservation_hourly_rest(microusd, price->upfront_percent_milli), 6);
    buf_add_json_member_decimal(out, "on_demand_price_per_gpu_hour", on_demand.microusd, 6);
    buf_add_json_member_string(out, "on_demand_source", on_demand.source);
    write_discount(out, "discount_percent", microusd,
                   price->billing == BILLING_ON_DEMAND ? UNKNOWN : on_demand.microusd);
    write_discount(out, "discount_to_spot_percent", microusd,
                   spot == NULL || spot == price ? UNKNOWN : spot->per_gpu_hour_microusd);
    buf_add_json_member_decimal(out, "total_commitment_usd", reserved ? sums.total_microusd : 0, 6);
    buf_add_json_member_decimal(out, "due_at_once_usd", reserved ? sums.at_once_microusd : 0, 6);
    reserve_write_result(out, compared ? &result : NULL);
    buf_add_char(out, '}');
    return true;
}

/* Prices of an offer that the request asks about. */
static bool is_asked(const struct price *price, const struct tool_value *values)
{
    return (!values[RESERVE_GPUS].given || price_takes(price, values[RESERVE_GPUS].value)) &&
           (!values[RESERVE_TERM].given || price->billing != BILLING_RESERVED ||
            price->term_months == values[RESERVE_TERM].value);
}

static bool answer_offer(struct request *request, struct reply *reply, struct snapshot *snapshot,
                         const struct tool_value *values)
{
    struct offer_prices offer;
    struct buf *out = &reply->body;
    if (!offer_prices_read(request, reply, snapshot, &offer))
        return false;
    buf_add_char(out, '{');
    offer_prices_write(out, &offer);
    buf_add_json_key(out, "terms");
    buf_add_char(out, '[');
    for (size_t i = 0; i < offer.price_count; i++) {
        if (!is_asked(&offer.prices[i], values))
            continue;
        if (out->data[out->length - 1] != '[')
            buf_add_char(out, ',');
        if (!write_term(out, snapshot, &offer, &offer.prices[i], values, request->received_at_us))
            return tool_refuse_sums(request, reply, "gpus");
    }
    buf_add_char(out, ']');
    reserve_finish(out, snapshot, values);
    return true;
}

static bool answer_prices(struct request *request, struct reply *reply, struct snapshot *snapshot,
                          struct tool_value *values)
{
    struct reservation_input input = reserve_expectations(values);
    struct reservation_result result;
    struct buf *out = &reply->body;
    for (int i = RESERVE_RESERVED_PRICE; i <= RESERVE_TERM; i++) {
        if (!tool_require(request, reply, &inputs[i], &values[i]))
            return false;
    }
    if (!values[RESERVE_GPUS].given)
        values[RESERVE_GPUS].value = 1;
    input.reserved_microusd = values[RESERVE_RESERVED_PRICE].value;
    input.on_demand_microusd = values[RESERVE_ON_DEMAND_PRICE].value;
    input.term_months = (int32_t)values[RESERVE_TERM].value;
    input.upfront_percent_milli = (int32_t)values[RESERVE_UPFRONT].value;
    input.gpus = values[RESERVE_GPUS].value;
    if (!reservation_compare(&input, &result))
        return tool_refuse_sums(request, reply, "gpus");
    buf_add_char(out, '{');
    reserve_write_result(out, &result);
    tool_write_signed(out, "discount_percent", result.discount_percent_micro);
    buf_add_json_member_decimal(out, "total_commitment_usd", result.sums.total_microusd, 6);
    buf_add_json_member_decimal(out, "due_at_once_usd", result.sums.at_once_microusd, 6);
    buf_add_json_member_decimal(
        out, "hourly_price_per_gpu_hour",
        reservation_hourly_rest(input.reserved_microusd, input.upfront_percent_milli), 6);
    reserve_finish(out, snapshot, values);
    return true;
}

/* Inputs that mean nothing beside `what` are refused rather than passed over. */
static bool refuse_beside(struct request *request, struct reply *reply, const char *what,
                          const char *const *names)
{
    for (size_t i = 0; names[i] != NULL; i++) {
        if (request_parameter(request, names[i]) != NULL)
            return parameter_refuse(
                request, reply, names[i], "conflict",
                arena_printf(&request->arena, "%s can't stand beside %s.", names[i], what));
    }
    return true;
}

static bool check_forms(struct request *request, struct reply *reply)
{
    static const char *const not_with_offer[] = {"reserved_price", "upfront_percent", "gpu",
                                                 "region", NULL};
    static const char *const not_with_gpu[] = {"reserved_price", "on_demand_price",
                                               "upfront_percent", NULL};
    static const char *const not_alone[] = {"region", NULL};
    if (request_parameter(request, "offer") != NULL)
        return refuse_beside(request, reply, "offer", not_with_offer);
    if (request_parameter(request, "gpu") != NULL)
        return refuse_beside(request, reply, "gpu", not_with_gpu);
    return refuse_beside(request, reply, "two prices without gpu", not_alone);
}

void tool_reserve_prepare(struct request *request, struct reply *reply)
{
    struct app *app = request->app;
    struct tool_value values[RESERVE_INPUT_COUNT];
    uint16_t gpu, place;
    bool market = request_parameter(request, "gpu") != NULL;
    if (!tool_read(request, reply, &reserve_tool, values, NULL) || !check_forms(request, reply) ||
        (market && !reserve_read_market(request, reply, &gpu, &place)))
        return;
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    const char *etag = snapshot_etag(request, snapshot, NULL);
    bool known = reply_not_modified(request, reply, etag);
    if (!known && !market &&
        (request_parameter(request, "offer") != NULL
             ? answer_offer(request, reply, snapshot, values)
             : answer_prices(request, reply, snapshot, values)))
        reply->status = 200;
    if (reply->status == 200)
        reply->etag = etag;
    snapshot_release(snapshot);
}

void tool_reserve_execute(struct request *request, struct reply *reply, struct worker *worker)
{
    struct app *app = request->app;
    struct tool_value values[RESERVE_INPUT_COUNT];
    (void)worker;
    if (!tool_read(request, reply, &reserve_tool, values, NULL))
        return;
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    reply->etag = snapshot_etag(request, snapshot, NULL);
    if (reserve_answer_market(request, reply, snapshot, values))
        reply->status = 200;
    snapshot_release(snapshot);
}
