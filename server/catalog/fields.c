/* The fields there are, and compiling a choice of them. */
#include "server/catalog/fields.h"

#include "server/base/arena.h"
#include "server/catalog/fields_private.h"

#include <string.h>

#define LEAF(name, leaf)                                                                           \
    {                                                                                              \
        name, FIELD_TEXT, LEAF_##leaf, LEAF_##leaf                                                 \
    }
#define OBJECT(name, first, last)                                                                  \
    {                                                                                              \
        name, FIELD_OBJECT, LEAF_##first, LEAF_##last                                              \
    }
#define OTHER(name, kind, number)                                                                  \
    {                                                                                              \
        name, kind, number, number                                                                 \
    }

/* In the order of an answer. */
static const struct field {
    const char *name;
    uint8_t kind, first, last;
} fields[] = {
    OTHER("id", FIELD_ID, 0),
    OTHER("provider", FIELD_PROVIDER, WHOLE),
    OTHER("provider.slug", FIELD_PROVIDER, 0),
    OTHER("provider.name", FIELD_PROVIDER, 1),
    LEAF("external_id", EXTERNAL_ID),
    OBJECT("gpu", GPU_SLUG, GPU_RAW),
    LEAF("gpu.slug", GPU_SLUG),
    LEAF("gpu.family", GPU_FAMILY),
    LEAF("gpu.vendor", GPU_VENDOR),
    LEAF("gpu.name", GPU_NAME),
    LEAF("gpu.form_factor", GPU_FORM_FACTOR),
    LEAF("gpu.vram_gb", GPU_VRAM),
    LEAF("gpu.raw", GPU_RAW),
    LEAF("gpu_count", GPU_COUNT),
    LEAF("total_vram_gb", TOTAL_VRAM),
    OBJECT("node", NODE_VCPUS, NODE_STORAGE),
    LEAF("node.vcpus", NODE_VCPUS),
    LEAF("node.memory_gib", NODE_MEMORY),
    LEAF("node.storage_gb", NODE_STORAGE),
    LEAF("interconnect", INTERCONNECT),
    LEAF("fabric", FABRIC),
    LEAF("fabric_gbps", FABRIC_GBPS),
    OBJECT("region", REGION_SLUG, REGION_ZONE),
    LEAF("region.slug", REGION_SLUG),
    LEAF("region.country", REGION_COUNTRY),
    LEAF("region.continent", REGION_CONTINENT),
    LEAF("region.raw", REGION_RAW),
    LEAF("region.zone", REGION_ZONE),
    OBJECT("availability", STATUS, SCHEDULE),
    LEAF("availability.status", STATUS),
    LEAF("availability.gpus_available", GPUS_AVAILABLE),
    LEAF("availability.lead_time_days", LEAD_TIME),
    LEAF("availability.schedule", SCHEDULE),
    OBJECT("extra_costs", EGRESS, MINIMUM_DURATION),
    LEAF("extra_costs.egress_per_gb", EGRESS),
    LEAF("extra_costs.storage_per_gb_month", STORAGE_COST),
    LEAF("extra_costs.billing_increment_seconds", BILLING_INCREMENT),
    LEAF("extra_costs.minimum_duration_seconds", MINIMUM_DURATION),
    LEAF("prices", PRICES),
    LEAF("order_url", ORDER_URL),
    OBJECT("source", SOURCE_KIND, ATTRIBUTION),
    LEAF("source.kind", SOURCE_KIND),
    LEAF("source.url", SOURCE_URL),
    LEAF("source.observed_at", OBSERVED_AT),
    LEAF("source.attribution", ATTRIBUTION),
    LEAF("flags", FLAGS),
    LEAF("updated_at", UPDATED_AT),
    OTHER("price", FIELD_PRICE, WHOLE),
    OTHER("price.billing", FIELD_PRICE, 0),
    OTHER("price.term_months", FIELD_PRICE, 1),
    OTHER("price.plan", FIELD_PRICE, 2),
    OTHER("price.price_per_gpu_hour", FIELD_PRICE, 3),
    OTHER("price.price_per_node_hour", FIELD_PRICE, 4),
    OTHER("price.quoted_per", FIELD_PRICE, 5),
    OTHER("price.min_gpus", FIELD_PRICE, 6),
    OTHER("price.max_gpus", FIELD_PRICE, 7),
    OTHER("price.upfront_percent", FIELD_PRICE, 8),
    OTHER("price.price_per_vram_gb", FIELD_PRICE, 9),
    OTHER("price.price_per_tflop", FIELD_PRICE, 10),
    OTHER("price.price_per_tbps", FIELD_PRICE, 11),
    OTHER("price.gpus", FIELD_PRICE_TAIL, 0),
    OTHER("price.total_price", FIELD_PRICE_TAIL, 1),
    OTHER("price.verdict", FIELD_PRICE_TAIL, 2),
    OTHER("price.ratio_to_median", FIELD_PRICE_TAIL, 3),
    OTHER("price.comparables", FIELD_PRICE_TAIL, 4),
    OTHER("price.ask", FIELD_PRICE_TAIL, 5),
    OTHER("stale", FIELD_STALE, 0),
    OTHER("trust_score", FIELD_TRUST, 0),
    OTHER("latency_ms", FIELD_LATENCY_MS, 0),
    OTHER("latency_kind", FIELD_LATENCY_KIND, 0),
    OTHER("location_contradicted_by", FIELD_EVIDENCE, 0),
};
#define FIELD_COUNT (sizeof(fields) / sizeof(fields[0]))
_Static_assert(FIELD_COUNT <= FIELDS_MAX, "every field has a place in a choice");

size_t field_count(void)
{
    return FIELD_COUNT;
}

const char *field_name(size_t index)
{
    return fields[index].name;
}

size_t field_find(const char *name)
{
    size_t index = 0;
    while (index < FIELD_COUNT && strcmp(fields[index].name, name) != 0)
        index++;
    return index;
}

/* Length of the object's name in `object.member`, 0 at the top. */
static size_t object_length(const struct field *field)
{
    const char *dot = strchr(field->name, '.');
    return dot == NULL ? 0 : (size_t)(dot - field->name);
}

static bool same_object(const struct field *a, const struct field *b)
{
    size_t length = object_length(a);
    return length == object_length(b) && memcmp(a->name, b->name, length) == 0;
}

/* Members of an object that is wanted whole are not wanted again. */
static void drop_members(uint8_t *chosen)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        size_t length = strlen(fields[i].name);
        for (size_t k = i + 1; chosen[i] && k < FIELD_COUNT; k++) {
            if (object_length(&fields[k]) == length &&
                memcmp(fields[k].name, fields[i].name, length) == 0)
                chosen[k] = 0;
        }
    }
}

/* What stands between one wanted field (NULL: none yet) and the next. */
static const char *glue_between(struct arena *arena, const struct field *before,
                                const struct field *field)
{
    size_t length = object_length(field);
    const char *key = field->name + (length == 0 ? 0 : length + 1);
    bool same = before != NULL && same_object(before, field);
    bool closes = before != NULL && !same && object_length(before) > 0;
    const char *start = before == NULL ? "{" : closes ? "}," : ",";
    if (length == 0 || same)
        return arena_printf(arena, "%s\"%s\":", start, key);
    return arena_printf(arena, "%s\"%.*s\":{\"%s\":", start, (int)length, field->name, key);
}

/* Bytes of the brace and the first key in what stands before the first leaf of an object. */
static uint8_t lead_of(uint8_t leaf)
{
    return (uint8_t)(strlen(leaf_before[leaf]) - strcspn(leaf_before[leaf], "{"));
}

/* Whether the text itself holds what would stand between the piece and the field behind it. */
static bool continues(const struct field_piece *piece, const struct field_piece *next)
{
    char between[64] = "";
    if (piece->kind != FIELD_TEXT || next->kind != FIELD_TEXT || next->first != piece->last + 1)
        return false;
    const char *text = leaf_before[next->first];
    size_t length = strlen(text);
    if ((size_t)piece->trail + next->glue_length + next->lead != length ||
        length >= sizeof(between))
        return false;
    memcpy(between, "}", piece->trail);
    memcpy(between + piece->trail, next->glue, next->glue_length);
    memcpy(between + piece->trail + next->glue_length, text + length - next->lead, next->lead);
    return memcmp(between, text, length) == 0;
}

struct field_piece field_piece_of(size_t index)
{
    const struct field *field = &fields[index];
    bool object = field->kind == FIELD_OBJECT;
    return (struct field_piece){
        .kind = object ? FIELD_TEXT : field->kind,
        .first = field->first,
        .last = field->last,
        .lead = object ? lead_of(field->first) : 0,
        .trail = object,
    };
}

/* Whether the field behind it is a member of this one. */
static bool has_members(size_t index)
{
    size_t length = strlen(fields[index].name);
    return index + 1 < FIELD_COUNT && object_length(&fields[index + 1]) == length &&
           memcmp(fields[index + 1].name, fields[index].name, length) == 0;
}

const struct field_columns *field_columns_make(const uint8_t *chosen, struct arena *arena)
{
    struct field_columns *columns = arena_calloc(arena, 1, sizeof(*columns));
    bool whole = false; /* the object that the field belongs to is wanted */
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (object_length(&fields[i]) == 0)
            whole = chosen[i] && has_members(i);
        if (has_members(i) || !(chosen[i] || (whole && object_length(&fields[i]) > 0)))
            continue;
        columns->names[columns->count] = fields[i].name;
        columns->pieces[columns->count++] = field_piece_of(i);
    }
    return columns;
}

const struct field_choice *field_choice_make(uint8_t *chosen, struct arena *arena)
{
    struct field_choice *choice = arena_calloc(arena, 1, sizeof(*choice));
    const struct field *before = NULL;
    drop_members(chosen);
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (!chosen[i])
            continue;
        const struct field *field = &fields[i];
        struct field_piece next = field_piece_of(i);
        next.glue = glue_between(arena, before, field);
        next.glue_length = (uint8_t)strlen(next.glue);
        struct field_piece *last =
            choice->piece_count == 0 ? NULL : &choice->pieces[choice->piece_count - 1];
        if (last != NULL && continues(last, &next)) {
            last->last = next.last;
            last->trail = next.trail;
        } else {
            choice->pieces[choice->piece_count++] = next;
            choice->glue_length += next.glue_length;
        }
        before = field;
    }
    choice->end = before != NULL && object_length(before) > 0 ? "}}" : "}";
    choice->end_length = strlen(choice->end);
    return choice;
}
