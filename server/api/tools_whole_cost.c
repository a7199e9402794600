/* GET /v1/tools/whole-cost: what an order of an offer costs in all, by each of its prices. */
#include "server/api/app.h"
#include "server/api/offer_prices.h"
#include "server/api/resources.h"
#include "server/api/tool_inputs.h"

#include "server/base/decimal.h"
#include "server/market/reservation.h"
#include "server/market/tier.h"
#include "server/market/whole_cost.h"

enum { GPUS, MONTHS, HOURS, RUNS, EGRESS, STORAGE, INPUT_COUNT };

static const struct tool_input inputs[INPUT_COUNT] = {
    [GPUS] = {"gpus", "GPUs", 0, 1, CALCULATOR_GPUS_MAX, UNKNOWN,
              "one node, or the price's minimum"},
    [MONTHS] = {"months", "months", 0, 1, PRICE_TERM_MONTHS_MAX, 1, NULL},
    [HOURS] = {"hours_per_month", "hours of use of each GPU", 3, 0, HOURS_PER_MONTH_MAX_MILLI,
               HOURS_PER_MONTH * 1000, "every hour of a month"},
    [RUNS] = {"runs_per_month", "starts of the machines", 0, 1, 100000, 1, NULL},
    [EGRESS] = {"egress_gb_per_month", "GB", 3, 0, INT64_C(1000000000000), 0, NULL},
    [STORAGE] = {"storage_gb", "GB kept all along", 3, 0, INT64_C(1000000000000), 0, NULL},
};
static const char *const others[] = {"offer", NULL};
static _Atomic(struct input_text *) texts;
static const struct tool tool = {inputs, INPUT_COUNT, NULL, 0, others, &texts};

static const char *const formulas =
    ",\"formulas\":{"
    "\"nodes\":\"gpus / gpu_count, rounded up\","
    "\"compute_usd\":\"nodes x price of a node-hour x billed_hours; what is due at once is part of "
    "it\","
    "\"billed_hours\":\"reserved: 730 x term_months x terms, used or not; else hours_per_month in "
    "runs_per_month equal runs, each at least the minimum duration and rounded up to whole "
    "increments, x months\","
    "\"terms\":\"months / term_months, rounded up\","
    "\"due_at_once_usd\":\"upfront_percent of one term\","
    "\"increments_usd\":\"the part of compute_usd that is billed and not used\","
    "\"egress_usd\":\"egress_per_gb x egress_gb_per_month x months\","
    "\"storage_usd\":\"storage_per_gb_month x storage_gb x months\","
    "\"total_known_usd\":\"compute_usd + egress_usd + storage_usd, as far as known\","
    "\"per_used_gpu_hour\":\"total_known_usd / (gpus x hours_per_month x months)\"}"
    ",\"not_included\":[\"taxes\",\"support\",\"licences\"]";

static void write_cost(struct buf *out, const struct price *price, int64_t gpus,
                       const struct whole_cost *cost)
{
    buf_add_char(out, '{');
    offer_price_write_identity(out, price);
    buf_add_json_member_int(out, "gpus", gpus);
    buf_add_json_member_int(out, "nodes", cost->nodes);
    buf_add_json_member_int(out, "terms", cost->terms);
    buf_add_json_member_decimal(out, "billed_hours", cost->billed_hours_milli, 3);
    buf_add_json_member_decimal(out, "compute_usd", cost->compute_microusd, 6);
    buf_add_json_member_decimal(out, "due_at_once_usd", cost->at_once_microusd, 6);
    buf_add_json_member_decimal(out, "increments_usd", cost->increments_microusd, 6);
    buf_add_json_member_decimal(out, "egress_usd", cost->egress_microusd, 6);
    buf_add_json_member_decimal(out, "storage_usd", cost->storage_microusd, 6);
    buf_add_json_member_decimal(out, "total_known_usd", cost->total_microusd, 6);
    buf_add_json_member_decimal(out, "per_used_gpu_hour", cost->per_used_gpu_hour_microusd, 6);
    buf_add_char(out, '}');
}

/* The names of the extra costs the offer does not tell. */
static void write_unknown(struct buf *out, const struct extra_costs *costs)
{
    const struct {
        const char *name;
        bool known;
    } all[] = {
        {"egress_per_gb", costs->egress_per_gb_microusd >= 0},
        {"storage_per_gb_month", costs->storage_per_gb_month_microusd >= 0},
        {"billing_increment_seconds", costs->billing_increment_seconds >= 0},
        {"minimum_duration_seconds", costs->minimum_duration_seconds >= 0},
    };
    buf_add_json_key(out, "unknown");
    buf_add_char(out, '[');
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i].known)
            continue;
        if (out->data[out->length - 1] != '[')
            buf_add_char(out, ',');
        buf_add_json_string(out, all[i].name);
    }
    buf_add_char(out, ']');
}

static bool write_costs(struct buf *out, const struct offer_prices *offer,
                        const struct tool_value *values)
{
    struct whole_cost_input input = {
        .gpu_count_milli = offer->gpu_count_milli,
        .extra_costs = offer->extra_costs,
        .months = (int32_t)values[MONTHS].value,
        .hours_per_month_milli = (int32_t)values[HOURS].value,
        .runs_per_month = (int32_t)values[RUNS].value,
        .egress_gb_milli = values[EGRESS].value,
        .storage_gb_milli = values[STORAGE].value,
    };
    buf_add_json_key(out, "costs");
    buf_add_char(out, '[');
    for (size_t i = 0; i < offer->price_count; i++) {
        const struct price *price = &offer->prices[i];
        struct whole_cost cost;
        input.gpus = values[GPUS].given ? values[GPUS].value
                                        : price_smallest_order(price, offer->gpu_count_milli);
        if (!price_takes(price, input.gpus))
            continue;
        if (out->data[out->length - 1] != '[')
            buf_add_char(out, ',');
        if (!whole_cost_compute(&input, price, &cost))
            return false;
        write_cost(out, price, input.gpus, &cost);
    }
    buf_add_char(out, ']');
    return true;
}

static bool write_answer(struct request *request, struct reply *reply, struct snapshot *snapshot,
                         const struct tool_value *values)
{
    struct offer_prices offer;
    struct buf *out = &reply->body;
    if (!offer_prices_read(request, reply, snapshot, &offer))
        return false;
    buf_add_char(out, '{');
    offer_prices_write(out, &offer);
    if (!write_costs(out, &offer, values))
        return tool_refuse_sums(request, reply, "gpus");
    write_unknown(out, &offer.extra_costs);
    buf_add_string(out, formulas);
    tool_write_inputs(out, &tool, values, NULL);
    tool_write_as_of(out, snapshot_as_of_us(snapshot));
    buf_add_char(out, '}');
    return true;
}

void tool_whole_cost(struct request *request, struct reply *reply)
{
    struct app *app = request->app;
    struct tool_value values[INPUT_COUNT];
    if (!tool_read(request, reply, &tool, values, NULL))
        return;
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    const char *etag = snapshot_etag(request, snapshot, NULL);
    if (!reply_not_modified(request, reply, etag) &&
        write_answer(request, reply, snapshot, values)) {
        reply->status = 200;
        reply->etag = etag;
    }
    snapshot_release(snapshot);
}
