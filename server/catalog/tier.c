/* Whole nodes by integer division of fractions. */
#include "server/catalog/tier.h"

#include "server/base/decimal.h"

#include <assert.h>
#include <string.h>

static_assert(TIER_MEMO_SLOTS == 1 << (32 - 26), "a hash of 32 bits, shifted by 26, is a slot");

struct tier tier_of(int32_t gpu_count_milli, int64_t wanted_gpus_milli)
{
    int64_t numerator, denominator, nodes = 1;
    gpu_count_fraction(gpu_count_milli, &numerator, &denominator);
    if (wanted_gpus_milli > 0) {
        int64_t wanted, parts;
        gpu_count_fraction((int32_t)wanted_gpus_milli, &wanted, &parts);
        int64_t dividend = wanted * denominator, divisor = parts * numerator;
        nodes = (dividend + divisor - 1) / divisor;
    }
    return (struct tier){nodes, nodes * numerator, denominator};
}

void tier_learn(struct tier_memo *memo, size_t slot, int32_t gpu_count_milli,
                int64_t wanted_gpus_milli)
{
    struct tier tier = tier_of(gpu_count_milli, wanted_gpus_milli);
    int64_t whole = (tier.numerator + tier.denominator - 1) / tier.denominator;
    memo->slots[slot].gpu_count_milli = gpu_count_milli;
    memo->slots[slot].whole_gpus = whole > INT32_MAX ? INT32_MAX : (int32_t)whole;
    memo->slots[slot].gpus = (double)tier.numerator / (double)tier.denominator;
}

int64_t tier_gpus_milli(const struct tier *tier)
{
    return decimal_muldiv_half_even(tier->numerator, 1000, tier->denominator, NULL);
}

int64_t tier_total_microusd(const struct tier *tier, int64_t per_node_hour_microusd)
{
    int64_t total;
    return __builtin_mul_overflow(tier->nodes, per_node_hour_microusd, &total) ? UNKNOWN : total;
}

size_t tier_write(const struct segment *segment, uint32_t row, uint32_t entry,
                  int64_t wanted_gpus_milli, char *out)
{
    static const char gpus[] = ",\"gpus\":", price[] = ",\"total_price\":";
    struct tier tier = tier_of(segment->gpu_count_milli[row], wanted_gpus_milli);
    int64_t total = tier_total_microusd(&tier, segment->entry_node_microusd[entry]);
    char *at = out;
    memcpy(at, gpus, sizeof(gpus) - 1);
    at += sizeof(gpus) - 1;
    at += decimal_print(tier_gpus_milli(&tier), 3, at);
    memcpy(at, price, sizeof(price) - 1);
    at += sizeof(price) - 1;
    if (total < 0) {
        memcpy(at, "null", 4);
        return (size_t)(at + 4 - out);
    }
    at += decimal_print(total, 6, at);
    return (size_t)(at - out);
}
