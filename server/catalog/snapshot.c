/* Look-ups in a published snapshot. */
#include "server/catalog/snapshot.h"
#include "server/catalog/latency_query.h"

#include "server/base/decimal.h"
#include "server/base/words.h"
#include "server/catalog/names.h"

#include <stdlib.h>
#include <string.h>

#define HOUR_US INT64_C(3600000000)

/* Slug and name as words, one after the other, in the view's own memory. */
static const char *words_of(struct provider_view *view)
{
    const char *text =
        arena_printf(&view->strings, "%s %s", view->provider.slug, view->provider.name);
    char *words = words_fold(text, NULL);
    const char *end = words;
    while (end[0] != '\0')
        end = words_next(end);
    const char *copy = arena_strndup(&view->strings, words, (size_t)(end - words));
    free(words);
    return copy;
}

struct provider_view *provider_view_new(const struct provider *provider, size_t live)
{
    struct provider_view *view = xcalloc(1, sizeof(*view));
    struct buf json = {0};
    atomic_init(&view->references, 1);
    arena_init(&view->strings);
    view->provider = *provider;
    view->provider.slug = arena_strdup(&view->strings, provider->slug);
    view->provider.name = arena_strdup(&view->strings, provider->name);
    view->provider.resells = arena_strdup(&view->strings, provider->resells);
    view->provider.website = arena_strdup(&view->strings, provider->website);
    view->provider.contact = arena_strdup(&view->strings, provider->contact);
    view->live = live;
    view->words = words_of(view);
    buf_add_char(&json, '{');
    buf_add_json_member_string(&json, "slug", provider->slug);
    buf_add_json_member_string(&json, "name", provider->name);
    buf_add_char(&json, '}');
    view->json = arena_strndup(&view->strings, json.data, json.length);
    view->json_length = json.length;
    buf_free(&json);
    if (provider->confirmed_at_us != TIMESTAMP_UNKNOWN) {
        char text[TIMESTAMP_TEXT_SIZE];
        size_t length = timestamp_print(provider->confirmed_at_us, text);
        view->confirmed[0] = '"';
        memcpy(view->confirmed + 1, text, length);
        view->confirmed[length + 1] = '"';
        view->confirmed_length = length + 2;
    }
    return view;
}

void provider_view_release(struct provider_view *view)
{
    if (view == NULL || atomic_fetch_sub_explicit(&view->references, 1, memory_order_acq_rel) != 1)
        return;
    arena_free(&view->strings);
    free(view);
}

int64_t provider_freshness_us(const struct provider *provider)
{
    return provider->freshness_hours < 0 ? INT64_MAX : (int64_t)provider->freshness_hours * HOUR_US;
}

void snapshot_free(struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->segment_count; i++) {
        segment_release(snapshot->segments[i]);
        alive_release(snapshot->alive[i]);
    }
    for (size_t i = 0; i < snapshot->slot_count; i++)
        provider_view_release(snapshot->slots[i]);
    moment_free_all(atomic_load_explicit(&snapshot->moment, memory_order_acquire));
    operator_names_release(snapshot->operator_names);
    latency_book_release(snapshot->latency);
    free(snapshot->segments);
    free(snapshot->alive);
    free(snapshot->slots);
    free(snapshot->by_slug);
    free(snapshot);
}

/* Position in by_slug, or provider_count. */
static size_t position_of(const struct snapshot *snapshot, const char *slug)
{
    size_t low = 0, high = snapshot->provider_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(snapshot->slots[snapshot->by_slug[middle]]->provider.slug, slug);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return snapshot->provider_count;
}

size_t snapshot_slot(const struct snapshot *snapshot, const char *slug)
{
    size_t position = position_of(snapshot, slug);
    return position == snapshot->provider_count ? PROVIDERS_MAX : snapshot->by_slug[position];
}

int64_t snapshot_as_of_us(const struct snapshot *snapshot)
{
    return snapshot->as_of_us;
}

size_t snapshot_offer_count(const struct snapshot *snapshot)
{
    return snapshot->live;
}

size_t snapshot_provider_count(const struct snapshot *snapshot)
{
    return snapshot->provider_count;
}

const struct provider *snapshot_provider(const struct snapshot *snapshot, size_t index)
{
    return &snapshot->slots[snapshot->by_slug[index]]->provider;
}

const struct provider *snapshot_provider_find(const struct snapshot *snapshot, const char *slug)
{
    size_t slot = snapshot_slot(snapshot, slug);
    return slot == PROVIDERS_MAX ? NULL : &snapshot->slots[slot]->provider;
}

bool snapshot_is_stale(const struct snapshot *snapshot, const struct segment *segment, uint32_t row,
                       int64_t clock_us)
{
    const struct provider *provider = &snapshot->slots[segment->provider[row]]->provider;
    int64_t freshness = provider_freshness_us(provider);
    if (freshness == INT64_MAX || segment->is_sample[row] != 0)
        return false;
    int64_t confirmed = segment->own_us[row] > provider->confirmed_at_us
                            ? segment->own_us[row]
                            : provider->confirmed_at_us;
    return time_add(confirmed, freshness) < clock_us;
}

struct fragment_splice snapshot_splice(const struct snapshot *snapshot,
                                       const struct segment *segment, uint32_t row,
                                       int64_t clock_us)
{
    const struct provider_view *view = snapshot->slots[segment->provider[row]];
    struct fragment_splice splice = {
        .provider_json = view->json,
        .provider_length = view->json_length,
        .stale = snapshot_is_stale(snapshot, segment, row, clock_us),
        .latency = LATENCY_UNKNOWN,
    };
    if (segment->is_sample[row] == 0 && view->provider.confirmed_at_us > segment->own_us[row]) {
        splice.confirmed = view->confirmed;
        splice.confirmed_length = view->confirmed_length;
    }
    return splice;
}

/* Whether a live row has this name: `column` is the row's index into `names`. */
static bool name_lives(const struct snapshot *snapshot, size_t index,
                       const struct segment_names *names, const uint32_t *column, uint64_t hash)
{
    const struct segment *segment = snapshot->segments[index];
    uint32_t name = segment_names_find(names, hash);
    if (name == UINT32_MAX)
        return false;
    for (uint32_t row = 0; row < segment->row_count; row++) {
        if (column[row] == name && alive_has(snapshot->alive[index], row))
            return true;
    }
    return false;
}

bool snapshot_knows_gpu_name(const struct snapshot *snapshot, const char *raw)
{
    uint64_t hash = gpu_name_hash(raw);
    for (size_t i = 0; i < snapshot->segment_count && hash != 0; i++) {
        const struct segment *segment = snapshot->segments[i];
        if (name_lives(snapshot, i, &segment->gpu_names, segment->gpu_name, hash))
            return true;
    }
    return false;
}

bool snapshot_knows_region_name(const struct snapshot *snapshot, const char *raw)
{
    uint64_t hash = region_name_hash(raw);
    for (size_t i = 0; i < snapshot->segment_count && hash != 0; i++) {
        const struct segment *segment = snapshot->segments[i];
        if (name_lives(snapshot, i, &segment->region_names, segment->region_name, hash))
            return true;
    }
    return false;
}
