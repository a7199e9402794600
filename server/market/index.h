/* The index: what a GPU variant costs under one commitment, from one vote a provider. The one place
 * where the method stands; /docs/method tells it in words, and every stored fixing carries
 * INDEX_METHOD_VERSION. Pure; any thread. */
#ifndef RACKRATE_MARKET_INDEX_H
#define RACKRATE_MARKET_INDEX_H

#include "server/base/buf.h"
#include "server/market/commitment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Raised by any change of method that changes a figure. */
#define INDEX_METHOD_VERSION 1

/* A price above it (17 million USD for a GPU-hour) is no price but a mistake; sums of votes stay in
 * 64 bits. */
#define INDEX_PRICE_MAX_MICROUSD ((INT64_C(1) << 44) - 1)

/* Why a price counts, or does not. The first that applies is the one given. */
#define INDEX_REASONS(X)                                                                           \
    X(INCLUDED, "included")                                                                        \
    X(UNRECOGNIZED, "unrecognized_gpu")                                                            \
    X(UNDISCLOSED_FORM, "undisclosed_form_factor") /* a family: SXM or PCIe, nobody said */        \
    X(UNDISCLOSED_VARIANT, "undisclosed_variant")  /* a family whose variants differ otherwise */  \
    X(SAMPLE, "sample")                                                                            \
    X(STALE, "stale")                                                                              \
    X(SUSPICIOUS, "suspicious")  /* flagged, see index_doubtful_billings */                        \
    X(RESOLD, "resells_counted") /* of a reseller whose source has a vote already */               \
    X(OUTLIER, "outlier")        /* its provider's vote is too far from the others' */
enum index_reason {
#define X(name, text) INDEX_##name,
    INDEX_REASONS(X)
#undef X
        INDEX_REASON_COUNT
};
const char *index_reason_name(enum index_reason reason);

/* Billings whose prices an offer's flags (OFFER_FLAG bits) keep out, as bits 1 << billing: a spot
 * price that is not cheaper than on demand keeps spot out, a longer term that is dearer keeps
 * reserved out, a price that cannot be right all three; how an amount was rounded none. */
unsigned index_doubtful_billings(uint32_t flags);

/* Why prices of this GPU (server/reference) count in no index, or INDEX_INCLUDED. */
enum index_reason index_gpu_reason(uint16_t gpu);

/* The median of sorted prices: of an even count the mean of the middle two, half-even to the
 * micro-dollar. count > 0. */
int64_t index_median(const uint64_t *sorted, size_t count);

/* One provider's vote: the median of its prices that count. */
struct index_vote {
    int64_t microusd;  /* per GPU-hour, 1 to INDEX_PRICE_MAX_MICROUSD */
    uint32_t offers;   /* it comes from */
    uint32_t provider; /* the caller's number for it */
    uint32_t origin;   /* whose machines it rents out: its own number unless it is a reseller */
    uint32_t order;    /* of providers by slug, to choose between resellers of one origin */
    enum index_reason reason; /* out: INDEX_INCLUDED, INDEX_RESOLD or INDEX_OUTLIER */
};

/* What the votes say, in micro-dollars per GPU-hour; UNKNOWN (-1) where there is none. */
struct index_figures {
    int64_t min, p25, median, p75, max;
    uint32_t offers;    /* behind the votes that count */
    uint32_t providers; /* whose votes count */
};

/* Settles votes (all of one GPU and commitment) and computes the figures.
 *   1. Machines count once: a reseller's vote falls where its origin votes itself, or a reseller of
 * the same origin with an earlier slug does.
 *   2. With five votes or more, those too far from the rest fall: |vote - median| x 0.6745 > 3.5 x
 * spread, where spread is the median absolute deviation, at least a twentieth of the median
 * (modified z-score, Iglewicz and Hoaglin 1993; the floor keeps a market in which all agree from
 * shutting out who is a quarter dearer).
 *   3. Quantiles of what is left: linear between the two nearest, (n - 1) x q from the lowest,
 * half-even to the micro-dollar. `scratch` has room for 3 x count values. */
struct index_figures index_settle(struct index_vote *votes, size_t count, uint64_t *scratch);

/* The same of votes among which is no reseller, in order of amount: amount << INDEX_AMOUNT_SHIFT,
 * below it what the caller likes; the offers behind each vote, and behind all. Looks at a number of
 * votes that grows with the logarithm of their count. *ret_outliers is the number of offers behind
 * votes that fall. */
#define INDEX_AMOUNT_SHIFT 16
struct index_figures index_settle_sorted(const uint64_t *votes, const uint32_t *offers,
                                         size_t count, uint32_t all_offers, uint32_t *ret_outliers);

/* Adds `"price_per_gpu_hour":{"min":…,"p25":…,"median":…,"p75":…,"max":…},"offers":…,"providers":…`
 * to an object. */
void index_figures_write(struct buf *out, const struct index_figures *figures);

/* Fewest votes of which one can be too far from the others. */
#define INDEX_OUTLIER_VOTES_MIN 5

#endif
