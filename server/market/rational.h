/* Exact fractions of 128-bit integers, for costs that are sums of unlike parts: nothing is rounded
 * until a figure is printed. An operation whose result does not fit gives a fraction that is not
 * valid, and so does all that is computed from it: look once, at the end. Pure; any thread. */
#ifndef RACKRATE_MARKET_RATIONAL_H
#define RACKRATE_MARKET_RATIONAL_H

#include <stdbool.h>
#include <stdint.h>

struct rational {
    __int128 numerator;
    __int128 denominator; /* > 0; 0: not valid */
};

/* denominator > 0. */
static inline struct rational rational_of(int64_t numerator, int64_t denominator)
{
    return (struct rational){numerator, denominator};
}

static inline bool rational_valid(struct rational value)
{
    return value.denominator > 0;
}

struct rational rational_add(struct rational a, struct rational b);
struct rational rational_subtract(struct rational a, struct rational b);
struct rational rational_multiply(struct rational a, struct rational b);
/* Not valid where b is 0. */
struct rational rational_divide(struct rational a, struct rational b);

/* value x 10^decimals as a whole number, half to even. False where the value is not valid or the
 * result does not fit; *ret is then 0. decimals <= 9. */
bool rational_round(struct rational value, unsigned decimals, int64_t *ret);

/* The nearest whole number to numerator / denominator (> 0), half to even. */
__int128 round_half_even(__int128 numerator, __int128 denominator);

#endif
