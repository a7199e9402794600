/* The market given back: every provider's inventory, or one's, in a format other tools read. Read
 * from the database, provider by provider, so that memory holds one inventory at a time beside the
 * text. */
#ifndef RACKRATE_SYNC_EXPORT_H
#define RACKRATE_SYNC_EXPORT_H

#include "db/db.h"
#include "server/base/buf.h"

enum export_format { EXPORT_SKYPILOT, EXPORT_CSV, EXPORT_NDJSON };

bool export_format_parse(const char *name, enum export_format *ret_format);
const char *export_media_type(enum export_format format);

struct export_request {
    enum export_format format;
    const char *provider_slug; /* NULL: all providers that are not suspended */
    bool with_samples;         /* samples are no market: left out unless asked for */
};

struct export_result {
    struct buf text;
    size_t offers;           /* written */
    size_t left_out;         /* offers the format can't hold */
    struct buf attributions; /* whom licences ask to credit, separated by "; ", each once */
};

/* DB_NONE: no such provider. The caller frees both buffers. Runs on a worker or in a command. */
enum db_status export_market(struct db_connection *connection, const struct export_request *request,
                             struct export_result *ret_result);

#endif
