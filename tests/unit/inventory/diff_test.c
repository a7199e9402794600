/* The merge of sorted lists against comparing every offer with every stored one. */
#include "tests/support/test_offers.h"
#include "tests/support/test_upload.h"

#include "server/base/crypto.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void init(void)
{
    crypt_init();
}
TestSuite(diff, .timeout = 60, .init = init);

/* A small generator of its own, so that a failing seed can be run again. */
static uint32_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

struct scene {
    struct arena arena;
    struct upload upload;
    struct baseline baseline;
    bool unnamed;
};

/* Ids 00 … 39, some stored, some uploaded (the same or with another price), some refused. */
static void make(struct scene *scene, uint64_t seed)
{
    uint64_t state = seed;
    *scene = (struct scene){.baseline = {.version = 7}};
    struct offer *offers = arena_calloc(&scene->arena, 40, sizeof(*offers));
    struct baseline_entry *entries = arena_calloc(&scene->arena, 40, sizeof(*entries));
    scene->unnamed = next(&state) % 8 == 0;
    if (scene->unnamed)
        row_issues_add(&scene->arena, &scene->upload.errors, 1, NULL, "", "wrong_type", "no");
    for (int i = 0; i < 40; i++) {
        char *id = arena_printf(&scene->arena, "%02d", i);
        bool stored = next(&state) % 2 == 0, same = next(&state) % 2 == 0;
        uint32_t role = next(&state) % 3;
        if (stored) {
            entries[scene->baseline.entry_count].external_id = id;
            test_offer_hash(test_offer(&scene->arena, id, 1000000),
                            entries[scene->baseline.entry_count++].hash);
        }
        if (role == 0)
            offers[scene->upload.offer_count++] =
                *test_offer(&scene->arena, id, same ? 1000000 : 2000000);
        if (role == 1)
            row_issues_add(&scene->arena, &scene->upload.errors, i, id, "/gpu", "wrong_type", "no");
    }
    scene->upload.offers = offers;
    scene->baseline.entries = entries;
}

static const struct change *find(const struct change_set *set, const char *id)
{
    for (size_t i = 0; i < set->change_count; i++) {
        if (strcmp(set->changes[i].external_id, id) == 0)
            return &set->changes[i];
    }
    return NULL;
}

static bool is_refused(const struct upload *upload, const char *id)
{
    for (size_t i = 0; i < upload->errors.count; i++) {
        const char *refused = upload->errors.items[i].external_id;
        if (refused != NULL && strcmp(refused, id) == 0)
            return true;
    }
    return false;
}

/* What must become of one id, told from the definition. */
static void expect_id(const struct scene *scene, const struct change_set *set, const char *id,
                      uint64_t seed)
{
    const struct offer *offer = test_find_offer(&scene->upload, id);
    const struct baseline_entry *entry = NULL;
    for (size_t i = 0; i < scene->baseline.entry_count; i++) {
        if (strcmp(scene->baseline.entries[i].external_id, id) == 0)
            entry = &scene->baseline.entries[i];
    }
    const struct change *change = find(set, id);
    uint8_t hash[OFFER_HASH_BYTES] = {0};
    if (offer != NULL)
        test_offer_hash(offer, hash);
    if (offer != NULL && entry == NULL) {
        cr_expect(change != NULL && change->kind == CHANGE_CREATED && change->after == offer &&
                      memcmp(change->hash, hash, sizeof(hash)) == 0,
                  "seed %d, %s", (int)seed, id);
    } else if (offer != NULL) {
        bool same = memcmp(entry->hash, hash, sizeof(hash)) == 0;
        cr_expect(same ? change == NULL : change != NULL && change->kind == CHANGE_UPDATED,
                  "seed %d, %s", (int)seed, id);
    } else if (entry != NULL && set->mode == CHANGE_REPLACE && !scene->unnamed &&
               !is_refused(&scene->upload, id)) {
        cr_expect(change != NULL && change->kind == CHANGE_REMOVED && change->after == NULL,
                  "seed %d, %s", (int)seed, id);
    } else {
        cr_expect(change == NULL, "seed %d, %s", (int)seed, id);
    }
}

Test(diff, agrees_with_the_definition)
{
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct scene scene;
        struct change_set set;
        make(&scene, seed);
        enum change_mode mode = seed % 2 == 0 ? CHANGE_REPLACE : CHANGE_UPSERT;
        inventory_diff(&scene.upload, &scene.baseline, mode, &scene.arena, &set);
        int64_t counts[3] = {0};
        for (size_t i = 0; i < set.change_count; i++) {
            counts[set.changes[i].kind]++;
            cr_expect(i == 0 ||
                      strcmp(set.changes[i - 1].external_id, set.changes[i].external_id) < 0);
        }
        cr_expect(counts[CHANGE_CREATED] == set.created && counts[CHANGE_UPDATED] == set.updated &&
                  counts[CHANGE_REMOVED] == set.removed);
        cr_expect(set.created + set.updated + set.unchanged == (int64_t)scene.upload.offer_count);
        cr_expect(set.base_version == 7 && set.mode == mode);
        for (int i = 0; i < 40; i++) {
            char id[16];
            snprintf(id, sizeof(id), "%02u", (unsigned)i % 100);
            expect_id(&scene, &set, id, seed);
        }
        arena_free(&scene.arena);
    }
}

/* A newer look at the same facts, and a market that moved, are no update; a price is. */
Test(diff, what_counts_as_a_change)
{
    struct arena arena = {0};
    struct offer *stored = test_full_offer(&arena, "a"), *seen = test_full_offer(&arena, "a");
    struct baseline_entry entry = {.external_id = "a"};
    struct baseline baseline = {.entries = &entry, .entry_count = 1};
    struct upload upload = {.offers = seen, .offer_count = 1};
    struct change_set set;
    test_offer_hash(stored, entry.hash);
    seen->observed_at_us = stored->observed_at_us + 1;
    seen->flags ^= OFFER_FLAG(PRICE_FAR_ABOVE_MEDIAN);
    inventory_diff(&upload, &baseline, CHANGE_REPLACE, &arena, &set);
    cr_expect(set.unchanged == 1 && set.change_count == 0);
    seen->availability.gpus_available++;
    inventory_diff(&upload, &baseline, CHANGE_REPLACE, &arena, &set);
    cr_expect(set.updated == 1 && set.changes[0].after == seen);
    inventory_diff(&(struct upload){0}, &(struct baseline){0}, CHANGE_REPLACE, &arena, &set);
    cr_expect(set.change_count == 0);
    arena_free(&arena);
}
