/* All parts are first what the whole lot of machines costs over its life, or in a month, and then
 * divided by the GPU-hours that can be used. */
#include "server/market/rent_or_buy.h"

#include "server/base/decimal.h"
#include "server/market/price_path.h"
#include "server/market/rational.h"

#define PERCENT_MILLI INT64_C(100000)
#define MILLI         INT64_C(1000)
#define MILLION       INT64_C(1000000)

const char *hosting_name(enum hosting hosting)
{
    static const char *const names[HOSTING_COUNT] = {"colocation", "own_site"};
    return names[hosting];
}

const char *ownership_part_name(enum ownership_part part)
{
    static const char *const names[OWNERSHIP_PART_COUNT] = {
#define X(name, text) [OWNERSHIP_##name] = text,
        OWNERSHIP_PARTS(X)
#undef X
    };
    return names[part];
}

static struct rational times(struct rational a, int64_t numerator, int64_t denominator)
{
    return rational_multiply(a, rational_of(numerator, denominator));
}

static struct rational share(struct rational a, int32_t percent_milli)
{
    return times(a, percent_milli, PERCENT_MILLI);
}

/* Nobody is billed a part of a micro-dollar. */
static struct rational billed(struct rational amount)
{
    int64_t whole;
    return rational_round(amount, 0, &whole) ? rational_of(whole, 1) : (struct rational){0, 0};
}

/* Micro-dollars of the whole lot, each a whole number: paid once (or coming back), or every month.
 */
struct lot {
    int64_t machines;
    struct rational machine, tax, network, spares, support, residual; /* once */
    struct rational hosting, remote_hands, people;                    /* every month */
    struct rational capital, monthly;
    struct rational months; /* of the life, a fraction */
    struct rational usable; /* share of the time that machines work */
};

static struct rational monthly_hosting(const struct ownership_input *input, enum hosting hosting,
                                       struct rational kilowatts)
{
    if (hosting == HOSTING_COLOCATION)
        return times(kilowatts, input->hosting_per_kw_month_microusd, 1);
    struct rational electricity = times(times(kilowatts, input->pue_milli, MILLI),
                                        HOURS_PER_MONTH * input->electricity_per_kwh_microusd, 1);
    struct rational building = times(times(kilowatts, input->site_per_kw_microusd, 1), MILLI,
                                     INT64_C(12) * input->site_years_milli);
    return rational_add(electricity, building);
}

static struct lot make_lot(const struct ownership_input *input, enum hosting hosting)
{
    struct lot lot = {.machines =
                          (input->gpus + input->gpus_per_machine - 1) / input->gpus_per_machine};
    struct rational gpus = rational_of(lot.machines * input->gpus_per_machine, 1);
    lot.machine = billed(times(rational_of(input->machine_microusd, 1), lot.machines, 1));
    lot.tax = billed(share(lot.machine, input->sales_tax_percent_milli));
    lot.network = billed(share(lot.machine, input->network_percent_milli));
    lot.spares = billed(share(rational_add(lot.machine, lot.network), input->spares_percent_milli));
    lot.support = billed(times(rational_of(input->support_microusd, 1), lot.machines, 1));
    lot.residual = billed(share(lot.machine, input->residual_percent_milli));
    lot.hosting =
        billed(monthly_hosting(input, hosting, times(gpus, input->power_kw_per_gpu_milli, MILLI)));
    int64_t hands = hosting == HOSTING_COLOCATION ? input->remote_hands_per_hour_microusd : 0;
    lot.remote_hands = billed(times(
        times(rational_of(hands, 1), input->remote_hands_hours_milli, 3 * MILLI), lot.machines, 1));
    lot.people = rational_of(input->people_per_month_microusd, 1);
    lot.capital = rational_add(rational_add(lot.machine, lot.tax),
                               rational_add(lot.network, rational_add(lot.spares, lot.support)));
    lot.monthly = rational_add(lot.hosting, rational_add(lot.remote_hands, lot.people));
    lot.months = rational_of(INT64_C(12) * input->years_milli, MILLI);
    lot.usable = rational_of(PERCENT_MILLI - input->downtime_percent_milli, PERCENT_MILLI);
    return lot;
}

/* Interest paid by the end of a month: each month a twelfth of the yearly rate on what is left of
 * the capital, of which an equal part is paid back at its end. Over n months that is
 * capital x rate / 12 x (m - m (m - 1) / 2n). */
static struct rational interest(const struct lot *lot, const struct ownership_input *input,
                                struct rational month)
{
    struct rational less = rational_divide(
        rational_multiply(month, rational_subtract(month, rational_of(1, 1))), lot->months);
    struct rational months = rational_subtract(month, times(less, 1, 2));
    return rational_multiply(times(share(lot->capital, input->finance_percent_milli), 1, 12),
                             months);
}

bool ownership_cost(const struct ownership_input *input, enum hosting hosting,
                    struct ownership *ret)
{
    struct lot lot = make_lot(input, hosting);
    *ret = (struct ownership){.machines = lot.machines};
    /* GPU-hours of the life and of a month, of the GPUs that were wanted. */
    struct rational month_hours = rational_of(input->gpus * HOURS_PER_MONTH, 1);
    struct rational life_hours = rational_multiply(month_hours, lot.months);
    struct rational finance =
        input->finance_percent_milli > 0 ? interest(&lot, input, lot.months) : rational_of(0, 1);
    const struct {
        enum ownership_part part;
        struct rational cost, hours;
    } parts[] = {
        {OWNERSHIP_MACHINE, lot.machine, life_hours},
        {OWNERSHIP_SALES_TAX, lot.tax, life_hours},
        {OWNERSHIP_NETWORK, lot.network, life_hours},
        {OWNERSHIP_SUPPORT, lot.support, life_hours},
        {OWNERSHIP_HOSTING, lot.hosting, month_hours},
        {OWNERSHIP_REMOTE_HANDS, lot.remote_hands, month_hours},
        {OWNERSHIP_SPARES, lot.spares, life_hours},
        {OWNERSHIP_PEOPLE, lot.people, month_hours},
        {OWNERSHIP_FINANCE, finance, life_hours},
        {OWNERSHIP_RESIDUAL, rational_subtract(rational_of(0, 1), lot.residual), life_hours},
    };
    bool good = true;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        good = rational_round(rational_divide(parts[i].cost, parts[i].hours), 0,
                              &ret->part_microusd[parts[i].part]) &&
               good;
    struct rational once = rational_add(lot.capital, rational_subtract(finance, lot.residual));
    struct rational standing =
        rational_add(rational_divide(once, life_hours), rational_divide(lot.monthly, month_hours));
    struct rational total = rational_divide(standing, lot.usable);
    return rational_round(rational_subtract(total, standing), 0,
                          &ret->part_microusd[OWNERSHIP_DOWNTIME]) &&
           rational_round(total, 0, &ret->total_microusd) &&
           rational_round(lot.capital, 0, &ret->capital_microusd) &&
           rational_round(lot.monthly, 0, &ret->monthly_microusd) && good;
}

/* What owning has cost by the end of a month, for as many usable hours as a renter has. All but the
 * interest are whole micro-dollars. */
static bool bought_by(const struct lot *lot, const struct ownership_input *input, int32_t month,
                      bool last, int64_t *ret)
{
    if (!rational_valid(lot->capital) || !rational_valid(lot->monthly) ||
        !rational_valid(lot->residual))
        return false;
    __int128 whole = lot->capital.numerator + lot->monthly.numerator * month -
                     (last ? lot->residual.numerator : 0);
    if (input->finance_percent_milli > 0) {
        struct rational months = last ? lot->months : rational_of(month, 1);
        struct rational cost =
            rational_add((struct rational){whole, 1}, interest(lot, input, months));
        return rational_round(rational_divide(cost, lot->usable), 0, ret);
    }
    whole = round_half_even(whole * PERCENT_MILLI, lot->usable.numerator);
    *ret = (int64_t)whole;
    return whole <= INT64_MAX && whole >= INT64_MIN;
}

static void add_point(struct rent_or_buy *result, int32_t month, int64_t buying, int64_t renting)
{
    result->points[result->point_count++] = (struct rent_or_buy_point){month, buying, renting};
}

bool rent_or_buy_compare(const struct ownership_input *owning, enum hosting hosting,
                         const struct renting_input *renting, struct rent_or_buy *ret)
{
    struct lot lot = make_lot(owning, hosting);
    struct price_path path = price_path_start(renting->price_microusd, renting->fall_percent_milli);
    int64_t paid_micro = renting->by_use ? renting->utilization_micro : MILLION;
    __int128 rented = 0, full = 0;
    int64_t bought;
    *ret = (struct rent_or_buy){
        .months = (int32_t)((INT64_C(12) * owning->years_milli + MILLI - 1) / MILLI),
        .overtakes_month = UNKNOWN,
        .break_even_utilization_micro = UNKNOWN};
    if (!bought_by(&lot, owning, 0, false, &bought))
        return false;
    add_point(ret, 0, bought, 0);
    for (int32_t month = 1; month <= ret->months; month++) {
        bool last = month == ret->months;
        __int128 hour = (__int128)price_path_next(&path) * HOURS_PER_MONTH * owning->gpus;
        full += hour;
        rented += round_half_even(hour * paid_micro, MILLION);
        if (!bought_by(&lot, owning, month, last, &bought) || rented > INT64_MAX)
            return false;
        if (ret->overtakes_month < 0 && bought < rented)
            ret->overtakes_month = month;
        if (month % 12 == 0 || last)
            add_point(ret, month, bought, (int64_t)rented);
    }
    ret->buying_microusd = bought;
    ret->renting_microusd = (int64_t)rented;
    if (full > 0) {
        __int128 needed = round_half_even((__int128)bought * MILLION, full);
        ret->break_even_utilization_micro = needed > INT64_MAX ? INT64_MAX : (int64_t)needed;
    }
    return true;
}
