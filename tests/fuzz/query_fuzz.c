/* Any query string against a small market: decoded as the server does it, parsed, and if good
 * answered page after page: its own cursors must be good, errors must name a parameter and stay
 * short. */
#include "server/base/crypto.h"
#include "server/http/query_string.h"
#include "tests/support/random_market.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARAMETERS_MAX 64
#define PAGES_MAX      4

static struct catalog *catalog;
static struct market market;

static void prepare(void)
{
    if (catalog != NULL)
        return;
    if (!crypt_init())
        abort();
    catalog = catalog_new();
    market_make(&market, 1, 6, 12);
    if (!market_load(catalog, &market))
        abort();
}

static void run(struct snapshot *snapshot, struct query_parameter *parameters, size_t count)
{
    struct arena arena = {0};
    struct query *query;
    struct query_error *errors;
    const char *cursor = NULL;
    size_t given = count;
    for (int page = 0; page < PAGES_MAX; page++) {
        struct buf out = {0};
        size_t bad = query_parse(parameters, given, snapshot, &arena, &query, &errors);
        if (bad > 0) {
            if (page > 0)
                abort(); /* its own cursor was refused */
            for (size_t i = 0; i < bad; i++) {
                if (errors[i].parameter == NULL || errors[i].code == NULL ||
                    strlen(errors[i].message) > 400)
                    abort();
            }
            break;
        }
        query_answer(snapshot, query, MARKET_NOW_US, &arena, &out, &cursor);
        if (out.data[0] != '{' || out.data[out.length - 1] != '}')
            abort();
        buf_free(&out);
        if (cursor == NULL)
            break;
        given = count + 1;
        for (size_t i = 0; i < count; i++) {
            if (strcmp(parameters[i].name, "cursor") == 0) {
                parameters[i].value = cursor;
                given = count;
            }
        }
        if (given > count)
            parameters[count] = (struct query_parameter){"cursor", cursor};
    }
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    prepare();
    struct query_parameter parameters[PARAMETERS_MAX + 1];
    struct arena arena = {0};
    struct http_pair *pairs;
    size_t count;
    const char *bad;
    char *text = arena_strndup(&arena, (const char *)data, size);
    if (!query_string_parse(&arena, text, &pairs, &count, &bad)) {
        arena_free(&arena);
        return 0;
    }
    count = count < PARAMETERS_MAX ? count : PARAMETERS_MAX;
    for (size_t i = 0; i < count; i++)
        parameters[i] = (struct query_parameter){pairs[i].name, pairs[i].value};
    struct snapshot *snapshot = catalog_acquire(catalog);
    run(snapshot, parameters, count);
    snapshot_release(snapshot);
    arena_free(&arena);
    return 0;
}
