/* A segment: some offers, immutable once made. Rows are sorted by GPU rank, cheapest price, id;
 * each fact that filters or sorts is a narrow column of its own; the text of each row (its JSON
 * fragment, its external_id) lies in slabs that segments share. The catalogue is a few segments,
 * the oldest the largest. What dies later is cleared in a bitmap beside the segment (alive.h part
 * below), never in it. Counted references; any thread may read. */
#ifndef RACKRATE_CATALOG_SEGMENT_H
#define RACKRATE_CATALOG_SEGMENT_H

#include "server/model/offer.h"

#include <stdatomic.h>

/* An offer's id as two big-endian numbers: they compare as the bytes do. */
struct offer_key {
    uint64_t high;
    uint64_t low;
};
struct offer_key offer_key_of(const uint8_t id[static OFFER_ID_BYTES]);
static inline int offer_key_compare(struct offer_key a, struct offer_key b)
{
    if (a.high != b.high)
        return a.high < b.high ? -1 : 1;
    return a.low < b.low ? -1 : a.low > b.low;
}

struct row_hash {
    uint8_t bytes[OFFER_HASH_BYTES];
};

/* Where a row's text lies: the fragment (see fragment.h), behind it external_id with a NUL, before
 * it the table of its values (leaves.h). */
struct row_text {
    const char *bytes;
    uint32_t length;   /* of the fragment */
    uint32_t observed; /* offset of the row's own observed_at, quotes included */
    uint8_t observed_length;
    uint8_t external_id_length;
};

/* One column each: type and name. `_bit` is 1 << value of an enum; unknown numbers are -1; numbers
 * that don't fit are cut to the largest, which is above every bound that a query may name. */
#define SEGMENT_ROW_COLUMNS(X)                                                                     \
    X(uint16_t, gpu_rank)                                                                          \
    X(uint16_t, place_rank)                                                                        \
    X(uint16_t, provider)       /* slot in the snapshot's table */                                 \
    X(uint8_t, billing_bits)    /* of all its prices */                                            \
    X(uint8_t, has_more_prices) /* 1: more than one */                                             \
    X(uint8_t, has_tiers)       /* 1: some price is for some numbers of GPUs only */               \
    X(uint8_t, term_bits)       /* of all its prices, see term_bit */                              \
    X(uint8_t, fabric_bit)                                                                         \
    X(uint8_t, interconnect_bit)                                                                   \
    X(uint8_t, availability_bit)                                                                   \
    X(uint8_t, is_sample)                                                                          \
    X(uint8_t, continent)     /* see market/commitment.h */                                        \
    X(uint8_t, doubtful_bits) /* billings that its flags keep out of the index */                  \
    X(int32_t, gpu_count_milli)                                                                    \
    X(int32_t, vram_gb_milli)                                                                      \
    X(int32_t, vcpus_milli)                                                                        \
    X(int32_t, memory_gib_milli)                                                                   \
    X(int32_t, storage_gb_milli)                                                                   \
    X(int32_t, fabric_gbps_milli)                                                                  \
    X(int32_t, lead_time_days)                                                                     \
    X(int32_t, gpus_available)                                                                     \
    X(int32_t, cheapest_cut) /* cheapest price, see price_cut */                                   \
    X(int32_t, on_demand_cut)                                                                      \
    X(int32_t, spot_cut)                                                                           \
    X(int32_t, reserved_cut)                                                                       \
    X(uint32_t, gpu_name)    /* index into gpu_names */                                            \
    X(uint32_t, region_name) /* index into region_names */                                         \
    X(int64_t, total_vram_gb_milli)                                                                \
    X(int64_t, cheapest_microusd)                                                                  \
    X(int64_t, updated_at_us)                                                                      \
    X(int64_t, own_us) /* observed_at, or updated_at where unknown */                              \
    X(int64_t, version)                                                                            \
    X(struct offer_key, id)                                                                        \
    X(struct row_hash, hash)                                                                       \
    X(struct row_text, text)

/* Prices in columns half as wide: exact below PRICE_CUT_DEAR (2,147 USD), PRICE_CUT_DEAR for all
 * above, PRICE_CUT_NONE where there is no such price. */
#define PRICE_CUT_DEAR (INT32_MAX - 1)
#define PRICE_CUT_NONE INT32_MAX
static inline int32_t price_cut(int64_t microusd)
{
    return microusd < PRICE_CUT_DEAR ? (int32_t)microusd : PRICE_CUT_DEAR;
}

/* A bit for each common term; TERM_OTHER for all others together. */
#define TERM_OTHER 0x80
static inline uint8_t term_bit(int32_t term_months)
{
    switch (term_months) {
    case 0:
        return 0x01;
    case 1:
        return 0x02;
    case 3:
        return 0x04;
    case 6:
        return 0x08;
    case 12:
        return 0x10;
    case 24:
        return 0x20;
    case 36:
        return 0x40;
    default:
        return TERM_OTHER;
    }
}

/* Prices of row r are entries entry_start[r] … entry_start[r + 1], cheapest first (then by
 * identity). */
#define SEGMENT_ENTRY_COLUMNS(X)                                                                   \
    X(int64_t, entry_microusd)      /* per GPU-hour */                                             \
    X(int64_t, entry_node_microusd) /* per node-hour */                                            \
    X(int32_t, entry_min_gpus)                                                                     \
    X(int32_t, entry_max_gpus)                                                                     \
    X(uint32_t, entry_text) /* offset of the price's object in the row's text */                   \
    X(uint16_t, entry_length)                                                                      \
    X(uint16_t, entry_term)                                                                        \
    X(uint8_t, entry_billing) /* bit */                                                            \
    X(uint8_t, entry_market)  /* commitment x CLUSTER_SIZE_COUNT + cluster size */

/* Text shared by segments. */
struct slab {
    _Atomic size_t references;
    size_t used;
    char bytes[];
};
struct slab *slab_new(size_t size);
void slab_release(struct slab *slab);

/* The spellings offers of a segment were uploaded with, as hashes of their folded form, sorted;
 * `rank` is the one GPU or place that all rows of that spelling have, or NAME_MIXED. */
#define NAME_MIXED 0xfffeU
struct segment_names {
    uint64_t *hashes;
    uint16_t *ranks;
    uint32_t count;
};
/* The name's index, or UINT32_MAX. */
uint32_t segment_names_find(const struct segment_names *names, uint64_t hash);

struct segment {
    _Atomic size_t references;
    uint32_t row_count;
    uint32_t entry_count;
    size_t bytes;      /* of this structure and its columns, slabs aside */
    size_t text_bytes; /* of its slabs */
#define X(type, name) type *name;
    SEGMENT_ROW_COLUMNS(X)
    SEGMENT_ENTRY_COLUMNS(X)
#undef X
    uint32_t *entry_start; /* row_count + 1 */
    uint32_t *gpu_start;   /* first row of each GPU rank; gpu_count() + 1 */
    uint32_t *place_rows;  /* how many rows each place rank has; place_count() of them */
    int32_t *vram_most;    /* largest vram_gb_milli of each GPU rank; gpu_count() */
    int32_t *vram_least;   /* smallest; -1 where some row's is unknown */
    uint32_t *id_slots;    /* hash table over ids: row + 1, 0 empty */
    uint32_t id_mask;
    struct segment_names gpu_names;
    struct segment_names region_names;
    struct slab **slabs; /* by address */
    size_t slab_count;
    void *block; /* all columns */
};

/* Which rows of a segment still live, one bit each. NULL stands for "all". */
struct alive {
    _Atomic size_t references;
    uint32_t dead_count;
    uint64_t words[];
};
static inline bool alive_has(const struct alive *alive, uint32_t row)
{
    return alive == NULL || (alive->words[row / 64] >> (row % 64) & 1) != 0;
}
/* A copy (of NULL: all live) that the caller may change and owns. */
struct alive *alive_copy(const struct alive *alive, uint32_t row_count);
void alive_release(struct alive *alive);
static inline uint32_t alive_count(const struct alive *alive, const struct segment *segment)
{
    return segment->row_count - (alive == NULL ? 0 : alive->dead_count);
}

/* An offer on its way into a segment. */
struct segment_input {
    const struct offer *offer;
    struct offer_key key;
    uint16_t provider; /* slot */
};

/* A segment of these offers (ids distinct). The caller owns one reference. Never NULL; count > 0.
 */
struct segment *segment_from_offers(const struct segment_input *inputs, size_t count);

/* A segment of the live rows of others, whose text is shared or moved. NULL where none lives. */
struct segment *segment_merge(struct segment *const *inputs, struct alive *const *alive,
                              size_t input_count);

struct segment *segment_reference(struct segment *segment);
void segment_release(struct segment *segment);

/* The row with this id, dead or alive, or UINT32_MAX. */
uint32_t segment_find(const struct segment *segment, struct offer_key key);

/* external_id of a row. */
static inline const char *segment_external_id(const struct segment *segment, uint32_t row)
{
    return segment->text[row].bytes + segment->text[row].length;
}

#endif
