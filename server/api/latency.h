/* What the calls about latency share: lists of places as clients write them, and how measurements
 * are shown. */
#ifndef RACKRATE_API_LATENCY_H
#define RACKRATE_API_LATENCY_H

#include "server/catalog/catalog.h"
#include "server/http/http.h"
#include "server/reference/latency_book.h"
#include "server/reference/latency_where.h"

#define LATENCY_ENDS_MAX 1000

/* One end of round trips. */
struct latency_item {
    struct latency_where where;
    const char *name; /* its one spelling */
    const struct latency_place *place;
};
struct latency_ends {
    struct latency_item *items;
    size_t count;
    bool any_point; /* some are coordinates */
};

/* Reads `a;b;c`; everything lives in the request's arena. False with a 400 in the reply. */
bool latency_ends_parse(struct request *request, struct reply *reply, const char *parameter,
                        const char *text, const struct snapshot *snapshot, size_t limit,
                        struct latency_ends *ret_ends);

/* The round trip between two ends. */
latency_cell latency_between(const struct latency_book *book, const struct latency_item *from,
                             const struct latency_item *to);

/* A measurement as answered. */
void latency_write_measurement(struct buf *out, const struct latency_measurement *measurement,
                               int64_t now_us);

/* An entity tag over what is measured, the path and `canonical`; in the request's arena. */
const char *latency_etag(struct request *request, const struct latency_book *book,
                         const char *canonical);

/* Milliseconds to hundredths. */
void buf_add_json_member_ms(struct buf *out, const char *key, double ms);

#endif
