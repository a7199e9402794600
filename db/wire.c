/* PostgreSQL's binary formats: integers in network order, times as microseconds since 2000, text
 * and bytea as they are. */
#include "db/connection.h"
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"

#include <endian.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void wire_raw32(struct buf *out, uint32_t value)
{
    uint32_t order = htobe32(value);
    buf_add(out, &order, sizeof(order));
}

void wire_raw16(struct buf *out, uint16_t value)
{
    uint16_t order = htobe16(value);
    buf_add(out, &order, sizeof(order));
}

void wire_null(struct buf *out)
{
    wire_raw32(out, UINT32_MAX);
}

void wire_bytes(struct buf *out, const void *bytes, size_t length)
{
    wire_raw32(out, (uint32_t)length);
    buf_add(out, bytes, length);
}

void wire_text(struct buf *out, const char *text)
{
    if (text == NULL)
        wire_null(out);
    else
        wire_bytes(out, text, strlen(text));
}

static void wire_any_bigint(struct buf *out, int64_t value)
{
    uint64_t order = htobe64((uint64_t)value);
    wire_bytes(out, &order, sizeof(order));
}

void wire_bigint(struct buf *out, int64_t value)
{
    if (value == UNKNOWN)
        wire_null(out);
    else
        wire_any_bigint(out, value);
}

void wire_integer(struct buf *out, int32_t value)
{
    if (value == UNKNOWN) {
        wire_null(out);
        return;
    }
    wire_raw32(out, sizeof(value));
    wire_raw32(out, (uint32_t)value);
}

void wire_bool(struct buf *out, bool value)
{
    wire_bytes(out, value ? "\1" : "\0", 1);
}

void wire_time(struct buf *out, int64_t us)
{
    if (us == TIMESTAMP_UNKNOWN)
        wire_null(out);
    else
        wire_any_bigint(out, us - POSTGRES_EPOCH_US);
}

/* Notes where the next parameter starts; -1 as length is NULL. */
static void begin(struct db_params *params, int format)
{
    if (params->count == PARAMS_MAX)
        abort();
    params->offsets[params->count] = params->bytes.length;
    params->formats[params->count] = format;
    params->lengths[params->count] = -1;
}

static void end(struct db_params *params, bool is_null)
{
    if (!is_null)
        params->lengths[params->count] =
            (int)(params->bytes.length - params->offsets[params->count]);
    params->count++;
}

void param_text(struct db_params *params, const char *text)
{
    begin(params, 0);
    if (text != NULL) {
        buf_add(&params->bytes, text, strlen(text) + 1); /* text parameters end with a NUL */
    }
    end(params, text == NULL);
}

static void add64(struct db_params *params, int64_t value)
{
    uint64_t order = htobe64((uint64_t)value);
    buf_add(&params->bytes, &order, sizeof(order));
}

void param_bigint(struct db_params *params, int64_t value)
{
    begin(params, 1);
    if (value != UNKNOWN)
        add64(params, value);
    end(params, value == UNKNOWN);
}

void param_integer(struct db_params *params, int32_t value)
{
    begin(params, 1);
    if (value != UNKNOWN)
        wire_raw32(&params->bytes, (uint32_t)value);
    end(params, value == UNKNOWN);
}

void param_bool(struct db_params *params, int value)
{
    begin(params, 1);
    if (value != UNKNOWN)
        buf_add_char(&params->bytes, value != 0 ? '\1' : '\0');
    end(params, value == UNKNOWN);
}

void param_time(struct db_params *params, int64_t us)
{
    begin(params, 1);
    if (us != TIMESTAMP_UNKNOWN)
        add64(params, us - POSTGRES_EPOCH_US);
    end(params, us == TIMESTAMP_UNKNOWN);
}

void param_bytes(struct db_params *params, const void *bytes, size_t length)
{
    begin(params, 1);
    buf_add(&params->bytes, bytes, length);
    end(params, false);
}

/* One dimension, lower bound 1. */
void param_array_begin(struct db_params *params, uint32_t element_oid, size_t count)
{
    begin(params, 1);
    wire_raw32(&params->bytes, count == 0 ? 0 : 1);
    wire_raw32(&params->bytes, 0);
    wire_raw32(&params->bytes, element_oid);
    if (count > 0) {
        wire_raw32(&params->bytes, (uint32_t)count);
        wire_raw32(&params->bytes, 1);
    }
}

void param_array_end(struct db_params *params)
{
    end(params, false);
}

void params_free(struct db_params *params)
{
    buf_free(&params->bytes);
    params->count = 0;
}

uint32_t read32(const char *bytes)
{
    uint32_t order;
    memcpy(&order, bytes, sizeof(order));
    return be32toh(order);
}

uint64_t read64(const char *bytes)
{
    uint64_t order;
    memcpy(&order, bytes, sizeof(order));
    return be64toh(order);
}

const char *row_bytes(struct db_row *row, size_t *ret_length)
{
    int column = row->column++;
    if (PQgetisnull(row->result, row->row, column) != 0) {
        *ret_length = 0;
        return NULL;
    }
    *ret_length = (size_t)PQgetlength(row->result, row->row, column);
    return PQgetvalue(row->result, row->row, column);
}

int64_t row_bigint(struct db_row *row)
{
    size_t length;
    const char *bytes = row_bytes(row, &length);
    return bytes == NULL || length != 8 ? UNKNOWN : (int64_t)read64(bytes);
}

int32_t row_integer(struct db_row *row)
{
    size_t length;
    const char *bytes = row_bytes(row, &length);
    return bytes == NULL || length != 4 ? UNKNOWN : (int32_t)read32(bytes);
}

int row_tristate(struct db_row *row)
{
    size_t length;
    const char *bytes = row_bytes(row, &length);
    return bytes == NULL || length != 1 ? UNKNOWN : bytes[0] != 0;
}

bool row_bool(struct db_row *row)
{
    return row_tristate(row) == 1;
}

int64_t row_time(struct db_row *row)
{
    size_t length;
    const char *bytes = row_bytes(row, &length);
    return bytes == NULL || length != 8 ? TIMESTAMP_UNKNOWN
                                        : (int64_t)read64(bytes) + POSTGRES_EPOCH_US;
}

const char *row_text(struct db_row *row, struct arena *arena)
{
    size_t length;
    const char *bytes = row_bytes(row, &length);
    return bytes == NULL ? NULL : arena_strndup(arena, bytes, length);
}

bool row_fixed_bytes(struct db_row *row, void *out, size_t length)
{
    size_t stored;
    const char *bytes = row_bytes(row, &stored);
    if (bytes == NULL || stored != length)
        return false;
    memcpy(out, bytes, length);
    return true;
}

static void print_uuid(const unsigned char bytes[static 16], char out[static 37])
{
    char hex[33];
    crypt_hex(bytes, 16, hex);
    snprintf(out, 37, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
}

void row_uuid(struct db_row *row, char out[static 37])
{
    unsigned char bytes[16] = {0};
    (void)row_fixed_bytes(row, bytes, sizeof(bytes));
    print_uuid(bytes, out);
}

void db_new_uuid(char out[static 37])
{
    unsigned char bytes[16];
    crypt_random(bytes, sizeof(bytes));
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40); /* version 4, RFC 9562 */
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    print_uuid(bytes, out);
}

bool db_is_uuid(const char *text)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    for (size_t i = 0; i < sizeof(form); i++) {
        bool good = form[i] == 'x' ? text[i] != '\0' && strchr("0123456789abcdef", text[i]) != NULL
                                   : text[i] == form[i];
        if (!good)
            return false;
    }
    return true;
}
