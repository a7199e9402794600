/* Bytes in, change set out: decoding, validating and differencing an upload. Pure: no database, no
 * sockets. Everything made lives in the caller's arena. One call runs on one thread; different
 * uploads may run on different threads. */
#ifndef RACKRATE_INVENTORY_INVENTORY_H
#define RACKRATE_INVENTORY_INVENTORY_H

#include "server/base/arena.h"
#include "server/base/buf.h"
#include "server/model/change_set.h"
#include "server/model/provider.h"
#include "server/reference/alias.h"

enum upload_format {
    FORMAT_UNKNOWN,
    FORMAT_JSON,            /* {"offers": [offer, …]} */
    FORMAT_NDJSON,          /* one offer a line */
    FORMAT_CSV,             /* one price a row; rows with the same external_id are one offer */
    FORMAT_SKYPILOT,        /* catalogue CSV */
    FORMAT_GPURENTALPRICES, /* snapshot of many providers */
};
enum upload_encoding { ENCODING_IDENTITY, ENCODING_GZIP, ENCODING_ZSTD };

#define UPLOAD_DECODED_MAX_BYTES ((size_t)256 << 20)
#define UPLOAD_ROW_MAX_BYTES     ((size_t)64 << 10)
#define UPLOAD_ROWS_MAX          1000000
#define UPLOAD_ISSUES_MAX        100000 /* with more errors the upload is refused whole */

/* Why a whole body could not be read (as against rows that were refused). */
enum decode_status {
    DECODE_OK,
    DECODE_BAD_ENCODING,   /* gzip or zstd broken or cut short: 400 */
    DECODE_TOO_LARGE,      /* decodes to more than the limit, a row over 64 KiB, too many rows, or
                              too many errors to list: 413 */
    DECODE_MALFORMED,      /* not the format it says it is; nothing was taken: 400 */
    DECODE_UNKNOWN_FORMAT, /* no Content-Type and not recognizable: 415 */
};

/* The median price per GPU-hour that a price of this GPU is compared with, in micro-dollars, or
 * UNKNOWN. Called on the decoding thread. */
typedef int64_t median_lookup(void *closure, uint16_t gpu, const struct price *price);

struct decode_options {
    enum upload_format format; /* FORMAT_UNKNOWN: recognized from the first bytes */
    enum upload_encoding encoding;
    /* Whose inventory it is, and whose vocabulary resolves regions. A row that names another
     * provider is an error; of a snapshot of many providers only this one's rows are taken. */
    const char *provider_slug;
    bool others_pass; /* rows that name another provider are passed over, uncounted */
    enum source_kind source_kind;
    bool skip_bad_rows; /* recorded only; rejected rows are always listed in errors */
    int64_t as_of_us;   /* observed_at of rows that carry none; TIMESTAMP_UNKNOWN: leave unknown */
    size_t decoded_max_bytes; /* 0: UPLOAD_DECODED_MAX_BYTES */
    /* Called now and then with bytes consumed and rows seen; may be NULL. */
    void (*progress)(void *closure, size_t bytes, int64_t rows);
    void *progress_closure;
    const struct alias_sets *aliases; /* operators' names; NULL: none */
    median_lookup *median; /* the market to compare prices with; NULL: the upload itself */
    void *median_closure;
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

/* What a decompressed body looks like; FORMAT_UNKNOWN where it is none of them. */
enum upload_format upload_recognize(const char *bytes, size_t length);

/* Decodes and validates a decompressed body of one provider's inventory into *ret_upload (offers
 * sorted by external_id, each once, gpu and place resolved, prices derived). Rejected rows are in
 * ret_upload->errors with row, pointer, code, message. */
enum decode_status upload_decode(const struct decode_options *options, const char *bytes,
                                 size_t length, struct arena *arena, struct upload *ret_upload,
                                 struct decode_error *ret_error);

/* The inventory of one provider in a file that names its providers. */
struct provider_upload {
    const char *slug;
    struct upload upload;
};

/* As upload_decode for a file whose rows name their providers (a `provider` member or column; a
 * gpurentalprices snapshot): one upload each, sorted by slug. provider_slug of the options is not
 * used. Rows keep their number in the file. DECODE_MALFORMED where a row names none, or no slug. */
enum decode_status upload_split(const struct decode_options *options, const char *bytes,
                                size_t length, struct arena *arena,
                                struct provider_upload **ret_uploads, size_t *ret_count,
                                struct decode_error *ret_error);

/* Sets the flags that compare an offer with the market (upload_decode does): a price over 20 times
 * or under a twentieth of its GPU's median, a node price that is near the median of one GPU. Where
 * `median` is NULL or knows none, the upload's own prices of the same GPU, billing and term serve
 * if there are at least eight. These flags are no part of the content hash: a market that moved
 * changes no offer. */
void inventory_flag(struct upload *upload, median_lookup *median, void *closure);

/* Compares an upload with what is stored. Where the caller goes on despite refused rows
 * (on_error=skip), CHANGE_REPLACE keeps the stored offer of a refused row as it is; where a refused
 * row has no readable external_id, nothing is removed, as any stored offer might be that row's. */
void inventory_diff(const struct upload *upload, const struct baseline *baseline,
                    enum change_mode mode, struct arena *arena, struct change_set *ret_change_set);

/* Writes an offer in the upload shape (one JSON object): the mirror of decoding. */
void inventory_write_offer(struct buf *out, const struct offer *offer);

/* Applies a JSON merge patch (RFC 7396) to an offer and validates the result. `prices` is merged by
 * identity (billing, term_months, min_gpus, upfront_percent, plan; left out means unknown, 0 months
 * for term_months): a known identity takes the patch's members, a new one is added, and one whose
 * amount is null goes, as {"billing": "spot", "price_per_gpu_hour": null}. observed_at is not
 * carried over: a change was seen when it was made, unless it says otherwise. On success
 * *ret_upload holds exactly that offer; else its errors say why. DECODE_MALFORMED where the patch
 * is no JSON object. */
enum decode_status inventory_patch(const struct decode_options *options, const struct offer *before,
                                   const char *patch, size_t length, struct arena *arena,
                                   struct upload *ret_upload, struct decode_error *ret_error);

#endif
