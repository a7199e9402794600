/* Deriving the figure that was not quoted, and the order of a price's identity. */
#include "server/model/price.h"

#include "server/base/decimal.h"

#include <string.h>

static const char *const billing_names[BILLING_COUNT] = {
    [BILLING_ON_DEMAND] = "on_demand",
    [BILLING_SPOT] = "spot",
    [BILLING_RESERVED] = "reserved",
};

const char *billing_name(enum billing billing)
{
    return billing_names[billing];
}

bool billing_parse(const char *text, enum billing *ret_billing)
{
    for (size_t i = 0; i < BILLING_COUNT; i++) {
        if (strcmp(text, billing_names[i]) == 0) {
            *ret_billing = (enum billing)i;
            return true;
        }
    }
    return false;
}

void gpu_count_fraction(int32_t gpu_count_milli, int64_t *ret_numerator, int64_t *ret_denominator)
{
    switch (gpu_count_milli) {
    case 167:
        *ret_numerator = 1;
        *ret_denominator = 6;
        return;
    case 333:
        *ret_numerator = 1;
        *ret_denominator = 3;
        return;
    case 667:
        *ret_numerator = 2;
        *ret_denominator = 3;
        return;
    case 833:
        *ret_numerator = 5;
        *ret_denominator = 6;
        return;
    default:
        *ret_numerator = gpu_count_milli;
        *ret_denominator = 1000;
    }
}

bool price_derive(struct price *price, int32_t gpu_count_milli)
{
    int64_t numerator, denominator;
    bool overflow;
    gpu_count_fraction(gpu_count_milli, &numerator, &denominator);
    if (price->quoted_per == PRICE_PER_GPU) {
        price->per_gpu_hour_microusd = price->quoted_microusd;
        price->per_node_hour_microusd =
            decimal_muldiv_half_even(price->quoted_microusd, numerator, denominator, &overflow);
    } else {
        price->per_node_hour_microusd = price->quoted_microusd;
        price->per_gpu_hour_microusd =
            decimal_muldiv_half_even(price->quoted_microusd, denominator, numerator, &overflow);
    }
    return !overflow && price->per_gpu_hour_microusd > 0 && price->per_node_hour_microusd > 0;
}

int price_compare_identity(const struct price *a, const struct price *b)
{
    if (a->billing != b->billing)
        return a->billing < b->billing ? -1 : 1;
    if (a->term_months != b->term_months)
        return a->term_months < b->term_months ? -1 : 1;
    if (a->min_gpus != b->min_gpus)
        return a->min_gpus < b->min_gpus ? -1 : 1;
    if (a->upfront_percent_milli != b->upfront_percent_milli)
        return a->upfront_percent_milli < b->upfront_percent_milli ? -1 : 1;
    if (a->plan == NULL || b->plan == NULL)
        return (a->plan != NULL) - (b->plan != NULL);
    return strcmp(a->plan, b->plan);
}

int64_t price_upfront_per_gpu_microusd(const struct price *price)
{
    if (price->billing != BILLING_RESERVED || price->upfront_percent_milli <= 0)
        return 0;
    bool overflow;
    int64_t hours = (int64_t)HOURS_PER_MONTH * price->term_months;
    /* 100 % in thousandths of a percent is 100,000. */
    return decimal_muldiv_half_even(price->per_gpu_hour_microusd,
                                    hours * price->upfront_percent_milli, 100000, &overflow);
}
