/* What the three forms of GET /v1/tools/reserve-vs-on-demand share: two prices, an offer, or a GPU
 * in a region. */
#ifndef RACKRATE_API_TOOLS_RESERVE_H
#define RACKRATE_API_TOOLS_RESERVE_H

#include "server/api/app.h"
#include "server/api/tool_inputs.h"
#include "server/market/reservation.h"

enum reserve_input {
    RESERVE_RESERVED_PRICE,
    RESERVE_ON_DEMAND_PRICE,
    RESERVE_TERM,
    RESERVE_UPFRONT,
    RESERVE_GPUS,
    RESERVE_HOURS,
    RESERVE_FALL,
    RESERVE_INPUT_COUNT
};
extern const struct tool reserve_tool;

/* A reservation under the request's expectations: hours a month and yearly fall. */
struct reservation_input reserve_expectations(const struct tool_value *values);

/* Adds the members of a comparison. All are null where result is NULL: there is nothing to compare
 * with. */
void reserve_write_result(struct buf *out, const struct reservation_result *result);

/* Adds formulas, published falls, inputs and as_of, and closes the answer. */
void reserve_finish(struct buf *out, struct snapshot *snapshot, const struct tool_value *values);

/* The answer for a GPU in a region; on a worker. False with a 400 in the reply. */
bool reserve_answer_market(struct request *request, struct reply *reply, struct snapshot *snapshot,
                           const struct tool_value *values);

/* Whether `gpu` and `region` are good; INDEX_NONE for a region that is not given. */
bool reserve_read_market(struct request *request, struct reply *reply, uint16_t *ret_gpu,
                         uint16_t *ret_place);

#endif
