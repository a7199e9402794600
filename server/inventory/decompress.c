/* gzip by zlib, zstd by libzstd; output grows in steps and never past the limit, so a bomb costs
 * its limit and no more. */
#include "server/inventory/inventory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#define FIRST_OUTPUT_BYTES ((size_t)1 << 16)

struct output {
    char *bytes;
    size_t length, capacity, max;
};

/* Makes room; false once the limit is reached. */
static bool grow(struct output *out)
{
    size_t capacity = out->capacity == 0 ? FIRST_OUTPUT_BYTES : out->capacity * 2;
    if (capacity > out->max)
        capacity = out->max;
    if (capacity == out->capacity)
        return false;
    out->bytes = xrealloc(out->bytes, capacity + 1);
    out->capacity = capacity;
    return true;
}

static enum decode_status fail(struct decode_error *error, enum decode_status status,
                               const char *message)
{
    snprintf(error->message, sizeof(error->message), "%s", message);
    return status;
}

static enum decode_status fail_size(struct decode_error *error, size_t max)
{
    snprintf(error->message, sizeof(error->message),
             "The body is larger than the %zu bytes that are taken, once decoded.", max);
    return DECODE_TOO_LARGE;
}

static enum decode_status inflate_gzip(const char *bytes, size_t length, struct output *out,
                                       struct decode_error *error)
{
    z_stream stream = {0};
    if (inflateInit2(&stream, 15 + 16) != Z_OK)
        return fail(error, DECODE_BAD_ENCODING, "gzip could not be started.");
    size_t taken = 0;
    int status = Z_OK;
    enum decode_status result = DECODE_OK;
    while (status != Z_STREAM_END && result == DECODE_OK) {
        if (out->length == out->capacity && !grow(out)) {
            result = fail_size(error, out->max);
            break;
        }
        size_t chunk = length - taken > UINT_MAX ? UINT_MAX : length - taken;
        stream.next_in = (z_const Bytef *)(bytes + taken);
        stream.avail_in = (uInt)chunk;
        stream.next_out = (Bytef *)out->bytes + out->length;
        stream.avail_out = (uInt)(out->capacity - out->length);
        status = inflate(&stream, Z_NO_FLUSH);
        taken += chunk - stream.avail_in;
        out->length = out->capacity - stream.avail_out;
        if (status == Z_BUF_ERROR && stream.avail_out > 0)
            result = fail(error, DECODE_BAD_ENCODING, "The gzip body is cut short.");
        else if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
            result = fail(error, DECODE_BAD_ENCODING, "The body is no valid gzip.");
        /* Members may follow one another, as `cat a.gz b.gz` makes them. */
        if (status == Z_STREAM_END && taken < length && result == DECODE_OK) {
            if ((unsigned char)bytes[taken] != 0x1f)
                result =
                    fail(error, DECODE_BAD_ENCODING, "Something follows the end of the gzip body.");
            else if (inflateReset(&stream) == Z_OK)
                status = Z_OK;
        }
    }
    inflateEnd(&stream);
    return result;
}

static enum decode_status inflate_zstd(const char *bytes, size_t length, struct output *out,
                                       struct decode_error *error)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (context == NULL)
        return fail(error, DECODE_BAD_ENCODING, "zstd could not be started.");
    /* A window of 128 MiB at most: larger ones are a way to make a decoder ask for memory. */
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 27);
    ZSTD_inBuffer in = {bytes, length, 0};
    enum decode_status result = DECODE_OK;
    size_t hint = 1;
    while (result == DECODE_OK && (in.pos < in.size || hint != 0)) {
        if (out->length == out->capacity && !grow(out)) {
            result = fail_size(error, out->max);
            break;
        }
        ZSTD_outBuffer target = {out->bytes + out->length, out->capacity - out->length, 0};
        size_t before = in.pos;
        hint = ZSTD_decompressStream(context, &target, &in);
        out->length += target.pos;
        if (ZSTD_isError(hint))
            result = fail(error, DECODE_BAD_ENCODING, "The body is no valid zstd.");
        else if (hint != 0 && in.pos == in.size && in.pos == before && target.pos == 0)
            result = fail(error, DECODE_BAD_ENCODING, "The zstd body is cut short.");
    }
    ZSTD_freeDCtx(context);
    return result;
}

enum decode_status upload_decompress(enum upload_encoding encoding, const char *bytes,
                                     size_t length, size_t max, const char **ret_bytes,
                                     size_t *ret_length, char **ret_owned,
                                     struct decode_error *ret_error)
{
    struct output out = {.max = max};
    enum decode_status status = DECODE_OK;
    *ret_owned = NULL;
    *ret_bytes = bytes;
    *ret_length = length;
    *ret_error = (struct decode_error){0};
    switch (encoding) {
    case ENCODING_IDENTITY:
        return length > max ? fail_size(ret_error, max) : DECODE_OK;
    case ENCODING_GZIP:
        status = inflate_gzip(bytes, length, &out, ret_error);
        break;
    case ENCODING_ZSTD:
        status = inflate_zstd(bytes, length, &out, ret_error);
        break;
    }
    if (status != DECODE_OK) {
        free(out.bytes);
        return status;
    }
    if (out.bytes == NULL)
        out.bytes = xcalloc(1, 1);
    out.bytes[out.length] = '\0';
    *ret_owned = out.bytes;
    *ret_bytes = out.bytes;
    *ret_length = out.length;
    return DECODE_OK;
}
