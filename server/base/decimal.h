/* Exact decimal numbers as scaled integers: money in micro-dollars, quantities in thousandths. No
 * double anywhere. Pure; any thread. */
#ifndef RACKRATE_BASE_DECIMAL_H
#define RACKRATE_BASE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A quantity that nobody gave. Printed as null, matched by no numeric filter. */
#define UNKNOWN (-1)

enum decimal_status {
    DECIMAL_OK,
    DECIMAL_ROUNDED,   /* more digits than asked for, half-even; only with `allow_rounding` */
    DECIMAL_MALFORMED, /* not a plain decimal: empty, sign +, exponent, comma, NaN, spaces … */
    DECIMAL_TOO_PRECISE,
    DECIMAL_OUT_OF_RANGE,
};

/* Reads `length` bytes as a plain decimal (`-`? digits (`.` digits)?) into value x 10^decimals. A
 * leading `.5` or trailing `5.` is malformed. Trailing zeros beyond `decimals` are fine. On
 * DECIMAL_OK and DECIMAL_ROUNDED sets *ret_value. */
enum decimal_status decimal_parse(const char *text, size_t length, unsigned decimals,
                                  bool allow_rounding, int64_t *ret_value);

/* As decimal_parse, also taking JSON's and Python's exponent form (2e-05), exactly. For numbers
 * inside JSON documents. */
enum decimal_status decimal_parse_json(const char *text, size_t length, unsigned decimals,
                                       bool allow_rounding, int64_t *ret_value);

/* value x numerator / denominator, rounded half to even; denominator > 0. *ret_overflow (may not be
 * NULL) tells whether the result did not fit; the result is then INT64_MAX or INT64_MIN. */
int64_t decimal_muldiv_half_even(int64_t value, int64_t numerator, int64_t denominator,
                                 bool *ret_overflow);

/* Prints value / 10^decimals without trailing zeros into `out`; gives the length. 32 bytes always
 * suffice. */
size_t decimal_print(int64_t value, unsigned decimals, char out[static 32]);

#endif
