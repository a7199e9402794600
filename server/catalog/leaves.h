/* The values of a fragment, so that parts of it can be answered without parsing it: what stands
 * before each is always the same, and where each ends is kept in a small table before the row's
 * text, which moves with it. */
#ifndef RACKRATE_CATALOG_LEAVES_H
#define RACKRATE_CATALOG_LEAVES_H

#include <stdint.h>
#include <string.h>

/* The values of a fragment in the order of its text, each with what stands before it. */
#define FRAGMENT_LEAVES(X)                                                                         \
    X(EXTERNAL_ID, ",\"external_id\":")                                                            \
    X(GPU_SLUG, ",\"gpu\":{\"slug\":")                                                             \
    X(GPU_FAMILY, ",\"family\":")                                                                  \
    X(GPU_VENDOR, ",\"vendor\":")                                                                  \
    X(GPU_NAME, ",\"name\":")                                                                      \
    X(GPU_FORM_FACTOR, ",\"form_factor\":")                                                        \
    X(GPU_VRAM, ",\"vram_gb\":")                                                                   \
    X(GPU_RAW, ",\"raw\":")                                                                        \
    X(GPU_COUNT, "},\"gpu_count\":")                                                               \
    X(TOTAL_VRAM, ",\"total_vram_gb\":")                                                           \
    X(NODE_VCPUS, ",\"node\":{\"vcpus\":")                                                         \
    X(NODE_MEMORY, ",\"memory_gib\":")                                                             \
    X(NODE_STORAGE, ",\"storage_gb\":")                                                            \
    X(INTERCONNECT, "},\"interconnect\":")                                                         \
    X(FABRIC, ",\"fabric\":")                                                                      \
    X(FABRIC_GBPS, ",\"fabric_gbps\":")                                                            \
    X(REGION_SLUG, ",\"region\":{\"slug\":")                                                       \
    X(REGION_COUNTRY, ",\"country\":")                                                             \
    X(REGION_CONTINENT, ",\"continent\":")                                                         \
    X(REGION_RAW, ",\"raw\":")                                                                     \
    X(REGION_ZONE, ",\"zone\":")                                                                   \
    X(STATUS, "},\"availability\":{\"status\":")                                                   \
    X(GPUS_AVAILABLE, ",\"gpus_available\":")                                                      \
    X(LEAD_TIME, ",\"lead_time_days\":")                                                           \
    X(SCHEDULE, ",\"schedule\":")                                                                  \
    X(EGRESS, "},\"extra_costs\":{\"egress_per_gb\":")                                             \
    X(STORAGE_COST, ",\"storage_per_gb_month\":")                                                  \
    X(BILLING_INCREMENT, ",\"billing_increment_seconds\":")                                        \
    X(MINIMUM_DURATION, ",\"minimum_duration_seconds\":")                                          \
    X(PRICES, "},\"prices\":")                                                                     \
    X(ORDER_URL, ",\"order_url\":")                                                                \
    X(SOURCE_KIND, ",\"source\":{\"kind\":")                                                       \
    X(SOURCE_URL, ",\"url\":")                                                                     \
    X(OBSERVED_AT, ",\"observed_at\":")                                                            \
    X(ATTRIBUTION, ",\"attribution\":")                                                            \
    X(FLAGS, "},\"flags\":")                                                                       \
    X(UPDATED_AT, ",\"updated_at\":")

enum fragment_leaf {
#define X(name, before) LEAF_##name,
    FRAGMENT_LEAVES(X)
#undef X
        LEAF_COUNT
};

/* Where each value ends: up to LEAF_PRICES from the start of the fragment, from there on from its
 * end, for only prices are ever longer than 64 KiB together. Lies before the text, unaligned. */
struct leaf_table {
    uint16_t ends[LEAF_COUNT];
};
static inline struct leaf_table leaf_table_of(const char *text)
{
    struct leaf_table table;
    memcpy(&table, text - sizeof(table), sizeof(table));
    return table;
}

#endif
