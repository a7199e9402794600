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

/* What is spliced into a row; what is said of its price is written at `tail`. */
static struct fragment_splice splice_of(struct snapshot *snapshot, const struct query *query,
                                        const struct hit *hit, int64_t now_us, char *tail,
                                        struct arena *arena)
{
    const struct segment *segment = snapshot->segments[hit->segment];
    struct gpu_market *const *market = snapshot_moment(snapshot, now_us)->market;
    struct fragment_splice splice =
        snapshot_splice(snapshot, segment, hit->row, staleness_clock(now_us));
    char *end = tail + tier_write(segment, hit->row, hit->entry, query->gpus_milli, tail);
    end += market_write_verdict(market, segment, hit->row, hit->entry, end);
    splice.price_tail = tail;
    splice.price_tail_length = (size_t)(end - tail);
    splice.latency = query_latency_cell(query->latency, segment->place_rank[hit->row]);
    splice_contradiction(snapshot, segment, hit->row, arena, &splice);
    return splice;
}

static void write_cells(struct snapshot *snapshot, const struct query *query,
                        const struct hit *hits, const struct fragment_splice *splices, size_t count,
                        struct buf *out)
{
    struct buf scratch = {0};
    for (size_t i = 0; i < count; i++)
        fields_write_csv(query->columns, snapshot->segments[hits[i].segment], hits[i].row,
                         hits[i].entry, &splices[i], &scratch, out);
    buf_free(&scratch);
}

void rows_write_header(const struct query *query, struct buf *out)
{
    if (query->format == ANSWER_CSV)
        fields_write_csv_header(query->columns, out);
}

void rows_write(struct snapshot *snapshot, const struct query *query, const struct hit *hits,
                size_t count, int64_t now_us, struct arena *arena, struct buf *out)
{
    const struct field_choice *fields = query->fields;
    const char separator = query->format == ANSWER_JSON ? ',' : '\n';
    struct fragment_splice *splices = arena_calloc(arena, count, sizeof(*splices));
    char *tails = arena_alloc(arena, count * (TIER_TEXT_SIZE + MARKET_VERDICT_SIZE)), *tail = tails;
    size_t bound = 512;
    for (size_t i = 0; i < count; i++) {
        const struct hit *hit = &hits[i];
        const struct segment *segment = snapshot->segments[hit->segment];
        prefetch(query, segment, hit);
        splices[i] = splice_of(snapshot, query, hit, now_us, tail, arena);
        tail += splices[i].price_tail_length;
        bound +=
            1 + (fields == NULL ? fragment_bound(segment, hit->row, hit->entry, &splices[i])
                                : fields_bound(fields, segment, hit->row, hit->entry, &splices[i]));
    }
    if (query->format == ANSWER_CSV) {
        write_cells(snapshot, query, hits, splices, count, out);
        return;
    }
    char *at = buf_reserve(out, bound), *start = at;
    for (size_t i = 0; i < count; i++) {
        const struct hit *hit = &hits[i];
        const struct segment *segment = snapshot->segments[hit->segment];
        at = fields == NULL ? fragment_write(at, segment, hit->row, hit->entry, &splices[i])
                            : fields_write(fields, at, segment, hit->row, hit->entry, &splices[i]);
        *at++ = separator;
    }
    if (count > 0 && query->format == ANSWER_JSON)
        at--;
    *at = '\0';
    out->length += (size_t)(at - start);
}
