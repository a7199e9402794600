/* rackrate import latency: measured round trips from a file, as an operator's. A server that runs
 * follows within a second. */
#include "server/cli/cli.h"

#include "db/alias.h"
#include "db/latency.h"
#include "db/provider.h"
#include "server/base/buf.h"
#include "server/base/timestamp.h"
#include "server/inventory/latency_rows.h"
#include "server/reference/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool knows_provider(void *closure, const char *slug)
{
    struct arena arena = {0};
    struct provider provider;
    bool known = db_provider_find(closure, slug, &arena, &provider) == DB_OK;
    arena_free(&arena);
    return known;
}

static void print_errors(const char *path, const struct row_issues *errors)
{
    for (size_t i = 0; i < errors->count && i < 20; i++)
        fprintf(stderr, "  %s row %lld %s: %s (%s)\n", path, (long long)errors->items[i].row,
                errors->items[i].pointer, errors->items[i].message, errors->items[i].code);
    if (errors->count > 20)
        fprintf(stderr, "  … and %zu more\n", errors->count - 20);
}

static void print_contradictions(const struct latency_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct latency_measurement *row = &rows->list[i];
        if (latency_contradicts(row))
            fprintf(stderr,
                    "  contradicting: %s to %s%s%s in %.3f ms; light in fibre takes %.3f ms at "
                    "least\n",
                    place_at(row->from)->slug, place_at(row->to)->slug,
                    row->provider == NULL ? "" : " of ", row->provider == NULL ? "" : row->provider,
                    row->median_us / 1000.0, row->floor_us / 1000.0);
    }
}

static const char *decode_as(const struct latency_decode *decode, const char *bytes, size_t length,
                             struct arena *arena, struct latency_rows *ret_rows)
{
    size_t first = strspn(bytes, " \t\r\n");
    return bytes[first] == '{' ? latency_decode_json(decode, bytes, length, arena, ret_rows)
                               : latency_decode_csv(decode, bytes, length, arena, ret_rows);
}

/* Region names that mean nothing to everybody (eu-west-1 is two clouds' word for two places) may be
 * all of one cloud's: if of one only, they are. */
static const char *decode_file(const struct latency_decode *decode, const char *bytes,
                               size_t length, struct arena *arena, struct latency_rows *ret_rows)
{
    const char *why = decode_as(decode, bytes, length, arena, ret_rows), *only = NULL;
    if (why != NULL || ret_rows->errors.count == 0 || decode->vocabulary != NULL)
        return why;
    for (size_t i = 0; place_vocabulary(i) != NULL; i++) {
        struct latency_decode as = *decode;
        struct latency_rows rows;
        as.vocabulary = place_vocabulary(i);
        if (decode_as(&as, bytes, length, arena, &rows) != NULL || rows.errors.count > 0)
            continue;
        if (only != NULL)
            return NULL; /* two clouds' words: the errors stand */
        only = as.vocabulary;
    }
    if (only == NULL)
        return NULL;
    struct latency_decode as = *decode;
    as.vocabulary = only;
    fprintf(stderr, "the regions' names are taken as those of %s\n", only);
    return decode_as(&as, bytes, length, arena, ret_rows);
}

/* One file; adds to what `total` holds. */
static int import_one(struct db_connection *connection, const struct latency_decode *decode,
                      const char *path, struct latency_effect *total)
{
    struct arena arena = {0};
    struct latency_rows rows;
    struct latency_effect effect = {0};
    size_t length;
    int code = EXIT_REFUSED;
    char *file = cli_read_file(path, &length);
    if (file == NULL)
        return EXIT_REFUSED;
    const char *why = decode_file(decode, file, length, &arena, &rows);
    if (why != NULL) {
        fprintf(stderr, "rackrate: %s: %s\n", path, why);
    } else if (rows.errors.count > 0) {
        print_errors(path, &rows.errors);
        fprintf(stderr, "rackrate: %s: nothing was taken\n", path);
    } else if (db_latency_write(connection, rows.list, rows.count, "cli", &effect) != DB_OK) {
        fprintf(stderr, "rackrate: %s: the database did not take it; nothing was changed\n", path);
    } else {
        fprintf(stderr,
                "%s: %lld rows read: %zu round trips are new, %zu updated, %zu as before; %zu "
                "contradict a place\n",
                path, (long long)rows.rows_read, effect.created, effect.updated, effect.unchanged,
                effect.contradicting);
        print_contradictions(&rows);
        total->created += effect.created;
        total->updated += effect.updated;
        total->unchanged += effect.unchanged;
        total->contradicting += effect.contradicting;
        code = EXIT_DONE;
    }
    arena_free(&arena);
    free(file);
    return code;
}

int cli_import_latency(struct cli *cli, const char *provider, int64_t as_of_us)
{
    struct cli_database database;
    struct arena arena = {0};
    struct alias_sets names;
    struct latency_effect total = {0};
    int code = EXIT_DONE;
    if (!cli_database_open(cli->settings, &database))
        return EXIT_REFUSED;
    if (db_alias_sets(database.connection, &arena, &names) != DB_OK) {
        fprintf(stderr, "rackrate: operators' names could not be read from the database\n");
        code = EXIT_REFUSED;
    }
    int64_t now_us = timestamp_now_us();
    const struct latency_decode decode = {
        .provider =
            provider != NULL && knows_provider(database.connection, provider) ? provider : NULL,
        .vocabulary = provider,
        .names = &names.places,
        .now_us = now_us,
        .default_us = as_of_us == TIMESTAMP_UNKNOWN ? now_us : as_of_us,
        .knows_provider = knows_provider,
        .closure = database.connection,
    };
    for (int i = 1; code == EXIT_DONE && i < cli->argc; i++)
        code = import_one(database.connection, &decode, cli->argv[i], &total);
    if (cli->json && code == EXIT_DONE) {
        struct buf line = {0};
        buf_add_char(&line, '{');
        buf_add_json_member_int(&line, "created", (int64_t)total.created);
        buf_add_json_member_int(&line, "updated", (int64_t)total.updated);
        buf_add_json_member_int(&line, "unchanged", (int64_t)total.unchanged);
        buf_add_json_member_int(&line, "contradicting", (int64_t)total.contradicting);
        buf_add_char(&line, '}');
        cli_print_line(&line);
        buf_free(&line);
    }
    arena_free(&arena);
    cli_database_close(&database);
    return code;
}
