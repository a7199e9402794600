/* Inside db/: an offer's columns (OFFER_COLUMNS) as a struct and back, in binary. */
#ifndef RACKRATE_DB_OFFER_ROW_H
#define RACKRATE_DB_OFFER_ROW_H

#include "db/connection.h"
#include "server/model/offer.h"

#define OFFER_COLUMN_COUNT 35

/* What a stored offer has beside struct offer. */
struct offer_row {
    struct offer offer;
    uint8_t id[OFFER_ID_BYTES];
    uint8_t hash[OFFER_HASH_BYTES];
    int64_t created_at_us;
    bool unknown_gpu;   /* its GPU's slug is not known to this build */
    bool unknown_place; /* nor its place's */
};

/* Reads one row; everything goes into the arena, derived figures included. False where a value is
 * none this program knows. */
bool offer_row_read(struct db_row *row, struct arena *arena, struct offer_row *ret_row);

/* Writes all fields of one COPY row (without the count of columns). Uses the connection's type
 * oids. */
void offer_row_write(const struct db_connection *connection, struct buf *out, int64_t provider_id,
                     const struct offer_row *row);

/* A `price[]` field of COPY; none at all is NULL. `wanted` (or NULL) picks some. */
void price_array_write(const struct db_connection *connection, struct buf *out,
                       const struct price *prices, size_t count, const bool *wanted);
/* The prices of a `price[]` column, derived for a node of so many GPUs. Unset (NULL) gives none.
 * False where malformed. */
bool price_array_read(struct db_row *row, struct arena *arena, int32_t gpu_count_milli,
                      struct price **ret_prices, size_t *ret_count);

#endif
