/* Wiring: settings, log, and the subcommand. Nothing else. */
#include "server/base/crypto.h"
#include "server/base/log.h"
#include "server/cli/cli.h"

#include <jansson.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    int (*run)(struct cli *cli);
    const char *help;
} commands[] = {
    {"serve", cli_serve,
     "serve the API and the page (with a private PostgreSQL unless told otherwise)"},
    {"migrate", cli_migrate, "bring the database's schema up to date"},
    {"import", cli_import, "put a catalogue in as a provider's inventory"},
    {"export", cli_export, "give the market, or one provider's inventory, as a file"},
    {"provider", cli_provider, "add, list, rename and suspend providers"},
    {"key", cli_key, "create, list and revoke keys"},
    {"alias", cli_alias, "say what names of GPUs and places mean that nobody knows"},
    {"fixing", cli_fixing, "publish the fixings of days past, or a revision of them"},
    {"doctor", cli_doctor, "look for what is wrong"},
    {"config", cli_config, "print the settings in force and where each came from"},
    {"version", cli_version, "print the version"},
};
#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static int help(FILE *out, int code)
{
    fprintf(out, "usage: rackrate COMMAND [arguments] [settings]\n\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
    fprintf(out, "\n`rackrate COMMAND --help` tells more. --json makes the last line of standard "
                 "output the result.\n\n");
    if (out == stdout)
        settings_print_help();
    return code;
}

static void set_up_log(const struct settings *settings)
{
    enum log_level level;
    if (log_level_parse(settings->log_level, &level))
        log_set_level(level);
    log_set_plain(strcmp(settings->log_format, "plain") == 0 ||
                  (strcmp(settings->log_format, "auto") == 0 && isatty(STDERR_FILENO)));
}

int main(int argc, char **argv)
{
    struct settings settings;
    char *error = NULL;
    if (!crypt_init()) {
        fprintf(stderr, "rackrate: no source of randomness\n");
        return EXIT_REFUSED;
    }
    json_object_seed(0); /* before threads, as the library asks */
    /* Uploads take large blocks for a moment. Fixed at this size they are mapped and given back to
     * the system when freed, instead of staying with the process for ever because the threshold
     * moved up after the first one. */
    mallopt(M_MMAP_THRESHOLD, 256 * 1024);
    mallopt(M_ARENA_MAX, 8);
    /* An answer takes a hundred kilobytes and frees them: given back to the system each time, their
     * pages are faulted in anew for each request. */
    mallopt(M_TRIM_THRESHOLD, 4 * 1024 * 1024);
    if (!settings_load(&settings, &argc, argv, &error)) {
        fprintf(stderr, "rackrate: %s\n", error == NULL ? "the settings can't be read" : error);
        free(error);
        return EXIT_USAGE;
    }
    set_up_log(&settings);
    if (argc < 2)
        return help(stderr, EXIT_USAGE);
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0)
        return help(stdout, EXIT_DONE);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(argv[1], commands[i].name) != 0)
            continue;
        struct cli cli = {.settings = &settings, .argc = argc - 2, .argv = argv + 2};
        cli.json = cli_take_flag(&cli, "--json");
        if (cli_take_flag(&cli, "--help")) {
            cli.argc = 1;
            cli.argv[0] = (char[]){"?"}; /* no command takes this: it prints its usage */
            commands[i].run(&cli);
            return EXIT_DONE;
        }
        int code = commands[i].run(&cli);
        /* What no command took. */
        for (int k = 0; code == EXIT_USAGE && k < cli.argc; k++) {
            if (strncmp(cli.argv[k], "--", 2) == 0)
                fprintf(stderr, "rackrate: %s takes no %s\n", argv[1], cli.argv[k]);
        }
        return code;
    }
    fprintf(stderr, "rackrate: no command is called %s\n", argv[1]);
    return help(stderr, EXIT_USAGE);
}
