/* Fractions are brought to lowest terms only when a product would not fit: most sums of a few parts
 * never need it. Products are checked by division and made of unsigned numbers, as the compiler's
 * own checks of 128-bit products need a run-time library that is not everywhere. */
#include "server/market/rational.h"

typedef unsigned __int128 u128;

#define I128_MAX ((__int128)(~(u128)0 >> 1))

static const struct rational not_valid = {0, 0};

static u128 magnitude(__int128 value)
{
    return value < 0 ? (u128)0 - (u128)value : (u128)value;
}

/* False where the product is above I128_MAX in magnitude. */
static bool multiply(__int128 a, __int128 b, __int128 *ret)
{
    u128 x = magnitude(a), y = magnitude(b);
    /* Both below 2^63: no division is needed to know. */
    if (((x | y) >> 63) != 0 && x != 0 && y > (u128)I128_MAX / x)
        return false;
    u128 product = x * y;
    *ret = (a < 0) != (b < 0) ? -(__int128)product : (__int128)product;
    return true;
}

static bool add(__int128 a, __int128 b, __int128 *ret)
{
    if (b >= 0 ? a > I128_MAX - b : a < -I128_MAX - b)
        return false;
    *ret = a + b;
    return true;
}

static unsigned zeros(u128 value)
{
    uint64_t low = (uint64_t)value;
    return low != 0 ? (unsigned)__builtin_ctzll(low)
                    : 64 + (unsigned)__builtin_ctzll((uint64_t)(value >> 64));
}

/* Greatest common divisor by halving (Stein); b > 0. */
static u128 divisor(u128 a, u128 b)
{
    if (a == 0)
        return b;
    unsigned shift = zeros(a | b);
    a >>= zeros(a);
    while (b != 0) {
        b >>= zeros(b);
        if (a > b) {
            u128 swap = a;
            a = b;
            b = swap;
        }
        b -= a;
    }
    return a << shift;
}

static void reduce(__int128 *a, __int128 *b)
{
    __int128 common = (__int128)divisor(magnitude(*a), magnitude(*b));
    *a /= common;
    *b /= common;
}

static bool try_multiply(struct rational a, struct rational b, struct rational *ret)
{
    return multiply(a.numerator, b.numerator, &ret->numerator) &&
           multiply(a.denominator, b.denominator, &ret->denominator);
}

struct rational rational_multiply(struct rational a, struct rational b)
{
    struct rational product;
    if (!rational_valid(a) || !rational_valid(b))
        return not_valid;
    if (try_multiply(a, b, &product))
        return product;
    reduce(&a.numerator, &a.denominator);
    reduce(&b.numerator, &b.denominator);
    reduce(&a.numerator, &b.denominator);
    reduce(&b.numerator, &a.denominator);
    return try_multiply(a, b, &product) ? product : not_valid;
}

struct rational rational_divide(struct rational a, struct rational b)
{
    if (!rational_valid(b) || b.numerator == 0)
        return not_valid;
    struct rational inverse = {b.denominator, b.numerator};
    if (inverse.denominator < 0)
        inverse = (struct rational){-b.denominator, -b.numerator};
    return rational_multiply(a, inverse);
}

static bool try_add(struct rational a, struct rational b, struct rational *ret)
{
    if (a.denominator == b.denominator) {
        ret->denominator = a.denominator;
        return add(a.numerator, b.numerator, &ret->numerator);
    }
    __int128 left, right;
    return multiply(a.numerator, b.denominator, &left) &&
           multiply(b.numerator, a.denominator, &right) && add(left, right, &ret->numerator) &&
           multiply(a.denominator, b.denominator, &ret->denominator);
}

struct rational rational_add(struct rational a, struct rational b)
{
    struct rational sum;
    if (!rational_valid(a) || !rational_valid(b))
        return not_valid;
    if (try_add(a, b, &sum))
        return sum;
    reduce(&a.numerator, &a.denominator);
    reduce(&b.numerator, &b.denominator);
    if (try_add(a, b, &sum))
        return sum;
    /* Over the least common denominator. */
    __int128 of_a = a.denominator, of_b = b.denominator, left, right;
    reduce(&of_a, &of_b);
    if (multiply(a.numerator, of_b, &left) && multiply(b.numerator, of_a, &right) &&
        add(left, right, &sum.numerator) && multiply(a.denominator, of_b, &sum.denominator))
        return sum;
    return not_valid;
}

struct rational rational_subtract(struct rational a, struct rational b)
{
    b.numerator = -b.numerator;
    return rational_add(a, b);
}

__int128 round_half_even(__int128 numerator, __int128 denominator)
{
    __int128 quotient = numerator / denominator;
    u128 rest = magnitude(numerator % denominator), other = (u128)denominator - rest;
    if (rest > other || (rest == other && (quotient & 1) != 0))
        quotient += numerator < 0 ? -1 : 1;
    return quotient;
}

bool rational_round(struct rational value, unsigned decimals, int64_t *ret)
{
    int64_t scale = 1;
    for (unsigned i = 0; i < decimals; i++)
        scale *= 10;
    if (decimals > 0)
        value = rational_multiply(value, rational_of(scale, 1));
    *ret = 0;
    if (!rational_valid(value))
        return false;
    __int128 rounded = round_half_even(value.numerator, value.denominator);
    if (rounded > INT64_MAX || rounded < INT64_MIN)
        return false;
    *ret = (int64_t)rounded;
    return true;
}
