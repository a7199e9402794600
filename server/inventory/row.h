/* One row on its way to an offer: where its issues go, and what all formats share once the fields
 * are read. */
#ifndef RACKRATE_INVENTORY_ROW_H
#define RACKRATE_INVENTORY_ROW_H

#include "server/inventory/decoding.h"

/* Issues listed of one row; a row with more says so in its last. */
#define ROW_ISSUES_MAX 20

struct row {
    struct decoding *decoding;
    int64_t number;          /* from 1 */
    const char *external_id; /* once known; in the caller's arena */
    const char *prefix;      /* of pointers: "/offers/3", or "" */
    size_t errors_before;    /* issues the upload had before this row */
    /* A CSV's rows behind each price: pointers become column names, and an issue of price i is one
     * of that row. NULL for other formats. */
    const int64_t *price_rows;
    /* A foreign catalogue: doubts are flags and warnings, not errors, and these are its names for
     * the price and the memory of a GPU. */
    bool foreign;
    const char *price_path, *vram_path;
};

/* Starts a row: prefix and number as the format counts. */
void row_begin(struct row *row, struct decoding *decoding, int64_t number, const char *prefix);

/* Records an error or a warning; `path` follows the prefix ("/prices/0/term_months"), message is
 * printf-like; both are copied. */
void row_error(struct row *row, const char *path, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void row_warning(struct row *row, const char *path, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool row_failed(const struct row *row);

/* An offer with every fact unknown. */
struct offer offer_unknown(void);

/* What every format does last: checks prices against each other, derives the other figure of each,
 * sorts them, resolves GPU and place, sets the flags that need no market. Texts of the offer are in
 * the pool, `prices` in the caller's arena; it is sorted in place. Errors are recorded in the row.
 */
void row_finish_offer(struct row *row, struct offer *offer, struct price *prices,
                      size_t price_count);

#endif
