/* The real catalogues, read in place: every raw name in them that names a product resolves, and
 * every GPU of the collected specifications stands in the table with those figures. */
#include "server/base/decimal.h"
#include "server/reference/gpu.h"

#include <criterion/criterion.h>
#include <csv.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(gpu_catalogue, .timeout = 120);

#define NAME_BYTES 128
#define NAMES_MAX  2000

/* Distinct names seen, and how many rows had one. */
struct names {
    char text[NAMES_MAX][NAME_BYTES];
    size_t count, rows;
};

static const char *data_path(const char *file, char out[4096])
{
    const char *root = getenv("RACKRATE_TEST_DATA");
    snprintf(out, 4096, "%s/%s", root == NULL ? "../shared/data" : root, file);
    FILE *there = fopen(out, "r");
    if (there == NULL) {
        fprintf(stderr, "SKIPPED: no real data at %s; set RACKRATE_TEST_DATA.\n", out);
        cr_skip("no real data");
    }
    fclose(there);
    return out;
}

static char *read_file(const char *path, size_t *ret_length)
{
    FILE *file = fopen(path, "rb");
    cr_assert(file != NULL, "%s", path);
    cr_assert(fseek(file, 0, SEEK_END) == 0);
    long length = ftell(file);
    rewind(file);
    char *text = malloc((size_t)length + 1);
    cr_assert(length >= 0 && text != NULL);
    cr_assert(fread(text, 1, (size_t)length, file) == (size_t)length);
    text[length] = '\0';
    fclose(file);
    *ret_length = (size_t)length;
    return text;
}

static void add_name(struct names *names, const char *text, size_t length)
{
    cr_assert(length < NAME_BYTES, "%.*s", (int)length, text);
    if (length == 0)
        return;
    names->rows++;
    for (size_t i = 0; i < names->count; i++) {
        if (strlen(names->text[i]) == length && memcmp(names->text[i], text, length) == 0)
            return;
    }
    cr_assert(names->count < NAMES_MAX);
    memcpy(names->text[names->count], text, length);
    names->text[names->count++][length] = '\0';
}

/* Every `"key": "value"` of a JSON file whose values hold no escapes. */
static void add_json(struct names *names, const char *path, const char *key)
{
    size_t length;
    char *text = read_file(path, &length), lead[64];
    snprintf(lead, sizeof(lead), "\"%s\": \"", key);
    for (char *at = text; (at = strstr(at, lead)) != NULL;) {
        at += strlen(lead);
        size_t value = strcspn(at, "\"\\");
        cr_assert(at[value] == '"', "%s has an escape", path);
        add_name(names, at, value);
    }
    free(text);
}

/* ---- SkyPilot CSV: the column AcceleratorName, and 'Name' inside GpuInfo ---- */

struct csv_walk {
    struct names *names;
    size_t column;
    size_t name_column, info_column;
    bool header_done;
};

static void take_cell(void *cell, size_t length, void *context)
{
    struct csv_walk *walk = context;
    const char *text = cell;
    if (!walk->header_done) {
        if (length == 15 && memcmp(text, "AcceleratorName", 15) == 0)
            walk->name_column = walk->column;
        if (length == 7 && memcmp(text, "GpuInfo", 7) == 0)
            walk->info_column = walk->column;
    } else if (walk->column == walk->name_column) {
        add_name(walk->names, text, length);
    } else if (walk->column == walk->info_column && length > 0 && text[0] == '{') {
        char info[2000];
        cr_assert(length < sizeof(info));
        memcpy(info, text, length);
        info[length] = '\0';
        const char *name = strstr(info, "'Name': '");
        if (name != NULL)
            add_name(walk->names, name + 9, strcspn(name + 9, "'"));
    }
    walk->column++;
}

static void end_row(int last, void *context)
{
    struct csv_walk *walk = context;
    (void)last;
    walk->header_done = true;
    walk->column = 0;
}

static void add_skypilot(struct names *names, const char *path)
{
    size_t length;
    char *text = read_file(path, &length);
    struct csv_walk walk = {.names = names, .name_column = SIZE_MAX, .info_column = SIZE_MAX};
    struct csv_parser parser;
    cr_assert(csv_init(&parser, CSV_APPEND_NULL) == 0);
    cr_assert(csv_parse(&parser, text, length, take_cell, end_row, &walk) == length, "%s", path);
    csv_fini(&parser, take_cell, end_row, &walk);
    csv_free(&parser);
    free(text);
    cr_assert(walk.name_column != SIZE_MAX, "%s has no AcceleratorName", path);
}

/* Adds every file of a folder whose name ends so. */
static size_t add_folder(struct names *names, const char *folder, const char *ending,
                         const char *key)
{
    char path[8192];
    size_t files = 0, tail = strlen(ending);
    DIR *open = opendir(folder);
    cr_assert(open != NULL, "%s", folder);
    for (struct dirent *entry; (entry = readdir(open)) != NULL;) {
        size_t length = strlen(entry->d_name);
        if (length < tail || strcmp(entry->d_name + length - tail, ending) != 0)
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (key == NULL)
            add_skypilot(names, path);
        else
            add_json(names, path, key);
        files++;
    }
    closedir(open);
    return files;
}

/* Names that several products bear: without a size they stay open. Lambda's RTX6000 comes with 24
 * GB beside it. */
static bool may_stay_open(const char *name)
{
    return strcmp(name, "RTX6000") == 0;
}

static void expect_all_known(const struct names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        struct gpu_match match;
        gpu_resolve(names->text[i], UNKNOWN, NULL, &match);
        bool known = match.gpu != gpu_unrecognized();
        cr_expect(known != may_stay_open(names->text[i]), "`%s` is %s", names->text[i],
                  gpu_at(match.gpu)->slug);
        cr_expect(match.vram_fits, "`%s` names a size that its GPU hasn't", names->text[i]);
    }
}

static struct names names;

Test(gpu_catalogue, every_name_in_the_offers_resolves)
{
    char path[4096];
    add_json(&names, data_path("catalogues/offers-real.ndjson", path), "gpu_name_raw");
    cr_expect(names.rows == 5739 && names.count == 296, "%zu rows, %zu names", names.rows,
              names.count);
    add_json(&names, data_path("catalogues/offers-real-reserved.ndjson", path), "gpu_name_raw");
    add_json(&names, data_path("catalogues/offers-gcp-combined.ndjson", path), "gpu_name_raw");
    cr_expect(names.rows == 5739 + 9612 + 579, "%zu rows", names.rows);
    expect_all_known(&names);
}

Test(gpu_catalogue, every_name_in_the_skypilot_catalogues_resolves)
{
    char path[4096];
    data_path("catalogues/skypilot/azure-vms.csv", path);
    *strrchr(path, '/') = '\0';
    size_t files = add_folder(&names, path, ".csv", NULL);
    cr_expect(files == 8, "%zu files", files);
    cr_expect(names.count > 200, "%zu names", names.count);
    expect_all_known(&names);
}

Test(gpu_catalogue, every_name_in_the_snapshots_resolves)
{
    char path[4096];
    data_path("catalogues/gpurentalprices/snapshots/2026-08-22.json", path);
    *strrchr(path, '/') = '\0';
    size_t files = add_folder(&names, path, ".json", "gpu");
    cr_expect(files == 49, "%zu files", files);
    cr_expect(names.count > 40, "%zu names", names.count);
    expect_all_known(&names);
}

Test(gpu_catalogue, a_size_beside_settles_what_the_name_leaves_open)
{
    struct gpu_match match;
    gpu_resolve("RTX6000", 24000, NULL, &match);
    cr_expect_str_eq(gpu_at(match.gpu)->slug, "quadro-rtx-6000");
}

/* ---- the collected specifications ---- */

enum spec_column {
    GPU,
    VENDOR,
    VRAM,
    BANDWIDTH,
    BF16,
    FP8,
    TDP,
    NVLINK,
    FORM,
    SLOT,
    YEAR,
    COLUMNS
};

struct spec_walk {
    char cells[COLUMNS][NAME_BYTES];
    size_t column, row;
};

/* A figure of the file against the table's. The table may know better from the vendor; the power of
 * a board with several GPUs is no GPU's; FP16 accumulation is no BF16 figure. */
static void expect_figure(const struct gpu *gpu, const char *cell, const char *what, int64_t milli,
                          const char *source)
{
    int64_t given;
    if (cell[0] == '\0' || (source != NULL && strncmp(source, "vendor", 6) == 0))
        return;
    bool shared_board = strcmp(what, "tdp") == 0 &&
                        (strcmp(gpu->slug, "a16") == 0 || strcmp(gpu->slug, "k80") == 0 ||
                         strcmp(gpu->slug, "m60") == 0);
    if (shared_board) {
        cr_expect(milli == UNKNOWN, "%s: %s", gpu->slug, what);
        return;
    }
    cr_assert(decimal_parse(cell, strlen(cell), 3, false, &given) == DECIMAL_OK, "%s", cell);
    cr_expect(milli == given, "%s: %s is %ld, the file says %s", gpu->slug, what, (long)milli,
              cell);
}

static void check_spec(const char (*cells)[NAME_BYTES])
{
    struct gpu_match match;
    int64_t vram;
    cr_assert(decimal_parse(cells[VRAM], strlen(cells[VRAM]), 3, false, &vram) == DECIMAL_OK);
    gpu_resolve(cells[GPU], vram, NULL, &match);
    const struct gpu *gpu = gpu_at(match.gpu);
    cr_expect(!gpu->is_family && match.vram_fits, "`%s` is %s", cells[GPU], gpu->slug);
    cr_expect(strncasecmp(gpu->vendor, cells[VENDOR], strlen(cells[VENDOR])) == 0, "%s",
              cells[GPU]);
    expect_figure(gpu, cells[VRAM], "vram", gpu->vram_gb_milli, gpu->sources.vram);
    expect_figure(gpu, cells[BANDWIDTH], "bandwidth", gpu->memory_bandwidth_gb_per_s_milli,
                  gpu->sources.memory_bandwidth);
    expect_figure(gpu, cells[BF16], "bf16", gpu->bf16_dense_tflops_milli, gpu->sources.bf16);
    expect_figure(gpu, cells[FP8], "fp8", gpu->fp8_dense_tflops_milli, gpu->sources.fp8);
    expect_figure(gpu, cells[TDP], "tdp",
                  gpu->tdp_watts == UNKNOWN ? UNKNOWN : gpu->tdp_watts * 1000, gpu->sources.tdp);
    expect_figure(gpu, cells[NVLINK], "nvlink", gpu->nvlink_gb_per_s_milli, gpu->sources.nvlink);
    expect_figure(gpu, cells[YEAR], "year", gpu->year == UNKNOWN ? UNKNOWN : gpu->year * 1000,
                  gpu->sources.year);
}

static void take_spec_cell(void *cell, size_t length, void *context)
{
    struct spec_walk *walk = context;
    if (walk->column < COLUMNS) {
        cr_assert(length < NAME_BYTES);
        memcpy(walk->cells[walk->column], cell, length);
        walk->cells[walk->column][length] = '\0';
    }
    walk->column++;
}

static void end_spec_row(int last, void *context)
{
    struct spec_walk *walk = context;
    (void)last;
    if (walk->row++ > 0)
        check_spec((const char(*)[NAME_BYTES])walk->cells);
    else
        cr_assert(strcmp(walk->cells[GPU], "gpu") == 0 &&
                  strcmp(walk->cells[YEAR], "release_year") == 0);
    walk->column = 0;
}

Test(gpu_catalogue, every_collected_specification_is_in_the_table)
{
    char path[4096];
    size_t length;
    char *text = read_file(data_path("specs/gpu-specs.csv", path), &length);
    struct spec_walk walk = {.row = 0};
    struct csv_parser parser;
    cr_assert(csv_init(&parser, CSV_APPEND_NULL) == 0);
    cr_assert(csv_parse(&parser, text, length, take_spec_cell, end_spec_row, &walk) == length);
    csv_fini(&parser, take_spec_cell, end_spec_row, &walk);
    csv_free(&parser);
    free(text);
    cr_expect(walk.row > 75, "%zu rows", walk.row);
}
