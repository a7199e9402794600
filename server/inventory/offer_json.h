/* An offer out of its JSON shape, every member checked. */
#ifndef RACKRATE_INVENTORY_OFFER_JSON_H
#define RACKRATE_INVENTORY_OFFER_JSON_H

#include "server/inventory/json_reader.h"
#include "server/inventory/row.h"

/* Reads one offer; issues go to the row. True when it is good. */
bool offer_from_json(struct row *row, const struct json_value *value, struct offer *ret_offer);

#endif
