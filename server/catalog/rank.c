/* Two permutations, sorted on first use. */
#include "server/catalog/rank.h"

#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/model/offer.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static uint16_t *gpu_order, *gpu_ranks;
static uint16_t *place_order, *place_ranks;
static uint8_t *inside; /* place_count() squared, outer first */
static uint64_t tables_hash;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int compare_gpus(const void *a, const void *b)
{
    const struct gpu *x = gpu_at(*(const uint16_t *)a), *y = gpu_at(*(const uint16_t *)b);
    int order = strcmp(x->family, y->family);
    return order != 0 ? order : strcmp(x->slug, y->slug);
}

/* The area a place lies in, an area being in itself; "" of what lies in none. */
static const char *area_of(const struct place *place)
{
    if (place->kind == PLACE_AREA)
        return place->slug;
    return place->parent != NULL ? place->parent : "";
}

static int compare_places(const void *a, const void *b)
{
    const struct place *x = place_at(*(const uint16_t *)a), *y = place_at(*(const uint16_t *)b);
    int order = strcmp(x->continent, y->continent);
    if (order == 0)
        order = strcmp(area_of(x), area_of(y));
    if (order == 0)
        order = strcmp(x->country != NULL ? x->country : "", y->country != NULL ? y->country : "");
    return order != 0 ? order : strcmp(x->slug, y->slug);
}

static void make_order(uint16_t count, int (*compare)(const void *, const void *),
                       uint16_t **ret_order, uint16_t **ret_ranks)
{
    uint16_t *order = xcalloc(count, sizeof(*order)), *ranks = xcalloc(count, sizeof(*ranks));
    for (uint16_t i = 0; i < count; i++)
        order[i] = i;
    qsort(order, count, sizeof(*order), compare);
    for (uint16_t i = 0; i < count; i++)
        ranks[order[i]] = i;
    *ret_order = order;
    *ret_ranks = ranks;
}

static void make_inside(void)
{
    size_t count = place_count();
    inside = xcalloc(count * count, 1);
    for (size_t outer = 0; outer < count; outer++) {
        for (size_t inner = 0; inner < count; inner++)
            inside[outer * count + inner] = place_contains(place_order[outer], place_order[inner]);
    }
}

static void hash_text(struct crypt_hasher *hasher, const char *text)
{
    crypt_hasher_add(hasher, text == NULL ? "" : text, text == NULL ? 1 : strlen(text) + 1);
}

/* All that answers print of a GPU: another build's figures are another answer. */
static void hash_gpu(struct crypt_hasher *hasher, const struct gpu *gpu)
{
    const char *const texts[] = {
        gpu->slug,           gpu->family,       gpu->vendor,
        gpu->name,           gpu->sources.vram, gpu->sources.memory_bandwidth,
        gpu->sources.bf16,   gpu->sources.fp8,  gpu->sources.tdp,
        gpu->sources.nvlink, gpu->sources.year};
    const int64_t numbers[] = {gpu->is_family,
                               gpu->form_factor,
                               gpu->vram_gb_milli,
                               gpu->memory_bandwidth_gb_per_s_milli,
                               gpu->bf16_dense_tflops_milli,
                               gpu->fp8_dense_tflops_milli,
                               gpu->tdp_watts,
                               gpu->nvlink_gb_per_s_milli,
                               gpu->year};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        hash_text(hasher, texts[i]);
    crypt_hasher_add(hasher, numbers, sizeof(numbers));
    for (size_t i = 0; gpu->aliases != NULL && gpu->aliases[i] != NULL; i++)
        hash_text(hasher, gpu->aliases[i]);
}

static void hash_place(struct crypt_hasher *hasher, const struct place *place)
{
    const char *const texts[] = {place->slug, place->name, place->country, place->continent,
                                 place->parent};
    const int64_t numbers[] = {place->kind, place->latitude_microdegrees,
                               place->longitude_microdegrees};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        hash_text(hasher, texts[i]);
    crypt_hasher_add(hasher, numbers, sizeof(numbers));
}

static void make_ranks(void)
{
    if (place_count() >= RANK_NONE)
        abort(); /* the table outgrew its ranks: a build that can't pass any test */
    struct crypt_hasher hasher;
    uint8_t hash[16];
    make_order(gpu_count(), compare_gpus, &gpu_order, &gpu_ranks);
    make_order(place_count(), compare_places, &place_order, &place_ranks);
    make_inside();
    crypt_hasher_init(&hasher, sizeof(hash));
    for (uint16_t i = 0; i < gpu_count(); i++)
        hash_gpu(&hasher, gpu_at(gpu_order[i]));
    for (uint16_t i = 0; i < place_count(); i++)
        hash_place(&hasher, place_at(place_order[i]));
    crypt_hasher_finish(&hasher, hash);
    memcpy(&tables_hash, hash, sizeof(tables_hash));
}

uint16_t gpu_rank(uint16_t gpu_index)
{
    pthread_once(&once, make_ranks);
    return gpu_ranks[gpu_index];
}

uint16_t gpu_of_rank(uint16_t rank)
{
    pthread_once(&once, make_ranks);
    return gpu_order[rank];
}

uint16_t place_rank(uint16_t place_index)
{
    pthread_once(&once, make_ranks);
    return place_index == INDEX_NONE ? RANK_NONE : place_ranks[place_index];
}

uint16_t place_of_rank(uint16_t rank)
{
    pthread_once(&once, make_ranks);
    return place_order[rank];
}

const uint8_t *places_inside(uint16_t outer_rank)
{
    pthread_once(&once, make_ranks);
    return inside + (size_t)outer_rank * place_count();
}

uint64_t reference_hash(void)
{
    pthread_once(&once, make_ranks);
    return tables_hash;
}
