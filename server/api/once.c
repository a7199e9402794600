/* Idempotency outside of uploads, and what both share. */
#include "server/api/once.h"

#include "db/upload.h"
#include "server/api/app.h"
#include "server/base/crypto.h"

#include <string.h>

#define IDEMPOTENCY_KEY_MAX 255

bool idempotency_key_read(struct request *request, struct reply *reply, const char **ret_key)
{
    const char *text = request_header(request, "idempotency-key");
    *ret_key = NULL;
    if (text == NULL)
        return true;
    size_t length = strlen(text);
    if (length >= 2 && text[0] == '"' && text[length - 1] == '"') {
        text++;
        length -= 2;
    }
    bool good = length > 0 && length <= IDEMPOTENCY_KEY_MAX;
    for (size_t i = 0; i < length && good; i++)
        good = text[i] > 0x20 && text[i] < 0x7f && text[i] != '"' && text[i] != '\\';
    if (!good) {
        const struct problem_item item = {
            .parameter = "Idempotency-Key",
            .code = "malformed",
            .message = "Idempotency-Key must be 1 to 255 visible ASCII characters.",
        };
        reply_problem(request, reply, 400, "bad-header", item.message, &item, 1);
        return false;
    }
    *ret_key = arena_strndup(&request->arena, text, length);
    return true;
}

struct idempotency *idempotency_make(struct request *request, const char *key, const char *body,
                                     size_t length)
{
    if (key == NULL)
        return NULL;
    struct idempotency *idempotency = arena_calloc(&request->arena, 1, sizeof(*idempotency));
    idempotency->scope = request_actor(request);
    idempotency->key = key;
    struct crypt_hasher hasher;
    crypt_hasher_init(&hasher, sizeof(idempotency->fingerprint));
    uint32_t method = request->method;
    crypt_hasher_add(&hasher, &method, sizeof(method));
    crypt_hasher_add(&hasher, request->path, strlen(request->path) + 1);
    for (size_t i = 0; i < request->parameter_count; i++) {
        crypt_hasher_add(&hasher, request->parameters[i].name,
                         strlen(request->parameters[i].name) + 1);
        crypt_hasher_add(&hasher, request->parameters[i].value,
                         strlen(request->parameters[i].value) + 1);
    }
    crypt_hasher_add(&hasher, body, length);
    crypt_hasher_finish(&hasher, idempotency->fingerprint);
    return idempotency;
}

void reply_key_reused(struct request *request, struct reply *reply)
{
    reply_problem(request, reply, 422, "idempotency-key-reused",
                  "This Idempotency-Key was used for another request; take a new key.", NULL, 0);
}

void reply_key_busy(struct request *request, struct reply *reply)
{
    reply_problem(request, reply, 409, "idempotency-key-busy",
                  "The first request with this Idempotency-Key still runs; try again shortly.",
                  NULL, 0);
    reply_add_header(reply, "Retry-After", "1");
}

/* Inside the transaction: true where the write may go on. */
static bool claim(struct once *once, struct request *request, struct reply *reply)
{
    const struct idempotency *key = once->idempotency;
    const char *body = NULL;
    int status_code = 0;
    if (key == NULL)
        return true;
    enum db_status status =
        db_idempotency_claim(once->connection, key->scope, key->key, key->fingerprint,
                             &request->arena, &status_code, &body);
    switch (status) {
    case DB_OK:
        return true;
    case DB_NONE:
        reply->status = status_code;
        buf_add_string(&reply->body, body);
        reply_add_header(reply, "Idempotency-Replayed", "true");
        return false;
    case DB_CONFLICT:
        reply_key_reused(request, reply);
        return false;
    case DB_RETRY:
        reply_key_busy(request, reply);
        return false;
    case DB_UNAVAILABLE:
    case DB_FAILED:
        break;
    }
    reply_database_failed(request, reply, status);
    return false;
}

bool once_begin(struct once *once, struct request *request, struct reply *reply,
                struct db_connection *connection)
{
    const char *key;
    if (!idempotency_key_read(request, reply, &key))
        return false;
    *once = (struct once){
        .connection = connection,
        .idempotency = idempotency_make(request, key, request->body == NULL ? "" : request->body,
                                        request->body_length),
    };
    enum db_status status = db_begin(connection);
    /* A connection that died while idle is noticed here: nothing was sent. */
    if (status == DB_UNAVAILABLE && db_reconnect(connection))
        status = db_begin(connection);
    if (status != DB_OK) {
        reply_database_failed(request, reply, status);
        return false;
    }
    if (claim(once, request, reply))
        return true;
    db_rollback(connection);
    return false;
}

bool once_end(struct once *once, struct request *request, struct reply *reply, const char *kept)
{
    const struct idempotency *key = once->idempotency;
    if (reply->status < 200 || reply->status > 299) {
        db_rollback(once->connection);
        return false;
    }
    enum db_status status = DB_OK;
    if (key != NULL)
        status = db_idempotency_store(once->connection, key->scope, key->key, reply->status,
                                      kept != NULL               ? kept
                                      : reply->body.data == NULL ? ""
                                                                 : reply->body.data);
    if (status == DB_OK)
        status = db_commit(once->connection);
    else
        db_rollback(once->connection);
    if (status == DB_OK)
        return true;
    reply_database_failed(request, reply, status);
    return false;
}
