/* How much memory an upload takes while it is parsed: the most that decoding adds beyond the
 * decoded body it reads, as a multiple of that body, by format, on real files where they are and on
 * made ones. Each format in a process of its own, so that nothing is left over from the one before.
 * Usage: decode_memory; prints `NAME BYTES PEAK RATIO` a line, the body itself counted in. */
#include "server/base/crypto.h"
#include "server/base/timestamp.h"
#include "server/inventory/inventory.h"
#include "tests/support/test_upload.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The most this process ever had resident, in bytes, since it was last reset. */
static size_t peak_bytes(void)
{
    char line[200];
    size_t kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "VmHWM: %zu kB", &kib) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return kib * 1024;
}

static void reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file == NULL || fputs("5", file) == EOF || fclose(file) != 0) {
        perror("decode_memory: /proc/self/clear_refs");
        exit(1);
    }
}

static void measure(const char *name, enum upload_format format, const char *body, size_t length)
{
    struct decode_options options = {
        .format = format,
        .provider_slug = "bench",
        .source_kind = SOURCE_PROVIDER_API,
        .as_of_us = TIMESTAMP_UNKNOWN,
    };
    struct arena arena = {0};
    struct decode_error error = {0};
    size_t offers = 0, count = 1;
    enum decode_status status;
    malloc_trim(0);
    reset_peak();
    size_t before = peak_bytes();
    if (format == FORMAT_GPURENTALPRICES) {
        struct provider_upload *uploads;
        status = upload_split(&options, body, length, &arena, &uploads, &count, &error);
        for (size_t i = 0; status == DECODE_OK && i < count; i++)
            offers += uploads[i].upload.offer_count;
    } else {
        struct upload upload;
        status = upload_decode(&options, body, length, &arena, &upload, &error);
        offers = status == DECODE_OK ? upload.offer_count : 0;
    }
    size_t added = peak_bytes() - before;
    if (status != DECODE_OK || offers == 0) {
        fprintf(stderr, "decode_memory: %s: %s (%zu offers)\n", name, error.message, offers);
        exit(1);
    }
    printf("%s %zu %zu %.2f\n", name, length, length + added,
           (double)(length + added) / (double)length);
    arena_free(&arena);
}

/* `rows` lines of a pattern with one %d in it, between a head and a foot. */
static char *repeat(const char *head, const char *pattern, const char *separator, const char *foot,
                    int rows, size_t *ret_length)
{
    size_t size = strlen(head) + strlen(foot) + (strlen(pattern) + 24) * (size_t)rows + 1;
    char *text = malloc(size);
    size_t at = 0;
    if (text == NULL)
        abort();
    at += (size_t)sprintf(text, "%s", head);
    for (int i = 0; i < rows; i++) {
        const char *number = strchr(pattern, '#');
        at += (size_t)sprintf(text + at, "%s%.*s%d%s", i == 0 ? "" : separator,
                              (int)(number - pattern), pattern, i, number + 1);
    }
    at += (size_t)sprintf(text + at, "%s", foot);
    *ret_length = at;
    return text;
}

static void in_a_process(void (*run)(void))
{
    int status;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        run();
        fflush(stdout);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        exit(1);
}

#define ROWS 200000
#define SHORT_OFFER                                                                                \
    "{\"external_id\":\"#\",\"gpu\":\"l4\",\"gpu_count\":1,\"prices\":[{\"billing\":\"spot\","     \
    "\"price_per_gpu_hour\":1}]}"
#define USUAL_OFFER                                                                                \
    "{\"external_id\":\"h100-8x-#\",\"gpu\":\"H100 "                                               \
    "SXM5\",\"gpu_count\":8,\"node\":{\"vcpus\":192,"                                              \
    "\"memory_gib\":2048,\"storage_gb\":40000},\"interconnect\":\"nvlink\",\"fabric\":"            \
    "\"infiniband\",\"fabric_gbps\":3200,\"region\":\"us-east\",\"zone\":\"iad1\","                \
    "\"availability\":{\"status\":\"available\",\"gpus_available\":64},\"prices\":[{\"billing\":"  \
    "\"on_demand\",\"price_per_gpu_hour\":3.25},{\"billing\":\"reserved\",\"term_months\":12,"     \
    "\"price_per_gpu_hour\":2.2,\"min_gpus\":16}]}"

static void made(const char *name, enum upload_format format, const char *head, const char *pattern,
                 const char *separator, const char *foot)
{
    size_t length;
    char *body = repeat(head, pattern, separator, foot, ROWS, &length);
    measure(name, format, body, length);
    free(body);
}

static void json_short(void)
{
    made("json-short", FORMAT_JSON, "{\"offers\":[", SHORT_OFFER, ",", "]}");
}

static void json_usual(void)
{
    made("json-usual", FORMAT_JSON, "{\"offers\":[", USUAL_OFFER, ",", "]}");
}

static void ndjson_usual(void)
{
    made("ndjson-usual", FORMAT_NDJSON, "", USUAL_OFFER, "\n", "\n");
}

static void csv_short(void)
{
    made("csv-short", FORMAT_CSV, "external_id,gpu,gpu_count,billing,price_per_gpu_hour\n",
         "#,l4,1,spot,1", "\n", "\n");
}

static void csv_usual(void)
{
    made("csv-usual", FORMAT_CSV,
         "external_id,gpu,gpu_count,vcpus,memory_gib,storage_gb,interconnect,fabric,fabric_gbps,"
         "region,zone,status,gpus_available,billing,price_per_gpu_hour\n",
         "h100-8x-#,H100 SXM5,8,192,2048,40000,nvlink,infiniband,3200,us-east,iad1,available,64,"
         "on_demand,3.25",
         "\n", "\n");
}

static void real_file(const char *name, enum upload_format format, const char *path)
{
    size_t length;
    char *body = test_read_data(path, &length);
    if (body == NULL) {
        fprintf(stderr, "decode_memory: SKIPPED %s: RACKRATE_TEST_DATA has no %s\n", name, path);
        return;
    }
    measure(name, format, body, length);
    free(body);
}

static void skypilot(void)
{
    real_file("skypilot-azure", FORMAT_SKYPILOT, "catalogues/skypilot/azure-vms.csv");
}

static void skypilot_gcp(void)
{
    real_file("skypilot-gcp", FORMAT_SKYPILOT, "catalogues/skypilot/gcp-vms.csv");
}

int main(void)
{
    static void (*const runs[])(void) = {json_short, json_usual, ndjson_usual, csv_short,
                                         csv_usual,  skypilot,   skypilot_gcp};
    if (!crypt_init())
        return 1;
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
        in_a_process(runs[i]);
    return 0;
}
