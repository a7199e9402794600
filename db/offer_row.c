/* The columns of an offer in their one order, read and written in binary. Slugs are stored; indexes
 * of this build are found by them. A GPU that only a newer release knows reads as `unrecognized`, a
 * place as unknown. */
#include "db/offer_row.h"

#include "server/base/timestamp.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <string.h>

/* ---- arrays of composites ---- */

/* A walk over a binary array of composites: int32 dimensions, flags, element oid, then per
 * dimension size and lower bound; per element a length, then a count of fields, then oid, length
 * and bytes of each. */
struct walk {
    const char *at;
    const char *end;
    bool good;
};

static uint32_t walk32(struct walk *walk)
{
    if (!walk->good || walk->end - walk->at < 4) {
        walk->good = false;
        return 0;
    }
    uint32_t value = read32(walk->at);
    walk->at += 4;
    return value;
}

/* The number of elements; 0 for NULL and for an empty array. */
static size_t walk_array(struct walk *walk)
{
    if (walk->at == NULL)
        return 0;
    uint32_t dimensions = walk32(walk);
    walk32(walk);
    walk32(walk);
    if (dimensions == 0)
        return 0;
    if (dimensions != 1)
        walk->good = false;
    uint32_t count = walk32(walk);
    walk32(walk);
    if (count > 100000)
        walk->good = false;
    return walk->good ? count : 0;
}

static void walk_composite(struct walk *walk, uint32_t fields)
{
    walk32(walk); /* length of the element; a NULL one fails on its fields */
    if (walk32(walk) != fields)
        walk->good = false;
}

/* The next field's bytes, NULL of NULL. */
static const char *walk_field(struct walk *walk, size_t *ret_length)
{
    walk32(walk); /* type */
    uint32_t length = walk32(walk);
    *ret_length = 0;
    if (!walk->good || length == UINT32_MAX)
        return NULL;
    if ((size_t)(walk->end - walk->at) < length) {
        walk->good = false;
        return NULL;
    }
    const char *bytes = walk->at;
    walk->at += length;
    *ret_length = length;
    return bytes;
}

static int32_t walk_integer(struct walk *walk)
{
    size_t length;
    const char *bytes = walk_field(walk, &length);
    return bytes != NULL && length == 4 ? (int32_t)read32(bytes) : -1;
}

static int64_t walk_bigint(struct walk *walk)
{
    size_t length;
    const char *bytes = walk_field(walk, &length);
    return bytes != NULL && length == 8 ? (int64_t)read64(bytes) : -1;
}

/* A label of an enumeration as a string in `out`. */
static const char *walk_label(struct walk *walk, char out[static 32])
{
    size_t length;
    const char *bytes = walk_field(walk, &length);
    if (bytes == NULL || length >= 32) {
        walk->good = false;
        return "";
    }
    memcpy(out, bytes, length);
    out[length] = '\0';
    return out;
}

bool price_array_read(struct db_row *row, struct arena *arena, int32_t gpu_count_milli,
                      struct price **ret_prices, size_t *ret_count)
{
    size_t length;
    const char *bytes = row_bytes(row, &length);
    struct walk walk = {.at = bytes, .end = bytes == NULL ? NULL : bytes + length, .good = true};
    size_t count = walk_array(&walk);
    struct price *prices = arena_calloc(arena, count, sizeof(*prices));
    for (size_t i = 0; i < count && walk.good; i++) {
        char label[32];
        walk_composite(&walk, 8);
        if (!billing_parse(walk_label(&walk, label), &prices[i].billing))
            return false;
        prices[i].term_months = walk_integer(&walk);
        prices[i].min_gpus = walk_integer(&walk);
        prices[i].upfront_percent_milli = walk_integer(&walk);
        size_t plan_length;
        const char *plan = walk_field(&walk, &plan_length);
        prices[i].plan = plan == NULL ? NULL : arena_strndup(arena, plan, plan_length);
        prices[i].quoted_per =
            strcmp(walk_label(&walk, label), "node") == 0 ? PRICE_PER_NODE : PRICE_PER_GPU;
        prices[i].quoted_microusd = walk_bigint(&walk);
        prices[i].max_gpus = walk_integer(&walk);
        if (!walk.good || !price_derive(&prices[i], gpu_count_milli))
            return false;
    }
    *ret_prices = prices;
    *ret_count = count;
    return walk.good;
}

static bool read_schedule(struct db_row *row, struct arena *arena,
                          struct availability *availability)
{
    size_t length;
    const char *bytes = row_bytes(row, &length);
    struct walk walk = {.at = bytes, .end = bytes == NULL ? NULL : bytes + length, .good = true};
    size_t count = walk_array(&walk);
    struct delivery *schedule = count == 0 ? NULL : arena_calloc(arena, count, sizeof(*schedule));
    for (size_t i = 0; i < count && walk.good; i++) {
        walk_composite(&walk, 2);
        schedule[i].gpus = walk_integer(&walk);
        schedule[i].days = walk_integer(&walk);
    }
    availability->schedule = schedule;
    availability->schedule_count = count;
    return walk.good;
}

/* A field whose length is known only afterwards: where its length stands. */
static size_t open_field(struct buf *out)
{
    size_t at = out->length;
    wire_raw32(out, 0);
    return at;
}

static void close_field(struct buf *out, size_t at)
{
    struct buf length = {0};
    wire_raw32(&length, (uint32_t)(out->length - at - 4));
    memcpy(out->data + at, length.data, 4);
    buf_free(&length);
}

static void write_array_head(struct buf *out, uint32_t oid, size_t count)
{
    wire_raw32(out, 1);
    wire_raw32(out, 0);
    wire_raw32(out, oid);
    wire_raw32(out, (uint32_t)count);
    wire_raw32(out, 1);
}

#define INT4_OID 23
#define INT8_OID 20

static void write_price(const struct db_connection *connection, struct buf *out,
                        const struct price *price)
{
    size_t at = open_field(out);
    wire_raw32(out, 8);
    wire_raw32(out, connection->oids[OID_BILLING]);
    wire_text(out, billing_name(price->billing));
    wire_raw32(out, INT4_OID);
    wire_integer(out, price->term_months);
    wire_raw32(out, INT4_OID);
    wire_integer(out, price->min_gpus);
    wire_raw32(out, INT4_OID);
    wire_integer(out, price->upfront_percent_milli);
    wire_raw32(out, TEXT_OID);
    wire_text(out, price->plan);
    wire_raw32(out, connection->oids[OID_PRICE_UNIT]);
    wire_text(out, price->quoted_per == PRICE_PER_NODE ? "node" : "gpu");
    wire_raw32(out, INT8_OID);
    wire_bigint(out, price->quoted_microusd);
    wire_raw32(out, INT4_OID);
    wire_integer(out, price->max_gpus);
    close_field(out, at);
}

void price_array_write(const struct db_connection *connection, struct buf *out,
                       const struct price *prices, size_t count, const bool *wanted)
{
    size_t chosen = 0;
    for (size_t i = 0; i < count; i++)
        chosen += wanted == NULL || wanted[i];
    if (chosen == 0) {
        wire_null(out);
        return;
    }
    size_t at = open_field(out);
    write_array_head(out, connection->oids[OID_PRICE], chosen);
    for (size_t i = 0; i < count; i++) {
        if (wanted == NULL || wanted[i])
            write_price(connection, out, &prices[i]);
    }
    close_field(out, at);
}

static void write_schedule(const struct db_connection *connection, struct buf *out,
                           const struct availability *availability)
{
    if (availability->schedule_count == 0) {
        wire_null(out);
        return;
    }
    size_t at = open_field(out);
    write_array_head(out, connection->oids[OID_DELIVERY], availability->schedule_count);
    for (size_t i = 0; i < availability->schedule_count; i++) {
        size_t element = open_field(out);
        wire_raw32(out, 2);
        wire_raw32(out, INT4_OID);
        wire_integer(out, availability->schedule[i].gpus);
        wire_raw32(out, INT4_OID);
        wire_integer(out, availability->schedule[i].days);
        close_field(out, element);
    }
    close_field(out, at);
}

/* ---- the row ---- */

/* A label of an enumeration column; false where it is not known, true for NULL (nothing is set). */
#define READ_LABEL(row, arena, parse, out)                                                         \
    ({                                                                                             \
        const char *label_ = row_text(row, arena);                                                 \
        label_ == NULL || parse(label_, out);                                                      \
    })

static bool read_node(struct db_row *row, struct arena *arena, struct offer *offer)
{
    offer->gpu_raw = row_text(row, arena);
    offer->gpu_count_milli = row_integer(row);
    offer->vram_gb_given_milli = row_bigint(row);
    offer->vcpus_milli = row_bigint(row);
    offer->memory_gib_milli = row_bigint(row);
    offer->storage_gb_milli = row_bigint(row);
    bool good = READ_LABEL(row, arena, interconnect_parse, &offer->interconnect);
    good = READ_LABEL(row, arena, fabric_parse, &offer->fabric) && good;
    offer->fabric_gbps_milli = row_bigint(row);
    return good;
}

static bool read_terms(struct db_row *row, struct arena *arena, struct offer *offer)
{
    struct availability *availability = &offer->availability;
    bool good = READ_LABEL(row, arena, availability_parse, &availability->status);
    availability->gpus_available = row_integer(row);
    availability->lead_time_days = row_integer(row);
    good = read_schedule(row, arena, availability) && good;
    offer->extra_costs.egress_per_gb_microusd = row_bigint(row);
    offer->extra_costs.storage_per_gb_month_microusd = row_bigint(row);
    offer->extra_costs.billing_increment_seconds = row_integer(row);
    offer->extra_costs.minimum_duration_seconds = row_integer(row);
    offer->order_url = row_text(row, arena);
    offer->source_url = row_text(row, arena);
    offer->attribution = row_text(row, arena);
    good = READ_LABEL(row, arena, source_kind_parse, &offer->source_kind) && good;
    offer->observed_at_us = row_time(row);
    offer->flags = (uint32_t)row_integer(row);
    return good;
}

bool offer_row_read(struct db_row *row, struct arena *arena, struct offer_row *ret_row)
{
    *ret_row = (struct offer_row){0};
    struct offer *offer = &ret_row->offer;
    bool good = row_fixed_bytes(row, ret_row->id, sizeof(ret_row->id));
    row->column++; /* provider_id: the caller asked for it */
    offer->external_id = row_text(row, arena);
    offer->version = row_bigint(row);
    const char *gpu_slug = row_text(row, arena);
    good = read_node(row, arena, offer) && good;
    const char *place_slug = row_text(row, arena);
    offer->region_raw = row_text(row, arena);
    offer->zone = row_text(row, arena);
    good = read_terms(row, arena, offer) && good;
    struct price *prices;
    if (!good || gpu_slug == NULL || offer->external_id == NULL ||
        !price_array_read(row, arena, offer->gpu_count_milli, &prices, &offer->price_count))
        return false;
    offer->prices = prices;
    good = row_fixed_bytes(row, ret_row->hash, sizeof(ret_row->hash));
    ret_row->created_at_us = row_time(row);
    offer->updated_at_us = row_time(row);
    offer->gpu = gpu_find(gpu_slug);
    ret_row->unknown_gpu = offer->gpu == INDEX_NONE;
    if (ret_row->unknown_gpu)
        offer->gpu = gpu_unrecognized();
    offer->place = place_slug == NULL ? INDEX_NONE : place_find(place_slug);
    ret_row->unknown_place = place_slug != NULL && offer->place == INDEX_NONE;
    int64_t nominal = gpu_at(offer->gpu)->vram_gb_milli;
    offer->vram_gb_milli = nominal > 0 ? nominal : offer->vram_gb_given_milli;
    return good;
}

void offer_row_write(const struct db_connection *connection, struct buf *out, int64_t provider_id,
                     const struct offer_row *row)
{
    const struct offer *offer = &row->offer;
    wire_bytes(out, row->id, sizeof(row->id));
    wire_bigint(out, provider_id);
    wire_text(out, offer->external_id);
    wire_bigint(out, offer->version);
    wire_text(out, gpu_at(offer->gpu)->slug);
    wire_text(out, offer->gpu_raw);
    wire_integer(out, offer->gpu_count_milli);
    wire_bigint(out, offer->vram_gb_given_milli);
    wire_bigint(out, offer->vcpus_milli);
    wire_bigint(out, offer->memory_gib_milli);
    wire_bigint(out, offer->storage_gb_milli);
    wire_text(out, interconnect_name(offer->interconnect));
    wire_text(out, fabric_name(offer->fabric));
    wire_bigint(out, offer->fabric_gbps_milli);
    wire_text(out, offer->place == INDEX_NONE ? NULL : place_at(offer->place)->slug);
    wire_text(out, offer->region_raw);
    wire_text(out, offer->zone);
    wire_text(out, availability_name(offer->availability.status));
    wire_integer(out, offer->availability.gpus_available);
    wire_integer(out, offer->availability.lead_time_days);
    write_schedule(connection, out, &offer->availability);
    wire_bigint(out, offer->extra_costs.egress_per_gb_microusd);
    wire_bigint(out, offer->extra_costs.storage_per_gb_month_microusd);
    wire_integer(out, offer->extra_costs.billing_increment_seconds);
    wire_integer(out, offer->extra_costs.minimum_duration_seconds);
    wire_text(out, offer->order_url);
    wire_text(out, offer->source_url);
    wire_text(out, offer->attribution);
    wire_text(out, source_kind_name(offer->source_kind));
    wire_time(out, offer->observed_at_us);
    wire_integer(out, (int32_t)offer->flags);
    price_array_write(connection, out, offer->prices, offer->price_count, NULL);
    wire_bytes(out, row->hash, sizeof(row->hash));
    wire_time(out, row->created_at_us);
    wire_time(out, offer->updated_at_us);
}
