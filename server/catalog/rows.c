/* Rows: fragments or the chosen fields of them, joined in one buffer, grown once. What lies in
 * memory at random is asked for ahead of its use. */
#include "server/catalog/rows.h"

#include "server/catalog/fields.h"
#include "server/catalog/market_table.h"
#include "server/catalog/tier.h"

static void prefetch(const struct query *query, const struct segment *segment,
                     const struct hit *hit)
{
    if (query->fields != NULL) {
        fields_prefetch(query->fields, segment, hit->row, hit->entry);
        return;
    }
    const struct row_text *text = &segment->text[hit->row];
    for (uint32_t at = 0; at < text->length; at += 64)
        __builtin_prefetch(text->bytes + at);
}

void rows_write(struct snapshot *snapshot, const struct query *query, const struct hit *hits,
                size_t count, char separator, int64_t now_us, struct arena *arena, struct buf *out)
{
    int64_t clock_us = staleness_clock(now_us);
    struct gpu_market *const *market = snapshot_moment(snapshot, now_us)->market;
    const struct field_choice *fields = query->fields;
    struct fragment_splice *splices = arena_calloc(arena, count, sizeof(*splices));
    char *tails = arena_alloc(arena, count * (TIER_TEXT_SIZE + MARKET_VERDICT_SIZE)), *tail = tails;
    size_t bound = 512;
    for (size_t i = 0; i < count; i++) {
        const struct hit *hit = &hits[i];
        const struct segment *segment = snapshot->segments[hit->segment];
        prefetch(query, segment, hit);
        splices[i] = snapshot_splice(snapshot, segment, hit->row, clock_us);
        splices[i].price_tail = tail;
        tail += tier_write(segment, hit->row, hit->entry, query->gpus_milli, tail);
        tail += market_write_verdict(market, segment, hit->row, hit->entry, tail);
        splices[i].price_tail_length = (size_t)(tail - splices[i].price_tail);
        splices[i].latency = query_latency_cell(query->latency, segment->place_rank[hit->row]);
        splice_contradiction(snapshot, segment, hit->row, arena, &splices[i]);
        bound +=
            1 + (fields == NULL ? fragment_bound(segment, hit->row, hit->entry, &splices[i])
                                : fields_bound(fields, segment, hit->row, hit->entry, &splices[i]));
    }
    char *at = buf_reserve(out, bound), *start = at;
    for (size_t i = 0; i < count; i++) {
        const struct hit *hit = &hits[i];
        const struct segment *segment = snapshot->segments[hit->segment];
        if (i > 0)
            *at++ = separator;
        at = fields == NULL ? fragment_write(at, segment, hit->row, hit->entry, &splices[i])
                            : fields_write(fields, at, segment, hit->row, hit->entry, &splices[i]);
    }
    *at = '\0';
    out->length += (size_t)(at - start);
}
