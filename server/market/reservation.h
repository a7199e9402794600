/* Reserving against paying on demand: what a reservation commits to, when it pays, by how much. All
 * sums are whole micro-dollars. A month has HOURS_PER_MONTH hours where a reservation is concerned,
 * as its price is for every hour of its term, used or not. Pure; any thread. */
#ifndef RACKRATE_MARKET_RESERVATION_H
#define RACKRATE_MARKET_RESERVATION_H

#include "server/model/price.h"

/* Most GPUs and the dearest GPU-hour a calculator takes, and the most hours a month has. */
#define CALCULATOR_GPUS_MAX           1000000
#define CALCULATOR_PRICE_MAX_MICROUSD INT64_C(10000000000)
#define HOURS_PER_MONTH_MAX_MILLI     744000

/* What reserving commits to. */
struct commitment_sums {
    int64_t total_microusd;   /* price x 730 h x months x GPUs, exactly */
    int64_t at_once_microusd; /* upfront_percent of it, half-even */
    int32_t term_months;
};

/* The commitment of so many GPUs at an effective price (upfront included) per GPU-hour; an upfront
 * share of UNKNOWN is none. False where a sum is above 9.2 trillion USD. */
bool reservation_sums(int64_t per_gpu_hour_microusd, int32_t term_months,
                      int32_t upfront_percent_milli, int64_t gpus, struct commitment_sums *ret);

/* What has been paid when `month` (0 to term_months) months are over: the part due at once, and the
 * rest month by month as evenly as whole micro-dollars allow. At the end it is the total, to the
 * micro-dollar. */
int64_t reservation_paid(const struct commitment_sums *sums, int32_t month);

/* What a GPU-hour costs beside the part due at once, half-even. */
int64_t reservation_hourly_rest(int64_t per_gpu_hour_microusd, int32_t upfront_percent_milli);

struct reservation_input {
    int64_t reserved_microusd;  /* per GPU-hour, upfront included, 1 to CALCULATOR_PRICE_MAX… */
    int64_t on_demand_microusd; /* per GPU-hour now */
    int32_t term_months;        /* 1 to PRICE_TERM_MONTHS_MAX */
    int32_t upfront_percent_milli;
    int32_t hours_per_month_milli; /* expected use of each GPU, 0 to HOURS_PER_MONTH_MAX_MILLI */
    int32_t fall_percent_milli;    /* expected yearly fall of the on-demand price */
    int64_t gpus;                  /* 1 to CALCULATOR_GPUS_MAX */
};

enum cheaper { CHEAPER_RESERVED, CHEAPER_ON_DEMAND, CHEAPER_NEITHER };
const char *cheaper_name(enum cheaper cheaper);

struct reservation_result {
    struct commitment_sums sums;
    int64_t on_demand_microusd; /* spent over the term at the expected hours and prices */
    enum cheaper cheaper;
    int64_t saving_microusd;              /* of the cheaper way */
    int64_t saving_percent_micro;         /* of what the dearer way costs */
    int64_t discount_percent_micro;       /* of the reserved price against on-demand now */
    int64_t break_even_utilization_micro; /* reserved / on-demand: above it reserving pays */
    int64_t break_even_hours_micro;       /* the same in hours of use a month */
    int64_t break_even_hours_of_term_micro;
    /* The same with the expected fall: total commitment / on-demand prices of all months; UNKNOWN
     * where these are nothing. */
    int64_t falling_utilization_micro;
    /* The first month at whose end on-demand would have cost as much as all of the commitment (who
     * needs the GPUs that long loses nothing by reserving); UNKNOWN where that is not in the term.
     */
    int32_t break_even_month;
    /* The first month in which the expected hours on demand cost less than a month of the
     * reservation; UNKNOWN never. */
    int32_t on_demand_cheaper_from_month;
    /* The yearly fall at which both ways cost the same, in hundredths of a percent, rounded up;
     * UNKNOWN where on-demand is no dearer even without a fall, or dearer with any. */
    int32_t break_even_fall_percent_centi;
};

/* False where a sum is above 9.2 trillion USD. */
bool reservation_compare(const struct reservation_input *input, struct reservation_result *ret);

/* 1 - price / other in millionths of a percent (12.5 % is 12500000), half-even; negative where the
 * price is above. other > 0. */
int64_t discount_percent_micro(int64_t microusd, int64_t other_microusd);

#endif
