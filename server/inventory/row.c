/* Shared by all decoders, so that an offer means the same whatever file it came in. */
#include "server/inventory/row.h"

#include "server/base/decimal.h"
#include "server/base/timestamp.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* No GPU has 2,000 GB; a figure of that size is what drivers report, in MiB. */
#define VRAM_IN_MIB_FROM_MILLI INT64_C(2000000)

void row_begin(struct row *row, struct decoding *decoding, int64_t number, const char *prefix)
{
    *row = (struct row){
        .decoding = decoding,
        .number = number,
        .prefix = prefix,
        .errors_before = decoding->upload->errors.count,
    };
}

/* A JSON pointer as a CSV's column: its last word; of a price, in that price's row. */
static const char *to_column(const struct row *row, const char *path, int64_t *ret_row)
{
    if (strncmp(path, "/prices/", 8) == 0)
        *ret_row = row->price_rows[strtoul(path + 8, NULL, 10)];
    const char *slash = strrchr(path, '/');
    const char *word = slash == NULL ? path : slash + 1;
    return strspn(word, "0123456789") == strlen(word) ? "" : word;
}

static void add_issue(struct row *row, struct row_issues *issues, const char *path,
                      const char *code, const char *format, va_list arguments)
    __attribute__((format(printf, 5, 0)));
static void add_issue(struct row *row, struct row_issues *issues, const char *path,
                      const char *code, const char *format, va_list arguments)
{
    struct arena *arena = row->decoding->arena;
    int64_t number = row->number;
    const char *pointer = row->price_rows != NULL
                              ? arena_strdup(arena, to_column(row, path, &number))
                              : arena_printf(arena, "%s%s", row->prefix, path);
    row_issues_add(arena, issues, number, row->external_id, pointer, code,
                   arena_vprintf(arena, format, arguments));
}

void row_error(struct row *row, const char *path, const char *code, const char *format, ...)
{
    struct row_issues *errors = &row->decoding->upload->errors;
    size_t count = errors->count - row->errors_before;
    va_list arguments;
    if (count >= ROW_ISSUES_MAX)
        return;
    if (count == ROW_ISSUES_MAX - 1) {
        path = "";
        code = "too_many_errors";
        format = "More is wrong with this row; only the first issues are listed.";
    }
    va_start(arguments, format);
    add_issue(row, errors, path, code, format, arguments);
    va_end(arguments);
}

void row_warning(struct row *row, const char *path, const char *code, const char *format, ...)
{
    struct row_issues *warnings = &row->decoding->upload->warnings;
    va_list arguments;
    if (warnings->count >= UPLOAD_ISSUES_MAX)
        return;
    if (warnings->count == UPLOAD_ISSUES_MAX - 1) {
        code = "too_many_warnings";
        format = "There are more doubts from this row on; they are not listed.";
    }
    va_start(arguments, format);
    add_issue(row, warnings, path, code, format, arguments);
    va_end(arguments);
}

bool row_failed(const struct row *row)
{
    return row->decoding->upload->errors.count > row->errors_before;
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

static bool same_plan(const struct price *a, const struct price *b)
{
    return a->plan == b->plan ||
           (a->plan != NULL && b->plan != NULL && strcmp(a->plan, b->plan) == 0);
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
        for (size_t k = 0; k < i && price->billing == BILLING_RESERVED; k++) {
            const struct price *shorter = &offer->prices[k];
            if (shorter->billing == BILLING_RESERVED && shorter->min_gpus == price->min_gpus &&
                shorter->upfront_percent_milli == price->upfront_percent_milli &&
                same_plan(shorter, price) && shorter->term_months < price->term_months &&
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

/* Whether a size is that of all GPUs together, in GB or in MiB, within what drivers round away. */
static bool is_total(const struct gpu_match *match, int64_t given_milli, int32_t gpu_count_milli)
{
    if (gpu_count_milli <= 1000)
        return false;
    for (size_t i = 0; i < match->known_size_count; i++) {
        int64_t total = match->known_sizes_milli[i] * gpu_count_milli / 1000;
        const int64_t readings[] = {given_milli, given_milli / 1024};
        for (size_t k = 0; k < 2; k++) {
            if (llabs(total - readings[k]) * 100 <= total * 4)
                return true;
        }
    }
    return false;
}

static void resolve_gpu(struct row *row, struct offer *offer)
{
    int64_t given = offer->vram_gb_given_milli;
    int64_t hint = given >= VRAM_IN_MIB_FROM_MILLI ? given / 1024 : given;
    const struct gpu_match *match = decoding_resolve_gpu(row->decoding, offer->gpu_raw, hint);
    offer->gpu = match->gpu;
    offer->vram_gb_milli = match->vram_gb_milli;
    if (!match->vram_fits && !row->foreign && given != UNKNOWN) {
        row_error(row, "/vram_gb", "vram_fits_no_variant",
                  is_total(match, given, offer->gpu_count_milli)
                      ? "vram_gb is the memory of one GPU; this is the total of all. Known sizes: "
                        "%s GB."
                      : "No variant of this GPU has that much memory. Known sizes: %s GB.",
                  list_sizes(&row->decoding->scratch, match));
        return;
    }
    if (!match->vram_fits || (offer->flags & OFFER_FLAG(VRAM_FITS_NO_VARIANT)) != 0) {
        offer->flags |= OFFER_FLAG(VRAM_FITS_NO_VARIANT);
        row_warning(row, row->vram_path == NULL ? "/gpu" : row->vram_path, "vram_fits_no_variant",
                    "No variant of %.100s is known with that much memory.", offer->gpu_raw);
        offer->vram_gb_milli = gpu_at(match->gpu)->vram_gb_milli;
        offer->vram_gb_given_milli = UNKNOWN;
    } else if (given != UNKNOWN) {
        offer->vram_gb_given_milli = match->vram_gb_milli != UNKNOWN ? match->vram_gb_milli : hint;
    }
}

static const char *price_path(const struct row *row, size_t index)
{
    return row->price_path != NULL ? row->price_path
                                   : arena_printf(&row->decoding->scratch, "/prices/%zu", index);
}

/* Names the first two prices with one identity, by where they stood. */
static void report_same_price(struct row *row, const struct price *unsorted, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (price_compare_identity(&unsorted[k], &unsorted[i]) != 0)
                continue;
            row_error(row, price_path(row, i), "duplicate_price",
                      "Price %zu has the same billing, term_months, min_gpus, upfront_percent and "
                      "plan; they tell prices apart.",
                      k);
            return;
        }
    }
}

/* Sorts by identity; false where two prices share one. */
static bool sort_prices(struct row *row, struct price *prices, size_t count)
{
    if (count < 2)
        return true;
    struct price *unsorted = arena_alloc(&row->decoding->scratch, count * sizeof(*unsorted));
    memcpy(unsorted, prices, count * sizeof(*unsorted));
    qsort(prices, count, sizeof(*prices), compare_prices);
    for (size_t i = 1; i < count; i++) {
        if (price_compare_identity(&prices[i - 1], &prices[i]) == 0) {
            report_same_price(row, unsorted, count);
            return false;
        }
    }
    return true;
}

void row_finish_offer(struct row *row, struct offer *offer, struct price *prices,
                      size_t price_count)
{
    const struct decode_options *options = row->decoding->options;
    offer->source_kind = options->source_kind;
    if (offer->observed_at_us == TIMESTAMP_UNKNOWN)
        offer->observed_at_us = options->as_of_us;
    for (size_t i = 0; i < price_count && !row_failed(row); i++) {
        if (!price_derive(&prices[i], offer->gpu_count_milli))
            row_error(row, price_path(row, i), "out_of_range",
                      "This price, divided over the GPUs, is less than a millionth of a dollar or "
                      "too large.");
    }
    if (row_failed(row) || !sort_prices(row, prices, price_count))
        return;
    offer->prices = prices;
    offer->price_count = price_count;
    resolve_gpu(row, offer);
    offer->place = decoding_resolve_place(row->decoding, offer->region_raw, offer->zone);
    flag_prices(offer);
}
