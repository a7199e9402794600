/* A price on its way to its provider's vote: one 64-bit key, which sorts by commitment and amount
 * and carries behind them what else a vote asks for. Prices of reservations have a second key, for
 * the votes over all terms. Pure; only files of this room include it. */
#ifndef RACKRATE_CATALOG_MARKET_KEY_H
#define RACKRATE_CATALOG_MARKET_KEY_H

#include "server/catalog/market_table.h"

/* Commitment, or KEY_RESERVED (4 bits); amount (44); what does not matter to the order (16). An
 * amount of 0 stands for an offer that is left out of the commitment, its reason behind it. */
#define KEY_COMMITMENT_SHIFT 60
#define KEY_AMOUNT_SHIFT     16
#define KEY_SIZE_SHIFT       5
#define KEY_SIZE_MASK        (UINT64_C(3) << KEY_SIZE_SHIFT)
#define KEY_CONTINENT_SHIFT  2
#define KEY_CONTINENT_MASK   (UINT64_C(7) << KEY_CONTINENT_SHIFT)
#define KEY_FIRST            UINT64_C(1) /* of its offer under this commitment */
#define KEY_FIRST_SIZED      UINT64_C(2) /* and of this cluster size */

#define KEY_RESERVED COMMITMENT_COUNT /* stands for all reserved commitments together */
#define KEY_GROUPS   (KEY_RESERVED + 1U)

static inline unsigned key_group(uint64_t key)
{
    return (unsigned)(key >> KEY_COMMITMENT_SHIFT);
}
static inline uint64_t key_amount(uint64_t key)
{
    return key >> KEY_AMOUNT_SHIFT & INDEX_PRICE_MAX_MICROUSD;
}
static inline enum index_reason key_reason(uint64_t key) /* of a key without amount */
{
    return (enum index_reason)(key & 0xffff);
}
static inline unsigned key_size(uint64_t key)
{
    return (unsigned)(key >> KEY_SIZE_SHIFT & 3);
}
static inline unsigned key_continent(uint64_t key)
{
    return (unsigned)(key >> KEY_CONTINENT_SHIFT & 7);
}

/* The keys of a row's prices, in no order; their number. `cutoff_us` by slot, NULL where nothing is
 * stale. */
#define ROW_KEYS_MAX (2 * OFFER_PRICES_MAX)
size_t market_row_keys(const int64_t *cutoff_us, const struct segment *segment, uint32_t row,
                       uint64_t keys[static ROW_KEYS_MAX]);

#endif
