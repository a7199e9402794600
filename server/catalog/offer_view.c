/* One offer as answered: as in a search, and each of its prices with its own verdict. */
#include "server/base/decimal.h"
#include "server/catalog/latency_query.h"
#include "server/catalog/market_table.h"
#include "server/catalog/tier.h"

#include <stdlib.h>

static int compare_offsets(const void *a, const void *b, void *closure)
{
    const struct segment *segment = closure;
    uint32_t x = segment->entry_text[*(const uint32_t *)a],
             y = segment->entry_text[*(const uint32_t *)b];
    return (x > y) - (x < y);
}

/* The row's text with a verdict at the end of each price. */
static struct row_text with_verdicts(const struct moment *moment, const struct segment *segment,
                                     uint32_t row, struct buf *text)
{
    const struct row_text *own = &segment->text[row];
    uint32_t first = segment->entry_start[row], count = segment->entry_start[row + 1] - first;
    uint32_t *order = xcalloc(count, sizeof(*order)), done = 0;
    char verdict[MARKET_VERDICT_SIZE];
    for (uint32_t i = 0; i < count; i++)
        order[i] = first + i;
    qsort_r(order, count, sizeof(*order), compare_offsets, (void *)(uintptr_t)segment);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t end = segment->entry_text[order[i]] + segment->entry_length[order[i]] - 1;
        buf_add(text, own->bytes + done, end - done);
        buf_add(text, verdict,
                market_write_verdict(moment->market, segment, row, order[i], verdict));
        done = end;
    }
    uint32_t added = (uint32_t)text->length - done;
    buf_add(text, own->bytes + done, own->length - done);
    free(order);
    return (struct row_text){
        .bytes = text->data,
        .length = (uint32_t)text->length,
        .observed = own->observed + added, /* prices come before it */
        .observed_length = own->observed_length,
    };
}

static void write_row(struct snapshot *snapshot, const struct segment *segment, uint32_t row,
                      int64_t now_us, struct buf *out)
{
    const struct moment *moment = snapshot_moment(snapshot, now_us);
    struct fragment_splice splice =
        snapshot_splice(snapshot, segment, row, staleness_clock(now_us));
    uint32_t entry = segment->entry_start[row];
    char tail[TIER_TEXT_SIZE + MARKET_VERDICT_SIZE];
    struct buf buf = {0};
    struct row_text text = with_verdicts(moment, segment, row, &buf);
    struct arena arena = {0};
    splice.text = &text;
    splice_contradiction(snapshot, segment, row, &arena, &splice);
    splice.price_tail = tail;
    splice.price_tail_length = tier_write(segment, row, entry, UNKNOWN, tail);
    splice.price_tail_length +=
        market_write_verdict(moment->market, segment, row, entry, tail + splice.price_tail_length);
    char *start = buf_reserve(out, fragment_bound(segment, row, entry, &splice));
    char *end = fragment_write(start, segment, row, entry, &splice);
    *end = '\0';
    out->length += (size_t)(end - start);
    buf_free(&buf);
    arena_free(&arena);
}

static bool write_offer(struct snapshot *snapshot, struct offer_key key, int64_t now_us,
                        struct buf *out, int64_t *ret_version)
{
    for (size_t i = snapshot->segment_count; i-- > 0;) {
        const struct segment *segment = snapshot->segments[i];
        uint32_t row = segment_find(segment, key);
        if (row == UINT32_MAX || !alive_has(snapshot->alive[i], row))
            continue;
        if (snapshot->slots[segment->provider[row]]->provider.suspended)
            return false;
        write_row(snapshot, segment, row, now_us, out);
        if (ret_version != NULL)
            *ret_version = segment->version[row];
        return true;
    }
    return false;
}

bool snapshot_write_offer_by_id(struct snapshot *snapshot, const uint8_t id[static OFFER_ID_BYTES],
                                int64_t now_us, struct buf *out, int64_t *ret_version)
{
    return write_offer(snapshot, offer_key_of(id), now_us, out, ret_version);
}

bool snapshot_write_offer(struct snapshot *snapshot, const char *provider_slug,
                          const char *external_id, int64_t now_us, struct buf *out,
                          int64_t *ret_version)
{
    uint8_t id[OFFER_ID_BYTES];
    offer_id(provider_slug, external_id, id);
    return write_offer(snapshot, offer_key_of(id), now_us, out, ret_version);
}
