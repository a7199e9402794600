/* All in whole micro-dollars; products stay below 2^63 for votes up to INDEX_PRICE_MAX_MICROUSD. */
#include "server/market/index.h"

#include "server/base/decimal.h"
#include "server/base/sort.h"
#include "server/model/offer.h"
#include "server/reference/gpu.h"

#include <string.h>

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

/* Prices in order: the bits from `shift` up of each value. */
struct sorted {
    const uint64_t *values;
    unsigned shift;
};

static inline int64_t amount_at(struct sorted sorted, size_t index)
{
    return (int64_t)(sorted.values[index] >> sorted.shift);
}

/* (count - 1) x quarters / 4 from the lowest, linear between neighbours; the fourth of a sum is
 * rounded half-even. */
static int64_t quantile(struct sorted sorted, size_t count, size_t quarters)
{
    size_t position = (count - 1) * quarters, rest = position % 4;
    uint64_t low = (uint64_t)amount_at(sorted, position / 4);
    if (rest == 0)
        return (int64_t)low;
    uint64_t sum = low * (4 - rest) + (uint64_t)amount_at(sorted, position / 4 + 1) * rest;
    uint64_t fourth = sum / 4;
    return (int64_t)(fourth + (sum % 4 + (fourth & 1) > 2));
}

int64_t index_median(const uint64_t *sorted, size_t count)
{
    return quantile((struct sorted){sorted, 0}, count, 2);
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

/* The middle of sorted prices splits them in two runs of distances from their median, both
 * ascending outwards: `below` of them under the median, the others from it up. */
struct halves {
    struct sorted sorted;
    size_t below, count;
    int64_t median;
};

static int64_t distance_below(const struct halves *halves, size_t index)
{
    return halves->median - amount_at(halves->sorted, halves->below - 1 - index);
}

static int64_t distance_above(const struct halves *halves, size_t index)
{
    return amount_at(halves->sorted, halves->below + index) - halves->median;
}

/* The distances that `number` others, and one more, are not above: by halving the number of those
 * among them that lie below the median. Searches here run without a branch on what they find, which
 * nothing could predict. */
static void nth_distances(const struct halves *halves, size_t number, uint64_t ret_two[static 2])
{
    size_t taken = number + 1, above = halves->count - halves->below;
    size_t low = taken > above ? taken - above : 0;
    size_t high = taken < halves->below ? taken : halves->below;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool more = distance_below(halves, middle) < distance_above(halves, number - middle);
        low = more ? middle + 1 : low;
        high = more ? high : middle;
    }
    int64_t left = low > 0 ? distance_below(halves, low - 1) : 0;
    int64_t right = taken > low ? distance_above(halves, taken - low - 1) : 0;
    ret_two[0] = (uint64_t)(left > right ? left : right);
    left = low < halves->below ? distance_below(halves, low) : INT64_MAX;
    right = taken - low < above ? distance_above(halves, taken - low) : INT64_MAX;
    ret_two[1] = (uint64_t)(left < right ? left : right);
}

/* How many of sorted prices lie below `limit`. */
static size_t count_below(struct sorted sorted, size_t count, int64_t limit)
{
    size_t low = 0;
    while (count > 0) {
        size_t half = (count + 1) / 2;
        low += amount_at(sorted, low + half - 1) < limit ? half : 0;
        count -= half;
    }
    return low;
}

static int64_t median_deviation(struct sorted sorted, size_t count, int64_t median)
{
    size_t below = count / 2; /* unless prices near the middle are equal */
    if (amount_at(sorted, below) < median || amount_at(sorted, below - 1) >= median)
        below = count_below(sorted, count, median);
    const struct halves halves = {sorted, below, count, median};
    uint64_t middle[2];
    nth_distances(&halves, (count - 1) / 2, middle);
    return count % 2 == 1 ? (int64_t)middle[0] : index_median(middle, 2);
}

/* How far from the median a vote may be: distance x 0.6745 > 3.5 x spread falls, in whole numbers.
 */
static int64_t reach_of(int64_t spread, int64_t median)
{
    int64_t least = median / 20;
    return (spread > least ? spread : least) * 35000 / 6745;
}

/* A spread that the median deviation is not below, found by two looks: nearer to the median than
 * both of two votes are only those between them, which are half of all at most. */
static int64_t least_deviation(struct sorted sorted, size_t count, int64_t median)
{
    size_t between = (count - 1) / 2, low = (count - 2 - between) / 2;
    int64_t below = median - amount_at(sorted, low);
    int64_t above = amount_at(sorted, low + 1 + between) - median;
    return below < above ? below : above;
}

/* The votes that are not too far from the others: `*ret_count` of them, from `*ret_first` on. */
static void drop_outliers(struct sorted sorted, size_t count, size_t *ret_first, size_t *ret_count)
{
    *ret_first = 0;
    *ret_count = count;
    if (count < INDEX_OUTLIER_VOTES_MIN)
        return;
    int64_t median = quantile(sorted, count, 2);
    int64_t min = amount_at(sorted, 0), max = amount_at(sorted, count - 1);
    int64_t reach = reach_of(least_deviation(sorted, count, median), median);
    if (max <= median + reach && min >= median - reach)
        return; /* as mostly: no more needs to be known of the spread */
    reach = reach_of(median_deviation(sorted, count, median), median);
    if (max > median + reach)
        *ret_count = count_below(sorted, count, median + reach + 1);
    if (min < median - reach)
        *ret_first = count_below(sorted, count, median - reach);
    *ret_count -= *ret_first;
}

static struct index_figures figures_of(struct sorted sorted, size_t count)
{
    if (count == 0)
        return (struct index_figures){UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, 0, 0};
    return (struct index_figures){
        .min = amount_at(sorted, 0),
        .p25 = quantile(sorted, count, 1),
        .median = quantile(sorted, count, 2),
        .p75 = quantile(sorted, count, 3),
        .max = amount_at(sorted, count - 1),
        .providers = (uint32_t)count,
    };
}

struct index_figures index_settle_sorted(const uint64_t *votes, const uint32_t *offers,
                                         size_t count, uint32_t all_offers, uint32_t *ret_outliers)
{
    size_t first, kept;
    drop_outliers((struct sorted){votes, INDEX_AMOUNT_SHIFT}, count, &first, &kept);
    struct index_figures figures =
        figures_of((struct sorted){votes + first, INDEX_AMOUNT_SHIFT}, kept);
    *ret_outliers = 0;
    for (size_t i = 0; i < first; i++)
        *ret_outliers += offers[i];
    for (size_t i = first + kept; i < count; i++)
        *ret_outliers += offers[i];
    figures.offers = all_offers - *ret_outliers;
    return figures;
}

struct index_figures index_settle(struct index_vote *votes, size_t count, uint64_t *scratch)
{
    uint64_t *sorted = scratch + count;
    size_t first, kept;
    for (size_t i = 0; i < count; i++)
        votes[i].reason = INDEX_INCLUDED;
    drop_resold(votes, count);
    kept = collect(votes, count, sorted, scratch);
    drop_outliers((struct sorted){sorted, 0}, kept, &first, &kept);
    struct index_figures figures = figures_of((struct sorted){sorted + first, 0}, kept);
    for (size_t i = 0; i < count; i++) {
        if (votes[i].reason != INDEX_INCLUDED)
            continue;
        if (votes[i].microusd < figures.min || votes[i].microusd > figures.max)
            votes[i].reason = INDEX_OUTLIER;
        else
            figures.offers += votes[i].offers;
    }
    return figures;
}

static char *put_amount(char *at, const char *key, int64_t microusd)
{
    at = stpcpy(at, key);
    return microusd < 0 ? stpcpy(at, "null") : at + decimal_print(microusd, 6, at);
}

void index_figures_write(struct buf *out, const struct index_figures *figures)
{
    buf_add_json_key(out, "price_per_gpu_hour");
    char *start = buf_reserve(out, 320), *at = start;
    at = put_amount(at, "{\"min\":", figures->min);
    at = put_amount(at, ",\"p25\":", figures->p25);
    at = put_amount(at, ",\"median\":", figures->median);
    at = put_amount(at, ",\"p75\":", figures->p75);
    at = put_amount(at, ",\"max\":", figures->max);
    at = stpcpy(at, "},\"offers\":");
    at += decimal_print(figures->offers, 0, at);
    at = stpcpy(at, ",\"providers\":");
    at += decimal_print(figures->providers, 0, at);
    out->length += (size_t)(at - start);
}
