/* The tables: made for a moment, and what readers look up in them. */
#include "server/catalog/market_tally.h"

#include "server/base/decimal.h"
#include "server/catalog/market.h"
#include "server/catalog/rank.h"
#include "server/reference/gpu.h"

#include <stdlib.h>
#include <string.h>

/* A reseller of a reseller of …: further is a circle. */
#define CHAIN_MAX 8

struct gpu_market *gpu_market_reference(struct gpu_market *market)
{
    if (market != NULL)
        atomic_fetch_add_explicit(&market->references, 1, memory_order_relaxed);
    return market;
}

void gpu_market_release(struct gpu_market *market)
{
    if (market != NULL &&
        atomic_fetch_sub_explicit(&market->references, 1, memory_order_acq_rel) == 1)
        free(market);
}

static const struct index_figures no_figures = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, 0, 0};

void market_table_free(struct gpu_market **table)
{
    for (uint16_t rank = 0; table != NULL && rank < gpu_count(); rank++)
        gpu_market_release(table[rank]);
    free(table);
}

static int64_t cutoff_of(struct market_cutoffs cutoffs, size_t slot)
{
    return cutoffs.us == NULL || slot >= cutoffs.count ? INT64_MIN : cutoffs.us[slot];
}

void market_each_turned(const struct snapshot *snapshot, struct market_cutoffs before,
                        struct market_cutoffs after,
                        void (*turned)(void *closure, const struct segment *segment, uint32_t row),
                        void *closure)
{
    /* An offer turned when its time lies between the two cut-offs of its provider. */
    int64_t *low = xcalloc(snapshot->slot_count + 1, sizeof(*low));
    int64_t *high = xcalloc(snapshot->slot_count + 1, sizeof(*high));
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
                turned(closure, segment, row);
        }
    }
    free(low);
    free(high);
}

static void mark_rank(void *closure, const struct segment *segment, uint32_t row)
{
    ((bool *)closure)[segment->gpu_rank[row]] = true;
}

/* The markets of the GPUs that are `wanted` (NULL: all), those of the others from `base`. */
static struct gpu_market **make_table(const struct market_source *source, const bool *wanted,
                                      struct gpu_market *const *base)
{
    struct gpu_market **table = xcalloc(gpu_count(), sizeof(struct gpu_market *));
    struct market_slots slots = market_slots_make(source->snapshot);
    struct tally_room room = {.slots = &slots};
    struct buf text = {0};
    for (uint16_t rank = 0; rank < gpu_count(); rank++) {
        if (wanted != NULL && !wanted[rank]) {
            table[rank] = gpu_market_reference(base[rank]);
            continue;
        }
        struct market_tally *tally = market_tally_of(source, rank, &room);
        if (tally != NULL)
            table[rank] = gpu_market_make(tally, rank, NULL, &text);
        market_tally_free(tally);
    }
    buf_free(&text);
    tally_room_free(&room);
    market_slots_free(&slots);
    return table;
}

struct gpu_market **market_table_make(const struct market_source *source)
{
    return make_table(source, NULL, NULL);
}

struct gpu_market **market_table_turn(const struct market_source *source, const struct moment *base)
{
    bool *turned = xcalloc(gpu_count(), sizeof(*turned));
    const struct market_cutoffs before = {base->cutoff_us, base->slot_count},
                                after = {source->cutoff_us, source->snapshot->slot_count};
    market_each_turned(source->snapshot, before, after, mark_rank, turned);
    struct gpu_market **table = make_table(source, turned, base->market);
    free(turned);
    return table;
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

static void write_excluded(struct buf *out, const struct gpu_market *market,
                           enum commitment commitment)
{
    buf_add_json_key(out, "excluded");
    buf_add_char(out, '{');
    for (unsigned reason = INDEX_INCLUDED + 1; reason < INDEX_REASON_COUNT; reason++) {
        uint32_t offers = market->excluded[commitment][reason];
        if (offers > 0)
            buf_add_json_member_int(out, index_reason_name((enum index_reason)reason), offers);
    }
    buf_add_char(out, '}');
}

/* Whether anybody offers a GPU under a commitment, counted or left out. */
static bool is_offered(const struct gpu_market *market, enum commitment commitment)
{
    bool offered = market->world[commitment].providers > 0;
    for (unsigned reason = 0; reason < INDEX_REASON_COUNT && !offered; reason++)
        offered = market->excluded[commitment][reason] > 0;
    return offered;
}

/* The figures of a commitment, of a continent or of all. */
static const struct index_figures *figures_of(const struct gpu_market *market,
                                              enum commitment commitment, enum continent continent)
{
    return continent == CONTINENT_COUNT
               ? &market->world[commitment]
               : &market->continents[commitment * CONTINENT_COUNT + continent];
}

/* What a row is about; names of ours, which need no escapes. */
static void write_names(struct buf *out, const char *gpu, enum commitment commitment,
                        const char *continent)
{
    char *start = buf_reserve(out, strlen(gpu) + 160), *at = start;
    at = stpcpy(stpcpy(at, "{\"gpu\":\""), gpu);
    at = stpcpy(stpcpy(at, "\",\"billing\":\""), billing_name(commitment_billing(commitment)));
    at = stpcpy(stpcpy(at, "\",\"term_bucket\":\""), commitment_term_name(commitment));
    at = stpcpy(at, "\",\"continent\":");
    if (continent == NULL)
        at = stpcpy(at, "null");
    else
        at = stpcpy(stpcpy(stpcpy(at, "\""), continent), "\"");
    out->length += (size_t)(at - start);
}

void market_write_row(const struct gpu_market *market, uint16_t gpu_index,
                      enum commitment commitment, enum continent continent, struct buf *out)
{
    bool world = continent == CONTINENT_COUNT;
    const struct index_figures *figures = figures_of(market, commitment, continent);
    if (world ? !is_offered(market, commitment) : figures->providers == 0)
        return;
    write_names(out, gpu_at(gpu_index)->slug, commitment, world ? NULL : continent_code(continent));
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
