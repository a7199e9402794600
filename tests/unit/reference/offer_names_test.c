/* Operators' names: their keys, how they win over the program's, and which offers a change of them
 * speaks of. */
#include "server/reference/offer_names.h"

#include "server/base/decimal.h"
#include "server/model/offer.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(offer_names, .timeout = 10);

static const struct alias gpus[] = {{"4090modded48gb", "rtx-4090"}, {"bulldogq9", "h100-sxm"}};
static const struct alias places[] = {{"/hall-9", "se-stockholm"}, {"acme/hall-9", "us-ashburn"}};
static const struct alias_sets names = {{gpus, 2}, {places, 2}, 7};

static struct offer make_offer(const char *gpu_raw, const char *region)
{
    struct gpu_match match;
    gpu_resolve(gpu_raw, UNKNOWN, NULL, &match);
    return (struct offer){
        .gpu = match.gpu,
        .gpu_raw = gpu_raw,
        .vram_gb_milli = match.vram_gb_milli,
        .vram_gb_given_milli = UNKNOWN,
        .region_raw = region,
        .place = place_resolve("acme", region, NULL, NULL),
    };
}

static const char *slug_of(const struct offer *offer)
{
    return gpu_at(offer->gpu)->slug;
}

Test(offer_names, a_key_is_the_same_for_all_spellings)
{
    char key[ALIAS_KEY_SIZE], other[ALIAS_KEY_SIZE];
    cr_assert(alias_key(ALIAS_GPU, NULL, "NVIDIA Bulldog-Q9", key));
    cr_expect_str_eq(key, "bulldogq9");
    cr_assert(alias_key(ALIAS_PLACE, "acme", "Hall  9", key));
    cr_expect_str_eq(key, "acme/hall-9");
    cr_assert(alias_key(ALIAS_PLACE, NULL, "HALL_9", other) &&
              alias_key(ALIAS_PLACE, "", "hall 9", key));
    cr_expect_str_eq(key, other);
    cr_expect(!alias_key(ALIAS_GPU, NULL, " -- ", key) &&
              !alias_key(ALIAS_PLACE, "acme", "?", key));
    cr_expect(!alias_key(ALIAS_GPU, NULL, "", key));
}

Test(offer_names, only_what_is_known_can_be_meant)
{
    cr_expect(alias_target_is_known(ALIAS_GPU, "h100-sxm") &&
              alias_target_is_known(ALIAS_GPU, "h100"));
    cr_expect(!alias_target_is_known(ALIAS_GPU, "unrecognized") &&
              !alias_target_is_known(ALIAS_GPU, "us-east"));
    cr_expect(alias_target_is_known(ALIAS_PLACE, "us-east") &&
              alias_target_is_known(ALIAS_PLACE, "se"));
    cr_expect(!alias_target_is_known(ALIAS_PLACE, "atlantis"));
    enum alias_kind kind;
    cr_expect(alias_kind_parse("gpu", &kind) && kind == ALIAS_GPU);
    cr_expect(alias_kind_parse("place", &kind) && kind == ALIAS_PLACE);
    cr_expect(!alias_kind_parse("GPU", &kind) && !alias_kind_parse("", &kind));
}

Test(offer_names, an_unknown_gpu_and_place_are_learned_and_forgotten)
{
    struct offer offer = make_offer("Bulldog Q9", "Hall 9");
    cr_assert(offer.gpu == gpu_unrecognized() && offer.place == INDEX_NONE);
    cr_expect(offer_names_resolve(&offer, "acme", NULL, &names));
    cr_expect_str_eq(slug_of(&offer), "h100-sxm");
    cr_expect(offer.vram_gb_milli == 80000);
    cr_expect_str_eq(place_at(offer.place)->slug, "us-ashburn", "the provider's own word first");
    cr_expect(!offer_names_resolve(&offer, "acme", NULL, &names), "twice is no news");
    cr_expect(offer_names_resolve(&offer, "acme", &names, NULL));
    cr_expect(offer.gpu == gpu_unrecognized() && offer.place == INDEX_NONE);
    cr_expect(offer.vram_gb_milli == UNKNOWN);
    cr_expect(offer_names_resolve(&offer, "other", NULL, &names));
    cr_expect_str_eq(place_at(offer.place)->slug, "se-stockholm", "everybody's word for others");
}

Test(offer_names, an_operator_wins_over_the_program)
{
    static const struct alias wrong[] = {{"h100sxm", "a100-sxm-80gb"}};
    const struct alias_sets after = {{wrong, 1}, {NULL, 0}, 8};
    struct offer offer = make_offer("H100 SXM", NULL);
    cr_assert_str_eq(slug_of(&offer), "h100-sxm");
    cr_expect(offer_names_resolve(&offer, "acme", NULL, &after));
    cr_expect_str_eq(slug_of(&offer), "a100-sxm-80gb");
    struct offer modified = make_offer("4090 modded 48 GB", NULL);
    struct gpu_match match;
    gpu_resolve("4090 modded 48 GB", UNKNOWN, &names.gpus, &match);
    cr_expect_str_eq(gpu_at(match.gpu)->family, "rtx-4090");
    (void)modified;
}

Test(offer_names, what_no_change_speaks_of_stays)
{
    struct offer offer = make_offer("H100 SXM", "us-east");
    /* As a decoder that knew more than the name: nothing about the name changed, so it stays. */
    offer.gpu = gpu_find("h200-sxm");
    uint16_t place = offer.place;
    cr_expect(!offer_names_resolve(&offer, "acme", NULL, &names));
    cr_expect(offer.gpu == gpu_find("h200-sxm") && offer.place == place);
    cr_expect(!offer_names_place_is_disputed("acme", NULL, NULL, &names));
    cr_expect(offer_names_place_is_disputed("zeta", "Hall/9", NULL, &names));
    cr_expect(!offer_names_place_is_disputed("zeta", "Hall 9", &names, &names));
}
