/* Most facets group GPUs, places or providers: a table says which. */
#include "server/catalog/facet_codes.h"

#include "server/base/decimal.h"
#include "server/catalog/latency_query.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN(name)  offsetof(struct segment, name)
#define FIRST_SLOTS   64
#define TERM_COUNT    (PRICE_TERM_MONTHS_MAX + 1)
#define PLACE_UNKNOWN ((uint16_t)place_count())

const char *facet_name(enum facet facet)
{
    static const char *const names[FACET_COUNT] = {
#define X(name, text, first, second, third) text,
        FACETS(X)
#undef X
    };
    return names[facet];
}

bool facet_owns(enum facet facet, const char *parameter)
{
    static const char *const own[FACET_COUNT][3] = {
#define X(name, text, first, second, third) {first, second, third},
        FACETS(X)
#undef X
    };
    for (size_t i = 0; i < 3 && own[facet][i] != NULL; i++) {
        if (strcmp(own[facet][i], parameter) == 0)
            return true;
    }
    return false;
}

static const char *vendor_of(uint16_t rank)
{
    const char *vendor = gpu_at(gpu_of_rank(rank))->vendor;
    return vendor[0] == '\0' ? NULL : vendor;
}

static const char *country_of(uint16_t rank)
{
    return rank == PLACE_UNKNOWN ? NULL : place_at(place_of_rank(rank))->country;
}

static const char *continent_name(uint16_t rank)
{
    return rank == PLACE_UNKNOWN ? NULL : place_at(place_of_rank(rank))->continent;
}

static bool same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Groups what has the same text: each takes the code of the first that has it. */
static uint16_t *group(size_t count, const char *(*text_of)(uint16_t))
{
    uint16_t *table = xcalloc(count, sizeof(*table));
    for (uint16_t i = 0; i < count; i++) {
        uint16_t first = 0;
        while (!same(text_of(first), text_of(i)))
            first++;
        table[i] = first;
    }
    return table;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint16_t *vendors, *countries, *continents; /* kept for ever, as the reference tables are */

static void make_groups(void)
{
    vendors = group(gpu_count(), vendor_of);
    countries = group((size_t)place_count() + 1, country_of);
    continents = group((size_t)place_count() + 1, continent_name);
}

static void make_of_gpus(struct facet_codes *codes, struct arena *arena)
{
    codes->column = COLUMN(gpu_rank);
    codes->count = gpu_count();
    codes->table = arena_calloc(arena, codes->count, sizeof(*codes->table));
    for (uint16_t rank = 0; rank < gpu_count(); rank++)
        codes->table[rank] = codes->facet == FACET_FORM_FACTOR
                                 ? (uint16_t)gpu_at(gpu_of_rank(rank))->form_factor
                                 : rank;
    if (codes->facet == FACET_VENDOR)
        memcpy(codes->table, vendors, gpu_count() * sizeof(*vendors));
}

static void make_of_places(struct facet_codes *codes, const struct query *query,
                           struct arena *arena)
{
    codes->column = COLUMN(place_rank);
    codes->count = (size_t)place_count() + 1; /* the last: nowhere known */
    codes->table = arena_calloc(arena, RANK_NONE + 1, sizeof(*codes->table));
    for (uint16_t rank = 0; rank <= PLACE_UNKNOWN; rank++) {
        int band = codes->facet == FACET_LATENCY && rank < PLACE_UNKNOWN
                       ? latency_band(query_latency_cell(query->latency, rank))
                       : -1;
        codes->table[rank] = codes->facet != FACET_LATENCY ? rank
                             : band < 0                    ? PLACE_UNKNOWN
                                                           : (uint16_t)band;
    }
    if (codes->facet == FACET_COUNTRY)
        memcpy(codes->table, countries, codes->count * sizeof(*countries));
    if (codes->facet == FACET_CONTINENT)
        memcpy(codes->table, continents, codes->count * sizeof(*continents));
    codes->table[RANK_NONE] = codes->table[PLACE_UNKNOWN];
}

static void make_of_providers(struct facet_codes *codes, struct arena *arena)
{
    codes->column = COLUMN(provider);
    codes->count = codes->snapshot->slot_count > PROVIDER_KIND_COUNT ? codes->snapshot->slot_count
                                                                     : PROVIDER_KIND_COUNT;
    codes->table = arena_calloc(arena, codes->count, sizeof(*codes->table));
    for (size_t slot = 0; slot < codes->snapshot->slot_count; slot++) {
        const struct provider_view *view = codes->snapshot->slots[slot];
        codes->table[slot] = codes->facet == FACET_PROVIDER ? (uint16_t)slot
                             : view == NULL                 ? 0
                                                            : (uint16_t)view->provider.kind;
    }
}

static void make_of_counts(struct facet_codes *codes)
{
    codes->slot_count = FIRST_SLOTS;
    codes->slots = xcalloc(codes->slot_count, sizeof(*codes->slots));
    codes->values = xcalloc(codes->slot_count, sizeof(*codes->values));
}

void facet_codes_make(struct facet_codes *codes, enum facet facet, const struct snapshot *snapshot,
                      const struct query *query, struct arena *arena)
{
    pthread_once(&once, make_groups);
    *codes = (struct facet_codes){.facet = facet, .snapshot = snapshot};
    switch (facet) {
    case FACET_GPU:
    case FACET_VENDOR:
    case FACET_FORM_FACTOR:
        make_of_gpus(codes, arena);
        break;
    case FACET_REGION:
    case FACET_COUNTRY:
    case FACET_CONTINENT:
    case FACET_LATENCY:
        make_of_places(codes, query, arena);
        break;
    case FACET_PROVIDER:
    case FACET_PROVIDER_KIND:
        make_of_providers(codes, arena);
        break;
    case FACET_GPU_COUNT:
        make_of_counts(codes);
        break;
    case FACET_FABRIC:
        codes->column = COLUMN(fabric_bit);
        codes->count = FABRIC_COUNT;
        break;
    case FACET_INTERCONNECT:
        codes->column = COLUMN(interconnect_bit);
        codes->count = INTERCONNECT_COUNT;
        break;
    case FACET_AVAILABILITY:
        codes->column = COLUMN(availability_bit);
        codes->count = AVAILABILITY_COUNT;
        break;
    case FACET_BILLING:
        codes->count = BILLING_COUNT;
        break;
    case FACET_TERM_MONTHS:
        codes->count = TERM_COUNT;
        break;
    case FACET_COUNT:
        break;
    }
}

void facet_codes_free(struct facet_codes *codes)
{
    free(codes->slots);
    free(codes->values);
}

static size_t slot_of(const struct facet_codes *codes, int32_t value)
{
    size_t at = ((uint32_t)value * 2654435761u) & (codes->slot_count - 1);
    while (codes->slots[at] != 0 && codes->values[codes->slots[at] - 1] != value)
        at = (at + 1) & (codes->slot_count - 1);
    return at;
}

static void grow(struct facet_codes *codes)
{
    codes->slot_count *= 2;
    free(codes->slots);
    codes->slots = xcalloc(codes->slot_count, sizeof(*codes->slots));
    codes->values = xrealloc(codes->values, codes->slot_count * sizeof(*codes->values));
    for (size_t i = 0; i < codes->count; i++)
        codes->slots[slot_of(codes, codes->values[i])] = (uint32_t)(i + 1);
}

static uint32_t code_of_count(struct facet_codes *codes, int32_t value)
{
    size_t at = slot_of(codes, value);
    if (codes->slots[at] == 0) {
        if (2 * (codes->count + 1) > codes->slot_count) {
            grow(codes);
            at = slot_of(codes, value);
        }
        codes->values[codes->count++] = value;
        codes->slots[at] = (uint32_t)codes->count;
    }
    return codes->slots[at] - 1;
}

uint32_t facet_code(struct facet_codes *codes, const struct segment *segment, uint32_t row)
{
    if (codes->values != NULL)
        return code_of_count(codes, segment->gpu_count_milli[row]);
    const void *column = *(void *const *)(const void *)((const char *)segment + codes->column);
    if (codes->table != NULL)
        return codes->table[((const uint16_t *)column)[row]];
    return (uint32_t)__builtin_ctz(((const uint8_t *)column)[row]);
}

size_t facet_code_count(const struct facet_codes *codes)
{
    return codes->count;
}

static const char *text_of(const struct facet_codes *codes, uint32_t code)
{
    switch (codes->facet) {
    case FACET_GPU:
        return gpu_at(gpu_of_rank((uint16_t)code))->slug;
    case FACET_VENDOR:
        return vendor_of((uint16_t)code);
    case FACET_FORM_FACTOR:
        return form_factor_name((enum form_factor)code);
    case FACET_BILLING:
        return billing_name((enum billing)code);
    case FACET_FABRIC:
        return fabric_name((enum fabric)code);
    case FACET_INTERCONNECT:
        return interconnect_name((enum interconnect)code);
    case FACET_AVAILABILITY:
        return availability_name((enum availability_status)code);
    case FACET_REGION:
        return code == PLACE_UNKNOWN ? NULL : place_at(place_of_rank((uint16_t)code))->slug;
    case FACET_COUNTRY:
        return country_of((uint16_t)code);
    case FACET_CONTINENT:
        return continent_name((uint16_t)code);
    case FACET_LATENCY:
        return code == PLACE_UNKNOWN ? NULL : latency_band_name((int)code);
    case FACET_PROVIDER:
        return codes->snapshot->slots[code]->provider.slug;
    case FACET_PROVIDER_KIND:
        return provider_kind_name((enum provider_kind)code);
    case FACET_GPU_COUNT:
    case FACET_TERM_MONTHS:
    case FACET_COUNT:
        break;
    }
    return NULL;
}

static bool is_number(const struct facet_codes *codes)
{
    return codes->facet == FACET_GPU_COUNT || codes->facet == FACET_TERM_MONTHS;
}

static int32_t number_of(const struct facet_codes *codes, uint32_t code)
{
    return codes->facet == FACET_GPU_COUNT ? codes->values[code] : (int32_t)code;
}

int facet_code_compare(const struct facet_codes *codes, uint32_t a, uint32_t b)
{
    if (is_number(codes)) {
        int32_t x = number_of(codes, a), y = number_of(codes, b);
        return (x > y) - (x < y);
    }
    const char *x = text_of(codes, a), *y = text_of(codes, b);
    if (x == NULL || y == NULL)
        return (x == NULL) - (y == NULL);
    return codes->facet == FACET_LATENCY ? (int)a - (int)b : strcmp(x, y);
}

void facet_code_write(const struct facet_codes *codes, uint32_t code, struct buf *out)
{
    if (is_number(codes))
        buf_add_decimal(out, number_of(codes, code), codes->facet == FACET_GPU_COUNT ? 3 : 0);
    else
        buf_add_json_string(out, text_of(codes, code));
}
