/* Counts stay exact fractions; only chances and square roots are doubles. */
#include "server/market/interruptions.h"

#include <math.h>

#define HOURS_PER_DAY 24

struct rational interruptions_expected(const struct failure_rate *rate, int64_t gpus,
                                       int64_t days_milli)
{
    struct rational per_gpu_day = rational_divide(
        rational_of(rate->interruptions_micro, 1000000),
        rational_multiply(rational_of(rate->gpus, 1), rational_of(rate->days_milli, 1000)));
    return rational_multiply(
        per_gpu_day, rational_multiply(rational_of(gpus, 1), rational_of(days_milli, 1000)));
}

struct rational interruptions_mean_hours(const struct failure_rate *rate, int64_t gpus)
{
    return rational_divide(rational_of(HOURS_PER_DAY, 1), interruptions_expected(rate, gpus, 1000));
}

int64_t spares_needed(double mean_down, double availability, int64_t nodes)
{
    if (mean_down <= 0)
        return 0;
    /* Terms far below the mean add nothing (12 standard deviations: under 1e-30), so the sum starts
     * there, in logarithms as e^-mean is below what a double holds. */
    double from = floor(mean_down - 12 * sqrt(mean_down));
    int64_t down = from > 0 ? (int64_t)from : 0;
    int sign;
    double term =
        exp((double)down * log(mean_down) - mean_down - lgamma_r((double)down + 1, &sign));
    double sum = term;
    while (sum < availability) {
        if (++down > nodes)
            return -1;
        term *= mean_down / (double)down;
        /* The tail is so thin that it no longer adds up: rounding is all that is missing. */
        if (term < 1e-18 && (double)down > mean_down)
            break;
        sum += term;
    }
    return down > nodes ? -1 : down;
}

double checkpoint_interval_young(double write, double mean)
{
    return sqrt(2 * write * mean);
}

double checkpoint_interval_daly(double write, double mean)
{
    if (write >= 2 * mean)
        return mean;
    double ratio = write / (2 * mean);
    return sqrt(2 * write * mean) * (1 + sqrt(ratio) / 3 + ratio / 9) - write;
}

double checkpoint_time_lost(double interval, double write, double restart, double mean)
{
    if (interval <= 0) /* the limit: only restarts are left */
        return -expm1(-restart / mean);
    double wall = mean * exp(restart / mean) * expm1((interval + write) / mean);
    return 1 - interval / wall;
}
