/* What a GPU's price buys: USD an hour for each GB of its memory, each dense BF16 TFLOP/s and each
 * TB/s of memory bandwidth, so that unlike GPUs can be compared. Pure; any thread. */
#ifndef RACKRATE_MARKET_UNIT_PRICE_H
#define RACKRATE_MARKET_UNIT_PRICE_H

#include "server/reference/gpu.h"

enum unit_price { UNIT_VRAM_GB, UNIT_TFLOP, UNIT_TBPS, UNIT_PRICE_COUNT };

/* `price_per_vram_gb`, `price_per_tflop`, `price_per_tbps`. */
const char *unit_price_name(enum unit_price unit);

/* How much of the unit one GPU has, in the units that unit_price_microusd divides by: thousandths
 * of GB, of TFLOP/s (dense BF16, never with sparsity) or of GB/s; UNKNOWN where nobody says.
 * `vram_gb_milli` is the offer's own memory of one GPU. */
int64_t unit_price_quantity(enum unit_price unit, const struct gpu *gpu, int64_t vram_gb_milli);

/* Thousandths of the quantity in one unit: 1,000, and 1,000,000 for a TB/s counted in GB/s. */
static inline int64_t unit_price_scale(enum unit_price unit)
{
    return unit == UNIT_TBPS ? 1000000 : 1000;
}

/* The price per GPU-hour divided by the quantity, micro-dollars half-even; UNKNOWN of an unknown or
 * zero quantity. */
int64_t unit_price_microusd(enum unit_price unit, int64_t per_gpu_hour_microusd, int64_t quantity);

#endif
