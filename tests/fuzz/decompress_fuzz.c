/* gzip and zstd from any bytes, never past a limit; the first byte picks which. */
#include "tests/fuzz/upload_oracle.h"

#define LIMIT ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *out;
    char *owned;
    size_t length;
    struct decode_error error;
    if (size == 0)
        return 0;
    enum decode_status status =
        upload_decompress(data[0] % 2 == 0 ? ENCODING_GZIP : ENCODING_ZSTD, (const char *)data + 1,
                          size - 1, LIMIT, &out, &length, &owned, &error);
    if (status == DECODE_OK)
        MUST(length <= LIMIT && out[length] == '\0');
    else
        MUST(owned == NULL && error.message[0] != '\0');
    free(owned);
    return 0;
}
