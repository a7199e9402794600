/* Parameters that calls about the market share. Each reader gives false with a 400 in the reply
 * that names the parameter. */
#ifndef RACKRATE_API_MARKET_PARAMETERS_H
#define RACKRATE_API_MARKET_PARAMETERS_H

#include "server/http/http.h"
#include "server/market/commitment.h"

/* GPUs by a comma list of slugs, families or other names: one byte each by index into
 * server/reference, in the request's arena; a family stands for its variants. *ret_set is NULL
 * where the parameter is absent. */
bool parameter_gpus(struct request *request, struct reply *reply, const char *name,
                    uint8_t **ret_set);

/* The one GPU variant a parameter names; required. A family whose variant is open is refused with
 * its variants named. */
bool parameter_variant(struct request *request, struct reply *reply, const char *name,
                       uint16_t *ret_gpu);

/* `billing` and `term_months` (comma lists) as bits 1 << commitment; all where both are absent. A
 * term names its bucket. */
bool parameter_commitments(struct request *request, struct reply *reply, unsigned *ret_bits);

/* `continent`: AF … SA; CONTINENT_COUNT where absent. */
bool parameter_continent(struct request *request, struct reply *reply,
                         enum continent *ret_continent);

/* A 400 for one parameter; gives false. */
bool parameter_refuse(struct request *request, struct reply *reply, const char *parameter,
                      const char *code, const char *message);

#endif
