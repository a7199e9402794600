/* `fields=`: which parts of an offer an answer holds. The text of a row is never parsed: beside it
 * lies a table of where each of its values ends, made as it was rendered, and what lies between
 * values is always the same. A choice is compiled once into the pieces to copy; neighbours in the
 * text are one piece. Pure; any thread. */
#ifndef RACKRATE_CATALOG_FIELDS_H
#define RACKRATE_CATALOG_FIELDS_H

#include "server/base/arena.h"
#include "server/catalog/fragment.h"

/* Most fields an answered offer has, with those of the second level. */
#define FIELDS_MAX 96

/* What to copy for one or several neighbouring fields: `glue` first, then their value. */
struct field_piece {
    const char *glue;
    uint8_t glue_length;
    uint8_t kind;  /* see fields.c */
    uint8_t first; /* leaves of the text, or the number of a member */
    uint8_t last;
    uint8_t lead;  /* bytes before the first leaf that belong to it: `{"slug":` */
    uint8_t trail; /* bytes behind the last: `}` */
};

struct field_choice {
    struct field_piece pieces[FIELDS_MAX];
    size_t piece_count;
    const char *end; /* `}` or `}}` */
    size_t end_length;
    size_t glue_length; /* of all */
};

/* The fields there are, in the order of an answer: `id`, `provider`, `provider.slug`, … */
size_t field_count(void);
const char *field_name(size_t index);
/* Index of a name, or field_count(). */
size_t field_find(const char *name);

/* Compiles a choice: chosen[i] is 1 for wanted fields; those within a wanted object are cleared.
 * Lives in the arena. */
const struct field_choice *field_choice_make(uint8_t *chosen, struct arena *arena);

/* A choice as the columns of a table: objects stand for their members. */
struct field_columns {
    const char *names[FIELDS_MAX];
    struct field_piece pieces[FIELDS_MAX];
    size_t count;
};
const struct field_columns *field_columns_make(const uint8_t *chosen, struct arena *arena);
/* The columns of a search that chose none: those of an upload's CSV, with id, provider, what the
 * GPU and the place are, and what the market says of the price. */
const struct field_columns *field_columns_default(struct arena *arena);

/* Writes the row as a line of CSV with its end; `scratch` is kept between rows. */
void fields_write_csv(const struct field_columns *columns, const struct segment *segment,
                      uint32_t row, uint32_t entry, const struct fragment_splice *splice,
                      struct buf *scratch, struct buf *out);
void fields_write_csv_header(const struct field_columns *columns, struct buf *out);

/* Asks the processor to fetch what writing will touch. */
void fields_prefetch(const struct field_choice *choice, const struct segment *segment, uint32_t row,
                     uint32_t entry);

/* As fragment_bound and fragment_write, with the chosen fields only. */
size_t fields_bound(const struct field_choice *choice, const struct segment *segment, uint32_t row,
                    uint32_t entry, const struct fragment_splice *splice);
char *fields_write(const struct field_choice *choice, char *out, const struct segment *segment,
                   uint32_t row, uint32_t entry, const struct fragment_splice *splice);

#endif
