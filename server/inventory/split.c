/* A file of many providers, taken apart: a first pass finds who is named, then each one's rows are
 * decoded as its upload. Reading the file once per provider keeps one set of rules for all formats;
 * NDJSON passes over other providers' lines unread. */
#include "server/inventory/csv_columns.h"
#include "server/inventory/csv_table.h"
#include "server/inventory/decode_json.h"

#include <stdlib.h>
#include <string.h>

#define PROVIDERS_MAX 1000

struct providers {
    const char *slugs[PROVIDERS_MAX]; /* sorted */
    size_t count;
    bool failed; /* the decoding's error says why */
};

/* Notes a row's provider. */
static void note(struct decoding *decoding, struct providers *providers, const char *slug,
                 int64_t row)
{
    if (providers->failed)
        return;
    size_t low = 0, high = providers->count;
    while (slug != NULL && low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(providers->slugs[middle], slug);
        if (order == 0)
            return;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    providers->failed =
        slug == NULL || !provider_slug_is_valid(slug) || providers->count == PROVIDERS_MAX;
    if (slug == NULL)
        decoding_fail(decoding, row,
                      "Row %lld names no provider; say whose inventory it is with --provider SLUG.",
                      (long long)row);
    else if (!provider_slug_is_valid(slug))
        decoding_fail(decoding, row, "Row %lld: \"%.80s\" is no provider's slug.", (long long)row,
                      slug);
    else if (providers->failed)
        decoding_fail(decoding, row, "The file names more than %d providers.", PROVIDERS_MAX);
    if (providers->failed)
        return;
    memmove(&providers->slugs[low + 1], &providers->slugs[low],
            (providers->count - low) * sizeof(*providers->slugs));
    providers->slugs[low] = arena_strdup(decoding->arena, slug);
    providers->count++;
}

static void note_value(struct decoding *decoding, void *closure, const struct json_value *value,
                       int64_t row)
{
    const struct json_value *member =
        value->type == JSON_TYPE_OBJECT ? json_member(value, "provider") : NULL;
    note(decoding, closure,
         member != NULL && member->type == JSON_TYPE_STRING ? member->text : NULL, row);
}

/* Providers of a CSV: the column of that name. Rows that are broken are the decoder's business. */
static enum decode_status note_csv(struct decoding *decoding, struct providers *providers)
{
    struct csv_table table;
    struct csv_slice slice;
    struct csv_row row;
    size_t column = CSV_COLUMNS_MAX;
    csv_table_open(&table, decoding->bytes, decoding->length);
    while (csv_table_next(&table, &slice) == CSV_STEP_ROW) {
        arena_reset(&decoding->scratch);
        if (csv_table_cells(&table, &slice, &decoding->scratch, &row) != NULL)
            break;
        for (size_t c = 0; slice.number == 1 && c < row.count; c++) {
            if (strcmp(row.cells[c], csv_columns[CSV_COLUMN_PROVIDER].name) == 0)
                column = c;
        }
        if (slice.number > 1)
            note(decoding, providers,
                 column < row.count && row.lengths[column] > 0 ? row.cells[column] : NULL,
                 slice.number);
    }
    csv_table_close(&table);
    return DECODE_OK;
}

static enum decode_status find_providers(struct decoding *decoding, enum upload_format format,
                                         struct providers *providers)
{
    switch (format) {
    case FORMAT_JSON:
        return json_offers_walk(decoding, false, note_value, providers);
    case FORMAT_GPURENTALPRICES:
        return json_offers_walk(decoding, true, note_value, providers);
    case FORMAT_NDJSON:
        return ndjson_walk(decoding, NULL, note_value, providers);
    case FORMAT_CSV:
        return note_csv(decoding, providers);
    case FORMAT_SKYPILOT:
        decoding_fail(decoding, 0, "A SkyPilot catalogue names no provider; say whose it is.");
        return DECODE_MALFORMED;
    case FORMAT_UNKNOWN:
        break;
    }
    decoding_fail(decoding, 0, "The file is no JSON, NDJSON, CSV or gpurentalprices snapshot.");
    return DECODE_UNKNOWN_FORMAT;
}

enum decode_status upload_split(const struct decode_options *options, const char *bytes,
                                size_t length, struct arena *arena,
                                struct provider_upload **ret_uploads, size_t *ret_count,
                                struct decode_error *ret_error)
{
    struct upload nothing;
    struct providers *providers = xcalloc(1, sizeof(*providers));
    if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        bytes += 3;
        length -= 3;
    }
    struct decoding *decoding = decoding_begin(options, bytes, length, arena, &nothing, ret_error);
    enum upload_format format =
        options->format == FORMAT_UNKNOWN ? upload_recognize(bytes, length) : options->format;
    enum decode_status status = find_providers(decoding, format, providers);
    if (status == DECODE_OK && providers->failed)
        status = DECODE_MALFORMED;
    decoding_end(decoding);
    struct provider_upload *uploads = arena_calloc(arena, providers->count + 1, sizeof(*uploads));
    struct decode_options each = *options;
    each.format = format;
    each.others_pass = true;
    for (size_t i = 0; i < providers->count && status == DECODE_OK; i++) {
        each.provider_slug = uploads[i].slug = providers->slugs[i];
        status = upload_decode(&each, bytes, length, arena, &uploads[i].upload, ret_error);
    }
    *ret_uploads = uploads;
    *ret_count = status == DECODE_OK ? providers->count : 0;
    free(providers);
    return status;
}
