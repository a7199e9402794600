/* What was uploaded is what is read back: random offers through the upload shape, through each
 * export, and the real files through theirs. */
#include "tests/support/test_upload.h"

#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/inventory/export.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void init(void)
{
    crypt_init();
}
TestSuite(roundtrip, .timeout = 240, .init = init);

static uint32_t below(uint64_t *state, uint32_t limit)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % limit;
}

/* Texts that a CSV, a spreadsheet or a JSON writer could trip over. */
static const char *const texts[] = {
    "a",  "a,b",     "say \\\"x\\\"", "=1+1", "'=1+1", "''=x", "+a", "-a",
    "@a", " spaced", "spaced  ",      "it's", "\\\\",  "é😀",   "'a", "a\\u2028b"};
static const char *random_text(uint64_t *state)
{
    return texts[below(state, sizeof(texts) / sizeof(texts[0]))];
}

static void maybe(struct buf *out, uint64_t *state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void maybe(struct buf *out, uint64_t *state, const char *format, ...)
{
    if (below(state, 2) == 0)
        return;
    va_list arguments;
    char text[400];
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    buf_add_string(out, text);
}

static void random_price(struct buf *out, uint64_t *state, int index, bool flat)
{
    static const char *const billings[] = {"on_demand", "spot", "reserved"};
    uint32_t billing = below(state, 3);
    /* The index in `min_gpus` keeps identities apart. */
    buf_printf(out, "%s{\"billing\":\"%s\",\"price_per_%s_hour\":%u.%06u,\"min_gpus\":%d",
               index == 0 ? "" : ",", billings[billing], below(state, 2) ? "gpu" : "node",
               1 + below(state, 400), below(state, 1000000), index + 1);
    if (billing == 2) {
        buf_printf(out, ",\"term_months\":%u", 1 + below(state, 600));
        maybe(out, state, ",\"upfront_percent\":%u.%03u", below(state, 100), below(state, 1000));
    }
    maybe(out, state, ",\"max_gpus\":%u", 100 + below(state, 1000));
    if (!flat || below(state, 2))
        maybe(out, state, ",\"plan\":\"%s\"", random_text(state));
    buf_add_char(out, '}');
}

/* A random offer in the upload shape; with `flat` only what a CSV can hold. */
static void random_offer(struct buf *out, uint64_t *state, int index, bool flat)
{
    static const char *const gpus[] = {"H100 SXM5", "RTX 4090", "L4", "Frob, 9", "=A1", "A100"};
    static const char *const counts[] = {"8", "1", "0.125", "0.167", "16", "2.5"};
    static const char *const words[] = {"nvlink", "pcie"};
    buf_printf(out, "{\"external_id\":\"%d %s\",\"gpu\":\"%s\",\"gpu_count\":%s", index,
               random_text(state), gpus[below(state, 6)], counts[below(state, 6)]);
    if (below(state, 2))
        buf_printf(out, ",\"node\":{\"vcpus\":%u.5,\"storage_gb\":%u}", below(state, 200),
                   below(state, 9));
    maybe(out, state, ",\"interconnect\":\"%s\"", words[below(state, 2)]);
    maybe(out, state, ",\"fabric\":\"roce\",\"fabric_gbps\":%u", below(state, 3));
    maybe(out, state, ",\"region\":\"%s\"", below(state, 2) ? "us-east" : random_text(state));
    maybe(out, state, ",\"zone\":\"%s\"", random_text(state));
    maybe(out, state, ",\"order_url\":\"https://example.com/%u?a=1,2\"", below(state, 9));
    maybe(out, state, ",\"source_url\":\"http://example.com/\"");
    maybe(out, state, ",\"attribution\":\"%s\"", random_text(state));
    maybe(out, state, ",\"observed_at\":\"2026-0%u-11T10:09:08.%uZ\"", 1 + below(state, 9),
          below(state, 999999));
    if (below(state, 2)) {
        buf_printf(out, ",\"availability\":{\"status\":\"limited\",\"gpus_available\":%u",
                   below(state, 3));
        if (!flat)
            maybe(out, state, ",\"schedule\":[{\"gpus\":5,\"days\":0},{\"gpus\":7,\"days\":%u}]",
                  below(state, 99));
        buf_add_char(out, '}');
    }
    if (!flat)
        maybe(out, state,
              ",\"extra_costs\":{\"egress_per_gb\":0.0%u,\"billing_increment_seconds\":"
              "%u}",
              below(state, 99), 1 + below(state, 99));
    buf_add_string(out, ",\"prices\":[");
    int prices = 1 + (int)below(state, 4);
    for (int i = 0; i < prices; i++)
        random_price(out, state, i, flat);
    buf_add_string(out, "]}\n");
}

/* Equal facts, their time and what was resolved included; flags aside where the format loses the
 * reason. */
static void expect_same(const struct upload *a, const struct upload *b, bool flags,
                        const char *what)
{
    cr_assert(a->offer_count == b->offer_count, "%s: %zu became %zu", what, a->offer_count,
              b->offer_count);
    for (size_t i = 0; i < a->offer_count; i++) {
        struct offer x = a->offers[i], y = b->offers[i];
        uint8_t left[OFFER_HASH_BYTES], right[OFFER_HASH_BYTES];
        if (!flags)
            x.flags = y.flags = 0;
        offer_content_hash(&x, gpu_at(x.gpu)->slug,
                           x.place == INDEX_NONE ? NULL : place_at(x.place)->slug, left);
        offer_content_hash(&y, gpu_at(y.gpu)->slug,
                           y.place == INDEX_NONE ? NULL : place_at(y.place)->slug, right);
        struct buf before = {0}, after = {0};
        inventory_write_offer(&before, &x);
        inventory_write_offer(&after, &y);
        cr_expect(memcmp(left, right, sizeof(left)) == 0, "%s:\n%s\n%s", what, before.data,
                  after.data);
        cr_expect(x.observed_at_us == y.observed_at_us && x.vram_gb_milli == y.vram_gb_milli);
        cr_expect_str_eq(before.data, after.data);
        buf_free(&before);
        buf_free(&after);
    }
}

enum route { ROUTE_SHAPE, ROUTE_NDJSON, ROUTE_CSV, ROUTE_SKYPILOT };

static void write_all(struct buf *out, enum route route, const struct upload *upload,
                      const char *provider)
{
    if (route == ROUTE_CSV)
        export_csv_header(out, provider != NULL);
    if (route == ROUTE_SKYPILOT)
        export_skypilot_header(out, provider != NULL);
    for (size_t i = 0; i < upload->offer_count; i++) {
        const struct offer *offer = &upload->offers[i];
        if (route == ROUTE_SHAPE) {
            inventory_write_offer(out, offer);
            buf_add_char(out, '\n');
        } else if (route == ROUTE_NDJSON) {
            export_ndjson_offer(out, offer, provider);
        } else if (route == ROUTE_CSV) {
            export_csv_offer(out, offer, provider);
        } else {
            cr_expect(export_skypilot_offer(out, offer, provider));
        }
    }
}

static void go_round(enum route route, enum upload_format format, bool flat)
{
    uint64_t state = 42 + (uint64_t)route;
    for (int round = 0; round < 40; round++) {
        struct buf body = {0}, out = {0};
        struct test_upload first, second;
        const char *provider = round % 2 == 0 ? "acme" : NULL;
        for (int i = 0; i < 25; i++)
            random_offer(&body, &state, i, flat);
        test_upload_decode(&first, FORMAT_NDJSON, "acme", body.data, body.length);
        cr_assert(first.status == DECODE_OK && first.upload.errors.count == 0, "%s %s",
                  first.error.message,
                  first.upload.errors.count > 0 ? first.upload.errors.items[0].message : "");
        write_all(&out, route, &first.upload, route == ROUTE_SHAPE ? NULL : provider);
        test_upload_decode(&second, format, "acme", out.data, out.length);
        cr_assert(second.status == DECODE_OK && second.upload.errors.count == 0, "%s %s\n%s",
                  second.error.message,
                  second.upload.errors.count > 0 ? second.upload.errors.items[0].message : "",
                  out.data);
        expect_same(&first.upload, &second.upload, true, "round trip");
        test_upload_free(&first);
        test_upload_free(&second);
        buf_free(&body);
        buf_free(&out);
    }
}

Test(roundtrip, upload_shape)
{
    go_round(ROUTE_SHAPE, FORMAT_NDJSON, false);
}

Test(roundtrip, ndjson_export)
{
    go_round(ROUTE_NDJSON, FORMAT_UNKNOWN, false);
}

Test(roundtrip, csv_export)
{
    go_round(ROUTE_CSV, FORMAT_UNKNOWN, true);
}

Test(roundtrip, cells_never_run_as_formulas)
{
    const char *body = "{\"external_id\":\"=cmd()\",\"gpu\":\"@L4\",\"gpu_count\":1,\"region\":"
                       "\"+a\",\"zone\":\"-b\",\"prices\":[{\"billing\":\"spot\","
                       "\"price_per_gpu_hour\":1,\"plan\":\"=2\"}]}";
    struct test_upload test;
    struct buf out = {0};
    test_upload_decode(&test, FORMAT_NDJSON, "acme", body, strlen(body));
    cr_assert(test.upload.offer_count == 1);
    export_csv_offer(&out, &test.upload.offers[0], NULL);
    export_skypilot_offer(&out, &test.upload.offers[0], NULL);
    cr_expect(strncmp(out.data, "'=cmd(),'@L4,1,", 15) == 0, "%s", out.data);
    static const char *const formulas[] = {",=", ",+", ",-", ",@", "\n=", "\n@"};
    for (size_t i = 0; i < sizeof(formulas) / sizeof(formulas[0]); i++)
        cr_expect(strstr(out.data, formulas[i]) == NULL, "%s", out.data);
    test_upload_free(&test);
    buf_free(&out);
}

/* Real catalogues out and in again, through their own format and through ours. */
Test(roundtrip, real_catalogues)
{
    static const struct {
        const char *file, *provider;
    } reals[] = {{"azure-vms.csv", "azure"},
                 {"lambda-vms.csv", "lambda"},
                 {"vast-vms.csv", "vast"},
                 {"v8-nebius-vms.csv", "nebius"},
                 {"v8-hyperbolic-vms.csv", "hyperbolic"},
                 {"v8-aws-vms.excerpt.csv", "aws"},
                 {"v8-runpod-vms.excerpt.csv", "runpod"},
                 {"gcp-vms.csv", "gcp"}};
    static const enum upload_format formats[] = {FORMAT_NDJSON, FORMAT_NDJSON, FORMAT_CSV,
                                                 FORMAT_SKYPILOT};
    for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++) {
        char path[200];
        size_t length;
        snprintf(path, sizeof(path), "catalogues/skypilot/%s", reals[i].file);
        char *bytes = test_read_data(path, &length);
        if (bytes == NULL)
            cr_skip_test("RACKRATE_TEST_DATA has no %s", path);
        struct test_upload first;
        test_upload_decode(&first, FORMAT_SKYPILOT, reals[i].provider, bytes, length);
        for (int route = ROUTE_SHAPE; route <= ROUTE_SKYPILOT; route++) {
            struct buf out = {0};
            struct test_upload second;
            write_all(&out, (enum route)route, &first.upload, NULL);
            test_upload_decode(&second, formats[route], reals[i].provider, out.data, out.length);
            cr_expect(second.upload.errors.count == 0, "%s: %s", reals[i].file,
                      second.upload.errors.count > 0 ? second.upload.errors.items[0].message : "");
            expect_same(&first.upload, &second.upload, false, reals[i].file);
            test_upload_free(&second);
            buf_free(&out);
        }
        test_upload_free(&first);
        free(bytes);
    }
}
