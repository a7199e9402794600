/* The content hash of an offer: every stored fact in a fixed order, each with its length or width,
 * so that no two different offers feed the same bytes. A change of this order is a new release
 * whose first upload rewrites every row: avoid it. */
#include "server/base/crypto.h"
#include "server/model/offer.h"

#include <string.h>

static void add_text(struct buf *facts, const char *text)
{
    uint32_t length = text == NULL ? UINT32_MAX : (uint32_t)strlen(text);
    buf_add(facts, &length, sizeof(length));
    if (text != NULL)
        buf_add(facts, text, length);
}

static void add_number(struct buf *facts, int64_t number)
{
    buf_add(facts, &number, sizeof(number));
}

static void add_prices(struct buf *facts, const struct offer *offer)
{
    add_number(facts, (int64_t)offer->price_count);
    for (size_t i = 0; i < offer->price_count; i++) {
        const struct price *price = &offer->prices[i];
        const int64_t numbers[] = {
            price->billing,  price->quoted_per,      price->term_months,          price->min_gpus,
            price->max_gpus, price->quoted_microusd, price->upfront_percent_milli};
        buf_add(facts, numbers, sizeof(numbers));
        add_text(facts, price->plan);
    }
}

void offer_content_hash(const struct offer *offer, const char *gpu_slug, const char *place_slug,
                        uint8_t ret_hash[static OFFER_HASH_BYTES])
{
    struct buf facts = {0};
    const char *const texts[] = {offer->external_id, offer->gpu_raw,    gpu_slug,
                                 offer->region_raw,  offer->zone,       place_slug,
                                 offer->order_url,   offer->source_url, offer->attribution};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        add_text(&facts, texts[i]);
    const struct availability *availability = &offer->availability;
    const int64_t numbers[] = {
        offer->gpu_count_milli,
        offer->vram_gb_given_milli,
        offer->vcpus_milli,
        offer->memory_gib_milli,
        offer->storage_gb_milli,
        offer->interconnect,
        offer->fabric,
        offer->fabric_gbps_milli,
        availability->status,
        availability->gpus_available,
        availability->lead_time_days,
        (int64_t)availability->schedule_count,
        offer->extra_costs.egress_per_gb_microusd,
        offer->extra_costs.storage_per_gb_month_microusd,
        offer->extra_costs.billing_increment_seconds,
        offer->extra_costs.minimum_duration_seconds,
        offer->source_kind,
        offer->flags & ~OFFER_FLAGS_UNHASHED,
    };
    buf_add(&facts, numbers, sizeof(numbers));
    for (size_t i = 0; i < availability->schedule_count; i++) {
        add_number(&facts, availability->schedule[i].gpus);
        add_number(&facts, availability->schedule[i].days);
    }
    add_prices(&facts, offer);
    crypt_hash(facts.data, facts.length, ret_hash, OFFER_HASH_BYTES);
    buf_free(&facts);
}
