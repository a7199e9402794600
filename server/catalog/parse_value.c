/* Readers of numbers, words and dates. */
#include "server/base/decimal.h"
#include "server/base/nearest.h"
#include "server/base/timestamp.h"
#include "server/base/words.h"
#include "server/catalog/parameter.h"
#include "server/catalog/word_filter.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char **parse_split(struct parse *parse, const struct parameter *parameter, const char *value,
                         size_t *ret_count)
{
    const char **items = arena_calloc(parse->arena, QUERY_LIST_MAX, sizeof(*items));
    *ret_count = 0;
    for (const char *at = value;; at++) {
        const char *end = strchrnul(at, ',');
        if (end == at) {
            parse_refuse(parse, parameter->name, "empty_value",
                         arena_printf(parse->arena, "%s has an empty value between commas.",
                                      parameter->name));
            return NULL;
        }
        if (*ret_count == QUERY_LIST_MAX) {
            parse_refuse(parse, parameter->name, "too_many_values",
                         arena_printf(parse->arena, "%s takes at most %d values.", parameter->name,
                                      QUERY_LIST_MAX));
            return NULL;
        }
        items[(*ret_count)++] = arena_strndup(parse->arena, at, (size_t)(end - at));
        if (*end == '\0')
            return items;
        at = end;
    }
}

bool parse_number(struct parse *parse, const struct parameter *parameter, const char *text,
                  int64_t *ret_value)
{
    const char *name = parameter->name;
    char highest[32];
    switch (decimal_parse(text, strlen(text), parameter->decimals, false, ret_value)) {
    case DECIMAL_OK:
        if (*ret_value >= 0 && *ret_value <= parameter->highest)
            return true;
        break;
    case DECIMAL_TOO_PRECISE:
    case DECIMAL_ROUNDED:
        return parse_refuse(parse, name, "too_precise",
                            parameter->decimals == 0
                                ? arena_printf(parse->arena, "%s is a whole number.", name)
                                : arena_printf(parse->arena, "%s has at most %u decimals.", name,
                                               parameter->decimals));
    case DECIMAL_MALFORMED:
        return parse_refuse(parse, name, "not_a_number",
                            arena_printf(parse->arena, "%s is a plain decimal number, not \"%s\".",
                                         name, parse_excerpt(parse, text)));
    case DECIMAL_OUT_OF_RANGE:
        break;
    }
    decimal_print(parameter->highest, parameter->decimals, highest);
    return parse_refuse(parse, name, "out_of_range",
                        arena_printf(parse->arena, "%s is 0 to %s.", name, highest));
}

bool parse_unknown_value(struct parse *parse, const struct parameter *parameter, const char *value,
                         const char *what, const char *nearest)
{
    const char *shown = parse_excerpt(parse, value);
    return parse_refuse(parse, parameter->name, "unknown_value",
                        nearest == NULL
                            ? arena_printf(parse->arena, "%s: \"%s\" is no %s known here.",
                                           parameter->name, shown, what)
                            : arena_printf(parse->arena,
                                           "%s: \"%s\" is no %s known here; did you mean %s?",
                                           parameter->name, shown, what, nearest));
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void parse_write_names(struct parse *parse, const char **names, size_t count)
{
    qsort(names, count, sizeof(*names), compare_names);
    buf_add_char(&parse->json, '[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && strcmp(names[i], names[i - 1]) == 0)
            continue;
        if (i > 0)
            buf_add_char(&parse->json, ',');
        buf_add_json_string(&parse->json, names[i]);
    }
    buf_add_char(&parse->json, ']');
}

static void add_filter(struct parse *parse, struct filter filter)
{
    parse->query->filters[parse->query->filter_count++] = filter;
}

bool read_column_minimum(struct parse *parse, const struct parameter *parameter, const char *value)
{
    int64_t bound;
    if (!parse_number(parse, parameter, value, &bound))
        return false;
    add_filter(parse, (struct filter){.kind = FILTER_RANGE32,
                                      .column = parameter->field,
                                      .low = bound,
                                      .high = INT32_MAX});
    buf_add_decimal(&parse->json, bound, parameter->decimals);
    return true;
}

bool read_column_maximum(struct parse *parse, const struct parameter *parameter, const char *value)
{
    int64_t bound;
    if (!parse_number(parse, parameter, value, &bound))
        return false;
    /* From 0: what nobody knows (-1) is not below any maximum. */
    add_filter(parse,
               (struct filter){
                   .kind = FILTER_RANGE32, .column = parameter->field, .low = 0, .high = bound});
    buf_add_decimal(&parse->json, bound, parameter->decimals);
    return true;
}

bool read_column_minimum64(struct parse *parse, const struct parameter *parameter,
                           const char *value)
{
    int64_t bound;
    if (!parse_number(parse, parameter, value, &bound))
        return false;
    add_filter(parse, (struct filter){.kind = FILTER_RANGE64,
                                      .column = parameter->field,
                                      .low = bound,
                                      .high = INT64_MAX});
    buf_add_decimal(&parse->json, bound, parameter->decimals);
    return true;
}

static int compare_numbers(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

/* A comma list of numbers, sorted, each once, written as JSON; NULL with an error. */
static int32_t *read_numbers(struct parse *parse, const struct parameter *parameter,
                             const char *value, size_t *ret_count)
{
    size_t count, kept = 0;
    const char **items = parse_split(parse, parameter, value, &count);
    if (items == NULL)
        return NULL;
    int32_t *numbers = arena_calloc(parse->arena, count, sizeof(*numbers));
    for (size_t i = 0; i < count; i++) {
        int64_t number;
        if (!parse_number(parse, parameter, items[i], &number))
            return NULL;
        numbers[i] = (int32_t)number;
    }
    qsort(numbers, count, sizeof(*numbers), compare_numbers);
    buf_add_char(&parse->json, '[');
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && numbers[i] == numbers[kept - 1])
            continue;
        if (kept > 0)
            buf_add_char(&parse->json, ',');
        buf_add_decimal(&parse->json, numbers[i], parameter->decimals);
        numbers[kept++] = numbers[i];
    }
    buf_add_char(&parse->json, ']');
    *ret_count = kept;
    return numbers;
}

bool read_counts(struct parse *parse, const struct parameter *parameter, const char *value)
{
    size_t count;
    int32_t *numbers = read_numbers(parse, parameter, value, &count);
    if (numbers == NULL)
        return false;
    add_filter(parse, (struct filter){.kind = FILTER_LIST32,
                                      .column = parameter->field,
                                      .values = numbers,
                                      .count = count});
    return true;
}

/* A comma list of an enum's words as bits; 0 with an error. */
static unsigned read_bits(struct parse *parse, const struct parameter *parameter, const char *value)
{
    const char *words[16];
    size_t count, word_count = 0;
    unsigned bits = 0;
    const char **items = parse_split(parse, parameter, value, &count);
    for (int i = 0; i < parameter->name_count; i++) {
        if (parameter->name_of(i) != NULL)
            words[word_count++] = parameter->name_of(i);
    }
    for (size_t i = 0; items != NULL && i < count; i++) {
        int found = 0;
        while (found < parameter->name_count && (parameter->name_of(found) == NULL ||
                                                 strcmp(parameter->name_of(found), items[i]) != 0))
            found++;
        if (found == parameter->name_count) {
            parse_unknown_value(parse, parameter, items[i], parameter->name,
                                nearest_name(items[i], words, word_count));
            return 0;
        }
        bits |= 1u << found;
    }
    if (bits != 0)
        parse_write_names(parse, items, count);
    return bits;
}

bool read_column_bits(struct parse *parse, const struct parameter *parameter, const char *value)
{
    unsigned bits = read_bits(parse, parameter, value);
    if (bits != 0)
        add_filter(parse, (struct filter){.kind = FILTER_BITS,
                                          .column = parameter->field,
                                          .bits = (uint8_t)bits});
    return bits != 0;
}

bool read_billing(struct parse *parse, const struct parameter *parameter, const char *value)
{
    parse->query->billing_bits = (uint8_t)read_bits(parse, parameter, value);
    parse->query->price_filtered = true;
    return parse->query->billing_bits != 0;
}

bool read_verdict(struct parse *parse, const struct parameter *parameter, const char *value)
{
    parse->query->verdict_bits = (uint8_t)read_bits(parse, parameter, value);
    parse->query->price_filtered = true;
    return parse->query->verdict_bits != 0;
}

bool read_provider_kind(struct parse *parse, const struct parameter *parameter, const char *value)
{
    parse->query->kind_bits = (uint8_t)read_bits(parse, parameter, value);
    return parse->query->kind_bits != 0;
}

bool read_terms(struct parse *parse, const struct parameter *parameter, const char *value)
{
    size_t count;
    int32_t *terms = read_numbers(parse, parameter, value, &count);
    if (terms == NULL)
        return false;
    parse->query->terms = arena_calloc(parse->arena, PRICE_TERM_MONTHS_MAX + 1, 1);
    parse->query->price_filtered = true;
    for (size_t i = 0; i < count; i++)
        parse->query->terms[terms[i]] = 1;
    return true;
}

bool read_max_term(struct parse *parse, const struct parameter *parameter, const char *value)
{
    int64_t longest;
    struct query *query = parse->query;
    if (!parse_number(parse, parameter, value, &longest))
        return false;
    if (query->terms == NULL) {
        query->terms = arena_calloc(parse->arena, PRICE_TERM_MONTHS_MAX + 1, 1);
        memset(query->terms, 1, PRICE_TERM_MONTHS_MAX + 1);
    }
    memset(query->terms + longest + 1, 0, (size_t)(PRICE_TERM_MONTHS_MAX - longest));
    query->price_filtered = true;
    buf_add_int(&parse->json, longest);
    return true;
}

bool read_price(struct parse *parse, const struct parameter *parameter, const char *value)
{
    int64_t *member = (int64_t *)(void *)((char *)parse->query + parameter->field);
    if (!parse_number(parse, parameter, value, member))
        return false;
    parse->query->price_filtered = true;
    buf_add_decimal(&parse->json, *member, parameter->decimals);
    return true;
}

bool read_gpus(struct parse *parse, const struct parameter *parameter, const char *value)
{
    struct query *query = parse->query;
    int64_t gpus;
    if (!parse_number(parse, parameter, value, &gpus))
        return false;
    if (gpus == 0)
        return parse_refuse(parse, parameter->name, "out_of_range",
                            "gpus is how many GPUs are wanted in all: more than 0.");
    query->gpus_milli = gpus;
    query->price_filtered = true;
    /* Necessary, and quick to see; whether whole nodes are in stock is looked at row by row. */
    add_filter(parse, (struct filter){.kind = FILTER_RANGE32,
                                      .column = parameter->field,
                                      .low = (gpus + 999) / 1000,
                                      .high = INT32_MAX});
    buf_add_decimal(&parse->json, gpus, parameter->decimals);
    return true;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool read_words(struct parse *parse, const struct parameter *parameter, const char *value)
{
    struct query *query = parse->query;
    size_t count;
    char *words = words_fold(value, &count);
    const char **list = arena_calloc(parse->arena, count + 1, sizeof(*list));
    const char *word = words;
    for (size_t i = 0; i < count; i++, word = words_next(word))
        list[i] = arena_strdup(parse->arena, word);
    free(words);
    qsort(list, count, sizeof(*list), compare_texts);
    for (size_t i = 0; i < count; i++) {
        if (query->word_count == 0 || strcmp(list[query->word_count - 1], list[i]) != 0)
            list[query->word_count++] = list[i];
    }
    if (count == 0)
        return parse_refuse(parse, parameter->name, "empty_value",
                            "q has no letter or digit to look for.");
    if (query->word_count > QUERY_WORDS_MAX) {
        query->word_count = 0;
        return parse_refuse(
            parse, parameter->name, "too_many_values",
            arena_printf(parse->arena, "q takes at most %d words.", QUERY_WORDS_MAX));
    }
    query->words = list;
    struct buf text = {0};
    for (size_t i = 0; i < query->word_count; i++) {
        if (i > 0)
            buf_add_char(&text, ' ');
        buf_add_string(&text, list[i]);
    }
    buf_add_json_string(&parse->json, text.data);
    buf_free(&text);
    return true;
}

bool read_sla(struct parse *parse, const struct parameter *parameter, const char *value)
{
    int64_t percent;
    if (!parse_number(parse, parameter, value, &percent))
        return false;
    parse->query->min_sla_percent_milli = (int32_t)percent;
    buf_add_decimal(&parse->json, percent, parameter->decimals);
    return true;
}

/* 0, 1, false or true; -1 with an error. */
static int read_flag(struct parse *parse, const struct parameter *parameter, const char *value)
{
    bool yes = strcmp(value, "1") == 0 || strcmp(value, "true") == 0;
    if (!yes && strcmp(value, "0") != 0 && strcmp(value, "false") != 0) {
        parse_refuse(parse, parameter->name, "not_a_boolean",
                     arena_printf(parse->arena, "%s is 0, 1, true or false.", parameter->name));
        return -1;
    }
    buf_add_string(&parse->json, yes ? "true" : "false");
    return yes;
}

bool read_provider_fact(struct parse *parse, const struct parameter *parameter, const char *value)
{
    int *member = (int *)(void *)((char *)parse->query + parameter->field);
    *member = read_flag(parse, parameter, value);
    return *member >= 0;
}

bool read_include_stale(struct parse *parse, const struct parameter *parameter, const char *value)
{
    int flag = read_flag(parse, parameter, value);
    parse->query->include_stale = flag > 0;
    return flag >= 0;
}

bool read_updated_since(struct parse *parse, const struct parameter *parameter, const char *value)
{
    int64_t since;
    char text[TIMESTAMP_TEXT_SIZE];
    if (!timestamp_parse(value, strlen(value), &since))
        return parse_refuse(parse, parameter->name, "not_a_timestamp",
                            arena_printf(parse->arena,
                                         "%s is an RFC 3339 time such as 2026-11-30T12:00:00Z.",
                                         parameter->name));
    add_filter(parse, (struct filter){.kind = FILTER_RANGE64,
                                      .column = parameter->field,
                                      .low = since,
                                      .high = INT64_MAX});
    timestamp_print(since, text);
    buf_add_json_string(&parse->json, text);
    return true;
}

bool read_sort(struct parse *parse, const struct parameter *parameter, const char *value)
{
    static const char *const names[] = {
        "price",
        "-price",
        "total_price",
        "-total_price",
        "price_per_vram_gb",
        "-price_per_vram_gb",
        "price_per_tflop",
        "-price_per_tflop",
        "price_per_tbps",
        "-price_per_tbps",
        "latency",
        "-latency",
        "vram",
        "-vram",
        "updated",
        "-updated",
    };
    const size_t count = sizeof(names) / sizeof(names[0]);
    static_assert(sizeof(names) / sizeof(names[0]) == 2 * SORT_COUNT, "each key sorts both ways");
    for (size_t i = 0; i < count; i++) {
        if (strcmp(value, names[i]) != 0)
            continue;
        parse->query->sort = (enum query_sort)(i / 2);
        parse->query->reversed = i % 2 == 1;
        buf_add_json_string(&parse->json, value);
        return true;
    }
    return parse_unknown_value(parse, parameter, value, "sort key",
                               nearest_name(value, names, count));
}

bool read_limit(struct parse *parse, const struct parameter *parameter, const char *value)
{
    int64_t limit;
    if (!parse_number(parse, parameter, value, &limit))
        return false;
    if (limit == 0)
        return parse_refuse(parse, parameter->name, "out_of_range",
                            arena_printf(parse->arena, "limit is 1 to %d.", QUERY_LIMIT_MAX));
    parse->query->limit = (size_t)limit;
    buf_add_int(&parse->json, limit);
    return true;
}
