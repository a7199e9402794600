/* Small readers of a request, and headers of a reply. */
#include "server/http/http.h"

#include "server/base/nearest.h"

#include <string.h>

const char *request_header(const struct request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++) {
        if (strcmp(request->headers[i].name, name) == 0)
            return request->headers[i].value;
    }
    return NULL;
}

const char *request_parameter(const struct request *request, const char *name)
{
    for (size_t i = 0; i < request->parameter_count; i++) {
        if (strcmp(request->parameters[i].name, name) == 0)
            return request->parameters[i].value;
    }
    return NULL;
}

static bool refuse(struct request *request, struct reply *reply, const char *name, const char *code,
                   const char *message)
{
    const struct problem_item item = {.parameter = name, .code = code, .message = message};
    reply_problem(request, reply, 400, "bad-parameter", message, &item, 1);
    return false;
}

bool request_check_parameters(struct request *request, struct reply *reply,
                              const char *const *allowed)
{
    size_t allowed_count = 0;
    while (allowed[allowed_count] != NULL)
        allowed_count++;
    for (size_t i = 0; i < request->parameter_count; i++) {
        const char *name = request->parameters[i].name;
        bool known = false;
        for (size_t k = 0; k < allowed_count && !known; k++)
            known = strcmp(allowed[k], name) == 0;
        if (!known) {
            const char *near = nearest_name(name, allowed, allowed_count);
            return refuse(
                request, reply, name, "unknown_parameter",
                near == NULL
                    ? arena_printf(&request->arena, "No parameter is called %.100s here.", name)
                    : arena_printf(&request->arena,
                                   "No parameter is called %.100s here; did you mean %s?", name,
                                   near));
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(request->parameters[k].name, name) == 0)
                return refuse(request, reply, name, "repeated_parameter",
                              arena_printf(&request->arena, "%s may be given once.", name));
        }
    }
    return true;
}

void reply_add_header(struct reply *reply, const char *name, const char *value)
{
    size_t limit = sizeof(reply->headers) / sizeof(reply->headers[0]);
    if (reply->header_count < limit)
        reply->headers[reply->header_count++] = (struct reply_header){name, value};
}
