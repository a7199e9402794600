/* The table of search parameters. Cursors are bound to what is before `format`; from there on
 * stands how the rows are given. */
#include "server/catalog/parameter.h"

#include "server/market/verdict.h"
#include "server/reference/gpu.h"

#include <stddef.h>

#define COLUMN(name) offsetof(struct segment, name)
#define MEMBER(name) offsetof(struct query, name)

/* A minimum of a quantity kept in thousandths. */
#define MINIMUM(text, column)                                                                      \
    {                                                                                              \
        .name = text, .read = read_column_minimum, .field = COLUMN(column), .decimals = 3,         \
        .highest = INT64_C(1000) * QUERY_NUMBER_MAX                                                \
    }

static const char *fabric_word(int value)
{
    return fabric_name((enum fabric)value);
}

static const char *interconnect_word(int value)
{
    return interconnect_name((enum interconnect)value);
}

static const char *availability_word(int value)
{
    return availability_name((enum availability_status)value);
}

static const char *billing_word(int value)
{
    return billing_name((enum billing)value);
}

static const char *form_word(int value)
{
    return form_factor_name((enum form_factor)value);
}

static const char *kind_word(int value)
{
    return provider_kind_name((enum provider_kind)value);
}

static const char *verdict_word(int value)
{
    return price_verdict_name((enum price_verdict)value);
}

const struct parameter parameter_table[] = {
    {.name = "gpu", .read = read_gpu},
    {.name = "vendor", .read = read_vendor},
    {.name = "form_factor",
     .read = read_form_factor,
     .name_of = form_word,
     .name_count = FORM_COUNT},
    MINIMUM("min_vram_gb", vram_gb_milli),
    {.name = "min_total_vram_gb",
     .read = read_column_minimum64,
     .field = COLUMN(total_vram_gb_milli),
     .decimals = 3,
     .highest = INT64_C(1000000000000)},
    {.name = "gpu_count",
     .read = read_counts,
     .field = COLUMN(gpu_count_milli),
     .decimals = 3,
     .highest = INT64_C(1000) * QUERY_NUMBER_MAX},
    MINIMUM("min_gpu_count", gpu_count_milli),
    {.name = "max_gpu_count",
     .read = read_column_maximum,
     .field = COLUMN(gpu_count_milli),
     .decimals = 3,
     .highest = INT64_C(1000) * QUERY_NUMBER_MAX},
    {.name = "billing", .read = read_billing, .name_of = billing_word, .name_count = BILLING_COUNT},
    {.name = "term_months", .read = read_terms, .highest = PRICE_TERM_MONTHS_MAX},
    {.name = "max_term_months", .read = read_max_term, .highest = PRICE_TERM_MONTHS_MAX},
    {.name = "min_price",
     .read = read_price,
     .field = MEMBER(min_price_microusd),
     .decimals = 6,
     .highest = PRICE_MAX_MICROUSD},
    {.name = "max_price",
     .read = read_price,
     .field = MEMBER(max_price_microusd),
     .decimals = 6,
     .highest = PRICE_MAX_MICROUSD},
    {.name = "gpus",
     .read = read_gpus,
     .field = COLUMN(gpus_available),
     .decimals = 3,
     .highest = INT64_C(1000) * QUERY_NUMBER_MAX},
    {.name = "max_total_price",
     .read = read_price,
     .field = MEMBER(max_total_microusd),
     .decimals = 6,
     .highest = INT64_C(1000) * PRICE_MAX_MICROUSD},
    {.name = "verdict", .read = read_verdict, .name_of = verdict_word, .name_count = VERDICT_COUNT},
    {.name = "fabric",
     .read = read_column_bits,
     .field = COLUMN(fabric_bit),
     .name_of = fabric_word,
     .name_count = FABRIC_COUNT},
    MINIMUM("min_fabric_gbps", fabric_gbps_milli),
    {.name = "interconnect",
     .read = read_column_bits,
     .field = COLUMN(interconnect_bit),
     .name_of = interconnect_word,
     .name_count = INTERCONNECT_COUNT},
    MINIMUM("min_vcpus", vcpus_milli),
    MINIMUM("min_memory_gib", memory_gib_milli),
    MINIMUM("min_storage_gb", storage_gb_milli),
    {.name = "region", .read = read_region},
    {.name = "country", .read = read_country},
    {.name = "continent", .read = read_continent},
    {.name = "near", .read = read_near},
    {.name = "max_latency_ms",
     .read = read_max_latency,
     .decimals = 2,
     .highest = (int64_t)LATENCY_MAX_MS * LATENCY_CENTI},
    {.name = "q", .read = read_words},
    {.name = "provider", .read = read_provider},
    {.name = "provider_kind",
     .read = read_provider_kind,
     .name_of = kind_word,
     .name_count = PROVIDER_KIND_COUNT},
    {.name = "availability",
     .read = read_column_bits,
     .field = COLUMN(availability_bit),
     .name_of = availability_word,
     .name_count = AVAILABILITY_COUNT},
    {.name = "max_lead_time_days",
     .read = read_column_maximum,
     .field = COLUMN(lead_time_days),
     .highest = 100000},
    {.name = "min_sla_percent", .read = read_sla, .decimals = 3, .highest = 100000},
    {.name = "burn_in", .read = read_provider_fact, .field = MEMBER(burn_in)},
    {.name = "monitoring", .read = read_provider_fact, .field = MEMBER(monitoring)},
    {.name = "on_site", .read = read_provider_fact, .field = MEMBER(on_site)},
    {.name = "updated_since", .read = read_updated_since, .field = COLUMN(updated_at_us)},
    {.name = "include_stale", .read = read_include_stale, .fallback = "0"},
    {.name = "sort", .read = read_sort, .fallback = "price"},
    {.name = "format", .read = read_format, .fallback = "json"},
    {.name = "limit", .read = read_limit, .highest = QUERY_LIMIT_MAX, .fallback = "50"},
    {.name = "fields", .read = read_fields},
    {.name = "facets", .read = read_facets},
};

const size_t parameter_count = sizeof(parameter_table) / sizeof(parameter_table[0]);
