/* All in whole micro-dollars; products stay below 2^63 for votes up to INDEX_PRICE_MAX_MICROUSD. */
#include "server/market/index.h"

#include "server/base/decimal.h"
#include "server/base/sort.h"
#include "server/model/offer.h"
#include "server/reference/gpu.h"

const char *index_reason_name(enum index_reason reason)
{
    static const char *const names[INDEX_REASON_COUNT] = {
#define X(name, text) [INDEX_##name] = text,
        INDEX_REASONS(X)
#undef X
    };
    return names[reason];
}

unsigned index_doubtful_billings(uint32_t flags)
{
    const unsigned all = (1U << BILLING_COUNT) - 1;
    const uint32_t of_the_price = OFFER_FLAGS_OF_MARKET | OFFER_FLAG(VRAM_FITS_NO_VARIANT);
    if ((flags & of_the_price) != 0)
        return all;
    return ((flags & OFFER_FLAG(SPOT_NOT_CHEAPER)) != 0 ? 1U << BILLING_SPOT : 0) |
           ((flags & OFFER_FLAG(LONGER_TERM_DEARER)) != 0 ? 1U << BILLING_RESERVED : 0);
}

enum index_reason index_gpu_reason(uint16_t index)
{
    const struct gpu *gpu = gpu_at(index);
    if (index == gpu_unrecognized())
        return INDEX_UNRECOGNIZED;
    if (gpu->form_factor == FORM_UNDISCLOSED)
        return INDEX_UNDISCLOSED_FORM;
    return gpu->is_family ? INDEX_UNDISCLOSED_VARIANT : INDEX_INCLUDED;
}

/* (count - 1) x quarters / 4 from the lowest, linear between neighbours. */
static int64_t quantile(const uint64_t *sorted, size_t count, size_t quarters)
{
    size_t position = (count - 1) * quarters, rest = position % 4;
    int64_t low = (int64_t)sorted[position / 4];
    if (rest == 0)
        return low;
    int64_t high = (int64_t)sorted[position / 4 + 1];
    return decimal_muldiv_half_even(low * (int64_t)(4 - rest) + high * (int64_t)rest, 1, 4, NULL);
}

int64_t index_median(const uint64_t *sorted, size_t count)
{
    return quantile(sorted, count, 2);
}

static bool is_reseller(const struct index_vote *vote)
{
    return vote->origin != vote->provider;
}

static void drop_resold(struct index_vote *votes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; is_reseller(&votes[i]) && j < count; j++) {
            bool source = votes[j].provider == votes[i].origin;
            bool earlier = is_reseller(&votes[j]) && votes[j].origin == votes[i].origin &&
                           votes[j].order < votes[i].order;
            if (source || earlier) {
                votes[i].reason = INDEX_RESOLD;
                break;
            }
        }
    }
}

/* Votes that count, sorted. */
static size_t collect(const struct index_vote *votes, size_t count, uint64_t *sorted,
                      uint64_t *scratch)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (votes[i].reason == INDEX_INCLUDED)
            sorted[kept++] = (uint64_t)votes[i].microusd;
    }
    sort_u64(sorted, scratch, kept);
    return kept;
}

static int64_t distance(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

/* The median of the distances of sorted prices from their median: outwards from the middle, the
 * nearer side first, up to the middle distance. */
static int64_t median_deviation(const uint64_t *sorted, size_t count, int64_t median)
{
    size_t above = 0, taken = 0;
    uint64_t last[2] = {0, 0};
    while (above < count && (int64_t)sorted[above] < median)
        above++;
    for (size_t below = above; taken <= count / 2; taken++) {
        int64_t left = below > 0 ? median - (int64_t)sorted[below - 1] : INT64_MAX;
        int64_t right = above < count ? (int64_t)sorted[above] - median : INT64_MAX;
        last[0] = last[1];
        last[1] = (uint64_t)(left < right ? left : right);
        if (left < right)
            below--;
        else
            above++;
    }
    return count % 2 == 1 ? (int64_t)last[1] : index_median(last, 2);
}

/* Marks outliers around the median of `sorted`; whether there were any. */
static bool drop_outliers(struct index_vote *votes, size_t count, const uint64_t *sorted,
                          size_t kept)
{
    bool any = false;
    int64_t median = index_median(sorted, kept);
    int64_t spread = median_deviation(sorted, kept, median), least = median / 20;
    if (spread < least)
        spread = least;
    for (size_t i = 0; i < count; i++) {
        if (votes[i].reason == INDEX_INCLUDED &&
            distance(votes[i].microusd, median) * 6745 > spread * 35000) {
            votes[i].reason = INDEX_OUTLIER;
            any = true;
        }
    }
    return any;
}

struct index_figures index_settle(struct index_vote *votes, size_t count, uint64_t *scratch)
{
    struct index_figures figures = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, 0, 0};
    uint64_t *sorted = scratch + count;
    for (size_t i = 0; i < count; i++)
        votes[i].reason = INDEX_INCLUDED;
    drop_resold(votes, count);
    size_t kept = collect(votes, count, sorted, scratch);
    if (kept >= INDEX_OUTLIER_VOTES_MIN && drop_outliers(votes, count, sorted, kept))
        kept = collect(votes, count, sorted, scratch);
    if (kept == 0)
        return figures;
    figures.min = (int64_t)sorted[0];
    figures.p25 = quantile(sorted, kept, 1);
    figures.median = quantile(sorted, kept, 2);
    figures.p75 = quantile(sorted, kept, 3);
    figures.max = (int64_t)sorted[kept - 1];
    figures.providers = (uint32_t)kept;
    for (size_t i = 0; i < count; i++)
        figures.offers += votes[i].reason == INDEX_INCLUDED ? votes[i].offers : 0;
    return figures;
}

void index_figures_write(struct buf *out, const struct index_figures *figures)
{
    buf_add_json_key(out, "price_per_gpu_hour");
    buf_add_char(out, '{');
    buf_add_json_member_decimal(out, "min", figures->min, 6);
    buf_add_json_member_decimal(out, "p25", figures->p25, 6);
    buf_add_json_member_decimal(out, "median", figures->median, 6);
    buf_add_json_member_decimal(out, "p75", figures->p75, 6);
    buf_add_json_member_decimal(out, "max", figures->max, 6);
    buf_add_char(out, '}');
    buf_add_json_member_int(out, "offers", figures->offers);
    buf_add_json_member_int(out, "providers", figures->providers);
}
