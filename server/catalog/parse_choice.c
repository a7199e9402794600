/* Readers of GPUs, places and providers: names are resolved to sets of ranks when the query is
 * parsed. */
#include "server/base/decimal.h"
#include "server/base/nearest.h"
#include "server/catalog/facets.h"
#include "server/catalog/names.h"
#include "server/catalog/parameter.h"
#include "server/catalog/rank.h"
#include "server/catalog/snapshot.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* What the offers uploaded under a spelling add to a set of ranks. */
enum spelling { SPELLING_UNKNOWN, SPELLING_KNOWN, SPELLING_ADDS };

struct spelling_columns {
    size_t names; /* offset of struct segment_names in struct segment */
    size_t column;
    size_t ranks;
};
static const struct spelling_columns gpu_spelling = {offsetof(struct segment, gpu_names),
                                                     offsetof(struct segment, gpu_name),
                                                     offsetof(struct segment, gpu_rank)};
static const struct spelling_columns region_spelling = {offsetof(struct segment, region_names),
                                                        offsetof(struct segment, region_name),
                                                        offsetof(struct segment, place_rank)};

/* Looks at the live offers uploaded under a spelling: none, all of ranks in the set (by rank,
 * `count` long), or some beside it. */
static enum spelling look_up(const struct snapshot *snapshot,
                             const struct spelling_columns *columns, uint64_t hash,
                             const uint8_t *set, size_t count)
{
    enum spelling result = SPELLING_UNKNOWN;
    for (size_t i = 0; i < snapshot->segment_count && hash != 0; i++) {
        const char *segment = (const char *)snapshot->segments[i];
        const struct segment_names *names = (const void *)(segment + columns->names);
        const uint32_t *column = *(uint32_t *const *)(const void *)(segment + columns->column);
        const uint16_t *ranks = *(uint16_t *const *)(const void *)(segment + columns->ranks);
        uint32_t name = segment_names_find(names, hash);
        if (name == UINT32_MAX)
            continue;
        bool inside = names->ranks[name] < count && set[names->ranks[name]] != 0;
        for (uint32_t row = 0; row < snapshot->segments[i]->row_count; row++) {
            if (column[row] != name || !alive_has(snapshot->alive[i], row))
                continue;
            if (!inside && (ranks[row] >= count || set[ranks[row]] == 0))
                return SPELLING_ADDS;
            result = SPELLING_KNOWN;
            if (inside)
                break; /* one live offer suffices: all have this rank */
        }
    }
    return result;
}

/* Sets ranks of a family, or of its variants of one size or one form factor (FORM_COUNT: any)
 * only. */
static void add_family(struct choice *choice, const char *family, int64_t vram_gb_milli,
                       enum form_factor form)
{
    for (uint16_t rank = 0; rank < gpu_count(); rank++) {
        const struct gpu *gpu = gpu_at(gpu_of_rank(rank));
        if (strcmp(gpu->family, family) != 0 || (form != FORM_COUNT && gpu->form_factor != form))
            continue;
        if (vram_gb_milli < 0 || gpu->vram_gb_milli == vram_gb_milli)
            choice->either[rank] = 1;
        else if (gpu->is_family && gpu->vram_gb_milli < 0)
            choice->sized[choice->sized_count++] = (struct sized_gpu){rank, (int32_t)vram_gb_milli};
    }
}

/* A slug, or a family's name: the exact words. False where it is neither. */
static bool add_exact_gpu(struct choice *choice, const char *value)
{
    uint16_t count = gpu_count(), low = 0, high = count, exact = gpu_find(value);
    bool found = exact != INDEX_NONE;
    if (found)
        choice->either[gpu_rank(exact)] = 1;
    while (low < high) { /* ranks are in order of family */
        uint16_t middle = (uint16_t)(low + (high - low) / 2);
        if (strcmp(gpu_at(gpu_of_rank(middle))->family, value) < 0)
            low = (uint16_t)(middle + 1);
        else
            high = middle;
    }
    for (; low < count && strcmp(gpu_at(gpu_of_rank(low))->family, value) == 0; low++) {
        choice->either[low] = 1;
        found = true;
    }
    return found;
}

/* One value of gpu=; adds its canonical names to `names`. */
static bool add_gpu(struct parse *parse, const struct parameter *parameter, const char *value,
                    const char **names, size_t *name_count)
{
    struct choice *choice = &parse->query->gpus;
    struct gpu_match match;
    if (add_exact_gpu(choice, value)) {
        names[(*name_count)++] = value;
        return true;
    }
    gpu_resolve(value, UNKNOWN, &snapshot_operator_names(parse->snapshot)->gpus, &match);
    bool known = match.gpu != gpu_unrecognized() && match.vram_fits;
    const struct gpu *gpu = gpu_at(match.gpu);
    bool sized = known && gpu->is_family && match.vram_gb_milli >= 0 &&
                 gpu->vram_gb_milli != match.vram_gb_milli;
    bool formed = known && gpu->is_family && match.form != FORM_COUNT;
    if (known && gpu->is_family)
        add_family(choice, gpu->family, sized ? match.vram_gb_milli : UNKNOWN, match.form);
    else if (known)
        choice->either[gpu_rank(match.gpu)] = 1;
    uint64_t hash = gpu_name_hash(value);
    enum spelling spelling =
        look_up(parse->snapshot, &gpu_spelling, hash, choice->either, gpu_count());
    if (!known && spelling == SPELLING_UNKNOWN)
        return parse_unknown_value(parse, parameter, value, "GPU", gpu_nearest(value));
    if (spelling == SPELLING_ADDS)
        choice->names[choice->name_count++] = hash;
    if (known && !sized && !formed)
        names[(*name_count)++] = gpu->slug;
    if (sized || formed || spelling == SPELLING_ADDS)
        names[(*name_count)++] = value;
    return true;
}

bool read_gpu(struct parse *parse, const struct parameter *parameter, const char *value)
{
    size_t count, name_count = 0;
    const char **items = parse_split(parse, parameter, value, &count);
    if (items == NULL)
        return false;
    const char **names = arena_calloc(parse->arena, 2 * count, sizeof(*names));
    parse->query->gpus.either = arena_calloc(parse->arena, gpu_count(), 1);
    bool good = true;
    for (size_t i = 0; i < count; i++)
        good = add_gpu(parse, parameter, items[i], names, &name_count) && good;
    if (good)
        parse_write_names(parse, names, name_count);
    return good;
}

void parse_narrow(struct parse *parse, struct choice *choice, const uint8_t *keep, size_t count)
{
    if (choice->also == NULL) {
        choice->also = arena_calloc(parse->arena, count, 1);
        memset(choice->also, 1, count);
    }
    for (size_t i = 0; i < count; i++)
        choice->also[i] &= keep[i];
}

bool read_vendor(struct parse *parse, const struct parameter *parameter, const char *value)
{
    size_t count;
    const char **items = parse_split(parse, parameter, value, &count);
    if (items == NULL)
        return false;
    uint8_t *keep = arena_calloc(parse->arena, gpu_count(), 1);
    const char **vendors = arena_calloc(parse->arena, gpu_count(), sizeof(*vendors));
    for (size_t i = 0; i < count; i++) {
        bool known = false;
        for (uint16_t rank = 0; rank < gpu_count(); rank++) {
            vendors[rank] = gpu_at(gpu_of_rank(rank))->vendor;
            if (strcasecmp(vendors[rank], items[i]) != 0)
                continue;
            items[i] = vendors[rank];
            keep[rank] = 1;
            known = true;
        }
        if (!known)
            return parse_unknown_value(parse, parameter, items[i], "vendor",
                                       nearest_name(items[i], vendors, gpu_count()));
    }
    parse_narrow(parse, &parse->query->gpus, keep, gpu_count());
    parse_write_names(parse, items, count);
    return true;
}

bool read_form_factor(struct parse *parse, const struct parameter *parameter, const char *value)
{
    size_t count;
    const char **items = parse_split(parse, parameter, value, &count);
    if (items == NULL)
        return false;
    uint8_t *keep = arena_calloc(parse->arena, gpu_count(), 1);
    for (size_t i = 0; i < count; i++) {
        enum form_factor form;
        if (!form_factor_parse(items[i], &form)) {
            const char *forms[FORM_COUNT];
            for (int f = 0; f < FORM_COUNT; f++)
                forms[f] = parameter->name_of(f);
            return parse_unknown_value(parse, parameter, items[i], "form factor",
                                       nearest_name(items[i], forms, FORM_COUNT));
        }
        for (uint16_t rank = 0; rank < gpu_count(); rank++)
            keep[rank] |= gpu_at(gpu_of_rank(rank))->form_factor == form;
    }
    parse_narrow(parse, &parse->query->gpus, keep, gpu_count());
    parse_write_names(parse, items, count);
    return true;
}

static bool add_region(struct parse *parse, const struct parameter *parameter, const char *value,
                       const char **names, size_t *name_count)
{
    struct choice *choice = &parse->query->places;
    size_t places = place_count();
    uint16_t place = place_find(value);
    bool exact = place != INDEX_NONE;
    if (!exact)
        place = place_resolve(NULL, value, NULL, &snapshot_operator_names(parse->snapshot)->places);
    if (place != INDEX_NONE) {
        /* Bytes may alias anything: told apart here, the loop is vectorised. */
        const uint8_t *restrict inside = places_inside(place_rank(place));
        uint8_t *restrict either = choice->either;
        for (size_t i = 0; i < places; i++)
            either[i] |= inside[i];
        names[(*name_count)++] = place_at(place)->slug;
    }
    if (exact)
        return true;
    uint64_t hash = region_name_hash(value);
    enum spelling spelling =
        look_up(parse->snapshot, &region_spelling, hash, choice->either, places);
    if (place == INDEX_NONE && spelling == SPELLING_UNKNOWN)
        return parse_unknown_value(parse, parameter, value, "region", place_nearest(value));
    if (spelling == SPELLING_ADDS) {
        choice->names[choice->name_count++] = hash;
        names[(*name_count)++] = value;
    }
    return true;
}

bool read_region(struct parse *parse, const struct parameter *parameter, const char *value)
{
    size_t count, name_count = 0;
    const char **items = parse_split(parse, parameter, value, &count);
    if (items == NULL)
        return false;
    const char **names = arena_calloc(parse->arena, 2 * count, sizeof(*names));
    parse->query->places.either = arena_calloc(parse->arena, place_count(), 1);
    bool good = true;
    for (size_t i = 0; i < count; i++)
        good = add_region(parse, parameter, items[i], names, &name_count) && good;
    if (good)
        parse_write_names(parse, names, name_count);
    return good;
}

/* Upper-case copies of two-letter codes. */
static void to_upper(struct parse *parse, const char **items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *copy = arena_strdup(parse->arena, items[i]);
        for (char *c = copy; *c != '\0'; c++)
            *c = (char)toupper((unsigned char)*c);
        items[i] = copy;
    }
}

bool read_country(struct parse *parse, const struct parameter *parameter, const char *value)
{
    size_t count;
    const char **items = parse_split(parse, parameter, value, &count);
    if (items == NULL)
        return false;
    uint8_t *keep = arena_calloc(parse->arena, place_count(), 1);
    for (size_t i = 0; i < count; i++) {
        if (strlen(items[i]) != 2 || !country_is_known(items[i]))
            return parse_refuse(
                parse, parameter->name, "unknown_value",
                arena_printf(parse->arena,
                             "country: \"%s\" is no ISO 3166 code of two letters known here.",
                             parse_excerpt(parse, items[i])));
    }
    to_upper(parse, items, count);
    for (uint16_t rank = 0; rank < place_count(); rank++) {
        const char *country = place_at(place_of_rank(rank))->country;
        for (size_t i = 0; i < count && country != NULL; i++)
            keep[rank] |= strcmp(country, items[i]) == 0;
    }
    parse_narrow(parse, &parse->query->places, keep, place_count());
    parse_write_names(parse, items, count);
    return true;
}

bool read_continent(struct parse *parse, const struct parameter *parameter, const char *value)
{
    static const char *const continents[] = {"AF", "AN", "AS", "EU", "NA", "OC", "SA"};
    const size_t known = sizeof(continents) / sizeof(continents[0]);
    size_t count;
    const char **items = parse_split(parse, parameter, value, &count);
    if (items == NULL)
        return false;
    uint8_t *keep = arena_calloc(parse->arena, place_count(), 1);
    to_upper(parse, items, count);
    for (size_t i = 0; i < count; i++) {
        size_t found = 0;
        while (found < known && strcmp(continents[found], items[i]) != 0)
            found++;
        if (found == known)
            return parse_unknown_value(parse, parameter, items[i],
                                       "continent (AF, AN, AS, EU, NA, OC, SA)", NULL);
        for (uint16_t rank = 0; rank < place_count(); rank++)
            keep[rank] |= strcmp(place_at(place_of_rank(rank))->continent, items[i]) == 0;
    }
    parse_narrow(parse, &parse->query->places, keep, place_count());
    parse_write_names(parse, items, count);
    return true;
}

bool read_facets(struct parse *parse, const struct parameter *parameter, const char *value)
{
    const char *names[FACET_COUNT];
    size_t count;
    const char **items = parse_split(parse, parameter, value, &count);
    if (items == NULL)
        return false;
    for (int f = 0; f < FACET_COUNT; f++)
        names[f] = facet_name((enum facet)f);
    for (size_t i = 0; i < count; i++) {
        int facet = 0;
        while (facet < FACET_COUNT && strcmp(names[facet], items[i]) != 0)
            facet++;
        if (facet == FACET_COUNT)
            return parse_unknown_value(parse, parameter, items[i], "facet",
                                       nearest_name(items[i], names, FACET_COUNT));
        parse->query->facets |= 1u << facet;
    }
    parse_write_names(parse, items, count);
    return true;
}

static const char *nearest_provider(struct parse *parse, const char *value)
{
    size_t count = snapshot_provider_count(parse->snapshot);
    const char **slugs = arena_calloc(parse->arena, count, sizeof(*slugs));
    for (size_t i = 0; i < count; i++)
        slugs[i] = snapshot_provider(parse->snapshot, i)->slug;
    return nearest_name(value, slugs, count);
}

bool read_provider(struct parse *parse, const struct parameter *parameter, const char *value)
{
    struct query *query = parse->query;
    query->providers = parse_split(parse, parameter, value, &query->provider_count);
    if (query->providers == NULL)
        return false;
    for (size_t i = 0; i < query->provider_count; i++) {
        const char *slug = query->providers[i];
        if (snapshot_provider_find(parse->snapshot, slug) == NULL)
            return parse_unknown_value(parse, parameter, slug, "provider",
                                       nearest_provider(parse, slug));
    }
    parse_write_names(parse, query->providers, query->provider_count);
    return true;
}
