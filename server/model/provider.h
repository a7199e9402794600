/* A provider: who rents GPUs out, and the facts it states about itself. Plain data and its
 * invariants; any thread. */
#ifndef RACKRATE_MODEL_PROVIDER_H
#define RACKRATE_MODEL_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum provider_kind {
    PROVIDER_HYPERSCALER,
    PROVIDER_GPU_CLOUD,
    PROVIDER_MARKETPLACE,
    PROVIDER_COLOCATION,
    PROVIDER_RESELLER,
    PROVIDER_KIND_COUNT,
};

#define PROVIDER_FRESHNESS_HOURS_DEFAULT 168

/* Longest slug in bytes; `[a-z0-9]` and inner `-`. */
#define PROVIDER_SLUG_MAX       63
#define PROVIDER_NAME_MAX_BYTES 200

/* What a provider says of itself (a claim until somebody measured it). UNKNOWN (-1) and NULL where
 * not said. */
struct trust_facts {
    int32_t sla_percent_milli; /* 99.9 % is 99900 */
    int burn_in;               /* hardware is tested before hand-over: -1 unknown, 0, 1 */
    int monitoring;            /* -1, 0, 1 */
    int on_site;               /* staff on site: -1, 0, 1 */
};

struct provider {
    int64_t id; /* database key; 0 before it is stored */
    const char *slug;
    const char *name;
    enum provider_kind kind;
    const char *resells;     /* slug of the provider whose machines it resells, or NULL */
    const char *website;     /* NULL unknown */
    const char *contact;     /* NULL unknown */
    int32_t freshness_hours; /* UNKNOWN: its offers never turn stale */
    struct trust_facts trust;
    bool suspended;          /* its offers are not shown, its keys not served */
    int64_t version;         /* bumped by each write under a lock on its row; from 0 */
    int64_t confirmed_at_us; /* when a full upload last confirmed all it holds; TIMESTAMP_UNKNOWN
                                before */
    int64_t updated_at_us;
};

/* `gpu_cloud` … and back; parse gives false for any other text. */
const char *provider_kind_name(enum provider_kind kind);
bool provider_kind_parse(const char *text, enum provider_kind *ret_kind);

/* Whether text is a well-formed slug: 1 to PROVIDER_SLUG_MAX of a-z 0-9 -, not starting or ending
 * with -. */
bool provider_slug_is_valid(const char *text);

#endif
