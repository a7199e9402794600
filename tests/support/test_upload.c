/* See the header. */
#include "tests/support/test_upload.h"

#include "server/base/timestamp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct decode_options test_decode_options(enum upload_format format, const char *provider_slug)
{
    return (struct decode_options){
        .format = format,
        .provider_slug = provider_slug,
        .source_kind = SOURCE_PROVIDER_API,
        .as_of_us = TIMESTAMP_UNKNOWN,
    };
}

void test_upload_decode(struct test_upload *test, enum upload_format format,
                        const char *provider_slug, const char *bytes, size_t length)
{
    struct decode_options options = test_decode_options(format, provider_slug);
    /* An exact copy, so that a sanitizer sees a read past the end. */
    char *copy = malloc(length + (length == 0));
    if (copy == NULL)
        abort();
    memcpy(copy, bytes, length);
    *test = (struct test_upload){0};
    test->status = upload_decode(&options, copy, length, &test->arena, &test->upload, &test->error);
    free(copy);
}

void test_upload_free(struct test_upload *test)
{
    arena_free(&test->arena);
}

const struct row_issue *test_find_issue(const struct row_issues *issues, const char *pointer,
                                        const char *code)
{
    for (size_t i = 0; i < issues->count; i++) {
        if (strcmp(issues->items[i].pointer, pointer) == 0 &&
            strcmp(issues->items[i].code, code) == 0)
            return &issues->items[i];
    }
    return NULL;
}

const struct offer *test_find_offer(const struct upload *upload, const char *external_id)
{
    for (size_t i = 0; i < upload->offer_count; i++) {
        if (strcmp(upload->offers[i].external_id, external_id) == 0)
            return &upload->offers[i];
    }
    return NULL;
}

char *test_write_offers(const struct upload *upload)
{
    struct buf out = {0};
    buf_add_string(&out, "");
    for (size_t i = 0; i < upload->offer_count; i++) {
        inventory_write_offer(&out, &upload->offers[i]);
        buf_add_char(&out, '\n');
    }
    size_t length;
    return buf_detach(&out, &length);
}

char *test_read_data(const char *path, size_t *ret_length)
{
    const char *root = getenv("RACKRATE_TEST_DATA");
    char full[1024];
    snprintf(full, sizeof(full), "%s/%s", root != NULL ? root : "../shared/data", path);
    FILE *file = fopen(full, "rb");
    if (file == NULL)
        return NULL;
    struct buf bytes = {0};
    size_t read;
    do {
        read = fread(buf_reserve(&bytes, 65536), 1, 65536, file);
        bytes.length += read;
    } while (read > 0);
    fclose(file);
    buf_add_string(&bytes, "");
    return buf_detach(&bytes, ret_length);
}
