/* Bytes of a request target and of headers, as they reach the server: decoding never reads past its
 * input, and what it gives is text. */
#include "server/http/conditional.h"
#include "server/http/gzip.h"
#include "server/http/query_string.h"
#include "server/http/router.h"
#include "server/sync/write.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct route routes[] = {
        {.methods = HTTP_GET, .pattern = "/v1/offers/{id}"},
        {.methods = HTTP_GET, .pattern = "/v1/providers/{slug}/offers/{external_id}"},
        {.methods = HTTP_GET, .pattern = "/{path*}"},
        {0},
    };
    struct request request = {0};
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    struct http_pair *pairs;
    size_t count;
    const char *bad = NULL;
    if (query_string_parse(&request.arena, text, &pairs, &count, &bad)) {
        for (size_t i = 0; i < count; i++) {
            /* Decoding once more never fails for other reasons than percent signs: it is valid
             * UTF-8. */
            if (strchr(pairs[i].value, '%') == NULL &&
                percent_decode(&request.arena, pairs[i].value, strlen(pairs[i].value), false) ==
                    NULL)
                abort();
        }
    } else if (bad == NULL) {
        abort();
    }
    unsigned allowed;
    (void)route_find(routes, HTTP_GET, text, false, &request, &allowed);
    bool gzip;
    (void)etag_list_matches(text, "\"x\"", &gzip);
    (void)accepts_gzip(text);
    (void)if_match_holds(text, 7, true);
    arena_free(&request.arena);
    free(text);
    return 0;
}
