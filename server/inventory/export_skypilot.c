/* A catalogue row of an offer. Names are written as they came, so that reading the row again gives
 * the same GPU; the memory is that of one GPU, in binary units as drivers report it. */
#include "server/inventory/export.h"
#include "server/inventory/export_cells.h"

#include "server/base/decimal.h"
#include "server/reference/gpu.h"

#include <ctype.h>
#include <string.h>

void export_skypilot_header(struct buf *out, bool with_provider)
{
    buf_add_string(out, "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,StorageGiB,"
                        "GpuInfo,Price,SpotPrice,Region,AvailabilityZone");
    buf_add_string(out, with_provider ? ",Provider\n" : "\n");
}

/* The cheapest price of a kind that one node can be rented at. */
static const struct price *find_price(const struct offer *offer, enum billing billing)
{
    const struct price *found = NULL;
    for (size_t i = 0; i < offer->price_count; i++) {
        const struct price *price = &offer->prices[i];
        if (price->billing != billing || price->plan != NULL ||
            (price->min_gpus != UNKNOWN &&
             (int64_t)price->min_gpus * 1000 > offer->gpu_count_milli))
            continue;
        if (found == NULL || price->per_node_hour_microusd < found->per_node_hour_microusd)
            found = price;
    }
    return found;
}

/* external_id without `@zone` or `@region`. */
static size_t type_length(const struct offer *offer)
{
    size_t length = strlen(offer->external_id);
    const char *places[] = {offer->zone, offer->region_raw};
    for (size_t i = 0; i < 2; i++) {
        size_t place = places[i] == NULL ? 0 : strlen(places[i]);
        if (place > 0 && place + 1 < length && offer->external_id[length - place - 1] == '@' &&
            strcmp(offer->external_id + length - place, places[i]) == 0)
            return length - place - 1;
    }
    return length;
}

/* {'Gpus': [{'Name': …, 'Count': …, 'MemoryInfo': {'SizeInMiB': …}}], 'TotalGpuMemoryInMiB': …}, as
 * the catalogues write it; nothing where no size was given. */
static void add_info(struct buf *out, bool *first, const struct offer *offer)
{
    struct buf info = {0};
    bool overflow;
    if (offer->vram_gb_given_milli == UNKNOWN || strpbrk(offer->gpu_raw, "'\\") != NULL) {
        cell_empty(out, first);
        return;
    }
    int64_t size_mib = decimal_muldiv_half_even(offer->vram_gb_given_milli, 1024, 1000, &overflow);
    int64_t total_mib = decimal_muldiv_half_even(size_mib, offer->gpu_count_milli, 1000, &overflow);
    const char *vendor = gpu_at(offer->gpu)->vendor;
    buf_printf(&info, "{'Gpus': [{'Name': '%s'", offer->gpu_raw);
    if (*vendor != '\0') {
        buf_add_string(&info, ", 'Manufacturer': '");
        for (const char *c = vendor; *c != '\0'; c++)
            buf_add_char(&info, (char)toupper((unsigned char)*c));
        buf_add_char(&info, '\'');
    }
    buf_add_string(&info, ", 'Count': ");
    buf_add_decimal(&info, offer->gpu_count_milli, 3);
    buf_add_string(&info, ", 'MemoryInfo': {'SizeInMiB': ");
    buf_add_int(&info, size_mib);
    buf_add_string(&info, "}}], 'TotalGpuMemoryInMiB': ");
    buf_add_int(&info, total_mib);
    buf_add_char(&info, '}');
    cell_text(out, first, info.data, false);
    buf_free(&info);
}

bool export_skypilot_offer(struct buf *out, const struct offer *offer, const char *provider_slug)
{
    const struct price *on_demand = find_price(offer, BILLING_ON_DEMAND),
                       *spot = find_price(offer, BILLING_SPOT);
    if (on_demand == NULL && spot == NULL)
        return false;
    char type[OFFER_EXTERNAL_ID_MAX_BYTES + 1];
    size_t length = type_length(offer);
    memcpy(type, offer->external_id, length);
    type[length] = '\0';
    bool first = true, overflow;
    cell_text(out, &first, type, true);
    cell_text(out, &first, offer->gpu_raw, true);
    cell_decimal(out, &first, offer->gpu_count_milli, 3);
    cell_decimal(out, &first, offer->vcpus_milli, 3);
    cell_decimal(out, &first, offer->memory_gib_milli, 3);
    cell_decimal(
        out, &first,
        offer->storage_gb_milli == UNKNOWN
            ? UNKNOWN
            : decimal_muldiv_half_even(offer->storage_gb_milli, 1000000000, 1073741824, &overflow),
        3);
    add_info(out, &first, offer);
    cell_decimal(out, &first, on_demand == NULL ? UNKNOWN : on_demand->per_node_hour_microusd, 6);
    cell_decimal(out, &first, spot == NULL ? UNKNOWN : spot->per_node_hour_microusd, 6);
    cell_text(out, &first, offer->region_raw, true);
    cell_text(out, &first, offer->zone, true);
    if (provider_slug != NULL)
        cell_text(out, &first, provider_slug, true);
    buf_add_char(out, '\n');
    return true;
}
