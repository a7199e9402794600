/* deploy/convert/neutral.jq: from a neutral shape of price observations to NDJSON that goes in
 * without a rejection. Needs jq; run from the root of the repository, as all tests are. */
#include "tests/support/test_upload.h"

#include "server/base/decimal.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(convert, .timeout = 120);

/* What jq makes of a file; malloc'd. */
static char *convert(const char *path, size_t *ret_length)
{
    char command[1200];
    snprintf(command, sizeof(command), "jq -c -n -f deploy/convert/neutral.jq '%s'", path);
    FILE *pipe = popen(command, "r");
    cr_assert(pipe != NULL);
    struct buf out = {0};
    size_t read;
    do {
        read = fread(buf_reserve(&out, 65536), 1, 65536, pipe);
        out.length += read;
    } while (read > 0);
    buf_add_string(&out, "");
    cr_assert(pclose(pipe) == 0, "jq failed on %s", path);
    return buf_detach(&out, ret_length);
}

struct counted {
    size_t providers, offers, prices, errors;
};

static struct counted import(const char *bytes, size_t length)
{
    struct decode_options options = test_decode_options(FORMAT_NDJSON, NULL);
    struct arena arena = {0};
    struct provider_upload *uploads;
    struct decode_error error;
    struct counted counted = {0};
    cr_assert(upload_split(&options, bytes, length, &arena, &uploads, &counted.providers, &error) ==
                  DECODE_OK,
              "%s", error.message);
    for (size_t i = 0; i < counted.providers; i++) {
        counted.offers += uploads[i].upload.offer_count;
        counted.errors += uploads[i].upload.errors.count;
        for (size_t k = 0; k < uploads[i].upload.offer_count; k++)
            counted.prices += uploads[i].upload.offers[k].price_count;
    }
    arena_free(&arena);
    return counted;
}

Test(convert, real_files_go_in_whole)
{
    static const struct {
        const char *file;
        struct counted counted; /* 230 lines have no price; 9,612 lines are a price each */
    } reals[] = {{"offers-real", {47, 5296, 9446, 0}}, {"offers-real-reserved", {1, 807, 9612, 0}}};
    const char *root = getenv("RACKRATE_TEST_DATA");
    for (size_t i = 0; i < 2; i++) {
        char path[1024];
        size_t length;
        snprintf(path, sizeof(path), "%s/catalogues/%s.ndjson",
                 root != NULL ? root : "../shared/data", reals[i].file);
        if (access(path, R_OK) != 0)
            cr_skip_test("RACKRATE_TEST_DATA has no %s", path);
        char *bytes = convert(path, &length);
        struct counted counted = import(bytes, length);
        cr_expect(memcmp(&counted, &reals[i].counted, sizeof(counted)) == 0,
                  "%s: %zu providers, %zu offers, %zu prices, %zu errors", reals[i].file,
                  counted.providers, counted.offers, counted.prices, counted.errors);
        free(bytes);
    }
}

/* Twins keep the cheaper price, other machines their own id; no price, no line. */
Test(convert, a_small_file)
{
    static const char lines[] =
        "{\"provider\":\"Oracle Cloud\",\"external_id\":\"a\",\"gpu_name_raw\":\"H100\","
        "\"gpu_count\":8,\"vcpus\":1,\"memory_gib\":2,\"region_raw\":\"r\",\"zone_raw\":null,"
        "\"on_demand_usd_per_hour\":21.957642,\"spot_usd_per_hour\":0}\n"
        "{\"provider\":\"Oracle Cloud\",\"external_id\":\"a\",\"gpu_name_raw\":\"H100\","
        "\"gpu_count\":8,\"vcpus\":1,\"memory_gib\":2,\"region_raw\":\"r\",\"zone_raw\":null,"
        "\"on_demand_usd_per_hour\":21.95764,\"spot_usd_per_hour\":3.0000004}\n"
        "{\"provider\":\"Oracle Cloud\",\"external_id\":\"a\",\"gpu_name_raw\":\"H100\","
        "\"gpu_count\":4,\"vcpus\":null,\"memory_gib\":null,\"region_raw\":\"r\","
        "\"on_demand_usd_per_hour\":10,\"spot_usd_per_hour\":null}\n"
        "{\"provider\":\"x\",\"external_id\":null,\"gpu_name_raw\":\"L4\",\"gpu_count\":0.1666,"
        "\"on_demand_usd_per_hour\":null,\"spot_usd_per_hour\":0}\n";
    static const char want[] =
        "{\"provider\":\"oracle-cloud\",\"external_id\":\"a, 4x H100@r\",\"gpu\":\"H100\","
        "\"gpu_count\":4,\"node\":{\"vcpus\":null,\"memory_gib\":null},\"region\":\"r\","
        "\"zone\":null,\"prices\":[{\"billing\":\"on_demand\",\"price_per_node_hour\":10}]}\n"
        "{\"provider\":\"oracle-cloud\",\"external_id\":\"a, 8x H100 1 vCPU 2 GiB@r\","
        "\"gpu\":\"H100\",\"gpu_count\":8,\"node\":{\"vcpus\":1,\"memory_gib\":2},"
        "\"region\":\"r\",\"zone\":null,\"prices\":[{\"billing\":\"on_demand\","
        "\"price_per_node_hour\":21.95764},{\"billing\":\"spot\",\"price_per_node_hour\":3}]}\n";
    char path[] = "/tmp/rackrate-convert-XXXXXX";
    int fd = mkstemp(path);
    cr_assert(fd >= 0 && write(fd, lines, sizeof(lines) - 1) == (ssize_t)sizeof(lines) - 1);
    close(fd);
    size_t length;
    char *bytes = convert(path, &length);
    unlink(path);
    cr_expect_str_eq(bytes, want, "%s", bytes);
    struct counted counted = import(bytes, length);
    cr_expect(counted.offers == 2 && counted.prices == 3 && counted.errors == 0);
    free(bytes);
}
