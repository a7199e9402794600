/* Figures of the past: the snapshot's own offers but those that were other then, which stand in a
 * segment of their own; staleness by the confirmations of then. They are counted and settled by the
 * functions that make today's figures. */
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/catalog/market.h"
#include "server/catalog/market_tally.h"
#include "server/catalog/rank.h"
#include "server/reference/gpu.h"

#include <stdlib.h>
#include <string.h>

/* Whether all offers of a provider were fresh at past->at_us by its confirmation. */
static bool is_covered(const struct market_past *past, const struct provider *provider,
                       size_t provider_index)
{
    int64_t freshness = provider_freshness_us(provider);
    int64_t confirmed = past->confirmed_us[provider_index];
    return freshness == INT64_MAX ||
           (confirmed != TIMESTAMP_UNKNOWN && time_add(confirmed, freshness) >= past->at_us);
}

/* By slot: an offer whose own time is before it was stale. Malloc'd. */
static int64_t *cutoffs_of(const struct snapshot *snapshot, const struct market_past *past)
{
    int64_t *cutoff = xcalloc(snapshot->slot_count + 1, sizeof(*cutoff));
    for (size_t i = 0; i < snapshot->provider_count; i++) {
        uint16_t slot = snapshot->by_slug[i];
        const struct provider *provider = &snapshot->slots[slot]->provider;
        cutoff[slot] = is_covered(past, provider, i)
                           ? INT64_MIN
                           : past->at_us - provider_freshness_us(provider);
    }
    return cutoff;
}

size_t snapshot_market_unsure(const struct snapshot *snapshot, const struct market_past *past,
                              int64_t after_us, struct arena *arena,
                              uint8_t (**ret_ids)[OFFER_ID_BYTES])
{
    int64_t *cutoff = cutoffs_of(snapshot, past);
    uint8_t(*ids)[OFFER_ID_BYTES] = NULL;
    size_t count = 0;
    for (int writing = 0; writing < 2; writing++) {
        if (writing == 1)
            ids = arena_calloc(arena, count, sizeof(*ids));
        count = 0;
        for (size_t s = 0; s < snapshot->segment_count; s++) {
            const struct segment *segment = snapshot->segments[s];
            for (uint32_t row = 0; row < segment->row_count; row++) {
                uint16_t slot = segment->provider[row];
                if (segment->own_us[row] <= after_us || cutoff[slot] == INT64_MIN ||
                    segment->is_sample[row] != 0 || !alive_has(snapshot->alive[s], row))
                    continue;
                if (writing == 1)
                    offer_id(snapshot->slots[slot]->provider.slug,
                             segment_external_id(segment, row), ids[count]);
                count++;
            }
        }
    }
    free(cutoff);
    *ret_ids = ids;
    return count;
}

/* A snapshot that shares all but what past->offers names. */
struct overlay {
    struct snapshot snapshot;
    struct segment *extra; /* NULL: none */
};

static void clear_row(struct overlay *overlay, bool *owned, struct offer_key key)
{
    struct snapshot *snapshot = &overlay->snapshot;
    for (size_t s = 0; s < snapshot->segment_count; s++) {
        uint32_t row = segment_find(snapshot->segments[s], key);
        if (row == UINT32_MAX || !alive_has(snapshot->alive[s], row))
            continue;
        if (!owned[s]) {
            snapshot->alive[s] = alive_copy(snapshot->alive[s], snapshot->segments[s]->row_count);
            owned[s] = true;
        }
        snapshot->alive[s]->words[row / 64] &= ~(UINT64_C(1) << (row % 64));
    }
}

static struct segment *extra_segment(const struct snapshot *snapshot,
                                     const struct market_past *past)
{
    struct segment_input *inputs = xcalloc(past->offer_count, sizeof(*inputs));
    struct segment *segment = NULL;
    size_t count = 0;
    for (size_t i = 0; i < past->offer_count; i++) {
        const struct market_past_offer *offer = &past->offers[i];
        if (offer->offer != NULL)
            inputs[count++] =
                (struct segment_input){.offer = offer->offer,
                                       .key = offer_key_of(offer->id),
                                       .provider = snapshot->by_slug[offer->provider_index]};
    }
    if (count > 0)
        segment = segment_from_offers(inputs, count);
    free(inputs);
    return segment;
}

/* Makes the overlay; `owned` (segment_count + 1 of them) tells which bitmaps it copied. */
static struct overlay overlay_make(const struct snapshot *snapshot, const struct market_past *past,
                                   bool *owned)
{
    struct overlay overlay = {.snapshot = *snapshot};
    size_t count = snapshot->segment_count;
    overlay.snapshot.segments = xcalloc(count + 1, sizeof(struct segment *));
    overlay.snapshot.alive = xcalloc(count + 1, sizeof(struct alive *));
    memcpy(overlay.snapshot.segments, snapshot->segments, count * sizeof(struct segment *));
    memcpy(overlay.snapshot.alive, snapshot->alive, count * sizeof(struct alive *));
    for (size_t i = 0; i < past->offer_count; i++)
        clear_row(&overlay, owned, offer_key_of(past->offers[i].id));
    overlay.extra = extra_segment(snapshot, past);
    if (overlay.extra != NULL)
        overlay.snapshot.segments[overlay.snapshot.segment_count++] = overlay.extra;
    return overlay;
}

static void overlay_free(struct overlay *overlay, const bool *owned)
{
    for (size_t s = 0; s < overlay->snapshot.segment_count; s++) {
        if (owned[s])
            alive_release(overlay->snapshot.alive[s]);
    }
    if (overlay->extra != NULL)
        segment_release(overlay->extra);
    free(overlay->snapshot.segments);
    free(overlay->snapshot.alive);
}

static int compare_votes(const void *a, const void *b)
{
    const struct index_vote *x = a, *y = b;
    return (x->order > y->order) - (x->order < y->order);
}

/* What tables are read with. */
struct reading {
    const struct snapshot *snapshot;
    struct tally_room room;
    struct arena *arena;
    struct market_figure *list;
    size_t count, capacity;
};

static void hash_votes(const struct reading *reading, struct market_figure *figure, size_t count)
{
    struct crypt_hasher hasher;
    struct buf text = {0};
    buf_printf(&text, "%d %s %s %s %s\n", INDEX_METHOD_VERSION, gpu_at(figure->gpu)->slug,
               billing_name(commitment_billing(figure->commitment)),
               commitment_term_name(figure->commitment),
               figure->continent == CONTINENT_COUNT ? "-" : continent_code(figure->continent));
    qsort(reading->room.votes, count, sizeof(*reading->room.votes), compare_votes);
    for (size_t i = 0; i < count; i++) {
        const struct index_vote *vote = &reading->room.votes[i];
        buf_printf(&text, "%s %lld %u %s\n",
                   reading->snapshot->slots[vote->provider]->provider.slug,
                   (long long)vote->microusd, vote->offers, index_reason_name(vote->reason));
    }
    crypt_hasher_init(&hasher, sizeof(figure->input_hash));
    crypt_hasher_add(&hasher, text.data, text.length);
    crypt_hasher_finish(&hasher, figure->input_hash);
    buf_free(&text);
}

static void read_cell(struct reading *reading, const struct tally_cell *cell,
                      struct market_figure figure)
{
    size_t count = market_tally_votes(cell, &reading->room, &figure.figures);
    if (figure.figures.providers == 0)
        return;
    hash_votes(reading, &figure, count);
    if (reading->count == reading->capacity) {
        size_t capacity = reading->capacity * 2 + 64;
        struct market_figure *list = arena_calloc(reading->arena, capacity, sizeof(*list));
        if (reading->count > 0)
            memcpy(list, reading->list, reading->count * sizeof(*list));
        reading->list = list;
        reading->capacity = capacity;
    }
    reading->list[reading->count++] = figure;
}

static void read_tally(struct reading *reading, const struct market_tally *tally, uint16_t gpu)
{
    for (unsigned c = 0; c < COMMITMENT_COUNT; c++) {
        struct market_figure figure = {
            .gpu = gpu, .commitment = (enum commitment)c, .continent = CONTINENT_COUNT};
        read_cell(reading, &tally->cells[CELL_TERM(c)], figure);
        for (unsigned k = 0; k < CONTINENT_UNKNOWN; k++) {
            figure.continent = (enum continent)k;
            read_cell(reading, &tally->cells[CELL_CONTINENT(c, k)], figure);
        }
    }
}

static int compare_figures(const void *a, const void *b)
{
    const struct market_figure *x = a, *y = b;
    int order = strcmp(gpu_at(x->gpu)->slug, gpu_at(y->gpu)->slug);
    if (order == 0)
        order = (int)x->commitment - (int)y->commitment;
    return order != 0 ? order : (int)x->continent - (int)y->continent;
}

size_t snapshot_market_past(struct snapshot *snapshot, const struct market_past *past,
                            struct arena *arena, struct market_figure **ret)
{
    bool *owned = xcalloc(snapshot->segment_count + 1, sizeof(*owned));
    struct overlay overlay = overlay_make(snapshot, past, owned);
    int64_t *cutoff = cutoffs_of(snapshot, past);
    const struct market_source source = {&overlay.snapshot, overlay.snapshot.alive, cutoff};
    struct market_slots slots = market_slots_make(snapshot);
    struct reading reading = {.snapshot = snapshot, .room = {.slots = &slots}, .arena = arena};
    for (uint16_t rank = 0; rank < gpu_count(); rank++) {
        struct market_tally *tally = market_tally_of(&source, rank, &reading.room);
        if (tally != NULL)
            read_tally(&reading, tally, gpu_of_rank(rank));
        market_tally_free(tally);
    }
    if (reading.count > 1)
        qsort(reading.list, reading.count, sizeof(*reading.list), compare_figures);
    tally_room_free(&reading.room);
    market_slots_free(&slots);
    free(cutoff);
    overlay_free(&overlay, owned);
    free(owned);
    *ret = reading.list;
    return reading.count;
}
