/* Points in time as microseconds since 1970-01-01 UTC, and their RFC 3339 text. Pure but for the
 * clock; any thread. */
#ifndef RACKRATE_BASE_TIMESTAMP_H
#define RACKRATE_BASE_TIMESTAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A moment nobody gave. */
#define TIMESTAMP_UNKNOWN INT64_MIN

/* Enough for any text that timestamp_print writes. */
#define TIMESTAMP_TEXT_SIZE 40

/* Now, in microseconds since the epoch. */
int64_t timestamp_now_us(void);

/* A clock that never goes back, for durations and deadlines. */
int64_t monotonic_now_us(void);

/* Reads RFC 3339 (date, T or space, time, up to 9 fraction digits, Z or numeric offset); leap
 * second 60 counts as 59.999999; years 1970-9999. False where malformed or no such date. */
bool timestamp_parse(const char *text, size_t length, int64_t *ret_us);

/* Writes `2026-11-30T12:00:00Z`, with a fraction only where there is one. Gives the length. */
size_t timestamp_print(int64_t us, char out[static TIMESTAMP_TEXT_SIZE]);

#endif
