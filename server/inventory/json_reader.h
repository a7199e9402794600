/* A strict JSON reader that keeps numbers as they were written, so that money never passes through
 * a double. Values live in an arena; the text may be given up after reading. Refused: duplicate
 * members, \u0000, bytes that are no UTF-8, control bytes in strings, nesting over 16, objects of
 * over 256 members, anything RFC 8259 does not allow. Pure; any thread. */
#ifndef RACKRATE_INVENTORY_JSON_READER_H
#define RACKRATE_INVENTORY_JSON_READER_H

#include "server/base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum json_type {
    JSON_TYPE_NULL,
    JSON_TYPE_BOOL,
    JSON_TYPE_NUMBER,
    JSON_TYPE_STRING,
    JSON_TYPE_ARRAY,
    JSON_TYPE_OBJECT
};

struct json_value {
    enum json_type type;
    bool boolean;
    const char *text;                /* a string decoded, or a number as written; NUL behind */
    size_t length;                   /* of text; of an array or object, how many items */
    const char *name;                /* of a member of an object */
    struct json_value *first, *next; /* items of an array or object, in order */
};

struct json_reader {
    const char *start, *at, *end;
    struct arena *arena;
    bool saw_nul;    /* a string held \u0000 */
    bool hit_end;    /* the text ended before the value did: more bytes might have made it whole */
    char error[120]; /* empty while all is well */
};

void json_reader_init(struct json_reader *reader, const char *bytes, size_t length,
                      struct arena *arena);

/* Reads one value at the reader's place. NULL and reader->error on failure. */
struct json_value *json_reader_value(struct json_reader *reader);

/* Passes over white space; gives the next byte or '\0' at the end. */
char json_reader_peek(struct json_reader *reader);

/* Takes one expected byte behind white space; false and an error where it is another. */
bool json_reader_expect(struct json_reader *reader, char byte);

/* Where the reader stands, counted in bytes from 0, and the line from 1. */
size_t json_reader_offset(const struct json_reader *reader);
size_t json_reader_line(const struct json_reader *reader);

/* The member of that name, or NULL. */
const struct json_value *json_member(const struct json_value *object, const char *name);

/* A new string, number or object value in the arena, for building patched documents. */
struct json_value *json_copy(struct arena *arena, const struct json_value *value);

#endif
