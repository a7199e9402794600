/* Counters, gauges and histograms with Prometheus text output. The set is fixed in metrics.c by one
 * table; updates are relaxed atomics on any thread. */
#ifndef RACKRATE_BASE_METRICS_H
#define RACKRATE_BASE_METRICS_H

#include "server/base/buf.h"

#include <stdint.h>

#define METRICS(X)                                                                                 \
    X(COUNTER, HTTP_CONNECTIONS, "rackrate_http_connections_total", "Connections accepted")        \
    X(GAUGE, HTTP_CONNECTIONS_OPEN, "rackrate_http_connections_open", "Connections open now")      \
    X(COUNTER, HTTP_REAPED, "rackrate_http_reaped_total",                                          \
      "Connections shut down because a request was not complete in time")                          \
    X(COUNTER, HTTP_REFUSED_FRAMING, "rackrate_http_refused_framing_total",                        \
      "Requests refused by the framing guard")                                                     \
    X(GAUGE, QUEUE_DEPTH, "rackrate_queue_depth", "Requests waiting for a worker")                 \
    X(COUNTER, QUEUE_REFUSED, "rackrate_queue_refused_total",                                      \
      "Requests refused because the queue was full")                                               \
    X(GAUGE, BODY_BYTES, "rackrate_body_bytes", "Bytes of request bodies held now")                \
    X(COUNTER, BODY_REFUSED, "rackrate_body_refused_total",                                        \
      "Requests refused because the byte budget was used up")                                      \
    X(COUNTER, REPLIES_REFUSED, "rackrate_replies_refused_total",                                  \
      "Large answers refused because too many wait for their readers")                             \
    X(GAUGE, STREAMS_OPEN, "rackrate_streams_open", "Answers being streamed now")                  \
    X(COUNTER, STREAMS_REFUSED, "rackrate_streams_refused_total",                                  \
      "Streams refused because too many were open")                                                \
    X(COUNTER, ANSWER_CACHE_HITS, "rackrate_answer_cache_hits_total",                              \
      "Searches answered with a kept answer")                                                      \
    X(COUNTER, ANSWER_CACHE_MISSES, "rackrate_answer_cache_misses_total",                          \
      "Searches that were run")                                                                    \
    X(GAUGE, ANSWER_CACHE_BYTES, "rackrate_answer_cache_bytes", "Bytes of answers kept")           \
    X(COUNTER, RATE_LIMITED, "rackrate_rate_limited_total", "Requests refused by the rate limit")  \
    X(GAUGE, CATALOG_OFFERS, "rackrate_catalog_offers", "Live offers in the snapshot")             \
    X(GAUGE, CATALOG_BYTES, "rackrate_catalog_bytes", "Memory held by the catalogue")              \
    X(COUNTER, CATALOG_PUBLISHES, "rackrate_catalog_publishes_total", "Snapshots published")       \
    X(COUNTER, CATALOG_FAILED, "rackrate_catalog_failed_builds_total",                             \
      "Snapshot builds that failed")                                                               \
    X(COUNTER, SYNC_POLLS, "rackrate_sync_polls_total", "Version polls of the database")           \
    X(COUNTER, SYNC_ERRORS, "rackrate_sync_errors_total", "Version polls that failed")             \
    X(COUNTER, SYNC_RELOADS, "rackrate_sync_reloads_total", "Providers reloaded in full")          \
    X(COUNTER, FIXINGS_PUBLISHED, "rackrate_fixings_published_total",                              \
      "Days whose fixings this server published")                                                  \
    X(GAUGE, FIXINGS_LAST_DAY, "rackrate_fixings_last_day",                                        \
      "Last day with fixings, in days after 1970-01-01")                                           \
    X(GAUGE, DATABASE_UP, "rackrate_database_up", "1 while the database answers")                  \
    X(COUNTER, UPLOADS_APPLIED, "rackrate_uploads_applied_total", "Inventory writes committed")    \
    X(COUNTER, UPLOADS_REFUSED, "rackrate_uploads_refused_total", "Inventory writes refused")      \
    X(COUNTER, ROWS_REJECTED, "rackrate_rows_rejected_total", "Rows rejected in uploads")

enum metric {
#define X(kind, name, text, help) METRIC_##name,
    METRICS(X)
#undef X
        METRIC_COUNT
};

void metric_add(enum metric metric, int64_t amount);
void metric_set(enum metric metric, int64_t value);
int64_t metric_get(enum metric metric);

/* One answered request: its operation (a static string of the route table), status and duration, in
 * counters by (operation, status) and a duration histogram by operation. */
void metrics_observe_request(const char *operation, int status, int64_t duration_us);

/* Prometheus text format 0.0.4 of everything, process metrics (resident bytes, open fds, start
 * time) included. */
void metrics_write(struct buf *out);

#endif
