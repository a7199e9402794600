/* The parameters of a search as data: name, how its value is read, and what it filters. Only
 * parsing includes this. */
#ifndef RACKRATE_CATALOG_PARAMETER_H
#define RACKRATE_CATALOG_PARAMETER_H

#include "server/base/buf.h"
#include "server/catalog/query_private.h"

struct parse;

struct parameter {
    const char *name;
    /* Reads the value into the query and writes its canonical JSON to parse->json; false with an
     * error noted. */
    bool (*read)(struct parse *parse, const struct parameter *parameter, const char *value);
    size_t
        field; /* offset of a column's pointer in struct segment, or of a member of struct query */
    unsigned decimals;                 /* of a number */
    int64_t highest;                   /* of a number, scaled by its decimals */
    const char *(*name_of)(int value); /* of an enum: its words, NULL where a value has none */
    int name_count;
    const char *fallback; /* value in force when not given; NULL none */
};

extern const struct parameter parameter_table[];
extern const size_t parameter_count;

/* A parse under way. */
struct parse {
    struct snapshot *snapshot;
    struct arena *arena;
    struct query *query;
    bool pages;      /* a cursor was given: even a table comes page by page */
    struct buf json; /* the query object so far */
    struct query_error *errors;
    size_t error_count;
};

/* Notes an error (all but the first QUERY_ERRORS_MAX are counted out); gives false. */
bool parse_refuse(struct parse *parse, const char *parameter, const char *code,
                  const char *message);

/* The values of a comma list, in the arena; NULL with an error where an item is empty or there are
 * too many. */
const char **parse_split(struct parse *parse, const struct parameter *parameter, const char *value,
                         size_t *ret_count);

/* A plain non-negative decimal of at most parameter->highest; false with an error. */
bool parse_number(struct parse *parse, const struct parameter *parameter, const char *text,
                  int64_t *ret_value);

/* At most the first 40 bytes of a value, for messages. */
const char *parse_excerpt(struct parse *parse, const char *value);

/* "… is no X here", with the nearest known name where there is one (may be NULL). */
bool parse_unknown_value(struct parse *parse, const struct parameter *parameter, const char *value,
                         const char *what, const char *nearest);

/* Sorts names, drops doubles and writes them as a JSON array. */
void parse_write_names(struct parse *parse, const char **names, size_t count);

/* Narrows a choice's `also` to ranks with a mark in `keep`. */
void parse_narrow(struct parse *parse, struct choice *choice, const uint8_t *keep, size_t count);

/* Readers. `column` in their names: field is a column; the others know their member. */
bool read_column_minimum(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_column_maximum(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_column_minimum64(struct parse *parse, const struct parameter *parameter,
                           const char *value);
bool read_column_bits(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_counts(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_gpu(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_vendor(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_form_factor(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_region(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_country(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_continent(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_near(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_max_latency(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_billing(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_verdict(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_terms(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_max_term(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_price(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_gpus(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_words(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_provider(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_provider_kind(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_sla(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_provider_fact(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_updated_since(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_include_stale(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_sort(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_facets(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_limit(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_format(struct parse *parse, const struct parameter *parameter, const char *value);
bool read_fields(struct parse *parse, const struct parameter *parameter, const char *value);

#endif
