/* What a wanted number of GPUs means for one offer: whole nodes, the volume tier that covers them,
 * and their price. Exact: shares of a GPU are fractions (model/price.h). Only files of this room
 * include it. */
#ifndef RACKRATE_CATALOG_TIER_H
#define RACKRATE_CATALOG_TIER_H

#include "server/catalog/segment.h"

/* So many nodes hold a wanted number of GPUs, and so many GPUs these are. */
struct tier {
    int64_t nodes;
    int64_t numerator; /* GPUs in all = numerator / denominator */
    int64_t denominator;
};

/* `wanted_gpus_milli` rounded up to whole nodes of `gpu_count_milli`; UNKNOWN: one node. Any
 * thread. */
struct tier tier_of(int32_t gpu_count_milli, int64_t wanted_gpus_milli);

/* Tiers of the last few counts of GPUs, so that a search divides once a count, not once a row. */
#define TIER_MEMO_SLOTS 64
struct tier_memo {
    struct {
        int32_t gpu_count_milli; /* 0: free */
        int32_t whole_gpus;      /* GPUs in all, rounded up; the largest number where more */
        double gpus;             /* in all */
    } slots[TIER_MEMO_SLOTS];
};
void tier_learn(struct tier_memo *memo, size_t slot, int32_t gpu_count_milli,
                int64_t wanted_gpus_milli);
/* The slot that holds the tier of this count; always the same wanted number. */
static inline size_t tier_recall(struct tier_memo *memo, int32_t gpu_count_milli,
                                 int64_t wanted_gpus_milli)
{
    size_t slot = ((uint32_t)gpu_count_milli * 2654435761u) >> 26;
    if (memo->slots[slot].gpu_count_milli != gpu_count_milli)
        tier_learn(memo, slot, gpu_count_milli, wanted_gpus_milli);
    return slot;
}

/* Whether a price of the row is for as many GPUs: its min_gpus and max_gpus, where given. */
static inline bool tier_covers(const struct tier *tier, const struct segment *segment,
                               uint32_t entry)
{
    int64_t low = segment->entry_min_gpus[entry], high = segment->entry_max_gpus[entry];
    return (low < 0 || tier->numerator >= low * tier->denominator) &&
           (high < 0 || tier->numerator <= high * tier->denominator);
}

/* Whether so many GPUs are known to be in stock. */
static inline bool tier_in_stock(const struct tier *tier, int32_t gpus_available)
{
    return gpus_available >= 0 && tier->numerator <= gpus_available * tier->denominator;
}

/* The GPUs in all, in thousandths, half-even. */
int64_t tier_gpus_milli(const struct tier *tier);

/* What all nodes cost an hour at a node's price, in micro-dollars; UNKNOWN where no 64 bits hold it
 * (nobody rents that). */
int64_t tier_total_microusd(const struct tier *tier, int64_t per_node_hour_microusd);

/* Writes what an answered price says of that, `,"gpus":64,"total_price":208`, at most
 * TIER_TEXT_SIZE bytes; gives the length. */
#define TIER_TEXT_SIZE 96
size_t tier_write(const struct segment *segment, uint32_t row, uint32_t entry,
                  int64_t wanted_gpus_milli, char *out);

#endif
