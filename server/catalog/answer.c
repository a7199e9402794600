/* The answer of a search. */
#include "server/base/timestamp.h"
#include "server/catalog/facets.h"
#include "server/catalog/rows.h"

void query_answer(struct snapshot *snapshot, const struct query *query, int64_t now_us,
                  struct arena *arena, struct buf *out, const char **ret_cursor)
{
    struct search_result result = search_run(snapshot, query, now_us, arena);
    size_t shown = result.hit_count > query->limit ? query->limit : result.hit_count;
    char as_of[TIMESTAMP_TEXT_SIZE];
    *ret_cursor = NULL;
    if (result.hit_count > shown) {
        char *text = arena_alloc(arena, CURSOR_TEXT_SIZE);
        const struct hit *last = &result.hits[shown - 1];
        cursor_print(query->hash, last->key, last->id, text);
        *ret_cursor = text;
    }
    if (query->format != ANSWER_JSON) {
        rows_write_header(query, out);
        rows_write(snapshot, query, result.hits, shown, now_us, arena, out);
        return;
    }
    buf_add_string(out, "{\"data\":[");
    rows_write(snapshot, query, result.hits, shown, now_us, arena, out);
    buf_add_string(out, "],\"total\":");
    buf_add_int(out, (int64_t)result.total);
    buf_add_json_member_string(out, "next_cursor", *ret_cursor);
    if (snapshot->as_of_us != TIMESTAMP_UNKNOWN)
        timestamp_print(snapshot->as_of_us, as_of);
    buf_add_json_member_string(out, "as_of",
                               snapshot->as_of_us == TIMESTAMP_UNKNOWN ? NULL : as_of);
    if (query->facets != 0) {
        buf_add_json_key(out, "facets");
        facets_write(snapshot, query, now_us, arena, out);
    }
    buf_add_json_key(out, "query");
    buf_add_string(out, query->canonical);
    buf_add_char(out, '}');
}
