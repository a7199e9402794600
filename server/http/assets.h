/* The page's files out of the binary: media type, entity tag and gzip twin of each made once. */
#ifndef RACKRATE_HTTP_ASSETS_H
#define RACKRATE_HTTP_ASSETS_H

#include "server/http/http.h"

/* Makes the table; call once before a server starts (http_server_start and the loopback do). Later
 * calls do nothing. */
void assets_init(void);

/* Route handler: `/` is static/index.html, `/docs` static/docs/index.html, `/x` static/x. */
void asset_get(struct request *request, struct reply *reply);

#endif
