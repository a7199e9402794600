/* Parsing a search: parameters are matched to the table, then read in the table's order, so that
 * every spelling of a query gives the same canonical text. All errors are reported, not only the
 * first. */
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/base/nearest.h"
#include "server/catalog/facets.h"
#include "server/catalog/parameter.h"

#include <string.h>

#define PARAMETERS_MAX   64
#define CURSOR_PARAMETER "cursor"

bool parse_refuse(struct parse *parse, const char *parameter, const char *code, const char *message)
{
    if (parse->error_count < QUERY_ERRORS_MAX)
        parse->errors[parse->error_count++] = (struct query_error){parameter, code, message};
    return false;
}

const char *parse_excerpt(struct parse *parse, const char *value)
{
    size_t length = strlen(value), cut = 40;
    if (length <= cut)
        return value;
    while (cut > 0 && ((unsigned char)value[cut] & 0xc0) == 0x80)
        cut--; /* not inside a character */
    return arena_printf(parse->arena, "%.*s…", (int)cut, value);
}

static size_t table_index(const char *name)
{
    size_t index = 0;
    while (index < parameter_count && (parameter_table[index].name[0] != name[0] ||
                                       strcmp(parameter_table[index].name, name) != 0))
        index++;
    return index;
}

static void refuse_name(struct parse *parse, const char *name)
{
    const char *names[PARAMETERS_MAX];
    size_t count = 0;
    for (; count < parameter_count; count++)
        names[count] = parameter_table[count].name;
    names[count++] = CURSOR_PARAMETER;
    const char *nearest = nearest_name(name, names, count);
    const char *shown = parse_excerpt(parse, name);
    parse_refuse(parse, arena_strdup(parse->arena, name), "unknown_parameter",
                 nearest == NULL
                     ? arena_printf(parse->arena, "There is no parameter \"%s\".", shown)
                     : arena_printf(parse->arena, "There is no parameter \"%s\"; did you mean %s?",
                                    shown, nearest));
}

/* Sorts the given parameters into `values` (by table index) and the cursor. */
static void collect(struct parse *parse, const struct query_parameter *parameters, size_t count,
                    const char **values, const char **ret_cursor)
{
    *ret_cursor = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t index = table_index(parameters[i].name);
        const char **value = index < parameter_count ? &values[index] : ret_cursor;
        if (index == parameter_count && strcmp(parameters[i].name, CURSOR_PARAMETER) != 0)
            refuse_name(parse, parameters[i].name);
        else if (*value != NULL)
            parse_refuse(parse, parameters[i].name, "repeated_parameter",
                         arena_printf(parse->arena,
                                      "%s is given more than once; list values with commas.",
                                      parameters[i].name));
        else
            *value = parameters[i].value;
    }
}

static void read_all(struct parse *parse, const char **values)
{
    for (size_t i = 0; i < parameter_count; i++) {
        const struct parameter *parameter = &parameter_table[i];
        const char *value = values[i] != NULL ? values[i] : parameter->fallback;
        if (value == NULL)
            continue;
        if (strcmp(parameter->name, "format") == 0) {
            uint8_t hash[16];
            crypt_hash(parse->json.data, parse->json.length, hash, sizeof(hash));
            memcpy(&parse->query->hash, hash, sizeof(parse->query->hash));
        }
        buf_add_json_key(&parse->json, parameter->name);
        if (parameter->read == read_limit && values[i] == NULL && !parse->pages &&
            parse->query->format != ANSWER_JSON) {
            parse->query->limit = 0; /* the whole result */
            buf_add_string(&parse->json, "null");
            continue;
        }
        if (value[0] == '\0')
            parse_refuse(parse, parameter->name, "empty_value",
                         arena_printf(parse->arena,
                                      "%s is empty; leave it out to not filter by it.",
                                      parameter->name));
        else
            parameter->read(parse, parameter, value);
    }
}

/* Ranges upside down. Values that were refused are not compared. */
static void check_range(struct parse *parse, const char *const *values, const char *low,
                        const char *high)
{
    const struct parameter *minimum = &parameter_table[table_index(low)],
                           *maximum = &parameter_table[table_index(high)];
    const char *first = values[table_index(low)], *last = values[table_index(high)];
    int64_t from, to;
    if (first == NULL || last == NULL ||
        decimal_parse(first, strlen(first), minimum->decimals, false, &from) != DECIMAL_OK ||
        decimal_parse(last, strlen(last), maximum->decimals, false, &to) != DECIMAL_OK ||
        from <= to)
        return;
    parse_refuse(parse, low, "range_reversed",
                 arena_printf(parse->arena, "%s is above %s.", low, high));
}

static void check_facets(struct parse *parse, const char *const *values)
{
    if (values[table_index("facets")] != NULL && parse->query->format != ANSWER_JSON)
        parse_refuse(
            parse, "facets", "needs_json",
            "facets come with format=json; lines of NDJSON or CSV have no place for them.");
}

static void read_cursor(struct parse *parse, const char *text)
{
    struct query *query = parse->query;
    if (text == NULL || parse->error_count > 0)
        return; /* with other errors there is no query to compare it with */
    query->has_cursor = cursor_parse(text, query->hash, &query->cursor_key, &query->cursor_id);
    if (!query->has_cursor)
        parse_refuse(parse, CURSOR_PARAMETER, "bad_cursor",
                     "This cursor is damaged or belongs to another query; start again without it.");
}

/* What the bits of terms say of a query: which there are, and whether they need no second look. */
static void summarise_terms(struct query *query)
{
    const uint8_t reserved = 1 << BILLING_RESERVED, others = (1 << BILLING_COUNT) - 1 - reserved;
    bool zero = false, longer = false;
    if (query->terms == NULL)
        return;
    for (int32_t term = 0; term <= PRICE_TERM_MONTHS_MAX; term++) {
        if (query->terms[term] == 0)
            continue;
        query->term_bits |= term_bit(term);
        zero = zero || term == 0;
        longer = longer || term > 0;
    }
    /* Only reserved prices have a term. */
    uint8_t bits = query->billing_bits;
    query->term_bits_tell =
        bits == 0 || ((!longer || (bits & reserved) != 0) && (!zero || (bits & others) == others));
}

static struct query *new_query(struct arena *arena)
{
    struct query *query = arena_calloc(arena, 1, sizeof(*query));
    query->max_price_microusd = query->max_total_microusd = INT64_MAX;
    query->gpus_milli = UNKNOWN;
    query->min_sla_percent_milli = UNKNOWN;
    query->burn_in = query->monitoring = query->on_site = -1;
    return query;
}

/* For each facet asked for whose own parameters are given, the query without them. */
static void derive_facets(struct parse *parse, const char *const *values)
{
    for (int facet = 0; facet < FACET_COUNT; facet++) {
        const char *kept[PARAMETERS_MAX];
        bool differs = false;
        for (size_t i = 0; i < parameter_count; i++) {
            bool own = facet_owns((enum facet)facet, parameter_table[i].name);
            differs = differs || (own && values[i] != NULL);
            kept[i] = own ? NULL : values[i];
        }
        if ((parse->query->facets >> facet & 1) == 0 || !differs)
            continue;
        kept[table_index("facets")] = NULL;
        struct parse derived = {
            .snapshot = parse->snapshot,
            .arena = parse->arena,
            .query = new_query(parse->arena),
            .errors = parse->errors,
        };
        buf_add_char(&derived.json, '{');
        read_all(&derived, kept);
        summarise_terms(derived.query);
        buf_free(&derived.json);
        parse->query->facet_queries[facet] = derived.query;
    }
}

size_t query_parse(const struct query_parameter *parameters, size_t count,
                   struct snapshot *snapshot, struct arena *arena, struct query **ret_query,
                   struct query_error **ret_errors)
{
    const char *values[PARAMETERS_MAX] = {NULL}, *cursor;
    struct query *query = new_query(arena);
    struct parse parse = {
        .snapshot = snapshot,
        .arena = arena,
        .query = query,
        .errors = arena_calloc(arena, QUERY_ERRORS_MAX, sizeof(struct query_error)),
    };
    collect(&parse, parameters, count, values, &cursor);
    parse.pages = cursor != NULL;
    buf_add_char(&parse.json, '{');
    read_all(&parse, values);
    summarise_terms(query);
    buf_add_char(&parse.json, '}');
    check_range(&parse, values, "min_price", "max_price");
    check_range(&parse, values, "min_gpu_count", "max_gpu_count");
    latency_check(&parse, values[table_index("max_latency_ms")] != NULL);
    check_facets(&parse, values);
    read_cursor(&parse, cursor);
    if (parse.error_count == 0 && query->facets != 0)
        derive_facets(&parse, values);
    query->canonical = arena_strndup(arena, parse.json.data, parse.json.length);
    buf_free(&parse.json);
    *ret_query = query;
    *ret_errors = parse.errors;
    return parse.error_count;
}

const char *query_canonical(const struct query *query)
{
    return query->canonical;
}

enum answer_format query_format(const struct query *query)
{
    return query->format;
}

bool query_is_whole(const struct query *query)
{
    return query->limit == 0;
}
