/* The buckets as one table each. */
#include "server/market/commitment.h"

#include <string.h>

static const struct {
    int32_t months_from;
    const char *name;
} buckets[COMMITMENT_COUNT] = {
    [COMMITMENT_ON_DEMAND] = {0, "0"},        [COMMITMENT_SPOT] = {0, "0"},
    [COMMITMENT_RESERVED_1] = {1, "1-2"},     [COMMITMENT_RESERVED_3] = {3, "3-5"},
    [COMMITMENT_RESERVED_6] = {6, "6-11"},    [COMMITMENT_RESERVED_12] = {12, "12-23"},
    [COMMITMENT_RESERVED_24] = {24, "24-35"}, [COMMITMENT_RESERVED_36] = {36, "36+"},
};

enum commitment commitment_of(enum billing billing, int32_t term_months)
{
    if (billing != BILLING_RESERVED)
        return billing == BILLING_SPOT ? COMMITMENT_SPOT : COMMITMENT_ON_DEMAND;
    unsigned bucket = COMMITMENT_RESERVED_36;
    while (bucket > COMMITMENT_RESERVED_1 && term_months < buckets[bucket].months_from)
        bucket--;
    return (enum commitment)bucket;
}

enum billing commitment_billing(enum commitment commitment)
{
    return commitment == COMMITMENT_ON_DEMAND ? BILLING_ON_DEMAND
           : commitment == COMMITMENT_SPOT    ? BILLING_SPOT
                                              : BILLING_RESERVED;
}

int32_t commitment_months_from(enum commitment commitment)
{
    return buckets[commitment].months_from;
}

const char *commitment_term_name(enum commitment commitment)
{
    return buckets[commitment].name;
}

enum cluster_size cluster_size_of(int32_t gpu_count_milli, int32_t min_gpus)
{
    int64_t gpus_milli = gpu_count_milli;
    if (min_gpus > 0 && (int64_t)min_gpus * 1000 > gpus_milli)
        gpus_milli = (int64_t)min_gpus * 1000;
    return gpus_milli <= 8000     ? CLUSTER_1
           : gpus_milli < 64000   ? CLUSTER_9
           : gpus_milli <= 512000 ? CLUSTER_64
                                  : CLUSTER_513;
}

const char *cluster_size_name(enum cluster_size size)
{
    static const char *const names[CLUSTER_SIZE_COUNT] = {"1-8", "9-63", "64-512", "513+"};
    return names[size];
}

static const char *const codes[CONTINENT_UNKNOWN] = {"AF", "AN", "AS", "EU", "NA", "OC", "SA"};

const char *continent_code(enum continent continent)
{
    return continent < CONTINENT_UNKNOWN ? codes[continent] : NULL;
}

enum continent continent_of(const char *code)
{
    unsigned continent = 0;
    if (code == NULL)
        return CONTINENT_UNKNOWN;
    while (continent < CONTINENT_UNKNOWN && strcmp(codes[continent], code) != 0)
        continent++;
    return (enum continent)continent;
}
