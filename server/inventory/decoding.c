/* What all formats share while an upload is decoded. The list of offers is reserved once from a
 * bound on how many the body can hold and sorted in place, so that it is never held twice. */
#include "server/inventory/decoding.h"

#include "server/reference/place.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRESS_ROWS 1000

struct decoding *decoding_begin(const struct decode_options *options, const char *bytes,
                                size_t length, struct arena *arena, struct upload *upload,
                                struct decode_error *error)
{
    struct decoding *decoding = xcalloc(1, sizeof(*decoding));
    decoding->options = options;
    decoding->bytes = bytes;
    decoding->length = length;
    decoding->arena = arena;
    decoding->upload = upload;
    decoding->error = error;
    *upload = (struct upload){0};
    *error = (struct decode_error){0};
    return decoding;
}

void decoding_end(struct decoding *decoding)
{
    arena_free(&decoding->scratch);
    free(decoding->rows);
    free(decoding);
}

void decoding_fail(struct decoding *decoding, int64_t line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(decoding->error->message, sizeof(decoding->error->message), format, arguments);
    va_end(arguments);
    decoding->error->line = line;
}

void decoding_reserve(struct decoding *decoding, size_t offers)
{
    struct upload *upload = decoding->upload;
    if (offers > UPLOAD_ROWS_MAX)
        offers = UPLOAD_ROWS_MAX;
    if (offers <= decoding->offer_capacity)
        return;
    struct offer *list = arena_alloc(decoding->arena, offers * sizeof(*list));
    if (upload->offer_count > 0)
        memcpy(list, upload->offers, upload->offer_count * sizeof(*list));
    decoding->offers_moved = upload->offers != NULL;
    upload->offers = list;
    decoding->offer_capacity = offers;
}

void decoding_add(struct decoding *decoding, int64_t row, const struct offer *offer)
{
    struct upload *upload = decoding->upload;
    size_t index = upload->offer_count;
    if (index == decoding->offer_capacity)
        decoding_reserve(decoding, index < 32 ? 64 : index * 2);
    if (index == decoding->row_capacity) {
        decoding->row_capacity = index == 0 ? 256 : index * 2;
        decoding->rows = xrealloc(decoding->rows, decoding->row_capacity * sizeof(*decoding->rows));
    }
    decoding->rows[index] = row;
    upload->offers[upload->offer_count++] = *offer;
}

bool decoding_count_row(struct decoding *decoding, size_t bytes_consumed)
{
    int64_t rows = ++decoding->upload->rows_read;
    if (decoding->dropped != NULL && *decoding->dropped)
        return false;
    if (decoding->options->progress != NULL && rows % PROGRESS_ROWS == 0)
        decoding->options->progress(decoding->options->progress_closure, bytes_consumed, rows);
    if (rows > UPLOAD_ROWS_MAX) {
        decoding_fail(decoding, rows, "An upload may hold %d rows.", UPLOAD_ROWS_MAX);
        return false;
    }
    if (decoding->upload->errors.count > UPLOAD_ISSUES_MAX) {
        const struct row_issue *first = &decoding->upload->errors.items[0];
        decoding_fail(decoding, first->row,
                      "More than %d things are wrong up to row %lld, the first in row %lld: %.150s",
                      UPLOAD_ISSUES_MAX, (long long)rows - 1, (long long)first->row,
                      first->message);
        return false;
    }
    return true;
}

const char *decoding_keep(struct decoding *decoding, const char *text)
{
    return text == NULL ? NULL
                        : text_pool_keep(&decoding->texts, decoding->arena, text, strlen(text));
}

static size_t slot_of(const void *a, const void *b, int64_t number)
{
    uint64_t mixed = ((uint64_t)(uintptr_t)a >> 4) * UINT64_C(0x9e3779b97f4a7c15) ^
                     ((uint64_t)(uintptr_t)b >> 4) * UINT64_C(0xc2b2ae3d27d4eb4f) ^
                     (uint64_t)number * UINT64_C(0x165667b19e3779f9);
    return (size_t)(mixed >> 40) % RESOLVED_SLOTS;
}

const struct gpu_match *decoding_resolve_gpu(struct decoding *decoding, const char *raw,
                                             int64_t vram_hint_gb_milli)
{
    struct resolved_gpu *slot = &decoding->gpus[slot_of(raw, NULL, vram_hint_gb_milli)];
    if (slot->raw != raw || slot->vram_hint_gb_milli != vram_hint_gb_milli) {
        slot->raw = raw;
        slot->vram_hint_gb_milli = vram_hint_gb_milli;
        const struct alias_sets *aliases = decoding->options->aliases;
        gpu_resolve(raw, vram_hint_gb_milli, aliases == NULL ? NULL : &aliases->gpus, &slot->match);
    }
    return &slot->match;
}

uint16_t decoding_resolve_place(struct decoding *decoding, const char *region, const char *zone)
{
    struct resolved_place *slot = &decoding->places[slot_of(region, zone, 0)];
    if (!slot->known || slot->region != region || slot->zone != zone) {
        const struct alias_sets *aliases = decoding->options->aliases;
        *slot = (struct resolved_place){
            .region = region,
            .zone = zone,
            .known = true,
            .place = place_resolve(decoding->options->provider_slug, region, zone,
                                   aliases == NULL ? NULL : &aliases->places),
        };
    }
    return slot->place;
}

struct order {
    const char *external_id;
    size_t index;
};

static int compare_order(const void *a, const void *b)
{
    const struct order *left = a, *right = b;
    int order = strcmp(left->external_id, right->external_id);
    return order != 0 ? order : (left->index > right->index) - (left->index < right->index);
}

/* Puts a row's index in place of the one `#` of a pointer. */
static const char *make_pointer(struct arena *arena, const char *pattern, int64_t index)
{
    const char *mark = strchr(pattern, '#');
    if (mark == NULL)
        return pattern;
    return arena_printf(arena, "%.*s%lld%s", (int)(mark - pattern), pattern, (long long)index,
                        mark + 1);
}

/* Brings offers and rows into the order, following each cycle of the permutation once. */
static void permute(struct decoding *decoding, struct order *order)
{
    struct offer *offers = decoding->upload->offers;
    int64_t *rows = decoding->rows;
    for (size_t start = 0; start < decoding->upload->offer_count; start++) {
        if (order[start].index == start)
            continue;
        struct offer offer = offers[start];
        int64_t row = rows[start];
        size_t to = start;
        for (;;) {
            size_t from = order[to].index;
            order[to].index = to;
            if (from == start)
                break;
            offers[to] = offers[from];
            rows[to] = rows[from];
            to = from;
        }
        offers[to] = offer;
        rows[to] = row;
    }
}

void decoding_sort(struct decoding *decoding, const char *pointer_pattern)
{
    struct upload *upload = decoding->upload;
    size_t count = upload->offer_count, kept = 0;
    bool sorted = true;
    for (size_t i = 1; i < count && sorted; i++)
        sorted = strcmp(upload->offers[i - 1].external_id, upload->offers[i].external_id) < 0;
    if (sorted)
        return;
    struct order *order = xmalloc(count * sizeof(*order));
    for (size_t i = 0; i < count; i++)
        order[i] = (struct order){upload->offers[i].external_id, i};
    qsort(order, count, sizeof(*order), compare_order);
    permute(decoding, order);
    free(order);
    for (size_t i = 0; i < count; i++) {
        const struct offer *offer = &upload->offers[i];
        if (kept > 0 && strcmp(upload->offers[kept - 1].external_id, offer->external_id) == 0) {
            row_issues_add(decoding->arena, &upload->errors, decoding->rows[i], offer->external_id,
                           make_pointer(decoding->arena, pointer_pattern, decoding->rows[i] - 1),
                           "duplicate_external_id",
                           arena_printf(decoding->arena,
                                        "Row %lld has the same external_id; each offer may come "
                                        "once.",
                                        (long long)decoding->rows[kept - 1]));
            upload->rejected++;
            continue;
        }
        decoding->rows[kept] = decoding->rows[i];
        upload->offers[kept++] = *offer;
    }
    upload->offer_count = kept;
}
