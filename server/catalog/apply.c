/* Applying updates: versions are checked for the whole batch before anything is built, so that a
 * refused batch leaves no trace. */
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/catalog/store.h"

#include <stdlib.h>
#include <string.h>

/* Offers collected for the next segment, with a table of their ids so that the last of two wins. */
struct pending {
    struct segment_input *items;
    size_t count;
    size_t capacity;
    uint32_t *slots; /* item + 1 by id, open addressing */
    size_t slot_mask;
};

static void pending_index(struct pending *pending, size_t item)
{
    size_t at = pending->items[item].key.low & pending->slot_mask;
    while (pending->slots[at] != 0)
        at = (at + 1) & pending->slot_mask;
    pending->slots[at] = (uint32_t)item + 1;
}

static void pending_grow(struct pending *pending)
{
    pending->capacity = pending->capacity == 0 ? 64 : pending->capacity * 2;
    pending->items = xrealloc(pending->items, pending->capacity * sizeof(*pending->items));
    free(pending->slots);
    pending->slots = xcalloc(pending->capacity * 2, sizeof(*pending->slots));
    pending->slot_mask = pending->capacity * 2 - 1;
    for (size_t i = 0; i < pending->count; i++)
        pending_index(pending, i);
}

/* The item with this id, or NULL. */
static struct segment_input *pending_find(const struct pending *pending, struct offer_key key)
{
    if (pending->count == 0)
        return NULL;
    for (size_t at = key.low & pending->slot_mask; pending->slots[at] != 0;
         at = (at + 1) & pending->slot_mask) {
        struct segment_input *item = &pending->items[pending->slots[at] - 1];
        if (offer_key_compare(item->key, key) == 0)
            return item;
    }
    return NULL;
}

static void flush(struct draft *draft, struct pending *pending)
{
    if (pending->count > 0)
        draft_add_segment(draft, segment_from_offers(pending->items, pending->count), NULL);
    pending->count = 0;
    if (pending->slots != NULL)
        memset(pending->slots, 0, (pending->slot_mask + 1) * sizeof(*pending->slots));
}

enum verdict { TAKE, SKIP, REFUSE };

/* What to do with an update while version `held` (UNKNOWN: none) of its provider is in. */
static enum verdict judge(const struct catalog_update *update, int64_t held)
{
    int64_t version = update->provider->version;
    if (update->remove_provider)
        return held == UNKNOWN ? SKIP : TAKE;
    if (update->reload)
        return version < held && !update->force ? SKIP : TAKE;
    if (version <= held)
        return SKIP;
    return update->after_version > held ? REFUSE : TAKE;
}

/* The version held when update `index` comes to its turn. */
static int64_t version_before(const struct snapshot *snapshot, const struct catalog_update *updates,
                              const enum verdict *verdicts, size_t index)
{
    const char *slug = updates[index].provider->slug;
    for (size_t i = index; i-- > 0;) {
        if (verdicts[i] == TAKE && strcmp(updates[i].provider->slug, slug) == 0)
            return updates[i].remove_provider ? UNKNOWN : updates[i].provider->version;
    }
    const struct provider *provider = snapshot_provider_find(snapshot, slug);
    return provider == NULL ? UNKNOWN : provider->version;
}

/* Judges the batch; false where one is refused. */
static bool judge_all(const struct snapshot *snapshot, const struct catalog_update *updates,
                      size_t count, enum verdict *verdicts, bool *ret_any)
{
    *ret_any = false;
    for (size_t i = 0; i < count; i++) {
        verdicts[i] = judge(&updates[i], version_before(snapshot, updates, verdicts, i));
        if (verdicts[i] == REFUSE)
            return false;
        *ret_any = *ret_any || verdicts[i] == TAKE;
    }
    return true;
}

static void kill_all(struct draft *draft, size_t slot)
{
    struct snapshot *snapshot = draft->snapshot;
    for (size_t i = 0; i < snapshot->segment_count && snapshot->slots[slot]->live > 0; i++) {
        const struct segment *segment = snapshot->segments[i];
        for (uint32_t row = 0; row < segment->row_count; row++) {
            if (segment->provider[row] == slot && alive_has(snapshot->alive[i], row))
                draft_kill(draft, i, row);
        }
    }
}

/* Whether figures of GPUs that none of its offers changed may be others now. */
static bool changes_every_index(const struct provider *before, const struct provider *after)
{
    const char *x = before->resells == NULL ? "" : before->resells;
    const char *y = after->resells == NULL ? "" : after->resells;
    return before->suspended != after->suspended || strcmp(x, y) != 0;
}

/* The slot of a provider new or known, with a view of its own for this draft; PROVIDERS_MAX where
 * there is no room. */
static size_t place_provider(struct draft *draft, const struct provider *provider)
{
    struct snapshot *snapshot = draft->snapshot;
    size_t slot = snapshot_slot(snapshot, provider->slug);
    if (slot != PROVIDERS_MAX) {
        draft->changes.all =
            draft->changes.all || changes_every_index(&snapshot->slots[slot]->provider, provider);
        struct provider_view *view = provider_view_new(provider, snapshot->slots[slot]->live);
        provider_view_release(snapshot->slots[slot]);
        snapshot->slots[slot] = view;
        return slot;
    }
    for (slot = 0; slot < snapshot->slot_count && snapshot->slots[slot] != NULL; slot++)
        ;
    if (slot == PROVIDERS_MAX)
        return slot;
    if (slot == snapshot->slot_count) {
        snapshot->slots = xrealloc(snapshot->slots, (slot + 1) * sizeof(struct provider_view *));
        snapshot->slot_count++;
    }
    draft->changes.all = draft->changes.all || provider->resells != NULL;
    draft->changes.new_providers = true;
    snapshot->slots[slot] = provider_view_new(provider, 0);
    size_t at = snapshot->provider_count++;
    snapshot->by_slug = xrealloc(snapshot->by_slug, snapshot->provider_count * sizeof(uint16_t));
    for (; at > 0 &&
           strcmp(snapshot->slots[snapshot->by_slug[at - 1]]->provider.slug, provider->slug) > 0;
         at--)
        snapshot->by_slug[at] = snapshot->by_slug[at - 1];
    snapshot->by_slug[at] = (uint16_t)slot;
    return slot;
}

static void remove_provider(struct draft *draft, size_t slot)
{
    struct snapshot *snapshot = draft->snapshot;
    draft->changes.all = true; /* who resold its machines is their only source now */
    size_t kept = 0;
    for (size_t i = 0; i < snapshot->provider_count; i++) {
        if (snapshot->by_slug[i] != slot)
            snapshot->by_slug[kept++] = snapshot->by_slug[i];
    }
    snapshot->provider_count = kept;
    provider_view_release(snapshot->slots[slot]);
    snapshot->slots[slot] = NULL;
}

static void upsert(struct draft *draft, struct pending *pending, size_t slot,
                   const struct offer *offer)
{
    uint8_t id[OFFER_ID_BYTES];
    struct provider_view *view = draft->snapshot->slots[slot];
    offer_id(view->provider.slug, offer->external_id, id);
    struct segment_input input = {
        .offer = offer, .key = offer_key_of(id), .provider = (uint16_t)slot};
    struct segment_input *twin = pending_find(pending, input.key);
    if (twin != NULL) {
        *twin = input;
        return;
    }
    draft_kill_key(draft, input.key);
    if (pending->count == pending->capacity)
        pending_grow(pending);
    pending->items[pending->count] = input;
    pending_index(pending, pending->count++);
    view->live++;
    draft->snapshot->live++;
}

static bool apply_one(struct draft *draft, struct pending *pending,
                      const struct catalog_update *update)
{
    size_t slot = place_provider(draft, update->provider);
    if (slot == PROVIDERS_MAX)
        return false;
    if (update->reload || update->remove_provider)
        kill_all(draft, slot);
    if (update->remove_provider) {
        remove_provider(draft, slot);
        return true;
    }
    for (size_t i = 0; i < update->removed_count; i++) {
        uint8_t id[OFFER_ID_BYTES];
        offer_id(update->provider->slug, update->removed[i], id);
        draft_kill_key(draft, offer_key_of(id));
    }
    for (size_t i = 0; i < update->upsert_count; i++)
        upsert(draft, pending, slot, &update->upserts[i]);
    return true;
}

/* Facts over all providers: as_of, suspension, the hash of versions. */
static void sum_up(struct snapshot *snapshot)
{
    struct crypt_hasher hasher;
    uint8_t hash[16];
    crypt_hasher_init(&hasher, sizeof(hash));
    snapshot->as_of_us = TIMESTAMP_UNKNOWN;
    snapshot->any_suspended = false;
    for (size_t i = 0; i < snapshot->provider_count; i++) {
        const struct provider *provider = snapshot_provider(snapshot, i);
        crypt_hasher_add(&hasher, provider->slug, strlen(provider->slug) + 1);
        crypt_hasher_add(&hasher, &provider->version, sizeof(provider->version));
        snapshot->any_suspended = snapshot->any_suspended || provider->suspended;
        if (provider->updated_at_us > snapshot->as_of_us)
            snapshot->as_of_us = provider->updated_at_us;
        if (provider->confirmed_at_us > snapshot->as_of_us)
            snapshot->as_of_us = provider->confirmed_at_us;
    }
    crypt_hasher_finish(&hasher, hash);
    memcpy(&snapshot->versions_hash, hash, sizeof(snapshot->versions_hash));
}

/* Whether an earlier update of the batch, taken, is of the same provider: its offers must be in
 * before this one changes them. */
static bool follows_itself(const struct catalog_update *updates, const enum verdict *verdicts,
                           size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (verdicts[i] == TAKE &&
            strcmp(updates[i].provider->slug, updates[index].provider->slug) == 0)
            return true;
    }
    return false;
}

static bool build(struct catalog *catalog, const struct catalog_update *updates,
                  const enum verdict *verdicts, size_t count)
{
    struct draft draft = draft_begin(catalog);
    struct pending pending = {0};
    bool good = true;
    int64_t start_us = monotonic_now_us();
    for (size_t i = 0; i < count && good; i++) {
        if (verdicts[i] != TAKE)
            continue;
        if (follows_itself(updates, verdicts, i))
            flush(&draft, &pending);
        good = apply_one(&draft, &pending, &updates[i]);
    }
    if (good) {
        flush(&draft, &pending);
        sum_up(draft.snapshot);
        draft_compact(&draft);
        good = draft_publish(&draft);
    } else {
        draft_abandon(&draft);
    }
    catalog->stats.build_us += monotonic_now_us() - start_us;
    free(pending.items);
    free(pending.slots);
    return good;
}

bool catalog_apply(struct catalog *catalog, const struct catalog_update *updates, size_t count)
{
    enum verdict *verdicts = xcalloc(count, sizeof(*verdicts));
    bool any;
    pthread_mutex_lock(&catalog->lock);
    bool good = judge_all(catalog->newest, updates, count, verdicts, &any);
    if (good && any)
        good = build(catalog, updates, verdicts, count);
    pthread_mutex_unlock(&catalog->lock);
    if (!good)
        atomic_fetch_add_explicit(&catalog->failed_builds, 1, memory_order_relaxed);
    free(verdicts);
    return good;
}

bool catalog_set_operator_names(struct catalog *catalog, const struct alias_sets *names, bool force)
{
    bool good = true;
    pthread_mutex_lock(&catalog->lock);
    int64_t held = operator_names_sets(catalog->newest->operator_names)->version;
    if (held < names->version || (force && held != names->version)) {
        struct draft draft = draft_begin(catalog);
        operator_names_release(draft.snapshot->operator_names);
        draft.snapshot->operator_names = operator_names_new(names);
        good = draft_publish(&draft);
    }
    pthread_mutex_unlock(&catalog->lock);
    if (!good)
        atomic_fetch_add_explicit(&catalog->failed_builds, 1, memory_order_relaxed);
    return good;
}

bool catalog_set_latency(struct catalog *catalog, struct latency_book *book, bool force)
{
    bool good = true;
    pthread_mutex_lock(&catalog->lock);
    int64_t held = latency_book_version(catalog->newest->latency),
            version = latency_book_version(book);
    if (held < version || (force && held != version)) {
        struct draft draft = draft_begin(catalog);
        latency_book_release(draft.snapshot->latency);
        draft.snapshot->latency = latency_book_reference(book);
        good = draft_publish(&draft);
    }
    pthread_mutex_unlock(&catalog->lock);
    if (!good)
        atomic_fetch_add_explicit(&catalog->failed_builds, 1, memory_order_relaxed);
    return good;
}

const struct latency_book *snapshot_latency(const struct snapshot *snapshot)
{
    return snapshot->latency;
}

const struct alias_sets *snapshot_operator_names(const struct snapshot *snapshot)
{
    return operator_names_sets(snapshot->operator_names);
}
