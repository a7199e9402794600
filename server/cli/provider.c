/* rackrate provider: add, list, rename, suspend. */
#include "server/cli/cli.h"

#include "db/inventory.h"
#include "db/provider.h"
#include "server/base/buf.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/inventory/text.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "provider add SLUG --name NAME [--kind KIND] [--resells SLUG] [--json]\n"
    "       rackrate provider list [--json]\n"
    "       rackrate provider rename SLUG --name NAME\n"
    "       rackrate provider suspend SLUG [--undo]\n"
    "KIND is hyperscaler, gpu_cloud (the default), marketplace, colocation or reseller.\n"
    "A suspended provider's offers are not shown and its keys are not served.";

static void write_provider(struct buf *out, const struct provider *provider)
{
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "slug", provider->slug);
    buf_add_json_member_string(out, "name", provider->name);
    buf_add_json_member_string(out, "kind", provider_kind_name(provider->kind));
    buf_add_json_member_bool(out, "suspended", provider->suspended);
    buf_add_json_member_int(out, "version", provider->version);
    buf_add_char(out, '}');
}

static void print_provider(const struct cli *cli, const struct provider *provider, const char *what)
{
    if (cli->json) {
        struct buf line = {0};
        write_provider(&line, provider);
        cli_print_line(&line);
    } else {
        printf("%s %s (%s)\n", what, provider->slug, provider->name);
    }
}

static int fail(enum db_status status, const char *slug)
{
    if (status == DB_NONE)
        fprintf(stderr, "rackrate: no provider is called %s; `rackrate provider list` shows them\n",
                slug);
    else if (status == DB_CONFLICT)
        fprintf(
            stderr,
            "rackrate: a provider called %s exists already: it can be used as it is, and `rackrate "
            "provider rename %s --name NAME` changes its name\n",
            slug, slug);
    else
        fprintf(stderr, "rackrate: the database did not take it\n");
    return EXIT_REFUSED;
}

static int add(struct cli *cli, struct db_connection *connection, const char *slug,
               const char *name, enum provider_kind kind, const char *resells)
{
    struct provider provider = {
        .slug = slug,
        .name = name,
        .kind = kind,
        .resells = resells,
        .freshness_hours = PROVIDER_FRESHNESS_HOURS_DEFAULT,
        .trust = {.sla_percent_milli = UNKNOWN,
                  .burn_in = UNKNOWN,
                  .monitoring = UNKNOWN,
                  .on_site = UNKNOWN},
        .confirmed_at_us = TIMESTAMP_UNKNOWN,
    };
    enum db_status status = db_provider_add(connection, &provider, "cli");
    if (status != DB_OK)
        return fail(status, slug);
    print_provider(cli, &provider, "added");
    return EXIT_DONE;
}

static int list(struct cli *cli, struct db_connection *connection)
{
    struct arena arena = {0};
    struct provider *providers;
    size_t count;
    if (db_provider_list(connection, &arena, &providers, &count) != DB_OK) {
        arena_free(&arena);
        return fail(DB_FAILED, "");
    }
    struct buf line = {0};
    buf_add_char(&line, '[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_add_char(&line, ',');
        write_provider(&line, &providers[i]);
        if (!cli->json)
            printf("%-24s %-12s %-10s %s\n", providers[i].slug,
                   provider_kind_name(providers[i].kind), providers[i].suspended ? "suspended" : "",
                   providers[i].name);
    }
    buf_add_char(&line, ']');
    if (cli->json)
        cli_print_line(&line);
    buf_free(&line);
    arena_free(&arena);
    return EXIT_DONE;
}

static int change(struct cli *cli, struct db_connection *connection, const char *slug,
                  const char *name, const bool *suspended)
{
    struct arena arena = {0};
    struct provider provider;
    enum db_status status = db_begin(connection);
    if (status == DB_OK)
        status = db_inventory_lock(connection, slug, &arena, &provider);
    if (status == DB_OK) {
        provider.name = name == NULL ? provider.name : name;
        provider.suspended = suspended == NULL ? provider.suspended : *suspended;
        status = db_provider_update(connection, &provider, "cli");
    }
    if (status == DB_OK)
        status = db_commit(connection);
    else
        db_rollback(connection);
    if (status == DB_OK)
        print_provider(cli, &provider, "changed");
    arena_free(&arena);
    return status == DB_OK ? EXIT_DONE : fail(status, slug);
}

int cli_provider(struct cli *cli)
{
    const char *name = cli_take_option(cli, "--name");
    const char *kind_text = cli_take_option(cli, "--kind");
    const char *resells = cli_take_option(cli, "--resells");
    bool undo = cli_take_flag(cli, "--undo");
    const char *verb = cli->argc > 0 ? cli->argv[0] : "";
    const char *slug = cli->argc > 1 ? cli->argv[1] : NULL;
    enum provider_kind kind = PROVIDER_GPU_CLOUD;
    bool adding = strcmp(verb, "add") == 0, renaming = strcmp(verb, "rename") == 0;
    bool listing = strcmp(verb, "list") == 0, suspending = strcmp(verb, "suspend") == 0;
    if ((!adding && !renaming && !listing && !suspending) ||
        (listing ? cli->argc != 1 : cli->argc != 2) || ((adding || renaming) && name == NULL) ||
        (!adding && (kind_text != NULL || resells != NULL)))
        return cli_usage(usage);
    if (kind_text != NULL && !provider_kind_parse(kind_text, &kind)) {
        fprintf(stderr, "rackrate: no kind is called %s\n", kind_text);
        return cli_usage(usage);
    }
    if (!listing && !provider_slug_is_valid(slug)) {
        fprintf(stderr, "rackrate: a slug is 1 to 63 of a-z, 0-9 and inner hyphens, not \"%s\"\n",
                slug);
        return EXIT_USAGE;
    }
    if (name != NULL && (*name == '\0' || strlen(name) > PROVIDER_NAME_MAX_BYTES ||
                         !text_is_utf8(name, strlen(name)) || !text_is_clean(name, strlen(name)))) {
        fprintf(stderr,
                "rackrate: a name is 1 to %d bytes of UTF-8 without control or invisible "
                "characters\n",
                PROVIDER_NAME_MAX_BYTES);
        return EXIT_USAGE;
    }
    if (resells != NULL && (kind != PROVIDER_RESELLER || !provider_slug_is_valid(resells) ||
                            strcmp(resells, slug) == 0)) {
        fprintf(stderr,
                "rackrate: --resells names another provider's slug, with --kind reseller\n");
        return EXIT_USAGE;
    }
    struct cli_database database;
    if (!cli_database_open(cli->settings, &database))
        return EXIT_REFUSED;
    bool suspended = !undo;
    int code = adding     ? add(cli, database.connection, slug, name, kind, resells)
               : listing  ? list(cli, database.connection)
               : renaming ? change(cli, database.connection, slug, name, NULL)
                          : change(cli, database.connection, slug, NULL, &suspended);
    cli_database_close(&database);
    return code;
}
