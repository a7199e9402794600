/* A large body on two threads: the second half is decoded at the same time as the first, from a
 * place that looks like the start of a row. Whether it is one shows when the first half ends: if
 * that does not come to exactly this place, what the second thread did is thrown away. */
#ifndef RACKRATE_INVENTORY_DECODE_HALF_H
#define RACKRATE_INVENTORY_DECODE_HALF_H

#include "server/inventory/decoding.h"

struct decode_half;

/* Decodes the rest of the body from `start` on into the half's own decoding, numbering rows from 1;
 * *ret_end is where it stopped. Runs on the half's thread. */
typedef enum decode_status half_run(struct decoding *decoding, const char *start,
                                    const char **ret_end);

/* Starts the second half at `start`, whose bytes and options are the decoding's. NULL where no
 * thread can be had. The decoding's list of offers must be reserved already; the half takes its
 * upper part. */
struct decode_half *decode_half_begin(struct decoding *decoding, const char *start, half_run *run);

/* Where the half begins. */
const char *decode_half_start(const struct decode_half *half);

/* Waits for the half and takes what it decoded behind what is there, its rows counted on from
 * `rows_before`; frees it. The place where it stopped, or NULL where it did not end well: then
 * nothing of it was taken, and the rest must be read again to say what is wrong and where. */
const char *decode_half_take(struct decoding *decoding, struct decode_half *half,
                             int64_t rows_before);

/* Stops the half and throws it away. NULL is none. */
void decode_half_drop(struct decode_half *half);

#endif
