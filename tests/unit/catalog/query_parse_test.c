/* What is refused and how, what means the same, and what the answer says is in force. */
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/catalog/query_private.h"
#include "server/reference/gpu.h"
#include "tests/support/random_market.h"

#include <criterion/criterion.h>
#include <string.h>

static struct market market;
static struct catalog *catalog;
static struct arena arena;

static void start(void)
{
    cr_assert(crypt_init());
    market_make(&market, 7, 6, 50);
    catalog = catalog_new();
    cr_assert(market_load(catalog, &market));
}

static void stop(void)
{
    catalog_free(catalog);
    market_free(&market);
    arena_free(&arena);
}

TestSuite(query_parse, .init = start, .fini = stop, .timeout = 60);

/* Parses one parameter (two where name_2 is given). */
static size_t parse_two(const char *name, const char *value, const char *name_2,
                        const char *value_2, struct query **ret_query,
                        struct query_error **ret_errors)
{
    struct query_parameter parameters[] = {{name, value}, {name_2, value_2}};
    struct snapshot *snapshot = catalog_acquire(catalog);
    size_t count =
        query_parse(parameters, name_2 == NULL ? 1 : 2, snapshot, &arena, ret_query, ret_errors);
    snapshot_release(snapshot);
    return count;
}

static const char *list_of(size_t count, const char *item)
{
    const char *text = item;
    for (size_t i = 1; i < count; i++)
        text = arena_printf(&arena, "%s,%s", text, item);
    return text;
}

Test(query_parse, bad_values_are_refused_by_name)
{
    const struct {
        const char *name, *value, *code, *word;
    } cases[] = {
        {"gpuu", "h100", "unknown_parameter", "gpu"},
        {"qq", "x", "unknown_parameter", "q"},
        {"q", "-- !", "empty_value", "letter"},
        {"q", "a b c d e f g h i", "too_many_values", "8"},
        {"gpus", "0", "out_of_range", "more than 0"},
        {"gpus", "2000001", "out_of_range", "2000000"},
        {"gpus", "eight", "not_a_number", "eight"},
        {"max_total_price", "1.0000001", "too_precise", "6"},
        {"sort", "total_pric", "unknown_value", "total_price"},
        {"facets", "gpuu", "unknown_value", "gpu"},
        {"facets", "latency", "needs_near", "near"},
        {"", "x", "unknown_parameter", ""},
        {"limit", "0", "out_of_range", "500"},
        {"limit", "501", "out_of_range", "500"},
        {"limit", "abc", "not_a_number", "abc"},
        {"limit", "5.5", "too_precise", "whole"},
        {"limit", "99999999999999999999999", "out_of_range", "500"},
        {"limit", "", "empty_value", "limit"},
        {"limit", " 5", "not_a_number", "limit"},
        {"max_price", "abc", "not_a_number", "abc"},
        {"max_price", "-1", "out_of_range", "max_price"},
        {"max_price", "NaN", "not_a_number", "NaN"},
        {"max_price", "1e3", "not_a_number", "1e3"},
        {"max_price", "0x10", "not_a_number", "max_price"},
        {"max_price", "1,5", "not_a_number", "max_price"},
        {"max_price", "1.2345678", "too_precise", "6"},
        {"max_price", "10000000.000001", "out_of_range", "10000000"},
        {"min_price", "9223372036854775807", "out_of_range", "min_price"},
        {"min_price", "9223372036854775808", "out_of_range", "min_price"},
        {"min_price", "+1", "not_a_number", "min_price"},
        {"billing", "on-demandd", "unknown_value", "on_demand"},
        {"billing", "spot,", "empty_value", "billing"},
        {"billing", ",spot", "empty_value", "billing"},
        {"term_months", "-1", "out_of_range", "600"},
        {"term_months", "601", "out_of_range", "600"},
        {"term_months", "6,x", "not_a_number", "x"},
        {"max_term_months", "1.5", "too_precise", "whole"},
        {"sort", "pricee", "unknown_value", "price"},
        {"sort", "--price", "unknown_value", "price"},
        {"sort", "price,vram", "unknown_value", "sort"},
        {"cursor", "zzz", "bad_cursor", "cursor"},
        {"cursor", "", "bad_cursor", "cursor"},
        {"min_vram_gb", "80.5.1", "not_a_number", "80.5.1"},
        {"min_vram_gb", "2000001", "out_of_range", "2000000"},
        {"region", "atlantis", "unknown_value", "atlantis"},
        {"region", "us-eest", "unknown_value", "us-east"},
        {"gpu", "h1000", "unknown_value", "h100"},
        {"gpu", "h100,zzzzzzzzzzzz", "unknown_value", "zzzzzzzzzzzz"},
        {"provider", "p00", "unknown_value", "p0"},
        {"provider", "nobody-at-all", "unknown_value", "nobody"},
        {"provider_kind", "cloud", "unknown_value", "cloud"},
        {"updated_since", "yesterday", "not_a_timestamp", "RFC 3339"},
        {"updated_since", "2026-13-01T00:00:00Z", "not_a_timestamp", "RFC 3339"},
        {"country", "USA", "unknown_value", "USA"},
        {"country", "zz", "unknown_value", "zz"},
        {"continent", "europe", "unknown_value", "EU"},
        {"availability", "maybe", "unknown_value", "maybe"},
        {"fabric", "unknown", "unknown_value", "unknown"},
        {"interconnect", "nvlnk", "unknown_value", "nvlink"},
        {"form_factor", "smx", "unknown_value", "smx"},
        {"vendor", "nvidea", "unknown_value", "nvidia"},
        {"burn_in", "yes", "not_a_boolean", "burn_in"},
        {"include_stale", "2", "not_a_boolean", "include_stale"},
        {"include_stale", "TRUE", "not_a_boolean", "include_stale"},
        {"min_sla_percent", "100.1", "out_of_range", "100"},
        {"max_lead_time_days", "-0.5", "too_precise", "whole"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct query *query;
        struct query_error *errors;
        size_t count = parse_two(cases[i].name, cases[i].value, NULL, NULL, &query, &errors);
        cr_expect(count == 1, "%s=%s: %zu errors", cases[i].name, cases[i].value, count);
        if (count == 0)
            continue;
        cr_expect(strcmp(errors[0].parameter, cases[i].name) == 0, "%s: names %s", cases[i].name,
                  errors[0].parameter);
        cr_expect(strcmp(errors[0].code, cases[i].code) == 0, "%s=%s: %s", cases[i].name,
                  cases[i].value, errors[0].code);
        cr_expect(strstr(errors[0].message, cases[i].word) != NULL, "%s=%s: %s", cases[i].name,
                  cases[i].value, errors[0].message);
    }
}

Test(query_parse, lists_repetitions_ranges_and_many_errors)
{
    struct query *query;
    struct query_error *errors;
    cr_expect(parse_two("gpu", list_of(100, "h100"), NULL, NULL, &query, &errors) == 0);
    cr_expect(parse_two("gpu", list_of(101, "h100"), NULL, NULL, &query, &errors) == 1);
    cr_expect(strcmp(errors[0].code, "too_many_values") == 0, "%s", errors[0].code);
    cr_expect(parse_two("term_months", list_of(101, "6"), NULL, NULL, &query, &errors) == 1);
    cr_expect(parse_two("limit", "5", "limit", "6", &query, &errors) == 1);
    cr_expect(strcmp(errors[0].code, "repeated_parameter") == 0, "%s", errors[0].code);
    cr_expect(parse_two("cursor", "a", "cursor", "b", &query, &errors) == 1);
    cr_expect(parse_two("min_price", "3", "max_price", "2", &query, &errors) == 1);
    cr_expect(strcmp(errors[0].code, "range_reversed") == 0, "%s", errors[0].code);
    cr_expect(parse_two("max_price", "3", "min_price", "3.000", &query, &errors) == 0);
    cr_expect(parse_two("max_gpu_count", "0.5", "min_gpu_count", "1", &query, &errors) == 1);
    cr_expect(parse_two("limit", "x", "sort", "y", &query, &errors) == 2,
              "all errors are reported");
    struct query_parameter many[60];
    for (size_t i = 0; i < 60; i++)
        many[i] = (struct query_parameter){"nonsense", "1"};
    struct snapshot *snapshot = catalog_acquire(catalog);
    cr_expect(query_parse(many, 60, snapshot, &arena, &query, &errors) == QUERY_ERRORS_MAX);
    snapshot_release(snapshot);
}

Test(query_parse, long_values_are_cut_between_characters)
{
    struct query *query;
    struct query_error *errors;
    char text[10240];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    for (size_t i = 0; i + 2 < 200; i += 2)
        memcpy(text + 1 + i, "\xc3\xa9", 2); /* e acute: byte 40 is inside one */
    cr_expect(parse_two("gpu", text, NULL, NULL, &query, &errors) == 1);
    cr_expect(strlen(errors[0].message) < 200);
    const char *cut = strstr(errors[0].message, "\xe2\x80\xa6");
    cr_assert(cut != NULL);
    cr_expect((unsigned char)cut[-1] == 0xa9, "ends with a whole character");
}

Test(query_parse, same_meaning_same_canonical_text)
{
    const struct {
        const char *name, *value, *other;
    } cases[] = {
        {"gpu", "h100-sxm,h100-pcie", "h100-pcie,h100-sxm,h100-sxm"},
        {"gpu", "a100-sxm-80gb", "A100_SXM4_80GB"},
        {"vendor", "nvidia,amd", "AMD,NVIDIA"},
        {"billing", "spot,on_demand", "on_demand,spot,spot"},
        {"term_months", "12,6", "6,12,12"},
        {"gpu_count", "0.125,8", "8.0,0.125"},
        {"min_price", "1.5", "1.500000"},
        {"max_price", "2", "2.0"},
        {"country", "US,de", "DE,us"},
        {"continent", "eu", "EU"},
        {"region", "us-east,eu-north", "eu-north,us-east"},
        {"provider", "p0,p1", "p1,p0"},
        {"include_stale", "1", "true"},
        {"include_stale", "0", "false"},
        {"burn_in", "0", "false"},
        {"updated_since", "2026-01-01T00:00:00Z", "2026-01-01T02:00:00.000+02:00"},
        {"limit", "50", "050"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct query *a, *b;
        struct query_error *errors;
        size_t bad = parse_two(cases[i].name, cases[i].value, NULL, NULL, &a, &errors);
        cr_expect(bad == 0, "%s=%s: %s", cases[i].name, cases[i].value,
                  bad ? errors[0].message : "");
        bad = parse_two(cases[i].name, cases[i].other, NULL, NULL, &b, &errors);
        cr_expect(bad == 0, "%s=%s: %s", cases[i].name, cases[i].other,
                  bad ? errors[0].message : "");
        cr_expect(strcmp(query_canonical(a), query_canonical(b)) == 0, "%s %s", query_canonical(a),
                  query_canonical(b));
        cr_expect(a->hash == b->hash);
    }
    struct query *a, *b;
    struct query_error *errors;
    parse_two("limit", "10", "billing", "spot", &a, &errors);
    parse_two("billing", "spot", "limit", "20", &b, &errors);
    cr_expect(a->hash == b->hash, "cursors live through another page size");
    cr_expect(strcmp(query_canonical(a), query_canonical(b)) != 0, "answers don't");
    parse_two("billing", "spot", "sort", "-price", &b, &errors);
    cr_expect(a->hash != b->hash);
}

Test(query_parse, the_answer_says_what_is_in_force)
{
    struct query *query;
    struct query_error *errors;
    struct snapshot *snapshot = catalog_acquire(catalog);
    cr_assert(query_parse(NULL, 0, snapshot, &arena, &query, &errors) == 0);
    cr_expect(
        strcmp(query_canonical(query),
               "{\"include_stale\":false,\"sort\":\"price\",\"format\":\"json\",\"limit\":50}") ==
            0,
        "%s", query_canonical(query));
    struct query_parameter some[] = {{"sort", "-updated"}, {"max_price", "2.5"},
                                     {"gpu", "H100"},      {"term_months", "12"},
                                     {"limit", "7"},       {"include_stale", "true"}};
    cr_assert(query_parse(some, 6, snapshot, &arena, &query, &errors) == 0);
    cr_expect(
        strcmp(query_canonical(query),
               "{\"gpu\":[\"h100\"],\"term_months\":[12],\"max_price\":2.5,"
               "\"include_stale\":true,\"sort\":\"-updated\",\"format\":\"json\",\"limit\":7}") ==
            0,
        "%s", query_canonical(query));
    snapshot_release(snapshot);
}
