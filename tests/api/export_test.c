/* The market given back over the API, and read again. */
#include "tests/support/test_api.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct test_api api;
static char key[64];

static void set_up(void)
{
    test_api_start(&api);
    test_api_provider(&api, "acme", key);
}

static void tear_down(void)
{
    test_api_stop(&api);
}

TestSuite(api_export, .timeout = 60, .init = set_up, .fini = tear_down);

#define INVENTORY "/v1/providers/acme/inventory"

static const char rich[] = "{\"offers\":[{\"external_id\":\"=a,\\\"1\\\"\",\"gpu\":\"H100 "
                           "SXM5\",\"gpu_count\":8,\"node\":{\"vcpus\":192,"
                           "\"memory_gib\":2048.5},\"region\":\"us-east\",\"zone\":\"iad1\","
                           "\"prices\":[{\"billing\":\"on_demand\","
                           "\"price_per_node_hour\":26.1},{\"billing\":\"reserved\",\"term_"
                           "months\":12,\"plan\":\"convertible\","
                           "\"price_per_gpu_hour\":2.2,\"min_gpus\":16,\"upfront_percent\":20}],"
                           "\"attribution\":\"somebody (CC BY 4.0)\"},"
                           "{\"external_id\":\"b\",\"gpu\":\"RTX 9999 "
                           "Imaginary\",\"gpu_count\":0.125,\"prices\":[{\"billing\":\"spot\","
                           "\"price_per_gpu_hour\":0.0001}]}]}";

static struct loopback_reply export_as(const char *format)
{
    char target[80];
    snprintf(target, sizeof(target), "/v1/export/%s?provider=acme", format);
    return test_api_call(&api, "GET", target, NULL, NULL, NULL);
}

Test(api_export, what_comes_out_goes_in_again_unchanged)
{
    static const struct {
        const char *format, *type;
    } formats[] = {{"ndjson", "content-type: application/x-ndjson"},
                   {"csv", "content-type: text/csv"}};
    cr_assert(test_api_status(&api, "PUT", INVENTORY, key, NULL, rich) == 200);
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct loopback_reply out = export_as(formats[i].format);
        cr_assert(out.status == 200, "%s answered %d", formats[i].format, out.status);
        char *credit = test_reply_header(&out, "X-Attribution");
        cr_expect_str_eq(credit, "somebody (CC BY 4.0)");
        free(credit);
        struct loopback_reply again =
            test_api_call(&api, "PUT", INVENTORY, key, formats[i].type, out.body);
        cr_expect(again.status == 200 && strstr(again.body, "\"unchanged\":2") != NULL, "%s: %s",
                  formats[i].format, again.body);
        loopback_reply_free(&again);
        struct loopback_reply second = export_as(formats[i].format);
        cr_expect_str_eq(out.body, second.body);
        loopback_reply_free(&second);
        loopback_reply_free(&out);
    }
}

Test(api_export, a_catalogue_for_schedulers_and_what_it_refuses)
{
    cr_assert(test_api_status(&api, "PUT", INVENTORY, key, NULL, rich) == 200);
    struct loopback_reply out = test_api_call(&api, "GET", "/v1/export/skypilot", NULL, NULL, NULL);
    cr_assert(out.status == 200);
    cr_expect(strncmp(out.body, "InstanceType,AcceleratorName,", 29) == 0 &&
              strstr(out.body, ",26.1,") != NULL);
    char *etag = test_reply_header(&out, "ETag"), header[100];
    snprintf(header, sizeof(header), "if-none-match: %s", etag);
    cr_expect(test_api_status(&api, "GET", "/v1/export/skypilot", NULL, header, NULL) == 304);
    free(etag);
    loopback_reply_free(&out);
    cr_expect(test_api_status(&api, "GET", "/v1/export/xml", NULL, NULL, NULL) == 404);
    cr_expect(test_api_status(&api, "GET", "/v1/export/csv?provider=nobody", NULL, NULL, NULL) ==
              400);
    cr_expect(test_api_status(&api, "GET", "/v1/export/csv?x=1", NULL, NULL, NULL) == 400);
}

Test(api_export, foreign_formats_go_in_by_name)
{
    const char *catalogue = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,"
                            "Region,GpuInfo,SpotPrice\n"
                            "gpu_8x,H100,8,192,2048,26.0,us-east-1,,\ncpu,,,4,16,0.2,us-east-1,,\n";
    struct loopback_reply reply = test_api_call(&api, "PUT", INVENTORY "?format=skypilot", key,
                                                "content-type: text/csv", catalogue);
    cr_expect(reply.status == 200 && strstr(reply.body, "\"created\":1") != NULL &&
                  strstr(reply.body, "\"skipped\":1") != NULL,
              "%d %s", reply.status, reply.body);
    loopback_reply_free(&reply);
    const char *snapshot = "{\"date\":\"2026-08-22\",\"generated_at\":\"2026-08-22T06:00:00Z\","
                           "\"offers\":[{\"provider\":\"acme\",\"gpu\":"
                           "\"l4\",\"vram_gb\":24,\"usd_hr\":0.39,\"kind\":\"on-demand\",\"source_"
                           "url\":\"https://a.example/\","
                           "\"fetched_at\":\"2026-08-22T06:00:00Z\"}]}";
    reply = test_api_call(&api, "PUT", INVENTORY "?format=gpurentalprices", key, NULL, snapshot);
    cr_expect(reply.status == 200 && strstr(reply.body, "\"created\":1") != NULL, "%d %s",
              reply.status, reply.body);
    loopback_reply_free(&reply);
}
