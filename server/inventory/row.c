/* Shared by all decoders, so that an offer means the same whatever file it came in. */
#include "server/inventory/row.h"

#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void row_begin(struct row *row, struct arena *arena, struct upload *upload,
               const struct decode_options *options, int64_t number, const char *prefix)
{
    *row = (struct row){
        .arena = arena,
        .upload = upload,
        .options = options,
        .number = number,
        .prefix = prefix,
        .errors_before = upload->errors.count,
    };
}

static void add_issue(struct row *row, struct row_issues *issues, const char *path,
                      const char *code, const char *format, va_list arguments)
    __attribute__((format(printf, 5, 0)));
static void add_issue(struct row *row, struct row_issues *issues, const char *path,
                      const char *code, const char *format, va_list arguments)
{
    row_issues_add(row->arena, issues, row->number, row->external_id,
                   arena_printf(row->arena, "%s%s", row->prefix, path), code,
                   arena_vprintf(row->arena, format, arguments));
}

void row_error(struct row *row, const char *path, const char *code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_issue(row, &row->upload->errors, path, code, format, arguments);
    va_end(arguments);
}

void row_warning(struct row *row, const char *path, const char *code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_issue(row, &row->upload->warnings, path, code, format, arguments);
    va_end(arguments);
}

bool row_failed(const struct row *row)
{
    return row->upload->errors.count > row->errors_before;
}

struct offer offer_unknown(void)
{
    return (struct offer){
        .gpu_count_milli = UNKNOWN,
        .vram_gb_given_milli = UNKNOWN,
        .vcpus_milli = UNKNOWN,
        .memory_gib_milli = UNKNOWN,
        .storage_gb_milli = UNKNOWN,
        .fabric_gbps_milli = UNKNOWN,
        .availability = {.gpus_available = UNKNOWN, .lead_time_days = UNKNOWN},
        .extra_costs = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN},
        .observed_at_us = TIMESTAMP_UNKNOWN,
        .gpu = INDEX_NONE,
        .place = INDEX_NONE,
        .vram_gb_milli = UNKNOWN,
        .updated_at_us = TIMESTAMP_UNKNOWN,
    };
}

static int compare_prices(const void *a, const void *b)
{
    return price_compare_identity(a, b);
}

static void flag_prices(struct offer *offer)
{
    int64_t spot = UNKNOWN, on_demand = UNKNOWN;
    for (size_t i = 0; i < offer->price_count; i++) {
        const struct price *price = &offer->prices[i];
        if (price->billing == BILLING_SPOT &&
            (spot == UNKNOWN || price->per_gpu_hour_microusd < spot))
            spot = price->per_gpu_hour_microusd;
        if (price->billing == BILLING_ON_DEMAND &&
            (on_demand == UNKNOWN || price->per_gpu_hour_microusd < on_demand))
            on_demand = price->per_gpu_hour_microusd;
        for (size_t k = 0; k < i; k++) {
            const struct price *shorter = &offer->prices[k];
            bool same_kind = shorter->billing == BILLING_RESERVED &&
                             price->billing == BILLING_RESERVED &&
                             shorter->min_gpus == price->min_gpus &&
                             shorter->upfront_percent_milli == price->upfront_percent_milli &&
                             ((shorter->plan == NULL && price->plan == NULL) ||
                              (shorter->plan != NULL && price->plan != NULL &&
                               strcmp(shorter->plan, price->plan) == 0));
            if (same_kind && shorter->term_months < price->term_months &&
                shorter->per_gpu_hour_microusd < price->per_gpu_hour_microusd)
                offer->flags |= OFFER_FLAG(LONGER_TERM_DEARER);
        }
    }
    if (spot != UNKNOWN && on_demand != UNKNOWN && spot >= on_demand)
        offer->flags |= OFFER_FLAG(SPOT_NOT_CHEAPER);
}

static const char *list_sizes(struct arena *arena, const struct gpu_match *match)
{
    struct buf text = {0};
    for (size_t i = 0; i < match->known_size_count; i++) {
        if (i > 0)
            buf_add_string(&text, i + 1 == match->known_size_count ? " or " : ", ");
        buf_add_decimal(&text, match->known_sizes_milli[i], 3);
    }
    const char *copy = arena_strndup(arena, text.data == NULL ? "" : text.data, text.length);
    buf_free(&text);
    return copy;
}

static void resolve_gpu(struct row *row, struct offer *offer)
{
    struct gpu_match match;
    gpu_resolve(offer->gpu_raw, offer->vram_gb_given_milli, NULL, &match);
    offer->gpu = match.gpu;
    offer->vram_gb_milli = match.vram_gb_milli;
    if (!match.vram_fits && !row->foreign && offer->vram_gb_given_milli != UNKNOWN) {
        const char *sizes = list_sizes(row->arena, &match);
        bool total = false;
        for (size_t i = 0; i < match.known_size_count; i++)
            total = total || (offer->gpu_count_milli > 1000 &&
                              match.known_sizes_milli[i] * offer->gpu_count_milli / 1000 ==
                                  offer->vram_gb_given_milli);
        row_error(row, "/vram_gb", "vram_fits_no_variant",
                  total ? "vram_gb is the memory of one GPU; this looks like the total of all. "
                          "Known sizes: %s GB."
                        : "No variant of this GPU has that much memory. Known sizes: %s GB.",
                  sizes);
    } else if (!match.vram_fits) {
        offer->flags |= OFFER_FLAG(VRAM_FITS_NO_VARIANT);
        row_warning(row, "/vram_gb", "vram_fits_no_variant",
                    "No variant of %s is known with that much memory.", offer->gpu_raw);
        offer->vram_gb_milli = gpu_at(match.gpu)->vram_gb_milli;
    }
    if (offer->vram_gb_given_milli != UNKNOWN && match.vram_gb_milli != UNKNOWN)
        offer->vram_gb_given_milli = match.vram_gb_milli;
}

void row_finish_offer(struct row *row, struct offer *offer, struct price *prices,
                      size_t price_count)
{
    offer->source_kind = row->options->source_kind;
    if (offer->observed_at_us == TIMESTAMP_UNKNOWN)
        offer->observed_at_us = row->options->as_of_us;
    for (size_t i = 0; i < price_count; i++) {
        if (offer->gpu_count_milli > 0 && !row_failed(row) &&
            !price_derive(&prices[i], offer->gpu_count_milli))
            row_error(row, arena_printf(row->arena, "/prices/%zu", i), "out_of_range",
                      "This price, divided over the GPUs, is less than a millionth of a dollar or "
                      "too large.");
    }
    if (row_failed(row))
        return;
    if (price_count > 1)
        qsort(prices, price_count, sizeof(*prices), compare_prices);
    for (size_t i = 1; i < price_count; i++) {
        if (price_compare_identity(&prices[i - 1], &prices[i]) == 0) {
            row_error(row, "/prices", "duplicate_price",
                      "Two prices share billing, term_months, min_gpus, upfront_percent and plan.");
            return;
        }
    }
    offer->prices = prices;
    offer->price_count = price_count;
    resolve_gpu(row, offer);
    offer->place = place_resolve(row->options->provider_slug, offer->region_raw, offer->zone, NULL);
    flag_prices(offer);
}

void upload_add(struct upload *upload, struct arena *arena, const struct offer *offer,
                size_t *capacity)
{
    if (upload->offer_count == *capacity) {
        size_t grown = *capacity == 0 ? 64 : *capacity * 2;
        struct offer *offers = arena_alloc(arena, grown * sizeof(*offers));
        if (upload->offer_count > 0)
            memcpy(offers, upload->offers, upload->offer_count * sizeof(*offers));
        upload->offers = offers;
        *capacity = grown;
    }
    upload->offers[upload->offer_count++] = *offer;
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
static void print_pointer(char *out, size_t size, const char *pattern, int64_t index)
{
    const char *mark = strchr(pattern, '#');
    if (mark == NULL)
        snprintf(out, size, "%s", pattern);
    else
        snprintf(out, size, "%.*s%lld%s", (int)(mark - pattern), pattern, (long long)index,
                 mark + 1);
}

void upload_sort_and_dedupe(struct upload *upload, struct arena *arena, int64_t *rows,
                            const char *pointer_pattern)
{
    size_t count = upload->offer_count, kept = 0;
    if (count == 0)
        return;
    struct order *order = xmalloc(count * sizeof(*order));
    struct offer *sorted = arena_alloc(arena, count * sizeof(*sorted));
    for (size_t i = 0; i < count; i++)
        order[i] = (struct order){upload->offers[i].external_id, i};
    qsort(order, count, sizeof(*order), compare_order);
    for (size_t i = 0; i < count; i++) {
        size_t index = order[i].index;
        if (i > 0 && strcmp(order[i - 1].external_id, order[i].external_id) == 0) {
            char pointer[80];
            print_pointer(pointer, sizeof(pointer), pointer_pattern, rows[index] - 1);
            row_issues_add(arena, &upload->errors, rows[index], order[i].external_id,
                           arena_strdup(arena, pointer), "duplicate_external_id",
                           "An earlier row has the same external_id; each offer may come once.");
            upload->rejected++;
            continue;
        }
        sorted[kept++] = upload->offers[index];
    }
    free(order);
    upload->offers = sorted;
    upload->offer_count = kept;
}
