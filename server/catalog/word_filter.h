/* `q`: words, each of which must begin a word of the offer's provider, GPU or place. Only files of
 * this room include it. */
#ifndef RACKRATE_CATALOG_WORD_FILTER_H
#define RACKRATE_CATALOG_WORD_FILTER_H

#include "server/base/arena.h"
#include "server/catalog/kernels.h"
#include "server/catalog/snapshot.h"

#define QUERY_WORDS_MAX 8

/* Which of a query's words (bit i: words[i]) something has. */
struct word_filter {
    struct word_tables tables;
    uint8_t elsewhere; /* words that some place or provider has */
};

/* Looks up to QUERY_WORDS_MAX folded words (base/words.h) up; tables are in the arena. GPUs go by
 * slug, family, vendor, name and aliases; places by the slugs and names of themselves and of what
 * they lie in; providers by slug and name. Any thread. */
void word_filter_make(struct word_filter *filter, const struct snapshot *snapshot,
                      const char *const *words, size_t count, struct arena *arena);

#endif
