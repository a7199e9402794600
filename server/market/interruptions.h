/* Interruptions of a job on many GPUs: how many are to be expected, how many spares keep it going,
 * and what checkpoints and restarts cost in time. Counts and times, no money: doubles. Failures are
 * taken to come independently of one another (a Poisson process). Pure; any thread.
 *
 * Sources: J. W. Young, A first order approximation to the optimum checkpoint interval, CACM 17(9),
 * 1974; J. T. Daly, A higher order estimate of the optimum checkpoint interval for restart dumps,
 * FGCS 22(3), 2006. */
#ifndef RACKRATE_MARKET_INTERRUPTIONS_H
#define RACKRATE_MARKET_INTERRUPTIONS_H

#include "server/market/rational.h"

/* How often GPUs interrupt the job they are in: `interruptions` in so many days on so many GPUs. */
struct failure_rate {
    int64_t interruptions_micro; /* millionths */
    int64_t gpus;
    int64_t days_milli; /* thousandths of a day */
};

/* Interruptions to expect on `gpus` GPUs in `days_milli` thousandths of a day, exactly. */
struct rational interruptions_expected(const struct failure_rate *rate, int64_t gpus,
                                       int64_t days_milli);

/* Mean hours between interruptions; not valid where none are to be expected. */
struct rational interruptions_mean_hours(const struct failure_rate *rate, int64_t gpus);

/* The fewest spare nodes with which, at any time, the chance that no more nodes than that are under
 * repair is at least `availability` (0 to below 1). `mean_down` is how many are under repair on
 * average (failures an hour x hours of a repair); the number is Poisson distributed, however long
 * single repairs take (an M/G/infinity queue). -1 where it would take more than `nodes`. */
int64_t spares_needed(double mean_down, double availability, int64_t nodes);

/* The best time to work between two checkpoints, in the unit of both arguments: Young's square root
 * of 2 x write x mean, and Daly's estimate, which holds also where writing takes long. */
double checkpoint_interval_young(double write, double mean);
double checkpoint_interval_daly(double write, double mean);

/* The share of all time (0 to 1) that is no work kept: writing checkpoints, restarts, and work done
 * since the last checkpoint. Daly's complete model: 1 - interval / (mean x e^(restart / mean) x
 * (e^((interval + write) / mean) - 1)). mean > 0; an interval of 0 stands for ever shorter ones,
 * written in no time. */
double checkpoint_time_lost(double interval, double write, double restart, double mean);

#endif
