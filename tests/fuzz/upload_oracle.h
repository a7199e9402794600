/* What must hold of any decoded upload, whatever the bytes: checked by the fuzzers, which abort
 * where it does not. */
#ifndef RACKRATE_TESTS_FUZZ_UPLOAD_ORACLE_H
#define RACKRATE_TESTS_FUZZ_UPLOAD_ORACLE_H

#include "server/inventory/export.h"
#include "server/inventory/inventory.h"

#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/reference/gpu.h"

#include <stdlib.h>
#include <string.h>

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static inline void check_offer(const struct offer *offer)
{
    size_t id = strlen(offer->external_id), name = strlen(offer->gpu_raw);
    MUST(id > 0 && id <= OFFER_EXTERNAL_ID_MAX_BYTES);
    MUST(name > 0 && name <= OFFER_RAW_NAME_MAX_BYTES);
    MUST(offer->gpu_count_milli > 0 && offer->gpu_count_milli <= OFFER_GPU_COUNT_MAX_MILLI);
    MUST(offer->gpu < gpu_count());
    MUST(offer->price_count > 0 && offer->price_count <= OFFER_PRICES_MAX);
    for (size_t i = 0; i < offer->price_count; i++) {
        const struct price *price = &offer->prices[i];
        MUST(price->quoted_microusd > 0 && price->quoted_microusd <= PRICE_MAX_MICROUSD);
        MUST(price->per_gpu_hour_microusd > 0 && price->per_node_hour_microusd > 0);
        MUST((price->billing == BILLING_RESERVED) == (price->term_months > 0));
        MUST(i == 0 || price_compare_identity(&offer->prices[i - 1], price) < 0);
    }
}

/* A good upload, written in our own shape, reads back the same. */
static inline void check_mirror(const struct upload *upload)
{
    struct buf out = {0}, again = {0};
    struct arena arena = {0};
    struct upload back;
    struct decode_error error;
    struct decode_options options = {.format = FORMAT_NDJSON,
                                     .provider_slug = "acme",
                                     .source_kind = SOURCE_IMPORT,
                                     .as_of_us = TIMESTAMP_UNKNOWN};
    for (size_t i = 0; i < upload->offer_count; i++)
        export_ndjson_offer(&out, &upload->offers[i], "acme");
    MUST(upload_decode(&options, out.data == NULL ? "" : out.data, out.length, &arena, &back,
                       &error) == DECODE_OK);
    MUST(back.errors.count == 0 && back.offer_count == upload->offer_count);
    for (size_t i = 0; i < back.offer_count; i++)
        export_ndjson_offer(&again, &back.offers[i], "acme");
    MUST(out.length == again.length &&
         (out.length == 0 || memcmp(out.data, again.data, out.length) == 0));
    buf_free(&out);
    buf_free(&again);
    arena_free(&arena);
}

static inline void check_bytes(enum upload_format format, const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct upload upload;
    struct decode_error error;
    struct decode_options options = {.format = format,
                                     .provider_slug = "acme",
                                     .source_kind = SOURCE_IMPORT,
                                     .as_of_us = TIMESTAMP_UNKNOWN};
    enum decode_status status =
        upload_decode(&options, (const char *)data, size, &arena, &upload, &error);
    MUST(status == DECODE_OK || error.message[0] != '\0');
    MUST(status == DECODE_OK || (upload.offer_count == 0 && upload.errors.count == 0));
    for (size_t i = 0; i < upload.offer_count; i++) {
        check_offer(&upload.offers[i]);
        MUST(i == 0 || strcmp(upload.offers[i - 1].external_id, upload.offers[i].external_id) < 0);
    }
    for (size_t i = 0; i < upload.errors.count; i++)
        MUST(upload.errors.items[i].row > 0 && upload.errors.items[i].message[0] != '\0');
    MUST((upload.errors.count > 0) == (upload.rejected > 0));
    check_mirror(&upload);
    arena_free(&arena);
}

#endif
