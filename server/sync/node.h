/* A node: what one server (or one command) holds of the market in memory, and how it keeps up with
 * the database. The only room that knows both the database and the catalogue. */
#ifndef RACKRATE_SYNC_NODE_H
#define RACKRATE_SYNC_NODE_H

#include "db/db.h"
#include "db/upload.h"
#include "server/auth/key_cache.h"
#include "server/catalog/catalog.h"

#include <stdbool.h>
#include <stdint.h>

struct node;

/* A node that has loaded nothing yet. `url` is kept by reference. */
struct node *node_new(const char *url);
void node_free(struct node *node);

struct catalog *node_catalog(struct node *node);
struct key_cache *node_keys(struct node *node);
/* The fixings published so far, reference taken: release it with book_release. Any thread. */
struct book;
struct book *node_fixings(struct node *node);
const char *node_database_url(const struct node *node);

/* Brings catalogue and keys up to the database's state, on this connection: what each provider's
 * version says is new. One thread at a time. False when the database did not answer; what was held
 * stays. */
bool node_catch_up(struct node *node, struct db_connection *connection);

/* Loads the keys again at once, so that a revoked one is refused on this node from now on. Any
 * thread. */
bool node_reload_keys(struct node *node, struct db_connection *connection);

/* Loads operators' names into the catalogue where the database has newer ones; with `force` also
 * older ones, since the database itself went back. Any thread. */
bool node_reload_names(struct node *node, struct db_connection *connection, bool force);

/* The same for measured round trips. */
bool node_reload_latency(struct node *node, struct db_connection *connection, bool force);

/* Starts the thread that catches up every `interval_ms` with a connection of its own, reconnecting
 * for ever; stops it. */
bool node_start_sync(struct node *node, unsigned interval_ms, const struct retention *retention);
void node_stop_sync(struct node *node);

/* Whether everything was loaded at least once. */
bool node_is_loaded(const struct node *node);

/* Microseconds since the last successful poll; INT64_MAX before the first. */
int64_t node_lag_us(const struct node *node);

/* Whether the last poll or write reached the database. A worker that finds it away says so at once.
 */
bool node_database_is_up(const struct node *node);
void node_report_database(struct node *node, bool up);

#endif
