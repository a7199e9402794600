/* What an order costs in all: compute in whole nodes, what is due at once, and the extra costs as
 * far as the offer tells them. What it does not tell stays unknown and is counted in no sum. Pure;
 * any thread. */
#ifndef RACKRATE_MARKET_WHOLE_COST_H
#define RACKRATE_MARKET_WHOLE_COST_H

#include "server/model/offer.h"

struct whole_cost_input {
    int32_t gpu_count_milli; /* of a node */
    struct extra_costs extra_costs;
    int64_t gpus;                  /* wanted; nodes are rounded up */
    int32_t months;                /* 1 to PRICE_TERM_MONTHS_MAX */
    int32_t hours_per_month_milli; /* of use; a reservation is paid for every hour all the same */
    int32_t
        runs_per_month; /* how often machines are started, for what is billed by the increment */
    int64_t egress_gb_milli;  /* a month */
    int64_t storage_gb_milli; /* kept all along */
};

/* Parts of the cost; each UNKNOWN where the offer does not say what it costs. */
struct whole_cost {
    int64_t nodes;
    int32_t terms;               /* reservations one after the other; 0 unless reserved */
    int64_t billed_hours_milli;  /* of each node in all the months, half-even */
    int64_t compute_microusd;    /* of these hours; what is due at once included */
    int64_t at_once_microusd;    /* part of compute, at the start of the first term */
    int64_t increments_microusd; /* hours billed but not used, as runs are rounded up; UNKNOWN where
                                    neither increment nor minimum is known; 0 when reserved */
    int64_t egress_microusd;
    int64_t storage_microusd;
    int64_t total_microusd; /* of what is known */
    int64_t
        per_used_gpu_hour_microusd; /* total / (wanted GPUs x hours used); UNKNOWN for no hours */
};

/* False where a sum is above 9.2 trillion USD. */
bool whole_cost_compute(const struct whole_cost_input *input, const struct price *price,
                        struct whole_cost *ret);

#endif
