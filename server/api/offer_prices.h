/* One offer's prices and extra costs, as the calculators need them, out of its answered form. */
#ifndef RACKRATE_API_OFFER_PRICES_H
#define RACKRATE_API_OFFER_PRICES_H

#include "server/catalog/catalog.h"
#include "server/http/http.h"
#include "server/model/offer.h"

struct offer_prices {
    const char *id;
    const char *provider; /* slug */
    const char *external_id;
    const char *gpu; /* slug */
    int32_t gpu_count_milli;
    struct extra_costs extra_costs;
    struct price *prices; /* in the offer's order */
    size_t price_count;
};

/* Reads the offer that the parameter `offer` names, into the request's arena. False with a 400 in
 * the reply where that is no id, or no offer has it. Loop or worker. */
bool offer_prices_read(struct request *request, struct reply *reply, struct snapshot *snapshot,
                       struct offer_prices *ret);

/* Writes `"offer":{id, provider, external_id, gpu, gpu_count}`. */
void offer_prices_write(struct buf *out, const struct offer_prices *offer);

/* Writes the members that tell one price from another: billing, term_months, plan, min_gpus,
 * max_gpus, upfront_percent. */
void offer_price_write_identity(struct buf *out, const struct price *price);

#endif
