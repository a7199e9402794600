/* From a provider's words to a place. Each word is tried as it is and then with trailing zone marks
 * cut off (`-a`, `-az1`, `-3`), in the provider's own vocabulary first. A word that two clouds use
 * for two places is known only to their own vocabularies. */
#include "server/reference/place_table.h"

#include "server/model/offer.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define WORD_BYTES 96

void place_name_fold(const char *raw, char *out, size_t size)
{
    size_t length = 0;
    bool gap = false;
    for (const unsigned char *c = (const unsigned char *)raw; *c != '\0'; c++) {
        if (!isalnum(*c) && *c < 0x80) {
            gap = length > 0;
            continue;
        }
        if (length + 2 >= size)
            break;
        if (gap)
            out[length++] = '-';
        gap = false;
        out[length++] = (char)tolower(*c);
    }
    out[length] = '\0';
}

static const char *find_word(const char *provider, const char *code)
{
    size_t low = 0, high = place_word_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(place_words[middle].provider, provider);
        if (order == 0)
            order = strcmp(place_words[middle].code, code);
        if (order == 0)
            return place_words[middle].slug;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* What all vocabularies that know a code agree on, or NULL; *ret_disputed tells whether they
 * disagree. Nebius writes its own places in Google's style (us-central1), so its words count in its
 * own vocabulary only. */
static const char *agreed_word(const char *code, bool *ret_disputed)
{
    const char *slug = NULL;
    *ret_disputed = false;
    for (size_t i = 0; i < place_word_count; i++) {
        if (strcmp(place_words[i].code, code) != 0 ||
            strcmp(place_words[i].provider, "awslocal") == 0 ||
            strcmp(place_words[i].provider, "nebius") == 0)
            continue;
        if (slug != NULL && strcmp(slug, place_words[i].slug) != 0)
            *ret_disputed = true;
        slug = place_words[i].slug;
    }
    return *ret_disputed ? NULL : slug;
}

static const char *find_country(const char *word)
{
    for (size_t i = 0; i < country_word_count; i++) {
        if (strcmp(country_words[i].code, word) == 0)
            return country_words[i].slug;
    }
    return NULL;
}

/* A city by its folded name: within a country (`cc`), or anywhere if only one has it. */
static uint16_t find_city(const char *name, const char *cc)
{
    uint16_t found = INDEX_NONE;
    for (uint16_t i = 0; i < place_count(); i++) {
        const struct place *place = place_at(i);
        char folded[WORD_BYTES];
        if (place->kind != PLACE_POINT || (cc != NULL && strcasecmp(place->country, cc) != 0))
            continue;
        place_name_fold(place->name, folded, sizeof(folded));
        if (strcmp(folded, name) != 0)
            continue;
        if (found != INDEX_NONE)
            return INDEX_NONE;
        found = i;
    }
    return found;
}

/* Cuts one trailing zone mark off: `-az1`, `-a`, `-1`, a letter behind a digit. False where there
 * is none. */
static bool cut_mark(char *word)
{
    size_t length = strlen(word);
    char *hyphen = strrchr(word, '-');
    if (hyphen != NULL) {
        const char *mark = hyphen + 1;
        size_t size = strlen(mark);
        bool digits = size > 0 && strspn(mark, "0123456789") == size;
        bool zone =
            size >= 3 && strncmp(mark, "az", 2) == 0 && strspn(mark + 2, "0123456789") == size - 2;
        if (digits || zone || (size == 1 && isalpha((unsigned char)*mark))) {
            *hyphen = '\0';
            return true;
        }
    }
    if (length >= 2 && isalpha((unsigned char)word[length - 1]) &&
        isdigit((unsigned char)word[length - 2])) {
        word[length - 1] = '\0';
        return true;
    }
    return false;
}

/* us-east-1-atl-1, use1-atl2 and ap-northeast-1-wl1-kix1: a city code behind the region of an AWS
 * local or wavelength zone. */
static const char *local_zone(const char *word)
{
    const char *hyphen = strrchr(word, '-');
    char code[8];
    if (hyphen == NULL)
        return NULL;
    size_t letters = strspn(hyphen + 1, "abcdefghijklmnopqrstuvwxyz");
    size_t digits = strspn(hyphen + 1 + letters, "0123456789");
    if (letters != 3 || hyphen[1 + letters + digits] != '\0')
        return NULL;
    memcpy(code, hyphen + 1, 3);
    code[3] = '\0';
    char region[WORD_BYTES];
    size_t length = (size_t)(hyphen - word);
    memcpy(region, word, length);
    region[length] = '\0';
    for (int i = 0; i < 3; i++) {
        if (find_word("aws", region) != NULL)
            return find_word("awslocal", code);
        char *last = strrchr(region, '-');
        if (last == NULL)
            break;
        *last = '\0';
    }
    return NULL;
}

/* eu-ro, sea-sg: a country behind a marketplace's word for its part of the world. */
static const char *continent_and_country(const char *word)
{
    static const char *const parts[] = {"eu", "eur", "ap", "as", "sea",
                                        "oc", "na",  "sa", "af", "me"};
    const char *hyphen = strchr(word, '-');
    if (hyphen == NULL || strlen(hyphen + 1) != 2 || place_find(hyphen + 1) == INDEX_NONE)
        return NULL;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (strlen(parts[i]) == (size_t)(hyphen - word) &&
            strncmp(word, parts[i], strlen(parts[i])) == 0)
            return hyphen + 1;
    }
    return NULL;
}

/* ca-mtl: the city code of Montreal's data centres, which several providers use. dallas-usa: a city
 * and its country. */
static uint16_t city_and_country(const char *word)
{
    char city[WORD_BYTES];
    if (strcmp(word, "ca-mtl") == 0)
        return place_find("ca-montreal");
    const char *hyphen = strrchr(word, '-');
    if (hyphen == NULL)
        return INDEX_NONE;
    const char *cc = find_country(hyphen + 1);
    size_t length = (size_t)(hyphen - word);
    memcpy(city, word, length);
    city[length] = '\0';
    return cc == NULL ? INDEX_NONE : find_city(city, cc);
}

static uint16_t by_slug(const char *slug)
{
    return slug == NULL ? INDEX_NONE : place_find(slug);
}

/* One word, uncut. A disputed one (eu-west-2 is two clouds' word for two places) means nothing
 * here, nor does what is left of it without its number. */
static uint16_t resolve_word(const char *provider, const char *word, bool *ret_disputed)
{
    uint16_t found = INDEX_NONE;
    *ret_disputed = false;
    if (provider != NULL) {
        found = by_slug(find_word(provider, word));
        if (found == INDEX_NONE && strcmp(provider, "aws") == 0)
            found = by_slug(local_zone(word));
    }
    if (found == INDEX_NONE)
        found = place_find(word);
    if (found == INDEX_NONE)
        found = by_slug(find_word("", word));
    if (found == INDEX_NONE)
        found = by_slug(agreed_word(word, ret_disputed));
    if (found == INDEX_NONE && *ret_disputed)
        return INDEX_NONE;
    if (found == INDEX_NONE)
        found = by_slug(local_zone(word));
    if (found == INDEX_NONE)
        found = by_slug(find_country(word));
    if (found == INDEX_NONE)
        found = by_slug(continent_and_country(word));
    if (found == INDEX_NONE)
        found = city_and_country(word);
    if (found == INDEX_NONE && strlen(word) > 2)
        found = find_city(word, NULL);
    return found;
}

/* `City, CC, Continent`; `US, Dallas, TX`; `, US, NA`: parts between commas. */
static uint16_t resolve_list(const char *raw)
{
    char parts[4][WORD_BYTES];
    size_t count = 0;
    for (const char *at = raw; count < 4;) {
        size_t length = strcspn(at, ",");
        char part[WORD_BYTES];
        if (length >= sizeof(part))
            return INDEX_NONE;
        memcpy(part, at, length);
        part[length] = '\0';
        place_name_fold(part, parts[count++], WORD_BYTES);
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    /* A code of two letters in the middle or at the start is the country (Georgia, US is no country
     * in the Caucasus); only without one are names looked at. At the end it may be a state. */
    static const size_t code_parts[] = {1, 0};
    const char *cc = NULL;
    size_t country_part = 0;
    for (size_t i = 0; i < 2 && cc == NULL; i++) {
        size_t part = code_parts[i];
        if (part < count && strlen(parts[part]) == 2 && place_find(parts[part]) != INDEX_NONE) {
            cc = place_at(place_find(parts[part]))->slug;
            country_part = part;
        }
    }
    for (size_t i = 0; i < count && cc == NULL; i++) {
        cc = find_country(parts[i]);
        country_part = i;
    }
    if (cc == NULL || strlen(cc) != 2)
        return INDEX_NONE;
    for (size_t i = 0; i < count; i++) {
        char key[WORD_BYTES + 4];
        if (i == country_part || parts[i][0] == '\0')
            continue;
        uint16_t city = find_city(parts[i], cc);
        if (city != INDEX_NONE)
            return city;
        size_t length = strlen(parts[i]);
        memcpy(key, cc, 2);
        key[2] = '/';
        memcpy(key + 3, parts[i], length + 1);
        uint16_t state = by_slug(find_word("", key));
        if (state != INDEX_NONE)
            return state;
    }
    return place_find(cc);
}

/* An operator's name: the provider's own first, then everybody's. */
static uint16_t by_operator(const char *provider, const char *raw, const struct alias_set *extra)
{
    char key[ALIAS_KEY_SIZE];
    uint16_t found = INDEX_NONE;
    if (extra == NULL || extra->count == 0)
        return INDEX_NONE;
    if (provider != NULL && alias_key(ALIAS_PLACE, provider, raw, key))
        found = by_slug(alias_set_find(extra, key));
    if (found == INDEX_NONE && alias_key(ALIAS_PLACE, NULL, raw, key))
        found = by_slug(alias_set_find(extra, key));
    return found;
}

static uint16_t resolve_one(const char *provider, const char *raw, const struct alias_set *extra)
{
    char word[WORD_BYTES];
    if (raw == NULL || *raw == '\0')
        return INDEX_NONE;
    uint16_t found = by_operator(provider, raw, extra);
    place_name_fold(raw, word, sizeof(word));
    if (found != INDEX_NONE || word[0] == '\0')
        return found;
    if (strchr(raw, ',') != NULL)
        return resolve_list(raw);
    for (int cuts = 0; cuts < 4; cuts++) {
        bool disputed;
        found = resolve_word(provider, word, &disputed);
        if (found != INDEX_NONE || disputed || !cut_mark(word))
            return found;
    }
    return INDEX_NONE;
}

uint16_t place_resolve(const char *provider_slug, const char *region, const char *zone,
                       const struct alias_set *extra)
{
    uint16_t by_region = resolve_one(provider_slug, region, extra);
    uint16_t by_zone = resolve_one(provider_slug, zone, extra);
    if (by_zone == INDEX_NONE)
        return by_region;
    if (by_region == INDEX_NONE)
        return by_zone;
    const struct place *wide = place_at(by_region), *narrow = place_at(by_zone);
    /* The zone says more when it is more exact, or as exact and named for a local zone of the
     * region. It must not contradict: a word such as `iad1` may mean something else elsewhere. */
    bool agrees =
        place_contains(by_region, by_zone) || (wide->country != NULL && narrow->country != NULL &&
                                               strcmp(wide->country, narrow->country) == 0);
    return agrees && narrow->precision <= wide->precision ? by_zone : by_region;
}

const char *place_vocabulary(size_t index)
{
    const char *last = "";
    for (size_t i = 0; i < place_word_count; i++) {
        const char *provider = place_words[i].provider;
        if (strcmp(provider, last) == 0 || strcmp(provider, "awslocal") == 0)
            continue;
        last = provider;
        if (index-- == 0)
            return provider;
    }
    return NULL;
}
