/* Ids that sort as their bytes do, a hash that sees every fact, and what differs. */
#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/model/offer.h"
#include "server/model/provider.h"
#include "tests/support/test_offers.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena;

static void set_up(void)
{
    cr_assert(crypt_init());
}

static void tear_down(void)
{
    arena_free(&arena);
}

TestSuite(offer, .timeout = 20, .init = set_up, .fini = tear_down);

Test(offer, ids_are_stable_and_sort_as_their_bytes)
{
    uint8_t a[OFFER_ID_BYTES], b[OFFER_ID_BYTES], back[OFFER_ID_BYTES];
    char text_a[OFFER_ID_TEXT_LENGTH + 1], text_b[OFFER_ID_TEXT_LENGTH + 1], name[32];
    offer_id("acme", "x", a);
    offer_id("acm", "ex", b);
    cr_expect(memcmp(a, b, sizeof(a)) != 0, "slug and external_id don't run together");
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        offer_id("acme", name, b);
        offer_id_print(a, text_a);
        offer_id_print(b, text_b);
        cr_assert(strlen(text_b) == OFFER_ID_TEXT_LENGTH && strncmp(text_b, "of_", 3) == 0);
        cr_assert((memcmp(a, b, sizeof(a)) < 0) == (strcmp(text_a, text_b) < 0));
        cr_assert(offer_id_parse(text_b, strlen(text_b), back) && memcmp(b, back, sizeof(b)) == 0);
        memcpy(a, b, sizeof(a));
    }
    cr_expect(!offer_id_parse("of_nope", 7, back));
    cr_expect(!offer_id_parse("of_0000000000000000000000000w", 29, back));
    cr_expect(!offer_id_parse("of_00000000000000000000000001", 29, back),
              "spare bits must be zero");
}

Test(offer, the_hash_sees_every_fact_but_when_it_was_seen)
{
    struct offer base = *test_full_offer(&arena, "a");
    uint8_t hash[OFFER_HASH_BYTES], other[OFFER_HASH_BYTES];
    offer_content_hash(&base, "h100-sxm", "us-east", hash);
#define CHANGED(assignment)                                                                        \
    do {                                                                                           \
        struct offer offer = base;                                                                 \
        offer.assignment;                                                                          \
        offer_content_hash(&offer, "h100-sxm", "us-east", other);                                  \
        cr_expect(memcmp(hash, other, sizeof(hash)) != 0, #assignment);                            \
    } while (0)
    CHANGED(external_id = "b");
    CHANGED(gpu_raw = "other");
    CHANGED(gpu_count_milli = 1);
    CHANGED(vram_gb_given_milli = 1);
    CHANGED(vcpus_milli = 1);
    CHANGED(memory_gib_milli = UNKNOWN);
    CHANGED(storage_gb_milli = 1);
    CHANGED(interconnect = INTERCONNECT_UNKNOWN);
    CHANGED(fabric = FABRIC_NONE);
    CHANGED(fabric_gbps_milli = 1);
    CHANGED(region_raw = NULL);
    CHANGED(zone = "other");
    CHANGED(availability.status = AVAILABILITY_SOLD_OUT);
    CHANGED(availability.gpus_available = 1);
    CHANGED(availability.lead_time_days = 1);
    CHANGED(availability.schedule_count = 0);
    CHANGED(price_count = base.price_count - 1);
    CHANGED(extra_costs.egress_per_gb_microusd = 1);
    CHANGED(extra_costs.storage_per_gb_month_microusd = 1);
    CHANGED(extra_costs.billing_increment_seconds = 1);
    CHANGED(extra_costs.minimum_duration_seconds = 1);
    CHANGED(order_url = NULL);
    CHANGED(source_url = NULL);
    CHANGED(attribution = "somebody else");
    CHANGED(source_kind = SOURCE_SAMPLE);
#undef CHANGED
    struct offer seen = base;
    seen.observed_at_us = 1;
    offer_content_hash(&seen, "h100-sxm", "us-east", other);
    cr_expect(memcmp(hash, other, sizeof(hash)) == 0, "a newer look alone is no update");
    offer_content_hash(&base, "h100", "us-east", other);
    cr_expect(memcmp(hash, other, sizeof(hash)) != 0, "what a name means counts");
}

Test(offer, says_which_fields_differ)
{
    struct offer before = *test_full_offer(&arena, "a"), after = before;
    cr_expect(offer_compare_fields(&before, &after) == 0);
    after.fabric = FABRIC_NONE;
    after.zone = NULL;
    cr_expect(offer_compare_fields(&before, &after) ==
              ((1U << OFFER_FIELD_FABRIC) | (1U << OFFER_FIELD_ZONE)));
    cr_expect_str_eq(offer_field_name(OFFER_FIELD_PRICES), "prices");
}

Test(offer, names_go_both_ways)
{
    enum fabric fabric;
    enum availability_status status;
    enum provider_kind kind;
    cr_expect(fabric_parse("infiniband", &fabric) && fabric == FABRIC_INFINIBAND &&
              !fabric_parse("Infiniband", &fabric));
    cr_expect(availability_parse("sold_out", &status) && !availability_parse("", &status));
    cr_expect(provider_kind_parse("reseller", &kind) && !provider_kind_parse("bank", &kind));
    cr_expect(fabric_name(FABRIC_UNKNOWN) == NULL);
    cr_expect(provider_slug_is_valid("a-1") && !provider_slug_is_valid("-a") &&
              !provider_slug_is_valid("a-") && !provider_slug_is_valid("A") &&
              !provider_slug_is_valid("") && !provider_slug_is_valid("a_b"));
}
