/* The splitter: it finds each offer in the body, bounds it to 64 KiB and hands it on. What is no
 * JSON, comes twice, or follows the end fails the whole body with its line and byte. */
#include "server/inventory/decode_json.h"

#include "server/inventory/decode_half.h"
#include "server/inventory/offer_json.h"

#include <stdio.h>
#include <string.h>

/* A member that is not the offers, in a snapshot of another catalogue. */
#define OTHER_MEMBER_MAX_BYTES ((size_t)4 << 20)

/* From this size on a second thread is worth its start. */
#ifndef HALVES_FROM_BYTES
#define HALVES_FROM_BYTES ((size_t)1 << 20)
#endif

static enum decode_status fail_syntax(struct decoding *decoding, struct json_reader *reader)
{
    size_t line = json_reader_line(reader);
    decoding_fail(decoding, (int64_t)line, "The body is no JSON at line %zu, byte %zu: %s%s.", line,
                  json_reader_offset(reader), reader->error,
                  reader->hit_end ? "; it may be cut short" : "");
    return DECODE_MALFORMED;
}

/* Reads a value of at most `max` bytes into the scratch arena. */
static struct json_value *read_bounded(struct json_reader *reader, size_t max, bool *ret_too_long)
{
    const char *end = reader->end;
    json_reader_peek(reader);
    reader->hit_end = false;
    *ret_too_long = (size_t)(end - reader->at) > max;
    if (*ret_too_long)
        reader->end = reader->at + max;
    struct json_value *value = json_reader_value(reader);
    *ret_too_long = *ret_too_long && reader->hit_end;
    reader->end = end;
    return *ret_too_long ? NULL : value;
}

/* Items up to the closing bracket and it, or up to `stop` (where an item begins; NULL nowhere). The
 * reader is at an item, *row items came before. */
static enum decode_status walk_items(struct decoding *decoding, struct json_reader *reader,
                                     const char *stop, int64_t *row, take_value *take,
                                     void *closure)
{
    for (;;) {
        bool too_long;
        struct json_value *value = read_bounded(reader, UPLOAD_ROW_MAX_BYTES, &too_long);
        if (too_long) {
            decoding_fail(decoding, (int64_t)json_reader_line(reader),
                          "Offer %lld, in line %zu, is longer than 64 KiB.", (long long)*row + 1,
                          json_reader_line(reader));
            return DECODE_TOO_LARGE;
        }
        if (value == NULL)
            return fail_syntax(decoding, reader);
        if (!decoding_count_row(decoding, json_reader_offset(reader)))
            return DECODE_TOO_LARGE;
        take(decoding, closure, value, ++*row);
        arena_reset(&decoding->scratch);
        char next = json_reader_peek(reader);
        if (next == ']') {
            reader->at++;
            return DECODE_OK;
        }
        if (next != ',') {
            json_reader_expect(reader, ']');
            return fail_syntax(decoding, reader);
        }
        reader->at++;
        if (stop != NULL && (json_reader_peek(reader), reader->at == stop))
            return DECODE_OK;
    }
}

/* The items behind the opening bracket, and the closing one; the second half of them by its own
 * thread, if there is one and it began where an item does. */
static enum decode_status walk_list(struct decoding *decoding, struct json_reader *reader,
                                    take_value *take, void *closure)
{
    struct decode_half *half = decoding->half;
    const char *stop = half == NULL ? NULL : decode_half_start(half);
    int64_t row = 0;
    if (json_reader_peek(reader) == ']') {
        reader->at++;
        return DECODE_OK;
    }
    enum decode_status status = walk_items(decoding, reader, stop, &row, take, closure);
    if (status != DECODE_OK || reader->at != stop)
        return status;
    decoding->half = NULL;
    const char *end = decode_half_take(decoding, half, row);
    if (end == NULL)
        return walk_items(decoding, reader, NULL, &row, take, closure);
    reader->at = end;
    return DECODE_OK;
}

/* One member of the body; *ret_offers says whether it was the offers. */
static enum decode_status walk_member(struct decoding *decoding, struct json_reader *reader,
                                      bool others, bool *seen_offers, take_value *take,
                                      void *closure)
{
    bool too_long;
    if (json_reader_peek(reader) != '"') {
        json_reader_expect(reader, '"');
        return fail_syntax(decoding, reader);
    }
    struct json_value *name = read_bounded(reader, 1024, &too_long);
    if (name == NULL)
        return fail_syntax(decoding, reader);
    bool offers = strcmp(name->text, "offers") == 0;
    if (!offers && !others) {
        decoding_fail(decoding, (int64_t)json_reader_line(reader),
                      "The only member of the body is \"offers\", not \"%.60s\": {\"offers\": "
                      "[offer, …]}.",
                      name->text);
        return DECODE_MALFORMED;
    }
    if (offers && *seen_offers) {
        decoding_fail(decoding, (int64_t)json_reader_line(reader),
                      "The body has \"offers\" twice.");
        return DECODE_MALFORMED;
    }
    *seen_offers = *seen_offers || offers;
    if (!json_reader_expect(reader, ':') || (offers && !json_reader_expect(reader, '[')))
        return fail_syntax(decoding, reader);
    if (offers)
        return walk_list(decoding, reader, take, closure);
    if (read_bounded(reader, OTHER_MEMBER_MAX_BYTES, &too_long) == NULL)
        return fail_syntax(decoding, reader);
    arena_reset(&decoding->scratch);
    return DECODE_OK;
}

enum decode_status json_offers_walk(struct decoding *decoding, bool others, take_value *take,
                                    void *closure)
{
    struct json_reader reader;
    bool seen = false;
    json_reader_init(&reader, decoding->bytes, decoding->length, &decoding->scratch);
    if (!json_reader_expect(&reader, '{'))
        return fail_syntax(decoding, &reader);
    for (;;) {
        enum decode_status status = walk_member(decoding, &reader, others, &seen, take, closure);
        if (status != DECODE_OK)
            return status;
        if (json_reader_peek(&reader) != ',')
            break;
        reader.at++;
    }
    if (!json_reader_expect(&reader, '}'))
        return fail_syntax(decoding, &reader);
    json_reader_peek(&reader);
    reader.hit_end = false;
    if (reader.at < reader.end) {
        snprintf(reader.error, sizeof(reader.error), "something follows the end of the object");
        return fail_syntax(decoding, &reader);
    }
    if (!seen) {
        decoding_fail(decoding, 1, "The body has no \"offers\": {\"offers\": [offer, …]}.");
        return DECODE_MALFORMED;
    }
    return DECODE_OK;
}

/* Whether a line, unread, can be passed over as no row of this provider. */
static bool is_elsewhere(const char *line, size_t length, const char *slug)
{
    return slug != NULL && memmem(line, length, slug, strlen(slug)) == NULL &&
           memchr(line, '\\', length) == NULL;
}

/* The lines from `at` on, `line` lines behind the beginning. */
static enum decode_status walk_lines(struct decoding *decoding, const char *at, const char *slug,
                                     take_value *take, void *closure)
{
    const char *end = decoding->bytes + decoding->length;
    int64_t line = 0;
    while (at < end) {
        if (decoding->half != NULL && at == decode_half_start(decoding->half)) {
            struct decode_half *half = decoding->half;
            decoding->half = NULL;
            if (decode_half_take(decoding, half, line) != NULL)
                return DECODE_OK;
        }
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = newline == NULL ? (size_t)(end - at) : (size_t)(newline - at);
        line++;
        if (length > UPLOAD_ROW_MAX_BYTES) {
            decoding_fail(decoding, line, "Line %lld is longer than 64 KiB.", (long long)line);
            return DECODE_TOO_LARGE;
        }
        struct json_reader reader;
        json_reader_init(&reader, at, length, &decoding->scratch);
        json_reader_peek(&reader);
        const char *text = reader.at;
        at += length + 1;
        if (text == reader.end || is_elsewhere(text, length, slug))
            continue;
        if (!decoding_count_row(decoding, (size_t)(text - decoding->bytes)))
            return DECODE_TOO_LARGE;
        struct json_value *value = json_reader_value(&reader);
        if (value != NULL && (json_reader_peek(&reader), reader.at < reader.end)) {
            snprintf(reader.error, sizeof(reader.error), "something follows the offer on its line");
            reader.hit_end = false;
            value = NULL;
        }
        if (value == NULL) {
            decoding_fail(decoding, line, "Line %lld is no JSON, byte %zu: %s%s.", (long long)line,
                          json_reader_offset(&reader), reader.error,
                          newline == NULL && reader.hit_end ? "; the body may be cut short" : "");
            return DECODE_MALFORMED;
        }
        take(decoding, closure, value, line);
        arena_reset(&decoding->scratch);
    }
    return DECODE_OK;
}

/* One offer of our own shape. */
static void take_offer(struct decoding *decoding, const struct json_value *value, int64_t number,
                       const char *prefix)
{
    const struct json_value *named =
        value->type == JSON_TYPE_OBJECT ? json_member(value, "provider") : NULL;
    if (decoding->options->others_pass && named != NULL && named->type == JSON_TYPE_STRING &&
        strcmp(named->text, decoding->options->provider_slug) != 0) {
        decoding->upload->rows_read--;
        return;
    }
    struct row row;
    struct offer offer;
    row_begin(&row, decoding, number, prefix);
    if (offer_from_json(&row, value, &offer))
        decoding_add(decoding, number, &offer);
    else
        decoding->upload->rejected++;
}

static void take_item(struct decoding *decoding, void *closure, const struct json_value *value,
                      int64_t row)
{
    char prefix[40];
    (void)closure;
    snprintf(prefix, sizeof(prefix), "/offers/%lld", (long long)row - 1);
    take_offer(decoding, value, row, prefix);
}

static void take_line(struct decoding *decoding, void *closure, const struct json_value *value,
                      int64_t row)
{
    (void)closure;
    take_offer(decoding, value, row, "");
}

enum decode_status ndjson_walk(struct decoding *decoding, const char *slug, take_value *take,
                               void *closure)
{
    return walk_lines(decoding, decoding->bytes, slug, take, closure);
}

/* ---- in two halves ---- */

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && memchr(" \t\r\n", *at, 4) != NULL)
        at++;
    return at;
}

/* The first place behind the middle that looks like the start of an offer of a list: `,`, `{`,
 * `"external_id"`. NULL where there is none. */
static const char *find_item(const struct decoding *decoding)
{
    static const char name[] = "\"external_id\"";
    const char *end = decoding->bytes + decoding->length;
    const char *middle = decoding->bytes + decoding->length / 2;
    for (const char *at = middle; (at = memchr(at, ',', (size_t)(end - at))) != NULL; at++) {
        const char *brace = skip_space(at + 1, end);
        if (brace == end || *brace != '{')
            continue;
        const char *member = skip_space(brace + 1, end);
        if ((size_t)(end - member) > sizeof(name) && memcmp(member, name, sizeof(name) - 1) == 0)
            return brace;
        if (at - middle > (ptrdiff_t)UPLOAD_ROW_MAX_BYTES)
            break;
    }
    return NULL;
}

static enum decode_status run_items(struct decoding *decoding, const char *start,
                                    const char **ret_end)
{
    struct json_reader reader;
    int64_t row = 0;
    json_reader_init(&reader, decoding->bytes, decoding->length, &decoding->scratch);
    reader.at = start;
    enum decode_status status = walk_items(decoding, &reader, NULL, &row, take_item, NULL);
    *ret_end = reader.at;
    return status;
}

static const char *line_filter(const struct decoding *decoding)
{
    return decoding->options->others_pass ? decoding->options->provider_slug : NULL;
}

static enum decode_status run_lines(struct decoding *decoding, const char *start,
                                    const char **ret_end)
{
    *ret_end = decoding->bytes + decoding->length;
    return walk_lines(decoding, start, line_filter(decoding), take_line, NULL);
}

enum decode_status decode_json(struct decoding *decoding)
{
    const char *start = decoding->length < HALVES_FROM_BYTES ? NULL : find_item(decoding);
    if (start != NULL)
        decoding->half = decode_half_begin(decoding, start, run_items);
    enum decode_status status = json_offers_walk(decoding, false, take_item, NULL);
    decode_half_drop(decoding->half);
    decoding->half = NULL;
    return status;
}

enum decode_status decode_ndjson(struct decoding *decoding)
{
    size_t middle = decoding->length / 2;
    const char *newline = decoding->length < HALVES_FROM_BYTES
                              ? NULL
                              : memchr(decoding->bytes + middle, '\n', decoding->length - middle);
    if (newline != NULL)
        decoding->half = decode_half_begin(decoding, newline + 1, run_lines);
    enum decode_status status = ndjson_walk(decoding, line_filter(decoding), take_line, NULL);
    decode_half_drop(decoding->half);
    decoding->half = NULL;
    return status;
}
