/* The parts of the table behind one numbering, and look-up by slug through a sorted index made on
 * first use. */
#include "server/reference/gpu_name.h"
#include "server/reference/gpu_table.h"

#include "server/base/nearest.h"
#include "server/model/offer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPUS_MAX 400

static uint16_t by_slug[GPUS_MAX];
static const char *slugs[GPUS_MAX];
static uint16_t unrecognized;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *const form_names[FORM_COUNT] = {"sxm", "pcie",  "nvl",
                                                   "oam", "other", "undisclosed"};

static const struct gpu *const parts[] = {gpu_table_datacenter, gpu_table_geforce,
                                          gpu_table_workstation, gpu_table_other};
static const size_t *const part_counts[] = {&gpu_table_datacenter_count, &gpu_table_geforce_count,
                                            &gpu_table_workstation_count, &gpu_table_other_count};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

uint16_t gpu_count(void)
{
    size_t count = 0;
    for (size_t i = 0; i < PARTS; i++)
        count += *part_counts[i];
    return (uint16_t)count;
}

const struct gpu *gpu_at(uint16_t index)
{
    size_t at = index, part = 0;
    while (part + 1 < PARTS && at >= *part_counts[part])
        at -= *part_counts[part++];
    return &parts[part][at];
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
        if (strcmp(slugs[i], "unrecognized") == 0) {
            unrecognized = i;
            slugs[i] = NULL; /* no suggestion */
        }
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

bool gpu_in_family(uint16_t index, const char *family)
{
    return strcmp(gpu_at(index)->family, family) == 0;
}

const char *gpu_nearest(const char *text)
{
    struct gpu_name name;
    char words[GPU_NAME_WORDS_MAX * GPU_NAME_WORD_BYTES + 16];
    size_t length = 0;
    pthread_once(&once, make_index);
    /* As a slug would be written: words that say nothing gone, hyphens between the others. */
    gpu_name_parse(text, &name);
    for (size_t i = 0; i < name.word_count; i++)
        length += (size_t)sprintf(words + length, "%s%s", i == 0 ? "" : "-", name.words[i]);
    if (name.form != FORM_COUNT && length > 0)
        length += (size_t)sprintf(words + length, "-%s", form_factor_name(name.form));
    const char *near = length == 0 ? NULL : nearest_name(words, slugs, gpu_count());
    return near != NULL ? near : nearest_name(text, slugs, gpu_count());
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
