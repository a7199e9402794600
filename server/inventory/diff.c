/* Two sorted lists are merged; equal hashes are unchanged. */
#include "server/inventory/inventory.h"

#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <stdlib.h>
#include <string.h>

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* external_ids of refused rows, sorted: their stored offers are left alone. *ret_unnamed tells
 * whether a refused row has none. */
static const char **refused_ids(const struct upload *upload, struct arena *arena, size_t *ret_count,
                                bool *ret_unnamed)
{
    const char **ids = arena_alloc(arena, (upload->errors.count + 1) * sizeof(*ids));
    size_t count = 0;
    *ret_unnamed = false;
    for (size_t i = 0; i < upload->errors.count; i++) {
        if (upload->errors.items[i].external_id != NULL)
            ids[count++] = upload->errors.items[i].external_id;
        else
            *ret_unnamed = true;
    }
    qsort(ids, count, sizeof(*ids), compare_texts);
    *ret_count = count;
    return ids;
}

static void add_change(struct change_set *set, enum change_kind kind, const char *external_id,
                       const struct offer *after, const uint8_t *hash)
{
    struct change *change = &set->changes[set->change_count++];
    *change = (struct change){.kind = kind, .external_id = external_id, .after = after};
    if (hash != NULL)
        memcpy(change->hash, hash, OFFER_HASH_BYTES);
}

void inventory_diff(const struct upload *upload, const struct baseline *baseline,
                    enum change_mode mode, struct arena *arena, struct change_set *ret_change_set)
{
    size_t refused_count;
    bool unnamed;
    const char **refused = refused_ids(upload, arena, &refused_count, &unnamed);
    struct change_set set = {
        .mode = mode,
        .base_version = baseline->version,
        .changes = arena_alloc(arena, (upload->offer_count + baseline->entry_count + 1) *
                                          sizeof(struct change)),
    };
    size_t stored = 0;
    for (size_t i = 0; i <= upload->offer_count; i++) {
        const struct offer *offer = i < upload->offer_count ? &upload->offers[i] : NULL;
        int order = 1;
        while (stored < baseline->entry_count) {
            const char *id = baseline->entries[stored].external_id;
            order = offer == NULL ? -1 : strcmp(id, offer->external_id);
            if (order >= 0)
                break;
            bool keep =
                mode != CHANGE_REPLACE || unnamed ||
                bsearch(&id, refused, refused_count, sizeof(*refused), compare_texts) != NULL;
            if (!keep) {
                add_change(&set, CHANGE_REMOVED, id, NULL, NULL);
                set.removed++;
            }
            stored++;
        }
        if (offer == NULL)
            break;
        uint8_t hash[OFFER_HASH_BYTES];
        offer_content_hash(offer, gpu_at(offer->gpu)->slug,
                           offer->place == INDEX_NONE ? NULL : place_at(offer->place)->slug, hash);
        if (stored < baseline->entry_count && order == 0) {
            if (memcmp(baseline->entries[stored].hash, hash, OFFER_HASH_BYTES) == 0) {
                set.unchanged++;
            } else {
                add_change(&set, CHANGE_UPDATED, offer->external_id, offer, hash);
                set.updated++;
            }
            stored++;
        } else {
            add_change(&set, CHANGE_CREATED, offer->external_id, offer, hash);
            set.created++;
        }
    }
    *ret_change_set = set;
}
