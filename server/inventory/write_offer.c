/* The upload shape, written: only what is known, numbers exactly as they came. */
#include "server/inventory/inventory.h"

#include "server/base/decimal.h"
#include "server/base/timestamp.h"

static void known_text(struct buf *out, const char *key, const char *value)
{
    if (value != NULL)
        buf_add_json_member_string(out, key, value);
}

static void known_number(struct buf *out, const char *key, int64_t value, unsigned decimals)
{
    if (value != UNKNOWN)
        buf_add_json_member_decimal(out, key, value, decimals);
}

static void open_object(struct buf *out, const char *key)
{
    buf_add_json_key(out, key);
    buf_add_char(out, '{');
}

static void write_price(struct buf *out, const struct price *price)
{
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "billing", billing_name(price->billing));
    if (price->billing == BILLING_RESERVED)
        buf_add_json_member_int(out, "term_months", price->term_months);
    known_text(out, "plan", price->plan);
    buf_add_json_member_decimal(
        out, price->quoted_per == PRICE_PER_GPU ? "price_per_gpu_hour" : "price_per_node_hour",
        price->quoted_microusd, 6);
    known_number(out, "min_gpus", price->min_gpus, 0);
    known_number(out, "max_gpus", price->max_gpus, 0);
    known_number(out, "upfront_percent", price->upfront_percent_milli, 3);
    buf_add_char(out, '}');
}

static void write_availability(struct buf *out, const struct availability *availability)
{
    if (availability->status == AVAILABILITY_UNKNOWN && availability->gpus_available == UNKNOWN &&
        availability->lead_time_days == UNKNOWN && availability->schedule_count == 0)
        return;
    open_object(out, "availability");
    if (availability->status != AVAILABILITY_UNKNOWN)
        buf_add_json_member_string(out, "status", availability_name(availability->status));
    known_number(out, "gpus_available", availability->gpus_available, 0);
    known_number(out, "lead_time_days", availability->lead_time_days, 0);
    if (availability->schedule_count > 0) {
        buf_add_json_key(out, "schedule");
        for (size_t i = 0; i < availability->schedule_count; i++) {
            buf_add_string(out, i == 0 ? "[{" : ",{");
            buf_add_json_member_int(out, "gpus", availability->schedule[i].gpus);
            buf_add_json_member_int(out, "days", availability->schedule[i].days);
            buf_add_char(out, '}');
        }
        buf_add_char(out, ']');
    }
    buf_add_char(out, '}');
}

static void write_extra_costs(struct buf *out, const struct extra_costs *costs)
{
    if (costs->egress_per_gb_microusd == UNKNOWN &&
        costs->storage_per_gb_month_microusd == UNKNOWN &&
        costs->billing_increment_seconds == UNKNOWN && costs->minimum_duration_seconds == UNKNOWN)
        return;
    open_object(out, "extra_costs");
    known_number(out, "egress_per_gb", costs->egress_per_gb_microusd, 6);
    known_number(out, "storage_per_gb_month", costs->storage_per_gb_month_microusd, 6);
    known_number(out, "billing_increment_seconds", costs->billing_increment_seconds, 0);
    known_number(out, "minimum_duration_seconds", costs->minimum_duration_seconds, 0);
    buf_add_char(out, '}');
}

void inventory_write_offer(struct buf *out, const struct offer *offer)
{
    char observed[TIMESTAMP_TEXT_SIZE];
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "external_id", offer->external_id);
    buf_add_json_member_string(out, "gpu", offer->gpu_raw);
    buf_add_json_member_decimal(out, "gpu_count", offer->gpu_count_milli, 3);
    known_number(out, "vram_gb", offer->vram_gb_given_milli, 3);
    if (offer->vcpus_milli != UNKNOWN || offer->memory_gib_milli != UNKNOWN ||
        offer->storage_gb_milli != UNKNOWN) {
        open_object(out, "node");
        known_number(out, "vcpus", offer->vcpus_milli, 3);
        known_number(out, "memory_gib", offer->memory_gib_milli, 3);
        known_number(out, "storage_gb", offer->storage_gb_milli, 3);
        buf_add_char(out, '}');
    }
    known_text(out, "interconnect", interconnect_name(offer->interconnect));
    known_text(out, "fabric", fabric_name(offer->fabric));
    known_number(out, "fabric_gbps", offer->fabric_gbps_milli, 3);
    known_text(out, "region", offer->region_raw);
    known_text(out, "zone", offer->zone);
    write_availability(out, &offer->availability);
    buf_add_json_key(out, "prices");
    for (size_t i = 0; i < offer->price_count; i++) {
        buf_add_char(out, i == 0 ? '[' : ',');
        write_price(out, &offer->prices[i]);
    }
    buf_add_char(out, ']');
    write_extra_costs(out, &offer->extra_costs);
    known_text(out, "order_url", offer->order_url);
    known_text(out, "source_url", offer->source_url);
    known_text(out, "attribution", offer->attribution);
    if (offer->observed_at_us != TIMESTAMP_UNKNOWN) {
        timestamp_print(offer->observed_at_us, observed);
        buf_add_json_member_string(out, "observed_at", observed);
    }
    buf_add_char(out, '}');
}
