/* Offers and change sets made by hand, for tests of what stores and serves them. Everything lives
 * in the arena. */
#ifndef RACKRATE_TESTS_SUPPORT_TEST_OFFERS_H
#define RACKRATE_TESTS_SUPPORT_TEST_OFFERS_H

#include "server/base/arena.h"
#include "server/model/change_set.h"

/* An offer of 8 h100-sxm with one on-demand price per GPU; everything else unknown. */
struct offer *test_offer(struct arena *arena, const char *external_id, int64_t quoted_microusd);
/* One in which every fact is known, with three prices and a schedule. */
struct offer *test_full_offer(struct arena *arena, const char *external_id);
/* The hash the writer stores with it. */
void test_offer_hash(const struct offer *offer, uint8_t ret_hash[static OFFER_HASH_BYTES]);

/* A change set of so many changes, to be filled in order of external_id by test_change. */
struct change_set test_change_set(struct arena *arena, int64_t base_version, size_t capacity);
void test_change(struct change_set *change_set, enum change_kind kind, const char *external_id,
                 struct offer *after);

#endif
