/* Lists by keyset: pages of providers, gpus and regions, whose keys are slugs. */
#include "server/api/app.h"

#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/catalog/catalog.h"

#include <string.h>

#define LIST_LIMIT_DEFAULT 50
#define LIST_LIMIT_MAX     500
#define CURSOR_CHECK_BYTES 16
#define CURSOR_KEY_MAX     128

/* Hash of the list's name, the parameters that shape it, and the key: what a cursor must agree
 * with. */
static void cursor_check(const struct request *request, const char *list, const char *key,
                         uint8_t check[static CURSOR_CHECK_BYTES])
{
    struct crypt_hasher hasher;
    crypt_hasher_init(&hasher, CURSOR_CHECK_BYTES);
    crypt_hasher_add(&hasher, list, strlen(list) + 1);
    for (size_t i = 0; i < request->parameter_count; i++) {
        const struct http_pair *pair = &request->parameters[i];
        if (strcmp(pair->name, "cursor") == 0 || strcmp(pair->name, "limit") == 0)
            continue;
        crypt_hasher_add(&hasher, pair->name, strlen(pair->name) + 1);
        crypt_hasher_add(&hasher, pair->value, strlen(pair->value) + 1);
    }
    crypt_hasher_add(&hasher, key, strlen(key));
    crypt_hasher_finish(&hasher, check);
}

static bool refuse(struct request *request, struct reply *reply, const char *parameter,
                   const char *code, const char *message)
{
    const struct problem_item item = {.parameter = parameter, .code = code, .message = message};
    reply_problem(request, reply, 400, "bad-parameter", message, &item, 1);
    return false;
}

bool list_page_parse(struct request *request, struct reply *reply, const char *list,
                     struct list_page *ret_page)
{
    *ret_page = (struct list_page){.limit = LIST_LIMIT_DEFAULT};
    const char *limit = request_parameter(request, "limit");
    if (limit != NULL) {
        int64_t value;
        if (decimal_parse(limit, strlen(limit), 0, false, &value) != DECIMAL_OK || value < 1 ||
            value > LIST_LIMIT_MAX)
            return refuse(request, reply, "limit", "out_of_range",
                          "limit must be a whole number from 1 to 500.");
        ret_page->limit = (size_t)value;
    }
    const char *cursor = request_parameter(request, "cursor");
    if (cursor == NULL)
        return true;
    char bytes[CURSOR_CHECK_BYTES + CURSOR_KEY_MAX];
    uint8_t check[CURSOR_CHECK_BYTES];
    size_t length;
    if (!crypt_base64url_decode(cursor, strlen(cursor), bytes, sizeof(bytes), &length) ||
        length <= CURSOR_CHECK_BYTES)
        return refuse(request, reply, "cursor", "bad_cursor",
                      "cursor is not one this list gave; start without it.");
    char *key =
        arena_strndup(&request->arena, bytes + CURSOR_CHECK_BYTES, length - CURSOR_CHECK_BYTES);
    cursor_check(request, list, key, check);
    if (memcmp(check, bytes, CURSOR_CHECK_BYTES) != 0)
        return refuse(request, reply, "cursor", "bad_cursor",
                      "cursor belongs to another query; start without it.");
    ret_page->after = key;
    return true;
}

const char *list_page_cursor(struct request *request, const char *list, const char *key)
{
    size_t key_length = strlen(key);
    if (key_length > CURSOR_KEY_MAX)
        key_length = CURSOR_KEY_MAX;
    uint8_t bytes[CURSOR_CHECK_BYTES + CURSOR_KEY_MAX];
    cursor_check(request, list, key, bytes);
    memcpy(bytes + CURSOR_CHECK_BYTES, key, key_length);
    size_t length = CURSOR_CHECK_BYTES + key_length;
    char *text = arena_alloc(&request->arena, CRYPT_BASE64_SIZE(length) + 4);
    crypt_base64url(bytes, length, text);
    return text;
}

/* Adds a query component with everything but unreserved characters percent-encoded. */
static void add_encoded(struct buf *out, const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    char *at = buf_reserve(out, strlen(text) * 3 + 1), *start = at;
    for (const char *c = text; *c != '\0'; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') ||
                     (*c >= 'A' && *c <= 'Z') || *c == '-' || *c == '.' || *c == '_' || *c == '~' ||
                     *c == ',';
        if (plain) {
            *at++ = *c;
        } else {
            *at++ = '%';
            *at++ = digits[(unsigned char)*c >> 4];
            *at++ = digits[(unsigned char)*c & 15];
        }
    }
    *at = '\0';
    out->length += (size_t)(at - start);
}

void reply_add_next_link(struct request *request, struct reply *reply, const char *cursor)
{
    struct buf link = {0};
    buf_add_char(&link, '<');
    buf_add_string(&link, request->path);
    buf_add_char(&link, '?');
    for (size_t i = 0; i < request->parameter_count; i++) {
        if (strcmp(request->parameters[i].name, "cursor") == 0)
            continue;
        add_encoded(&link, request->parameters[i].name);
        buf_add_char(&link, '=');
        add_encoded(&link, request->parameters[i].value);
        buf_add_char(&link, '&');
    }
    buf_add_string(&link, "cursor=");
    buf_add_string(&link, cursor);
    buf_add_string(&link, ">; rel=\"next\"");
    reply_add_header(reply, "Link", arena_strndup(&request->arena, link.data, link.length));
    buf_free(&link);
}

void list_page_finish(struct request *request, struct reply *reply, const struct list_page *page,
                      size_t total, const char *next_cursor, int64_t as_of_us)
{
    struct buf *out = &reply->body;
    char as_of[TIMESTAMP_TEXT_SIZE];
    buf_add_string(out, "],\"total\":");
    buf_add_int(out, (int64_t)total);
    buf_add_json_member_string(out, "next_cursor", next_cursor);
    if (as_of_us != TIMESTAMP_UNKNOWN)
        timestamp_print(as_of_us, as_of);
    buf_add_json_member_string(out, "as_of", as_of_us == TIMESTAMP_UNKNOWN ? NULL : as_of);
    buf_add_json_key(out, "query");
    buf_add_char(out, '{');
    for (size_t i = 0; i < request->parameter_count; i++) {
        const struct http_pair *pair = &request->parameters[i];
        if (strcmp(pair->name, "cursor") != 0 && strcmp(pair->name, "limit") != 0)
            buf_add_json_member_string(out, pair->name, pair->value);
    }
    buf_add_json_member_int(out, "limit", (int64_t)page->limit);
    buf_add_string(out, "}}");
    reply->status = 200;
    if (next_cursor != NULL)
        reply_add_next_link(request, reply, next_cursor);
}

const char *snapshot_etag(struct request *request, const struct snapshot *snapshot,
                          const char *canonical)
{
    struct crypt_hasher hasher;
    uint64_t state = snapshot_state_hash(snapshot, request->received_at_us);
    uint8_t hash[16];
    char text[CRYPT_BASE64_SIZE(sizeof(hash)) + 4];
    crypt_hasher_init(&hasher, sizeof(hash));
    crypt_hasher_add(&hasher, &state, sizeof(state));
    crypt_hasher_add(&hasher, request->path, strlen(request->path) + 1);
    if (canonical != NULL)
        crypt_hasher_add(&hasher, canonical, strlen(canonical) + 1);
    for (size_t i = 0; i < request->parameter_count; i++) {
        const struct http_pair *pair = &request->parameters[i];
        if (canonical != NULL && strcmp(pair->name, "cursor") != 0)
            continue;
        crypt_hasher_add(&hasher, pair->name, strlen(pair->name) + 1);
        crypt_hasher_add(&hasher, pair->value, strlen(pair->value) + 1);
    }
    crypt_hasher_finish(&hasher, hash);
    crypt_base64url(hash, sizeof(hash), text);
    return arena_printf(&request->arena, "\"%s\"", text);
}

void write_summary(struct buf *out, const struct offer_summary *summary, bool with_providers)
{
    buf_add_json_member_int(out, "offers", (int64_t)summary->offers);
    if (with_providers)
        buf_add_json_member_int(out, "providers", (int64_t)summary->providers);
    buf_add_json_member_decimal(out, "min_price_per_gpu_hour", summary->min_per_gpu_hour_microusd,
                                6);
    buf_add_json_member_decimal(out, "max_price_per_gpu_hour", summary->max_per_gpu_hour_microusd,
                                6);
}

bool parameter_flag(struct request *request, struct reply *reply, const char *name, bool *ret_value)
{
    const char *text = request_parameter(request, name);
    *ret_value = false;
    if (text == NULL || strcmp(text, "0") == 0 || strcmp(text, "false") == 0)
        return true;
    *ret_value = strcmp(text, "1") == 0 || strcmp(text, "true") == 0;
    if (*ret_value)
        return true;
    return refuse(request, reply, name, "not_a_boolean",
                  arena_printf(&request->arena, "%s must be 0, 1, true or false.", name));
}

void reply_not_found(struct request *request, struct reply *reply, const char *what)
{
    reply_problem(request, reply, 404, "not-found", what, NULL, 0);
}

void whole_list_begin(struct reply *reply)
{
    buf_add_string(&reply->body, "{\"data\":[");
}

void whole_list_end(struct reply *reply, size_t count)
{
    char now[TIMESTAMP_TEXT_SIZE];
    timestamp_print(timestamp_now_us(), now);
    buf_add_string(&reply->body, "],\"total\":");
    buf_add_int(&reply->body, (int64_t)count);
    buf_add_json_member_string(&reply->body, "next_cursor", NULL);
    buf_add_json_member_string(&reply->body, "as_of", now);
    buf_add_string(&reply->body, ",\"query\":{}}");
    reply->status = 200;
}
