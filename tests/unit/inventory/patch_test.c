/* Merge patches of an offer: what changes, what stays, what is refused. */
#include "tests/support/test_upload.h"

#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/reference/gpu.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(patch, .timeout = 20);

static const char stored[] =
    "{\"external_id\":\"x\",\"gpu\":\"H100 SXM5\",\"gpu_count\":8,\"node\":{\"vcpus\":192,"
    "\"memory_gib\":2048},\"region\":\"us-east\",\"availability\":{\"status\":\"available\","
    "\"gpus_available\":64},\"prices\":[{\"billing\":\"on_demand\",\"price_per_gpu_hour\":3.25},"
    "{\"billing\":\"reserved\",\"term_months\":12,\"price_per_gpu_hour\":2.2,\"min_gpus\":16,"
    "\"upfront_percent\":20,\"plan\":\"p\"}],\"observed_at\":\"2026-01-01T00:00:00Z\"}";

struct patched {
    struct test_upload before;
    struct arena arena;
    struct upload upload;
    struct decode_error error;
    enum decode_status status;
    const struct offer *offer; /* NULL where refused */
};

static void apply(struct patched *patched, const char *patch)
{
    struct decode_options options = test_decode_options(FORMAT_JSON, "acme");
    *patched = (struct patched){0};
    test_upload_decode(&patched->before, FORMAT_NDJSON, "acme", stored, strlen(stored));
    cr_assert(patched->before.upload.offer_count == 1);
    patched->status =
        inventory_patch(&options, &patched->before.upload.offers[0], patch, strlen(patch),
                        &patched->arena, &patched->upload, &patched->error);
    patched->offer = patched->upload.offer_count == 1 ? &patched->upload.offers[0] : NULL;
}

static void end(struct patched *patched)
{
    test_upload_free(&patched->before);
    arena_free(&patched->arena);
}

/* Patch and the offer it makes, in the upload shape. */
static const struct {
    const char *patch, *offer;
} cases[] = {
    {"{}", "{\"external_id\":\"x\",\"gpu\":\"H100 SXM5\",\"gpu_count\":8,\"node\":{\"vcpus\":192,"
           "\"memory_gib\":2048},\"region\":\"us-east\",\"availability\":{\"status\":"
           "\"available\",\"gpus_available\":64},\"prices\":[{\"billing\":\"on_demand\","
           "\"price_per_gpu_hour\":3.25},{\"billing\":\"reserved\",\"term_months\":12,"
           "\"plan\":\"p\",\"price_per_gpu_hour\":2.2,\"min_gpus\":16,\"upfront_percent\":20}]}"},
    {"{\"node\":{\"vcpus\":96,\"memory_gib\":null},\"region\":null,\"availability\":null,"
     "\"prices\":[{\"billing\":\"reserved\",\"term_months\":12.0,\"min_gpus\":16,"
     "\"upfront_percent\":20.0,\"plan\":\"p\",\"price_per_gpu_hour\":null}]}",
     "{\"external_id\":\"x\",\"gpu\":\"H100 SXM5\",\"gpu_count\":8,\"node\":{\"vcpus\":96},"
     "\"prices\":[{\"billing\":\"on_demand\",\"price_per_gpu_hour\":3.25}]}"},
    {"{\"region\":null,\"availability\":null,\"node\":null,\"prices\":["
     "{\"billing\":\"on_demand\",\"price_per_node_hour\":24},"
     "{\"billing\":\"spot\",\"price_per_gpu_hour\":1},"
     "{\"billing\":\"reserved\",\"term_months\":12,\"min_gpus\":16,\"upfront_percent\":20,"
     "\"plan\":\"p\",\"max_gpus\":512}]}",
     "{\"external_id\":\"x\",\"gpu\":\"H100 SXM5\",\"gpu_count\":8,\"prices\":["
     "{\"billing\":\"on_demand\",\"price_per_node_hour\":24},"
     "{\"billing\":\"spot\",\"price_per_gpu_hour\":1},"
     "{\"billing\":\"reserved\",\"term_months\":12,\"plan\":\"p\",\"price_per_gpu_hour\":2.2,"
     "\"min_gpus\":16,\"max_gpus\":512,\"upfront_percent\":20}]}"},
    {"{\"region\":null,\"availability\":{\"status\":null,\"gpus_available\":0},\"node\":null,"
     "\"gpu_count\":4,\"observed_at\":\"2026-11-30T12:00:00Z\",\"extra_costs\":{\"egress_per_gb\":"
     "0.01,\"storage_per_gb_month\":null},\"prices\":[{\"billing\":\"reserved\",\"term_months\":12,"
     "\"min_gpus\":16,\"upfront_percent\":20,\"plan\":\"p\",\"price_per_gpu_hour\":null}]}",
     "{\"external_id\":\"x\",\"gpu\":\"H100 SXM5\",\"gpu_count\":4,\"availability\":{"
     "\"gpus_available\":0},\"prices\":[{\"billing\":\"on_demand\",\"price_per_gpu_hour\":3.25}],"
     "\"extra_costs\":{\"egress_per_gb\":0.01},\"observed_at\":\"2026-11-30T12:00:00Z\"}"},
};

Test(patch, merges)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct patched patched;
        apply(&patched, cases[i].patch);
        cr_assert(patched.offer != NULL, "case %zu: %s %s", i, patched.error.message,
                  patched.upload.errors.count > 0 ? patched.upload.errors.items[0].message : "");
        char *text = test_write_offers(&patched.upload);
        text[strlen(text) - 1] = '\0';
        cr_expect_str_eq(text, cases[i].offer, "case %zu: %s", i, text);
        free(text);
        end(&patched);
    }
}

/* Derived facts follow: a GPU renamed is resolved again, node prices follow the count. */
Test(patch, derives_again)
{
    struct patched patched;
    apply(&patched, "{\"gpu\":\"H100 PCIe\",\"gpu_count\":2}");
    cr_assert(patched.offer != NULL);
    cr_expect_str_eq(gpu_at(patched.offer->gpu)->slug, "h100-pcie");
    cr_expect(patched.offer->prices[0].per_node_hour_microusd == 6500000);
    cr_expect(patched.offer->observed_at_us == TIMESTAMP_UNKNOWN, "seen when it was changed");
    end(&patched);
}

Test(patch, refuses)
{
    static const struct {
        const char *patch, *pointer, *code;
    } refused[] = {
        {"{\"external_id\":\"y\"}", "/external_id", "immutable"},
        {"{\"external_id\":null}", "/external_id", "immutable"},
        {"{\"gpu\":null}", "/gpu", "missing_field"},
        {"{\"gpu_count\":-1}", "/gpu_count", "out_of_range"},
        {"{\"prices\":null}", "/prices", "missing_field"},
        {"{\"prices\":7}", "/prices", "wrong_type"},
        {"{\"prices\":[7]}", "/prices/0", "wrong_type"},
        {"{\"pricess\":[]}", "/pricess", "unknown_member"},
        {"{\"prices\":[{\"billing\":\"spot\"}]}", "/prices/2", "missing_field"},
        {"{\"prices\":[{\"billing\":\"on_demand\",\"price_per_gpu_hour\":\"3\"}]}",
         "/prices/0/price_per_gpu_hour", "wrong_type"},
        {"{\"prices\":[{\"billing\":\"on_demand\",\"price_per_gpu_hour\":null},"
         "{\"billing\":\"reserved\",\"term_months\":12,\"min_gpus\":16,\"upfront_percent\":20,"
         "\"plan\":\"p\",\"price_per_gpu_hour\":null}]}",
         "/prices", "out_of_range"},
        {"{\"vram_gb\":640}", "/vram_gb", "vram_fits_no_variant"},
    };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct patched patched;
        apply(&patched, refused[i].patch);
        cr_expect(patched.status == DECODE_OK && patched.offer == NULL, "%s", refused[i].patch);
        cr_expect(test_find_issue(&patched.upload.errors, refused[i].pointer, refused[i].code) !=
                      NULL,
                  "%s gives %s %s", refused[i].patch,
                  patched.upload.errors.count > 0 ? patched.upload.errors.items[0].pointer : "-",
                  patched.upload.errors.count > 0 ? patched.upload.errors.items[0].code : "-");
        end(&patched);
    }
    static const char *const malformed[] = {
        "", "[]", "null", "7", "{", "{}{}", "{\"a\":1,\"a\":2}"};
    for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
        struct patched patched;
        apply(&patched, malformed[i]);
        cr_expect(patched.status == DECODE_MALFORMED && patched.error.message[0] != '\0', "%s",
                  malformed[i]);
        end(&patched);
    }
}
