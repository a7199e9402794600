/* JSON, NDJSON, snapshots and patches from any bytes; the first byte picks which. */
#include "tests/fuzz/upload_oracle.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return crypt_init() ? 0 : 1;
}

static void check_patch(const uint8_t *data, size_t size)
{
    static const char stored[] =
        "{\"external_id\":\"x\",\"gpu\":\"H100 SXM5\",\"gpu_count\":8,\"region\":\"us-east\","
        "\"prices\":[{\"billing\":\"on_demand\",\"price_per_gpu_hour\":3.25}]}";
    struct arena arena = {0};
    struct upload before, after;
    struct decode_error error;
    struct decode_options options = {
        .format = FORMAT_NDJSON, .provider_slug = "acme", .as_of_us = TIMESTAMP_UNKNOWN};
    MUST(upload_decode(&options, stored, sizeof(stored) - 1, &arena, &before, &error) == DECODE_OK);
    enum decode_status status = inventory_patch(&options, &before.offers[0], (const char *)data,
                                                size, &arena, &after, &error);
    if (status == DECODE_OK) {
        MUST((after.offer_count == 1) == (after.errors.count == 0));
        for (size_t i = 0; i < after.offer_count; i++)
            check_offer(&after.offers[i]);
    }
    arena_free(&arena);
}

static void check_split(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct provider_upload *uploads;
    size_t count;
    struct decode_error error;
    struct decode_options options = {.as_of_us = TIMESTAMP_UNKNOWN};
    enum decode_status status =
        upload_split(&options, (const char *)data, size, &arena, &uploads, &count, &error);
    MUST(status == DECODE_OK || (count == 0 && error.message[0] != '\0'));
    for (size_t i = 0; i < count; i++)
        MUST(provider_slug_is_valid(uploads[i].slug));
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum upload_format formats[] = {FORMAT_JSON, FORMAT_NDJSON, FORMAT_GPURENTALPRICES,
                                                 FORMAT_UNKNOWN};
    if (size == 0)
        return 0;
    uint8_t pick = data[0] % 6;
    if (pick < 4)
        check_bytes(formats[pick], data + 1, size - 1);
    else if (pick == 4)
        check_patch(data + 1, size - 1);
    else
        check_split(data + 1, size - 1);
    return 0;
}
