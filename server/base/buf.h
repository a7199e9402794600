/* A growing byte buffer for building answers, and the JSON writing on top of it that every room
 * shares. Bytes are always followed by a NUL that `length` does not count. Out of memory aborts. A
 * buffer belongs to one thread at a time. */
#ifndef RACKRATE_BASE_BUF_H
#define RACKRATE_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buf {
    char *data; /* NULL until the first byte is added */
    size_t length;
    size_t capacity;
};

/* Frees the bytes; the buffer is empty and usable afterwards. `struct buf b = {0}` starts one. */
void buf_free(struct buf *buf);

/* Forgets the content, keeps the memory. */
static inline void buf_clear(struct buf *buf)
{
    buf->length = 0;
}

/* Makes room for `extra` more bytes and gives the place where they go; add what was written to
 * `length`. */
char *buf_reserve(struct buf *buf, size_t extra);

/* Gives the bytes (malloc'd, NUL behind) to the caller, who frees them; the buffer is empty
 * afterwards. */
char *buf_detach(struct buf *buf, size_t *ret_length);

/* Adds bytes, a string, one byte. */
void buf_add(struct buf *buf, const void *bytes, size_t length);
static inline void buf_add_string(struct buf *buf, const char *string)
{
    buf_add(buf, string, strlen(string));
}
void buf_add_char(struct buf *buf, char byte);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a decimal integer. */
void buf_add_int(struct buf *buf, int64_t value);

/* Adds value / 10^decimals as a plain decimal without trailing zeros: (2200000, 6) is 2.2, (125, 3)
 * is 0.125. */
void buf_add_decimal(struct buf *buf, int64_t value, unsigned decimals);

/* Adds a JSON string with its quotes, or null of NULL. The text must be valid UTF-8. `<`, `>` and
 * `&` are left alone; control bytes and U+2028/9 are escaped. */
void buf_add_json_string(struct buf *buf, const char *string);
void buf_add_json_bytes(struct buf *buf, const char *bytes, size_t length);

/* Adds `"key":` with a comma before it unless it is the first in its object (the byte before is
 * `{`). `key` is trusted. */
void buf_add_json_key(struct buf *buf, const char *key);

/* Key and value in one: string or null; integer or null where value is -1 (unknown); decimal or
 * null where value is -1; boolean; tri-state where -1 is null. */
void buf_add_json_member_string(struct buf *buf, const char *key, const char *value);
void buf_add_json_member_int(struct buf *buf, const char *key, int64_t value);
void buf_add_json_member_decimal(struct buf *buf, const char *key, int64_t value,
                                 unsigned decimals);
void buf_add_json_member_bool(struct buf *buf, const char *key, bool value);
void buf_add_json_member_tristate(struct buf *buf, const char *key, int value);

#endif
