/* Exact division, half-even. */
#include "server/market/unit_price.h"

#include "server/base/decimal.h"

const char *unit_price_name(enum unit_price unit)
{
    static const char *const names[UNIT_PRICE_COUNT] = {"price_per_vram_gb", "price_per_tflop",
                                                        "price_per_tbps"};
    return names[unit];
}

int64_t unit_price_quantity(enum unit_price unit, const struct gpu *gpu, int64_t vram_gb_milli)
{
    switch (unit) {
    case UNIT_VRAM_GB:
        return vram_gb_milli;
    case UNIT_TFLOP:
        return gpu->bf16_dense_tflops_milli;
    case UNIT_TBPS:
        return gpu->memory_bandwidth_gb_per_s_milli;
    case UNIT_PRICE_COUNT:
        break;
    }
    return UNKNOWN;
}

int64_t unit_price_microusd(enum unit_price unit, int64_t per_gpu_hour_microusd, int64_t quantity)
{
    bool overflow = false;
    if (quantity <= 0)
        return UNKNOWN;
    int64_t price = decimal_muldiv_half_even(per_gpu_hour_microusd, unit_price_scale(unit),
                                             quantity, &overflow);
    return overflow ? UNKNOWN : price;
}
