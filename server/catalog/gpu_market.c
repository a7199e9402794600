/* What readers look up of a GPU's votes, written down: figures, what prices are held against, and
 * the JSON of both, of which what did not change keeps its text. */
#include "server/base/decimal.h"
#include "server/catalog/market_tally.h"
#include "server/catalog/rank.h"
#include "server/reference/gpu.h"

#include <string.h>

/* A row's JSON rarely takes more. */
#define ROW_LENGTH_USUAL 512

/* What is rendered before it is known how much room it takes. */
struct rendering {
    struct market_comparables comparables[COMMITMENT_COUNT * CLUSTER_SIZE_COUNT];
    uint32_t row[COMMITMENT_COUNT], row_length[COMMITMENT_COUNT];
};

static bool is_unsettled(const struct market_tally *tally, unsigned cell)
{
    return (tally->unsettled[cell / 64] >> (cell % 64) & 1) != 0;
}

static void write_comparables(struct buf *text, const struct comparables *comparables)
{
    char *start = buf_reserve(text, 160), *at = start;
    at = stpcpy(at, "\"comparables\":{\"level\":\"");
    at = stpcpy(at, comparables_level_name(comparables->level));
    at = stpcpy(at, "\",\"providers\":");
    at += decimal_print(comparables->providers, 0, at);
    at = stpcpy(at, ",\"median_price_per_gpu_hour\":");
    if (comparables->median_microusd < 0)
        at = stpcpy(at, "null");
    else
        at += decimal_print(comparables->median_microusd, 6, at);
    *at++ = '}';
    text->length += (size_t)(at - start);
}

static bool same_comparables(const struct comparables *a, const struct comparables *b)
{
    return a->level == b->level && a->providers == b->providers &&
           a->median_microusd == b->median_microusd;
}

/* What each price is held against. */
static void judge(struct rendering *rendering, const struct market_tally *tally,
                  const struct gpu_market *base, struct buf *text)
{
    bool reserved_same = base != NULL && !is_unsettled(tally, CELL_RESERVED);
    for (unsigned cell = 0; cell < COMMITMENT_COUNT * CLUSTER_SIZE_COUNT; cell++) {
        unsigned commitment = cell / CLUSTER_SIZE_COUNT;
        bool is_reserved = commitment >= COMMITMENT_RESERVED_1;
        struct market_comparables *to = &rendering->comparables[cell];
        const struct market_comparables *old = base == NULL ? NULL : &base->comparables[cell];
        if (old != NULL && !is_unsettled(tally, cell) &&
            !is_unsettled(tally, CELL_TERM(commitment)) && (!is_reserved || reserved_same)) {
            to->comparables = old->comparables;
        } else {
            const struct index_figures *levels[COMPARABLES_LEVEL_COUNT] = {
                &tally->cells[cell].figures,
                &tally->cells[CELL_TERM(commitment)].figures,
                &tally->cells[CELL_RESERVED].figures,
            };
            to->comparables = comparables_choose(levels, is_reserved ? COMPARABLES_LEVEL_COUNT
                                                                     : COMPARABLES_TERM + 1);
        }
        if (cell % CLUSTER_SIZE_COUNT > 0 &&
            same_comparables(&to[-1].comparables, &to->comparables)) {
            to->text = to[-1].text; /* as sizes have that few offer */
            to->text_length = to[-1].text_length;
            continue;
        }
        to->text = (uint32_t)text->length;
        if (old != NULL && same_comparables(&old->comparables, &to->comparables))
            buf_add(text, base->text + old->text, old->text_length);
        else
            write_comparables(text, &to->comparables);
        to->text_length = (uint32_t)(text->length - to->text);
    }
}

static void write_figures(struct gpu_market *market, const struct market_tally *tally,
                          const struct gpu_market *base)
{
    for (unsigned c = 0; c < COMMITMENT_COUNT; c++) {
        const struct tally_cell *term = &tally->cells[CELL_TERM(c)];
        market->world[c] = term->figures;
        memcpy(market->excluded[c], tally->excluded[c], sizeof(market->excluded[c]));
        market->excluded[c][INDEX_RESOLD] = term->resold;
        market->excluded[c][INDEX_OUTLIER] = term->outliers;
    }
    if (base != NULL)
        memcpy(market->continents, base->continents, sizeof(market->continents));
    for (unsigned i = CELL_CONTINENT(0, 0); i < CELL_COUNT; i++) {
        uint64_t changed = base == NULL ? 1 : tally->unsettled[i / 64] >> (i % 64);
        if (changed == 0)
            i |= 63; /* nor does any other of this word */
        else if ((changed & 1) != 0)
            market->continents[i - CELL_CONTINENT(0, 0)] = tally->cells[i].figures;
    }
}

/* `market` has its figures; its text grows behind that of the comparables. */
static void write_rows(struct rendering *rendering, const struct gpu_market *market,
                       const struct market_tally *tally, uint16_t rank,
                       const struct gpu_market *base, struct buf *text)
{
    for (unsigned c = 0; c < COMMITMENT_COUNT; c++) {
        rendering->row[c] = (uint32_t)text->length;
        bool same =
            base != NULL && !is_unsettled(tally, CELL_TERM(c)) && (tally->recounted >> c & 1) == 0;
        if (same)
            buf_add(text, base->text + base->row[c], base->row_length[c]);
        else
            market_write_row(market, gpu_of_rank(rank), (enum commitment)c, CONTINENT_COUNT, text);
        rendering->row_length[c] = (uint32_t)(text->length - rendering->row[c]);
    }
}

static bool is_empty(const struct market_tally *tally)
{
    bool empty = tally->part_count == 0;
    for (size_t i = 0; i < COMMITMENT_COUNT * INDEX_REASON_COUNT && empty; i++)
        empty = tally->excluded[i / INDEX_REASON_COUNT][i % INDEX_REASON_COUNT] == 0;
    return empty;
}

struct gpu_market *gpu_market_make(struct market_tally *tally, uint16_t rank,
                                   const struct gpu_market *base, struct buf *scratch)
{
    struct gpu_market *market = NULL;
    buf_clear(scratch);
    if (!is_empty(tally)) {
        struct rendering rendering;
        judge(&rendering, tally, base, scratch);
        size_t room = scratch->length + COMMITMENT_COUNT * ROW_LENGTH_USUAL;
        market = xmalloc(sizeof(*market) + room);
        atomic_init(&market->references, 1);
        write_figures(market, tally, base);
        write_rows(&rendering, market, tally, rank, base, scratch);
        memcpy(market->comparables, rendering.comparables, sizeof(market->comparables));
        memcpy(market->row, rendering.row, sizeof(market->row));
        memcpy(market->row_length, rendering.row_length, sizeof(market->row_length));
        if (scratch->length > room)
            market = xrealloc(market, sizeof(*market) + scratch->length);
        memcpy(market->text, scratch->data, scratch->length);
    }
    memset(tally->unsettled, 0, sizeof(tally->unsettled));
    tally->recounted = 0;
    return market;
}
