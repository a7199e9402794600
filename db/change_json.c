/* Changes as JSON: only the fields that differ, in the upload's own words, so that a provider can
 * tell what its upload did without the database keeping two copies of each offer. */
#include "db/change_json.h"

#include "server/base/decimal.h"

static void write_node(struct buf *out, const struct offer *offer)
{
    buf_add_char(out, '{');
    buf_add_json_member_decimal(out, "vcpus", offer->vcpus_milli, 3);
    buf_add_json_member_decimal(out, "memory_gib", offer->memory_gib_milli, 3);
    buf_add_json_member_decimal(out, "storage_gb", offer->storage_gb_milli, 3);
    buf_add_char(out, '}');
}

static void write_availability(struct buf *out, const struct availability *availability)
{
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "status", availability_name(availability->status));
    buf_add_json_member_int(out, "gpus_available", availability->gpus_available);
    buf_add_json_member_int(out, "lead_time_days", availability->lead_time_days);
    buf_add_json_key(out, "schedule");
    buf_add_char(out, '[');
    for (size_t i = 0; i < availability->schedule_count; i++) {
        buf_add_string(out, i == 0 ? "{" : ",{");
        buf_add_json_member_int(out, "gpus", availability->schedule[i].gpus);
        buf_add_json_member_int(out, "days", availability->schedule[i].days);
        buf_add_char(out, '}');
    }
    buf_add_string(out, "]}");
}

static void write_prices(struct buf *out, const struct offer *offer)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < offer->price_count; i++) {
        const struct price *price = &offer->prices[i];
        buf_add_string(out, i == 0 ? "{" : ",{");
        buf_add_json_member_string(out, "billing", billing_name(price->billing));
        buf_add_json_member_int(out, "term_months", price->term_months);
        buf_add_json_member_string(out, "plan", price->plan);
        buf_add_json_member_decimal(
            out, price->quoted_per == PRICE_PER_GPU ? "price_per_gpu_hour" : "price_per_node_hour",
            price->quoted_microusd, 6);
        buf_add_json_member_int(out, "min_gpus", price->min_gpus);
        buf_add_json_member_int(out, "max_gpus", price->max_gpus);
        buf_add_json_member_decimal(out, "upfront_percent", price->upfront_percent_milli, 3);
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
}

static void write_extra_costs(struct buf *out, const struct extra_costs *costs)
{
    buf_add_char(out, '{');
    buf_add_json_member_decimal(out, "egress_per_gb", costs->egress_per_gb_microusd, 6);
    buf_add_json_member_decimal(out, "storage_per_gb_month", costs->storage_per_gb_month_microusd,
                                6);
    buf_add_json_member_int(out, "billing_increment_seconds", costs->billing_increment_seconds);
    buf_add_json_member_int(out, "minimum_duration_seconds", costs->minimum_duration_seconds);
    buf_add_char(out, '}');
}

static void write_source(struct buf *out, const struct offer *offer)
{
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "kind", source_kind_name(offer->source_kind));
    buf_add_json_member_string(out, "attribution", offer->attribution);
    buf_add_char(out, '}');
}

static void write_flags(struct buf *out, uint32_t flags)
{
    bool first = true;
    buf_add_char(out, '[');
    for (int bit = 0; bit < OFFER_FLAG_COUNT; bit++) {
        if ((flags & (UINT32_C(1) << bit)) == 0)
            continue;
        if (!first)
            buf_add_char(out, ',');
        buf_add_json_string(out, offer_flag_name((enum offer_flag)bit));
        first = false;
    }
    buf_add_char(out, ']');
}

/* One field that is a string or a number as `"name":value`; false for one that is more. */
static bool write_plain_field(struct buf *out, const struct offer *offer, enum offer_field field)
{
    const char *name = offer_field_name(field);
    switch ((int)field) {
    case OFFER_FIELD_GPU:
        buf_add_json_member_string(out, name, offer->gpu_raw);
        return true;
    case OFFER_FIELD_GPU_COUNT:
        buf_add_json_member_decimal(out, name, offer->gpu_count_milli, 3);
        return true;
    case OFFER_FIELD_VRAM:
        buf_add_json_member_decimal(out, name, offer->vram_gb_given_milli, 3);
        return true;
    case OFFER_FIELD_INTERCONNECT:
        buf_add_json_member_string(out, name, interconnect_name(offer->interconnect));
        return true;
    case OFFER_FIELD_FABRIC:
        buf_add_json_member_string(out, name, fabric_name(offer->fabric));
        return true;
    case OFFER_FIELD_FABRIC_GBPS:
        buf_add_json_member_decimal(out, name, offer->fabric_gbps_milli, 3);
        return true;
    case OFFER_FIELD_REGION:
        buf_add_json_member_string(out, name, offer->region_raw);
        return true;
    case OFFER_FIELD_ZONE:
        buf_add_json_member_string(out, name, offer->zone);
        return true;
    case OFFER_FIELD_ORDER_URL:
        buf_add_json_member_string(out, name, offer->order_url);
        return true;
    case OFFER_FIELD_SOURCE_URL:
        buf_add_json_member_string(out, name, offer->source_url);
        return true;
    default:
        return false;
    }
}

/* One field as `"name":value`. */
static void write_field(struct buf *out, const struct offer *offer, enum offer_field field)
{
    if (write_plain_field(out, offer, field))
        return;
    buf_add_json_key(out, offer_field_name(field));
    switch ((int)field) {
    case OFFER_FIELD_NODE:
        write_node(out, offer);
        return;
    case OFFER_FIELD_AVAILABILITY:
        write_availability(out, &offer->availability);
        return;
    case OFFER_FIELD_PRICES:
        write_prices(out, offer);
        return;
    case OFFER_FIELD_EXTRA_COSTS:
        write_extra_costs(out, &offer->extra_costs);
        return;
    case OFFER_FIELD_SOURCE:
        write_source(out, offer);
        return;
    case OFFER_FIELD_FLAGS:
        write_flags(out, offer->flags);
        return;
    default:
        buf_add_string(out, "null"); /* a field added to the model and not here stays valid JSON */
    }
}

/* The fields named by the bits, of one state. */
static void write_state(struct buf *out, const struct offer *offer, uint32_t fields)
{
    buf_add_char(out, '{');
    for (int field = 0; field < OFFER_FIELD_COUNT; field++) {
        if ((fields & (UINT32_C(1) << field)) != 0)
            write_field(out, offer, (enum offer_field)field);
    }
    buf_add_char(out, '}');
}

static void write_change(struct buf *out, const struct change *change)
{
    static const char *const kinds[] = {
        [CHANGE_CREATED] = "created", [CHANGE_UPDATED] = "updated", [CHANGE_REMOVED] = "removed"};
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "external_id", change->external_id);
    buf_add_json_member_string(out, "kind", kinds[change->kind]);
    buf_add_json_key(out, "fields");
    buf_add_char(out, '[');
    bool both = change->kind == CHANGE_UPDATED && change->before != NULL;
    bool first = true;
    for (int field = 0; both && field < OFFER_FIELD_COUNT; field++) {
        if ((change->fields & (UINT32_C(1) << field)) == 0)
            continue;
        if (!first)
            buf_add_char(out, ',');
        buf_add_json_string(out, offer_field_name((enum offer_field)field));
        first = false;
    }
    buf_add_char(out, ']');
    if (both) {
        buf_add_json_key(out, "before");
        write_state(out, change->before, change->fields);
        buf_add_json_key(out, "after");
        write_state(out, change->after, change->fields);
    } else {
        buf_add_json_member_string(out, "before", NULL);
        buf_add_json_member_string(out, "after", NULL);
    }
    buf_add_char(out, '}');
}

bool change_json_write(struct buf *out, const struct change_set *change_set)
{
    size_t i = 0;
    buf_add_char(out, '[');
    for (; i < change_set->change_count && i < CHANGE_JSON_MAX; i++) {
        size_t before = out->length;
        if (i > 0)
            buf_add_char(out, ',');
        write_change(out, &change_set->changes[i]);
        if (out->length > CHANGE_JSON_MAX_BYTES) {
            out->length = before;
            break;
        }
    }
    buf_add_char(out, ']');
    return i == change_set->change_count;
}
