/* Numbers are read by jansson as integers or doubles; no money passes here, and the few decimals
 * (an SLA of 99.95 %) are printed back to at most 15 significant digits before they are parsed
 * exactly, which restores what was written. */
#include "server/api/json_body.h"

#include "server/base/decimal.h"
#include "server/inventory/text.h"

#include <stdio.h>
#include <string.h>

bool json_body_check_type(struct request *request, struct reply *reply)
{
    const char *type = request_header(request, "content-type");
    if (type == NULL || strncasecmp(type, "application/json", 16) == 0)
        return true;
    reply_problem(request, reply, 415, "unsupported-media-type",
                  "This call takes application/json.", NULL, 0);
    return false;
}

bool json_body_parse(struct json_body *body, struct request *request, struct reply *reply)
{
    *body = (struct json_body){.request = request, .reply = reply};
    json_error_t error;
    body->root = json_loadb(request->body == NULL ? "" : request->body, request->body_length,
                            JSON_REJECT_DUPLICATES, &error);
    if (body->root != NULL && json_is_object(body->root))
        return true;
    const char *detail =
        body->root != NULL
            ? "The body must be a JSON object."
            : arena_printf(&request->arena, "The body is no JSON: line %d, column %d: %s.",
                           error.line, error.column, error.text);
    json_decref(body->root);
    body->root = NULL;
    reply_problem(request, reply, 400, "malformed-body", detail, NULL, 0);
    return false;
}

void json_body_free(struct json_body *body)
{
    json_decref(body->root);
    body->root = NULL;
}

void json_body_refuse(struct json_body *body, const char *member, const char *code,
                      const char *message)
{
    if (body->item_count == JSON_BODY_ITEMS_MAX)
        return;
    body->items[body->item_count++] = (struct problem_item){
        .pointer = arena_printf(&body->request->arena, "/%s", member),
        .code = code,
        .message = message,
    };
}

/* The member's value, or NULL where it is missing or null; remembers that it is known. */
static json_t *get(struct json_body *body, const char *member, bool *ret_null)
{
    if (body->known_count < JSON_BODY_ITEMS_MAX)
        body->known[body->known_count++] = member;
    json_t *value = json_object_get(body->root, member);
    *ret_null = value != NULL && json_is_null(value);
    return value == NULL || json_is_null(value) ? NULL : value;
}

void json_body_text(struct json_body *body, const char *member, size_t max_bytes, const char **ret)
{
    bool null;
    json_t *value = get(body, member, &null);
    struct arena *arena = &body->request->arena;
    if (value == NULL)
        return;
    if (!json_is_string(value)) {
        json_body_refuse(body, member, "wrong_type", "This must be a string.");
        return;
    }
    const char *text = json_string_value(value);
    size_t length = json_string_length(value);
    if (length == 0 || length > max_bytes || !text_is_clean(text, length))
        json_body_refuse(body, member, "out_of_range",
                         arena_printf(arena,
                                      "This must be 1 to %zu bytes without control or invisible "
                                      "characters, and no mere blanks.",
                                      max_bytes));
    else
        *ret = arena_strndup(arena, text, length);
}

void json_body_url(struct json_body *body, const char *member, const char **ret)
{
    const char *text = NULL;
    json_body_text(body, member, 2000, &text);
    if (text == NULL)
        return;
    if (strncmp(text, "https://", 8) != 0 && strncmp(text, "http://", 7) != 0)
        json_body_refuse(body, member, "bad_url",
                         "This must be a URL that starts with https:// or http://.");
    else
        *ret = text;
}

static void read_decimal(struct json_body *body, const char *member, json_t *value,
                         unsigned decimals, int64_t minimum, int64_t maximum, int64_t *ret)
{
    char text[64];
    int64_t number;
    if (!json_is_number(value)) {
        json_body_refuse(body, member, "wrong_type", "This must be a number.");
        return;
    }
    if (json_is_integer(value))
        snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(value));
    else
        snprintf(text, sizeof(text), "%.15g", json_real_value(value));
    if (decimal_parse_json(text, strlen(text), decimals, false, &number) == DECIMAL_OK &&
        number >= minimum && number <= maximum) {
        *ret = number;
        return;
    }
    struct buf message = {0};
    buf_add_string(&message, "This must be a number from ");
    buf_add_decimal(&message, minimum, decimals);
    buf_add_string(&message, " to ");
    buf_add_decimal(&message, maximum, decimals);
    buf_printf(&message, " with at most %u decimals.", decimals);
    json_body_refuse(body, member, "out_of_range",
                     arena_strdup(&body->request->arena, message.data));
    buf_free(&message);
}

void json_body_decimal(struct json_body *body, const char *member, unsigned decimals,
                       int64_t minimum, int64_t maximum, int64_t *ret)
{
    bool null;
    json_t *value = get(body, member, &null);
    if (value != NULL)
        read_decimal(body, member, value, decimals, minimum, maximum, ret);
}

void json_body_nullable_decimal(struct json_body *body, const char *member, unsigned decimals,
                                int64_t minimum, int64_t maximum, int64_t *ret)
{
    bool null;
    json_t *value = get(body, member, &null);
    if (value != NULL)
        read_decimal(body, member, value, decimals, minimum, maximum, ret);
    else if (null)
        *ret = UNKNOWN;
}

void json_body_bool(struct json_body *body, const char *member, bool *ret)
{
    bool null;
    json_t *value = get(body, member, &null);
    if (value == NULL)
        return;
    if (json_is_boolean(value))
        *ret = json_is_true(value);
    else
        json_body_refuse(body, member, "wrong_type", "This must be true or false.");
}

void json_body_tristate(struct json_body *body, const char *member, int *ret)
{
    bool null;
    json_t *value = get(body, member, &null);
    if (value == NULL)
        return;
    if (json_is_boolean(value))
        *ret = json_is_true(value);
    else
        json_body_refuse(body, member, "wrong_type", "This must be true, false or null.");
}

bool json_body_finish(struct json_body *body)
{
    const char *name;
    json_t *value;
    json_object_foreach(body->root, name, value)
    {
        bool known = false;
        for (size_t i = 0; i < body->known_count && !known; i++)
            known = strcmp(body->known[i], name) == 0;
        if (!known)
            json_body_refuse(body, arena_strdup(&body->request->arena, name), "unknown_member",
                             "Nothing of this name is known here.");
    }
    if (body->item_count == 0)
        return true;
    reply_problem(body->request, body->reply, 422, "invalid-body",
                  "The body was understood but is not valid.", body->items, body->item_count);
    return false;
}
