/* The three parts of the table behind one numbering, and look-up by slug through a sorted index
 * made on first use. */
#include "server/reference/gpu_table.h"

#include "server/base/nearest.h"
#include "server/model/offer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define GPUS_MAX 400

static uint16_t by_slug[GPUS_MAX];
static const char *slugs[GPUS_MAX];
static uint16_t unrecognized;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *const form_names[FORM_COUNT] = {"sxm", "pcie",  "nvl",
                                                   "oam", "other", "undisclosed"};

uint16_t gpu_count(void)
{
    return (uint16_t)(gpu_table_datacenter_count + gpu_table_cards_count + gpu_table_other_count);
}

const struct gpu *gpu_at(uint16_t index)
{
    size_t at = index;
    if (at < gpu_table_datacenter_count)
        return &gpu_table_datacenter[at];
    at -= gpu_table_datacenter_count;
    if (at < gpu_table_cards_count)
        return &gpu_table_cards[at];
    return &gpu_table_other[at - gpu_table_cards_count];
}

static int compare_slugs(const void *a, const void *b)
{
    return strcmp(gpu_at(*(const uint16_t *)a)->slug, gpu_at(*(const uint16_t *)b)->slug);
}

static void make_index(void)
{
    uint16_t count = gpu_count();
    if (count > GPUS_MAX)
        abort(); /* the table outgrew its index: a build that can't pass any test */
    for (uint16_t i = 0; i < count; i++) {
        by_slug[i] = i;
        slugs[i] = gpu_at(i)->slug;
        if (strcmp(slugs[i], "unrecognized") == 0)
            unrecognized = i;
    }
    qsort(by_slug, count, sizeof(by_slug[0]), compare_slugs);
}

uint16_t gpu_find(const char *slug)
{
    pthread_once(&once, make_index);
    size_t low = 0, high = gpu_count();
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(gpu_at(by_slug[middle])->slug, slug);
        if (order == 0)
            return by_slug[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return INDEX_NONE;
}

uint16_t gpu_unrecognized(void)
{
    pthread_once(&once, make_index);
    return unrecognized;
}

const char *gpu_nearest(const char *text)
{
    pthread_once(&once, make_index);
    return nearest_name(text, slugs, gpu_count());
}

const char *form_factor_name(enum form_factor form_factor)
{
    return form_names[form_factor];
}

bool form_factor_parse(const char *text, enum form_factor *ret)
{
    for (size_t i = 0; i < FORM_COUNT; i++) {
        if (strcmp(text, form_names[i]) == 0) {
            *ret = (enum form_factor)i;
            return true;
        }
    }
    return false;
}
