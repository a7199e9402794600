/* Renting or buying: what a GPU-hour of an own machine costs, part by part, and when owning has
 * cost less than renting would have. Parts are exact fractions until they are printed. Pure; any
 * thread.
 *
 * The model and its defaults follow a breakdown published in August 2024 for an 8-GPU HGX H100 in a
 * rented cage; the own site is the same machine in a building of one's own. Where the figures come
 * from stands beside each input in server/api/tools_rent_or_buy.c. */
#ifndef RACKRATE_MARKET_RENT_OR_BUY_H
#define RACKRATE_MARKET_RENT_OR_BUY_H

#include "server/market/reservation.h"

#define HOURS_PER_YEAR           8760
#define OWNED_YEARS_MAX_MILLI    20000
#define OWNED_DOWNTIME_MAX_MILLI 99000 /* percent in thousandths */

/* Where an own machine stands. */
enum hosting { HOSTING_COLOCATION, HOSTING_OWN_SITE, HOSTING_COUNT };
const char *hosting_name(enum hosting hosting);

/* Money in micro-dollars, percentages in thousandths of a percent. */
struct ownership_input {
    int64_t machine_microusd;
    int64_t support_microusd; /* of a machine, for all the years; 0 none */
    int64_t gpus_per_machine;
    int64_t gpus;        /* wanted; machines are rounded up */
    int32_t years_milli; /* of straight-line depreciation; the comparison ends there */
    int32_t sales_tax_percent_milli;
    int32_t network_percent_milli; /* of the machine, before tax */
    int32_t spares_percent_milli;  /* of machine and network, before tax */
    int32_t power_kw_per_gpu_milli;
    int64_t hosting_per_kw_month_microusd; /* in colocation, power included */
    int64_t remote_hands_per_hour_microusd;
    int32_t remote_hands_hours_milli;     /* a machine and quarter */
    int32_t downtime_percent_milli;       /* of the time a machine stands still; below 100 % */
    int64_t people_per_month_microusd;    /* for all of it; 0 none */
    int32_t finance_percent_milli;        /* yearly interest on what is not yet depreciated */
    int32_t residual_percent_milli;       /* of the machine's price, got back at the end */
    int64_t electricity_per_kwh_microusd; /* at an own site, from here on */
    int32_t pue_milli;                    /* power of the site / power of the machines */
    int64_t site_per_kw_microusd;         /* to build, by kW of the machines */
    int32_t site_years_milli;             /* over which that is spread */
};

/* Parts of a GPU-hour. */
#define OWNERSHIP_PARTS(X)                                                                         \
    X(MACHINE, "machine") /* straight-line: price / (GPUs x hours of the years) */                 \
    X(SALES_TAX, "sales_tax")                                                                      \
    X(NETWORK, "network")                                                                          \
    X(SUPPORT, "support")                                                                          \
    X(HOSTING, "power_and_hosting") /* the cage and its power, or electricity and building */      \
    X(REMOTE_HANDS, "remote_hands") /* in colocation only */                                       \
    X(SPARES, "spares")                                                                            \
    X(PEOPLE, "people")                                                                            \
    X(FINANCE, "finance")                                                                          \
    X(RESIDUAL, "residual_value") /* negative */                                                   \
    X(DOWNTIME, "downtime")       /* what all of the above costs while the machine stands */
enum ownership_part {
#define X(name, text) OWNERSHIP_##name,
    OWNERSHIP_PARTS(X)
#undef X
        OWNERSHIP_PART_COUNT
};
const char *ownership_part_name(enum ownership_part part);

struct ownership {
    int64_t machines;
    int64_t part_microusd[OWNERSHIP_PART_COUNT]; /* per usable GPU-hour, half-even each */
    int64_t total_microusd;   /* per usable GPU-hour: the exact sum, half-even once */
    int64_t capital_microusd; /* for all machines: machines, tax, network, spares, support */
    int64_t monthly_microusd; /* for all machines: hosting, remote hands, people; half-even */
};

/* False where a sum is above 9.2 trillion USD or the numbers are too long to be added exactly. */
bool ownership_cost(const struct ownership_input *input, enum hosting hosting,
                    struct ownership *ret);

/* How one would rent instead. */
struct renting_input {
    int64_t price_microusd;     /* per GPU-hour now */
    bool by_use;                /* on demand: only hours of use are paid; else all */
    int32_t utilization_micro;  /* share of all hours in use, 0 to 1,000,000 */
    int32_t fall_percent_milli; /* expected yearly fall of the price */
};

#define RENT_OR_BUY_POINTS_MAX (OWNED_YEARS_MAX_MILLI / 1000 + 2)

struct rent_or_buy {
    int32_t months;          /* compared: the years of depreciation, rounded up to whole months */
    int32_t overtakes_month; /* first month at whose end buying has cost less than renting; UNKNOWN
                                never */
    int64_t buying_microusd; /* at the end, the residual value taken off */
    int64_t renting_microusd;
    /* Rented GPU-hours a month / all of them, above which buying is cheaper over all the months:
     * in millionths; UNKNOWN where renting costs nothing. */
    int64_t break_even_utilization_micro;
    /* What both have cost by the start and at the end of every year. */
    struct rent_or_buy_point {
        int32_t month;
        int64_t buying_microusd, renting_microusd;
    } points[RENT_OR_BUY_POINTS_MAX];
    size_t point_count;
};

/* Compares month by month. Capital is paid at the start; interest falls as the capital is paid back
 * in equal monthly parts; the residual value comes in at the end of the last month. As renters have
 * all the hours they pay for, owning is dearer by its downtime. False as ownership_cost. */
bool rent_or_buy_compare(const struct ownership_input *owning, enum hosting hosting,
                         const struct renting_input *renting, struct rent_or_buy *ret);

#endif
