/* Quotes toggle while rows are looked for, which is exact for what the strict reader accepts: there
 * a quote stands only around a field or doubled inside one. */
#include "server/inventory/csv_table.h"

#include "server/inventory/inventory.h"
#include "server/inventory/text.h"

#include <csv.h>
#include <stdlib.h>
#include <string.h>

struct gathering {
    struct csv_row *row;
    struct arena *arena;
    const char *error;
};

void csv_table_open(struct csv_table *table, const char *bytes, size_t length)
{
    *table = (struct csv_table){.at = bytes, .end = bytes + length};
    table->parser = xmalloc(sizeof(struct csv_parser));
    csv_init(table->parser, CSV_STRICT | CSV_STRICT_FINI);
}

void csv_table_close(struct csv_table *table)
{
    csv_free(table->parser);
    free(table->parser);
    table->parser = NULL;
}

enum csv_step csv_table_next(struct csv_table *table, struct csv_slice *ret_slice)
{
    while (table->at < table->end) {
        const char *begin = table->at, *c = begin;
        const char *limit = (size_t)(table->end - begin) > UPLOAD_ROW_MAX_BYTES
                                ? begin + UPLOAD_ROW_MAX_BYTES
                                : table->end;
        bool quoted = false;
        while (c < limit && (quoted || (*c != '\n' && *c != '\r')))
            quoted ^= *c++ == '"';
        *ret_slice = (struct csv_slice){
            .bytes = begin,
            .length = (size_t)(c - begin),
            .number = ++table->number,
            .ended = c < table->end,
        };
        if (c == limit && limit < table->end)
            return CSV_STEP_TOO_LONG;
        if (quoted)
            return CSV_STEP_OPEN_QUOTE;
        table->at = c;
        if (table->at < table->end)
            table->at += *c == '\r' && c + 1 < table->end && c[1] == '\n' ? 2 : 1;
        bool blank = true;
        for (const char *b = begin; b < c && blank; b++)
            blank = *b == ' ' || *b == '\t';
        if (!blank)
            return CSV_STEP_ROW;
    }
    return CSV_STEP_END;
}

static void take_field(void *bytes, size_t length, void *closure)
{
    struct gathering *gathering = closure;
    struct csv_row *row = gathering->row;
    if (gathering->error != NULL)
        return;
    if (row->count == CSV_COLUMNS_MAX)
        gathering->error = "The row has more than 64 columns.";
    else if (length > 0 && memchr(bytes, '\0', length) != NULL)
        gathering->error = "A field holds a NUL byte.";
    else if (!text_is_utf8(bytes, length))
        gathering->error = "A field is no valid UTF-8.";
    if (gathering->error != NULL)
        return;
    row->cells[row->count] = arena_strndup(gathering->arena, length == 0 ? "" : bytes, length);
    row->lengths[row->count++] = length;
}

const char *csv_table_cells(struct csv_table *table, const struct csv_slice *slice,
                            struct arena *arena, struct csv_row *ret_row)
{
    struct gathering gathering = {.row = ret_row, .arena = arena};
    ret_row->count = 0;
    if (csv_parse(table->parser, slice->bytes, slice->length, take_field, NULL, &gathering) !=
            slice->length ||
        csv_fini(table->parser, take_field, NULL, &gathering) != 0) {
        /* The reader keeps its state after an error; a fresh one starts the next row. */
        csv_free(table->parser);
        csv_init(table->parser, CSV_STRICT | CSV_STRICT_FINI);
        return "A quote stands where none may be.";
    }
    return gathering.error;
}
