/* One row on its way to an offer: where its issues go, and what all formats share once the fields
 * are read. */
#ifndef RACKRATE_INVENTORY_ROW_H
#define RACKRATE_INVENTORY_ROW_H

#include "server/inventory/inventory.h"

struct row {
    struct arena *arena;
    struct upload *upload;
    const struct decode_options *options;
    int64_t number;          /* from 1 */
    const char *external_id; /* once known */
    const char *prefix;      /* of pointers: "/offers/3", or "" */
    size_t errors_before;    /* issues the upload had before this row */
    bool foreign;            /* a foreign catalogue: doubts are flags and warnings, not errors */
};

/* Starts a row: prefix and number as the format counts. */
void row_begin(struct row *row, struct arena *arena, struct upload *upload,
               const struct decode_options *options, int64_t number, const char *prefix);

/* Records an error or a warning; `path` follows the prefix ("/prices/0/term_months"), message is
 * printf-like, in the arena. */
void row_error(struct row *row, const char *path, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void row_warning(struct row *row, const char *path, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool row_failed(const struct row *row);

/* An offer with every fact unknown. */
struct offer offer_unknown(void);

/* What every format does last: checks prices against each other, derives the other figure of each,
 * sorts them, resolves GPU and place, sets flags. Errors are recorded in the row. `prices` is
 * sorted in place. */
void row_finish_offer(struct row *row, struct offer *offer, struct price *prices,
                      size_t price_count);

/* Appends a finished offer to the upload. */
void upload_add(struct upload *upload, struct arena *arena, const struct offer *offer,
                size_t *capacity);

/* Sorts offers by external_id and refuses later ones with an id that came before. rows holds each
 * offer's row number; a `#` in the pattern stands for the row's index from 0. */
void upload_sort_and_dedupe(struct upload *upload, struct arena *arena, int64_t *rows,
                            const char *pointer_pattern);

#endif
