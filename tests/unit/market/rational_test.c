/* Exact fractions, against numbers small enough to be checked by other means. */
#include "server/market/rational.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(rational, .timeout = 20);

static struct rational draw(void)
{
    return rational_of(random() % 20001 - 10000, 1 + random() % 10000);
}

static bool same(struct rational a, struct rational b)
{
    return rational_valid(a) && rational_valid(b) &&
           a.numerator * b.denominator == b.numerator * a.denominator;
}

Test(rational, laws_hold_on_random_fractions)
{
    srandom(5);
    for (int i = 0; i < 20000; i++) {
        struct rational a = draw(), b = draw(), c = draw();
        cr_assert(same(rational_add(a, b), rational_add(b, a)));
        cr_assert(same(rational_subtract(rational_add(a, b), b), a));
        cr_assert(same(rational_multiply(a, rational_add(b, c)),
                       rational_add(rational_multiply(a, b), rational_multiply(a, c))));
        if (b.numerator != 0)
            cr_assert(same(rational_multiply(rational_divide(a, b), b), a));
    }
}

Test(rational, long_sums_come_back_to_where_they_started)
{
    /* Denominators whose product has over 200 bits: only in lowest terms do they fit. */
    struct rational sum = rational_of(1, 7);
    for (int64_t i = 1; i <= 60; i++)
        sum = rational_add(sum, rational_of(i, INT64_C(1000000) * i));
    for (int64_t i = 1; i <= 60; i++)
        sum = rational_subtract(sum, rational_of(i, INT64_C(1000000) * i));
    cr_expect(same(sum, rational_of(1, 7)));
    struct rational product = rational_of(3, 1);
    for (int i = 0; i < 40; i++)
        product = rational_multiply(product, rational_of(1000003, 999983));
    cr_expect(!rational_valid(product), "does not fit, and says so");
    cr_expect(!rational_valid(rational_add(product, rational_of(1, 1))), "and stays so");
    cr_expect(!rational_valid(rational_divide(rational_of(1, 1), rational_of(0, 1))));
    struct rational large = rational_of(INT64_MAX, 3);
    for (int i = 0; i < 20; i++) {
        large = rational_multiply(large, rational_of(INT64_MAX, 5));
        large = rational_divide(large, rational_of(INT64_MAX, 5));
    }
    cr_expect(same(large, rational_of(INT64_MAX, 3)));
}

Test(rational, rounds_half_to_even)
{
    static const struct {
        int64_t numerator, denominator;
        unsigned decimals;
        int64_t rounded;
    } cases[] = {
        {1, 2, 0, 0},   {3, 2, 0, 2},      {5, 2, 0, 2},      {-1, 2, 0, 0},       {-3, 2, 0, -2},
        {-5, 2, 0, -2}, {2, 3, 6, 666667}, {1, 3, 6, 333333}, {-2, 3, 6, -666667}, {7, 1, 3, 7000},
    };
    int64_t rounded;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_expect(rational_round(rational_of(cases[i].numerator, cases[i].denominator),
                                 cases[i].decimals, &rounded));
        cr_expect(rounded == cases[i].rounded, "case %zu: %lld", i, (long long)rounded);
    }
    cr_expect(!rational_round(rational_of(INT64_MAX, 1), 6, &rounded) && rounded == 0);
}
