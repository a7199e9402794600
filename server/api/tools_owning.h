/* What renting or buying takes of owning: its inputs with defaults and sources, the machines whose
 * prices were published, and the published figures beside the exact ones. */
#ifndef RACKRATE_API_TOOLS_OWNING_H
#define RACKRATE_API_TOOLS_OWNING_H

#include "server/api/tool_inputs.h"
#include "server/market/rent_or_buy.h"

/* Inputs of GET /v1/tools/rent-vs-buy, in the order in which they are shown. */
enum rent_input {
    RENT_MACHINE_PRICE,
    RENT_SUPPORT,
    RENT_GPUS_PER_MACHINE,
    RENT_GPUS,
    RENT_YEARS,
    RENT_SALES_TAX,
    RENT_NETWORK,
    RENT_POWER,
    RENT_HOSTING_PRICE,
    RENT_HANDS_PRICE,
    RENT_HANDS_HOURS,
    RENT_SPARES,
    RENT_DOWNTIME,
    RENT_PEOPLE,
    RENT_FINANCE,
    RENT_RESIDUAL,
    RENT_ELECTRICITY,
    RENT_PUE,
    RENT_SITE_PRICE,
    RENT_SITE_YEARS,
    RENT_PRICE,
    RENT_TERM,
    RENT_UTILIZATION,
    RENT_FALL,
    RENT_INPUT_COUNT
};
enum rent_choice {
    RENT_CHOICE_MACHINE,
    RENT_CHOICE_HOSTING,
    RENT_CHOICE_BILLING,
    RENT_CHOICE_COUNT
};

extern const struct tool rent_tool;

/* Puts the price and support of the chosen machine where none were given. */
void owning_choose_machine(struct tool_value *values, size_t machine);

/* The values as the calculator takes them. */
struct ownership_input owning_input(const struct tool_value *values);

/* Adds `"published":{…}`: the parts of an hour as they were published beside the exact ones of the
 * same inputs, and each machine whose price was published. Always the same bytes. */
void owning_write_published(struct buf *out);

#endif
