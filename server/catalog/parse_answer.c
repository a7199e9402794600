/* Readers of what says how rows are given. */
#include "server/base/nearest.h"
#include "server/catalog/fields.h"
#include "server/catalog/parameter.h"

#include <string.h>

static bool unknown_field(struct parse *parse, const struct parameter *parameter, const char *name)
{
    const char *names[FIELDS_MAX];
    for (size_t i = 0; i < field_count(); i++)
        names[i] = field_name(i);
    return parse_unknown_value(parse, parameter, name, "field of an offer",
                               nearest_name(name, names, field_count()));
}

bool read_fields(struct parse *parse, const struct parameter *parameter, const char *value)
{
    size_t count;
    const char **names = parse_split(parse, parameter, value, &count);
    uint8_t chosen[FIELDS_MAX] = {0};
    bool good = names != NULL;
    for (size_t i = 0; names != NULL && i < count; i++) {
        size_t index = field_find(names[i]);
        if (index == field_count())
            good = unknown_field(parse, parameter, names[i]);
        else
            chosen[index] = 1;
    }
    if (!good)
        return false;
    parse->query->fields = field_choice_make(chosen, parse->arena);
    if (parse->query->format == ANSWER_CSV)
        parse->query->columns = field_columns_make(chosen, parse->arena);
    buf_add_char(&parse->json, '[');
    for (size_t i = 0, written = 0; i < field_count(); i++) {
        if (!chosen[i])
            continue;
        if (written++ > 0)
            buf_add_char(&parse->json, ',');
        buf_add_json_string(&parse->json, field_name(i));
    }
    buf_add_char(&parse->json, ']');
    return true;
}

bool read_format(struct parse *parse, const struct parameter *parameter, const char *value)
{
    static const char *const names[] = {
        [ANSWER_JSON] = "json", [ANSWER_NDJSON] = "ndjson", [ANSWER_CSV] = "csv"};
    enum answer_format format = ANSWER_JSON;
    while (format <= ANSWER_CSV && strcmp(value, names[format]) != 0)
        format++;
    if (format > ANSWER_CSV)
        return parse_unknown_value(parse, parameter, value, "format",
                                   nearest_name(value, names, 3));
    parse->query->format = format;
    if (format == ANSWER_CSV)
        parse->query->columns = field_columns_default(parse->arena);
    buf_add_json_string(&parse->json, names[format]);
    return true;
}
