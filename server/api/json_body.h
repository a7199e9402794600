/* Small JSON bodies (profiles, operators' calls): one object with known members, each read by name
 * and type. Every problem is collected, unknown members included, and answered as one 422. */
#ifndef RACKRATE_API_JSON_BODY_H
#define RACKRATE_API_JSON_BODY_H

#include "server/http/http.h"

#include <jansson.h>

#define JSON_BODY_ITEMS_MAX 32

struct json_body {
    struct request *request;
    struct reply *reply;
    json_t *root;
    const char *known[JSON_BODY_ITEMS_MAX]; /* members asked for so far */
    size_t known_count;
    struct problem_item items[JSON_BODY_ITEMS_MAX];
    size_t item_count;
};

/* A Content-Type other than application/json is a 415; false with the reply filled. */
bool json_body_check_type(struct request *request, struct reply *reply);

/* Parses the request's body; false with a 400 in the reply where it is no JSON object. Free with
 * json_body_free. */
bool json_body_parse(struct json_body *body, struct request *request, struct reply *reply);
void json_body_free(struct json_body *body);

/* Each reads one member into *ret and leaves *ret alone when it is missing or null (but
 * json_body_nullable_decimal, where null gives UNKNOWN). Texts are copied into the request's arena.
 */
void json_body_text(struct json_body *body, const char *member, size_t max_bytes, const char **ret);
void json_body_url(struct json_body *body, const char *member, const char **ret);
void json_body_decimal(struct json_body *body, const char *member, unsigned decimals,
                       int64_t minimum, int64_t maximum, int64_t *ret);
void json_body_nullable_decimal(struct json_body *body, const char *member, unsigned decimals,
                                int64_t minimum, int64_t maximum, int64_t *ret);
void json_body_bool(struct json_body *body, const char *member, bool *ret);
void json_body_tristate(struct json_body *body, const char *member, int *ret);

/* Records a problem with a member. */
void json_body_refuse(struct json_body *body, const char *member, const char *code,
                      const char *message);

/* Checks for members nobody asked for; false with a 422 in the reply where anything was wrong. */
bool json_body_finish(struct json_body *body);

#endif
