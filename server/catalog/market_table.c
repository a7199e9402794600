/* The tables' parts: what changed, votes by cell, and what readers look up. */
#include "server/catalog/market_table.h"

#include "server/base/decimal.h"
#include "server/catalog/market.h"
#include "server/catalog/rank.h"
#include "server/reference/gpu.h"

#include <stdlib.h>
#include <string.h>

/* A reseller of a reseller of …: further is a circle. */
#define CHAIN_MAX 8

void gpu_market_release(struct gpu_market *market)
{
    if (market == NULL ||
        atomic_fetch_sub_explicit(&market->references, 1, memory_order_acq_rel) != 1)
        return;
    for (unsigned cell = 0; cell < CELL_COUNT; cell++)
        market_cell_release(market->cells[cell]);
    for (size_t i = 0; i < market->part_count; i++)
        provider_part_release(market->parts[i]);
    free(market->parts);
    free(market->text);
    free(market);
}

void market_cell_release(struct market_cell *cell)
{
    if (cell != NULL && atomic_fetch_sub_explicit(&cell->references, 1, memory_order_acq_rel) == 1)
        free(cell);
}

void provider_part_release(struct provider_part *part)
{
    if (part != NULL && atomic_fetch_sub_explicit(&part->references, 1, memory_order_acq_rel) == 1)
        free(part);
}

static const struct index_figures no_figures = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, 0, 0};

const struct index_figures *market_cell_figures(const struct market_cell *cell)
{
    return cell == NULL ? &no_figures : &cell->figures;
}

void market_table_free(struct gpu_market **table)
{
    for (uint16_t rank = 0; table != NULL && rank < gpu_count(); rank++)
        gpu_market_release(table[rank]);
    free(table);
}

void market_changes_add(struct market_changes *changes, uint16_t gpu_rank, uint16_t slot)
{
    uint32_t pair = (uint32_t)gpu_rank << 16 | slot;
    if (changes->all || (changes->count > 0 && changes->pairs[changes->count - 1] == pair))
        return;
    if (changes->count == changes->capacity) {
        changes->capacity = changes->capacity * 2 + 64;
        changes->pairs = xrealloc(changes->pairs, changes->capacity * sizeof(*changes->pairs));
    }
    changes->pairs[changes->count++] = pair;
}

void market_changes_free(struct market_changes *changes)
{
    free(changes->pairs);
    *changes = (struct market_changes){0};
}

static int64_t cutoff_of(const struct moment *moment, size_t slot)
{
    return moment->cutoff_us == NULL || slot >= moment->slot_count ? INT64_MIN
                                                                   : moment->cutoff_us[slot];
}

void market_changes_add_turned(struct market_changes *changes, const struct snapshot *snapshot,
                               const struct moment *before, const struct moment *after)
{
    if (changes->all || (before->cutoff_us == NULL && after->cutoff_us == NULL))
        return;
    /* An offer turned when its time lies between the two cut-offs of its provider. */
    int64_t *low = xcalloc(snapshot->slot_count, sizeof(*low));
    int64_t *high = xcalloc(snapshot->slot_count, sizeof(*high));
    bool any = false;
    for (size_t slot = 0; slot < snapshot->slot_count; slot++) {
        int64_t x = cutoff_of(before, slot), y = cutoff_of(after, slot);
        low[slot] = x < y ? x : y;
        high[slot] = x < y ? y : x;
        any = any || x != y;
    }
    for (size_t s = 0; s < snapshot->segment_count && any; s++) {
        const struct segment *segment = snapshot->segments[s];
        for (uint32_t row = 0; row < segment->row_count; row++) {
            uint16_t slot = segment->provider[row];
            int64_t own = segment->own_us[row];
            if (own >= low[slot] && own < high[slot] && segment->is_sample[row] == 0 &&
                alive_has(snapshot->alive[s], row))
                market_changes_add(changes, segment->gpu_rank[row], slot);
        }
    }
    free(low);
    free(high);
}

/* The slot whose machines `slot` rents out in the end; behind all slots one number for each name
 * that is no provider here. */
static uint32_t origin_of(const struct snapshot *snapshot, const uint32_t *origins, size_t slot)
{
    const char *name = NULL;
    size_t at = slot;
    for (int i = 0; i < CHAIN_MAX; i++) {
        const char *resells = snapshot->slots[at]->provider.resells;
        if (resells == NULL)
            return (uint32_t)at;
        name = resells;
        at = snapshot_slot(snapshot, name);
        if (at == PROVIDERS_MAX)
            break;
    }
    if (at != PROVIDERS_MAX)
        return (uint32_t)slot; /* a circle: each stands for itself */
    for (size_t i = 0; i < slot; i++) {
        const struct provider_view *view = snapshot->slots[i];
        if (view != NULL && view->provider.resells != NULL &&
            strcmp(view->provider.resells, name) == 0)
            return origins[i];
    }
    return (uint32_t)(PROVIDERS_MAX + slot);
}

struct market_slots market_slots_make(const struct snapshot *snapshot)
{
    struct market_slots slots = {
        .origin = xcalloc(snapshot->slot_count, sizeof(uint32_t)),
        .order = xcalloc(snapshot->slot_count, sizeof(uint32_t)),
    };
    for (size_t i = 0; i < snapshot->provider_count; i++)
        slots.order[snapshot->by_slug[i]] = (uint32_t)i;
    for (size_t slot = 0; slot < snapshot->slot_count; slot++) {
        if (snapshot->slots[slot] != NULL)
            slots.origin[slot] = origin_of(snapshot, slots.origin, slot);
    }
    return slots;
}

void market_slots_free(struct market_slots *slots)
{
    free(slots->origin);
    free(slots->order);
}

size_t market_settle(const struct market_cell *cell, const struct market_slots *slots,
                     struct index_vote *votes, uint64_t *scratch, struct index_figures *ret_figures)
{
    size_t count = cell == NULL ? 0 : cell->count;
    for (size_t i = 0; i < count; i++) {
        const struct contribution *from = &cell->contributions[i];
        votes[i] = (struct index_vote){
            .microusd = from->microusd,
            .offers = from->offers,
            .provider = from->slot,
            .origin = slots->origin[from->slot],
            .order = slots->order[from->slot],
        };
    }
    *ret_figures = index_settle(votes, count, scratch);
    return count;
}

/* Offers of a commitment left out for a reason. */
static uint32_t excluded(const struct gpu_market *market, enum commitment commitment,
                         enum index_reason reason)
{
    const struct market_cell *votes = market->cells[CELL_TERM(commitment)];
    const struct market_cell *counted = market->cells[CELL_EXCLUDED(commitment, reason)];
    if (reason == INDEX_RESOLD || reason == INDEX_OUTLIER)
        return votes == NULL ? 0 : reason == INDEX_RESOLD ? votes->resold : votes->outliers;
    return counted == NULL ? 0 : counted->offers;
}

static bool is_empty(const struct gpu_market *market, enum commitment commitment)
{
    bool empty = market->cells[CELL_TERM(commitment)] == NULL;
    for (unsigned reason = 0; reason < INDEX_REASON_COUNT && empty; reason++)
        empty = market->cells[CELL_EXCLUDED(commitment, reason)] == NULL;
    return empty;
}

static void write_excluded(struct buf *out, const struct gpu_market *market,
                           enum commitment commitment)
{
    buf_add_json_key(out, "excluded");
    buf_add_char(out, '{');
    for (unsigned reason = INDEX_INCLUDED + 1; reason < INDEX_REASON_COUNT; reason++) {
        uint32_t offers = excluded(market, commitment, (enum index_reason)reason);
        if (offers > 0)
            buf_add_json_member_int(out, index_reason_name((enum index_reason)reason), offers);
    }
    buf_add_char(out, '}');
}

/* The figures of a commitment, of a continent or of all. */
static const struct index_figures *figures_of(const struct gpu_market *market,
                                              enum commitment commitment, enum continent continent)
{
    return market_cell_figures(
        market->cells[continent == CONTINENT_COUNT ? CELL_TERM(commitment)
                                                   : CELL_CONTINENT(commitment, continent)]);
}

void market_write_row(const struct gpu_market *market, uint16_t gpu_index,
                      enum commitment commitment, enum continent continent, struct buf *out)
{
    bool world = continent == CONTINENT_COUNT;
    const struct index_figures *figures = figures_of(market, commitment, continent);
    if (world ? is_empty(market, commitment) : figures->providers == 0)
        return;
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "gpu", gpu_at(gpu_index)->slug);
    buf_add_json_member_string(out, "billing", billing_name(commitment_billing(commitment)));
    buf_add_json_member_string(out, "term_bucket", commitment_term_name(commitment));
    buf_add_json_member_string(out, "continent", world ? NULL : continent_code(continent));
    index_figures_write(out, figures);
    if (world)
        write_excluded(out, market, commitment);
    else
        buf_add_string(out, ",\"excluded\":null");
    buf_add_char(out, '}');
}

static const struct gpu_market *market_of(struct snapshot *snapshot, uint16_t gpu_index,
                                          int64_t now_us)
{
    return snapshot_moment(snapshot, now_us)->market[gpu_rank(gpu_index)];
}

bool snapshot_market_figures(struct snapshot *snapshot, uint16_t gpu_index,
                             enum commitment commitment, enum continent continent, int64_t now_us,
                             struct index_figures *ret_figures)
{
    const struct gpu_market *market = market_of(snapshot, gpu_index, now_us);
    *ret_figures = market == NULL ? no_figures : *figures_of(market, commitment, continent);
    return ret_figures->providers > 0;
}

unsigned snapshot_market_commitments(struct snapshot *snapshot, uint16_t gpu_index, int64_t now_us)
{
    const struct gpu_market *market = market_of(snapshot, gpu_index, now_us);
    unsigned bits = 0;
    for (unsigned c = 0; market != NULL && c < COMMITMENT_COUNT; c++)
        bits |= (unsigned)(market->row_length[c] > 0) << c;
    return bits;
}

bool snapshot_market_write(struct snapshot *snapshot, uint16_t gpu_index,
                           enum commitment commitment, enum continent continent, int64_t now_us,
                           struct buf *out)
{
    const struct gpu_market *market = market_of(snapshot, gpu_index, now_us);
    size_t before = out->length;
    if (market != NULL && continent == CONTINENT_COUNT)
        buf_add(out, market->text + market->row[commitment], market->row_length[commitment]);
    else if (market != NULL)
        market_write_row(market, gpu_index, commitment, continent, out);
    return out->length > before;
}

/* For a GPU without a market, which no live price has. */
static const char nothing_text[] =
    "\"comparables\":{\"level\":\"term\",\"providers\":0,\"median_price_per_gpu_hour\":null}";
static const struct market_comparables nothing = {
    .comparables = {.level = COMPARABLES_TERM, .median_microusd = UNKNOWN},
    .text_length = sizeof(nothing_text) - 1,
};

const struct market_comparables *market_comparables_of(struct gpu_market *const *table,
                                                       const struct segment *segment, uint32_t row,
                                                       uint32_t entry, const char **ret_text)
{
    const struct gpu_market *market = table[segment->gpu_rank[row]];
    *ret_text = market == NULL ? nothing_text : market->text;
    return market == NULL ? &nothing : &market->comparables[segment->entry_market[entry]];
}

/* What stands before the ratio and behind the comparables, ready by verdict. Whoever quotes a price
 * so far from the others' is to be asked about four things, which /docs/method explains. */
struct verdict_text {
    const char *before, *behind;
    uint8_t before_length, behind_length;
};
#define ASK_ALL "[\"burn_in\",\"interconnect\",\"hidden_fees\",\"stock\"]"
#define TEXT(name, ask)                                                                            \
    {                                                                                              \
        ",\"verdict\":\"" name "\",\"ratio_to_median\":", ",\"ask\":" ask,                         \
            sizeof(",\"verdict\":\"" name "\",\"ratio_to_median\":") - 1,                          \
            sizeof(",\"ask\":" ask) - 1                                                            \
    }
static const struct verdict_text verdict_texts[VERDICT_COUNT] = {
    [VERDICT_BELOW_MARKET] = TEXT("below_market", ASK_ALL),
    [VERDICT_TYPICAL] = TEXT("typical", "[]"),
    [VERDICT_ABOVE_MARKET] = TEXT("above_market", ASK_ALL),
    [VERDICT_INSUFFICIENT_DATA] = TEXT("insufficient_data", "[]"),
};

size_t market_write_verdict(struct gpu_market *const *table, const struct segment *segment,
                            uint32_t row, uint32_t entry, char *out)
{
    const char *text;
    const struct market_comparables *against =
        market_comparables_of(table, segment, row, entry, &text);
    int64_t microusd = segment->entry_microusd[entry];
    const struct verdict_text *words =
        &verdict_texts[price_verdict(&against->comparables, microusd)];
    int64_t ratio = price_ratio_to_median(&against->comparables, microusd);
    char *at = mempcpy(out, words->before, words->before_length);
    if (ratio < 0)
        at = mempcpy(at, "null", 4);
    else
        at += decimal_print(ratio, 4, at);
    *at++ = ',';
    at = mempcpy(at, text + against->text, against->text_length);
    at = mempcpy(at, words->behind, words->behind_length);
    return (size_t)(at - out);
}
