/* Two tables behind one numbering, a sorted index of slugs and the parents of all places, made on
 * first use. */
#include "server/reference/place_table.h"

#include "server/base/nearest.h"
#include "server/model/offer.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PLACES_MAX 1200

static uint16_t by_slug[PLACES_MAX];
static const char *slugs[PLACES_MAX];
static uint16_t area_of[PLACES_MAX];    /* index of the parent area, or INDEX_NONE */
static uint16_t country_of[PLACES_MAX]; /* index of the country, or INDEX_NONE */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *const precision_names[] = {"building", "city", "state", "country", "area"};

uint16_t place_count(void)
{
    return (uint16_t)(place_table_wide_count + place_table_cities_count);
}

const struct place *place_at(uint16_t index)
{
    return index < place_table_wide_count ? &place_table_wide[index]
                                          : &place_table_cities[index - place_table_wide_count];
}

static int compare_slugs(const void *a, const void *b)
{
    return strcmp(place_at(*(const uint16_t *)a)->slug, place_at(*(const uint16_t *)b)->slug);
}

static uint16_t search(const char *slug)
{
    size_t low = 0, high = place_count();
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(place_at(by_slug[middle])->slug, slug);
        if (order == 0)
            return by_slug[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return INDEX_NONE;
}

static void make_index(void)
{
    uint16_t count = place_count();
    if (count > PLACES_MAX)
        abort(); /* the table outgrew its index: a build that can't pass any test */
    for (uint16_t i = 0; i < count; i++) {
        by_slug[i] = i;
        slugs[i] = place_at(i)->slug;
    }
    qsort(by_slug, count, sizeof(by_slug[0]), compare_slugs);
    for (uint16_t i = 0; i < count; i++) {
        const struct place *place = place_at(i);
        area_of[i] = place->parent == NULL ? INDEX_NONE : search(place->parent);
        country_of[i] = INDEX_NONE;
        if (place->country != NULL && place->kind != PLACE_AREA) {
            char code[3] = {(char)tolower((unsigned char)place->country[0]),
                            (char)tolower((unsigned char)place->country[1]), '\0'};
            country_of[i] = search(code);
        }
    }
}

uint16_t place_find(const char *slug)
{
    pthread_once(&once, make_index);
    return search(slug);
}

bool place_contains(uint16_t outer, uint16_t inner)
{
    pthread_once(&once, make_index);
    return outer == inner || area_of[inner] == outer || country_of[inner] == outer;
}

const char *place_nearest(const char *text)
{
    pthread_once(&once, make_index);
    return nearest_name(text, slugs, place_count());
}

bool country_is_known(const char *alpha2)
{
    if (strlen(alpha2) != 2)
        return false;
    for (size_t i = 0; i < place_table_wide_count; i++) {
        const struct place *place = &place_table_wide[i];
        if (place->kind == PLACE_COUNTRY && strcasecmp(place->country, alpha2) == 0)
            return true;
    }
    return false;
}

const char *place_precision_name(enum place_precision precision)
{
    return precision_names[precision];
}
