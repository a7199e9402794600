/* The parts of the place table and the words for them; only place.c, place_resolve.c and db/seed.c,
 * which copies them into the database, read them. */
#ifndef RACKRATE_REFERENCE_PLACE_TABLE_H
#define RACKRATE_REFERENCE_PLACE_TABLE_H

#include "server/reference/place.h"

extern const struct place place_table_wide[], place_table_cities[];
extern const size_t place_table_wide_count, place_table_cities_count;

/* A word of one vocabulary; `provider` "" is everybody's. Sorted by provider, then code. */
struct place_word {
    const char *provider;
    const char *code;
    const char *slug;
};
extern const struct place_word place_words[], country_words[];
extern const size_t place_word_count, country_word_count;

#endif
