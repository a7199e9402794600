/* A price: one way to pay for an offer. Amounts are exact micro-dollars; what was not quoted is
 * derived half-even. Pure; any thread. */
#ifndef RACKRATE_MODEL_PRICE_H
#define RACKRATE_MODEL_PRICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PRICE_PLAN_MAX_BYTES  100
#define PRICE_TERM_MONTHS_MAX 600
#define PRICE_MAX_MICROUSD                                                                         \
    INT64_C(10000000000000) /* 10 million USD an hour: more than any node or cluster */
#define HOURS_PER_MONTH 730

enum billing { BILLING_ON_DEMAND, BILLING_SPOT, BILLING_RESERVED, BILLING_COUNT };
enum price_unit { PRICE_PER_GPU, PRICE_PER_NODE };

struct price {
    enum billing billing;
    enum price_unit quoted_per;
    int32_t term_months;           /* 0 unless reserved, then 1 to PRICE_TERM_MONTHS_MAX */
    int32_t min_gpus;              /* UNKNOWN if not given */
    int32_t max_gpus;              /* UNKNOWN if not given; >= min_gpus */
    int32_t upfront_percent_milli; /* 0 to 100000; UNKNOWN if not given */
    const char *plan;              /* the provider's word, or NULL */
    int64_t quoted_microusd; /* per hour, > 0, exactly as quoted, per GPU or per node as quoted_per
                                says */
    int64_t per_gpu_hour_microusd; /* what sorts and compares: quoted, or derived from the node's */
    int64_t per_node_hour_microusd; /* quoted, or derived from the GPU's */
};

const char *billing_name(enum billing billing);
bool billing_parse(const char *text, enum billing *ret_billing);

/* The count of GPUs as an exact fraction: thousandths, but 167, 333, 667 and 833 thousandths mean
 * sixths and thirds (a catalogue that prints 0.167 means 1/6). Both outputs > 0 for a positive
 * count. */
void gpu_count_fraction(int32_t gpu_count_milli, int64_t *ret_numerator, int64_t *ret_denominator);

/* Fills per_gpu_hour and per_node_hour from the quoted amount for a node of so many GPUs. False
 * when a result is not in 1 … INT64_MAX micro-dollars (a price that rounds to nothing is no price).
 */
bool price_derive(struct price *price, int32_t gpu_count_milli);

/* Order of identity: billing, term_months, min_gpus, upfront_percent, plan (NULL first, bytes). 0
 * means the same price. */
int price_compare_identity(const struct price *a, const struct price *b);

/* What is due at once for one GPU: upfront_percent x price x 730 h x term_months, half-even; 0 when
 * not reserved or unknown. */
int64_t price_upfront_per_gpu_microusd(const struct price *price);

#endif
