/* Decimals are read digit by digit into 128 bits, so that the range check is one comparison at the
 * end. */
#include "server/base/decimal.h"

#include "server/base/buf.h"

#include <string.h>

#define DECIMAL_MAX_DIGITS 400 /* longer texts are refused before any arithmetic */

struct digits {
    bool negative;
    const char *whole;
    size_t whole_length;
    const char *fraction;
    size_t fraction_length;
    int exponent;
};

static size_t digit_run(const char *text, size_t length)
{
    size_t count = 0;
    while (count < length && text[count] >= '0' && text[count] <= '9')
        count++;
    return count;
}

/* Splits text into its parts; false where it is no number of the wanted form. */
static bool split(const char *text, size_t length, bool allow_exponent, struct digits *ret)
{
    *ret = (struct digits){0};
    if (length == 0 || length > DECIMAL_MAX_DIGITS)
        return false;
    size_t at = 0;
    if (text[0] == '-') {
        ret->negative = true;
        at = 1;
    }
    ret->whole = text + at;
    ret->whole_length = digit_run(text + at, length - at);
    if (ret->whole_length == 0)
        return false;
    at += ret->whole_length;
    if (at < length && text[at] == '.') {
        at++;
        ret->fraction = text + at;
        ret->fraction_length = digit_run(text + at, length - at);
        if (ret->fraction_length == 0)
            return false;
        at += ret->fraction_length;
    }
    if (allow_exponent && at < length && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        bool minus = at < length && text[at] == '-';
        if (at < length && (text[at] == '-' || text[at] == '+'))
            at++;
        size_t count = digit_run(text + at, length - at);
        if (count == 0 || count > 3)
            return false;
        for (size_t i = 0; i < count; i++)
            ret->exponent = ret->exponent * 10 + (text[at + i] - '0');
        if (minus)
            ret->exponent = -ret->exponent;
        at += count;
    }
    return at == length;
}

/* The i-th digit of whole and fraction put together; 0 outside. */
static int digit_at(const struct digits *digits, long index)
{
    if (index < 0)
        return 0;
    size_t i = (size_t)index;
    if (i < digits->whole_length)
        return digits->whole[i] - '0';
    i -= digits->whole_length;
    return i < digits->fraction_length ? digits->fraction[i] - '0' : 0;
}

static enum decimal_status parse(const char *text, size_t length, unsigned decimals,
                                 bool allow_rounding, bool allow_exponent, int64_t *ret_value)
{
    struct digits digits;
    if (!split(text, length, allow_exponent, &digits))
        return DECIMAL_MALFORMED;
    long total = (long)(digits.whole_length + digits.fraction_length);
    /* Digits before `end` make up the scaled integer, those from `end` on are beyond the wanted
     * precision. */
    long end = (long)digits.whole_length + digits.exponent + (long)decimals;
    __int128 value = 0;
    const __int128 limit = (__int128)INT64_MAX + 1;
    for (long i = 0; i < end; i++) {
        value = value * 10 + digit_at(&digits, i);
        if (value > limit)
            return DECIMAL_OUT_OF_RANGE;
        if (i >= total && value == 0)
            break;
    }
    bool exact = true;
    for (long i = end < 0 ? 0 : end; i < total; i++)
        exact = exact && digit_at(&digits, i) == 0;
    if (!exact) {
        if (!allow_rounding)
            return DECIMAL_TOO_PRECISE;
        int first = end < 0 ? 0 : digit_at(&digits, end);
        bool tail = false;
        for (long i = end < 0 ? 0 : end + 1; i < total; i++)
            tail = tail || digit_at(&digits, i) != 0;
        if (first > 5 || (first == 5 && (tail || (value & 1) != 0)))
            value++;
    }
    if (digits.negative)
        value = -value;
    if (value > INT64_MAX || value < INT64_MIN)
        return DECIMAL_OUT_OF_RANGE;
    *ret_value = (int64_t)value;
    return exact ? DECIMAL_OK : DECIMAL_ROUNDED;
}

enum decimal_status decimal_parse(const char *text, size_t length, unsigned decimals,
                                  bool allow_rounding, int64_t *ret_value)
{
    return parse(text, length, decimals, allow_rounding, false, ret_value);
}

enum decimal_status decimal_parse_json(const char *text, size_t length, unsigned decimals,
                                       bool allow_rounding, int64_t *ret_value)
{
    return parse(text, length, decimals, allow_rounding, true, ret_value);
}

int64_t decimal_muldiv_half_even(int64_t value, int64_t numerator, int64_t denominator,
                                 bool *ret_overflow)
{
    __int128 product = (__int128)value * numerator;
    __int128 quotient = product / denominator;
    __int128 rest = product % denominator;
    __int128 twice = (rest < 0 ? -rest : rest) * 2;
    int sign = product < 0 ? -1 : 1;
    if (twice > denominator || (twice == denominator && (quotient & 1) != 0))
        quotient += sign;
    bool overflow = quotient > INT64_MAX || quotient < INT64_MIN;
    if (ret_overflow != NULL)
        *ret_overflow = overflow;
    if (overflow)
        return sign < 0 ? INT64_MIN : INT64_MAX;
    return (int64_t)quotient;
}

/* Digits of a whole number, the last one before `end`; where the first stands. */
static char *put_digits(char *end, uint64_t value)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    return end;
}

size_t decimal_print(int64_t value, unsigned decimals, char out[static 32])
{
    static const uint64_t powers[] = {1,
                                      10,
                                      100,
                                      1000,
                                      10000,
                                      100000,
                                      1000000,
                                      10000000,
                                      100000000,
                                      1000000000,
                                      10000000000,
                                      100000000000,
                                      1000000000000,
                                      10000000000000,
                                      100000000000000,
                                      1000000000000000,
                                      10000000000000000,
                                      100000000000000000,
                                      1000000000000000000,
                                      UINT64_C(10000000000000000000)};
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    uint64_t whole = size / powers[decimals], part = size - whole * powers[decimals];
    char *at = out, digits[24];
    if (value < 0)
        *at++ = '-';
    if (whole < 10) {
        *at++ = (char)('0' + whole);
    } else {
        const char *first = put_digits(digits + sizeof(digits), whole);
        at = mempcpy(at, first, (size_t)(digits + sizeof(digits) - first));
    }
    if (part > 0) {
        for (; part % 100 == 0; part /= 100)
            decimals -= 2;
        if (part % 10 == 0) {
            part /= 10;
            decimals--;
        }
        *at++ = '.';
        for (unsigned i = decimals; i-- > 0; part /= 10)
            at[i] = (char)('0' + part % 10);
        at += decimals;
    }
    *at = '\0';
    return (size_t)(at - out);
}
