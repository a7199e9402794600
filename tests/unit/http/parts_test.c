/* The pure parts of the HTTP room: targets, routes, framing, entity tags, compression, rate limits.
 */
#include "server/base/crypto.h"
#include "server/http/conditional.h"
#include "server/http/guard.h"
#include "server/http/gzip.h"
#include "server/http/query_string.h"
#include "server/http/rate_limit.h"
#include "server/http/router.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static struct arena arena;

static void tear_down(void)
{
    arena_free(&arena);
}

TestSuite(http_parts, .timeout = 20, .fini = tear_down);

Test(http_parts, query_strings_are_split_before_they_are_decoded)
{
    struct http_pair *pairs;
    size_t count;
    const char *bad = NULL;
    cr_assert(query_string_parse(&arena, "a=1&b=x%26y%3Dz&c&&d=a+b%2Bc&a=2", &pairs, &count, &bad));
    cr_assert(count == 5);
    cr_expect_str_eq(pairs[1].value, "x&y=z");
    cr_expect_str_eq(pairs[2].value, "");
    cr_expect_str_eq(pairs[3].value, "a b+c");
    cr_expect_str_eq(pairs[4].value, "2");
    static const char *const refused[] = {"a=%00", "a=%ff",  "a=%zz",      "a=%4",
                                          "a=%",   "a=\xff", "a=%ed%a0%80"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        cr_expect(!query_string_parse(&arena, refused[i], &pairs, &count, &bad), "%s", refused[i]);
        cr_expect_str_eq(bad, "a");
    }
}

Test(http_parts, routes)
{
    static const struct route routes[] = {
        {.methods = HTTP_GET, .pattern = "/v1/offers/{id}"},
        {.methods = HTTP_GET, .pattern = "/v1/p/{slug}/offers/{external_id}"},
        {.methods = HTTP_PATCH, .pattern = "/v1/p/{slug}/offers/{external_id}"},
        {.methods = HTTP_GET, .pattern = "/livez", .ops = true},
        {.methods = HTTP_GET, .pattern = "/"},
        {.methods = HTTP_GET, .pattern = "/{path*}"},
        {0}};
    struct request request = {0};
    unsigned allowed;
    const struct route *found =
        route_find(routes, HTTP_GET, "/v1/p/a/offers/x%2Fy%20z", false, &request, &allowed);
    cr_assert(found == &routes[1] && request.capture_count == 2);
    cr_expect_str_eq(request.captures[1], "x/y z", "an escaped slash stays inside its segment");
    cr_expect(allowed == (HTTP_GET | HTTP_PATCH));
    cr_expect(route_find(routes, HTTP_PUT, "/v1/offers/x", false, &request, &allowed) == NULL &&
              allowed == HTTP_GET);
    cr_expect(route_find(routes, HTTP_GET, "/js/a/b.js", false, &request, &allowed) == &routes[5]);
    cr_expect_str_eq(request.captures[0], "js/a/b.js");
    cr_expect(route_find(routes, HTTP_GET, "/v1/offers/x", true, &request, &allowed) == NULL &&
                  allowed == 0,
              "ops serves ops");
    cr_expect(route_find(routes, HTTP_GET, "/livez", true, &request, &allowed) == &routes[3]);
    cr_expect_str_eq(methods_text(&arena, HTTP_GET | HTTP_PATCH), "GET, HEAD, PATCH, OPTIONS");
    arena_free(&request.arena);
}

static int check(const char *method, const char *target, const char *version,
                 const struct http_pair *headers, size_t count)
{
    size_t lengths[8];
    const char *slug, *detail;
    for (size_t i = 0; i < count; i++)
        lengths[i] = strlen(headers[i].value);
    const struct head head = {method, target, version, headers, lengths, count};
    return guard_check(&head, &slug, &detail);
}

Test(http_parts, the_guard_refuses_what_two_readers_could_read_differently)
{
#define H(...)                                                                                     \
    (const struct http_pair[]){__VA_ARGS__},                                                       \
        sizeof((const struct http_pair[]){__VA_ARGS__}) / sizeof(struct http_pair)
    cr_expect(check("GET", "/", "HTTP/1.1", H({"Host", "a"})) == 0);
    cr_expect(check("PUT", "/", "HTTP/1.1", H({"host", "a"}, {"Content-Length", "3"})) == 0);
    cr_expect(check("PUT", "/", "HTTP/1.1", H({"Host", "a"}, {"Transfer-Encoding", "Chunked"})) ==
              0);
    cr_expect(check("GET", "/", "HTTP/1.1", H({"A", "a"})) == 400, "no Host");
    cr_expect(check("GET", "/", "HTTP/1.1", H({"Host", "a"}, {"HOST", "b"})) == 400, "two Hosts");
    cr_expect(check("PUT", "/", "HTTP/1.1",
                    H({"Host", "a"}, {"Content-Length", "3"}, {"Content-Length", "3"})) == 400);
    cr_expect(check("GET", "/", "HTTP/1.1",
                    H({"Host", "a"}, {"Authorization", "b"}, {"authorization", "c"})) == 400);
    cr_expect(check("PUT", "/", "HTTP/1.1",
                    H({"Host", "a"}, {"Content-Length", "3"}, {"Transfer-Encoding", "chunked"})) ==
              400);
    cr_expect(check("PUT", "/", "HTTP/1.0", H({"Host", "a"}, {"Transfer-Encoding", "chunked"})) ==
              400);
    cr_expect(check("PUT", "/", "HTTP/1.1",
                    H({"Host", "a"}, {"Transfer-Encoding", "gzip, chunked"})) == 400);
    cr_expect(check("PUT", "/", "HTTP/1.1",
                    H({"Host", "a"}, {"Transfer-Encodingchunked", "x y"},
                      {"Content-Length", "+3"})) == 400);
    cr_expect(check("PUT", "/", "HTTP/1.1",
                    H({"Host", "a"}, {"Content-Length", "99999999999999999999"})) == 400);
    cr_expect(check("GET", "/", "HTTP/1.1", H({"Host ", "a"})) == 400, "a space in a name");
    cr_expect(check("GET", "/", "HTTP/1.1", H({"Host", "a"}, {"X", "a\x01"})) == 400);
    cr_expect(check("GET", "http://evil/", "HTTP/1.1", H({"Host", "a"})) == 400);
    cr_expect(check("BREW", "/", "HTTP/1.1", H({"Host", "a"})) == 501);
    cr_expect(check("GET", "/", "HTTP/2.0", H({"Host", "a"})) == 400);
#undef H
}

Test(http_parts, entity_tags)
{
    bool gzip = false;
    cr_expect(etag_list_matches("\"x\"", "\"x\"", &gzip) &&
              etag_list_matches("W/\"x\"", "\"x\"", &gzip));
    cr_expect(etag_list_matches("\"a\", \"x-gzip\"", "\"x\"", &gzip) &&
              etag_list_matches("*", "\"x\"", &gzip));
    cr_expect(!etag_list_matches("\"xx\"", "\"x\"", &gzip) &&
              !etag_list_matches("x", "\"x\"", &gzip) && !etag_list_matches("", "\"x\"", &gzip));
    cr_expect(!etag_list_matches("\"x", "\"x\"", &gzip));
    cr_expect(etag_list_matches("\"x-gzip\"", "\"x\"", &gzip) && gzip, "which variant it was");
    cr_expect(etag_list_matches("\"x-gzip\", \"x\"", "\"x\"", &gzip) && gzip);
    cr_expect(etag_list_matches("\"x\"", "\"x\"", &gzip) && !gzip);
    cr_expect_str_eq(etag_of_variant(&arena, "\"x\"", true), "\"x-gzip\"");
}

Test(http_parts, compression)
{
    cr_expect(accepts_gzip("gzip") && accepts_gzip("br, gzip;q=0.5") && accepts_gzip("*") &&
              accepts_gzip("GZIP"));
    cr_expect(!accepts_gzip(NULL) && !accepts_gzip("br") && !accepts_gzip("gzip;q=0") &&
              !accepts_gzip("gzip;q=0.000, *"));
    cr_expect(!accepts_gzip("*;q=0") && !accepts_gzip("gzipped"));
    char text[20000];
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)('a' + i % 7);
    size_t length;
    unsigned char *zipped = gzip_bytes(text, sizeof(text), 1, &length), back[20000];
    cr_assert(zipped != NULL && length < 2000);
    z_stream stream = {.next_in = zipped,
                       .avail_in = (unsigned)length,
                       .next_out = back,
                       .avail_out = sizeof(back)};
    cr_assert(inflateInit2(&stream, 31) == Z_OK && inflate(&stream, Z_FINISH) == Z_STREAM_END);
    inflateEnd(&stream);
    cr_expect(memcmp(text, back, sizeof(text)) == 0);
    free(zipped);
}

Test(http_parts, rate_limits_fill_up_again)
{
    cr_assert(crypt_init());
    struct rate_limit *limit = rate_limit_new(60);
    unsigned remaining, reset;
    int taken = 0;
    for (int i = 0; i < 100; i++)
        taken += rate_limit_take(limit, "\x0a\x00\x00\x01", 4, 1000000, &remaining, &reset);
    cr_expect(taken == 60 && remaining == 0 && reset >= 1, "%d taken", taken);
    cr_expect(rate_limit_take(limit, "\x0a\x00\x00\x02", 4, 1000000, &remaining, &reset),
              "others have their own");
    cr_expect(rate_limit_take(limit, "\x0a\x00\x00\x01", 4, 2100000, &remaining, &reset),
              "a second later one more");
    cr_expect(!rate_limit_take(limit, "\x0a\x00\x00\x01", 4, 2100000, &remaining, &reset));
    rate_limit_free(limit);
}
