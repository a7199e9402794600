/* Writing the chosen fields of a row: spans of its text, found by its table, and members of the
 * small objects that are spliced in, found by walking over what is before them. */
#include "server/base/decimal.h"
#include "server/catalog/fields_private.h"
#include "server/catalog/latency_query.h"

#include <string.h>

const char *const leaf_before[LEAF_COUNT] = {
#define X(name, before) [LEAF_##name] = before,
    FRAGMENT_LEAVES(X)
#undef X
};

static const uint8_t leaf_gap[LEAF_COUNT] = {
#define X(name, before) [LEAF_##name] = sizeof(before) - 1,
    FRAGMENT_LEAVES(X)
#undef X
};

/* A timestamp, a latency with its decimals, or a word. */
#define SPLICED_BYTES 64

static inline char *put(char *out, const char *bytes, size_t length)
{
    memcpy(out, bytes, length);
    return out + length;
}

/* Pieces are short: copying in sixteens without asking for the length first is cheaper than a call.
 * The room was reserved with SPLICED_BYTES to spare. */
static inline char *put_short(char *out, const char *bytes, size_t length)
{
    if (length > 32)
        return put(out, bytes, length);
    if (length >= 16) {
        memcpy(out, bytes, 16);
        memcpy(out + length - 16, bytes + length - 16, 16);
        return out + length;
    }
    for (size_t i = 0; i < length; i++)
        out[i] = bytes[i];
    return out + length;
}

/* A row's text with its table. */
struct row_view {
    const char *bytes;
    uint32_t length;
    uint32_t own_length; /* of the text the table was made for */
    struct leaf_table table;
};

static inline uint32_t end_of(const struct row_view *view, unsigned leaf)
{
    if (leaf < LEAF_PRICES)
        return view->table.ends[leaf];
    /* What an answer adds to a text lies within its flags. */
    uint32_t length = leaf < LEAF_FLAGS ? view->own_length : view->length;
    return length - view->table.ends[leaf];
}

static inline uint32_t start_of(const struct row_view *view, unsigned leaf)
{
    return (leaf == 0 ? FRAGMENT_ID_LENGTH : end_of(view, leaf - 1)) + leaf_gap[leaf];
}

static char *put_text(char *out, const struct row_view *view, const struct field_piece *piece,
                      const struct fragment_splice *splice)
{
    uint32_t from = start_of(view, piece->first) - piece->lead;
    uint32_t to = end_of(view, piece->last) + piece->trail;
    if (splice->confirmed == NULL || piece->first > LEAF_OBSERVED_AT ||
        piece->last < LEAF_OBSERVED_AT)
        return put_short(out, view->bytes + from, to - from);
    uint32_t own = start_of(view, LEAF_OBSERVED_AT), behind = end_of(view, LEAF_OBSERVED_AT);
    out = put(out, view->bytes + from, own - from);
    out = put(out, splice->confirmed, splice->confirmed_length);
    return put(out, view->bytes + behind, to - behind);
}

static const char *string_end(const char *at)
{
    for (at++; *at != '"'; at++)
        at += *at == '\\';
    return at + 1;
}

/* The end of the JSON value at `at`; it is one of ours, so well-formed. */
static const char *value_end(const char *at)
{
    if (*at == '"')
        return string_end(at);
    for (unsigned depth = 0;;) {
        switch (*at) {
        case '"':
            at = string_end(at);
            continue;
        case '{':
        case '[':
            depth++;
            break;
        case '}':
        case ']':
            if (depth == 0)
                return at;
            if (--depth == 0)
                return at + 1;
            break;
        case ',':
        case '\0':
            if (depth == 0)
                return at;
            break;
        }
        at++;
    }
}

/* A walk over the members of an object; `next` at the key of number `number`. */
struct walk {
    const char *next;
    unsigned number;
};

static char *put_member(char *out, struct walk *walk, unsigned number)
{
    for (;;) {
        const char *value = string_end(walk->next) + 1, *end = value_end(value);
        walk->next = end + 1;
        if (walk->number++ == number)
            return put_short(out, value, (size_t)(end - value));
    }
}

static char *put_latency_kind(char *out, uint32_t latency)
{
    if (latency == LATENCY_UNKNOWN)
        return put(out, "null", 4);
    return LATENCY_CELL_MEASURED(latency) ? put(out, "\"measured\"", 10)
                                          : put(out, "\"estimated\"", 11);
}

static char *put_price(char *out, const struct fragment_splice *splice, const char *price,
                       size_t length)
{
    out = put(out, price, length - 1);
    out = put(out, splice->price_tail, splice->price_tail_length);
    return put(out, "}", 1);
}

static inline const char *price_of(const struct segment *segment, uint32_t row, uint32_t entry)
{
    return segment->text[row].bytes + segment->entry_text[entry];
}

void fields_prefetch(const struct field_choice *choice, const struct segment *segment, uint32_t row,
                     uint32_t entry)
{
    const char *bytes = segment->text[row].bytes;
    (void)choice;
    for (const char *at = bytes - sizeof(struct leaf_table); at < bytes + 384; at += 64)
        __builtin_prefetch(at);
    __builtin_prefetch(price_of(segment, row, entry));
    __builtin_prefetch(price_of(segment, row, entry) + 64);
}

size_t fields_bound(const struct field_choice *choice, const struct segment *segment, uint32_t row,
                    uint32_t entry, const struct fragment_splice *splice)
{
    return choice->glue_length + choice->end_length + fragment_bound(segment, row, entry, splice) +
           SPLICED_BYTES;
}

char *fields_write(const struct field_choice *choice, char *out, const struct segment *segment,
                   uint32_t row, uint32_t entry, const struct fragment_splice *splice)
{
    const struct row_text *own = &segment->text[row];
    const struct row_text *text = splice->text != NULL ? splice->text : own;
    const struct row_view view = {text->bytes, text->length, own->length,
                                  leaf_table_of(own->bytes)};
    const char *price = price_of(segment, row, entry);
    struct walk provider = {splice->provider_json + 1, 0}, prices = {price + 1, 0},
                tail = {splice->price_tail + 1, 0};
    for (size_t i = 0; i < choice->piece_count; i++) {
        const struct field_piece *piece = &choice->pieces[i];
        out = put_short(out, piece->glue, piece->glue_length);
        switch ((enum field_kind)piece->kind) {
        case FIELD_ID:
            out = put(out, own->bytes + 6, OFFER_ID_TEXT_LENGTH + 2);
            break;
        case FIELD_TEXT:
        case FIELD_OBJECT:
            out = put_text(out, &view, piece, splice);
            break;
        case FIELD_PROVIDER:
            out = piece->first == WHOLE ? put(out, splice->provider_json, splice->provider_length)
                                        : put_member(out, &provider, piece->first);
            break;
        case FIELD_PRICE:
            out = piece->first == WHOLE
                      ? put_price(out, splice, price, segment->entry_length[entry])
                      : put_member(out, &prices, piece->first);
            break;
        case FIELD_PRICE_TAIL:
            out = put_member(out, &tail, piece->first);
            break;
        case FIELD_STALE:
            out = splice->stale ? put(out, "true", 4) : put(out, "false", 5);
            break;
        case FIELD_TRUST:
            out = put(out, "null", 4);
            break;
        case FIELD_LATENCY_MS:
            out = splice->latency == LATENCY_UNKNOWN
                      ? put(out, "null", 4)
                      : out + decimal_print(LATENCY_CELL_CENTI(splice->latency), 2, out);
            break;
        case FIELD_LATENCY_KIND:
            out = put_latency_kind(out, splice->latency);
            break;
        case FIELD_EVIDENCE:
            out = splice->evidence == NULL ? put(out, "null", 4)
                                           : put(out, splice->evidence, splice->evidence_length);
            break;
        }
    }
    return put(out, choice->end, choice->end_length);
}
