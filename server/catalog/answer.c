/* The answer of a search: fragments joined in one buffer, grown once. */
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/catalog/market_table.h"
#include "server/catalog/search.h"

static void write_rows(struct snapshot *snapshot, const struct query *query,
                       const struct search_result *result, size_t shown, int64_t now_us,
                       struct arena *arena, struct buf *out)
{
    int64_t clock_us = staleness_clock(now_us);
    struct gpu_market *const *market = snapshot_moment(snapshot, now_us)->market;
    struct fragment_splice *splices = arena_calloc(arena, shown, sizeof(*splices));
    char *verdicts = arena_alloc(arena, shown * MARKET_VERDICT_SIZE);
    size_t bound = 512;
    for (size_t i = 0; i < shown; i++) {
        const struct hit *hit = &result->hits[i];
        const struct segment *segment = snapshot->segments[hit->segment];
        const struct row_text *text = &segment->text[hit->row];
        for (uint32_t at = 0; at < text->length; at += 64)
            __builtin_prefetch(text->bytes + at);
        splices[i] = snapshot_splice(snapshot, segment, hit->row, clock_us);
        splices[i].verdict = verdicts + i * MARKET_VERDICT_SIZE;
        splices[i].verdict_length = market_write_verdict(market, segment, hit->row, hit->entry,
                                                         verdicts + i * MARKET_VERDICT_SIZE);
        splices[i].latency = query_latency_cell(query->latency, segment->place_rank[hit->row]);
        splice_contradiction(snapshot, segment, hit->row, arena, &splices[i]);
        bound += fragment_bound(segment, hit->row, hit->entry, &splices[i]) + 1;
    }
    char *at = buf_reserve(out, bound), *start = at;
    for (size_t i = 0; i < shown; i++) {
        const struct hit *hit = &result->hits[i];
        if (i > 0)
            *at++ = ',';
        at =
            fragment_write(at, snapshot->segments[hit->segment], hit->row, hit->entry, &splices[i]);
    }
    *at = '\0';
    out->length += (size_t)(at - start);
}

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
    buf_add_string(out, "{\"data\":[");
    write_rows(snapshot, query, &result, shown, now_us, arena, out);
    buf_add_string(out, "],\"total\":");
    buf_add_int(out, (int64_t)result.total);
    buf_add_json_member_string(out, "next_cursor", *ret_cursor);
    if (snapshot->as_of_us != TIMESTAMP_UNKNOWN)
        timestamp_print(snapshot->as_of_us, as_of);
    buf_add_json_member_string(out, "as_of",
                               snapshot->as_of_us == TIMESTAMP_UNKNOWN ? NULL : as_of);
    buf_add_json_key(out, "query");
    buf_add_string(out, query->canonical);
    buf_add_char(out, '}');
}
