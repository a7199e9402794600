/* Segments from offers: the offers are written as rows in the order given, their text into one
 * slab, and a merge of that one segment puts the rows in order. */
#include "server/base/arena.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/catalog/fragment.h"
#include "server/catalog/names.h"
#include "server/catalog/rank.h"
#include "server/catalog/segment_private.h"
#include "server/market/index.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <stdlib.h>
#include <string.h>

/* What building keeps beside the segment. */
struct build {
    struct segment *segment;
    struct buf text;
    size_t *offsets; /* of each row's text; pointers come when the buffer stops moving */
    uint64_t *gpu_hashes;
    uint64_t *region_hashes;
};

static int32_t narrow(int64_t value)
{
    return value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

static void write_facts(struct segment *segment, uint32_t row, const struct segment_input *input)
{
    const struct offer *offer = input->offer;
    segment->gpu_rank[row] = gpu_rank(offer->gpu);
    segment->place_rank[row] = place_rank(offer->place);
    segment->provider[row] = input->provider;
    segment->fabric_bit[row] = (uint8_t)(1u << offer->fabric);
    segment->interconnect_bit[row] = (uint8_t)(1u << offer->interconnect);
    segment->availability_bit[row] = (uint8_t)(1u << offer->availability.status);
    segment->is_sample[row] = offer->source_kind == SOURCE_SAMPLE;
    segment->continent[row] = (uint8_t)continent_of(
        offer->place == INDEX_NONE ? NULL : place_at(offer->place)->continent);
    segment->doubtful_bits[row] = (uint8_t)index_doubtful_billings(offer->flags);
    segment->gpu_count_milli[row] = offer->gpu_count_milli;
    segment->vram_gb_milli[row] = narrow(offer->vram_gb_milli);
    segment->vcpus_milli[row] = narrow(offer->vcpus_milli);
    segment->memory_gib_milli[row] = narrow(offer->memory_gib_milli);
    segment->storage_gb_milli[row] = narrow(offer->storage_gb_milli);
    segment->fabric_gbps_milli[row] = narrow(offer->fabric_gbps_milli);
    segment->lead_time_days[row] = offer->availability.lead_time_days;
    segment->gpus_available[row] = offer->availability.gpus_available;
    segment->total_vram_gb_milli[row] = fragment_total_vram_gb_milli(offer);
    segment->updated_at_us[row] = offer->updated_at_us;
    segment->own_us[row] =
        offer->observed_at_us != TIMESTAMP_UNKNOWN ? offer->observed_at_us : offer->updated_at_us;
    segment->version[row] = offer->version;
    segment->id[row] = input->key;
    offer_content_hash(offer, gpu_at(offer->gpu)->slug,
                       offer->place == INDEX_NONE ? NULL : place_at(offer->place)->slug,
                       segment->hash[row].bytes);
}

/* Prices by amount, equal ones by identity: an insertion sort of indexes, for there are few. */
static void order_prices(const struct offer *offer, size_t *order)
{
    for (size_t i = 0; i < offer->price_count; i++) {
        int64_t amount = offer->prices[i].per_gpu_hour_microusd;
        size_t at = i;
        for (; at > 0 && offer->prices[order[at - 1]].per_gpu_hour_microusd > amount; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* Cheapest price of each billing, cut: backwards, so that the cheapest stands in the end. */
static void write_cuts(struct segment *segment, uint32_t row)
{
    int32_t cuts[BILLING_COUNT] = {PRICE_CUT_NONE, PRICE_CUT_NONE, PRICE_CUT_NONE};
    for (uint32_t i = segment->entry_start[row + 1]; i-- > segment->entry_start[row];)
        cuts[__builtin_ctz(segment->entry_billing[i])] = price_cut(segment->entry_microusd[i]);
    segment->cheapest_cut[row] = price_cut(segment->entry_microusd[segment->entry_start[row]]);
    segment->on_demand_cut[row] = cuts[BILLING_ON_DEMAND];
    segment->spot_cut[row] = cuts[BILLING_SPOT];
    segment->reserved_cut[row] = cuts[BILLING_RESERVED];
}

static void write_prices(struct segment *segment, uint32_t row, const struct offer *offer,
                         const struct fragment_price *texts)
{
    size_t order[OFFER_PRICES_MAX];
    uint32_t start = segment->entry_start[row];
    uint8_t bits = 0, terms = 0, tiers = 0;
    order_prices(offer, order);
    for (size_t i = 0; i < offer->price_count; i++) {
        const struct price *price = &offer->prices[order[i]];
        segment->entry_microusd[start + i] = price->per_gpu_hour_microusd;
        segment->entry_node_microusd[start + i] = price->per_node_hour_microusd;
        segment->entry_min_gpus[start + i] = price->min_gpus;
        segment->entry_max_gpus[start + i] = price->max_gpus;
        segment->entry_billing[start + i] = (uint8_t)(1u << price->billing);
        segment->entry_term[start + i] = (uint16_t)price->term_months;
        segment->entry_market[start + i] =
            (uint8_t)(commitment_of(price->billing, price->term_months) * CLUSTER_SIZE_COUNT +
                      cluster_size_of(offer->gpu_count_milli, price->min_gpus));
        segment->entry_text[start + i] = texts[order[i]].offset;
        segment->entry_length[start + i] = texts[order[i]].length;
        bits |= segment->entry_billing[start + i];
        terms |= term_bit(price->term_months);
        tiers |= price->min_gpus >= 0 || price->max_gpus >= 0;
    }
    segment->entry_start[row + 1] = start + (uint32_t)offer->price_count;
    segment->cheapest_microusd[row] = segment->entry_microusd[start];
    segment->billing_bits[row] = bits;
    segment->term_bits[row] = terms;
    segment->has_tiers[row] = tiers;
    segment->has_more_prices[row] = offer->price_count > 1;
    write_cuts(segment, row);
}

static void write_row(struct build *build, uint32_t row, const struct segment_input *input)
{
    struct segment *segment = build->segment;
    const struct offer *offer = input->offer;
    struct fragment_price texts[OFFER_PRICES_MAX];
    write_facts(segment, row, input);
    (void)buf_reserve(&build->text, sizeof(struct leaf_table));
    build->text.length += sizeof(struct leaf_table);
    build->offsets[row] = build->text.length;
    struct fragment fragment =
        fragment_render(&build->text, offer, input->key, segment->own_us[row], texts);
    memcpy(build->text.data + build->offsets[row] - sizeof(struct leaf_table), &fragment.leaves,
           sizeof(struct leaf_table));
    size_t id_length = strlen(offer->external_id);
    buf_add(&build->text, offer->external_id, id_length + 1);
    segment->text[row] = (struct row_text){
        .length = fragment.length,
        .observed = fragment.observed,
        .observed_length = fragment.observed_length,
        .external_id_length = (uint8_t)id_length,
    };
    write_prices(segment, row, offer, texts);
    build->gpu_hashes[row] = gpu_name_hash(offer->gpu_raw);
    build->region_hashes[row] = region_name_hash(offer->region_raw);
}

struct segment *segment_from_offers(const struct segment_input *inputs, size_t count)
{
    size_t entries = 0;
    for (size_t i = 0; i < count; i++)
        entries += inputs[i].offer->price_count;
    struct build build = {
        .segment = segment_alloc(count, entries),
        .offsets = xcalloc(count, sizeof(*build.offsets)),
        .gpu_hashes = xcalloc(count, sizeof(*build.gpu_hashes)),
        .region_hashes = xcalloc(count, sizeof(*build.region_hashes)),
    };
    struct segment *loose = build.segment;
    loose->entry_start[0] = 0;
    for (size_t i = 0; i < count; i++)
        write_row(&build, (uint32_t)i, &inputs[i]);
    struct slab *slab = slab_new(build.text.length);
    memcpy(slab->bytes, build.text.data, build.text.length);
    slab->used = build.text.length;
    for (size_t i = 0; i < count; i++)
        loose->text[i].bytes = slab->bytes + build.offsets[i];
    loose->slabs = xcalloc(1, sizeof(struct slab *));
    loose->slabs[0] = slab;
    loose->slab_count = 1;
    segment_names_build(&loose->gpu_names, build.gpu_hashes, loose->gpu_rank, count,
                        loose->gpu_name);
    segment_names_build(&loose->region_names, build.region_hashes, loose->place_rank, count,
                        loose->region_name);
    buf_free(&build.text);
    free(build.offsets);
    free(build.gpu_hashes);
    free(build.region_hashes);
    struct segment *sorted = segment_merge(&loose, &(struct alive *){NULL}, 1);
    segment_release(loose);
    return sorted;
}
