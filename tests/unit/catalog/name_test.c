/* GPUs and regions by any spelling: slug, family, alias, and the words offers were uploaded with.
 */
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"
#include "tests/support/search_oracle.h"

#include <criterion/criterion.h>
#include <string.h>

static struct catalog *catalog;
static struct arena arena;
static struct provider provider = {.slug = "acme",
                                   .name = "Acme",
                                   .freshness_hours = UNKNOWN,
                                   .trust = {UNKNOWN, -1, -1, -1},
                                   .version = 1,
                                   .confirmed_at_us = MARKET_NOW_US,
                                   .updated_at_us = MARKET_NOW_US};

/* external_id, uploaded GPU name, what it was resolved to, VRAM, region words, place. */
static const struct {
    const char *external_id, *gpu_raw, *gpu;
    int64_t vram;
    const char *region_raw, *place;
} rows[] = {
    {"sxm", "H100 SXM5", "h100-sxm", 80000, "us-east-1", "us-ashburn"},
    {"pcie", "h100-pcie", "h100-pcie", 80000, "us-east", "us-east"},
    {"open", "H100", "h100", 80000, "Planet Nine", NULL},
    {"a100-80", "A100 80GB", "a100", 80000, "stockholm", "se-stockholm"},
    {"a100-40", "A100-40GB", "a100", 40000, "SE", "se"},
    {"a100-open", "a100", "a100", UNKNOWN, "europe north", "eu-north"},
    {"a100-sxm-80", "A100-SXM4-80GB", "a100-sxm-80gb", 80000, NULL, NULL},
    {"a100-sxm-40", "A100-SXM4-40GB", "a100-sxm-40gb", 40000, NULL, NULL},
    {"odd", "Frobnicator 9000", "unrecognized", UNKNOWN, "the moon", NULL},
    {"mapped", "Quux Blade", "l4", 24000, "back yard", "de-frankfurt"},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void load(int64_t version, size_t skip)
{
    struct offer *offers = arena_calloc(&arena, ROWS, sizeof(*offers));
    size_t count = 0;
    for (size_t i = 0; i < ROWS; i++) {
        if (i == skip)
            continue;
        struct price *price = arena_calloc(&arena, 1, sizeof(*price));
        *price = (struct price){.min_gpus = UNKNOWN,
                                .max_gpus = UNKNOWN,
                                .upfront_percent_milli = UNKNOWN,
                                .quoted_microusd = 1000000 + (int64_t)i};
        cr_assert(price_derive(price, 1000));
        offers[count] =
            (struct offer){.external_id = rows[i].external_id,
                           .gpu_raw = rows[i].gpu_raw,
                           .gpu_count_milli = 1000,
                           .vram_gb_given_milli = UNKNOWN,
                           .vcpus_milli = UNKNOWN,
                           .memory_gib_milli = UNKNOWN,
                           .storage_gb_milli = UNKNOWN,
                           .fabric_gbps_milli = UNKNOWN,
                           .region_raw = rows[i].region_raw,
                           .availability = {.gpus_available = UNKNOWN, .lead_time_days = UNKNOWN},
                           .prices = price,
                           .price_count = 1,
                           .extra_costs = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN},
                           .observed_at_us = MARKET_NOW_US,
                           .gpu = gpu_find(rows[i].gpu),
                           .place = rows[i].place == NULL ? INDEX_NONE : place_find(rows[i].place),
                           .vram_gb_milli = rows[i].vram,
                           .updated_at_us = MARKET_NOW_US};
        cr_assert(offers[count].gpu != INDEX_NONE, "%s", rows[i].gpu);
        cr_assert(rows[i].place == NULL || offers[count].place != INDEX_NONE, "%s", rows[i].place);
        count++;
    }
    provider.version = version;
    struct catalog_update update = {.provider = &provider,
                                    .after_version = UNKNOWN,
                                    .reload = true,
                                    .upserts = offers,
                                    .upsert_count = count};
    cr_assert(catalog_apply(catalog, &update, 1));
}

static void start(void)
{
    cr_assert(crypt_init());
    catalog = catalog_new();
    load(1, ROWS);
}

static void stop(void)
{
    catalog_free(catalog);
    arena_free(&arena);
}

TestSuite(name, .init = start, .fini = stop, .timeout = 60);

/* external_ids found, in order of price, with blanks between; "?" where the value is refused. */
static const char *find(const char *parameter, const char *value)
{
    struct query_parameter parameters[] = {{parameter, value}};
    struct query *query;
    struct query_error *errors;
    struct snapshot *snapshot = catalog_acquire(catalog);
    size_t bad = query_parse(parameters, 1, snapshot, &arena, &query, &errors);
    snapshot_release(snapshot);
    if (bad > 0)
        return "?";
    struct found *found;
    size_t total,
        count = catalog_search(catalog, parameters, 1, MARKET_NOW_US, &arena, &found, &total);
    const char *text = "";
    for (size_t i = 0; i < count; i++)
        text = arena_printf(&arena, "%s%s%s", text, i > 0 ? " " : "",
                            rows[found[i].per_gpu_hour_microusd - 1000000].external_id);
    return text;
}

Test(name, gpus)
{
    const struct {
        const char *value, *found;
    } cases[] = {
        {"h100", "sxm pcie open"},
        {"H100", "sxm pcie open"},
        {"h100-sxm", "sxm"},
        {"H100 SXM5", "sxm"},
        {"NVIDIA H100 80GB HBM3", "sxm"},
        {"h100_sxm5", "sxm"},
        {"a100", "a100-80 a100-40 a100-open a100-sxm-80 a100-sxm-40"},
        {"A100-80GB", "a100-80 a100-sxm-80"},
        {"a100 40gb", "a100-40 a100-sxm-40"},
        {"a100-sxm-80gb", "a100-sxm-80"},
        {"A100 SXM", "a100-sxm-80 a100-sxm-40"},
        {"A100 PCIe", ""},
        {"A100 64GB", "?"},
        {"Frobnicator 9000", "odd"},
        {"FROBNICATOR-9000", "odd"},
        {"unrecognized", "odd"},
        {"Frobnicator 9001", "?"},
        {"quux blade", "mapped"},
        {"quux blade,h100-pcie", "pcie mapped"},
        {"l4", "mapped"},
        {"l40s", ""},
        {"b200", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *found = find("gpu", cases[i].value);
        cr_expect(strcmp(found, cases[i].found) == 0, "gpu=%s: \"%s\", want \"%s\"", cases[i].value,
                  found, cases[i].found);
    }
}

Test(name, regions)
{
    const struct {
        const char *value, *found;
    } cases[] = {
        {"us-east", "sxm pcie"},
        {"us-ashburn", "sxm"},
        {"us", "sxm"},
        {"se", "a100-80 a100-40"},
        {"eu-north", "a100-80 a100-40 a100-open"},
        {"se-stockholm", "a100-80"},
        {"Planet Nine", "open"},
        {"planet  NINE", "open"},
        {"the moon", "odd"},
        {"back-yard", "mapped"},
        {"the moon,us-ashburn", "sxm odd"},
        {"atlantis", "?"},
        {"jp-tokyo", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *found = find("region", cases[i].value);
        cr_expect(strcmp(found, cases[i].found) == 0, "region=%s: \"%s\", want \"%s\"",
                  cases[i].value, found, cases[i].found);
    }
}

Test(name, a_spelling_is_known_as_long_as_an_offer_has_it)
{
    struct snapshot *before = catalog_acquire(catalog);
    cr_expect(snapshot_knows_gpu_name(before, "frobnicator 9000") &&
              snapshot_knows_region_name(before, "The Moon"));
    cr_expect(!snapshot_knows_gpu_name(before, "") && !snapshot_knows_region_name(before, NULL));
    load(2, 8); /* all but the odd one */
    struct snapshot *after = catalog_acquire(catalog);
    cr_expect(!snapshot_knows_gpu_name(after, "frobnicator 9000") &&
              !snapshot_knows_region_name(after, "The Moon"));
    cr_expect(snapshot_knows_gpu_name(before, "frobnicator 9000"),
              "the old snapshot stays as it was");
    cr_expect(strcmp(find("gpu", "frobnicator 9000"), "?") == 0);
    cr_expect(strcmp(find("gpu", "unrecognized"), "") == 0);
    snapshot_release(before);
    snapshot_release(after);
}
