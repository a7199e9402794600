/* Uploads in tests: decoding a literal, finding an issue, reading real data in place. */
#ifndef RACKRATE_TESTS_SUPPORT_TEST_UPLOAD_H
#define RACKRATE_TESTS_SUPPORT_TEST_UPLOAD_H

#include "server/inventory/inventory.h"

/* One decoded body and all that belongs to it. */
struct test_upload {
    struct arena arena;
    struct upload upload;
    struct decode_error error;
    enum decode_status status;
};

/* Options of a provider's own upload: no source of time, no market. */
struct decode_options test_decode_options(enum upload_format format, const char *provider_slug);

/* Decodes; free with test_upload_free. */
void test_upload_decode(struct test_upload *test, enum upload_format format,
                        const char *provider_slug, const char *bytes, size_t length);
void test_upload_free(struct test_upload *test);

/* The first error (or warning) with this pointer and code, or NULL. */
const struct row_issue *test_find_issue(const struct row_issues *issues, const char *pointer,
                                        const char *code);

/* The offer with this id, or NULL. */
const struct offer *test_find_offer(const struct upload *upload, const char *external_id);

/* All offers in the upload shape, a line each; the caller frees. */
char *test_write_offers(const struct upload *upload);

/* A file below RACKRATE_TEST_DATA (default ../shared/data), malloc'd with a NUL behind; NULL where
 * it is not there. */
char *test_read_data(const char *path, size_t *ret_length);

#endif
