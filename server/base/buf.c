/* The buffer doubles when it grows. JSON strings are copied in runs up to the next byte that must
 * be escaped. */
#include "server/base/buf.h"

#include "server/base/arena.h"
#include "server/base/decimal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void buf_free(struct buf *buf)
{
    free(buf->data);
    *buf = (struct buf){0};
}

char *buf_reserve(struct buf *buf, size_t extra)
{
    size_t needed = buf->length + extra + 1;
    if (needed > buf->capacity) {
        size_t capacity = buf->capacity == 0 ? 256 : buf->capacity * 2;
        if (capacity < needed)
            capacity = needed;
        buf->data = xrealloc(buf->data, capacity);
        buf->capacity = capacity;
    }
    return buf->data + buf->length;
}

char *buf_detach(struct buf *buf, size_t *ret_length)
{
    buf_reserve(buf, 0);
    buf->data[buf->length] = '\0';
    char *data = buf->data;
    if (ret_length != NULL)
        *ret_length = buf->length;
    *buf = (struct buf){0};
    return data;
}

void buf_add(struct buf *buf, const void *bytes, size_t length)
{
    char *place = buf_reserve(buf, length);
    if (length > 0)
        memcpy(place, bytes, length);
    buf->length += length;
    buf->data[buf->length] = '\0';
}

void buf_add_char(struct buf *buf, char byte)
{
    *buf_reserve(buf, 1) = byte;
    buf->length++;
    buf->data[buf->length] = '\0';
}

void buf_printf(struct buf *buf, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length > 0) {
        char *place = buf_reserve(buf, (size_t)length);
        vsnprintf(place, (size_t)length + 1, format, again);
        buf->length += (size_t)length;
    }
    va_end(again);
}

void buf_add_int(struct buf *buf, int64_t value)
{
    buf_add_decimal(buf, value, 0);
}

void buf_add_decimal(struct buf *buf, int64_t value, unsigned decimals)
{
    buf->length += decimal_print(value, decimals, buf_reserve(buf, 32));
}

static const char *json_escape(unsigned char byte, char scratch[static 7])
{
    switch (byte) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    default:
        snprintf(scratch, 7, "\\u%04x", byte);
        return scratch;
    }
}

void buf_add_json_bytes(struct buf *buf, const char *bytes, size_t length)
{
    char scratch[7];
    size_t run = 0;
    buf_add_char(buf, '"');
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        /* U+2028 and U+2029 (E2 80 A8/A9) end a line in older JavaScript. */
        bool separator = byte == 0xe2 && i + 2 < length && (unsigned char)bytes[i + 1] == 0x80 &&
                         ((unsigned char)bytes[i + 2] & 0xfe) == 0xa8;
        if (byte >= 0x20 && byte != '"' && byte != '\\' && byte != 0x7f && !separator)
            continue;
        buf_add(buf, bytes + run, i - run);
        if (separator) {
            buf_add_string(buf, (unsigned char)bytes[i + 2] == 0xa8 ? "\\u2028" : "\\u2029");
            i += 2;
        } else {
            buf_add_string(buf, json_escape(byte, scratch));
        }
        run = i + 1;
    }
    buf_add(buf, bytes + run, length - run);
    buf_add_char(buf, '"');
}

void buf_add_json_string(struct buf *buf, const char *string)
{
    if (string == NULL)
        buf_add(buf, "null", 4);
    else
        buf_add_json_bytes(buf, string, strlen(string));
}

void buf_add_json_key(struct buf *buf, const char *key)
{
    size_t length = strlen(key);
    char *at = buf_reserve(buf, length + 4);
    if (buf->length > 0 && at[-1] != '{')
        *at++ = ',';
    *at++ = '"';
    memcpy(at, key, length);
    memcpy(at + length, "\":", 3);
    buf->length = (size_t)(at + length + 2 - buf->data);
}

void buf_add_json_member_string(struct buf *buf, const char *key, const char *value)
{
    buf_add_json_key(buf, key);
    buf_add_json_string(buf, value);
}

void buf_add_json_member_int(struct buf *buf, const char *key, int64_t value)
{
    buf_add_json_member_decimal(buf, key, value, 0);
}

void buf_add_json_member_decimal(struct buf *buf, const char *key, int64_t value, unsigned decimals)
{
    buf_add_json_key(buf, key);
    if (value == -1)
        buf_add(buf, "null", 4);
    else
        buf_add_decimal(buf, value, decimals);
}

void buf_add_json_member_bool(struct buf *buf, const char *key, bool value)
{
    buf_add_json_key(buf, key);
    buf_add_string(buf, value ? "true" : "false");
}

void buf_add_json_member_tristate(struct buf *buf, const char *key, int value)
{
    buf_add_json_key(buf, key);
    buf_add_string(buf, value < 0 ? "null" : value > 0 ? "true" : "false");
}
