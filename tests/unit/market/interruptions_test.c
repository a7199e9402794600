/* Interruptions: published rates, Daly's own examples, and spares against brute force. */
#include "server/market/interruptions.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

TestSuite(interruptions, .timeout = 60);

/* One failure a month (730 h) and 100 GPUs. */
static const struct failure_rate rule = {1000000, 100, 30417}; /* 730 h are 30.4167 days */
/* Llama 3: 419 unexpected interruptions in 54 days on 16,384 GPUs. */
static const struct failure_rate llama3 = {419000000, 16384, 54000};

static int64_t milli(struct rational value)
{
    int64_t rounded;
    cr_assert(rational_round(value, 3, &rounded));
    return rounded;
}

Test(interruptions, published_rates)
{
    cr_expect(milli(interruptions_expected(&llama3, 16384, 54000)) == 419000);
    cr_expect(milli(interruptions_mean_hours(&llama3, 16384)) == 3093, "one every three hours");
    cr_expect(milli(interruptions_expected(&llama3, 2048, 27000)) == 26188);
    cr_expect(llabs(milli(interruptions_expected(&rule, 1024, 30000)) - 10100) < 2);
    cr_expect(llabs(milli(interruptions_expected(&rule, 2048, 27000)) - 18180) < 2);
    cr_expect(llabs(milli(interruptions_mean_hours(&rule, 1024)) - 71289) < 5);
    struct failure_rate none = {0, 1, 1000};
    cr_expect(!rational_valid(interruptions_mean_hours(&none, 5)));
}

/* Figures 3 to 5 of Daly's paper: checkpoints take 5 minutes. */
Test(interruptions, best_intervals_of_the_paper)
{
    cr_expect(lround(checkpoint_interval_daly(5, 24 * 60)) == 117);
    cr_expect(lround(checkpoint_interval_daly(5, 6 * 60)) == 57);
    cr_expect(lround(10 * checkpoint_interval_daly(5, 15)) == 91);
    cr_expect(lround(checkpoint_interval_young(5, 24 * 60)) == 120);
    cr_expect(checkpoint_interval_daly(40, 20) == 20);
}

Test(interruptions, the_best_interval_loses_least)
{
    static const double means[] = {15, 60, 360, 1440, 43800};
    for (size_t i = 0; i < sizeof(means) / sizeof(means[0]); i++) {
        double best = checkpoint_interval_daly(5, means[i]);
        double lost = checkpoint_time_lost(best, 5, 10, means[i]);
        cr_expect(lost > 0 && lost < 1);
        cr_expect(checkpoint_time_lost(best * 2, 5, 10, means[i]) > lost);
        cr_expect(checkpoint_time_lost(best / 2, 5, 10, means[i]) > lost);
        /* No other interval does better by more than a thousandth. */
        for (double other = best / 4; other < best * 4; other *= 1.02)
            cr_expect(checkpoint_time_lost(other, 5, 10, means[i]) > lost - 0.001);
    }
    /* To first order: writing, half an interval of rework, a restart. */
    double first = 5.0 / 125 + 62.5 / 43800 + 10.0 / 43800;
    cr_expect(fabs(checkpoint_time_lost(120, 5, 10, 43800) - first) < 0.0002);
}

/* A month of runs, simulated. */
Test(interruptions, time_lost_agrees_with_a_simulation)
{
    srand48(7);
    const double interval = 57, write = 5, restart = 10, mean = 360;
    double wall = 0, work = 0, next = -mean * log(1 - drand48());
    while (work < 3e6) {
        /* Until a segment and its checkpoint are done. */
        double need = interval + write;
        while (next < need) {
            wall += next;
            /* Restarts can fail too. */
            next = -mean * log(1 - drand48());
            while (next < restart) {
                wall += next;
                next = -mean * log(1 - drand48());
            }
            wall += restart;
            next -= restart;
        }
        wall += need;
        next -= need;
        work += interval;
    }
    double lost = checkpoint_time_lost(interval, write, restart, mean);
    cr_expect(fabs(lost - (1 - work / wall)) < 0.005, "%f, %f simulated", lost, 1 - work / wall);
}

Test(interruptions, spares_against_brute_force)
{
    static const double means[] = {0.01, 0.5, 1, 3.7, 20, 150};
    static const double wanted[] = {0.5, 0.9, 0.99, 0.999, 0.99999};
    for (size_t i = 0; i < sizeof(means) / sizeof(means[0]); i++) {
        for (size_t k = 0; k < sizeof(wanted) / sizeof(wanted[0]); k++) {
            double term = exp(-means[i]), sum = term;
            int64_t spares = 0;
            while (sum < wanted[k])
                sum += term *= means[i] / (double)++spares;
            cr_expect(spares_needed(means[i], wanted[k], 100000) == spares, "%g at %g", means[i],
                      wanted[k]);
        }
    }
    cr_expect(spares_needed(0, 0.999, 10) == 0);
    cr_expect(spares_needed(3.7, 0.999, 5) == -1, "more than there are nodes");
    /* A large fleet: mean 10,000 down, a standard deviation of 100. */
    int64_t large = spares_needed(10000, 0.99, 1000000);
    cr_expect(llabs(large - 10233) <= 2, "%lld", (long long)large);
}
