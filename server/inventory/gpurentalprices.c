/* Snapshots of gpurentalprices.com (CC BY 4.0): prices per GPU of many providers, no places. A
 * provider's rows with the same GPU, size and min_gpus are one offer; `kind` is billing and plan.
 * Of rows that say two prices for the same thing the cheapest stands, with a warning. */
#include "server/inventory/decode_json.h"
#include "server/inventory/row.h"

#include "server/base/decimal.h"
#include "server/base/timestamp.h"

#include <stdlib.h>
#include <string.h>

#define ATTRIBUTION "gpurentalprices.com (CC BY 4.0)"

/* What a kind means. */
static const struct kind {
    const char *name;
    enum billing billing;
    const char *plan;
} kinds[] = {
    {"on-demand", BILLING_ON_DEMAND, NULL},          {"spot", BILLING_SPOT, NULL},
    {"secure", BILLING_ON_DEMAND, "secure"},         {"community", BILLING_ON_DEMAND, "community"},
    {"serverless", BILLING_ON_DEMAND, "serverless"},
};

struct held {
    const char *external_id;
    const struct kind *kind;
    const char *gpu, *source_url; /* kept */
    int64_t vram_gb_milli, microusd, observed_at_us, row;
    int32_t min_gpus;
    bool rounded;
};

struct snapshot {
    struct held *rows;
    size_t count, capacity;
};

static const char *text_member(const struct json_value *value, const char *name)
{
    const struct json_value *member = json_member(value, name);
    return member != NULL && member->type == JSON_TYPE_STRING ? member->text : NULL;
}

/* A number within bounds; UNKNOWN where left out. False (and an error) where it is another thing.
 */
static bool number_member(struct row *row, const struct json_value *value, const char *name,
                          unsigned decimals, int64_t maximum, int64_t *ret, bool *ret_rounded)
{
    const struct json_value *member = json_member(value, name);
    const char *path = arena_printf(&row->decoding->scratch, "/%s", name);
    *ret = UNKNOWN;
    if (member == NULL || member->type == JSON_TYPE_NULL)
        return true;
    enum decimal_status status =
        member->type != JSON_TYPE_NUMBER
            ? DECIMAL_MALFORMED
            : decimal_parse_json(member->text, member->length, decimals, true, ret);
    if (status != DECIMAL_OK && status != DECIMAL_ROUNDED) {
        row_error(row, path, "wrong_type", "%s must be a number.", name);
        return false;
    }
    if (*ret <= 0 || *ret > maximum) {
        row_error(row, path, "out_of_range", "%s must be over 0 and not huge.", name);
        return false;
    }
    *ret_rounded = *ret_rounded || status == DECIMAL_ROUNDED;
    return true;
}

static bool read_kind(struct row *row, const struct json_value *value, struct held *held)
{
    const char *name = text_member(value, "kind");
    for (size_t i = 0; name != NULL && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(name, kinds[i].name) == 0)
            held->kind = &kinds[i];
    }
    if (held->kind == NULL)
        row_error(row, "/kind", "unknown_value",
                  "kind is on-demand, spot, secure, community or serverless, not %.40s.",
                  name == NULL ? "left out" : name);
    return held->kind != NULL;
}

static bool read_texts(struct row *row, const struct json_value *value, struct held *held)
{
    struct decoding *decoding = row->decoding;
    const char *gpu = text_member(value, "gpu"), *seen = text_member(value, "fetched_at"),
               *url = text_member(value, "source_url");
    held->observed_at_us = TIMESTAMP_UNKNOWN;
    if (gpu == NULL || *gpu == '\0' || strlen(gpu) > 100 || !text_is_clean(gpu, strlen(gpu))) {
        row_error(row, "/gpu", "missing_field", "gpu is required, at most 100 bytes.");
        return false;
    }
    held->gpu = decoding_keep(decoding, gpu);
    if (seen != NULL && (!timestamp_parse(seen, strlen(seen), &held->observed_at_us) ||
                         held->observed_at_us > timestamp_now_us() + INT64_C(86400000000))) {
        row_error(row, "/fetched_at", "bad_time", "fetched_at is no RFC 3339 time of the past.");
        return false;
    }
    if (url != NULL && (strncmp(url, "https://", 8) == 0 || strncmp(url, "http://", 7) == 0) &&
        strlen(url) <= OFFER_URL_MAX_BYTES && text_is_clean(url, strlen(url)))
        held->source_url = decoding_keep(decoding, url);
    return true;
}

/* `h100-sxm-80gb`, `b200-180gb-min8`: what tells a provider's offers apart. */
static const char *make_id(struct arena *arena, const struct held *held)
{
    struct buf id = {0};
    buf_add_string(&id, held->gpu);
    if (held->vram_gb_milli != UNKNOWN) {
        buf_add_char(&id, '-');
        buf_add_decimal(&id, held->vram_gb_milli, 3);
        buf_add_string(&id, "gb");
    }
    if (held->min_gpus != UNKNOWN)
        buf_printf(&id, "-min%d", held->min_gpus);
    const char *text = arena_strndup(arena, id.data, id.length);
    buf_free(&id);
    return text;
}

static void hold(struct decoding *decoding, void *closure, const struct json_value *value,
                 int64_t number)
{
    struct snapshot *snapshot = closure;
    struct held held = {.row = number};
    struct row row;
    row_begin(&row, decoding, number,
              arena_printf(&decoding->scratch, "/offers/%lld", (long long)number - 1));
    const char *provider = value->type == JSON_TYPE_OBJECT ? text_member(value, "provider") : NULL;
    if (provider != NULL && strcmp(provider, decoding->options->provider_slug) != 0) {
        if (decoding->options->others_pass)
            decoding->upload->rows_read--;
        else
            decoding->upload->skipped++;
        return;
    }
    int64_t min_gpus = UNKNOWN;
    bool none = false;
    if (provider == NULL)
        row_error(&row, "/provider", "missing_field", "The row names no provider.");
    else if (read_texts(&row, value, &held) && read_kind(&row, value, &held) &&
             number_member(&row, value, "usd_hr", 6, PRICE_MAX_MICROUSD, &held.microusd,
                           &held.rounded) &&
             number_member(&row, value, "vram_gb", 3, 100000000, &held.vram_gb_milli, &none))
        number_member(&row, value, "min_gpus", 0, 10000000, &min_gpus, &none);
    if (!row_failed(&row) && held.microusd == UNKNOWN)
        row_error(&row, "/usd_hr", "missing_field", "The row has no price.");
    if (row_failed(&row)) {
        decoding->upload->rejected++;
        return;
    }
    held.min_gpus = (int32_t)min_gpus;
    held.external_id = make_id(decoding->arena, &held);
    if (snapshot->count == snapshot->capacity) {
        snapshot->capacity = snapshot->capacity == 0 ? 64 : snapshot->capacity * 2;
        snapshot->rows = xrealloc(snapshot->rows, snapshot->capacity * sizeof(*snapshot->rows));
    }
    snapshot->rows[snapshot->count++] = held;
}

/* By offer, then kind, the cheapest first. */
static int compare_held(const void *a, const void *b)
{
    const struct held *left = a, *right = b;
    int order = strcmp(left->external_id, right->external_id);
    if (order == 0)
        order = (left->kind > right->kind) - (left->kind < right->kind);
    if (order == 0)
        order = (left->microusd > right->microusd) - (left->microusd < right->microusd);
    return order != 0 ? order : (left->row > right->row) - (left->row < right->row);
}

static void begin(struct row *row, struct decoding *decoding, const struct held *held)
{
    row_begin(row, decoding, held->row,
              arena_printf(&decoding->scratch, "/offers/%lld", (long long)held->row - 1));
    row->external_id = held->external_id;
    row->foreign = true;
    row->price_path = "/usd_hr";
    row->vram_path = "/vram_gb";
}

static void add_price(struct decoding *decoding, const struct held *held, struct offer *offer,
                      struct price *price)
{
    struct row row;
    begin(&row, decoding, held);
    *price = (struct price){
        .billing = held->kind->billing,
        .quoted_per = PRICE_PER_GPU,
        .plan = held->kind->plan,
        .min_gpus = held->min_gpus,
        .max_gpus = UNKNOWN,
        .upfront_percent_milli = UNKNOWN,
        .quoted_microusd = held->microusd,
    };
    if (held->observed_at_us > offer->observed_at_us)
        offer->observed_at_us = held->observed_at_us;
    if (held->rounded) {
        offer->flags |= OFFER_FLAG(PRICE_ROUNDED);
        row_warning(&row, "/usd_hr", "price_rounded",
                    "The price has more than six decimals and was rounded half to even.");
    }
}

/* Rows of one offer, cheapest of each kind first. */
static void take_group(struct decoding *decoding, const struct held *rows, size_t count)
{
    struct offer offer = offer_unknown();
    struct price *prices = arena_calloc(decoding->arena, count, sizeof(*prices));
    size_t price_count = 0;
    struct row row;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || rows[i].kind != rows[i - 1].kind) {
            add_price(decoding, &rows[i], &offer, &prices[price_count++]);
            continue;
        }
        begin(&row, decoding, &rows[i]);
        row_warning(&row, "/usd_hr", "duplicate_price",
                    "Another row has the same provider, GPU, size, min_gpus and kind; the cheapest "
                    "stands.");
    }
    begin(&row, decoding, &rows[0]);
    offer.external_id = rows[0].external_id;
    offer.gpu_raw = rows[0].gpu;
    offer.gpu_count_milli = 1000;
    offer.vram_gb_given_milli = rows[0].vram_gb_milli;
    offer.source_url = rows[0].source_url;
    offer.attribution = decoding_keep(decoding, ATTRIBUTION);
    row_finish_offer(&row, &offer, prices, price_count);
    if (row_failed(&row))
        decoding->upload->rejected++;
    else
        decoding_add(decoding, row.number, &offer);
}

enum decode_status decode_gpurentalprices(struct decoding *decoding)
{
    struct snapshot snapshot = {0};
    if (decoding->options->provider_slug == NULL) {
        decoding_fail(decoding, 0, "A snapshot holds many providers; say which one.");
        return DECODE_MALFORMED;
    }
    enum decode_status status = json_offers_walk(decoding, true, hold, &snapshot);
    if (status == DECODE_OK && snapshot.count > 0) {
        qsort(snapshot.rows, snapshot.count, sizeof(*snapshot.rows), compare_held);
        for (size_t i = 0; i < snapshot.count;) {
            size_t next = i + 1;
            while (next < snapshot.count &&
                   strcmp(snapshot.rows[i].external_id, snapshot.rows[next].external_id) == 0)
                next++;
            arena_reset(&decoding->scratch);
            take_group(decoding, &snapshot.rows[i], next - i);
            i = next;
        }
    }
    free(snapshot.rows);
    return status;
}
