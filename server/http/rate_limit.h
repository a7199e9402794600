/* Token buckets by client address, for this node alone. The table has a fixed size: addresses that
 * share a slot share its bucket's eviction, never its tokens. Any thread. */
#ifndef RACKRATE_HTTP_RATE_LIMIT_H
#define RACKRATE_HTTP_RATE_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rate_limit;

struct rate_limit *rate_limit_new(unsigned per_minute);
void rate_limit_free(struct rate_limit *limit);

/* Takes one token of the address at a time; *ret_remaining and *ret_reset_seconds (when a whole
 * minute's tokens are back) are for the RateLimit field. False: none left. */
bool rate_limit_take(struct rate_limit *limit, const void *address, size_t length, int64_t now_us,
                     unsigned *ret_remaining, unsigned *ret_reset_seconds);

#endif
