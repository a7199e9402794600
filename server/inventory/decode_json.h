/* Walks the offers of a JSON body one at a time, so that the tree of only one is in memory. */
#ifndef RACKRATE_INVENTORY_DECODE_JSON_H
#define RACKRATE_INVENTORY_DECODE_JSON_H

#include "server/inventory/decoding.h"
#include "server/inventory/json_reader.h"

/* Takes the value of a row; its tree lives until the next. */
typedef void take_value(struct decoding *decoding, void *closure, const struct json_value *value,
                        int64_t row);

/* The items of "offers". With `others`, further members of the object are read and passed over;
 * else they are an error. */
enum decode_status json_offers_walk(struct decoding *decoding, bool others, take_value *take,
                                    void *closure);

/* The lines. With a slug, lines that cannot hold it are passed over unread. */
enum decode_status ndjson_walk(struct decoding *decoding, const char *slug, take_value *take,
                               void *closure);

#endif
