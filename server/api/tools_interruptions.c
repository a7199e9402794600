/* GET /v1/tools/interruptions: what to expect of a job on many GPUs, and what it costs in time. */
#include "server/api/market_parameters.h"
#include "server/api/resources.h"
#include "server/api/tool_inputs.h"

#include "server/base/decimal.h"
#include "server/market/interruptions.h"
#include "server/market/reservation.h"

#include <math.h>

#define LLAMA3                                                                                     \
    "The Llama 3 Herd of Models (arXiv:2407.21783), table 5: 54 days of training on 16,384 H100s"
#define RULE      "rule of thumb: one failure a month (730 h) and 100 GPUs"
#define DALY      "J. T. Daly, FGCS 22(3), 2006: the paper's own example"
#define ASSUMED   "assumed; depends on the provider's spares"
#define DAY_MILLI INT64_C(1000)

enum { GPUS, DAYS, FAILURES, AVAILABILITY, NODE, REPAIR, WRITE, INTERVAL, RESTART, INPUT_COUNT };

static const struct tool_input inputs[INPUT_COUNT] = {
    [GPUS] = {"gpus", "GPUs", 0, 1, CALCULATOR_GPUS_MAX, 1024, NULL},
    [DAYS] = {"days", "days", 3, 1, 3660 * DAY_MILLI, 30 * DAY_MILLI, NULL},
    [FAILURES] = {"failures_per_100_gpus_month", "failures", 6, 1000, INT64_C(1000000000), 1000000,
                  RULE},
    [AVAILABILITY] = {"availability_percent", "percent", 4, 0, 999999, 990000, NULL},
    [NODE] = {"gpus_per_node", "GPUs", 0, 1, 1000, 8, "an HGX board"},
    [REPAIR] = {"repair_hours", "hours", 3, 0, 8760000, 24000, ASSUMED},
    [WRITE] = {"checkpoint_minutes", "minutes", 3, 0, 1440000, 5000, DALY},
    [INTERVAL] = {"checkpoint_interval_minutes", "minutes", 3, 1, 525600000, UNKNOWN, NULL},
    [RESTART] = {"restart_minutes", "minutes", 3, 0, 1440000, 10000, DALY},
};

enum rate { RATE_RULE, RATE_UNEXPECTED, RATE_ALL, RATE_COUNT };
static const char *const rate_words[] = {"per_100_gpus_month", "llama3_unexpected", "llama3_all",
                                         NULL};
static const struct tool_choice choices[] = {{"rate", rate_words, RULE}};
static _Atomic(struct input_text *) texts;
static const struct tool tool = {inputs, INPUT_COUNT, choices, 1, NULL, &texts};

/* A month of 730 hours on 100 GPUs is 24 months of a day on as many: days are counted in
 * thousandths, so the count is multiplied instead. */
static struct failure_rate rate_of(enum rate rate, const struct tool_value *values)
{
    static const struct failure_rate unexpected = {419000000, 16384, 54 * DAY_MILLI};
    static const struct failure_rate all = {466000000, 16384, 54 * DAY_MILLI};
    if (rate != RATE_RULE)
        return rate == RATE_ALL ? all : unexpected;
    return (struct failure_rate){values[FAILURES].value * 24, 100, HOURS_PER_MONTH * DAY_MILLI};
}

static void write_double(struct buf *out, const char *key, double value, unsigned decimals)
{
    double scaled = value * pow(10, decimals);
    buf_add_json_member_decimal(out, key, scaled < 9e18 ? llround(scaled) : INT64_MAX, decimals);
}

static void write_rational(struct buf *out, const char *key, struct rational value)
{
    int64_t scaled;
    buf_add_json_member_decimal(out, key, rational_round(value, 6, &scaled) ? scaled : UNKNOWN, 6);
}

static double to_double(struct rational value)
{
    return (double)value.numerator / (double)value.denominator;
}

static void write_estimate(struct buf *out, enum rate rate, const struct tool_value *values)
{
    static const char *const sources[RATE_COUNT] = {RULE, LLAMA3 ": 419 unexpected interruptions",
                                                    LLAMA3
                                                    ": 466 interruptions, planned ones included"};
    struct failure_rate failures = rate_of(rate, values);
    struct rational expected =
        interruptions_expected(&failures, values[GPUS].value, values[DAYS].value);
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "rate", rate_words[rate]);
    write_rational(out, "expected_interruptions", expected);
    write_rational(out, "mean_time_between_hours",
                   interruptions_mean_hours(&failures, values[GPUS].value));
    write_double(out, "chance_of_none_percent", 100 * exp(-to_double(expected)), 6);
    buf_add_json_member_string(out, "source",
                               rate == RATE_RULE && values[FAILURES].given ? NULL : sources[rate]);
    buf_add_char(out, '}');
}

static void write_spares(struct buf *out, const struct tool_value *values, double mean_hours)
{
    int64_t node = values[NODE].value, nodes = (values[GPUS].value + node - 1) / node;
    double down = (double)values[REPAIR].value / 1000 / mean_hours;
    int64_t spares = spares_needed(down, (double)values[AVAILABILITY].value / 1000000, nodes);
    buf_add_json_key(out, "spares");
    buf_add_char(out, '{');
    buf_add_json_member_int(out, "nodes", nodes);
    write_double(out, "nodes_under_repair_mean", down, 6);
    buf_add_json_member_int(out, "spare_nodes", spares);
    buf_add_json_member_int(out, "spare_gpus", spares < 0 ? UNKNOWN : spares * node);
    buf_add_char(out, '}');
}

static void write_checkpoints(struct buf *out, const struct tool_value *values, double mean_minutes)
{
    double write = (double)values[WRITE].value / 1000;
    double restart = (double)values[RESTART].value / 1000;
    double best = checkpoint_interval_daly(write, mean_minutes);
    double interval = values[INTERVAL].given ? (double)values[INTERVAL].value / 1000 : best;
    double lost = checkpoint_time_lost(interval, write, restart, mean_minutes);
    double days = (double)values[DAYS].value / 1000;
    buf_add_json_key(out, "checkpoints");
    buf_add_char(out, '{');
    write_double(out, "interval_minutes", interval, 3);
    write_double(out, "time_lost_percent", 100 * lost, 6);
    write_double(out, "hours_lost", 24 * days * lost, 3);
    write_double(out, "best_interval_minutes", best, 3);
    write_double(out, "best_interval_young_minutes", checkpoint_interval_young(write, mean_minutes),
                 3);
    write_double(out, "time_lost_at_best_percent",
                 100 * checkpoint_time_lost(best, write, restart, mean_minutes), 6);
    buf_add_char(out, '}');
}

static void write_formulas(struct buf *out)
{
    buf_add_string(
        out,
        ",\"formulas\":{"
        "\"expected_interruptions\":\"interruptions of the rate / (its GPUs x its days) x gpus x "
        "days\","
        "\"mean_time_between_hours\":\"24 x days / expected_interruptions\","
        "\"chance_of_none_percent\":\"100 x e^-expected_interruptions\","
        "\"spare_nodes\":\"fewest n with P(X <= n) >= availability_percent / 100; X, the nodes "
        "under repair, is Poisson with mean repair_hours / mean_time_between_hours\","
        "\"best_interval_minutes\":\"sqrt(2 x w x m) x (1 + sqrt(w / 2m) / 3 + w / 2m / 9) - w; "
        "w = checkpoint_minutes, m = minutes between interruptions; m where w >= 2m (Daly 2006)\","
        "\"best_interval_young_minutes\":\"sqrt(2 x w x m) (Young 1974)\","
        "\"time_lost_percent\":\"100 x (1 - t / (m x e^(r / m) x (e^((t + w) / m) - 1))); t = "
        "interval, r = restart_minutes (Daly 2006)\"}");
}

void tool_interruptions(struct request *request, struct reply *reply)
{
    struct tool_value values[INPUT_COUNT];
    struct buf *out = &reply->body;
    size_t chosen;
    if (!tool_read(request, reply, &tool, values, &chosen))
        return;
    if (chosen != RATE_RULE && values[FAILURES].given) {
        parameter_refuse(request, reply, inputs[FAILURES].name, "conflict",
                         "failures_per_100_gpus_month is a rate of its own; leave rate out.");
        return;
    }
    struct failure_rate failures = rate_of((enum rate)chosen, values);
    struct rational mean = interruptions_mean_hours(&failures, values[GPUS].value);
    buf_add_char(out, '{');
    write_rational(out, "expected_interruptions",
                   interruptions_expected(&failures, values[GPUS].value, values[DAYS].value));
    write_rational(out, "mean_time_between_hours", mean);
    buf_add_json_key(out, "estimates");
    for (int rate = 0; rate < RATE_COUNT; rate++) {
        buf_add_char(out, rate == 0 ? '[' : ',');
        write_estimate(out, (enum rate)rate, values);
    }
    buf_add_char(out, ']');
    write_spares(out, values, to_double(mean));
    write_checkpoints(out, values, 60 * to_double(mean));
    write_formulas(out);
    tool_write_inputs(out, &tool, values, &chosen);
    buf_add_char(out, '}');
    tool_finish_constant(request, reply);
}
