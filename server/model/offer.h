/* An offer: one node shape from one provider in one place, with its prices. Plain data; strings and
 * arrays belong to whoever made the offer (mostly an arena). Everything is immutable once
 * validated, so any thread may read it. NULL and UNKNOWN (-1) mean nobody said; quantities in
 * `_milli` are thousandths of the unit named before it. */
#ifndef RACKRATE_MODEL_OFFER_H
#define RACKRATE_MODEL_OFFER_H

#include "server/base/buf.h"
#include "server/model/price.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OFFER_EXTERNAL_ID_MAX_BYTES 200
#define OFFER_RAW_NAME_MAX_BYTES    200
#define OFFER_URL_MAX_BYTES         2000
#define OFFER_PRICES_MAX            200
#define OFFER_SCHEDULE_MAX          100
#define OFFER_GPU_COUNT_MAX_MILLI   100000000 /* 100,000 GPUs a node shape: TPU slices are large */

/* Index of a place or a GPU that is not known (see server/reference). */
#define INDEX_NONE UINT16_MAX

enum fabric {
    FABRIC_UNKNOWN,
    FABRIC_NONE,
    FABRIC_ETHERNET,
    FABRIC_ROCE,
    FABRIC_INFINIBAND,
    FABRIC_COUNT
};
enum interconnect {
    INTERCONNECT_UNKNOWN,
    INTERCONNECT_PCIE,
    INTERCONNECT_NVLINK,
    INTERCONNECT_COUNT
};
enum availability_status {
    AVAILABILITY_UNKNOWN, /* printed `unknown` */
    AVAILABILITY_AVAILABLE,
    AVAILABILITY_LIMITED,
    AVAILABILITY_WAITLIST,
    AVAILABILITY_SOLD_OUT,
    AVAILABILITY_COUNT,
};
enum source_kind { SOURCE_PROVIDER_API, SOURCE_IMPORT, SOURCE_SAMPLE, SOURCE_COUNT };

/* Doubts about an offer found at ingest, kept with it as bits of `flags` and shown. */
#define OFFER_FLAGS(X)                                                                             \
    X(PRICE_FAR_ABOVE_MEDIAN, "price_far_above_median") /* over 20 times its variant's median */   \
    X(PRICE_FAR_BELOW_MEDIAN, "price_far_below_median") /* under a twentieth of it */              \
    X(SPOT_NOT_CHEAPER, "spot_not_cheaper")             /* spot price at or above on-demand */     \
    X(LONGER_TERM_DEARER,                                                                          \
      "longer_term_dearer") /* a longer reservation costs more than a shorter one */               \
    X(NODE_PRICE_LOOKS_PER_GPU, "node_price_looks_per_gpu")                                        \
    X(VRAM_FITS_NO_VARIANT,                                                                        \
      "vram_fits_no_variant") /* the reported size is none of the model's known ones */            \
    X(PRICE_ROUNDED,                                                                               \
      "price_rounded") /* quoted with more than six decimals in a foreign catalogue */

enum offer_flag {
#define X(name, text) OFFER_FLAG_BIT_##name,
    OFFER_FLAGS(X)
#undef X
        OFFER_FLAG_COUNT
};
#define OFFER_FLAG(name) (UINT32_C(1) << OFFER_FLAG_BIT_##name)
/* Flags that compare with the market of the day: no part of the content hash, as a market that
 * moved changes no offer. */
#define OFFER_FLAGS_OF_MARKET                                                                      \
    (OFFER_FLAG(PRICE_FAR_ABOVE_MEDIAN) | OFFER_FLAG(PRICE_FAR_BELOW_MEDIAN) |                     \
     OFFER_FLAG(NODE_PRICE_LOOKS_PER_GPU))
/* Nor is how an amount was written in the file it came from: the same inventory, exported with the
 * rounded amounts and read again, is no update. */
#define OFFER_FLAGS_UNHASHED (OFFER_FLAGS_OF_MARKET | OFFER_FLAG(PRICE_ROUNDED))

/* Part of a big order that comes later: `gpus` GPUs within `days` days. */
struct delivery {
    int32_t gpus;
    int32_t days;
};

struct availability {
    enum availability_status status;
    int32_t gpus_available;
    int32_t lead_time_days;
    const struct delivery *schedule;
    size_t schedule_count;
};

struct extra_costs {
    int64_t egress_per_gb_microusd;
    int64_t storage_per_gb_month_microusd;
    int32_t billing_increment_seconds;
    int32_t minimum_duration_seconds;
};

struct offer {
    /* What the provider said. */
    const char *external_id;
    const char *gpu_raw;
    int32_t gpu_count_milli; /* 125 is an eighth of a GPU; 167, 333, 667 and 833 stand for sixths
                                (model/price.h) */
    int64_t vram_gb_given_milli; /* of one GPU as uploaded, matched to the model's nearest known
                                    size; UNKNOWN if not given */
    int64_t vcpus_milli;
    int64_t memory_gib_milli;
    int64_t storage_gb_milli;
    enum interconnect interconnect;
    enum fabric fabric;
    int64_t fabric_gbps_milli; /* of one node */
    const char *region_raw;
    const char *zone;
    struct availability availability;
    const struct price
        *prices; /* at least one; sorted by price_compare_identity, no two with the same identity */
    size_t price_count;
    struct extra_costs extra_costs;
    const char *order_url;
    const char *source_url;
    const char *attribution; /* whom a licence asks to credit, or NULL */
    enum source_kind source_kind;
    int64_t observed_at_us; /* TIMESTAMP_UNKNOWN: the time of the upload */
    uint32_t flags;         /* OFFER_FLAG bits */

    /* What Rackrate makes of it: indexes into server/reference of this build; slugs are what is
     * stored. */
    uint16_t gpu;          /* a variant, a family or the entry `unrecognized`; never INDEX_NONE in a
                              validated offer */
    uint16_t place;        /* a place, an area or a country; INDEX_NONE unknown */
    int64_t vram_gb_milli; /* of one GPU: the variant's nominal size, else the given one, else
                              UNKNOWN */

    /* What the database adds. */
    int64_t version; /* the provider's version that last changed this row; 0 before it is stored */
    int64_t updated_at_us; /* when that was */
};

/* Names as the API prints them, and back; parse functions give false for any other text. `unknown`
 * interconnects and fabrics have no name (NULL): they are printed as null. */
const char *fabric_name(enum fabric fabric);
bool fabric_parse(const char *text, enum fabric *ret);
const char *interconnect_name(enum interconnect interconnect);
bool interconnect_parse(const char *text, enum interconnect *ret);
const char *availability_name(enum availability_status status);
bool availability_parse(const char *text, enum availability_status *ret);
const char *source_kind_name(enum source_kind kind);
bool source_kind_parse(const char *text, enum source_kind *ret);
const char *offer_flag_name(enum offer_flag flag);
bool offer_flag_parse(const char *text, enum offer_flag *ret);

/* The offer's id: 16 bytes, BLAKE2b of provider slug, NUL, external_id; stable for ever. */
#define OFFER_ID_BYTES 16
#define OFFER_ID_TEXT_LENGTH                                                                       \
    29 /* "of_" and 26 digits of base 32 (0-9 a-v), which sort as the bytes do */
void offer_id(const char *provider_slug, const char *external_id,
              uint8_t ret_id[static OFFER_ID_BYTES]);
void offer_id_print(const uint8_t id[static OFFER_ID_BYTES],
                    char out[static OFFER_ID_TEXT_LENGTH + 1]);
bool offer_id_parse(const char *text, size_t length, uint8_t ret_id[static OFFER_ID_BYTES]);

/* BLAKE2b over every stored fact but observed_at (a newer look at the same facts is no update) and
 * OFFER_FLAGS_UNHASHED, database fields and indexes aside, with the slugs given for the resolved
 * gpu and place. Equal hashes mean equal offers. */
#define OFFER_HASH_BYTES 16
void offer_content_hash(const struct offer *offer, const char *gpu_slug, const char *place_slug,
                        uint8_t ret_hash[static OFFER_HASH_BYTES]);

/* Facts that can change, as bits for "which fields": the upload shape's top-level names. */
#define OFFER_FIELDS(X)                                                                            \
    X(GPU, "gpu")                                                                                  \
    X(GPU_COUNT, "gpu_count")                                                                      \
    X(VRAM, "vram_gb")                                                                             \
    X(NODE, "node")                                                                                \
    X(INTERCONNECT, "interconnect")                                                                \
    X(FABRIC, "fabric")                                                                            \
    X(FABRIC_GBPS, "fabric_gbps")                                                                  \
    X(REGION, "region")                                                                            \
    X(ZONE, "zone")                                                                                \
    X(AVAILABILITY, "availability")                                                                \
    X(PRICES, "prices")                                                                            \
    X(EXTRA_COSTS, "extra_costs")                                                                  \
    X(ORDER_URL, "order_url") X(SOURCE_URL, "source_url") X(SOURCE, "source") X(FLAGS, "flags")
enum offer_field {
#define X(name, text) OFFER_FIELD_##name,
    OFFER_FIELDS(X)
#undef X
        OFFER_FIELD_COUNT
};
const char *offer_field_name(enum offer_field field);

/* Bits (1 << OFFER_FIELD_…) of what differs between two offers with the same external_id. */
uint32_t offer_compare_fields(const struct offer *before, const struct offer *after);

#endif
