/* Exact decimals: what is read, what is refused, and half-even rounding against an independent
 * count. */
#include "server/base/decimal.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(decimal, .timeout = 20);

Test(decimal, reads_plain_decimals)
{
    static const struct {
        const char *text;
        unsigned decimals;
        enum decimal_status status;
        int64_t value;
    } cases[] = {
        {"0", 6, DECIMAL_OK, 0},
        {"2.49", 6, DECIMAL_OK, 2490000},
        {"0.043058", 6, DECIMAL_OK, 43058},
        {"17.60", 2, DECIMAL_OK, 1760},
        {"1.0000000", 6, DECIMAL_OK, 1000000},
        {"-1.5", 1, DECIMAL_OK, -15},
        {"007", 0, DECIMAL_OK, 7},
        {"9223372036854775807", 0, DECIMAL_OK, INT64_MAX},
        {"9223372036854775808", 0, DECIMAL_OUT_OF_RANGE, 0},
        {"-9223372036854775808", 0, DECIMAL_OK, INT64_MIN},
        {"9223372036854.775808", 6, DECIMAL_OUT_OF_RANGE, 0},
        {"1.0000001", 6, DECIMAL_TOO_PRECISE, 0},
        {"", 6, DECIMAL_MALFORMED, 0},
        {".5", 6, DECIMAL_MALFORMED, 0},
        {"5.", 6, DECIMAL_MALFORMED, 0},
        {"+1", 6, DECIMAL_MALFORMED, 0},
        {"1e3", 6, DECIMAL_MALFORMED, 0},
        {"1,5", 6, DECIMAL_MALFORMED, 0},
        {" 1", 6, DECIMAL_MALFORMED, 0},
        {"NaN", 6, DECIMAL_MALFORMED, 0},
        {"Infinity", 6, DECIMAL_MALFORMED, 0},
        {"0x10", 6, DECIMAL_MALFORMED, 0},
        {"1.2.3", 6, DECIMAL_MALFORMED, 0},
        {"--1", 6, DECIMAL_MALFORMED, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t value = 0;
        enum decimal_status status =
            decimal_parse(cases[i].text, strlen(cases[i].text), cases[i].decimals, false, &value);
        cr_expect(status == cases[i].status, "\"%s\": status %d", cases[i].text, status);
        cr_expect(status != DECIMAL_OK || value == cases[i].value, "\"%s\": %lld", cases[i].text,
                  (long long)value);
    }
}

Test(decimal, rounds_half_to_even_when_allowed)
{
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {{"0.5", 0},     {"1.5", 2},  {"2.5", 2},   {"2.50001", 3},
                 {"2.49999", 2}, {"-0.5", 0}, {"-1.5", -2}, {"1.6567999999999998", 2}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t value = 99;
        cr_expect(decimal_parse(cases[i].text, strlen(cases[i].text), 0, true, &value) ==
                  DECIMAL_ROUNDED);
        cr_expect(value == cases[i].value, "%s gives %lld", cases[i].text, (long long)value);
    }
}

Test(decimal, reads_exponents_of_json_exactly)
{
    static const struct {
        const char *text;
        enum decimal_status status;
        int64_t value;
    } cases[] = {{"2e-05", DECIMAL_OK, 20},         {"1.5E2", DECIMAL_OK, 150000000},
                 {"1e-7", DECIMAL_TOO_PRECISE, 0},  {"1e300", DECIMAL_OUT_OF_RANGE, 0},
                 {"0e999", DECIMAL_OK, 0},          {"1e", DECIMAL_MALFORMED, 0},
                 {"1e-999", DECIMAL_TOO_PRECISE, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t value = 0;
        enum decimal_status status =
            decimal_parse_json(cases[i].text, strlen(cases[i].text), 6, false, &value);
        cr_expect(status == cases[i].status, "\"%s\": status %d", cases[i].text, status);
        cr_expect(status != DECIMAL_OK || value == cases[i].value, "\"%s\": %lld", cases[i].text,
                  (long long)value);
    }
}

Test(decimal, prints_what_it_reads)
{
    char text[32];
    srand(5);
    for (int i = 0; i < 20000; i++) {
        unsigned decimals = (unsigned)rand() % 7;
        int64_t value = ((int64_t)rand() << 20 ^ rand()) * (rand() % 2 ? 1 : -1), again;
        size_t length = decimal_print(value, decimals, text);
        cr_assert(decimal_parse(text, length, decimals, false, &again) == DECIMAL_OK &&
                      again == value,
                  "%s", text);
        cr_expect(decimals == 0 || strchr(text, '.') == NULL || text[length - 1] != '0',
                  "%s has no trailing zero", text);
    }
}

/* The same text by the C library: all digits, the point put in, zeros behind it cut off. */
static void print_plainly(int64_t value, unsigned decimals, char out[static 48])
{
    char digits[32];
    int length = snprintf(digits, sizeof(digits), "%0*llu", (int)decimals + 1,
                          value < 0 ? 0 - (unsigned long long)value : (unsigned long long)value);
    int whole = length - (int)decimals;
    snprintf(out, 48, "%s%.*s.%s", value < 0 ? "-" : "", whole, digits, digits + whole);
    char *end = out + strlen(out);
    while (end[-1] == '0')
        *--end = '\0';
    if (end[-1] == '.')
        end[-1] = '\0';
}

static void expect_printed(int64_t value, unsigned decimals)
{
    char got[32], want[48];
    memset(got, 'x', sizeof(got));
    size_t length = decimal_print(value, decimals, got);
    print_plainly(value, decimals, want);
    cr_assert(length == strlen(want) && memcmp(got, want, length + 1) == 0,
              "%lld of %u decimals: %.*s, not %s", (long long)value, decimals, (int)sizeof(got),
              got, want);
}

Test(decimal, prints_as_the_c_library_does_any_value_of_any_decimals)
{
    static const int64_t edges[] = {0, INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1};
    uint64_t state = 88172645463325252u, power = 1;
    for (unsigned decimals = 0; decimals <= 19; decimals++) {
        for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
            expect_printed(edges[i], decimals);
        /* Powers of ten and their neighbours. */
        power = 1;
        for (int i = 0; i < 19; i++, power *= 10) {
            for (int64_t near = -1; near <= 1; near++) {
                expect_printed((int64_t)power + near, decimals);
                expect_printed(-((int64_t)power + near), decimals);
            }
        }
        /* Random values of every length, half of them with zeros at their end. */
        for (int i = 0; i < 20000; i++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            int64_t value = (int64_t)(state >> (i % 64));
            expect_printed(i % 3 == 0 ? -value : value, decimals);
            power = 1;
            for (int zeros = i % 18; zeros > 0; zeros--)
                power *= 10;
            expect_printed(value / (int64_t)power * (int64_t)power, decimals);
        }
    }
}

Test(decimal, muldiv_is_half_even)
{
    bool overflow;
    srand(6);
    for (int i = 0; i < 20000; i++) {
        int64_t value = rand() % 2000001 - 1000000, numerator = rand() % 1000 + 1,
                denominator = rand() % 1000 + 1;
        int64_t got = decimal_muldiv_half_even(value, numerator, denominator, &overflow);
        /* The nearest multiple, and of two equally near ones the even. */
        int64_t twice = 2 * (value * numerator - got * denominator);
        cr_assert(!overflow && llabs(twice) <= denominator, "%lld x %lld / %lld", (long long)value,
                  (long long)numerator, (long long)denominator);
        cr_assert(llabs(twice) < denominator || got % 2 == 0);
    }
    cr_expect(decimal_muldiv_half_even(INT64_MAX, 2, 1, &overflow) == INT64_MAX && overflow);
    cr_expect(decimal_muldiv_half_even(INT64_MIN, 2, 1, &overflow) == INT64_MIN && overflow);
}
