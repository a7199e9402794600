/* The published block is computed once and kept for the life of the process. */
#include "server/api/tools_owning.h"

#include "server/base/arena.h"
#include "server/base/decimal.h"

#include <pthread.h>
#include <string.h>

#define USD       INT64_C(1000000)
#define PUBLISHED "H100 cost breakdown published in August 2024"
#define EIA       "US industrial average of 2023, Energy Information Administration"
#define UPTIME    "Uptime Institute, average of 2023"
#define SITE                                                                                       \
    "Cushman & Wakefield, Data Center Development Cost Guide 2025, average of 19 US markets"
#define ASSUMED "assumed"

static const struct {
    const char *name, *source;
    int64_t price_usd, support_usd;
} machines[] = {
    {"hgx-h100-dell", PUBLISHED ": 8-GPU HGX H100 from Dell", 280000, 0},
    {"hgx-h100-supermicro", PUBLISHED ": 8-GPU HGX H100 from Supermicro", 270000, 0},
    {"dgx-h100", PUBLISHED ": DGX H100, 460,000 with 100,000 of support", 360000, 100000},
    {"pcie-h100", PUBLISHED ": server with eight H100 PCIe", 300000, 0},
    {"hgx-h100-2023-low", PUBLISHED ": 8-GPU HGX H100 in 2023, from", 300000, 0},
    {"hgx-h100-2023-high", PUBLISHED ": 8-GPU HGX H100 in 2023, to", 380000, 0},
};
#define MACHINE_COUNT (sizeof(machines) / sizeof(machines[0]))

static const struct tool_input inputs[RENT_INPUT_COUNT] = {
    [RENT_MACHINE_PRICE] = {"machine_price_usd", "USD", 6, 0, 10000000 * USD, UNKNOWN, NULL},
    [RENT_SUPPORT] = {"support_usd", "USD a machine", 6, 0, 10000000 * USD, UNKNOWN, NULL},
    [RENT_GPUS_PER_MACHINE] = {"gpus_per_machine", "GPUs", 0, 1, 1000, 8, PUBLISHED},
    [RENT_GPUS] = {"gpus", "GPUs", 0, 1, CALCULATOR_GPUS_MAX, UNKNOWN, "one machine"},
    [RENT_YEARS] = {"years", "years", 3, 1, OWNED_YEARS_MAX_MILLI, 4000,
                    PUBLISHED ": straight-line over four years"},
    [RENT_SALES_TAX] = {"sales_tax_percent", "percent of the machine", 3, 0, 100000, 10000,
                        PUBLISHED ": 1.00 is about 1.10 with tax"},
    [RENT_NETWORK] = {"network_percent", "percent of the machine", 3, 0, 1000000, 20000, PUBLISHED},
    [RENT_POWER] = {"power_kw_per_gpu", "kW", 3, 0, 100000, 800, PUBLISHED},
    [RENT_HOSTING_PRICE] = {"hosting_usd_per_kw_month", "USD", 6, 0, 100000 * USD, 200 * USD,
                            PUBLISHED},
    [RENT_HANDS_PRICE] = {"remote_hands_usd_per_hour", "USD", 6, 0, 100000 * USD, 150 * USD,
                          PUBLISHED},
    [RENT_HANDS_HOURS] = {"remote_hands_hours_per_quarter", "hours a machine", 3, 0, 2190000, 1000,
                          PUBLISHED},
    [RENT_SPARES] = {"spares_percent", "percent of machine and network", 3, 0, 100000, 3000,
                     PUBLISHED},
    [RENT_DOWNTIME] = {"downtime_percent", "percent of the time", 3, 0, OWNED_DOWNTIME_MAX_MILLI,
                       4000,
                       "assumed: with the spares it makes the 0.10 " PUBLISHED
                       " gives for both together"},
    [RENT_PEOPLE] = {"people_usd_per_month", "USD for all GPUs", 6, 0, 100000000 * USD, 0, NULL},
    [RENT_FINANCE] = {"finance_percent", "percent a year", 3, 0, 100000, 0, NULL},
    [RENT_RESIDUAL] = {"residual_value_percent", "percent of the machine", 3, 0, 100000, 0, NULL},
    [RENT_ELECTRICITY] = {"electricity_usd_per_kwh", "USD", 6, 0, 100 * USD, 80600, EIA},
    [RENT_PUE] = {"pue", "site power / machine power", 3, 1000, 10000, 1580, UPTIME},
    [RENT_SITE_PRICE] = {"site_usd_per_kw", "USD", 6, 0, 1000000 * USD, 11700 * USD, SITE},
    [RENT_SITE_YEARS] = {"site_years", "years", 3, 1, 100000, 15000, ASSUMED},
    [RENT_PRICE] = {"rent_price_per_gpu_hour", "USD", 6, 1, CALCULATOR_PRICE_MAX_MICROUSD, UNKNOWN,
                    "today's index"},
    [RENT_TERM] = {"rent_term_months", "months", 0, 1, PRICE_TERM_MONTHS_MAX, 12, NULL},
    [RENT_UTILIZATION] = {"utilization", "share of all hours", 6, 0, 1000000, 1000000, NULL},
    [RENT_FALL] = {"yearly_price_fall_percent", "percent a year", 3, 0, 100000, 0, NULL},
};

static const char *const machine_words[] = {
    "hgx-h100-dell",     "hgx-h100-supermicro", "dgx-h100", "pcie-h100",
    "hgx-h100-2023-low", "hgx-h100-2023-high",  NULL};
_Static_assert(sizeof(machine_words) / sizeof(machine_words[0]) == MACHINE_COUNT + 1,
               "a word for each machine");
static const char *const hosting_words[] = {"colocation", "own_site", NULL};
static const char *const billing_words[] = {"on_demand", "reserved", NULL};
static const struct tool_choice choices[RENT_CHOICE_COUNT] = {
    [RENT_CHOICE_MACHINE] = {"machine", machine_words, NULL},
    [RENT_CHOICE_HOSTING] = {"hosting", hosting_words, NULL},
    [RENT_CHOICE_BILLING] = {"rent_billing", billing_words, NULL},
};
static const char *const others[] = {"gpu", NULL};

static _Atomic(struct input_text *) texts;
const struct tool rent_tool = {inputs, RENT_INPUT_COUNT, choices, RENT_CHOICE_COUNT, others,
                               &texts};

void owning_choose_machine(struct tool_value *values, size_t machine)
{
    if (!values[RENT_MACHINE_PRICE].given) {
        values[RENT_MACHINE_PRICE].value = machines[machine].price_usd * USD;
        values[RENT_MACHINE_PRICE].source = machines[machine].source;
    }
    if (!values[RENT_SUPPORT].given) {
        /* A price of one's own comes without the support of somebody else's. */
        bool own = values[RENT_MACHINE_PRICE].given;
        values[RENT_SUPPORT].value = own ? 0 : machines[machine].support_usd * USD;
        values[RENT_SUPPORT].source = own ? NULL : machines[machine].source;
    }
    if (!values[RENT_GPUS].given)
        values[RENT_GPUS].value = values[RENT_GPUS_PER_MACHINE].value;
}

struct ownership_input owning_input(const struct tool_value *values)
{
    return (struct ownership_input){
        .machine_microusd = values[RENT_MACHINE_PRICE].value,
        .support_microusd = values[RENT_SUPPORT].value,
        .gpus_per_machine = values[RENT_GPUS_PER_MACHINE].value,
        .gpus = values[RENT_GPUS].value,
        .years_milli = (int32_t)values[RENT_YEARS].value,
        .sales_tax_percent_milli = (int32_t)values[RENT_SALES_TAX].value,
        .network_percent_milli = (int32_t)values[RENT_NETWORK].value,
        .spares_percent_milli = (int32_t)values[RENT_SPARES].value,
        .power_kw_per_gpu_milli = (int32_t)values[RENT_POWER].value,
        .hosting_per_kw_month_microusd = values[RENT_HOSTING_PRICE].value,
        .remote_hands_per_hour_microusd = values[RENT_HANDS_PRICE].value,
        .remote_hands_hours_milli = (int32_t)values[RENT_HANDS_HOURS].value,
        .downtime_percent_milli = (int32_t)values[RENT_DOWNTIME].value,
        .people_per_month_microusd = values[RENT_PEOPLE].value,
        .finance_percent_milli = (int32_t)values[RENT_FINANCE].value,
        .residual_percent_milli = (int32_t)values[RENT_RESIDUAL].value,
        .electricity_per_kwh_microusd = values[RENT_ELECTRICITY].value,
        .pue_milli = (int32_t)values[RENT_PUE].value,
        .site_per_kw_microusd = values[RENT_SITE_PRICE].value,
        .site_years_milli = (int32_t)values[RENT_SITE_YEARS].value,
    };
}

/* Everything left out, and this machine. */
static struct ownership default_cost(size_t machine)
{
    struct tool_value values[RENT_INPUT_COUNT];
    struct ownership own;
    for (size_t i = 0; i < RENT_INPUT_COUNT; i++)
        values[i] = (struct tool_value){.value = inputs[i].fallback};
    owning_choose_machine(values, machine);
    struct ownership_input input = owning_input(values);
    (void)ownership_cost(&input, HOSTING_COLOCATION, &own);
    return own;
}

/* Parts that were published as one figure, as bits 1 << part, and the figure in cents. */
static const struct {
    const char *what;
    unsigned parts;
    int64_t cents;
} figures[] = {
    {"machine", 1U << OWNERSHIP_MACHINE, 100},
    {"machine with tax", 1U << OWNERSHIP_MACHINE | 1U << OWNERSHIP_SALES_TAX, 110},
    {"network", 1U << OWNERSHIP_NETWORK, 20},
    {"power, hosting and remote hands", 1U << OWNERSHIP_HOSTING | 1U << OWNERSHIP_REMOTE_HANDS, 30},
    {"spares and the downtime they do not cover", 1U << OWNERSHIP_SPARES | 1U << OWNERSHIP_DOWNTIME,
     10},
    {"in all, about", (1U << OWNERSHIP_PART_COUNT) - 1, 170},
};

static void write_figures(struct buf *out)
{
    struct ownership own = default_cost(0);
    buf_add_json_key(out, "figures");
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        int64_t exact =
            figures[i].parts == (1U << OWNERSHIP_PART_COUNT) - 1 ? own.total_microusd : 0;
        for (unsigned part = 0; exact != own.total_microusd && part < OWNERSHIP_PART_COUNT; part++)
            exact += (figures[i].parts >> part & 1) != 0 ? own.part_microusd[part] : 0;
        buf_add_string(out, i == 0 ? "[{" : ",{");
        buf_add_json_member_string(out, "what", figures[i].what);
        buf_add_json_member_decimal(out, "exact_per_gpu_hour", exact, 6);
        buf_add_json_member_decimal(out, "published_per_gpu_hour", figures[i].cents, 2);
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
}

static void write_machines(struct buf *out)
{
    buf_add_json_key(out, "machines");
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        struct ownership own = default_cost(i);
        buf_add_string(out, i == 0 ? "[{" : ",{");
        buf_add_json_member_string(out, "machine", machines[i].name);
        buf_add_json_member_int(out, "machine_price_usd", machines[i].price_usd);
        buf_add_json_member_int(out, "support_usd", machines[i].support_usd);
        buf_add_json_member_decimal(out, "total_per_gpu_hour", own.total_microusd, 6);
        buf_add_json_member_string(out, "source", machines[i].source);
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
}

static struct buf published;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_published(void)
{
    buf_add_char(&published, '{');
    buf_add_json_member_string(&published, "source", PUBLISHED ", everything at its default");
    write_figures(&published);
    write_machines(&published);
    buf_add_char(&published, '}');
}

void owning_write_published(struct buf *out)
{
    pthread_once(&once, make_published);
    buf_add_json_key(out, "published");
    buf_add(out, published.data, published.length);
}
