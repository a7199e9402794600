/* Each rule stands for a smuggling or forging trick that was seen to work on the library as Debian
 * ships it. */
#include "server/http/guard.h"

#include "server/http/query_string.h"
#include "server/http/router.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_token(const char *text)
{
    static const char good[] =
        "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    return *text != '\0' && strspn(text, good) == strlen(text);
}

static bool is_clean_value(const char *value, size_t length)
{
    if (strlen(value) != length)
        return false;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)value[i];
        if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
            return false;
    }
    return true;
}

static bool is_length(const char *value)
{
    size_t length = strlen(value);
    return length > 0 && length <= 18 && strspn(value, "0123456789") == length;
}

static int refuse(int status, const char *slug, const char *detail, const char **ret_slug,
                  const char **ret_detail)
{
    *ret_slug = slug;
    *ret_detail = detail;
    return status;
}

static int check_line(const struct head *head, const char **ret_slug, const char **ret_detail)
{
    if (strcmp(head->version, "HTTP/1.1") != 0 && strcmp(head->version, "HTTP/1.0") != 0)
        return refuse(400, "bad-request", "Only HTTP/1.1 and HTTP/1.0 are spoken here.", ret_slug,
                      ret_detail);
    if (method_parse(head->method) == 0)
        return refuse(501, "not-implemented", "No such method is known here.", ret_slug,
                      ret_detail);
    if (strlen(head->target) > TARGET_MAX_BYTES)
        return refuse(414, "uri-too-long", "An address may be 4,096 bytes long.", ret_slug,
                      ret_detail);
    if (head->target[0] != '/' && strcmp(head->target, "*") != 0)
        return refuse(400, "bad-request", "The request target must be a path.", ret_slug,
                      ret_detail);
    for (const char *c = head->target; *c != '\0'; c++) {
        if ((unsigned char)*c <= 0x20 || *c == 0x7f)
            return refuse(400, "bad-request", "The request target holds a space or a control byte.",
                          ret_slug, ret_detail);
    }
    return 0;
}

int guard_check(const struct head *head, const char **ret_slug, const char **ret_detail)
{
    size_t hosts = 0, lengths = 0, encodings = 0, keys = 0, bytes = 0;
    int status = check_line(head, ret_slug, ret_detail);
    if (status != 0)
        return status;
    for (size_t i = 0; i < head->header_count; i++) {
        const char *name = head->headers[i].name, *value = head->headers[i].value;
        bytes += strlen(name) + head->value_lengths[i] + 4;
        if (!is_token(name))
            return refuse(400, "bad-request", "A header's name is malformed.", ret_slug,
                          ret_detail);
        if (!is_clean_value(value, head->value_lengths[i]))
            return refuse(400, "bad-request", "A header's value holds a control byte.", ret_slug,
                          ret_detail);
        if (strcasecmp(name, "host") == 0) {
            hosts++;
        } else if (strcasecmp(name, "authorization") == 0) {
            keys++;
        } else if (strcasecmp(name, "content-length") == 0) {
            lengths++;
            if (!is_length(value))
                return refuse(400, "bad-request", "Content-Length must be a whole number.",
                              ret_slug, ret_detail);
        } else if (strcasecmp(name, "transfer-encoding") == 0) {
            encodings++;
            if (strcasecmp(value, "chunked") != 0)
                return refuse(400, "bad-request", "The only Transfer-Encoding taken is chunked.",
                              ret_slug, ret_detail);
        }
    }
    if (bytes > HEAD_MAX_BYTES)
        return refuse(431, "head-too-large", "All headers together may be 16 KiB long.", ret_slug,
                      ret_detail);
    bool old = strcmp(head->version, "HTTP/1.0") == 0;
    if (hosts > 1 || (hosts == 0 && !old))
        return refuse(400, "bad-request", "A request has exactly one Host.", ret_slug, ret_detail);
    if (keys > 1)
        return refuse(400, "bad-request", "A request has at most one Authorization.", ret_slug,
                      ret_detail);
    if (lengths > 1)
        return refuse(400, "bad-request", "A request has at most one Content-Length.", ret_slug,
                      ret_detail);
    if (encodings > 1 || (encodings == 1 && (lengths > 0 || old)))
        return refuse(400, "bad-request",
                      "Transfer-Encoding comes once, without Content-Length, in HTTP/1.1.",
                      ret_slug, ret_detail);
    return 0;
}

int64_t guard_body_length(const struct head *head)
{
    for (size_t i = 0; i < head->header_count; i++) {
        if (strcasecmp(head->headers[i].name, "transfer-encoding") == 0)
            return -1;
        if (strcasecmp(head->headers[i].name, "content-length") == 0)
            return (int64_t)strtoll(head->headers[i].value, NULL, 10);
    }
    return 0;
}
