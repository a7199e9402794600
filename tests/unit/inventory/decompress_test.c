/* gzip and zstd: whole, cut anywhere, with something behind, and bombs. */
#include "server/inventory/inventory.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

TestSuite(decompress, .timeout = 60);

struct packed {
    char *bytes;
    size_t length;
};

static struct packed pack(enum upload_encoding encoding, const char *bytes, size_t length)
{
    struct packed packed = {.bytes = malloc(length + 1024)};
    cr_assert(packed.bytes != NULL);
    if (encoding == ENCODING_ZSTD) {
        packed.length = ZSTD_compress(packed.bytes, length + 1024, bytes, length, 3);
        cr_assert(!ZSTD_isError(packed.length));
        return packed;
    }
    z_stream stream = {0};
    cr_assert(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    stream.next_in = (z_const Bytef *)bytes;
    stream.avail_in = (uInt)length;
    stream.next_out = (Bytef *)packed.bytes;
    stream.avail_out = (uInt)(length + 1024);
    cr_assert(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    packed.length = stream.total_out;
    deflateEnd(&stream);
    return packed;
}

static enum decode_status unpack(enum upload_encoding encoding, const char *bytes, size_t length,
                                 size_t max, char **ret_text, size_t *ret_length,
                                 struct decode_error *error)
{
    const char *out;
    char *owned;
    enum decode_status status =
        upload_decompress(encoding, bytes, length, max, &out, ret_length, &owned, error);
    *ret_text = owned;
    return status;
}

static const enum upload_encoding encodings[] = {ENCODING_GZIP, ENCODING_ZSTD};

Test(decompress, gives_back_what_was_packed)
{
    size_t length = 3000000;
    char *text = malloc(length);
    cr_assert(text != NULL);
    for (size_t i = 0; i < length; i++)
        text[i] = (char)('a' + (i * i) % 23);
    for (int e = 0; e < 2; e++) {
        struct packed packed = pack(encodings[e], text, length);
        struct decode_error error;
        char *back;
        size_t back_length;
        cr_assert(unpack(encodings[e], packed.bytes, packed.length, 4000000, &back, &back_length,
                         &error) == DECODE_OK);
        cr_expect(back_length == length && memcmp(back, text, length) == 0);
        free(back);
        /* Exactly the limit is within it, one byte less is not. */
        cr_expect(unpack(encodings[e], packed.bytes, packed.length, length, &back, &back_length,
                         &error) == DECODE_OK);
        free(back);
        cr_expect(unpack(encodings[e], packed.bytes, packed.length, length - 1, &back, &back_length,
                         &error) == DECODE_TOO_LARGE);
        cr_expect(strstr(error.message, "2999999") != NULL, "%s", error.message);
        free(packed.bytes);
    }
    free(text);
}

Test(decompress, refuses_every_cut)
{
    const char *text = "{\"offers\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]}";
    for (int e = 0; e < 2; e++) {
        struct packed packed = pack(encodings[e], text, strlen(text));
        for (size_t cut = 0; cut < packed.length; cut++) {
            struct decode_error error;
            char *back;
            size_t length;
            cr_expect(unpack(encodings[e], packed.bytes, cut, 1000, &back, &length, &error) ==
                              DECODE_BAD_ENCODING &&
                          error.message[0] != '\0' && back == NULL,
                      "encoding %d cut at %zu", e, cut);
        }
        free(packed.bytes);
    }
}

Test(decompress, refuses_what_follows_and_takes_members)
{
    for (int e = 0; e < 2; e++) {
        struct packed packed = pack(encodings[e], "hello", 5);
        struct decode_error error;
        char *back;
        size_t length;
        char *doubled = malloc(packed.length * 2);
        cr_assert(doubled != NULL);
        memcpy(doubled, packed.bytes, packed.length);
        memcpy(doubled + packed.length, packed.bytes, packed.length);
        cr_assert(unpack(encodings[e], doubled, packed.length * 2, 1000, &back, &length, &error) ==
                  DECODE_OK);
        cr_expect_str_eq(back, "hellohello");
        free(back);
        memcpy(doubled + packed.length, "rest", 4);
        cr_expect(unpack(encodings[e], doubled, packed.length + 4, 1000, &back, &length, &error) ==
                  DECODE_BAD_ENCODING);
        free(doubled);
        free(packed.bytes);
    }
    struct decode_error error;
    char *back;
    size_t length;
    cr_expect(unpack(ENCODING_GZIP, "plain text", 10, 1000, &back, &length, &error) ==
              DECODE_BAD_ENCODING);
    cr_expect(unpack(ENCODING_ZSTD, "plain text", 10, 1000, &back, &length, &error) ==
              DECODE_BAD_ENCODING);
}

/* 64 MiB of zeros in a few kilobytes: it costs the limit and no more. */
Test(decompress, stops_a_bomb)
{
    size_t size = (size_t)64 << 20;
    char *zeros = calloc(1, size);
    cr_assert(zeros != NULL);
    for (int e = 0; e < 2; e++) {
        struct packed packed = pack(encodings[e], zeros, size);
        struct decode_error error;
        char *back;
        size_t length;
        cr_expect(packed.length < size / 500);
        cr_expect(unpack(encodings[e], packed.bytes, packed.length, 1 << 20, &back, &length,
                         &error) == DECODE_TOO_LARGE);
        cr_expect(back == NULL);
        free(packed.bytes);
    }
    free(zeros);
}

Test(decompress, plain_bytes_pass_through)
{
    const char *text = "abc", *out;
    char *owned;
    size_t length;
    struct decode_error error;
    cr_expect(upload_decompress(ENCODING_IDENTITY, text, 3, 3, &out, &length, &owned, &error) ==
              DECODE_OK);
    cr_expect(out == text && length == 3 && owned == NULL);
    cr_expect(upload_decompress(ENCODING_IDENTITY, text, 3, 2, &out, &length, &owned, &error) ==
              DECODE_TOO_LARGE);
}
