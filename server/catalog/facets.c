/* One pass over the matches for all facets that are counted under the same filters. What a facet
 * goes by is a code: of a table by the row's GPU, place or provider, or a bit of an enum. Prices
 * are then dealt out by code, and the middle of each hand is found without sorting it. */
#include "server/catalog/facets.h"

#include "server/base/decimal.h"
#include "server/base/sort.h"
#include "server/catalog/facet_codes.h"
#include "server/market/index.h"

#include <stdlib.h>
#include <string.h>

/* Counts of fewer rows are made anew faster than they are found among many. */
#define KEPT_ROWS_MIN 2000

/* What one facet has gathered: of the rows (in the order of struct pass.prices), or of prices of
 * its own. */
struct tally {
    enum facet facet;
    struct facet_codes codes;
    uint32_t *of_row;
    uint64_t *own_prices; /* of a facet that counts prices, not rows */
    size_t count, capacity;
};

/* Facets under the same filters. */
struct pass {
    const struct query *query; /* these filters */
    struct plan plan;
    struct tally tallies[FACET_COUNT];
    size_t tally_count;
    uint64_t *prices; /* of rows, where some tally counts rows */
    size_t count, capacity;
};

struct value {
    const struct facet_codes *codes;
    uint32_t code;
    size_t offers;
    uint64_t min_microusd, low_microusd, high_microusd;
};

static bool is_asked(const struct query *query, int facet)
{
    return (query->facets >> facet & 1) != 0;
}

/* The query whose filters a facet is counted under. */
static const struct query *filters_of(const struct query *asked, int facet)
{
    return asked->facet_queries[facet] == NULL ? asked : asked->facet_queries[facet];
}

static bool counts_prices(enum facet facet)
{
    return facet == FACET_BILLING || facet == FACET_TERM_MONTHS;
}

/* ---- gathering ---- */

static uint64_t price_of(const struct pass *pass, const struct segment *segment,
                         const struct block *block, size_t i)
{
    uint32_t row = (uint32_t)(block->first + i);
    if (block->prices[i] < PRICE_CUT_DEAR && !block->least_only)
        return (uint64_t)block->prices[i];
    uint32_t entry = pass->query->price_filtered ? match_entry(&pass->plan, segment, row)
                                                 : segment->entry_start[row];
    return (uint64_t)segment->entry_microusd[entry];
}

static void reserve_rows(struct pass *pass, size_t more)
{
    if (pass->count + more <= pass->capacity)
        return;
    pass->capacity = pass->capacity * 2 + more;
    pass->prices = xrealloc(pass->prices, pass->capacity * sizeof(*pass->prices));
    for (size_t t = 0; t < pass->tally_count; t++) {
        struct tally *tally = &pass->tallies[t];
        if (!counts_prices(tally->facet))
            tally->of_row = xrealloc(tally->of_row, pass->capacity * sizeof(*tally->of_row));
    }
}

static void add_price(struct tally *tally, uint32_t code, int64_t microusd)
{
    if (tally->count == tally->capacity) {
        tally->capacity = tally->capacity * 2 + 1024;
        tally->of_row = xrealloc(tally->of_row, tally->capacity * sizeof(*tally->of_row));
        tally->own_prices =
            xrealloc(tally->own_prices, tally->capacity * sizeof(*tally->own_prices));
    }
    tally->of_row[tally->count] = code;
    tally->own_prices[tally->count++] = (uint64_t)microusd;
}

static inline uint32_t price_code(enum facet facet, const struct segment *segment, uint32_t entry)
{
    return facet == FACET_TERM_MONTHS ? segment->entry_term[entry]
                                      : (uint32_t)__builtin_ctz(segment->entry_billing[entry]);
}

/* The cheapest matching price of each billing or term of a row. */
static void gather_prices(const struct pass *pass, struct tally *tally,
                          const struct segment *segment, uint32_t row)
{
    uint32_t first = segment->entry_start[row];
    size_t before = tally->count;
    for (uint32_t entry = first; entry < segment->entry_start[row + 1]; entry++) {
        uint32_t code = price_code(tally->facet, segment, entry);
        size_t at = before;
        while (at < tally->count && tally->of_row[at] != code)
            at++;
        if (at == tally->count &&
            (!pass->query->price_filtered || match_one_entry(&pass->plan, segment, row, entry)))
            add_price(tally, code, segment->entry_microusd[entry]);
    }
}

/* Codes of the block's matches; those of tables without a call a row. */
static void gather_codes(struct tally *tally, const struct segment *segment,
                         const struct block *block, size_t at)
{
    struct facet_codes *codes = &tally->codes;
    uint32_t *out = tally->of_row + at;
    if (codes->table != NULL) {
        const uint16_t *column = facet_column(codes, segment), *table = codes->table;
        column += block->first;
        FOR_EACH_ROW(block->mask, block_words(block), i)
        {
            *out++ = table[column[i]];
        }
        return;
    }
    FOR_EACH_ROW(block->mask, block_words(block), j)
    {
        *out++ = facet_code(codes, segment, (uint32_t)(block->first + j));
    }
}

static void gather_block(struct pass *pass, const struct segment *segment,
                         const struct block *block)
{
    size_t words = block_words(block), first = pass->count;
    reserve_rows(pass, block->count);
    FOR_EACH_ROW(block->mask, words, i)
    {
        pass->prices[pass->count++] = price_of(pass, segment, block, i);
    }
    for (size_t t = 0; t < pass->tally_count; t++) {
        struct tally *tally = &pass->tallies[t];
        if (!counts_prices(tally->facet)) {
            gather_codes(tally, segment, block, first);
            continue;
        }
        FOR_EACH_ROW(block->mask, words, j)
        {
            gather_prices(pass, tally, segment, (uint32_t)(block->first + j));
        }
    }
}

static void gather(struct pass *pass, struct snapshot *snapshot)
{
    struct block block;
    for (size_t s = 0; s < snapshot->segment_count && !pass->plan.finds_nothing; s++) {
        struct segment_view view = plan_view(&pass->plan, s);
        for (struct row_run run = {0}; plan_next_run(&view, false, &run);) {
            for (size_t at = run.first; at < run.last; at = block.first + block.count) {
                match_block(&view, &run, at, &block);
                gather_block(pass, view.segment, &block);
            }
        }
    }
}

/* ---- counting ---- */

static int compare_values(const void *a, const void *b)
{
    const struct value *x = a, *y = b;
    if (x->offers != y->offers)
        return x->offers > y->offers ? -1 : 1;
    return facet_code_compare(x->codes, x->code, y->code);
}

/* Deals the prices out by code; gives the values in the order they are printed. */
static struct value *count_values(const struct pass *pass, const struct tally *tally,
                                  size_t *ret_count)
{
    bool own = counts_prices(tally->facet);
    const uint64_t *prices = own ? tally->own_prices : pass->prices;
    size_t rows = own ? tally->count : pass->count, codes = facet_code_count(&tally->codes);
    size_t *start = xcalloc(codes + 1, sizeof(*start));
    uint64_t *dealt = xmalloc(rows * sizeof(*dealt));
    struct value *values = xcalloc(codes, sizeof(*values));
    size_t count = 0;
    for (size_t i = 0; i < rows; i++)
        start[tally->of_row[i] + 1]++;
    for (size_t code = 0; code < codes; code++)
        start[code + 1] += start[code];
    for (size_t i = 0; i < rows; i++)
        dealt[start[tally->of_row[i]]++] = prices[i];
    for (size_t code = 0, from = 0; code < codes; from = start[code++]) {
        size_t offers = start[code] - from; /* which now is where the next code begins */
        struct value *value = &values[count];
        if (offers == 0)
            continue;
        *value = (struct value){.codes = &tally->codes, .code = (uint32_t)code, .offers = offers};
        value->min_microusd = UINT64_MAX;
        for (size_t i = from; i < from + offers; i++)
            value->min_microusd = dealt[i] < value->min_microusd ? dealt[i] : value->min_microusd;
        sort_middle_u64(dealt + from, offers, &value->low_microusd, &value->high_microusd);
        count++;
    }
    free(start);
    free(dealt);
    qsort(values, count, sizeof(*values), compare_values);
    *ret_count = count;
    return values;
}

static void write_tally(const struct pass *pass, const struct tally *tally, struct buf *out)
{
    size_t count;
    struct value *values = count_values(pass, tally, &count);
    buf_add_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        const struct value *value = &values[i];
        const uint64_t middle[2] = {value->low_microusd, value->high_microusd};
        buf_add_string(out, i > 0 ? ",{\"value\":" : "{\"value\":");
        facet_code_write(value->codes, value->code, out);
        buf_add_json_member_int(out, "offers", (int64_t)value->offers);
        buf_add_json_member_decimal(out, "min_price_per_gpu_hour", (int64_t)value->min_microusd, 6);
        buf_add_json_member_decimal(out, "median_price_per_gpu_hour", index_median(middle, 2), 6);
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
    free(values);
}

static void free_pass(struct pass *pass)
{
    for (size_t t = 0; t < pass->tally_count; t++) {
        free(pass->tallies[t].of_row);
        free(pass->tallies[t].own_prices);
        facet_codes_free(&pass->tallies[t].codes);
    }
    free(pass->prices);
}

/* Counts the facets that go by the filters of `query`, of those asked for and not yet there. */
static void write_pass(struct snapshot *snapshot, const struct query *asked,
                       const struct query *query, int64_t now_us, struct arena *arena,
                       struct buf texts[FACET_COUNT])
{
    struct pass pass = {.query = query};
    /* Only what a moment keeps changes in it. */
    struct moment *moment = (struct moment *)(uintptr_t)snapshot_moment(snapshot, now_us);
    for (int facet = 0; facet < FACET_COUNT; facet++) {
        if (!is_asked(asked, facet) || filters_of(asked, facet) != query || texts[facet].length > 0)
            continue;
        struct tally *tally = &pass.tallies[pass.tally_count++];
        *tally = (struct tally){.facet = (enum facet)facet};
        facet_codes_make(&tally->codes, tally->facet, snapshot, query, arena);
    }
    plan_make(&pass.plan, snapshot, query, now_us, arena);
    gather(&pass, snapshot);
    for (size_t t = 0; t < pass.tally_count; t++) {
        enum facet facet = pass.tallies[t].facet;
        write_tally(&pass, &pass.tallies[t], &texts[facet]);
        if (pass.count >= KEPT_ROWS_MIN)
            facet_shelf_add(&moment->facets, query->hash, (int)facet, texts[facet].data,
                            texts[facet].length);
    }
    free_pass(&pass);
}

void facets_write(struct snapshot *snapshot, const struct query *query, int64_t now_us,
                  struct arena *arena, struct buf *out)
{
    struct moment *moment = (struct moment *)(uintptr_t)snapshot_moment(snapshot, now_us);
    struct buf texts[FACET_COUNT] = {{0}};
    bool first = true;
    for (int facet = 0; facet < FACET_COUNT; facet++) {
        size_t length;
        const char *kept =
            is_asked(query, facet)
                ? facet_shelf_find(&moment->facets, filters_of(query, facet)->hash, facet, &length)
                : NULL;
        if (kept != NULL)
            buf_add(&texts[facet], kept, length);
    }
    for (int facet = 0; facet < FACET_COUNT; facet++) {
        if (is_asked(query, facet) && texts[facet].length == 0)
            write_pass(snapshot, query, filters_of(query, facet), now_us, arena, texts);
    }
    buf_add_char(out, '{');
    for (int facet = 0; facet < FACET_COUNT; facet++) {
        if (!is_asked(query, facet))
            continue;
        buf_add_string(out, first ? "\"" : ",\"");
        buf_add_string(out, facet_name((enum facet)facet));
        buf_add_string(out, "\":");
        buf_add(out, texts[facet].data, texts[facet].length);
        buf_free(&texts[facet]);
        first = false;
    }
    buf_add_char(out, '}');
}
