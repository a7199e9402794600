/* rackrate key: create, list, revoke. A key is shown once and kept as a hash. */
#include "server/cli/cli.h"

#include "db/provider.h"
#include "server/auth/key.h"
#include "server/base/buf.h"
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"

#include <stdio.h>
#include <string.h>

static const char usage[] = "key create SLUG [--json]     a key of that provider, shown once\n"
                            "       rackrate key create --admin [--json]  an operator's key\n"
                            "       rackrate key list [--json]\n"
                            "       rackrate key revoke ID";

static int create(struct cli *cli, struct db_connection *connection, const char *slug, bool admin)
{
    struct api_key key = {
        .provider_slug = slug, .admin = admin, .created_at_us = timestamp_now_us()};
    char text[KEY_TEXT_LENGTH + 1];
    key_generate(text);
    key_hash(text, key.hash);
    memcpy(key.prefix, text, KEY_PREFIX_LENGTH);
    enum db_status status = db_key_add(connection, &key, "cli");
    if (status == DB_OK && cli->json) {
        struct buf line = {0};
        buf_add_char(&line, '{');
        buf_add_json_member_int(&line, "id", key.id);
        buf_add_json_member_string(&line, "provider", slug);
        buf_add_json_member_string(&line, "key", text);
        buf_add_char(&line, '}');
        cli_print_line(&line);
    } else if (status == DB_OK) {
        printf("%s\n", text);
        fprintf(stderr, "This is key %lld of %s. It is shown only now; keep it safe.\n",
                (long long)key.id, admin ? "an operator" : slug);
    } else if (status == DB_NONE) {
        fprintf(stderr, "rackrate: no provider is called %s; add it with `rackrate provider add`\n",
                slug);
    } else {
        fprintf(stderr, "rackrate: the database did not take the key\n");
    }
    crypt_wipe(text, sizeof(text));
    return status == DB_OK ? EXIT_DONE : EXIT_REFUSED;
}

static int list(struct cli *cli, struct db_connection *connection)
{
    struct arena arena = {0};
    struct api_key *keys;
    size_t count;
    if (db_key_list(connection, NULL, &arena, &keys, &count) != DB_OK) {
        fprintf(stderr, "rackrate: the keys could not be read\n");
        arena_free(&arena);
        return EXIT_REFUSED;
    }
    struct buf line = {0};
    buf_add_char(&line, '[');
    for (size_t i = 0; i < count; i++) {
        char created[TIMESTAMP_TEXT_SIZE];
        timestamp_print(keys[i].created_at_us, created);
        buf_add_string(&line, i > 0 ? ",{" : "{");
        buf_add_json_member_int(&line, "id", keys[i].id);
        buf_add_json_member_string(&line, "provider", keys[i].provider_slug);
        buf_add_json_member_bool(&line, "admin", keys[i].admin);
        buf_add_json_member_string(&line, "prefix", keys[i].prefix);
        buf_add_json_member_bool(&line, "revoked", keys[i].revoked);
        buf_add_json_member_string(&line, "created_at", created);
        buf_add_char(&line, '}');
        if (!cli->json)
            printf("%6lld  %-10s %-24s %s %s\n", (long long)keys[i].id, keys[i].prefix,
                   keys[i].admin ? "(operator)" : keys[i].provider_slug, created,
                   keys[i].revoked ? "revoked" : "");
    }
    buf_add_char(&line, ']');
    if (cli->json)
        cli_print_line(&line);
    buf_free(&line);
    arena_free(&arena);
    return EXIT_DONE;
}

static int revoke(struct db_connection *connection, int64_t id)
{
    enum db_status status = db_key_revoke(connection, id, "cli");
    if (status == DB_OK)
        printf("revoked key %lld\n", (long long)id);
    else if (status == DB_NONE)
        fprintf(stderr, "rackrate: no key has the id %lld; `rackrate key list` shows them\n",
                (long long)id);
    else
        fprintf(stderr, "rackrate: the database did not take it\n");
    return status == DB_OK ? EXIT_DONE : EXIT_REFUSED;
}

int cli_key(struct cli *cli)
{
    bool admin = cli_take_flag(cli, "--admin");
    const char *verb = cli->argc > 0 ? cli->argv[0] : "";
    bool creating = strcmp(verb, "create") == 0, listing = strcmp(verb, "list") == 0,
         revoking = strcmp(verb, "revoke") == 0;
    int64_t id = 0;
    if ((!creating && !listing && !revoking) || (listing && cli->argc != 1) ||
        (revoking && cli->argc != 2) || (creating && cli->argc != (admin ? 1 : 2)))
        return cli_usage(usage);
    if (revoking &&
        (decimal_parse(cli->argv[1], strlen(cli->argv[1]), 0, false, &id) != DECIMAL_OK || id < 1))
        return cli_usage(usage);
    struct cli_database database;
    if (!cli_database_open(cli->settings, &database))
        return EXIT_REFUSED;
    int code = creating  ? create(cli, database.connection, admin ? NULL : cli->argv[1], admin)
               : listing ? list(cli, database.connection)
                         : revoke(database.connection, id);
    cli_database_close(&database);
    return code;
}
