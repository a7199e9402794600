/* A merge patch (RFC 7396) of one offer. Objects merge, null removes, anything else replaces;
 * `prices` is merged price by price, matched by identity (billing, term_months, min_gpus,
 * upfront_percent, plan): a price with null amounts goes, a new identity comes, a known one takes
 * the patch's members. */
#include "server/inventory/offer_json.h"

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

static const char *text_of(const struct json_value *object, const char *name)
{
    const struct json_value *member = json_member(object, name);
    return member == NULL || member->type == JSON_TYPE_NULL ? ""
           : member->text == NULL                           ? "?"
                                                            : member->text;
}

static const char *term_of(const struct json_value *object)
{
    const char *term = text_of(object, "term_months");
    return *term == '\0' ? "0" : term;
}

static bool same_price(const struct json_value *a, const struct json_value *b)
{
    return strcmp(text_of(a, "billing"), text_of(b, "billing")) == 0 &&
           strcmp(term_of(a), term_of(b)) == 0 &&
           strcmp(text_of(a, "min_gpus"), text_of(b, "min_gpus")) == 0 &&
           strcmp(text_of(a, "upfront_percent"), text_of(b, "upfront_percent")) == 0 &&
           strcmp(text_of(a, "plan"), text_of(b, "plan")) == 0;
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
        struct json_value *value;
        if (prices) {
            value = json_copy(arena, old);
            for (const struct json_value *item = member->first; item != NULL; item = item->next) {
                if (item->type == JSON_TYPE_OBJECT)
                    merge_price(arena, value, item);
                else
                    return json_copy(arena, patch); /* validation says what is wrong with it */
            }
        } else {
            value = merge(arena, old, member);
        }
        put(result, member->name, value);
    }
    return result;
}

enum decode_status inventory_patch(const struct decode_options *options, const struct offer *before,
                                   const char *patch, size_t length, struct arena *arena,
                                   struct upload *ret_upload, struct decode_error *ret_error)
{
    *ret_upload = (struct upload){.rows_read = 1};
    *ret_error = (struct decode_error){0};
    struct json_reader reader;
    json_reader_init(&reader, patch, length, arena);
    struct json_value *change = json_reader_value(&reader);
    if (change != NULL && (json_reader_peek(&reader), reader.at < reader.end)) {
        snprintf(reader.error, sizeof(reader.error), "something follows the object");
        change = NULL;
    }
    if (change == NULL || change->type != JSON_TYPE_OBJECT) {
        snprintf(ret_error->message, sizeof(ret_error->message), "The patch is no JSON object: %s.",
                 reader.error[0] == '\0' ? "it is another value" : reader.error);
        return DECODE_MALFORMED;
    }
    struct buf stored = {0};
    inventory_write_offer(&stored, before);
    char *text = arena_strndup(arena, stored.data, stored.length);
    json_reader_init(&reader, text, stored.length, arena);
    buf_free(&stored);
    struct json_value *whole = merge(arena, json_reader_value(&reader), change);
    struct row row;
    struct offer offer;
    row_begin(&row, arena, ret_upload, options, 1, "");
    if (json_member(whole, "external_id") == NULL ||
        strcmp(text_of(whole, "external_id"), before->external_id) != 0)
        row_error(&row, "/external_id", "immutable",
                  "external_id can't be changed; delete the offer and make another.");
    bool good = offer_from_json(&row, whole, &offer);
    offer.source_kind = options->source_kind;
    size_t capacity = 0;
    if (good)
        upload_add(ret_upload, arena, &offer, &capacity);
    else
        ret_upload->rejected = 1;
    return DECODE_OK;
}
