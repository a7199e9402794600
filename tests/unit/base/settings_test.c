/* Settings: file under environment under flags, each checked, the source remembered. */
#include "server/base/settings.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(settings, .timeout = 20);

Test(settings, later_sources_win_and_the_rest_stays)
{
    char path[] = "/tmp/rackrate-conf-XXXXXX", config[64], *error = NULL;
    int fd = mkstemp(path);
    cr_assert(dprintf(fd, "listen = 127.0.0.1:1111\nworkers = 7\nidle_timeout_ms = 5000\n") > 0);
    close(fd);
    snprintf(config, sizeof(config), "--config=%s", path);
    setenv("RACKRATE_WORKERS", "8", 1);
    char *argv[] = {
        (char[]){"rackrate"}, (char[]){"serve"},   config, (char[]){"--idle-timeout-ms"},
        (char[]){"6000"},     (char[]){"--other"}, NULL};
    int argc = 6;
    struct settings settings;
    cr_assert(settings_load(&settings, &argc, argv, &error), "%s", error);
    cr_expect_str_eq(settings.listen, "127.0.0.1:1111");
    cr_expect_str_eq(settings.ops_listen, "127.0.0.1:1112", "the port above the public one");
    cr_expect(settings.workers == 8 && settings.idle_timeout_ms == 6000 && settings.sample);
    cr_expect(argc == 3 && strcmp(argv[1], "serve") == 0 && strcmp(argv[2], "--other") == 0);
    unlink(path);
}

Test(settings, bad_values_are_named_with_their_source)
{
    static const struct {
        const char *name, *value, *named;
    } cases[] = {{"RACKRATE_WORKERS", "many", "workers from environment"},
                 {"RACKRATE_WORKERS", "0", "workers from environment"},
                 {"RACKRATE_SAMPLE", "maybe", "sample from environment"},
                 {"RACKRATE_LISTEN", "127.0.0.1:99999", "listen from environment"},
                 {"RACKRATE_LISTEN", "8080", "HOST:PORT"},
                 {"RACKRATE_OPS_LISTEN", "on", "HOST:PORT or off"},
                 {"RACKRATE_LOG_LEVEL", "loud", "debug, info, warning or error"},
                 {"RACKRATE_LOG_FORMAT", "xml", "json, plain or auto"},
                 {"RACKRATE_CONFIG", "/tmp", "directory"},
                 {"RACKRATE_CONFIG", "/nowhere/x.conf", "/nowhere/x.conf"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *argv[] = {(char[]){"rackrate"}, NULL}, *error = NULL;
        int argc = 1;
        struct settings settings;
        setenv(cases[i].name, cases[i].value, 1);
        cr_expect(!settings_load(&settings, &argc, argv, &error));
        cr_expect(error != NULL && strstr(error, cases[i].named) != NULL, "%s",
                  error == NULL ? "no message" : error);
        free(error);
        unsetenv(cases[i].name);
    }
}
