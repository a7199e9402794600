/* Bytes in, change set out: decoding, validating and differencing an upload. Pure: no database, no
 * sockets. Everything made lives in the caller's arena. One call runs on one thread; different
 * uploads may run on different threads. */
#ifndef RACKRATE_INVENTORY_INVENTORY_H
#define RACKRATE_INVENTORY_INVENTORY_H

#include "server/base/arena.h"
#include "server/base/buf.h"
#include "server/model/change_set.h"
#include "server/model/provider.h"

enum upload_format {
    FORMAT_UNKNOWN,
    FORMAT_JSON,            /* {"offers": [offer, …]} */
    FORMAT_NDJSON,          /* one offer a line */
    FORMAT_CSV,             /* one price a row */
    FORMAT_SKYPILOT,        /* catalogue CSV */
    FORMAT_GPURENTALPRICES, /* snapshot of many providers */
};
enum upload_encoding { ENCODING_IDENTITY, ENCODING_GZIP, ENCODING_ZSTD };

#define UPLOAD_DECODED_MAX_BYTES ((size_t)256 << 20)
#define UPLOAD_ROW_MAX_BYTES     ((size_t)64 << 10)
#define UPLOAD_ROWS_MAX          1000000

/* Why a whole body could not be read (as against rows that were refused). */
enum decode_status {
    DECODE_OK,
    DECODE_BAD_ENCODING,   /* gzip or zstd broken or cut short: 400 */
    DECODE_TOO_LARGE,      /* decodes to more than the limit, or too many rows: 413 */
    DECODE_MALFORMED,      /* not the format it says it is; nothing was taken: 400 */
    DECODE_UNKNOWN_FORMAT, /* no Content-Type and not recognizable: 415 */
};

struct decode_options {
    enum upload_format format; /* FORMAT_UNKNOWN: recognized from the first bytes */
    enum upload_encoding encoding;
    const char *provider_slug; /* whose vocabulary resolves regions */
    enum source_kind source_kind;
    bool skip_bad_rows; /* recorded only; rejected rows are always listed in errors */
    int64_t as_of_us;   /* observed_at of rows that carry none; TIMESTAMP_UNKNOWN: leave unknown */
    size_t decoded_max_bytes; /* 0: UPLOAD_DECODED_MAX_BYTES */
    /* Called now and then with bytes consumed and rows seen; may be NULL. */
    void (*progress)(void *closure, size_t bytes, int64_t rows);
    void *progress_closure;
};

/* Says what was wrong with a whole body. */
struct decode_error {
    char message[300]; /* with byte offset or line where there is one */
    int64_t line;      /* from 1; 0 unknown */
};

/* Undoes gzip or zstd into a malloc'd buffer (identity is copied only if it must be: *ret_bytes may
 * then point to `bytes` and *ret_owned is NULL). Stops at `max` decoded bytes. */
enum decode_status upload_decompress(enum upload_encoding encoding, const char *bytes,
                                     size_t length, size_t max, const char **ret_bytes,
                                     size_t *ret_length, char **ret_owned,
                                     struct decode_error *ret_error);

/* Decodes and validates a decompressed body of one provider's inventory into *ret_upload (offers
 * sorted by external_id, each once, gpu and place resolved, prices derived). Rejected rows are in
 * ret_upload->errors with row, pointer, code, message. */
enum decode_status upload_decode(const struct decode_options *options, const char *bytes,
                                 size_t length, struct arena *arena, struct upload *ret_upload,
                                 struct decode_error *ret_error);

/* Compares an upload with what is stored. Rejected rows' offers count as not in the upload only
 * when the caller goes on despite them (on_error=skip): an offer whose row was refused is kept as
 * it is, not removed, in CHANGE_REPLACE when its external_id is known. */
void inventory_diff(const struct upload *upload, const struct baseline *baseline,
                    enum change_mode mode, struct arena *arena, struct change_set *ret_change_set);

/* Writes an offer in the upload shape (one JSON object): the mirror of decoding. */
void inventory_write_offer(struct buf *out, const struct offer *offer);

/* Applies a JSON merge patch (RFC 7396; prices matched by identity) to an offer and validates the
 * result. On success *ret_upload holds exactly that offer; else its errors say why.
 * DECODE_MALFORMED where the patch is no JSON object. */
enum decode_status inventory_patch(const struct decode_options *options, const struct offer *before,
                                   const char *patch, size_t length, struct arena *arena,
                                   struct upload *ret_upload, struct decode_error *ret_error);

#endif
