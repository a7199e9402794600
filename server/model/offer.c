/* Names of an offer's enumerations, its id, and what differs between two states of it. */
#include "server/model/offer.h"

#include "server/base/crypto.h"

#include <string.h>

static bool parse_name(const char *text, const char *const *names, size_t count, size_t *ret)
{
    for (size_t i = 0; i < count; i++) {
        if (names[i] != NULL && strcmp(text, names[i]) == 0) {
            *ret = i;
            return true;
        }
    }
    return false;
}

#define DEFINE_NAMES(prefix, type, count)                                                          \
    const char *prefix##_name(enum type value)                                                     \
    {                                                                                              \
        return prefix##_names[value];                                                              \
    }                                                                                              \
    bool prefix##_parse(const char *text, enum type *ret)                                          \
    {                                                                                              \
        size_t index;                                                                              \
        if (!parse_name(text, prefix##_names, count, &index))                                      \
            return false;                                                                          \
        *ret = (enum type)index;                                                                   \
        return true;                                                                               \
    }

static const char *const fabric_names[FABRIC_COUNT] = {NULL, "none", "ethernet", "roce",
                                                       "infiniband"};
DEFINE_NAMES(fabric, fabric, FABRIC_COUNT)

static const char *const interconnect_names[INTERCONNECT_COUNT] = {NULL, "pcie", "nvlink"};
DEFINE_NAMES(interconnect, interconnect, INTERCONNECT_COUNT)

static const char *const availability_names[AVAILABILITY_COUNT] = {
    "unknown", "available", "limited", "waitlist", "sold_out"};
DEFINE_NAMES(availability, availability_status, AVAILABILITY_COUNT)

static const char *const source_kind_names[SOURCE_COUNT] = {"provider_api", "import", "sample"};
DEFINE_NAMES(source_kind, source_kind, SOURCE_COUNT)

static const char *const offer_flag_names[OFFER_FLAG_COUNT] = {
#define X(name, text) text,
    OFFER_FLAGS(X)
#undef X
};
DEFINE_NAMES(offer_flag, offer_flag, OFFER_FLAG_COUNT)

static const char *const field_names[OFFER_FIELD_COUNT] = {
#define X(name, text) text,
    OFFER_FIELDS(X)
#undef X
};

const char *offer_field_name(enum offer_field field)
{
    return field_names[field];
}

void offer_id(const char *provider_slug, const char *external_id,
              uint8_t ret_id[static OFFER_ID_BYTES])
{
    struct crypt_hasher hasher;
    crypt_hasher_init(&hasher, OFFER_ID_BYTES);
    crypt_hasher_add(&hasher, provider_slug, strlen(provider_slug) + 1);
    crypt_hasher_add(&hasher, external_id, strlen(external_id));
    crypt_hasher_finish(&hasher, ret_id);
}

static const char id_digits[] = "0123456789abcdefghijklmnopqrstuv";

/* 128 bits make 25 digits of 5 bits and one of 3; the most significant come first, so texts sort as
 * the bytes do. */
void offer_id_print(const uint8_t id[static OFFER_ID_BYTES],
                    char out[static OFFER_ID_TEXT_LENGTH + 1])
{
    memcpy(out, "of_", 3);
    unsigned bits = 0, held = 0;
    size_t at = 3;
    for (size_t i = 0; i < OFFER_ID_BYTES; i++) {
        bits = (bits << 8) | id[i];
        held += 8;
        while (held >= 5) {
            held -= 5;
            out[at++] = id_digits[(bits >> held) & 31];
        }
    }
    out[at++] = id_digits[(bits << (5 - held)) & 31];
    out[at] = '\0';
}

bool offer_id_parse(const char *text, size_t length, uint8_t ret_id[static OFFER_ID_BYTES])
{
    if (length != OFFER_ID_TEXT_LENGTH || memcmp(text, "of_", 3) != 0)
        return false;
    unsigned bits = 0, held = 0;
    size_t out = 0;
    for (size_t i = 3; i < length; i++) {
        const char *digit = text[i] == '\0' ? NULL : strchr(id_digits, text[i]);
        if (digit == NULL)
            return false;
        bits = (bits << 5) | (unsigned)(digit - id_digits);
        held += 5;
        if (held >= 8 && out < OFFER_ID_BYTES) {
            held -= 8;
            ret_id[out++] = (uint8_t)(bits >> held);
        }
    }
    /* The last digit's two spare bits are zero in every id that was printed. */
    return out == OFFER_ID_BYTES && (bits & ((1U << held) - 1)) == 0;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_prices(const struct offer *a, const struct offer *b)
{
    if (a->price_count != b->price_count)
        return false;
    for (size_t i = 0; i < a->price_count; i++) {
        const struct price *p = &a->prices[i];
        const struct price *q = &b->prices[i];
        if (price_compare_identity(p, q) != 0 || p->quoted_per != q->quoted_per ||
            p->quoted_microusd != q->quoted_microusd || p->max_gpus != q->max_gpus)
            return false;
    }
    return true;
}

static bool same_availability(const struct availability *a, const struct availability *b)
{
    if (a->status != b->status || a->gpus_available != b->gpus_available ||
        a->lead_time_days != b->lead_time_days || a->schedule_count != b->schedule_count)
        return false;
    for (size_t i = 0; i < a->schedule_count; i++) {
        if (a->schedule[i].gpus != b->schedule[i].gpus ||
            a->schedule[i].days != b->schedule[i].days)
            return false;
    }
    return true;
}

static bool same_extra_costs(const struct extra_costs *a, const struct extra_costs *b)
{
    return a->egress_per_gb_microusd == b->egress_per_gb_microusd &&
           a->storage_per_gb_month_microusd == b->storage_per_gb_month_microusd &&
           a->billing_increment_seconds == b->billing_increment_seconds &&
           a->minimum_duration_seconds == b->minimum_duration_seconds;
}

uint32_t offer_compare_fields(const struct offer *before, const struct offer *after)
{
    uint32_t fields = 0;
#define DIFFERS(name, same) fields |= (same) ? 0 : UINT32_C(1) << OFFER_FIELD_##name
    DIFFERS(GPU, before->gpu == after->gpu && same_text(before->gpu_raw, after->gpu_raw));
    DIFFERS(GPU_COUNT, before->gpu_count_milli == after->gpu_count_milli);
    DIFFERS(VRAM, before->vram_gb_given_milli == after->vram_gb_given_milli);
    DIFFERS(NODE, before->vcpus_milli == after->vcpus_milli &&
                      before->memory_gib_milli == after->memory_gib_milli &&
                      before->storage_gb_milli == after->storage_gb_milli);
    DIFFERS(INTERCONNECT, before->interconnect == after->interconnect);
    DIFFERS(FABRIC, before->fabric == after->fabric);
    DIFFERS(FABRIC_GBPS, before->fabric_gbps_milli == after->fabric_gbps_milli);
    DIFFERS(REGION,
            before->place == after->place && same_text(before->region_raw, after->region_raw));
    DIFFERS(ZONE, same_text(before->zone, after->zone));
    DIFFERS(AVAILABILITY, same_availability(&before->availability, &after->availability));
    DIFFERS(PRICES, same_prices(before, after));
    DIFFERS(EXTRA_COSTS, same_extra_costs(&before->extra_costs, &after->extra_costs));
    DIFFERS(ORDER_URL, same_text(before->order_url, after->order_url));
    DIFFERS(SOURCE_URL, same_text(before->source_url, after->source_url));
    DIFFERS(SOURCE, before->source_kind == after->source_kind &&
                        same_text(before->attribution, after->attribution));
    DIFFERS(FLAGS, before->flags == after->flags);
#undef DIFFERS
    return fields;
}
