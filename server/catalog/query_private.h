/* Inside of a query: what parsing leaves for searching. Immutable once parsed; lives in its arena.
 */
#ifndef RACKRATE_CATALOG_QUERY_PRIVATE_H
#define RACKRATE_CATALOG_QUERY_PRIVATE_H

#include "server/catalog/kernels.h"
#include "server/catalog/latency_query.h"
#include "server/catalog/query.h"
#include "server/catalog/segment.h"

#define QUERY_LIMIT_DEFAULT 50
#define QUERY_LIMIT_MAX     500
#define QUERY_LIST_MAX      100
#define QUERY_ERRORS_MAX    20
#define QUERY_FILTERS_MAX   32
#define QUERY_FACETS_MAX    16
#define QUERY_NUMBER_MAX                                                                           \
    2000000 /* largest bound a numeric filter takes: columns hold thousandths in 32 bits */

enum filter_kind {
    FILTER_BITS,    /* any of `bits` in a byte */
    FILTER_RANGE32, /* low <= value <= high */
    FILTER_RANGE64,
    FILTER_LIST32, /* one of `values` */
    FILTER_RUNS,   /* in one of `runs` of 16-bit ranks */
    FILTER_TABLE,  /* nonzero in `table`, by 16-bit rank */
};

/* One test of one column. `column` is the offset of the column's pointer in struct segment. */
struct filter {
    enum filter_kind kind;
    size_t column;
    uint8_t bits;
    int64_t low;
    int64_t high;
    const int32_t *values;
    const struct rank_run *runs;
    const uint8_t *table;
    size_t count; /* of values or runs */
};

/* GPUs of one rank with memory of one size: what "A100 80GB" adds to the variants of that size. */
struct sized_gpu {
    uint16_t rank;
    int32_t vram_gb_milli;
};

/* A choice of GPUs or places: (in `either`, or uploaded under one of `names`, or sized so) and in
 * `also`. */
struct choice {
    uint8_t *either; /* by rank, one byte each; NULL: any */
    uint8_t *also;   /* NULL: any */
    uint64_t names[QUERY_LIST_MAX];
    size_t name_count;
    struct sized_gpu sized[QUERY_LIST_MAX];
    size_t sized_count;
};
static inline bool choice_has_extra(const struct choice *choice)
{
    return choice->name_count > 0 || choice->sized_count > 0;
}

enum query_sort {
    SORT_PRICE,
    SORT_TOTAL_PRICE,
    SORT_PER_VRAM_GB,
    SORT_PER_TFLOP,
    SORT_PER_TBPS,
    SORT_LATENCY,
    SORT_VRAM,
    SORT_UPDATED,
    SORT_COUNT
};

struct field_choice;
struct field_columns;

struct query {
    struct filter filters[QUERY_FILTERS_MAX];
    size_t filter_count;
    struct choice gpus;
    struct choice places;
    const struct query_latency *latency; /* from where `near` says; NULL: it doesn't */

    /* Of one and the same price. */
    bool price_filtered;
    uint8_t billing_bits; /* 0: any */
    uint8_t verdict_bits; /* 0: any */
    uint8_t term_bits;    /* of `terms`, see term_bit */
    bool term_bits_tell;  /* a price with one of these terms has one of the billings asked for */
    uint8_t *terms;       /* by term_months, 0 … PRICE_TERM_MONTHS_MAX; NULL: any */
    int64_t min_price_microusd;
    int64_t max_price_microusd;
    int64_t max_total_microusd; /* per hour of all nodes for gpus_milli */
    int64_t gpus_milli;         /* how many are wanted in all; UNKNOWN: one node, in stock or not */

    const char **words; /* folded, sorted, each once; see word_filter.h */
    size_t word_count;

    /* Of the provider. */
    const char **providers; /* slugs; NULL: any */
    size_t provider_count;
    uint8_t kind_bits;                /* 0: any */
    int32_t min_sla_percent_milli;    /* UNKNOWN: any */
    int burn_in, monitoring, on_site; /* -1: any */

    uint32_t facets; /* bits 1 << enum facet (facets.h) */
    /* By facet: this query without the parameters that are the facet's own; NULL: it has none. */
    const struct query *facet_queries[QUERY_FACETS_MAX];

    bool include_stale;
    enum query_sort sort;
    bool reversed;
    size_t limit; /* 0: the whole result, streamed */
    enum answer_format format;
    const struct field_choice *fields;   /* NULL: all */
    const struct field_columns *columns; /* of CSV */

    bool has_cursor; /* only offers after (cursor_key, cursor_id) */
    int64_t cursor_key;
    struct offer_key cursor_id;

    const char *canonical; /* also the answer's "query" object */
    uint64_t hash;         /* of all but limit and cursor; what cursors are bound to */
};

/* Cursors: where a page ended, bound to a query. */
#define CURSOR_TEXT_SIZE 64
void cursor_print(uint64_t query_hash, int64_t key, struct offer_key id,
                  char out[static CURSOR_TEXT_SIZE]);
/* False where the text is no cursor of this query. */
bool cursor_parse(const char *text, uint64_t query_hash, int64_t *ret_key,
                  struct offer_key *ret_id);

#endif
