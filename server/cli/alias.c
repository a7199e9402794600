/* rackrate alias: what names nobody knows are meant to mean. A server that runs follows within a
 * second. */
#include "server/cli/cli.h"

#include "db/alias.h"
#include "db/provider.h"
#include "server/base/buf.h"
#include "server/inventory/text.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "alias unknown [--json]                      names that mean nothing, with how many offers\n"
    "       rackrate alias set gpu NAME SLUG [--json]            NAME means the GPU SLUG\n"
    "       rackrate alias set place NAME SLUG [--provider SLUG] NAME means the place SLUG, for "
    "one\n"
    "                                                            provider or for everybody\n"
    "       rackrate alias remove gpu|place NAME [--provider SLUG]\n"
    "       rackrate alias list [--json]";

static int failed(void)
{
    fprintf(stderr, "rackrate: the database did not answer, or offers are being written for longer "
                    "than this waits; nothing was changed\n");
    return EXIT_REFUSED;
}

static int unknown(struct cli *cli, struct db_connection *connection)
{
    struct arena arena = {0};
    struct unrecognized_name *names;
    size_t count;
    if (db_unrecognized_list(connection, NULL, &arena, &names, &count) != DB_OK) {
        arena_free(&arena);
        return failed();
    }
    struct buf line = {0};
    buf_add_char(&line, '[');
    for (size_t i = 0; i < count; i++) {
        const char *nearest = alias_nearest_target(names[i].kind, names[i].name);
        buf_add_string(&line, i > 0 ? ",{" : "{");
        buf_add_json_member_string(&line, "kind", alias_kind_name(names[i].kind));
        buf_add_json_member_string(&line, "provider", names[i].provider);
        buf_add_json_member_string(&line, "name", names[i].name);
        buf_add_json_member_int(&line, "offers", names[i].offers);
        buf_add_json_member_string(&line, "nearest", nearest);
        buf_add_char(&line, '}');
        if (!cli->json)
            printf("%8lld  %-5s  %-24s %s%s%s\n", (long long)names[i].offers,
                   alias_kind_name(names[i].kind), names[i].provider, names[i].name,
                   nearest == NULL ? "" : "   near ", nearest == NULL ? "" : nearest);
    }
    buf_add_char(&line, ']');
    if (cli->json)
        cli_print_line(&line);
    else if (count == 0)
        fprintf(stderr, "every name means something\n");
    buf_free(&line);
    arena_free(&arena);
    return EXIT_DONE;
}

static int list(struct cli *cli, struct db_connection *connection)
{
    struct arena arena = {0};
    struct operator_name *names;
    size_t count;
    if (db_alias_list(connection, &arena, &names, &count) != DB_OK) {
        arena_free(&arena);
        return failed();
    }
    struct buf line = {0};
    buf_add_char(&line, '[');
    for (size_t i = 0; i < count; i++) {
        const char *provider = names[i].provider[0] == '\0' ? NULL : names[i].provider;
        buf_add_string(&line, i > 0 ? ",{" : "{");
        buf_add_json_member_string(&line, "kind", alias_kind_name(names[i].kind));
        buf_add_json_member_string(&line, "provider", provider);
        buf_add_json_member_string(&line, "name", names[i].name);
        buf_add_json_member_string(&line, "slug", names[i].slug);
        buf_add_char(&line, '}');
        if (!cli->json)
            printf("%-5s  %-24s %s -> %s\n", alias_kind_name(names[i].kind),
                   provider == NULL ? "(everybody)" : provider, names[i].name, names[i].slug);
    }
    buf_add_char(&line, ']');
    if (cli->json)
        cli_print_line(&line);
    buf_free(&line);
    arena_free(&arena);
    return EXIT_DONE;
}

static int change(struct cli *cli, struct db_connection *connection,
                  const struct operator_name *name)
{
    struct arena arena = {0};
    struct alias_effect effect;
    enum db_status status = db_alias_change(connection, name, "cli", &arena, &effect);
    int code = EXIT_DONE;
    if (status == DB_OK && cli->json) {
        struct buf line = {0};
        buf_add_char(&line, '{');
        buf_add_json_member_int(&line, "offers", (int64_t)effect.offers);
        buf_add_json_member_int(&line, "providers", (int64_t)effect.provider_count);
        buf_add_char(&line, '}');
        cli_print_line(&line);
        buf_free(&line);
    } else if (status == DB_OK) {
        printf("%zu offers of %zu providers mean something else now\n", effect.offers,
               effect.provider_count);
    } else if (status == DB_NONE) {
        fprintf(stderr,
                "rackrate: no operator gave the name %s; `rackrate alias list` shows them\n",
                name->name);
        code = EXIT_REFUSED;
    } else if (status == DB_CONFLICT) {
        fprintf(stderr, "rackrate: no provider is called %s\n", name->provider);
        code = EXIT_REFUSED;
    } else {
        code = failed();
    }
    arena_free(&arena);
    return code;
}

/* Reads what is meant off the arguments; false where they don't fit, having said why in *ret_code.
 */
static bool read_name(struct cli *cli, const char *provider, struct operator_name *ret_name,
                      int *ret_code)
{
    bool setting = strcmp(cli->argv[0], "set") == 0;
    char key[ALIAS_KEY_SIZE];
    *ret_code = EXIT_USAGE;
    *ret_name = (struct operator_name){.provider = provider == NULL ? "" : provider};
    if (cli->argc != (setting ? 4 : 3) || !alias_kind_parse(cli->argv[1], &ret_name->kind) ||
        (provider != NULL && (ret_name->kind == ALIAS_GPU || !provider_slug_is_valid(provider)))) {
        cli_usage(usage);
        return false;
    }
    ret_name->name = cli->argv[2];
    ret_name->slug = setting ? cli->argv[3] : NULL;
    *ret_code = EXIT_REFUSED;
    size_t length = strlen(ret_name->name);
    if (length > ALIAS_NAME_MAX_BYTES || !text_is_utf8(ret_name->name, length) ||
        !text_is_clean(ret_name->name, length) ||
        !alias_key(ret_name->kind, ret_name->provider, ret_name->name, key)) {
        fprintf(stderr,
                "rackrate: a name is at most %d bytes of UTF-8 with at least one letter or digit\n",
                ALIAS_NAME_MAX_BYTES);
        return false;
    }
    if (setting && !alias_target_is_known(ret_name->kind, ret_name->slug)) {
        const char *nearest = alias_nearest_target(ret_name->kind, ret_name->slug);
        fprintf(stderr, "rackrate: no %s has the slug %s%s%s\n", alias_kind_name(ret_name->kind),
                ret_name->slug, nearest == NULL ? "" : "; near it is ",
                nearest == NULL ? "" : nearest);
        return false;
    }
    return true;
}

int cli_alias(struct cli *cli)
{
    const char *provider = cli_take_option(cli, "--provider");
    const char *verb = cli->argc > 0 ? cli->argv[0] : "";
    bool changing = strcmp(verb, "set") == 0 || strcmp(verb, "remove") == 0;
    bool listing = strcmp(verb, "list") == 0, asking = strcmp(verb, "unknown") == 0;
    struct operator_name name = {0};
    int code;
    if (!changing && ((!listing && !asking) || cli->argc != 1 || provider != NULL))
        return cli_usage(usage);
    if (changing && !read_name(cli, provider, &name, &code))
        return code;
    struct cli_database database;
    if (!cli_database_open(cli->settings, &database))
        return EXIT_REFUSED;
    code = changing  ? change(cli, database.connection, &name)
           : listing ? list(cli, database.connection)
                     : unknown(cli, database.connection);
    cli_database_close(&database);
    return code;
}
