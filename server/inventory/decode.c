/* Which format it is, and which decoder reads it. */
#include "server/inventory/decoding.h"

#include <string.h>

/* The shortest offer there can be in each format: a bound on how many a body holds. */
#define OFFER_BYTES_MIN 90

static size_t skip_space(const char *bytes, size_t length, size_t at)
{
    while (at < length && memchr(" \t\r\n", bytes[at], 4) != NULL)
        at++;
    return at;
}

static bool starts_with(const char *bytes, size_t length, const char *word)
{
    return length >= strlen(word) && memcmp(bytes, word, strlen(word)) == 0;
}

/* Looks at the first bytes: `{"offers"` is JSON, `{"date"` a snapshot, another object NDJSON; a
 * header with external_id or InstanceType one of the CSVs. */
static enum upload_format recognize(const char *bytes, size_t length)
{
    size_t at = skip_space(bytes, length, 0);
    if (at < length && bytes[at] == '{') {
        at = skip_space(bytes, length, at + 1);
        if (starts_with(bytes + at, length - at, "\"offers\""))
            return FORMAT_JSON;
        return starts_with(bytes + at, length - at, "\"date\"") ? FORMAT_GPURENTALPRICES
                                                                : FORMAT_NDJSON;
    }
    const char *newline = memchr(bytes, '\n', length);
    size_t header = newline == NULL ? length : (size_t)(newline - bytes);
    if (memmem(bytes, header, "external_id", 11) != NULL)
        return FORMAT_CSV;
    if (memmem(bytes, header, "InstanceType", 12) != NULL)
        return FORMAT_SKYPILOT;
    return FORMAT_UNKNOWN;
}

enum upload_format upload_recognize(const char *bytes, size_t length)
{
    if (starts_with(bytes, length, "\xef\xbb\xbf"))
        return recognize(bytes + 3, length - 3);
    return recognize(bytes, length);
}

static enum decode_status run(struct decoding *decoding, enum upload_format format,
                              const char **ret_id_pointer)
{
    *ret_id_pointer = "/external_id";
    switch (format) {
    case FORMAT_JSON:
        *ret_id_pointer = "/offers/#/external_id";
        return decode_json(decoding);
    case FORMAT_NDJSON:
        return decode_ndjson(decoding);
    case FORMAT_CSV:
        *ret_id_pointer = "external_id";
        return decode_csv(decoding);
    case FORMAT_SKYPILOT:
        *ret_id_pointer = "InstanceType";
        return decode_skypilot(decoding);
    case FORMAT_GPURENTALPRICES:
        *ret_id_pointer = "/offers/#";
        return decode_gpurentalprices(decoding);
    case FORMAT_UNKNOWN:
        break;
    }
    decoding_fail(decoding, 0,
                  "The body is no JSON, NDJSON, CSV, SkyPilot catalogue or gpurentalprices "
                  "snapshot.");
    return DECODE_UNKNOWN_FORMAT;
}

enum decode_status upload_decode(const struct decode_options *options, const char *bytes,
                                 size_t length, struct arena *arena, struct upload *ret_upload,
                                 struct decode_error *ret_error)
{
    /* A byte order mark is no content. */
    if (starts_with(bytes, length, "\xef\xbb\xbf")) {
        bytes += 3;
        length -= 3;
    }
    struct decoding *decoding =
        decoding_begin(options, bytes, length, arena, ret_upload, ret_error);
    const char *id_pointer;
    enum upload_format format =
        options->format == FORMAT_UNKNOWN ? recognize(bytes, length) : options->format;
    if (format == FORMAT_JSON || format == FORMAT_NDJSON)
        decoding_reserve(decoding, length / OFFER_BYTES_MIN);
    enum decode_status status = run(decoding, format, &id_pointer);
    if (status == DECODE_OK) {
        decoding_sort(decoding, id_pointer);
        inventory_flag(ret_upload, options->median, options->median_closure);
    } else {
        *ret_upload = (struct upload){.rows_read = ret_upload->rows_read};
    }
    decoding_end(decoding);
    return status;
}
