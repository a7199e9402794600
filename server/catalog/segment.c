/* Memory and look-ups of segments: one block for all columns of a segment, an open-addressing table
 * over ids (which are hashes already). */
#include "server/catalog/segment.h"

#include "server/base/arena.h"
#include "server/catalog/kernels.h"
#include "server/catalog/segment_private.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <stdlib.h>
#include <string.h>

#define COLUMN_ALIGNMENT 64

struct offer_key offer_key_of(const uint8_t id[static OFFER_ID_BYTES])
{
    struct offer_key key = {0, 0};
    for (int i = 0; i < 8; i++) {
        key.high = key.high << 8 | id[i];
        key.low = key.low << 8 | id[8 + i];
    }
    return key;
}

struct slab *slab_new(size_t size)
{
    struct slab *slab = xmalloc(sizeof(*slab) + size);
    atomic_init(&slab->references, 1);
    slab->used = 0;
    return slab;
}

void slab_release(struct slab *slab)
{
    if (slab != NULL && atomic_fetch_sub_explicit(&slab->references, 1, memory_order_acq_rel) == 1)
        free(slab);
}

struct alive *alive_copy(const struct alive *alive, uint32_t row_count)
{
    size_t words = ((size_t)row_count + 63) / 64;
    struct alive *copy = xmalloc(sizeof(*copy) + words * sizeof(copy->words[0]));
    atomic_init(&copy->references, 1);
    copy->dead_count = alive == NULL ? 0 : alive->dead_count;
    if (alive == NULL)
        memset(copy->words, 0xff, words * sizeof(copy->words[0]));
    else
        memcpy(copy->words, alive->words, words * sizeof(copy->words[0]));
    return copy;
}

void alive_release(struct alive *alive)
{
    if (alive != NULL &&
        atomic_fetch_sub_explicit(&alive->references, 1, memory_order_acq_rel) == 1)
        free(alive);
}

static size_t aligned(size_t size)
{
    return (size + COLUMN_ALIGNMENT - 1) / COLUMN_ALIGNMENT * COLUMN_ALIGNMENT;
}

static size_t slot_count(size_t row_count)
{
    size_t slots = 4;
    while (slots < row_count + row_count / 2)
        slots *= 2;
    return slots;
}

struct segment *segment_alloc(size_t row_count, size_t entry_count)
{
    struct segment *segment = xcalloc(1, sizeof(*segment));
    size_t size = 0, slots = slot_count(row_count);
    /* Kernels look at whole words of rows. */
    size_t padded = (row_count + WORD_ROWS - 1) / WORD_ROWS * WORD_ROWS;
#define X(type, name) size += aligned(padded * sizeof(type));
    SEGMENT_ROW_COLUMNS(X)
#undef X
#define X(type, name) size += aligned(entry_count * sizeof(type));
    SEGMENT_ENTRY_COLUMNS(X)
#undef X
    size += aligned((row_count + 1) * sizeof(uint32_t)) +
            aligned(((size_t)gpu_count() + 1) * sizeof(uint32_t)) +
            aligned((size_t)place_count() * sizeof(uint32_t)) +
            2 * aligned((size_t)gpu_count() * sizeof(int32_t)) + aligned(slots * sizeof(uint32_t));
    char *at = aligned_alloc(COLUMN_ALIGNMENT, size);
    if (at == NULL)
        abort(); /* as xmalloc does */
    segment->block = at;
#define X(type, name)                                                                              \
    segment->name = (type *)(void *)at;                                                            \
    at += aligned(padded * sizeof(type));
    SEGMENT_ROW_COLUMNS(X)
#undef X
#define X(type, name)                                                                              \
    segment->name = (type *)(void *)at;                                                            \
    at += aligned(entry_count * sizeof(type));
    SEGMENT_ENTRY_COLUMNS(X)
#undef X
    segment->entry_start = (uint32_t *)(void *)at;
    at += aligned((row_count + 1) * sizeof(uint32_t));
    segment->gpu_start = (uint32_t *)(void *)at;
    at += aligned(((size_t)gpu_count() + 1) * sizeof(uint32_t));
    segment->place_rows = (uint32_t *)(void *)at;
    at += aligned((size_t)place_count() * sizeof(uint32_t));
    segment->vram_most = (int32_t *)(void *)at;
    at += aligned((size_t)gpu_count() * sizeof(int32_t));
    segment->vram_least = (int32_t *)(void *)at;
    at += aligned((size_t)gpu_count() * sizeof(int32_t));
    segment->id_slots = (uint32_t *)(void *)at;
    segment->id_mask = (uint32_t)(slots - 1);
    segment->row_count = (uint32_t)row_count;
    segment->entry_count = (uint32_t)entry_count;
    segment->bytes = size + sizeof(*segment);
    atomic_init(&segment->references, 1);
    return segment;
}

struct segment *segment_reference(struct segment *segment)
{
    atomic_fetch_add_explicit(&segment->references, 1, memory_order_relaxed);
    return segment;
}

void segment_release(struct segment *segment)
{
    if (segment == NULL ||
        atomic_fetch_sub_explicit(&segment->references, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < segment->slab_count; i++)
        slab_release(segment->slabs[i]);
    free(segment->slabs);
    free(segment->gpu_names.hashes);
    free(segment->gpu_names.ranks);
    free(segment->region_names.hashes);
    free(segment->region_names.ranks);
    free(segment->block);
    free(segment);
}

/* What rows of a place and a GPU have in common, so that a sort knows where to begin. */
static void index_extremes(struct segment *segment)
{
    memset(segment->place_rows, 0, (size_t)place_count() * sizeof(uint32_t));
    for (uint32_t row = 0; row < segment->row_count; row++) {
        if (segment->place_rank[row] < place_count())
            segment->place_rows[segment->place_rank[row]]++;
    }
    for (uint16_t rank = 0; rank < gpu_count(); rank++) {
        int32_t most = -1, least = INT32_MAX;
        for (uint32_t row = segment->gpu_start[rank]; row < segment->gpu_start[rank + 1]; row++) {
            int32_t vram = segment->vram_gb_milli[row];
            most = vram > most ? vram : most;
            least = vram < least ? vram : least;
        }
        segment->vram_most[rank] = most;
        segment->vram_least[rank] = least;
    }
}

void segment_index(struct segment *segment)
{
    uint16_t ranks = gpu_count();
    uint32_t row = 0;
    for (uint16_t rank = 0; rank <= ranks; rank++) {
        while (row < segment->row_count && segment->gpu_rank[row] < rank)
            row++;
        segment->gpu_start[rank] = row;
    }
    index_extremes(segment);
    memset(segment->id_slots, 0, ((size_t)segment->id_mask + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < segment->row_count; i++) {
        uint32_t at = (uint32_t)segment->id[i].low & segment->id_mask;
        while (segment->id_slots[at] != 0)
            at = (at + 1) & segment->id_mask;
        segment->id_slots[at] = i + 1;
    }
}

uint32_t segment_find(const struct segment *segment, struct offer_key key)
{
    uint32_t at = (uint32_t)key.low & segment->id_mask;
    while (segment->id_slots[at] != 0) {
        uint32_t row = segment->id_slots[at] - 1;
        if (offer_key_compare(segment->id[row], key) == 0)
            return row;
        at = (at + 1) & segment->id_mask;
    }
    return UINT32_MAX;
}

uint32_t segment_names_find(const struct segment_names *names, uint64_t hash)
{
    uint32_t low = 0, high = names->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (names->hashes[middle] == hash)
            return middle;
        if (names->hashes[middle] < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return UINT32_MAX;
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

void segment_names_build(struct segment_names *names, const uint64_t *hashes, const uint16_t *ranks,
                         size_t row_count, uint32_t *column)
{
    uint64_t *sorted = xcalloc(row_count, sizeof(*sorted));
    size_t count = 0;
    memcpy(sorted, hashes, row_count * sizeof(*sorted));
    qsort(sorted, row_count, sizeof(*sorted), compare_hashes);
    for (size_t i = 0; i < row_count; i++) {
        if (count == 0 || sorted[i] != sorted[count - 1])
            sorted[count++] = sorted[i];
    }
    names->hashes = xrealloc(sorted, count * sizeof(*sorted));
    names->ranks = xcalloc(count, sizeof(*names->ranks));
    names->count = (uint32_t)count;
    bool *seen = xcalloc(count, sizeof(*seen));
    for (size_t i = 0; i < row_count; i++) {
        uint32_t at = segment_names_find(names, hashes[i]);
        column[i] = at;
        if (!seen[at])
            names->ranks[at] = ranks[i];
        else if (names->ranks[at] != ranks[i])
            names->ranks[at] = NAME_MIXED;
        seen[at] = true;
    }
    free(seen);
}
