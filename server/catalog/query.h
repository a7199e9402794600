/* A search: the one parsed form of GET /v1/offers' parameters, and running it. Pure; any thread. */
#ifndef RACKRATE_CATALOG_QUERY_H
#define RACKRATE_CATALOG_QUERY_H

#include "server/catalog/catalog.h"

struct query; /* lives in the arena it was parsed into */

/* A decoded name=value of the query string, in order. Values hold valid UTF-8 without NUL. */
struct query_parameter {
    const char *name;
    const char *value;
};

/* Why a parameter was refused. */
struct query_error {
    const char *parameter;
    const char *code;    /* unknown_parameter, repeated_parameter, not_a_number, out_of_range,
                            unknown_value, bad_cursor … */
    const char *message; /* a sentence with the nearest known name where there is one */
};

/* Parses and validates every parameter against the table of known ones and the snapshot (a gpu,
 * region or provider that is neither known nor uploaded is an error). Gives the number of errors
 * (all of them are reported, up to 20), 0 = *ret_query is good. */
size_t query_parse(const struct query_parameter *parameters, size_t count,
                   struct snapshot *snapshot, struct arena *arena, struct query **ret_query,
                   struct query_error **ret_errors);

/* The canonical text of a query without its cursor: the same for all spellings that mean the same.
 */
const char *query_canonical(const struct query *query);

enum answer_format { ANSWER_JSON, ANSWER_NDJSON, ANSWER_CSV };
enum answer_format query_format(const struct query *query);

/* Whether all of the result is asked for, not a page: such a query is read with row_stream.h. */
bool query_is_whole(const struct query *query);

/* Runs the query and writes a page into `out`: as JSON {"data","total","next_cursor","as_of",
 * "query"}, else its rows, a line each (CSV with a header); *ret_cursor is the next cursor's text
 * in the arena, or NULL on the last page. */
void query_answer(struct snapshot *snapshot, const struct query *query, int64_t now_us,
                  struct arena *arena, struct buf *out, const char **ret_cursor);

#endif
