/* Recursive descent with a bound on depth. Strings without escapes are copied in one piece. */
#include "server/inventory/json_reader.h"

#include "server/inventory/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#define DEPTH_MAX   16
#define MEMBERS_MAX 256 /* looking for a name twice is quadratic */

void json_reader_init(struct json_reader *reader, const char *bytes, size_t length,
                      struct arena *arena)
{
    *reader =
        (struct json_reader){.start = bytes, .at = bytes, .end = bytes + length, .arena = arena};
}

size_t json_reader_offset(const struct json_reader *reader)
{
    return (size_t)(reader->at - reader->start);
}

size_t json_reader_line(const struct json_reader *reader)
{
    size_t line = 1;
    for (const char *c = reader->start; c < reader->at; c++)
        line += *c == '\n';
    return line;
}

static void *fail(struct json_reader *reader, const char *what)
{
    if (reader->error[0] == '\0')
        snprintf(reader->error, sizeof(reader->error), "%s", what);
    return NULL;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

char json_reader_peek(struct json_reader *reader)
{
    while (reader->at < reader->end && is_space(*reader->at))
        reader->at++;
    if (reader->at < reader->end)
        return *reader->at;
    reader->hit_end = true;
    return '\0';
}

bool json_reader_expect(struct json_reader *reader, char byte)
{
    if (json_reader_peek(reader) == byte && reader->at < reader->end) {
        reader->at++;
        return true;
    }
    char what[40];
    snprintf(what, sizeof(what), "`%c` is expected here", byte);
    return fail(reader, what);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four hexadecimal digits at the reader's place, or -1. */
static int read_hex4(struct json_reader *reader)
{
    int value = 0;
    if (reader->end - reader->at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(reader->at[i]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    reader->at += 4;
    return value;
}

/* An escape behind its backslash, as UTF-8 into out; gives the bytes written, 0 on failure. */
static size_t read_escape(struct json_reader *reader, char *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (reader->at == reader->end)
        return 0;
    char kind = *reader->at++;
    const char *simple = kind == '\0' ? NULL : strchr(from, kind);
    if (simple != NULL) {
        *out = to[simple - from];
        return 1;
    }
    if (kind != 'u')
        return 0;
    int unit = read_hex4(reader);
    reader->saw_nul = reader->saw_nul || unit == 0;
    if (unit <= 0)
        return 0;
    if (unit >= 0xd800 && unit <= 0xdbff) {
        if (reader->end - reader->at < 2 || reader->at[0] != '\\' || reader->at[1] != 'u')
            return 0;
        reader->at += 2;
        int low = read_hex4(reader);
        if (low < 0xdc00 || low > 0xdfff)
            return 0;
        unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    } else if (unit >= 0xdc00 && unit <= 0xdfff) {
        return 0;
    }
    return (size_t)utf8proc_encode_char(unit, (utf8proc_uint8_t *)out);
}

/* A string behind its opening quote. */
static const char *read_string(struct json_reader *reader, size_t *ret_length)
{
    const char *begin = reader->at;
    const char *close = begin;
    bool escaped = false;
    for (; close < reader->end && *close != '"'; close++) {
        if ((unsigned char)*close < 0x20)
            return fail(reader, "a string holds a control byte");
        if (*close == '\\') {
            escaped = true;
            close++;
        }
    }
    if (close >= reader->end) {
        reader->hit_end = true;
        return fail(reader, "a string has no end");
    }
    if (!text_is_utf8(begin, (size_t)(close - begin)))
        return fail(reader, "a string is no valid UTF-8");
    char *text = arena_alloc(reader->arena, (size_t)(close - begin) + 1);
    size_t length = 0;
    if (!escaped) {
        length = (size_t)(close - begin);
        memcpy(text, begin, length);
    } else {
        while (reader->at < close) {
            if (*reader->at != '\\') {
                text[length++] = *reader->at++;
                continue;
            }
            reader->at++;
            size_t written = read_escape(reader, text + length);
            if (written == 0)
                return fail(reader,
                            reader->saw_nul
                                ? "a string holds the character \\u0000, which no text here may"
                                : "a string holds an escape that JSON does not allow");
            length += written;
        }
    }
    text[length] = '\0';
    reader->at = close + 1;
    *ret_length = length;
    return text;
}

static struct json_value *new_value(struct json_reader *reader, enum json_type type)
{
    struct json_value *value = arena_calloc(reader->arena, 1, sizeof(*value));
    value->type = type;
    return value;
}

static size_t digits_at(const struct json_reader *reader)
{
    size_t count = 0;
    while (reader->at + count < reader->end && reader->at[count] >= '0' && reader->at[count] <= '9')
        count++;
    return count;
}

static struct json_value *read_number(struct json_reader *reader)
{
    const char *begin = reader->at;
    if (*reader->at == '-')
        reader->at++;
    size_t whole = digits_at(reader);
    reader->hit_end = reader->hit_end || reader->at + whole == reader->end;
    if (whole == 0 || (whole > 1 && *reader->at == '0'))
        return fail(reader, "this is no number as JSON writes them");
    reader->at += whole;
    if (reader->at < reader->end && *reader->at == '.') {
        reader->at++;
        size_t fraction = digits_at(reader);
        reader->hit_end = reader->hit_end || reader->at + fraction == reader->end;
        if (fraction == 0)
            return fail(reader, "a number ends in a point");
        reader->at += fraction;
    }
    if (reader->at < reader->end && (*reader->at == 'e' || *reader->at == 'E')) {
        reader->at++;
        if (reader->at < reader->end && (*reader->at == '+' || *reader->at == '-'))
            reader->at++;
        size_t exponent = digits_at(reader);
        reader->hit_end = reader->hit_end || reader->at + exponent == reader->end;
        if (exponent == 0)
            return fail(reader, "a number's exponent has no digits");
        reader->at += exponent;
    }
    struct json_value *value = new_value(reader, JSON_TYPE_NUMBER);
    value->length = (size_t)(reader->at - begin);
    value->text = arena_strndup(reader->arena, begin, value->length);
    return value;
}

static struct json_value *read_word(struct json_reader *reader)
{
    static const struct {
        const char *word;
        enum json_type type;
        bool boolean;
    } words[] = {{"null", JSON_TYPE_NULL, false},
                 {"true", JSON_TYPE_BOOL, true},
                 {"false", JSON_TYPE_BOOL, false}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t length = strlen(words[i].word);
        if ((size_t)(reader->end - reader->at) >= length &&
            memcmp(reader->at, words[i].word, length) == 0) {
            struct json_value *value = new_value(reader, words[i].type);
            value->boolean = words[i].boolean;
            reader->at += length;
            return value;
        }
    }
    reader->hit_end = reader->hit_end || reader->end - reader->at < 5; /* of "false" */
    return fail(reader, "a value is expected here");
}

static struct json_value *read_value(struct json_reader *reader, int depth);

/* Items of an array or members of an object behind the opening bracket. */
static struct json_value *read_items(struct json_reader *reader, enum json_type type, int depth)
{
    struct json_value *whole = new_value(reader, type);
    struct json_value **tail = &whole->first;
    const char close = type == JSON_TYPE_ARRAY ? ']' : '}';
    if (json_reader_peek(reader) == close) {
        reader->at++;
        return whole;
    }
    for (;;) {
        const char *name = NULL;
        if (type == JSON_TYPE_OBJECT) {
            size_t length;
            if (!json_reader_expect(reader, '"') || (name = read_string(reader, &length)) == NULL)
                return fail(reader, "a member's name is expected here");
            if (json_member(whole, name) != NULL)
                return fail(reader, "an object has a member twice");
            if (!json_reader_expect(reader, ':'))
                return NULL;
        }
        struct json_value *item = read_value(reader, depth + 1);
        if (item == NULL)
            return NULL;
        item->name = name;
        *tail = item;
        tail = &item->next;
        if (++whole->length > MEMBERS_MAX && type == JSON_TYPE_OBJECT)
            return fail(reader, "an object has more than 256 members");
        char next = json_reader_peek(reader);
        if (next != ',' && next != close)
            return fail(reader, "a comma or the end is expected here");
        reader->at++;
        if (next == close)
            return whole;
    }
}

static struct json_value *read_value(struct json_reader *reader, int depth)
{
    if (depth > DEPTH_MAX)
        return fail(reader, "values are nested too deeply");
    char first = json_reader_peek(reader);
    if (reader->at == reader->end)
        return fail(reader, "a value is expected here, but this is the end");
    if (first == '{' || first == '[') {
        reader->at++;
        return read_items(reader, first == '{' ? JSON_TYPE_OBJECT : JSON_TYPE_ARRAY, depth);
    }
    if (first == '"') {
        struct json_value *value = new_value(reader, JSON_TYPE_STRING);
        reader->at++;
        value->text = read_string(reader, &value->length);
        return value->text == NULL ? NULL : value;
    }
    if (first == '-' || (first >= '0' && first <= '9'))
        return read_number(reader);
    return read_word(reader);
}

struct json_value *json_reader_value(struct json_reader *reader)
{
    return read_value(reader, 0);
}

const struct json_value *json_member(const struct json_value *object, const char *name)
{
    for (const struct json_value *member = object->first; member != NULL; member = member->next) {
        /* The first byte tells most names apart; this is the hottest comparison of an upload. */
        if (member->name != NULL && *member->name == *name && strcmp(member->name, name) == 0)
            return member;
    }
    return NULL;
}

struct json_value *json_copy(struct arena *arena, const struct json_value *value)
{
    struct json_value *copy = arena_alloc(arena, sizeof(*copy));
    *copy = *value;
    copy->next = NULL;
    struct json_value **tail = &copy->first;
    copy->first = NULL;
    for (const struct json_value *item = value->first; item != NULL; item = item->next) {
        *tail = json_copy(arena, item);
        tail = &(*tail)->next;
    }
    return copy;
}
