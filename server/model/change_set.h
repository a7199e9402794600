/* A change set: what one write does to one provider's inventory. Decoding and validating make an
 * upload, differencing it against a baseline makes the change set; dry run prints it, the database
 * writes it, the catalogue applies it. Everything lives in the arena of whoever made it and is
 * immutable afterwards. */
#ifndef RACKRATE_MODEL_CHANGE_SET_H
#define RACKRATE_MODEL_CHANGE_SET_H

#include "server/model/offer.h"

/* Why a row was refused, or a doubt about one that was taken. */
struct row_issue {
    int64_t row; /* from 1, as the format counts (a CSV header is row 1); 0 for the whole upload */
    const char *external_id; /* NULL where the row had none */
    const char *pointer; /* JSON pointer into the upload (`/offers/3/prices/0/term_months`), or a
                            CSV column's name */
    const char *code;    /* stable word: `missing_field`, `wrong_type`, `out_of_range`,
                            `duplicate_external_id` … */
    const char *message; /* a sentence that says what is wrong and what would be right */
};

struct row_issues {
    struct row_issue *items;
    size_t count;
    size_t capacity;
};

/* A decoded and validated upload. */
struct upload {
    struct offer *offers; /* sorted by external_id (bytes), each once */
    size_t offer_count;
    struct row_issues errors;   /* rejected rows */
    struct row_issues warnings; /* rows taken with a doubt */
    int64_t rows_read;
    int64_t rejected; /* offers or rows refused; errors may hold several issues of one row */
    int64_t skipped;  /* rows that are no offer (a machine without a GPU in a catalogue) */
};

/* What is stored of a provider's inventory, as far as differencing needs it. */
struct baseline_entry {
    const char *external_id;
    uint8_t hash[OFFER_HASH_BYTES]; /* offer_content_hash of the stored offer */
};
struct baseline {
    int64_t version;                      /* the provider's version this is the state of */
    const struct baseline_entry *entries; /* sorted by external_id (bytes) */
    size_t entry_count;
};

enum change_kind { CHANGE_CREATED, CHANGE_UPDATED, CHANGE_REMOVED };

struct change {
    enum change_kind kind;
    const char *external_id;
    const struct offer *before;     /* filled by the database under the provider's lock for updated
                                       rows; NULL otherwise */
    const struct offer *after;      /* NULL when removed */
    uint8_t hash[OFFER_HASH_BYTES]; /* of after */
    uint32_t fields; /* offer_compare_fields of an updated row, once `before` is known */
};

enum change_mode {
    CHANGE_REPLACE, /* what the upload lacks is removed */
    CHANGE_UPSERT,  /* what the upload lacks stays */
    CHANGE_DELETE,  /* what the upload names is removed */
};

struct change_set {
    enum change_mode mode;
    int64_t base_version;   /* of the baseline it was made against */
    struct change *changes; /* created, updated and removed, sorted by external_id; unchanged ones
                               are only counted */
    size_t change_count;
    int64_t created;
    int64_t updated;
    int64_t unchanged;
    int64_t removed;
};

/* Adds an issue, growing the list in the arena of `struct arena`. Strings are kept by reference. */
struct arena;
void row_issues_add(struct arena *arena, struct row_issues *issues, int64_t row,
                    const char *external_id, const char *pointer, const char *code,
                    const char *message);

#endif
