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

/* Room beside a fragment's: a timestamp, a latency with its decimals, or a word. */
#define SPLICED_BYTES 64

/* One field by itself. */
struct field_piece field_piece_of(size_t index);

/* A walk over the members of a small object; `next` at the key of member `number`. */
struct member_walk {
    const char *first, *next;
    unsigned number;
};

/* A row whose fields are being written one by one. */
struct field_row {
    const struct fragment_splice *splice;
    const char *bytes; /* of its text */
    uint32_t length;
    uint32_t own_length; /* of the text the table was made for */
    struct leaf_table table;
    const char *price;
    size_t price_length;
    struct member_walk provider_members, price_members, tail_members;
};
struct field_row field_row_of(const struct segment *segment, uint32_t row, uint32_t entry,
                              const struct fragment_splice *splice);
/* Writes the value of one piece, without its glue; gives the end. */
char *field_row_put(struct field_row *row, const struct field_piece *piece, char *out);

/* What stands before each leaf in the text. */
extern const char *const leaf_before[LEAF_COUNT];

#endif
