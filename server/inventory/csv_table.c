/* libcsv pushes fields and row ends; a row is gathered here and handed on whole. */
#include "server/inventory/csv_table.h"

#include "server/inventory/inventory.h"

#include <csv.h>
#include <string.h>

struct gathering {
    struct csv_row row;
    struct arena arena;
    size_t row_bytes;
    bool (*take)(void *closure, const struct csv_row *row);
    void *closure;
    const char *error;
    bool stopped;
};

static void take_field(void *bytes, size_t length, void *closure)
{
    struct gathering *gathering = closure;
    struct csv_row *row = &gathering->row;
    if (gathering->error != NULL || gathering->stopped)
        return;
    gathering->row_bytes += length;
    if (row->count == CSV_COLUMNS_MAX)
        gathering->error = "A row has more than 64 columns.";
    else if (gathering->row_bytes > UPLOAD_ROW_MAX_BYTES)
        gathering->error = "A row is longer than 64 KiB.";
    else if (length > 0 && memchr(bytes, '\0', length) != NULL)
        gathering->error = "A field holds a NUL byte.";
    if (gathering->error != NULL)
        return;
    row->cells[row->count] = arena_strndup(&gathering->arena, bytes == NULL ? "" : bytes, length);
    row->lengths[row->count++] = length;
}

static void take_row(int end, void *closure)
{
    struct gathering *gathering = closure;
    (void)end;
    gathering->row.number++;
    if (gathering->error == NULL && !gathering->stopped && gathering->row.count > 0)
        gathering->stopped = !gathering->take(gathering->closure, &gathering->row);
    gathering->row.count = 0;
    gathering->row_bytes = 0;
    arena_reset(&gathering->arena);
}

const char *csv_table_read(const char *bytes, size_t length,
                           bool (*take)(void *closure, const struct csv_row *row), void *closure,
                           int64_t *ret_row)
{
    struct gathering gathering = {.take = take, .closure = closure};
    struct csv_parser parser;
    const size_t piece = 65536;
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0)
        return "The CSV reader could not be started.";
    for (size_t at = 0; at < length && gathering.error == NULL && !gathering.stopped;) {
        size_t size = length - at < piece ? length - at : piece;
        if (csv_parse(&parser, bytes + at, size, take_field, take_row, &gathering) != size)
            gathering.error = "A quote stands where none may be.";
        /* A quote that never closes gathers without end in the library. */
        else if (parser.entry_pos > UPLOAD_ROW_MAX_BYTES)
            gathering.error = "A row is longer than 64 KiB; a quote may have no end.";
        at += size;
    }
    if (gathering.error == NULL && !gathering.stopped &&
        csv_fini(&parser, take_field, take_row, &gathering) != 0)
        gathering.error = "The last row ends inside quotes.";
    csv_free(&parser);
    arena_free(&gathering.arena);
    *ret_row = gathering.row.number + 1;
    return gathering.error;
}
