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

static inline uint32_t end_of(const struct field_row *view, unsigned leaf)
{
    uint32_t end = view->table.ends[leaf];
    /* What an answer adds to a text lies within its flags. */
    uint32_t length = leaf < LEAF_FLAGS ? view->own_length : view->length;
    return leaf < LEAF_PRICES ? end : length - end;
}

static inline uint32_t start_of(const struct field_row *view, unsigned leaf)
{
    return (leaf == 0 ? FRAGMENT_ID_LENGTH : end_of(view, leaf - 1)) + leaf_gap[leaf];
}

static char *put_text(char *out, const struct field_row *view, const struct field_piece *piece,
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

static char *put_member(char *out, struct member_walk *walk, unsigned number)
{
    if (number < walk->number)
        *walk = (struct member_walk){walk->first, walk->first, 0};
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

static struct member_walk walk_from(const char *first)
{
    return (struct member_walk){first, first, 0};
}

struct field_row field_row_of(const struct segment *segment, uint32_t row, uint32_t entry,
                              const struct fragment_splice *splice)
{
    const struct row_text *own = &segment->text[row];
    const struct row_text *text = splice->text != NULL ? splice->text : own;
    const char *price = price_of(segment, row, entry);
    return (struct field_row){
        .splice = splice,
        .bytes = text->bytes,
        .length = text->length,
        .own_length = own->length,
        .table = leaf_table_of(own->bytes),
        .price = price,
        .price_length = segment->entry_length[entry],
        .provider_members = walk_from(splice->provider_json + 1),
        .price_members = walk_from(price + 1),
        .tail_members = walk_from(splice->price_tail + 1),
    };
}

char *field_row_put(struct field_row *row, const struct field_piece *piece, char *out)
{
    const struct fragment_splice *splice = row->splice;
    switch ((enum field_kind)piece->kind) {
    case FIELD_ID:
        return put(out, row->bytes + 6, OFFER_ID_TEXT_LENGTH + 2);
    case FIELD_TEXT:
    case FIELD_OBJECT:
        return put_text(out, row, piece, splice);
    case FIELD_PROVIDER:
        return piece->first == WHOLE ? put(out, splice->provider_json, splice->provider_length)
                                     : put_member(out, &row->provider_members, piece->first);
    case FIELD_PRICE:
        return piece->first == WHOLE ? put_price(out, splice, row->price, row->price_length)
                                     : put_member(out, &row->price_members, piece->first);
    case FIELD_PRICE_TAIL:
        return put_member(out, &row->tail_members, piece->first);
    case FIELD_STALE:
        return splice->stale ? put(out, "true", 4) : put(out, "false", 5);
    case FIELD_TRUST:
        return put(out, "null", 4);
    case FIELD_LATENCY_MS:
        return splice->latency == LATENCY_UNKNOWN
                   ? put(out, "null", 4)
                   : out + decimal_print(LATENCY_CELL_CENTI(splice->latency), 2, out);
    case FIELD_LATENCY_KIND:
        return put_latency_kind(out, splice->latency);
    case FIELD_EVIDENCE:
        return splice->evidence == NULL ? put(out, "null", 4)
                                        : put(out, splice->evidence, splice->evidence_length);
    }
    return out;
}

char *fields_write(const struct field_choice *choice, char *out, const struct segment *segment,
                   uint32_t row, uint32_t entry, const struct fragment_splice *splice)
{
    struct field_row view = field_row_of(segment, row, entry, splice);
    for (size_t i = 0; i < choice->piece_count; i++) {
        out = put_short(out, choice->pieces[i].glue, choice->pieces[i].glue_length);
        out = field_row_put(&view, &choice->pieces[i], out);
    }
    return put(out, choice->end, choice->end_length);
}
