/* GET /v1/tools/rent-vs-buy: an own machine's GPU-hour part by part, against renting at a given
 * price or at today's index. */
#include "server/api/app.h"
#include "server/api/market_parameters.h"
#include "server/api/resources.h"
#include "server/api/tools_owning.h"

#include "server/base/decimal.h"
#include "server/catalog/market.h"
#include "server/reference/gpu.h"

#define ANSWER_BYTES 12288 /* room for nearly every answer, so that it is not moved as it grows */

/* What renting costs an hour, and who says so. */
struct rent {
    int64_t microusd; /* UNKNOWN: nobody */
    bool given;
    uint32_t providers; /* behind the index */
};

struct rent_request {
    struct tool_value values[RENT_INPUT_COUNT];
    size_t chosen[RENT_CHOICE_COUNT];
    uint16_t gpu;
    int64_t now_us;
};

static const char *const formulas =
    ",\"formulas\":{"
    "\"machine\":\"machine_price_usd / (gpus_per_machine x years x 8760)\","
    "\"sales_tax\":\"machine x sales_tax_percent / 100\","
    "\"network\":\"machine x network_percent / 100\","
    "\"support\":\"support_usd / (gpus_per_machine x years x 8760)\","
    "\"power_and_hosting\":\"colocation: power_kw_per_gpu x hosting_usd_per_kw_month / 730; "
    "own_site: power_kw_per_gpu x (pue x electricity_usd_per_kwh + site_usd_per_kw / (site_years x "
    "8760))\","
    "\"remote_hands\":\"remote_hands_usd_per_hour x remote_hands_hours_per_quarter / "
    "(gpus_per_machine x 2190)\","
    "\"spares\":\"(machine + network) x spares_percent / 100\","
    "\"people\":\"people_usd_per_month / (gpus x 730)\","
    "\"finance\":\"capital paid back in n equal monthly parts: capital x finance_percent / 1200 x "
    "(n + 1) / 2, over all hours\","
    "\"residual_value\":\"-machine x residual_value_percent / 100\","
    "\"downtime\":\"sum of the parts above x d / (1 - d); d = downtime_percent / 100\","
    "\"machines\":\"whole machines are bought: what is for a machine is multiplied by machines x "
    "gpus_per_machine / gpus\","
    "\"break_even_utilization\":\"all that buying costs / all that renting every hour costs\","
    "\"overtakes_month\":\"first month at whose end capital, monthly costs and interest to date, "
    "divided by 1 - d, are below the rent paid to date\","
    "\"yearly_price_fall_percent\":\"compounds from year to year, goes evenly within a year\"}";

static void write_parts(struct buf *out, const struct ownership *own)
{
    buf_add_json_key(out, "parts");
    buf_add_char(out, '[');
    for (int part = 0; part < OWNERSHIP_PART_COUNT; part++) {
        buf_add_string(out, part == 0 ? "{" : ",{");
        buf_add_json_member_string(out, "part", ownership_part_name((enum ownership_part)part));
        buf_add_json_key(out, "per_gpu_hour");
        buf_add_decimal(out, own->part_microusd[part], 6);
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
}

/* Per hour of use, of what is paid for every hour; null where nothing is used. */
static void write_per_used(struct buf *out, const char *key, int64_t microusd,
                           const struct tool_value *values)
{
    int64_t utilization_micro = values[RENT_UTILIZATION].value;
    buf_add_json_key(out, key);
    if (utilization_micro == 0)
        buf_add_string(out, "null");
    else
        buf_add_decimal(out, decimal_muldiv_half_even(microusd, 1000000, utilization_micro, NULL),
                        6);
}

static struct rent index_of(struct snapshot *snapshot, const struct rent_request *asked,
                            enum commitment commitment)
{
    struct index_figures figures;
    struct rent rent = {.microusd = UNKNOWN};
    if (snapshot_market_figures(snapshot, asked->gpu, commitment, CONTINENT_COUNT, asked->now_us,
                                &figures)) {
        rent.microusd = figures.median;
        rent.providers = figures.providers;
    }
    return rent;
}

static void open_way(struct buf *out, const char *way, int64_t months)
{
    buf_add_string(out, out->data[out->length - 1] == '[' ? "{" : ",{");
    buf_add_json_member_string(out, "way", way);
    buf_add_json_member_int(out, "commits_months", months);
}

static void write_rented_way(struct buf *out, const char *way, enum commitment commitment,
                             struct snapshot *snapshot, const struct rent_request *asked)
{
    struct rent rent = index_of(snapshot, asked, commitment);
    open_way(out, way, commitment_months_from(commitment));
    buf_add_json_member_decimal(out, "per_gpu_hour", rent.microusd, 6);
    if (rent.microusd < 0 || commitment == COMMITMENT_ON_DEMAND)
        buf_add_json_member_decimal(out, "per_used_gpu_hour", rent.microusd, 6);
    else
        write_per_used(out, "per_used_gpu_hour", rent.microusd, asked->values);
    buf_add_json_member_int(out, "index_providers", (int64_t)rent.providers);
    buf_add_json_member_string(
        out, "unknown_because",
        rent.microusd >= 0 ? NULL : "no price for this GPU and term counts in the index today");
    buf_add_char(out, '}');
}

static void write_owned_way(struct buf *out, enum hosting hosting, int64_t total_microusd,
                            const struct rent_request *asked)
{
    open_way(out, hosting_name(hosting), (asked->values[RENT_YEARS].value * 12 + 999) / 1000);
    tool_write_signed(out, "per_gpu_hour", total_microusd);
    write_per_used(out, "per_used_gpu_hour", total_microusd, asked->values);
    buf_add_json_member_int(out, "index_providers", UNKNOWN);
    buf_add_json_member_string(out, "unknown_because", NULL);
    buf_add_char(out, '}');
}

static bool write_range(struct buf *out, struct snapshot *snapshot,
                        const struct rent_request *asked, const struct ownership_input *input,
                        const struct ownership *chosen)
{
    static const struct {
        const char *way;
        enum commitment commitment;
    } rented[] = {{"on_demand", COMMITMENT_ON_DEMAND},
                  {"reserved_12_months", COMMITMENT_RESERVED_12},
                  {"reserved_36_months", COMMITMENT_RESERVED_36}};
    buf_add_json_key(out, "range");
    buf_add_char(out, '[');
    for (size_t i = 0; i < sizeof(rented) / sizeof(rented[0]); i++)
        write_rented_way(out, rented[i].way, rented[i].commitment, snapshot, asked);
    for (int hosting = 0; hosting < HOSTING_COUNT; hosting++) {
        struct ownership own = *chosen;
        if (hosting != (int)asked->chosen[RENT_CHOICE_HOSTING] &&
            !ownership_cost(input, (enum hosting)hosting, &own))
            return false;
        write_owned_way(out, (enum hosting)hosting, own.total_microusd, asked);
    }
    buf_add_char(out, ']');
    return true;
}

static void write_rent(struct buf *out, const struct rent_request *asked, const struct rent *rent)
{
    bool by_use = asked->chosen[RENT_CHOICE_BILLING] == 0;
    buf_add_json_key(out, "rent");
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "gpu", gpu_at(asked->gpu)->slug);
    buf_add_json_member_string(out, "billing", by_use ? "on_demand" : "reserved");
    buf_add_json_member_int(out, "term_months", by_use ? 0 : asked->values[RENT_TERM].value);
    buf_add_json_member_decimal(out, "price_per_gpu_hour", rent->microusd, 6);
    buf_add_json_member_string(out, "source",
                               rent->microusd < 0 ? NULL
                               : rent->given      ? "given"
                                                  : "index");
    buf_add_json_member_int(out, "index_providers",
                            rent->given ? UNKNOWN : (int64_t)rent->providers);
    buf_add_char(out, '}');
}

static bool write_comparison(struct buf *out, const struct rent_request *asked,
                             const struct ownership_input *input, const struct rent *rent)
{
    const struct tool_value *values = asked->values;
    struct renting_input renting = {
        .price_microusd = rent->microusd,
        .by_use = asked->chosen[RENT_CHOICE_BILLING] == 0,
        .utilization_micro = (int32_t)values[RENT_UTILIZATION].value,
        .fall_percent_milli = (int32_t)values[RENT_FALL].value,
    };
    struct rent_or_buy result;
    buf_add_json_key(out, "comparison");
    if (rent->microusd < 0) {
        buf_add_string(out, "null");
        return true;
    }
    if (!rent_or_buy_compare(input, (enum hosting)asked->chosen[RENT_CHOICE_HOSTING], &renting,
                             &result))
        return false;
    int64_t saving = result.renting_microusd - result.buying_microusd;
    buf_add_char(out, '{');
    buf_add_json_member_int(out, "months", result.months);
    buf_add_json_member_string(out, "cheaper",
                               saving > 0   ? "buying"
                               : saving < 0 ? "renting"
                                            : "neither");
    tool_write_signed(out, "saving_usd", saving < 0 ? -saving : saving);
    tool_write_signed(out, "buying_usd", result.buying_microusd);
    buf_add_json_member_decimal(out, "renting_usd", result.renting_microusd, 6);
    buf_add_json_member_int(out, "overtakes_month", result.overtakes_month);
    buf_add_json_member_decimal(out, "break_even_utilization", result.break_even_utilization_micro,
                                6);
    buf_add_json_key(out, "points");
    for (size_t i = 0; i < result.point_count; i++) {
        buf_add_string(out, i == 0 ? "[{" : ",{");
        buf_add_json_member_int(out, "month", result.points[i].month);
        tool_write_signed(out, "buying_usd", result.points[i].buying_microusd);
        buf_add_json_member_decimal(out, "renting_usd", result.points[i].renting_microusd, 6);
        buf_add_char(out, '}');
    }
    buf_add_string(out, "]}");
    return true;
}

static bool write_answer(struct buf *out, struct snapshot *snapshot,
                         const struct rent_request *asked)
{
    const struct tool_value *values = asked->values;
    struct ownership_input input = owning_input(values);
    struct ownership own;
    if (!ownership_cost(&input, (enum hosting)asked->chosen[RENT_CHOICE_HOSTING], &own))
        return false;
    (void)buf_reserve(out, ANSWER_BYTES);
    buf_add_char(out, '{');
    tool_write_signed(out, "total_per_gpu_hour", own.total_microusd);
    write_per_used(out, "total_per_used_gpu_hour", own.total_microusd, values);
    write_parts(out, &own);
    buf_add_json_member_int(out, "machines", own.machines);
    buf_add_json_member_decimal(out, "capital_usd", own.capital_microusd, 6);
    buf_add_json_member_decimal(out, "monthly_usd", own.monthly_microusd, 6);
    enum commitment commitment =
        asked->chosen[RENT_CHOICE_BILLING] == 0
            ? COMMITMENT_ON_DEMAND
            : commitment_of(BILLING_RESERVED, (int32_t)values[RENT_TERM].value);
    struct rent rent = {.microusd = values[RENT_PRICE].value, .given = true};
    if (!values[RENT_PRICE].given)
        rent = index_of(snapshot, asked, commitment);
    write_rent(out, asked, &rent);
    if (!write_comparison(out, asked, &input, &rent) ||
        !write_range(out, snapshot, asked, &input, &own))
        return false;
    buf_add_string(out, rent.microusd < 0 ? ",\"unknown\":[\"rent_price_per_gpu_hour\"]"
                                          : ",\"unknown\":[]");
    buf_add_string(out, formulas);
    buf_add_string(out, TOOL_PRICE_FALLS);
    owning_write_published(out);
    tool_write_inputs(out, &rent_tool, values, asked->chosen);
    tool_write_as_of(out, snapshot_as_of_us(snapshot));
    buf_add_char(out, '}');
    return true;
}

static bool read_request(struct request *request, struct reply *reply, struct rent_request *asked)
{
    asked->now_us = request->received_at_us;
    asked->gpu = gpu_find("h100-sxm");
    if (!tool_read(request, reply, &rent_tool, asked->values, asked->chosen) ||
        (request_parameter(request, "gpu") != NULL &&
         !parameter_variant(request, reply, "gpu", &asked->gpu)))
        return false;
    if (asked->values[RENT_TERM].given && asked->chosen[RENT_CHOICE_BILLING] == 0)
        return parameter_refuse(request, reply, "rent_term_months", "conflict",
                                "rent_term_months is for rent_billing=reserved.");
    owning_choose_machine(asked->values, asked->chosen[RENT_CHOICE_MACHINE]);
    return true;
}

void tool_rent_or_buy(struct request *request, struct reply *reply)
{
    struct app *app = request->app;
    struct rent_request asked;
    if (!read_request(request, reply, &asked))
        return;
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    reply->etag = snapshot_etag(request, snapshot, NULL);
    if (!reply_not_modified(request, reply, reply->etag)) {
        if (write_answer(&reply->body, snapshot, &asked))
            reply->status = 200;
        else
            tool_refuse_sums(request, reply, "gpus");
    }
    snapshot_release(snapshot);
}
