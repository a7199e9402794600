/* What the API's functions share: the application's context, the worker's, and small helpers for
 * lists, entity tags and parameters. */
#ifndef RACKRATE_API_APP_H
#define RACKRATE_API_APP_H

#include "db/db.h"
#include "server/base/budget.h"
#include "server/base/settings.h"
#include "server/http/answer_cache.h"
#include "server/http/http.h"
#include "server/sync/node.h"

#include <stdatomic.h>

struct app {
    const struct settings *settings;
    struct node *node;
    _Atomic bool stopping;        /* readyz says no */
    _Atomic unsigned exports;     /* being made now */
    struct answer_cache *answers; /* of searches; NULL: none */
    struct budget decoded;        /* of bodies decompressed now */
};

/* A worker thread's own connection; reconnects when it is found dead. */
struct worker {
    struct db_connection *connection; /* NULL until the database could be reached */
};

/* The hooks that make the API out of an application: route table, authentication, workers. */
struct http_hooks app_hooks(struct app *app);

/* The route table, ended by methods == 0. */
extern const struct route routes[];

/* The worker's connection, (re)connected if need be; NULL and a 503 in the reply where the database
 * is away. */
struct db_connection *worker_database(struct request *request, struct reply *reply,
                                      struct worker *worker);

/* Answers for a database status that is no success: 503, or 500 with a log line. */
void reply_database_failed(struct request *request, struct reply *reply, enum db_status status);

/* A page of a list by keyset on a text key (a slug): limit 1-500, default 50, and the key after
 * which it starts. */
struct list_page {
    size_t limit;
    const char *after; /* NULL: from the start */
};
/* Reads `limit` and `cursor`; false with a 400 in the reply. The cursor is bound to `list` (a fixed
 * word for the list) and to the request's other parameters. */
bool list_page_parse(struct request *request, struct reply *reply, const char *list,
                     struct list_page *ret_page);
/* The cursor that goes on after `key`, in the request's arena. */
const char *list_page_cursor(struct request *request, const char *list, const char *key);
/* Writes what follows the rows: total, next_cursor, as_of, query (the request's parameters as given
 * plus the limit in force), and the Link header; closes the object. */
void list_page_finish(struct request *request, struct reply *reply, const struct list_page *page,
                      size_t total, const char *next_cursor, int64_t as_of_us);

/* Adds `Link: <this request with the cursor>; rel="next"`. */
void reply_add_next_link(struct request *request, struct reply *reply, const char *cursor);

/* A strong entity tag over the snapshot's state and the request's path and parameters; in the
 * request's arena. `canonical` replaces the parameters where it is not NULL. */
const char *snapshot_etag(struct request *request, const struct snapshot *snapshot,
                          const char *canonical);

/* Price range members shared by providers, gpus and regions. */
void write_summary(struct buf *out, const struct offer_summary *summary, bool with_providers);

/* A boolean parameter: 0 1 true false; absent is false. False (the return) with a 400 in the reply
 * where malformed. */
bool parameter_flag(struct request *request, struct reply *reply, const char *name,
                    bool *ret_value);

/* A list that one page holds: what comes before its items, and what after `count` of them (status
 * 200). */
void whole_list_begin(struct reply *reply);
void whole_list_end(struct reply *reply, size_t count);

/* Who calls, as the audit log names them; in the request's arena. */
const char *request_actor(struct request *request);

/* 404 problem with a detail. */
void reply_not_found(struct request *request, struct reply *reply, const char *what);

/* Where tests and the decorator look: sets the headers that say how old the data are while the
 * database is away. */
void app_decorate(struct request *request, struct reply *reply);

#endif
