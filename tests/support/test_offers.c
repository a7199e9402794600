/* Hand-made offers; nothing here goes through decoding. */
#include "tests/support/test_offers.h"

#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <stdlib.h>
#include <string.h>

struct offer *test_offer(struct arena *arena, const char *external_id, int64_t quoted_microusd)
{
    struct offer *offer = arena_calloc(arena, 1, sizeof(*offer));
    struct price *price = arena_calloc(arena, 1, sizeof(*price));
    *price = (struct price){
        .billing = BILLING_ON_DEMAND,
        .quoted_per = PRICE_PER_GPU,
        .min_gpus = UNKNOWN,
        .max_gpus = UNKNOWN,
        .upfront_percent_milli = UNKNOWN,
        .quoted_microusd = quoted_microusd,
    };
    if (!price_derive(price, 8000))
        abort();
    *offer = (struct offer){
        .external_id = arena_strdup(arena, external_id),
        .gpu_raw = "H100 SXM5",
        .gpu_count_milli = 8000,
        .vram_gb_given_milli = UNKNOWN,
        .vcpus_milli = UNKNOWN,
        .memory_gib_milli = UNKNOWN,
        .storage_gb_milli = UNKNOWN,
        .fabric_gbps_milli = UNKNOWN,
        .availability = {.gpus_available = UNKNOWN, .lead_time_days = UNKNOWN},
        .prices = price,
        .price_count = 1,
        .extra_costs = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN},
        .observed_at_us = TIMESTAMP_UNKNOWN,
        .gpu = gpu_find("h100-sxm"),
        .place = INDEX_NONE,
    };
    offer->vram_gb_milli = gpu_at(offer->gpu)->vram_gb_milli;
    return offer;
}

static void make_prices(struct offer *offer, struct arena *arena)
{
    struct price *prices = arena_calloc(arena, 3, sizeof(*prices));
    prices[0] = (struct price){BILLING_ON_DEMAND, PRICE_PER_GPU, 0,       UNKNOWN, UNKNOWN,
                               UNKNOWN,           NULL,          3250000, 0,       0};
    prices[1] = (struct price){BILLING_SPOT, PRICE_PER_NODE, 0,       1, UNKNOWN,
                               UNKNOWN,      "community",    8000001, 0, 0};
    prices[2] = (struct price){BILLING_RESERVED, PRICE_PER_GPU, 12, 16, 512, 20000,
                               "3 \"y\", (x)",   2200000,       0,  0};
    for (int i = 0; i < 3; i++) {
        if (!price_derive(&prices[i], offer->gpu_count_milli))
            abort();
    }
    offer->prices = prices;
    offer->price_count = 3;
}

struct offer *test_full_offer(struct arena *arena, const char *external_id)
{
    struct offer *offer = test_offer(arena, external_id, 1);
    struct delivery *schedule = arena_calloc(arena, 2, sizeof(*schedule));
    schedule[0] = (struct delivery){.gpus = 2000, .days = 120};
    schedule[1] = (struct delivery){.gpus = 500, .days = 180};
    offer->gpu_count_milli = 125;
    offer->vram_gb_given_milli = 80000;
    offer->vcpus_milli = 192000;
    offer->memory_gib_milli = 2048500;
    offer->storage_gb_milli = 0;
    offer->interconnect = INTERCONNECT_NVLINK;
    offer->fabric = FABRIC_INFINIBAND;
    offer->fabric_gbps_milli = 3200000;
    offer->region_raw = "us-east";
    offer->zone = "iad1";
    offer->place = place_find("us-east");
    offer->availability = (struct availability){AVAILABILITY_LIMITED, 64, 0, schedule, 2};
    offer->extra_costs = (struct extra_costs){10000, 0, 60, 3600};
    offer->order_url = "https://example.com/order";
    offer->source_url = "https://example.com/prices?x=\xc3\xa9";
    offer->attribution = "Example, CC-BY 4.0";
    offer->source_kind = SOURCE_IMPORT;
    offer->observed_at_us = INT64_C(1700000000123456);
    offer->flags = OFFER_FLAG(SPOT_NOT_CHEAPER) | OFFER_FLAG(PRICE_ROUNDED);
    make_prices(offer, arena);
    return offer;
}

void test_offer_hash(const struct offer *offer, uint8_t ret_hash[static OFFER_HASH_BYTES])
{
    offer_content_hash(offer, gpu_at(offer->gpu)->slug,
                       offer->place == INDEX_NONE ? NULL : place_at(offer->place)->slug, ret_hash);
}

struct change_set test_change_set(struct arena *arena, int64_t base_version, size_t capacity)
{
    return (struct change_set){
        .mode = CHANGE_UPSERT,
        .base_version = base_version,
        .changes = arena_calloc(arena, capacity, sizeof(struct change)),
    };
}

void test_change(struct change_set *change_set, enum change_kind kind, const char *external_id,
                 struct offer *after)
{
    struct change *change = &change_set->changes[change_set->change_count++];
    *change = (struct change){.kind = kind, .external_id = external_id, .after = after};
    if (after != NULL)
        test_offer_hash(after, change->hash);
    change_set->created += kind == CHANGE_CREATED;
    change_set->updated += kind == CHANGE_UPDATED;
    change_set->removed += kind == CHANGE_REMOVED;
}
