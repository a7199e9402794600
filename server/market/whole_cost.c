/* Amounts as they were quoted, times counts that are fractions: one rounding for each part. */
#include "server/market/whole_cost.h"

#include "server/base/decimal.h"
#include "server/market/rational.h"
#include "server/market/tier.h"

#define MILLI INT64_C(1000)

/* A run's seconds as billed, in thousandths: at least the minimum, in whole increments. */
static struct rational billed_run(struct rational seconds, const struct extra_costs *costs)
{
    int32_t minimum = costs->minimum_duration_seconds, step = costs->billing_increment_seconds;
    if (minimum > 0 && seconds.numerator < (__int128)minimum * seconds.denominator)
        seconds = rational_of(minimum, 1);
    if (step > 0) {
        __int128 whole = seconds.denominator * step;
        seconds = rational_of((int64_t)((seconds.numerator + whole - 1) / whole) * step, 1);
    }
    return seconds;
}

/* Node-hours of one month as used, and as billed. */
static struct rational used_hours(const struct whole_cost_input *input)
{
    return rational_of(input->hours_per_month_milli, MILLI);
}

static struct rational billed_hours(const struct whole_cost_input *input)
{
    struct rational run =
        rational_of(input->hours_per_month_milli * INT64_C(3600), MILLI * input->runs_per_month);
    if (input->hours_per_month_milli == 0)
        return rational_of(0, 1);
    run = billed_run(run, &input->extra_costs);
    return rational_multiply(run, rational_of(input->runs_per_month, 3600));
}

/* One node-hour as quoted. */
static struct rational node_hour(const struct whole_cost_input *input, const struct price *price)
{
    int64_t numerator, denominator;
    if (price->quoted_per == PRICE_PER_NODE)
        return rational_of(price->quoted_microusd, 1);
    gpu_count_fraction(input->gpu_count_milli, &numerator, &denominator);
    return rational_multiply(rational_of(price->quoted_microusd, 1),
                             rational_of(numerator, denominator));
}

static bool monthly_cost(int64_t rate_microusd, int64_t quantity_milli, int32_t months,
                         int64_t *ret)
{
    *ret = UNKNOWN;
    if (rate_microusd < 0)
        return true;
    struct rational cost =
        rational_multiply(rational_of(rate_microusd, 1), rational_of(quantity_milli, MILLI));
    return rational_round(rational_multiply(cost, rational_of(months, 1)), 0, ret);
}

static bool compute_reserved(const struct whole_cost_input *input, const struct price *price,
                             struct rational all_nodes_hour, struct whole_cost *cost)
{
    int32_t term = price->term_months;
    cost->terms = (input->months + term - 1) / term;
    struct rational one_term =
        rational_multiply(all_nodes_hour, rational_of((int64_t)HOURS_PER_MONTH * term, 1));
    struct rational hours = rational_of((int64_t)HOURS_PER_MONTH * term * cost->terms, 1);
    int32_t upfront = price->upfront_percent_milli > 0 ? price->upfront_percent_milli : 0;
    cost->increments_microusd = 0;
    return rational_round(hours, 3, &cost->billed_hours_milli) &&
           rational_round(rational_multiply(all_nodes_hour, hours), 0, &cost->compute_microusd) &&
           rational_round(rational_multiply(one_term, rational_of(upfront, 100000)), 0,
                          &cost->at_once_microusd);
}

static bool compute_by_use(const struct whole_cost_input *input, struct rational all_nodes_hour,
                           struct whole_cost *cost)
{
    struct rational months = rational_of(input->months, 1);
    struct rational used = rational_multiply(used_hours(input), months);
    struct rational billed = rational_multiply(billed_hours(input), months);
    int64_t of_used;
    if (!rational_round(billed, 3, &cost->billed_hours_milli) ||
        !rational_round(rational_multiply(all_nodes_hour, billed), 0, &cost->compute_microusd) ||
        !rational_round(rational_multiply(all_nodes_hour, used), 0, &of_used))
        return false;
    bool known = input->extra_costs.billing_increment_seconds >= 0 ||
                 input->extra_costs.minimum_duration_seconds >= 0;
    cost->increments_microusd = known ? cost->compute_microusd - of_used : UNKNOWN;
    return true;
}

bool whole_cost_compute(const struct whole_cost_input *input, const struct price *price,
                        struct whole_cost *ret)
{
    *ret = (struct whole_cost){.nodes = nodes_for(input->gpus, input->gpu_count_milli),
                               .per_used_gpu_hour_microusd = UNKNOWN};
    struct rational all_nodes_hour =
        rational_multiply(node_hour(input, price), rational_of(ret->nodes, 1));
    bool good = price->billing == BILLING_RESERVED
                    ? compute_reserved(input, price, all_nodes_hour, ret)
                    : compute_by_use(input, all_nodes_hour, ret);
    if (!good ||
        !monthly_cost(input->extra_costs.egress_per_gb_microusd, input->egress_gb_milli,
                      input->months, &ret->egress_microusd) ||
        !monthly_cost(input->extra_costs.storage_per_gb_month_microusd, input->storage_gb_milli,
                      input->months, &ret->storage_microusd))
        return false;
    __int128 total = ret->compute_microusd;
    total += ret->egress_microusd > 0 ? ret->egress_microusd : 0;
    total += ret->storage_microusd > 0 ? ret->storage_microusd : 0;
    if (total > INT64_MAX)
        return false;
    ret->total_microusd = (int64_t)total;
    __int128 used_milli = (__int128)input->gpus * input->months * input->hours_per_month_milli;
    if (used_milli > 0) {
        __int128 per_hour = round_half_even(total * MILLI, used_milli);
        ret->per_used_gpu_hour_microusd = per_hour > INT64_MAX ? UNKNOWN : (int64_t)per_hour;
    }
    return true;
}
