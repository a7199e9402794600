/* Chosen fields as the cells of a line. Values are written as JSON, as for any answer, and turned
 * into cells: texts lose their quotes and escapes, null is empty, lists and objects stay JSON. */
#include "server/base/csv_cell.h"
#include "server/catalog/fields_private.h"

/* Column and field, in the order of an upload's columns with ours before and behind. */
static const char *const default_columns[][2] = {
    {"id", "id"},
    {"provider", "provider.slug"},
    {"external_id", "external_id"},
    {"gpu", "gpu.slug"},
    {"gpu_name", "gpu.raw"},
    {"vram_gb", "gpu.vram_gb"},
    {"gpu_count", "gpu_count"},
    {"vcpus", "node.vcpus"},
    {"memory_gib", "node.memory_gib"},
    {"storage_gb", "node.storage_gb"},
    {"interconnect", "interconnect"},
    {"fabric", "fabric"},
    {"fabric_gbps", "fabric_gbps"},
    {"region", "region.slug"},
    {"region_name", "region.raw"},
    {"country", "region.country"},
    {"zone", "region.zone"},
    {"status", "availability.status"},
    {"gpus_available", "availability.gpus_available"},
    {"lead_time_days", "availability.lead_time_days"},
    {"billing", "price.billing"},
    {"term_months", "price.term_months"},
    {"plan", "price.plan"},
    {"price_per_gpu_hour", "price.price_per_gpu_hour"},
    {"price_per_node_hour", "price.price_per_node_hour"},
    {"min_gpus", "price.min_gpus"},
    {"max_gpus", "price.max_gpus"},
    {"upfront_percent", "price.upfront_percent"},
    {"price_per_vram_gb", "price.price_per_vram_gb"},
    {"price_per_tflop", "price.price_per_tflop"},
    {"price_per_tbps", "price.price_per_tbps"},
    {"gpus", "price.gpus"},
    {"total_price", "price.total_price"},
    {"verdict", "price.verdict"},
    {"ratio_to_median", "price.ratio_to_median"},
    {"trust_score", "trust_score"},
    {"latency_ms", "latency_ms"},
    {"latency_kind", "latency_kind"},
    {"stale", "stale"},
    {"order_url", "order_url"},
    {"source_url", "source.url"},
    {"attribution", "source.attribution"},
    {"observed_at", "source.observed_at"},
    {"updated_at", "updated_at"},
};

const struct field_columns *field_columns_default(struct arena *arena)
{
    struct field_columns *columns = arena_calloc(arena, 1, sizeof(*columns));
    columns->count = sizeof(default_columns) / sizeof(default_columns[0]);
    for (size_t i = 0; i < columns->count; i++) {
        columns->names[i] = default_columns[i][0];
        columns->pieces[i] = field_piece_of(field_find(default_columns[i][1]));
    }
    return columns;
}

void fields_write_csv_header(const struct field_columns *columns, struct buf *out)
{
    for (size_t i = 0; i < columns->count; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        buf_add_string(out, columns->names[i]);
    }
    buf_add_char(out, '\n');
}

static unsigned hex_digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

/* Undoes the escapes of one of our own JSON strings, in place; gives the new length. */
static size_t unescape(char *text, size_t length)
{
    size_t to = 0;
    for (size_t from = 0; from < length; from++) {
        if (text[from] != '\\') {
            text[to++] = text[from];
            continue;
        }
        char escaped = text[++from];
        if (escaped != 'u') {
            text[to++] = (char)(escaped == 'n'   ? '\n'
                                : escaped == 'r' ? '\r'
                                : escaped == 't' ? '\t'
                                                 : escaped);
            continue;
        }
        unsigned code = 0;
        for (int i = 0; i < 4; i++)
            code = code << 4 | hex_digit(text[++from]);
        if (code >= 0x800) { /* the line ends U+2028 and U+2029 */
            text[to++] = (char)(0xe0 | code >> 12);
            text[to++] = (char)(0x80 | (code >> 6 & 0x3f));
            text[to++] = (char)(0x80 | (code & 0x3f));
        } else {
            text[to++] = (char)code; /* a control byte */
        }
    }
    return to;
}

static void add_cell(char *json, size_t length, struct buf *out)
{
    switch (json[0]) {
    case 'n': /* null */
        return;
    case '"':
        length -= 2;
        if (memchr(json + 1, '\\', length) != NULL)
            length = unescape(json + 1, length);
        json[1 + length] = '\0';
        csv_add_cell(out, json + 1, length, true);
        return;
    case '{':
    case '[':
        json[length] = '\0';
        csv_add_cell(out, json, length, false);
        return;
    default:
        buf_add(out, json, length);
    }
}

void fields_write_csv(const struct field_columns *columns, const struct segment *segment,
                      uint32_t row, uint32_t entry, const struct fragment_splice *splice,
                      struct buf *scratch, struct buf *out)
{
    struct field_row view = field_row_of(segment, row, entry, splice);
    buf_clear(scratch);
    char *cell = buf_reserve(scratch, fragment_bound(segment, row, entry, splice) + SPLICED_BYTES);
    for (size_t i = 0; i < columns->count; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        char *end = field_row_put(&view, &columns->pieces[i], cell);
        add_cell(cell, (size_t)(end - cell), out);
    }
    buf_add_char(out, '\n');
}
