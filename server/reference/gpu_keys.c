/* Keys made from slugs and from gpu_key_table, sorted once; families as ranges of an order by
 * family. */
#include "server/reference/gpu_keys.h"

#include "server/base/decimal.h"
#include "server/model/offer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 1200
#define GPUS_MAX 400

struct key_entry {
    char key[GPU_NAME_KEY_BYTES];
    uint16_t gpu;
};
struct range {
    uint16_t start, count;
};

static struct key_entry keys[KEYS_MAX];
static size_t key_count;
static uint16_t by_family[GPUS_MAX];       /* variants only, ordered by family */
static struct range variants_of[GPUS_MAX]; /* by GPU index, into by_family */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A table that outgrew its arrays is a fault of the build that no test could pass. */
static void must(bool fits)
{
    if (!fits)
        abort();
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Adds prefix + text + suffix, hyphens left out. */
static void add_key(const char *prefix, const char *text, size_t length, const char *suffix,
                    uint16_t gpu)
{
    must(key_count < KEYS_MAX);
    struct key_entry *entry = &keys[key_count++];
    int written = snprintf(entry->key, sizeof(entry->key), "%s", prefix);
    size_t at = (size_t)written;
    for (size_t i = 0; i < length; i++) {
        must(at + 1 < sizeof(entry->key));
        if (text[i] != '-')
            entry->key[at++] = text[i];
        else if (i > 0 && is_digit(text[i - 1]) && is_digit(text[i + 1]))
            entry->key[at++] = ' '; /* as in gpu_name_key */
    }
    must(at + strlen(suffix) < sizeof(entry->key));
    memcpy(entry->key + at, suffix, strlen(suffix) + 1);
    entry->gpu = gpu;
}

static bool starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Super is written S, before or after Ti: 4070S Ti, 4070 Ti S, 4070 Super Ti. `body` is the slug
 * without rtx- or gtx-. */
static void add_super_keys(const char *prefix, const char *body, uint16_t gpu)
{
    size_t length = strlen(body);
    if (length > 9 && strcmp(body + length - 9, "-ti-super") == 0) {
        static const char *const suffixes[] = {"sti", "tis", "superti"};
        for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
            add_key(prefix, body, length - 9, suffixes[i], gpu);
    } else if (length > 6 && strcmp(body + length - 6, "-super") == 0) {
        add_key(prefix, body, length - 6, "s", gpu);
    }
}

static void add_keys_of(uint16_t gpu)
{
    const char *slug = gpu_at(gpu)->slug;
    if (gpu == gpu_unrecognized())
        return;
    add_key("", slug, strlen(slug), "", gpu);
    if (starts(slug, "rtx-") || starts(slug, "gtx-")) {
        const char *body = slug + 4;
        add_key("", body, strlen(body), "", gpu);
        add_super_keys("", body, gpu);
        add_super_keys(starts(slug, "rtx-") ? "rtx" : "gtx", body, gpu);
    } else if (starts(slug, "quadro-") && !starts(slug, "quadro-rtx")) {
        add_key("", slug + 7, strlen(slug + 7), "", gpu);
    }
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const struct key_entry *)a)->key, ((const struct key_entry *)b)->key);
}

static int compare_families(const void *a, const void *b)
{
    uint16_t x = *(const uint16_t *)a, y = *(const uint16_t *)b;
    int order = strcmp(gpu_at(x)->family, gpu_at(y)->family);
    return order != 0 ? order : x < y ? -1 : x > y;
}

static void make_families(void)
{
    uint16_t count = 0;
    must(gpu_count() <= GPUS_MAX);
    for (uint16_t i = 0; i < gpu_count(); i++) {
        if (!gpu_at(i)->is_family)
            by_family[count++] = i;
    }
    qsort(by_family, count, sizeof(by_family[0]), compare_families);
    for (uint16_t start = 0, end = 0; start < count; start = end) {
        const char *family = gpu_at(by_family[start])->family;
        while (end < count && strcmp(gpu_at(by_family[end])->family, family) == 0)
            end++;
        struct range range = {start, (uint16_t)(end - start)};
        for (uint16_t i = start; i < end; i++)
            variants_of[by_family[i]] = range;
        variants_of[gpu_find(family)] = range;
    }
}

static void make(void)
{
    for (uint16_t i = 0; i < gpu_count(); i++)
        add_keys_of(i);
    for (size_t i = 0; i < gpu_key_table_count; i++) {
        const struct gpu_key *key = &gpu_key_table[i];
        add_key("", key->key, strlen(key->key), "", gpu_find(key->slug));
    }
    qsort(keys, key_count, sizeof(keys[0]), compare_keys);
    make_families();
}

uint16_t gpu_key_find(const char *key)
{
    pthread_once(&once, make);
    size_t low = 0, high = key_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(keys[middle].key, key);
        if (order == 0)
            return keys[middle].gpu;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return INDEX_NONE;
}

uint16_t gpu_key_find_conditional(const char *key, int64_t vram_gb_milli, enum gpu_era era,
                                  bool *ret_by_size)
{
    *ret_by_size = false;
    for (size_t i = 0; i < gpu_conditional_key_count; i++) {
        const struct gpu_conditional_key *entry = &gpu_conditional_keys[i];
        if (strcmp(entry->key, key) != 0)
            continue;
        bool by_size =
            vram_gb_milli != UNKNOWN && gpu_same_size(entry->vram_gb_milli, vram_gb_milli);
        bool by_era = era != ERA_UNSAID && entry->era == era;
        /* An era that says otherwise outweighs a size. */
        if (by_era || (by_size && (era == ERA_UNSAID || entry->era == ERA_UNSAID))) {
            *ret_by_size = by_size;
            return gpu_find(entry->slug);
        }
    }
    return INDEX_NONE;
}

const uint16_t *gpu_family_variants(uint16_t gpu, size_t *ret_count)
{
    pthread_once(&once, make);
    *ret_count = variants_of[gpu].count;
    return by_family + variants_of[gpu].start;
}

bool gpu_same_size(int64_t nominal_milli, int64_t reported_milli)
{
    if (reported_milli < 0 || reported_milli / 2 > nominal_milli)
        return false; /* far off, and the products below could overflow */
    int64_t difference = nominal_milli - reported_milli;
    return difference * 100 <= nominal_milli * 8 && -difference * 100 <= nominal_milli * 4;
}
