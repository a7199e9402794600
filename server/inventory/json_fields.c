/* Each reader checks type and range and says what would be right. */
#include "server/inventory/json_fields.h"

#include "server/base/decimal.h"
#include "server/base/nearest.h"

#include <string.h>

const struct json_value *field_present(const struct json_value *object, const char *name)
{
    const struct json_value *member = json_member(object, name);
    return member == NULL || member->type == JSON_TYPE_NULL ? NULL : member;
}

const char *field_path(struct row *row, const char *base, const char *name)
{
    return arena_printf(&row->decoding->scratch, "%s/%s", base, name);
}

void field_number(struct row *row, const struct json_value *object, const char *base,
                  const char *name, const struct number_rule *rule, int64_t *ret)
{
    const struct json_value *member = field_present(object, name);
    *ret = UNKNOWN;
    if (member == NULL)
        return;
    if (member->type != JSON_TYPE_NUMBER) {
        row_error(row, field_path(row, base, name), "wrong_type", "%s must be a number.", name);
        return;
    }
    int64_t value;
    switch (decimal_parse_json(member->text, member->length, rule->decimals, false, &value)) {
    case DECIMAL_OK:
    case DECIMAL_ROUNDED:
        if (value >= rule->minimum && value <= rule->maximum) {
            *ret = value;
            return;
        }
        break;
    case DECIMAL_TOO_PRECISE:
        if (rule->decimals == 0)
            row_error(row, field_path(row, base, name), "not_a_whole_number",
                      "%s must be a whole number.", name);
        else
            row_error(row, field_path(row, base, name), "too_precise",
                      "%s may have at most %u decimals.", name, rule->decimals);
        return;
    case DECIMAL_MALFORMED:
    case DECIMAL_OUT_OF_RANGE:
        break;
    }
    row_error(row, field_path(row, base, name), "out_of_range", "%s must be %s.", name,
              rule->range);
}

void field_int32(struct row *row, const struct json_value *object, const char *base,
                 const char *name, const struct number_rule *rule, int32_t *ret)
{
    int64_t value;
    field_number(row, object, base, name, rule, &value);
    *ret = (int32_t)value;
}

const char *field_text(struct row *row, const struct json_value *object, const char *base,
                       const char *name, size_t max_bytes)
{
    const struct json_value *member = field_present(object, name);
    if (member == NULL)
        return NULL;
    if (member->type != JSON_TYPE_STRING) {
        row_error(row, field_path(row, base, name), "wrong_type", "%s must be a string.", name);
        return NULL;
    }
    if (member->length == 0 || member->length > max_bytes ||
        !text_is_clean(member->text, member->length)) {
        row_error(row, field_path(row, base, name), "out_of_range",
                  "%s must be 1 to %zu bytes without control or invisible characters, and no mere "
                  "blanks.",
                  name, max_bytes);
        return NULL;
    }
    return decoding_keep(row->decoding, member->text);
}

const char *field_url(struct row *row, const struct json_value *object, const char *name)
{
    const char *text = field_text(row, object, "", name, OFFER_URL_MAX_BYTES);
    if (text != NULL && strncmp(text, "https://", 8) != 0 && strncmp(text, "http://", 7) != 0) {
        row_error(row, field_path(row, "", name), "bad_url",
                  "%s must start with https:// or http://.", name);
        return NULL;
    }
    return text;
}

void field_check_members(struct row *row, const struct json_value *object, const char *base,
                         const char *const *known, size_t count)
{
    for (const struct json_value *member = object->first; member != NULL; member = member->next) {
        bool found = false;
        for (size_t i = 0; i < count && !found; i++)
            found = *known[i] == *member->name && strcmp(known[i], member->name) == 0;
        if (found)
            continue;
        const char *near = nearest_name(member->name, known, count);
        if (near != NULL)
            row_error(row, field_path(row, base, member->name), "unknown_member",
                      "Nothing is called %.100s here; did you mean %s?", member->name, near);
        else
            row_error(row, field_path(row, base, member->name), "unknown_member",
                      "Nothing is called %.100s here.", member->name);
    }
}
const struct json_value *field_object(struct row *row, const struct json_value *object,
                                      const char *name)
{
    const struct json_value *member = field_present(object, name);
    if (member != NULL && member->type != JSON_TYPE_OBJECT) {
        row_error(row, field_path(row, "", name), "wrong_type", "%s must be an object.", name);
        return NULL;
    }
    return member;
}
