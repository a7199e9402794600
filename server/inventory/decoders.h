/* The decoder of each format: bytes into an upload. Private to the room. */
#ifndef RACKRATE_INVENTORY_DECODERS_H
#define RACKRATE_INVENTORY_DECODERS_H

#include "server/inventory/row.h"

struct decoding {
    const struct decode_options *options;
    const char *bytes;
    size_t length;
    struct arena *arena;
    struct upload *upload;
    struct decode_error *error;
    /* Kept while offers come in, so that duplicates can be named. */
    size_t capacity;
    int64_t *rows;
    size_t row_capacity;
};

enum decode_status decode_json(struct decoding *decoding);
enum decode_status decode_ndjson(struct decoding *decoding);
enum decode_status decode_csv(struct decoding *decoding);
enum decode_status decode_skypilot(struct decoding *decoding);

/* Takes a good offer of a row. */
void decoding_add(struct decoding *decoding, const struct row *row, const struct offer *offer);

/* Counts a row, reports progress; false (and DECODE_TOO_LARGE in the error) past UPLOAD_ROWS_MAX.
 */
bool decoding_count_row(struct decoding *decoding, size_t bytes_consumed);

/* Fills the error with a printf text. */
void decoding_fail(struct decoding *decoding, int64_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
