/* The whole API on a fresh database, called through the loopback: router, keys, handlers, workers'
 * functions, all but sockets. */
#ifndef RACKRATE_TESTS_SUPPORT_TEST_API_H
#define RACKRATE_TESTS_SUPPORT_TEST_API_H

#include "server/api/app.h"

#include <jansson.h>

struct test_api {
    struct settings settings;
    struct app app;
    struct http_hooks hooks;
    struct worker *worker;
    struct db_connection *connection; /* for adding providers and looking behind */
    char admin_key[64];
};

/* Starts with nothing in the database but an operator's key. Aborts where it can't. */
void test_api_start(struct test_api *api);
void test_api_stop(struct test_api *api);

/* Adds a provider through the API; its key is written to ret_key (64 bytes). */
void test_api_provider(struct test_api *api, const char *slug, char *ret_key);

/* One call. `headers` are "name: value" lines separated by \n, names in lower case, or NULL. Free
 * the reply with loopback_reply_free. */
struct loopback_reply test_api_call(struct test_api *api, const char *method, const char *target,
                                    const char *key, const char *headers, const char *body);
struct loopback_reply test_api_call_bytes(struct test_api *api, const char *method,
                                          const char *target, const char *key, const char *headers,
                                          const char *body, size_t length);

/* The status alone. */
int test_api_status(struct test_api *api, const char *method, const char *target, const char *key,
                    const char *headers, const char *body);

/* The body as JSON, or NULL; the caller decrefs. */
json_t *test_api_json(struct test_api *api, const char *method, const char *target, const char *key,
                      const char *body, int *ret_status);

/* The value of a reply's header, malloc'd, or NULL. */
char *test_reply_header(const struct loopback_reply *reply, const char *name);

/* {"offers":[…]} of one offer with this id and on-demand price text; malloc'd. */
char *test_inventory(const char *external_id, const char *price);

#endif
