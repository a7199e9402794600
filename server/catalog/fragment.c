/* Rendering goes through the shared JSON writer; splicing is a handful of memcpy. */
#include "server/catalog/fragment.h"

#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/catalog/latency_query.h"
#include "server/market/unit_price.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <assert.h>
#include <string.h>

#define TAIL_FRESH  ",\"stale\":false,\"trust_score\":null,\"latency_ms\":"
#define TAIL_STALE  ",\"stale\":true,\"trust_score\":null,\"latency_ms\":"
#define NO_LATENCY  "null,\"latency_kind\":null,\"location_contradicted_by\":"
#define MEASURED    ",\"latency_kind\":\"measured\",\"location_contradicted_by\":"
#define ESTIMATED   ",\"latency_kind\":\"estimated\",\"location_contradicted_by\":"
#define NO_EVIDENCE "null}"
#define TAIL_BYTES  (sizeof(TAIL_FRESH) + 32 + sizeof(ESTIMATED) + sizeof(NO_EVIDENCE))

/* Where values end, as they are rendered. */
struct marks {
    const struct buf *out;
    size_t start; /* of the fragment */
    size_t ends[LEAF_COUNT];
};

static void mark(struct marks *marks, enum fragment_leaf leaf)
{
    marks->ends[leaf] = marks->out->length - marks->start;
}

static struct leaf_table table_of(const struct marks *marks)
{
    struct leaf_table table;
    size_t length = marks->out->length - marks->start;
    for (int leaf = 0; leaf < LEAF_COUNT; leaf++) {
        size_t end = leaf < LEAF_PRICES ? marks->ends[leaf] : length - marks->ends[leaf];
        assert(end <= UINT16_MAX); /* the model bounds every text */
        table.ends[leaf] = (uint16_t)end;
    }
    return table;
}

static void open_object(struct buf *out, const char *key)
{
    buf_add_json_key(out, key);
    buf_add_char(out, '{');
}

static void render_gpu(struct buf *out, const struct offer *offer, struct marks *marks)
{
    const struct gpu *gpu = gpu_at(offer->gpu);
    open_object(out, "gpu");
    buf_add_json_member_string(out, "slug", gpu->slug);
    mark(marks, LEAF_GPU_SLUG);
    buf_add_json_member_string(out, "family", gpu->family);
    mark(marks, LEAF_GPU_FAMILY);
    buf_add_json_member_string(out, "vendor", gpu->vendor[0] == '\0' ? NULL : gpu->vendor);
    mark(marks, LEAF_GPU_VENDOR);
    buf_add_json_member_string(out, "name", gpu->name);
    mark(marks, LEAF_GPU_NAME);
    buf_add_json_member_string(out, "form_factor", form_factor_name(gpu->form_factor));
    mark(marks, LEAF_GPU_FORM_FACTOR);
    buf_add_json_member_decimal(out, "vram_gb", offer->vram_gb_milli, 3);
    mark(marks, LEAF_GPU_VRAM);
    buf_add_json_member_string(out, "raw", offer->gpu_raw);
    mark(marks, LEAF_GPU_RAW);
    buf_add_char(out, '}');
}

int64_t fragment_total_vram_gb_milli(const struct offer *offer)
{
    int64_t numerator, denominator;
    if (offer->vram_gb_milli < 0)
        return UNKNOWN;
    gpu_count_fraction(offer->gpu_count_milli, &numerator, &denominator);
    return decimal_muldiv_half_even(offer->vram_gb_milli, numerator, denominator, NULL);
}

static void render_machine(struct buf *out, const struct offer *offer, struct marks *marks)
{
    buf_add_json_member_decimal(out, "gpu_count", offer->gpu_count_milli, 3);
    mark(marks, LEAF_GPU_COUNT);
    buf_add_json_member_decimal(out, "total_vram_gb", fragment_total_vram_gb_milli(offer), 3);
    mark(marks, LEAF_TOTAL_VRAM);
    open_object(out, "node");
    buf_add_json_member_decimal(out, "vcpus", offer->vcpus_milli, 3);
    mark(marks, LEAF_NODE_VCPUS);
    buf_add_json_member_decimal(out, "memory_gib", offer->memory_gib_milli, 3);
    mark(marks, LEAF_NODE_MEMORY);
    buf_add_json_member_decimal(out, "storage_gb", offer->storage_gb_milli, 3);
    mark(marks, LEAF_NODE_STORAGE);
    buf_add_char(out, '}');
    buf_add_json_member_string(out, "interconnect", interconnect_name(offer->interconnect));
    mark(marks, LEAF_INTERCONNECT);
    buf_add_json_member_string(out, "fabric", fabric_name(offer->fabric));
    mark(marks, LEAF_FABRIC);
    buf_add_json_member_decimal(out, "fabric_gbps", offer->fabric_gbps_milli, 3);
    mark(marks, LEAF_FABRIC_GBPS);
}

static void render_region(struct buf *out, const struct offer *offer, struct marks *marks)
{
    const struct place *place = offer->place == INDEX_NONE ? NULL : place_at(offer->place);
    open_object(out, "region");
    buf_add_json_member_string(out, "slug", place == NULL ? NULL : place->slug);
    mark(marks, LEAF_REGION_SLUG);
    buf_add_json_member_string(out, "country", place == NULL ? NULL : place->country);
    mark(marks, LEAF_REGION_COUNTRY);
    buf_add_json_member_string(out, "continent", place == NULL ? NULL : place->continent);
    mark(marks, LEAF_REGION_CONTINENT);
    buf_add_json_member_string(out, "raw", offer->region_raw);
    mark(marks, LEAF_REGION_RAW);
    buf_add_json_member_string(out, "zone", offer->zone);
    mark(marks, LEAF_REGION_ZONE);
    buf_add_char(out, '}');
}

static void render_stock(struct buf *out, const struct offer *offer, struct marks *marks)
{
    const struct availability *availability = &offer->availability;
    open_object(out, "availability");
    buf_add_json_member_string(out, "status", availability_name(availability->status));
    mark(marks, LEAF_STATUS);
    buf_add_json_member_int(out, "gpus_available", availability->gpus_available);
    mark(marks, LEAF_GPUS_AVAILABLE);
    buf_add_json_member_int(out, "lead_time_days", availability->lead_time_days);
    mark(marks, LEAF_LEAD_TIME);
    buf_add_json_key(out, "schedule");
    buf_add_char(out, '[');
    for (size_t i = 0; i < availability->schedule_count; i++) {
        buf_add_string(out, i > 0 ? ",{" : "{");
        buf_add_json_member_int(out, "gpus", availability->schedule[i].gpus);
        buf_add_json_member_int(out, "days", availability->schedule[i].days);
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
    mark(marks, LEAF_SCHEDULE);
    buf_add_char(out, '}');
    open_object(out, "extra_costs");
    buf_add_json_member_decimal(out, "egress_per_gb", offer->extra_costs.egress_per_gb_microusd, 6);
    mark(marks, LEAF_EGRESS);
    buf_add_json_member_decimal(out, "storage_per_gb_month",
                                offer->extra_costs.storage_per_gb_month_microusd, 6);
    mark(marks, LEAF_STORAGE_COST);
    buf_add_json_member_int(out, "billing_increment_seconds",
                            offer->extra_costs.billing_increment_seconds);
    mark(marks, LEAF_BILLING_INCREMENT);
    buf_add_json_member_int(out, "minimum_duration_seconds",
                            offer->extra_costs.minimum_duration_seconds);
    mark(marks, LEAF_MINIMUM_DURATION);
    buf_add_char(out, '}');
}

/* What it costs for each unit of what the GPU has. */
static void render_unit_prices(struct buf *out, const struct offer *offer,
                               const struct price *price)
{
    for (int i = 0; i < UNIT_PRICE_COUNT; i++) {
        enum unit_price unit = (enum unit_price)i;
        int64_t quantity = unit_price_quantity(unit, gpu_at(offer->gpu), offer->vram_gb_milli);
        buf_add_json_member_decimal(
            out, unit_price_name(unit),
            unit_price_microusd(unit, price->per_gpu_hour_microusd, quantity), 6);
    }
}

static void render_price(struct buf *out, const struct offer *offer, const struct price *price)
{
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "billing", billing_name(price->billing));
    buf_add_json_member_int(out, "term_months", price->term_months);
    buf_add_json_member_string(out, "plan", price->plan);
    buf_add_json_member_decimal(out, "price_per_gpu_hour", price->per_gpu_hour_microusd, 6);
    buf_add_json_member_decimal(out, "price_per_node_hour", price->per_node_hour_microusd, 6);
    buf_add_json_member_string(out, "quoted_per",
                               price->quoted_per == PRICE_PER_GPU ? "gpu" : "node");
    buf_add_json_member_int(out, "min_gpus", price->min_gpus);
    buf_add_json_member_int(out, "max_gpus", price->max_gpus);
    buf_add_json_member_decimal(out, "upfront_percent", price->upfront_percent_milli, 3);
    render_unit_prices(out, offer, price);
    buf_add_char(out, '}');
}

static void render_prices(struct buf *out, size_t start, const struct offer *offer,
                          struct fragment_price *prices)
{
    buf_add_json_key(out, "prices");
    buf_add_char(out, '[');
    for (size_t i = 0; i < offer->price_count; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        size_t from = out->length;
        render_price(out, offer, &offer->prices[i]);
        prices[i] =
            (struct fragment_price){(uint32_t)(from - start), (uint16_t)(out->length - from)};
    }
    buf_add_char(out, ']');
}

static void render_time(struct buf *out, int64_t us)
{
    char text[TIMESTAMP_TEXT_SIZE];
    if (us == TIMESTAMP_UNKNOWN) {
        buf_add_string(out, "null");
        return;
    }
    timestamp_print(us, text);
    buf_add_json_string(out, text);
}

static void render_end(struct buf *out, const struct offer *offer, struct marks *marks)
{
    buf_add_json_member_string(out, "attribution", offer->attribution);
    mark(marks, LEAF_ATTRIBUTION);
    buf_add_char(out, '}');
    buf_add_json_key(out, "flags");
    buf_add_char(out, '[');
    bool first = true;
    for (int bit = 0; bit < OFFER_FLAG_COUNT; bit++) {
        if ((offer->flags >> bit & 1) == 0)
            continue;
        if (!first)
            buf_add_char(out, ',');
        buf_add_json_string(out, offer_flag_name((enum offer_flag)bit));
        first = false;
    }
    buf_add_char(out, ']');
    mark(marks, LEAF_FLAGS);
    buf_add_json_key(out, "updated_at");
    render_time(out, offer->updated_at_us);
    mark(marks, LEAF_UPDATED_AT);
    buf_add_json_key(out, "price");
}

struct fragment fragment_render(struct buf *out, const struct offer *offer, struct offer_key key,
                                int64_t own_us, struct fragment_price *prices)
{
    struct fragment fragment;
    size_t start = out->length;
    struct marks marks = {.out = out, .start = start};
    uint8_t id[OFFER_ID_BYTES];
    char id_text[OFFER_ID_TEXT_LENGTH + 1];
    for (int i = 0; i < 8; i++) {
        id[i] = (uint8_t)(key.high >> (56 - 8 * i));
        id[8 + i] = (uint8_t)(key.low >> (56 - 8 * i));
    }
    offer_id_print(id, id_text);
    buf_add_string(out, "{\"id\":\"");
    buf_add_string(out, id_text);
    buf_add_string(out, "\",\"provider\":");
    buf_add_json_member_string(out, "external_id", offer->external_id);
    mark(&marks, LEAF_EXTERNAL_ID);
    render_gpu(out, offer, &marks);
    render_machine(out, offer, &marks);
    render_region(out, offer, &marks);
    render_stock(out, offer, &marks);
    render_prices(out, start, offer, prices);
    mark(&marks, LEAF_PRICES);
    buf_add_json_member_string(out, "order_url", offer->order_url);
    mark(&marks, LEAF_ORDER_URL);
    open_object(out, "source");
    buf_add_json_member_string(out, "kind", source_kind_name(offer->source_kind));
    mark(&marks, LEAF_SOURCE_KIND);
    buf_add_json_member_string(out, "url", offer->source_url);
    mark(&marks, LEAF_SOURCE_URL);
    buf_add_json_key(out, "observed_at");
    fragment.observed = (uint32_t)(out->length - start);
    render_time(out, own_us);
    mark(&marks, LEAF_OBSERVED_AT);
    fragment.observed_length = (uint8_t)(out->length - start - fragment.observed);
    render_end(out, offer, &marks);
    fragment.length = (uint32_t)(out->length - start);
    fragment.leaves = table_of(&marks);
    return fragment;
}

static const struct row_text *text_of(const struct segment *segment, uint32_t row,
                                      const struct fragment_splice *splice)
{
    return splice->text != NULL ? splice->text : &segment->text[row];
}

size_t fragment_bound(const struct segment *segment, uint32_t row, uint32_t entry,
                      const struct fragment_splice *splice)
{
    return text_of(segment, row, splice)->length + splice->provider_length +
           splice->confirmed_length + segment->entry_length[entry] + splice->price_tail_length + 1 +
           TAIL_BYTES + splice->evidence_length;
}

static inline char *put(char *out, const char *bytes, size_t length)
{
    memcpy(out, bytes, length);
    return out + length;
}

char *fragment_write(char *out, const struct segment *segment, uint32_t row, uint32_t entry,
                     const struct fragment_splice *splice)
{
    const struct row_text *text = text_of(segment, row, splice);
    out = put(out, text->bytes, FRAGMENT_ID_LENGTH);
    out = put(out, splice->provider_json, splice->provider_length);
    if (splice->confirmed == NULL) {
        out = put(out, text->bytes + FRAGMENT_ID_LENGTH, text->length - FRAGMENT_ID_LENGTH);
    } else {
        size_t rest = text->observed + text->observed_length;
        out = put(out, text->bytes + FRAGMENT_ID_LENGTH, text->observed - FRAGMENT_ID_LENGTH);
        out = put(out, splice->confirmed, splice->confirmed_length);
        out = put(out, text->bytes + rest, text->length - rest);
    }
    out = put(out, segment->text[row].bytes + segment->entry_text[entry],
              (size_t)segment->entry_length[entry] - 1);
    out = put(out, splice->price_tail, splice->price_tail_length);
    *out++ = '}';
    out = splice->stale ? put(out, TAIL_STALE, sizeof(TAIL_STALE) - 1)
                        : put(out, TAIL_FRESH, sizeof(TAIL_FRESH) - 1);
    if (splice->latency == LATENCY_UNKNOWN) {
        out = put(out, NO_LATENCY, sizeof(NO_LATENCY) - 1);
    } else {
        char ms[32] = {0};
        size_t length = decimal_print(LATENCY_CELL_CENTI(splice->latency), 2, ms);
        out = put(out, ms, length);
        out = LATENCY_CELL_MEASURED(splice->latency) ? put(out, MEASURED, sizeof(MEASURED) - 1)
                                                     : put(out, ESTIMATED, sizeof(ESTIMATED) - 1);
    }
    if (splice->evidence == NULL)
        return put(out, NO_EVIDENCE, sizeof(NO_EVIDENCE) - 1);
    out = put(out, splice->evidence, splice->evidence_length);
    return put(out, "}", 1);
}
