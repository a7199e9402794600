/* What a search computes of an offer, computed the slow way: whole nodes, prices for units of a
 * GPU, words. For the oracle. */
#ifndef RACKRATE_TESTS_SUPPORT_ORACLE_FACTS_H
#define RACKRATE_TESTS_SUPPORT_ORACLE_FACTS_H

#include "server/model/offer.h"
#include "server/model/provider.h"

/* Whole nodes for `gpus` (a parameter's text), counted one by one; one for NULL. */
int64_t oracle_nodes(const struct offer *offer, const char *gpus);

/* Thousandths of GPUs on so many nodes, rounded half to even. */
int64_t oracle_gpus_milli(const struct offer *offer, int64_t nodes);

/* Whether the price is for that many GPUs and at most `most` an hour for all; NULL: any. */
bool oracle_tier_meets(const struct offer *offer, const struct price *price, const char *gpus,
                       const char *most);

/* Whether so many GPUs are known to be in stock; true for NULL. */
bool oracle_stock_meets(const struct offer *offer, const char *gpus);

/* Micro-dollars an hour for a GB of memory (0), a TFLOP/s (1), a TB/s (2); UNKNOWN where nobody
 * knows. */
int64_t oracle_unit_microusd(const struct offer *offer, const struct price *price, int unit);

/* Whether each word of `q` begins a word of the provider, the GPU or the place. ASCII only. */
bool oracle_words_meet(const struct offer *offer, const struct provider *provider, const char *q);

#endif
