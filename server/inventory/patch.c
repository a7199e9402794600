/* A merge patch (RFC 7396) of one offer. Objects merge, null removes, anything else replaces;
 * `prices` is merged price by price, matched by identity (billing, term_months, min_gpus,
 * upfront_percent, plan): a price with null amounts goes, a new identity comes, a known one takes
 * the patch's members. */
#include "server/inventory/offer_json.h"

#include "server/base/decimal.h"
#include "server/base/timestamp.h"

#include <stdio.h>
#include <string.h>

static struct json_value *merge(struct arena *arena, const struct json_value *target,
                                const struct json_value *patch);

/* `member` removed from or put into an object, in the arena. */
static void put(struct json_value *object, const char *name, struct json_value *value)
{
    struct json_value **at = &object->first;
    while (*at != NULL && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    if (*at != NULL) {
        object->length--;
        *at = (*at)->next;
    }
    if (value == NULL)
        return;
    while (*at != NULL)
        at = &(*at)->next;
    value->name = name;
    value->next = NULL;
    *at = value;
    object->length++;
}

/* A member as an identity compares it: texts as they are, numbers by value in thousandths (16 and
 * 16.0 are one), `missing` where there is none. */
static bool same_member(const struct json_value *a, const struct json_value *b, const char *name,
                        const char *missing)
{
    const struct json_value *members[] = {json_member(a, name), json_member(b, name)};
    const char *texts[2];
    int64_t numbers[2];
    bool numeric = true;
    for (int i = 0; i < 2; i++) {
        texts[i] = members[i] == NULL || members[i]->type == JSON_TYPE_NULL ? missing
                   : members[i]->text == NULL                               ? "?"
                                                                            : members[i]->text;
        numeric = numeric && decimal_parse_json(texts[i], strlen(texts[i]), 3, false,
                                                &numbers[i]) == DECIMAL_OK;
    }
    return strcmp(texts[0], texts[1]) == 0 || (numeric && numbers[0] == numbers[1]);
}

static bool same_price(const struct json_value *a, const struct json_value *b)
{
    return same_member(a, b, "billing", "") && same_member(a, b, "term_months", "0") &&
           same_member(a, b, "min_gpus", "") && same_member(a, b, "upfront_percent", "") &&
           same_member(a, b, "plan", "");
}

static bool is_null(const struct json_value *object, const char *name)
{
    const struct json_value *member = json_member(object, name);
    return member != NULL && member->type == JSON_TYPE_NULL;
}

/* One price of the patch into the list. */
static void merge_price(struct arena *arena, struct json_value *list,
                        const struct json_value *patch)
{
    bool per_gpu = json_member(patch, "price_per_gpu_hour") != NULL,
         per_node = json_member(patch, "price_per_node_hour") != NULL;
    bool gone = (per_gpu || per_node) && (!per_gpu || is_null(patch, "price_per_gpu_hour")) &&
                (!per_node || is_null(patch, "price_per_node_hour"));
    struct json_value **at = &list->first;
    while (*at != NULL && !((*at)->type == JSON_TYPE_OBJECT && same_price(*at, patch)))
        at = &(*at)->next;
    if (*at != NULL && gone) {
        *at = (*at)->next;
        list->length--;
        return;
    }
    struct json_value *next = *at == NULL ? NULL : (*at)->next;
    static const struct json_value nothing = {.type = JSON_TYPE_OBJECT};
    struct json_value *merged = merge(arena, *at == NULL ? &nothing : *at, patch);
    /* A new amount in the other unit takes the place of the old one. */
    if (*at != NULL && per_gpu != per_node)
        put(merged, per_gpu ? "price_per_node_hour" : "price_per_gpu_hour", NULL);
    if (*at == NULL)
        list->length++;
    merged->next = next;
    *at = merged;
}

static struct json_value *merge(struct arena *arena, const struct json_value *target,
                                const struct json_value *patch)
{
    if (patch->type != JSON_TYPE_OBJECT)
        return json_copy(arena, patch);
    struct json_value *result;
    if (target != NULL && target->type == JSON_TYPE_OBJECT) {
        result = json_copy(arena, target);
    } else {
        result = arena_calloc(arena, 1, sizeof(*result));
        result->type = JSON_TYPE_OBJECT;
    }
    for (const struct json_value *member = patch->first; member != NULL; member = member->next) {
        if (member->type == JSON_TYPE_NULL) {
            put(result, member->name, NULL);
            continue;
        }
        const struct json_value *old = json_member(result, member->name);
        bool prices = strcmp(member->name, "prices") == 0 && member->type == JSON_TYPE_ARRAY &&
                      old != NULL && old->type == JSON_TYPE_ARRAY;
        /* An item that is no object stays as it is: validation says what is wrong with it. */
        for (const struct json_value *item = member->first; prices && item != NULL;
             item = item->next)
            prices = item->type == JSON_TYPE_OBJECT;
        struct json_value *value = prices ? json_copy(arena, old) : merge(arena, old, member);
        for (const struct json_value *item = member->first; prices && item != NULL;
             item = item->next)
            merge_price(arena, value, item);
        put(result, member->name, value);
    }
    return result;
}

/* The patch, or NULL and reader->error. */
static struct json_value *read_patch(struct json_reader *reader)
{
    struct json_value *change = json_reader_value(reader);
    if (change == NULL)
        return NULL;
    json_reader_peek(reader);
    if (reader->at < reader->end)
        snprintf(reader->error, sizeof(reader->error), "something follows the object");
    else if (change->type != JSON_TYPE_OBJECT)
        snprintf(reader->error, sizeof(reader->error), "it is another value");
    return reader->error[0] == '\0' ? change : NULL;
}

/* The stored offer in the upload shape, without when it was seen. */
static struct json_value *read_stored(struct decoding *decoding, const struct offer *before)
{
    struct buf stored = {0};
    struct offer unseen = *before;
    struct json_reader reader;
    unseen.observed_at_us = TIMESTAMP_UNKNOWN;
    inventory_write_offer(&stored, &unseen);
    json_reader_init(&reader, stored.data, stored.length, &decoding->scratch);
    struct json_value *value = json_reader_value(&reader);
    buf_free(&stored);
    return value;
}

static void take_patched(struct decoding *decoding, const struct offer *before,
                         const struct json_value *whole)
{
    struct row row;
    struct offer offer;
    const struct json_value *id = json_member(whole, "external_id");
    row_begin(&row, decoding, 1, "");
    row.external_id = arena_strdup(decoding->arena, before->external_id);
    if (id == NULL || id->type != JSON_TYPE_STRING || strcmp(id->text, before->external_id) != 0)
        row_error(&row, "/external_id", "immutable",
                  "external_id can't be changed; delete the offer and make another.");
    if (!row_failed(&row) && offer_from_json(&row, whole, &offer))
        decoding_add(decoding, 1, &offer);
    else
        decoding->upload->rejected = 1;
}

enum decode_status inventory_patch(const struct decode_options *options, const struct offer *before,
                                   const char *patch, size_t length, struct arena *arena,
                                   struct upload *ret_upload, struct decode_error *ret_error)
{
    struct json_reader reader;
    enum decode_status status = DECODE_OK;
    struct decoding *decoding =
        decoding_begin(options, patch, length, arena, ret_upload, ret_error);
    ret_upload->rows_read = 1;
    json_reader_init(&reader, patch, length, &decoding->scratch);
    struct json_value *change = length > UPLOAD_ROW_MAX_BYTES ? NULL : read_patch(&reader);
    if (length > UPLOAD_ROW_MAX_BYTES) {
        decoding_fail(decoding, 0, "The patch is longer than 64 KiB.");
        status = DECODE_TOO_LARGE;
    } else if (change == NULL) {
        decoding_fail(decoding, 0, "The patch is no JSON object: %s.", reader.error);
        status = DECODE_MALFORMED;
    } else {
        struct json_value *whole = merge(&decoding->scratch, read_stored(decoding, before), change);
        take_patched(decoding, before, whole);
        inventory_flag(ret_upload, options->median, options->median_closure);
    }
    decoding_end(decoding);
    return status;
}
