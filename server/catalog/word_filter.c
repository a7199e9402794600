/* The words of GPUs and places are sorted once, so that those with a prefix are one run; providers
 * come and go, and bring theirs along. */
#include "server/catalog/word_filter.h"

#include "server/base/words.h"
#include "server/catalog/rank.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    const char *word;
    uint16_t rank;
    bool of_place;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct entry *entries;
static size_t entry_count, entry_capacity;

/* Kept for ever, as the reference tables are. */
static void add_text(const char *text, uint16_t rank, bool of_place)
{
    char *words = text == NULL ? NULL : words_fold(text, NULL);
    if (words == NULL || words[0] == '\0') {
        free(words);
        return;
    }
    for (const char *word = words; word[0] != '\0'; word = words_next(word)) {
        if (entry_count == entry_capacity) {
            entry_capacity = entry_capacity * 2 + 4096;
            entries = xrealloc(entries, entry_capacity * sizeof(*entries));
        }
        entries[entry_count++] = (struct entry){word, rank, of_place};
    }
}

static void add_gpu(uint16_t rank)
{
    const struct gpu *gpu = gpu_at(gpu_of_rank(rank));
    const char *const texts[] = {gpu->slug, gpu->family, gpu->vendor, gpu->name};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        add_text(texts[i], rank, false);
    for (size_t i = 0; gpu->aliases != NULL && gpu->aliases[i] != NULL; i++)
        add_text(gpu->aliases[i], rank, false);
}

static void add_place(uint16_t rank)
{
    for (uint16_t outer = 0; outer < place_count(); outer++) {
        const struct place *place = place_at(place_of_rank(outer));
        if (places_inside(outer)[rank] == 0)
            continue;
        add_text(place->slug, rank, true);
        add_text(place->name, rank, true);
    }
}

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->word, ((const struct entry *)b)->word);
}

static void make_entries(void)
{
    for (uint16_t rank = 0; rank < gpu_count(); rank++)
        add_gpu(rank);
    for (uint16_t rank = 0; rank < place_count(); rank++)
        add_place(rank);
    qsort(entries, entry_count, sizeof(*entries), compare_entries);
}

/* The first entry not before the prefix. */
static size_t lower_bound(const char *prefix)
{
    size_t low = 0, high = entry_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(entries[middle].word, prefix) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool begins_a_word(const char *words, const char *prefix, size_t length)
{
    for (const char *word = words; word[0] != '\0'; word = words_next(word)) {
        if (word[0] == prefix[0] && strncmp(word, prefix, length) == 0)
            return true;
    }
    return false;
}

void word_filter_make(struct word_filter *filter, const struct snapshot *snapshot,
                      const char *const *words, size_t count, struct arena *arena)
{
    pthread_once(&once, make_entries);
    struct word_tables *tables = &filter->tables;
    *filter = (struct word_filter){
        .tables = {.need = (uint8_t)((1u << count) - 1),
                   .of_gpu = arena_calloc(arena, (size_t)gpu_count() + TABLE_PADDING, 1),
                   .of_place = arena_calloc(arena, RANK_NONE + 1 + TABLE_PADDING, 1),
                   .of_provider = arena_calloc(arena, snapshot->slot_count + TABLE_PADDING, 1)},
    };
    for (size_t w = 0; w < count; w++) {
        uint8_t bit = (uint8_t)(1u << w);
        size_t length = strlen(words[w]);
        for (size_t i = lower_bound(words[w]);
             i < entry_count && strncmp(entries[i].word, words[w], length) == 0; i++) {
            if (!entries[i].of_place) {
                tables->of_gpu[entries[i].rank] |= bit;
                continue;
            }
            tables->of_place[entries[i].rank] |= bit;
            tables->places = true;
            filter->elsewhere |= bit;
        }
        for (size_t slot = 0; slot < snapshot->slot_count; slot++) {
            const struct provider_view *view = snapshot->slots[slot];
            if (view == NULL || !begins_a_word(view->words, words[w], length))
                continue;
            tables->of_provider[slot] |= bit;
            filter->elsewhere |= bit;
        }
    }
}
