/* One segment out of the live rows of several. Text stays where it is and its slabs are shared,
 * unless a slab is mostly dead or small: then its live text moves into a new one. A row's text is
 * thus moved a few times while segments are small and never because the market is large. */
#include "server/base/arena.h"
#include "server/catalog/leaves.h"
#include "server/catalog/segment_private.h"

#include <stdlib.h>
#include <string.h>

/* Slabs below this are gathered into larger ones. */
#define SLAB_SMALL_BYTES ((size_t)256 << 10)

/* A row in order: what decides nearly always is in the first two numbers. */
struct place_in_order {
    uint64_t gpu_and_price; /* rank << 44 | price, cut to 44 bits */
    uint64_t id_high;
    uint32_t input;
    uint32_t row;
};

struct merge {
    struct segment *const *inputs;
    size_t input_count;
    struct place_in_order *order;
    size_t row_count;
    size_t entry_count;
    struct segment *result;
    struct slab **slabs; /* all inputs' slabs by address, each once */
    size_t *live_bytes;
    bool *moves;
    size_t slab_count;
};

static int compare_places_fully(const struct merge *merge, const struct place_in_order *a,
                                const struct place_in_order *b)
{
    const struct segment *x = merge->inputs[a->input], *y = merge->inputs[b->input];
    if (x->cheapest_microusd[a->row] != y->cheapest_microusd[b->row])
        return x->cheapest_microusd[a->row] < y->cheapest_microusd[b->row] ? -1 : 1;
    return offer_key_compare(x->id[a->row], y->id[b->row]);
}

static int compare_places_in_order(const void *a, const void *b, void *merge)
{
    const struct place_in_order *x = a, *y = b;
    if (x->gpu_and_price != y->gpu_and_price)
        return x->gpu_and_price < y->gpu_and_price ? -1 : 1;
    const uint64_t price_bits = (UINT64_C(1) << 44) - 1;
    if (x->id_high != y->id_high && (x->gpu_and_price & price_bits) != price_bits)
        return x->id_high < y->id_high ? -1 : 1;
    return compare_places_fully(merge, x, y);
}

static void order_rows(struct merge *merge, struct alive *const *alive)
{
    const uint64_t price_bits = (UINT64_C(1) << 44) - 1;
    size_t count = 0;
    for (size_t i = 0; i < merge->input_count; i++)
        count += alive_count(alive[i], merge->inputs[i]);
    merge->order = xcalloc(count, sizeof(*merge->order));
    for (uint32_t i = 0; i < merge->input_count; i++) {
        const struct segment *input = merge->inputs[i];
        for (uint32_t row = 0; row < input->row_count; row++) {
            if (!alive_has(alive[i], row))
                continue;
            uint64_t price = (uint64_t)input->cheapest_microusd[row];
            merge->order[merge->row_count++] = (struct place_in_order){
                .gpu_and_price = (uint64_t)input->gpu_rank[row] << 44 |
                                 (price < price_bits ? price : price_bits),
                .id_high = input->id[row].high,
                .input = i,
                .row = row,
            };
            merge->entry_count += input->entry_start[row + 1] - input->entry_start[row];
        }
    }
    qsort_r(merge->order, merge->row_count, sizeof(*merge->order), compare_places_in_order, merge);
}

static void copy_rows(struct merge *merge)
{
    struct segment *result = merge->result;
    uint32_t entry = 0;
    result->entry_start[0] = 0;
    for (uint32_t to = 0; to < merge->row_count; to++) {
        const struct segment *from = merge->inputs[merge->order[to].input];
        uint32_t row = merge->order[to].row;
#define X(type, name) result->name[to] = from->name[row];
        SEGMENT_ROW_COLUMNS(X)
#undef X
        for (uint32_t at = from->entry_start[row]; at < from->entry_start[row + 1]; at++, entry++) {
#define X(type, name) result->name[entry] = from->name[at];
            SEGMENT_ENTRY_COLUMNS(X)
#undef X
        }
        result->entry_start[to + 1] = entry;
    }
}

static void copy_names(struct merge *merge)
{
    uint64_t *hashes = xcalloc(merge->row_count, sizeof(*hashes));
    struct segment *result = merge->result;
    for (size_t i = 0; i < merge->row_count; i++) {
        const struct segment *from = merge->inputs[merge->order[i].input];
        hashes[i] = from->gpu_names.hashes[from->gpu_name[merge->order[i].row]];
    }
    segment_names_build(&result->gpu_names, hashes, result->gpu_rank, merge->row_count,
                        result->gpu_name);
    for (size_t i = 0; i < merge->row_count; i++) {
        const struct segment *from = merge->inputs[merge->order[i].input];
        hashes[i] = from->region_names.hashes[from->region_name[merge->order[i].row]];
    }
    segment_names_build(&result->region_names, hashes, result->place_rank, merge->row_count,
                        result->region_name);
    free(hashes);
}

static int compare_addresses(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (struct slab *const *)a, y = (uintptr_t) * (struct slab *const *)b;
    return x < y ? -1 : x > y;
}

/* The slab a row's text lies in. */
static size_t slab_of(const struct merge *merge, const char *bytes)
{
    size_t low = 0, high = merge->slab_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)merge->slabs[middle] <= (uintptr_t)bytes)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Of a row's text with the table before it. */
static size_t text_size(const struct row_text *text)
{
    return sizeof(struct leaf_table) + text->length + text->external_id_length + 1;
}

static void list_slabs(struct merge *merge)
{
    size_t count = 0;
    for (size_t i = 0; i < merge->input_count; i++)
        count += merge->inputs[i]->slab_count;
    merge->slabs = xcalloc(count, sizeof(struct slab *));
    for (size_t i = 0, at = 0; i < merge->input_count; i++) {
        memcpy(merge->slabs + at, merge->inputs[i]->slabs,
               merge->inputs[i]->slab_count * sizeof(struct slab *));
        at += merge->inputs[i]->slab_count;
    }
    qsort(merge->slabs, count, sizeof(struct slab *), compare_addresses);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || merge->slabs[i] != merge->slabs[merge->slab_count - 1])
            merge->slabs[merge->slab_count++] = merge->slabs[i];
    }
    merge->live_bytes = xcalloc(merge->slab_count, sizeof(size_t));
    merge->moves = xcalloc(merge->slab_count, sizeof(bool));
    for (size_t i = 0; i < merge->row_count; i++) {
        const struct row_text *text = &merge->result->text[i];
        merge->live_bytes[slab_of(merge, text->bytes)] += text_size(text);
    }
}

/* Decides which slabs empty into a new one; gives its size. */
static size_t choose_moves(struct merge *merge)
{
    size_t small = 0, size = 0;
    for (size_t i = 0; i < merge->slab_count; i++)
        small += merge->live_bytes[i] > 0 && merge->slabs[i]->used < SLAB_SMALL_BYTES;
    for (size_t i = 0; i < merge->slab_count; i++) {
        size_t live = merge->live_bytes[i];
        merge->moves[i] = live > 0 && (live < merge->slabs[i]->used / 2 ||
                                       (small > 1 && merge->slabs[i]->used < SLAB_SMALL_BYTES));
        if (merge->moves[i])
            size += live;
    }
    return size;
}

static void share_text(struct merge *merge)
{
    struct segment *result = merge->result;
    list_slabs(merge);
    size_t size = choose_moves(merge);
    struct slab *slab = size > 0 ? slab_new(size) : NULL;
    result->slabs = xcalloc(merge->slab_count + 1, sizeof(struct slab *));
    for (size_t i = 0; i < merge->row_count && slab != NULL; i++) {
        struct row_text *text = &result->text[i];
        if (!merge->moves[slab_of(merge, text->bytes)])
            continue;
        size_t size_of_text = text_size(text);
        memcpy(slab->bytes + slab->used, text->bytes - sizeof(struct leaf_table), size_of_text);
        text->bytes = slab->bytes + slab->used + sizeof(struct leaf_table);
        slab->used += size_of_text;
    }
    for (size_t i = 0; i < merge->slab_count; i++) {
        if (merge->live_bytes[i] == 0 || merge->moves[i])
            continue;
        atomic_fetch_add_explicit(&merge->slabs[i]->references, 1, memory_order_relaxed);
        result->slabs[result->slab_count++] = merge->slabs[i];
    }
    if (slab != NULL)
        result->slabs[result->slab_count++] = slab;
    for (size_t i = 0; i < result->slab_count; i++)
        result->text_bytes += result->slabs[i]->used;
}

struct segment *segment_merge(struct segment *const *inputs, struct alive *const *alive,
                              size_t input_count)
{
    struct merge merge = {.inputs = inputs, .input_count = input_count};
    order_rows(&merge, alive);
    if (merge.row_count > 0) {
        merge.result = segment_alloc(merge.row_count, merge.entry_count);
        copy_rows(&merge);
        copy_names(&merge);
        share_text(&merge);
        segment_index(merge.result);
    }
    free(merge.order);
    free(merge.slabs);
    free(merge.live_bytes);
    free(merge.moves);
    return merge.result;
}
