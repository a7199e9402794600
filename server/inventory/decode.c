/* Which format it is, and the two JSON ones. */
#include "server/inventory/decoders.h"
#include "server/inventory/offer_json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRESS_ROWS 1000

void decoding_fail(struct decoding *decoding, int64_t line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(decoding->error->message, sizeof(decoding->error->message), format, arguments);
    va_end(arguments);
    decoding->error->line = line;
}

void decoding_add(struct decoding *decoding, const struct row *row, const struct offer *offer)
{
    size_t index = decoding->upload->offer_count;
    if (index == decoding->row_capacity) {
        decoding->row_capacity = decoding->row_capacity == 0 ? 256 : decoding->row_capacity * 2;
        decoding->rows = xrealloc(decoding->rows, decoding->row_capacity * sizeof(*decoding->rows));
    }
    decoding->rows[index] = row->number;
    upload_add(decoding->upload, decoding->arena, offer, &decoding->capacity);
}

bool decoding_count_row(struct decoding *decoding, size_t bytes_consumed)
{
    int64_t rows = ++decoding->upload->rows_read;
    if (decoding->options->progress != NULL && rows % PROGRESS_ROWS == 0)
        decoding->options->progress(decoding->options->progress_closure, bytes_consumed, rows);
    if (rows <= UPLOAD_ROWS_MAX)
        return true;
    decoding_fail(decoding, rows, "An upload may hold %d rows.", UPLOAD_ROWS_MAX);
    return false;
}

static void take_value(struct decoding *decoding, const struct json_value *value,
                       const char *prefix)
{
    struct row row;
    struct offer offer;
    row_begin(&row, decoding->arena, decoding->upload, decoding->options,
              decoding->upload->rows_read, prefix);
    if (offer_from_json(&row, value, &offer))
        decoding_add(decoding, &row, &offer);
    else
        decoding->upload->rejected++;
}

enum decode_status decode_json(struct decoding *decoding)
{
    struct json_reader reader;
    json_reader_init(&reader, decoding->bytes, decoding->length, decoding->arena);
    bool good = json_reader_expect(&reader, '{');
    struct json_value *name = good ? json_reader_value(&reader) : NULL;
    if (name != NULL && (name->type != JSON_TYPE_STRING || strcmp(name->text, "offers") != 0)) {
        decoding_fail(decoding, 1,
                      "The only member of the body is \"offers\": {\"offers\": [offer, …]}.");
        return DECODE_MALFORMED;
    }
    good = name != NULL && json_reader_expect(&reader, ':') && json_reader_expect(&reader, '[');
    if (good && json_reader_peek(&reader) == ']') {
        reader.at++;
    } else {
        while (good) {
            const char *begin = (json_reader_peek(&reader), reader.at);
            struct json_value *value = json_reader_value(&reader);
            good = value != NULL;
            if (good && (size_t)(reader.at - begin) > UPLOAD_ROW_MAX_BYTES) {
                decoding_fail(decoding, (int64_t)json_reader_line(&reader),
                              "An offer may be 64 KiB long.");
                return DECODE_TOO_LARGE;
            }
            if (good && !decoding_count_row(decoding, json_reader_offset(&reader)))
                return DECODE_TOO_LARGE;
            if (good)
                take_value(decoding, value,
                           arena_printf(decoding->arena, "/offers/%lld",
                                        (long long)decoding->upload->rows_read - 1));
            char next = good ? json_reader_peek(&reader) : '\0';
            if (good && next != ',' && next != ']')
                good = json_reader_expect(&reader, ']');
            else if (good)
                reader.at++;
            if (next == ']')
                break;
        }
    }
    good = good && json_reader_expect(&reader, '}');
    if (good && (json_reader_peek(&reader), reader.at < reader.end)) {
        snprintf(reader.error, sizeof(reader.error), "something follows the end of the object");
        good = false;
    }
    if (!good)
        decoding_fail(decoding, (int64_t)json_reader_line(&reader),
                      "The body is no JSON at line %zu, byte %zu: %s.", json_reader_line(&reader),
                      json_reader_offset(&reader), reader.error);
    return good ? DECODE_OK : DECODE_MALFORMED;
}

enum decode_status decode_ndjson(struct decoding *decoding)
{
    const char *end = decoding->bytes + decoding->length;
    int64_t line = 0;
    for (const char *at = decoding->bytes; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = newline == NULL ? (size_t)(end - at) : (size_t)(newline - at);
        line++;
        if (length > UPLOAD_ROW_MAX_BYTES) {
            decoding_fail(decoding, line, "Line %lld is longer than 64 KiB.", (long long)line);
            return DECODE_TOO_LARGE;
        }
        struct json_reader reader;
        json_reader_init(&reader, at, length, decoding->arena);
        if (json_reader_peek(&reader) != '\0' || reader.at < reader.end) {
            if (!decoding_count_row(decoding, (size_t)(at - decoding->bytes)))
                return DECODE_TOO_LARGE;
            struct json_value *value = json_reader_value(&reader);
            if (value != NULL && (json_reader_peek(&reader), reader.at < reader.end)) {
                snprintf(reader.error, sizeof(reader.error),
                         "something follows the offer on its line");
                value = NULL;
            }
            if (value == NULL) {
                decoding_fail(decoding, line, "Line %lld is no JSON, byte %zu: %s.",
                              (long long)line, json_reader_offset(&reader), reader.error);
                return DECODE_MALFORMED;
            }
            take_value(decoding, value, "");
        }
        at += length + 1;
    }
    return DECODE_OK;
}

/* Looks at the first bytes: `{"offers"` is JSON, another object NDJSON, a header with external_id
 * or InstanceType one of the CSVs. */
static enum upload_format recognize(const char *bytes, size_t length)
{
    size_t at = 0;
    while (at < length && memchr(" \t\r\n", bytes[at], 4) != NULL)
        at++;
    if (at < length && bytes[at] == '{') {
        size_t quote = at + 1;
        while (quote < length && memchr(" \t\r\n", bytes[quote], 4) != NULL)
            quote++;
        return length - quote >= 8 && memcmp(bytes + quote, "\"offers\"", 8) == 0 ? FORMAT_JSON
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

enum decode_status upload_decode(const struct decode_options *options, const char *bytes,
                                 size_t length, struct arena *arena, struct upload *ret_upload,
                                 struct decode_error *ret_error)
{
    *ret_upload = (struct upload){0};
    *ret_error = (struct decode_error){0};
    /* A byte order mark is no content. */
    if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        bytes += 3;
        length -= 3;
    }
    struct decoding decoding = {
        .options = options,
        .bytes = bytes,
        .length = length,
        .arena = arena,
        .upload = ret_upload,
        .error = ret_error,
    };
    enum upload_format format =
        options->format == FORMAT_UNKNOWN ? recognize(bytes, length) : options->format;
    enum decode_status status = DECODE_UNKNOWN_FORMAT;
    const char *pointer = "/external_id";
    switch (format) {
    case FORMAT_JSON:
        status = decode_json(&decoding);
        pointer = "/offers/#/external_id";
        break;
    case FORMAT_NDJSON:
        status = decode_ndjson(&decoding);
        break;
    case FORMAT_CSV:
        status = decode_csv(&decoding);
        pointer = "external_id";
        break;
    case FORMAT_SKYPILOT:
        status = decode_skypilot(&decoding);
        pointer = "InstanceType";
        break;
    case FORMAT_GPURENTALPRICES:
    case FORMAT_UNKNOWN:
        decoding_fail(&decoding, 0,
                      "The body is no JSON, NDJSON or CSV inventory that is known here.");
        break;
    }
    if (status == DECODE_OK)
        upload_sort_and_dedupe(ret_upload, arena, decoding.rows, pointer);
    free(decoding.rows);
    return status;
}
