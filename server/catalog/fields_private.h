/* What compiling a choice of fields and writing it share; no other file includes it. */
#ifndef RACKRATE_CATALOG_FIELDS_PRIVATE_H
#define RACKRATE_CATALOG_FIELDS_PRIVATE_H

#include "server/catalog/fields.h"

enum field_kind {
    FIELD_ID,
    FIELD_TEXT,       /* leaves first … last of the row's text */
    FIELD_OBJECT,     /* the same with its braces; a piece is FIELD_TEXT with lead and trail */
    FIELD_PROVIDER,   /* member `first` of the provider, or WHOLE */
    FIELD_PRICE,      /* of the price's own object */
    FIELD_PRICE_TAIL, /* of what the query and the market say of it */
    FIELD_STALE,
    FIELD_TRUST,
    FIELD_LATENCY_MS,
    FIELD_LATENCY_KIND,
    FIELD_EVIDENCE,
};
#define WHOLE 255

/* What stands before each leaf in the text. */
extern const char *const leaf_before[LEAF_COUNT];

#endif
