/* What test support does where Criterion is not linked (benchmarks, fuzzers): says what is wrong
 * and aborts, which fails a test. */
#ifndef RACKRATE_TESTS_SUPPORT_MUST_H
#define RACKRATE_TESTS_SUPPORT_MUST_H

#include <stdbool.h>

/* Prints a line on standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Aborts with a message unless `good`. */
#define must(good, ...)                                                                            \
    do {                                                                                           \
        if (!(good)) {                                                                             \
            complain(__VA_ARGS__);                                                                 \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
