/* Catalogues: small ones with each oddity, and the real files in place with their counts and sums.
 */
#include "tests/support/test_upload.h"

#include "server/base/decimal.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(skypilot, .timeout = 240);

#define HEAD                                                                                       \
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,"       \
    "Region,AvailabilityZone\n"
#define INFO(name, count, mib)                                                                     \
    "\"{'Gpus': [{'Name': '" name "', 'Manufacturer': 'NVIDIA', 'Count': " count                   \
    ", 'MemoryInfo': {'SizeInMiB': " mib "}}], 'TotalGpuMemoryInMiB': 1}\""
#define TOTAL(name, count, mib)                                                                    \
    "\"{'Gpus': [{'Name': '" name "', 'Count': " count ", 'MemoryInfo': {'SizeInMiB': " mib        \
    "}}], 'TotalGpuMemoryInMiB': 1}\""

static void decode(struct test_upload *test, const char *provider, const char *body)
{
    test_upload_decode(test, FORMAT_SKYPILOT, provider, body, strlen(body));
}

Test(skypilot, which_gpu_and_how_much_memory)
{
    static const struct {
        const char *row, *slug;
        int64_t vram_gb_milli;
    } cases[] = {
        /* one GPU's size, all GPUs', GB in the MiB field */
        {"p4d,A100,8.0,96,1152," INFO("A100", "8", "40960") ",1,,r,", "a100", 40000},
        {"gpu_8x_a100_80gb_sxm4,A100-80GB,8.0,1,1," INFO("A100-80GB", "8", "81920") ",1,,r,",
         "a100-sxm-80gb", 80000},
        {"2x-RTX_5090-32-65536,RTX5090,2,1,1," INFO("RTX5090", "2", "65214") ",1,,r,", "rtx-5090",
         32000},
        {"1x_A100-80GB_SECURE,A100-80GB,1.0,8.0,117.0," INFO("A100 PCIe", "1", "80") ",1,,r,",
         "a100-pcie-80gb", 80000},
        /* totals where the manufacturer is left out: no conversion to 48 GB, no 80 GB card */
        {"2x-RTX_4090-32-131072,RTX4090,2,1,1," TOTAL("RTX4090", "2", "49128") ",1,,r,", "rtx-4090",
         24000},
        {"2x-A100_SXM4-32-131072,A100,2,1,1," TOTAL("A100", "2", "81920") ",1,,r,", "a100-sxm-40gb",
         40000},
        /* a lost suffix, a lost form factor */
        {"4x-RTX_4070S_Ti-32-65536,RTX4070,4,1,1," INFO("RTX4070", "4", "65504") ",1,,r,",
         "rtx-4070-ti-super", 16000},
        {"gpu-h100-sxm_8gpu-128vcpu-1600gb,H100,8,1,1," INFO("H100", "8", "81920") ",1,,r,",
         "h100-sxm", 80000},
        {"gpu_1x_h100_pcie,H100,1.0,1,1,,1,,r,", "h100-pcie", 80000},
        {"x,H100,1,1,1,,1,,r,", "h100", UNKNOWN},
        {"x,Frobnicator,1,1,1,,1,,r,", "unrecognized", UNKNOWN},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *body;
        struct test_upload test;
        cr_assert(asprintf(&body, HEAD "%s\n", cases[i].row) > 0);
        decode(&test, "acme", body);
        cr_assert(test.upload.offer_count == 1, "%s: %s", cases[i].row, test.error.message);
        const struct offer *offer = &test.upload.offers[0];
        cr_expect_str_eq(gpu_at(offer->gpu)->slug, cases[i].slug, "%s gives %s", cases[i].row,
                         gpu_at(offer->gpu)->slug);
        cr_expect(offer->vram_gb_milli == cases[i].vram_gb_milli ||
                      cases[i].vram_gb_milli == UNKNOWN,
                  "%s gives %d", cases[i].row, (int)offer->vram_gb_milli);
        cr_expect(offer->flags == 0);
        test_upload_free(&test);
        free(body);
    }
}

Test(skypilot, prices_are_of_the_node)
{
    struct test_upload test;
    decode(&test, "acme",
           HEAD "a,L4,8.0,96,384,,8.123456,0.00,r,z\n"
                "b,L4,0.167,6,55,,0.454,0.1,r,\n"
                "c,L4,1,6,55,,1.2345675,2,r,z\n"
                "d,L4,1,6,55,,,0.5,r,z\n"
                "e,L4,1,6,55,,2e-05,,r,z\n");
    cr_assert(test.upload.offer_count == 5, "%s", test.error.message);
    const struct offer *offer = test_find_offer(&test.upload, "a@z");
    cr_assert(offer != NULL && offer->price_count == 1);
    cr_expect(offer->prices[0].quoted_per == PRICE_PER_NODE &&
              offer->prices[0].per_gpu_hour_microusd == 1015432 &&
              offer->prices[0].per_node_hour_microusd == 8123456);
    offer = test_find_offer(&test.upload, "b@r");
    cr_assert(offer != NULL && offer->price_count == 2);
    cr_expect(offer->gpu_count_milli == 167 && offer->prices[0].per_gpu_hour_microusd == 2724000);
    offer = test_find_offer(&test.upload, "c@z");
    cr_assert(offer != NULL);
    cr_expect(offer->prices[0].quoted_microusd == 1234568, "half to even");
    cr_expect(offer->flags == (OFFER_FLAG(PRICE_ROUNDED) | OFFER_FLAG(SPOT_NOT_CHEAPER)));
    cr_expect(test_find_issue(&test.upload.warnings, "Price", "price_rounded") != NULL);
    offer = test_find_offer(&test.upload, "d@z");
    cr_expect(offer != NULL && offer->price_count == 1 && offer->prices[0].billing == BILLING_SPOT);
    offer = test_find_offer(&test.upload, "e@z");
    cr_expect(offer != NULL && offer->prices[0].quoted_microusd == 20);
    test_upload_free(&test);
}

Test(skypilot, bad_rows_are_named_and_the_rest_goes_on)
{
    struct test_upload test;
    decode(&test, "acme",
           HEAD "a,L4,one,1,1,,1,,r,\nb,L4,1,1,1,,free,,r,\nc,L4,1,1,1,,-1,,r,\n"
                "d,L4,1,1,1,,,,r,\ne,L4,1,1,1,,1,,,\nf,L4,1,1,1,,1,,r,\n"
                "f,L4,1,1,1,,2,,r,\nf,L4,1,1,1,,2,,r,\ng,,,4,16,,0.2,,r,\n"
                "tpu,tpu-v5e-0,1,1,1,,1,,r,\nh,L4,1,1,1,,99999999,,r,\n");
    static const struct {
        int64_t row;
        const char *pointer, *code;
    } wants[] = {{2, "AcceleratorCount", "not_a_number"},
                 {3, "Price", "not_a_number"},
                 {4, "Price", "out_of_range"},
                 {5, "Price", "missing_field"},
                 {6, "Region", "missing_field"},
                 {8, "InstanceType", "duplicate_external_id"},
                 {11, "AcceleratorCount", "out_of_range"},
                 {12, "Price", "out_of_range"}};
    for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++) {
        bool found = false;
        for (size_t k = 0; k < test.upload.errors.count; k++) {
            const struct row_issue *issue = &test.upload.errors.items[k];
            found = found ||
                    (issue->row == wants[i].row && strcmp(issue->pointer, wants[i].pointer) == 0 &&
                     strcmp(issue->code, wants[i].code) == 0);
        }
        cr_expect(found, "row %d", (int)wants[i].row);
    }
    cr_expect(test.upload.offer_count == 1 && test.upload.rejected == 8);
    cr_expect(test.upload.skipped == 2, "a machine without a GPU and an exact repetition");
    cr_expect(test_find_issue(&test.upload.warnings, "", "exact_duplicate") != NULL);
    test_upload_free(&test);
}

Test(skypilot, google_machines_and_accelerators_are_joined)
{
    struct test_upload test;
    decode(&test, "gcp",
           HEAD "a2-highgpu-2g,,,24,170,,1.9,0.9,us-central1,us-central1-a\n"
                "a2-highgpu-2g,,,24,170,,1.9,0.9,us-central1,us-central1-b\n"
                ",A100,2,,,,5.8,1.8,us-central1,us-central1-a\n"
                ",A100,4,,,,11,3,us-central1,us-central1-a\n"
                ",T4,1,,,,0.35,0.1,us-central1,us-central1-a\n"
                ",tpu-v5p-8,1,,,,16.8,8,us-central1,us-central1-a\n"
                "n1-standard-4,,,4,15,,0.19,0.04,us-central1,us-central1-a\n");
    cr_expect(test.status == DECODE_OK && test.upload.errors.count == 0);
    const struct offer *offer = test_find_offer(&test.upload, "a2-highgpu-2g@us-central1-a");
    cr_assert(offer != NULL && offer->price_count == 2);
    cr_expect(offer->prices[0].per_node_hour_microusd == 7700000 &&
              offer->prices[1].per_node_hour_microusd == 2700000 && offer->gpu_count_milli == 2000);
    cr_expect(offer->vcpus_milli == 24000);
    cr_expect_str_eq(place_at(offer->place)->country, "US");
    offer = test_find_offer(&test.upload, "tpu-v5p-8@us-central1-a");
    cr_expect(offer != NULL && offer->gpu_count_milli == 4000, "two cores a chip");
    cr_expect(test.upload.offer_count == 2 && test.upload.skipped == 5);
    cr_expect(test_find_issue(&test.upload.warnings, "InstanceType",
                              "machine_without_accelerator") != NULL);
    cr_expect(test_find_issue(&test.upload.warnings, "AcceleratorName",
                              "accelerator_without_machine") != NULL);
    test_upload_free(&test);
}

Test(skypilot, one_field_too_many_is_the_unquoted_generation)
{
    struct test_upload test;
    decode(&test, "azure", HEAD "a,L4,1,1,1,,1,,r,V1,V2\n");
    cr_expect(test.status == DECODE_OK && test.upload.offer_count == 1);
    test_upload_free(&test);
    static const char *const bad[] = {
        "",
        "a,b,c\n",
        HEAD "a,L4,1,1,1,,1,,r,V1,V2,V3\n",
        HEAD "a,L4,1\n",
        HEAD "a,L4,1,1,1,,1,,r,",
        HEAD "\"a,L4",
        HEAD "a\"b,L4,1,1,1,,1,,r,\n",
        "InstanceType,InstanceType,AcceleratorName,AcceleratorCount,Price,Region\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        decode(&test, "azure", bad[i]);
        cr_expect(test.status == DECODE_MALFORMED && test.error.message[0] != '\0', "%s", bad[i]);
        cr_expect(test.upload.offer_count == 0);
        test_upload_free(&test);
    }
}

struct total {
    int64_t on_demand_microusd, spot_microusd;
};

static struct total add_up(const struct upload *upload)
{
    struct total total = {0};
    for (size_t i = 0; i < upload->offer_count; i++) {
        for (size_t k = 0; k < upload->offers[i].price_count; k++) {
            const struct price *price = &upload->offers[i].prices[k];
            if (price->billing == BILLING_ON_DEMAND)
                total.on_demand_microusd += price->per_node_hour_microusd;
            else
                total.spot_microusd += price->per_node_hour_microusd;
        }
    }
    return total;
}

static size_t count_flag(const struct upload *upload, uint32_t flag)
{
    size_t count = 0;
    for (size_t i = 0; i < upload->offer_count; i++)
        count += (upload->offers[i].flags & flag) != 0;
    return count;
}

/* Counted once by hand from each file: rows, offers, what they cost together. */
static const struct real {
    const char *file, *provider;
    int64_t rows;
    size_t offers;
    int64_t rejected, skipped, on_demand_microusd, spot_microusd;
    size_t spot_not_cheaper;
} reals[] = {
    {"azure-vms.csv", "azure", 56671, 829, 0, 55842, 12716654400, 5170674348, 28},
    {"lambda-vms.csv", "lambda", 425, 391, 0, 34, 4154630000, 0, 0},
    {"vast-vms.csv", "vast", 64, 64, 0, 0, 164770000, 0, 0},
    {"v8-nebius-vms.csv", "nebius", 23, 21, 0, 2, 211845200, 50400000, 0},
    {"v8-hyperbolic-vms.csv", "hyperbolic", 3, 3, 0, 0, 7740000, 0, 0},
    {"v8-aws-vms.excerpt.csv", "aws", 60, 56, 0, 4, 2341367978, 1202406600, 12},
    {"v8-runpod-vms.excerpt.csv", "runpod", 127, 79, 0, 48, 152900000, 152900000, 79},
    {"gcp-vms.csv", "gcp", 31285, 2091, 11, 29183, 13344942331130, 3873436627920, 32},
};

static char *read_real(const struct real *real, size_t *ret_length)
{
    char path[200];
    snprintf(path, sizeof(path), "catalogues/skypilot/%s", real->file);
    return test_read_data(path, ret_length);
}

Test(skypilot, real_catalogues_have_their_counts_and_sums)
{
    for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++) {
        const struct real *real = &reals[i];
        size_t length;
        char *bytes = read_real(real, &length);
        if (bytes == NULL)
            cr_skip_test("RACKRATE_TEST_DATA has no %s", real->file);
        struct test_upload test;
        test_upload_decode(&test, FORMAT_UNKNOWN, real->provider, bytes, length);
        const struct upload *upload = &test.upload;
        struct total total = add_up(upload);
        cr_expect(test.status == DECODE_OK, "%s: %s", real->file, test.error.message);
        cr_expect(upload->rows_read == real->rows && upload->offer_count == real->offers &&
                      upload->rejected == real->rejected && upload->skipped == real->skipped,
                  "%s: %d rows, %zu offers, %d rejected, %d skipped", real->file,
                  (int)upload->rows_read, upload->offer_count, (int)upload->rejected,
                  (int)upload->skipped);
        cr_expect(total.on_demand_microusd == real->on_demand_microusd &&
                      total.spot_microusd == real->spot_microusd,
                  "%s: %lld, %lld", real->file, (long long)total.on_demand_microusd,
                  (long long)total.spot_microusd);
        cr_expect(count_flag(upload, OFFER_FLAG(SPOT_NOT_CHEAPER)) == real->spot_not_cheaper, "%s",
                  real->file);
        for (size_t k = 0; k < upload->offer_count; k++) {
            cr_expect(upload->offers[k].gpu != gpu_unrecognized(), "%s: %s", real->file,
                      upload->offers[k].gpu_raw);
            cr_expect(
                upload->offers[k].place != INDEX_NONE || strcmp(real->provider, "hyperbolic") == 0,
                "%s: %s %s", real->file, upload->offers[k].region_raw, upload->offers[k].zone);
        }
        test_upload_free(&test);
        free(bytes);
    }
}

/* The joined prices, row by row, against those that were joined before. */
Test(skypilot, google_prices_are_what_one_really_pays)
{
    size_t length, joined_length;
    char *bytes = test_read_data("catalogues/skypilot/gcp-vms.csv", &length);
    char *joined = test_read_data("catalogues/offers-gcp-combined.ndjson", &joined_length);
    if (bytes == NULL || joined == NULL)
        cr_skip_test("RACKRATE_TEST_DATA has no Google catalogue");
    struct test_upload test;
    test_upload_decode(&test, FORMAT_SKYPILOT, "gcp", bytes, length);
    int rows = 0, same = 0;
    for (char *line = strtok(joined, "\n"); line != NULL; line = strtok(NULL, "\n"), rows++) {
        char type[100], zone[100], id[204], price[40];
        const char *at = strstr(line, "\"on_demand_usd_per_hour\": ");
        cr_assert(sscanf(strstr(line, "\"external_id\""), "\"external_id\": \"%99[^\"]", type) ==
                  1);
        cr_assert(sscanf(strstr(line, "\"zone_raw\""), "\"zone_raw\": \"%99[^\"]", zone) == 1);
        if (at == NULL || sscanf(at, "\"on_demand_usd_per_hour\": %39[0-9.]", price) != 1)
            continue;
        int64_t microusd;
        cr_assert(decimal_parse(price, strlen(price), 6, true, &microusd) <= DECIMAL_ROUNDED);
        snprintf(id, sizeof(id), "%s@%s", type, zone);
        const struct offer *offer = test_find_offer(&test.upload, id);
        same += offer != NULL && offer->prices[0].billing == BILLING_ON_DEMAND &&
                offer->prices[0].per_node_hour_microusd == microusd;
    }
    cr_expect(rows == 579 && same >= 568, "%d of %d", same, rows);
    test_upload_free(&test);
    free(joined);
    free(bytes);
}

/* Cut at every 1,000th byte: refused with a line, or (at a row's end) rows of the whole. */
Test(skypilot, every_cut_is_refused_or_holds_whole_rows)
{
    static const size_t files[] = {1, 2, 3, 4, 5, 6};
    for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
        const struct real *real = &reals[files[f]];
        size_t length;
        char *bytes = read_real(real, &length);
        if (bytes == NULL)
            cr_skip_test("RACKRATE_TEST_DATA has no %s", real->file);
        struct test_upload whole;
        test_upload_decode(&whole, FORMAT_SKYPILOT, real->provider, bytes, length);
        for (size_t cut = 0; cut < length; cut += 1000) {
            struct test_upload test;
            test_upload_decode(&test, FORMAT_SKYPILOT, real->provider, bytes, cut);
            bool at_end = cut > 0 && (bytes[cut - 1] == '\n' || bytes[cut - 1] == '\r');
            cr_expect(at_end || test.status == DECODE_MALFORMED, "%s cut at %zu", real->file, cut);
            cr_expect(test.status == DECODE_OK ||
                      (test.error.message[0] != '\0' && test.upload.offer_count == 0));
            for (size_t i = 0; i < test.upload.offer_count; i++)
                cr_expect(test_find_offer(&whole.upload, test.upload.offers[i].external_id) !=
                          NULL);
            test_upload_free(&test);
        }
        test_upload_free(&whole);
        free(bytes);
    }
}
