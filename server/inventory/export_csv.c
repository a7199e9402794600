/* One row a price, in the order of csv_columns. */
#include "server/inventory/csv_columns.h"
#include "server/inventory/export.h"
#include "server/inventory/export_cells.h"
#include "server/inventory/inventory.h"

#include "server/base/decimal.h"
#include "server/base/timestamp.h"

#include <string.h>

void export_csv_header(struct buf *out, bool with_provider)
{
    bool first = true;
    for (size_t i = 0; i < CSV_COLUMN_COUNT; i++) {
        if (i != CSV_COLUMN_PROVIDER || with_provider)
            cell_text(out, &first, csv_columns[i].name, false);
    }
    buf_add_char(out, '\n');
}

static void write_shape(struct buf *out, bool *first, const struct offer *offer)
{
    const struct availability *availability = &offer->availability;
    cell_text(out, first, offer->external_id, true);
    cell_text(out, first, offer->gpu_raw, true);
    cell_decimal(out, first, offer->gpu_count_milli, 3);
    cell_decimal(out, first, offer->vram_gb_given_milli, 3);
    cell_decimal(out, first, offer->vcpus_milli, 3);
    cell_decimal(out, first, offer->memory_gib_milli, 3);
    cell_decimal(out, first, offer->storage_gb_milli, 3);
    cell_text(out, first, interconnect_name(offer->interconnect), true);
    cell_text(out, first, fabric_name(offer->fabric), true);
    cell_decimal(out, first, offer->fabric_gbps_milli, 3);
    cell_text(out, first, offer->region_raw, true);
    cell_text(out, first, offer->zone, true);
    cell_text(out, first,
              availability->status == AVAILABILITY_UNKNOWN
                  ? NULL
                  : availability_name(availability->status),
              true);
    cell_decimal(out, first, availability->gpus_available, 0);
    cell_decimal(out, first, availability->lead_time_days, 0);
}

static void write_price(struct buf *out, bool *first, const struct price *price)
{
    bool per_gpu = price->quoted_per == PRICE_PER_GPU;
    cell_text(out, first, billing_name(price->billing), true);
    cell_decimal(out, first, price->billing == BILLING_RESERVED ? price->term_months : UNKNOWN, 0);
    cell_text(out, first, price->plan, true);
    cell_decimal(out, first, per_gpu ? price->quoted_microusd : UNKNOWN, 6);
    cell_decimal(out, first, per_gpu ? UNKNOWN : price->quoted_microusd, 6);
    cell_decimal(out, first, price->min_gpus, 0);
    cell_decimal(out, first, price->max_gpus, 0);
    cell_decimal(out, first, price->upfront_percent_milli, 3);
    cell_text(out, first, "USD", true);
}

void export_csv_offer(struct buf *out, const struct offer *offer, const char *provider_slug)
{
    char observed[TIMESTAMP_TEXT_SIZE] = "";
    if (offer->observed_at_us != TIMESTAMP_UNKNOWN)
        timestamp_print(offer->observed_at_us, observed);
    for (size_t i = 0; i < offer->price_count; i++) {
        bool first = true;
        write_shape(out, &first, offer);
        write_price(out, &first, &offer->prices[i]);
        cell_text(out, &first, offer->order_url, true);
        cell_text(out, &first, offer->source_url, true);
        cell_text(out, &first, offer->attribution, true);
        cell_text(out, &first, observed, true);
        if (provider_slug != NULL)
            cell_text(out, &first, provider_slug, true);
        buf_add_char(out, '\n');
    }
}

void export_ndjson_offer(struct buf *out, const struct offer *offer, const char *provider_slug)
{
    struct buf shape = {0};
    inventory_write_offer(&shape, offer);
    buf_add_char(out, '{');
    if (provider_slug != NULL) {
        buf_add_json_member_string(out, "provider", provider_slug);
        buf_add_char(out, ',');
    }
    buf_add(out, shape.data + 1, shape.length - 1);
    buf_add_char(out, '\n');
    buf_free(&shape);
}
