/* The table of settings and its three readers: file (inih), environment, flags. Each reader goes
 * through set_from, so a value is checked the same way wherever it comes from, and the source is
 * remembered for `rackrate config`. */
#include "server/base/settings.h"

#include "server/base/arena.h"
#include "server/base/buf.h"
#include "server/base/nearest.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum setting_type { SETTING_TEXT, SETTING_NUMBER, SETTING_BOOLEAN };

struct setting {
    const char
        *name; /* as in the file; the flag has - for _, the environment RACKRATE_ and capitals */
    enum setting_type type;
    size_t offset;            /* in struct settings */
    const char *default_text; /* NULL: none */
    int64_t minimum, maximum; /* of numbers */
    bool secret;
    const char *help;
};

#define TEXT(field, default_text, help)                                                            \
    {                                                                                              \
#field, SETTING_TEXT, offsetof(struct settings, field), default_text, 0, 0, false, help    \
    }
#define SECRET(field, help)                                                                        \
    {                                                                                              \
#field, SETTING_TEXT, offsetof(struct settings, field), NULL, 0, 0, true, help             \
    }
#define NUMBER(field, default_text, minimum, maximum, help)                                        \
    {                                                                                              \
#field, SETTING_NUMBER, offsetof(struct settings, field), default_text, minimum, maximum,  \
            false, help                                                                            \
    }
#define BOOLEAN(field, default_text, help)                                                         \
    {                                                                                              \
#field, SETTING_BOOLEAN, offsetof(struct settings, field), default_text, 0, 1, false, help \
    }

static const struct setting table[] = {
    TEXT(listen, "127.0.0.1:8080", "address and port the public API and page answer on"),
    TEXT(ops_listen, NULL,
         "address and port for health and metrics; `off` for none (default: the public port + 1)"),
    SECRET(database_url,
           "PostgreSQL to use instead of the private one, as a libpq URL; several hosts allowed"),
    TEXT(state_dir, NULL,
         "where the private PostgreSQL and its lock live (default: .state of the checkout, else "
         "/var/lib/rackrate)"),
    TEXT(log_level, "info", "debug, info, warning or error"),
    TEXT(log_format, "auto", "json, plain, or auto: plain on a terminal"),
    BOOLEAN(sample, "1", "load the labelled sample inventory; 0 leaves it out or removes it"),
    NUMBER(loops, "0", 0, 256, "event loops; 0 is one per core"),
    NUMBER(workers, "4", 1, 64, "worker threads, each with a database connection"),
    NUMBER(queue_limit, "1024", 1, 100000, "requests waiting for a worker before 503"),
    NUMBER(body_budget_mib, "512", 1, 65536,
           "MiB of request bodies, and again of large answers, held at once before 503"),
    NUMBER(connection_limit, "4096", 8, 1000000, "connections open at once"),
    NUMBER(header_timeout_ms, "10000", 100, 600000, "time for a request's head to be complete"),
    NUMBER(body_timeout_ms, "30000", 100, 600000, "time without progress in a request's body"),
    NUMBER(idle_timeout_ms, "60000", 100, 3600000, "time a kept-alive connection may rest"),
    NUMBER(drain_timeout_ms, "15000", 0, 600000, "time for requests in flight when stopping"),
    NUMBER(query_cache_mib, "32", 0, 65536, "MiB of answers to searches kept; 0 keeps none"),
    NUMBER(stream_limit, "32", 1, 10000, "whole results streamed at once before 503"),
    NUMBER(stream_timeout_ms, "900000", 1000, 86400000,
           "time a reader has for a streamed result, before it is cut"),
    NUMBER(rate_limit_per_minute, "0", 0, 100000000,
           "requests a minute and client address, on this node; 0 is no limit; loopback is exempt"),
    NUMBER(upload_retention_days, "90", 1, 36500, "days uploads and their rejected rows are kept"),
    NUMBER(tombstone_retention_days, "30", 1, 36500, "days removed offers answer 410"),
    NUMBER(audit_retention_days, "730", 31, 36500, "days the audit log is kept"),
};
#define SETTING_COUNT (sizeof(table) / sizeof(table[0]))

static char *values[SETTING_COUNT];        /* text in force; NULL none */
static const char *sources[SETTING_COUNT]; /* where it came from */

static bool parse_number(const struct setting *setting, const char *text, int64_t *ret)
{
    char *end = NULL;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || number < setting->minimum ||
        number > setting->maximum)
        return false;
    *ret = number;
    return true;
}

static bool parse_boolean(const char *text, bool *ret)
{
    *ret = strcmp(text, "1") == 0 || strcmp(text, "true") == 0;
    return *ret || strcmp(text, "0") == 0 || strcmp(text, "false") == 0;
}

/* HOST:PORT with a port up to 65535; the listener says what is wrong with a host. */
static bool is_address(const char *text)
{
    const char *colon = strrchr(text, ':');
    size_t digits = colon == NULL ? 0 : strspn(colon + 1, "0123456789");
    return colon != NULL && colon != text && digits > 0 && digits <= 5 &&
           colon[1 + digits] == '\0' && atoi(colon + 1) <= 65535;
}

/* What texts that are not free look like; NULL for free ones. */
static const char *text_form(const char *name)
{
    if (strcmp(name, "listen") == 0)
        return "HOST:PORT";
    if (strcmp(name, "ops_listen") == 0)
        return "HOST:PORT or off";
    if (strcmp(name, "log_level") == 0)
        return "debug, info, warning or error";
    return strcmp(name, "log_format") == 0 ? "json, plain or auto" : NULL;
}

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strcmp(text, *words) == 0)
            return true;
    }
    return false;
}

static bool check_text(const char *name, const char *text)
{
    static const char *const levels[] = {"debug", "info", "warning", "error", NULL};
    static const char *const formats[] = {"json", "plain", "auto", NULL};
    if (strcmp(name, "listen") == 0)
        return is_address(text);
    if (strcmp(name, "ops_listen") == 0)
        return strcmp(text, "off") == 0 || is_address(text);
    if (strcmp(name, "log_level") == 0)
        return is_one_of(text, levels);
    return strcmp(name, "log_format") != 0 || is_one_of(text, formats);
}

static bool set_from(size_t index, const char *text, const char *source, char **ret_error)
{
    const struct setting *setting = &table[index];
    int64_t number;
    bool boolean;
    int length = 0;
    if (setting->type == SETTING_NUMBER && !parse_number(setting, text, &number))
        length = asprintf(
            ret_error, "%s from %s must be a whole number from %lld to %lld, not \"%s\"",
            setting->name, source, (long long)setting->minimum, (long long)setting->maximum, text);
    else if (setting->type == SETTING_BOOLEAN && !parse_boolean(text, &boolean))
        length = asprintf(ret_error, "%s from %s must be 0, 1, true or false, not \"%s\"",
                          setting->name, source, text);
    else if (!check_text(setting->name, text))
        length = asprintf(ret_error, "%s from %s must be %s, not \"%s\"", setting->name, source,
                          text_form(setting->name), text);
    if (length != 0)
        return false;
    free(values[index]);
    values[index] = xstrdup(text);
    sources[index] = source;
    return true;
}

static size_t find_setting(const char *name, size_t length, char dash)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const char *own = table[i].name;
        size_t at = 0;
        while (at < length && own[at] != '\0' && (own[at] == '_' ? dash : own[at]) == name[at])
            at++;
        if (at == length && own[at] == '\0')
            return i;
    }
    return SETTING_COUNT;
}

struct file_reading {
    const char *path;
    char *error;
};

static int take_line(void *user, const char *section, const char *name, const char *value)
{
    struct file_reading *reading = user;
    (void)section;
    size_t index = find_setting(name, strlen(name), '_');
    if (index == SETTING_COUNT) {
        if (reading->error == NULL &&
            asprintf(&reading->error, "%s: no setting is called \"%s\"", reading->path, name) < 0)
            reading->error = NULL;
        return 0;
    }
    return reading->error == NULL && set_from(index, value, reading->path, &reading->error);
}

static bool read_file(const char *path, bool required, char **ret_error)
{
    if (access(path, R_OK) != 0 && !required)
        return true;
    struct file_reading reading = {.path = path};
    struct stat facts;
    if (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)) {
        if (asprintf(ret_error, "%s is a directory, not a file of settings", path) < 0)
            *ret_error = NULL;
        return false;
    }
    int line = ini_parse(path, take_line, &reading);
    if (line == 0)
        return true;
    *ret_error = reading.error;
    if (reading.error == NULL &&
        asprintf(ret_error, line < 0 ? "%s can't be read" : "%s: line %d is no `name = value`",
                 path, line) < 0)
        *ret_error = NULL;
    return false;
}

/* A variable that looks like a setting's name but isn't one is most likely a slip. */
static void warn_of_slips(void)
{
    const char *known[SETTING_COUNT];
    for (size_t i = 0; i < SETTING_COUNT; i++)
        known[i] = table[i].name;
    for (char **entry = environ; *entry != NULL; entry++) {
        size_t length = strcspn(*entry, "=");
        char name[64];
        if (strncmp(*entry, "RACKRATE_", 9) != 0 || length - 9 >= sizeof(name) ||
            strncmp(*entry, "RACKRATE_CONFIG=", 16) == 0)
            continue;
        for (size_t i = 9; i < length; i++)
            name[i - 9] = (char)tolower((unsigned char)(*entry)[i]);
        name[length - 9] = '\0';
        const char *nearest = nearest_name(name, known, SETTING_COUNT);
        if (nearest != NULL && strcmp(nearest, name) != 0)
            fprintf(stderr, "rackrate: %.*s is no setting; did you mean %s?\n", (int)length, *entry,
                    nearest);
    }
}

static bool read_environment(char **ret_error)
{
    warn_of_slips();
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        char name[64] = "RACKRATE_";
        size_t at = strlen(name);
        for (const char *c = table[i].name; *c != '\0'; c++)
            name[at++] = (char)toupper((unsigned char)*c);
        name[at] = '\0';
        const char *value = getenv(name);
        if (value != NULL && *value != '\0' && !set_from(i, value, "environment", ret_error))
            return false;
    }
    return true;
}

/* Takes --name value and --name=value of known settings out of argv; everything else stays for the
 * subcommand. */
static bool read_flags(int *argc, char **argv, char **ret_error)
{
    int kept = 1;
    for (int i = 1; i < *argc; i++) {
        const char *argument = argv[i];
        const char *equals = strchr(argument, '=');
        size_t length = equals == NULL ? strlen(argument) : (size_t)(equals - argument);
        size_t index = SETTING_COUNT;
        if (length > 2 && strncmp(argument, "--", 2) == 0)
            index = find_setting(argument + 2, length - 2, '-');
        if (index == SETTING_COUNT) {
            argv[kept++] = argv[i];
            continue;
        }
        const char *value = equals == NULL ? argv[i + 1] : equals + 1;
        if (value == NULL) {
            if (asprintf(ret_error, "%s needs a value", argument) < 0)
                *ret_error = NULL;
            return false;
        }
        if (equals == NULL)
            i++;
        if (!set_from(index, value, "flag", ret_error))
            return false;
    }
    *argc = kept;
    argv[kept] = NULL;
    return true;
}

/* `.state` beside build/ in a checkout (the directory above the binary's has migrations/), else
 * /var/lib/rackrate. */
static char *default_state_dir(void)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    while (length > 0) {
        path[length] = '\0';
        char *slash = strrchr(path, '/');
        if (slash == NULL || slash == path)
            break;
        *slash = '\0';
        length = slash - path;
        char *marker = NULL;
        if (asprintf(&marker, "%s/migrations", path) < 0)
            break;
        bool found = access(marker, F_OK) == 0;
        free(marker);
        if (found) {
            char *state = NULL;
            return asprintf(&state, "%s/.state", path) < 0 ? NULL : state;
        }
    }
    return xstrdup("/var/lib/rackrate");
}

/* The public address with the port one higher. */
static char *default_ops_listen(const char *listen)
{
    const char *colon = strrchr(listen, ':');
    char *text = NULL;
    if (colon == NULL)
        return xstrdup("off");
    int port = atoi(colon + 1);
    if (asprintf(&text, "%.*s:%d", (int)(colon - listen), listen, port == 0 ? 0 : port + 1) < 0)
        return xstrdup("off");
    return text;
}

static const char *value_of(const char *name)
{
    return values[find_setting(name, strlen(name), '_')];
}

static bool fill_defaults(char **ret_error)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (values[i] == NULL && table[i].default_text != NULL &&
            !set_from(i, table[i].default_text, "default", ret_error))
            return false;
    }
    size_t state = find_setting("state_dir", 9, '_');
    if (values[state] == NULL) {
        values[state] = default_state_dir();
        sources[state] = "default";
    }
    size_t ops = find_setting("ops_listen", 10, '_');
    if (values[ops] == NULL) {
        values[ops] = default_ops_listen(value_of("listen"));
        sources[ops] = "default";
    }
    return true;
}

static void store(struct settings *settings)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        char *place = (char *)settings + table[i].offset;
        int64_t number = 0;
        bool boolean = false;
        switch (table[i].type) {
        case SETTING_TEXT:
            memcpy(place, &values[i], sizeof(values[i]));
            break;
        case SETTING_NUMBER:
            parse_number(&table[i], values[i], &number);
            memcpy(place, &number, sizeof(number));
            break;
        case SETTING_BOOLEAN:
            parse_boolean(values[i], &boolean);
            memcpy(place, &boolean, sizeof(boolean));
            break;
        }
    }
}

/* The file named by --config (taken out of argv) or RACKRATE_CONFIG, or NULL. */
static const char *named_file(int *argc, char **argv)
{
    const char *path = getenv("RACKRATE_CONFIG");
    int kept = 1;
    for (int i = 1; i < *argc; i++) {
        if (strcmp(argv[i], "--config") == 0 && argv[i + 1] != NULL)
            path = argv[++i];
        else if (strncmp(argv[i], "--config=", 9) == 0)
            path = argv[i] + 9;
        else
            argv[kept++] = argv[i];
    }
    *argc = kept;
    argv[kept] = NULL;
    return path != NULL && *path != '\0' ? path : NULL;
}

bool settings_load(struct settings *ret_settings, int *argc, char **argv, char **ret_error)
{
    *ret_error = NULL;
    const char *path = named_file(argc, argv);
    bool read = path != NULL ? read_file(path, true, ret_error)
                             : read_file("/etc/rackrate.conf", false, ret_error) &&
                                   read_file("rackrate.conf", false, ret_error);
    if (!read || !read_environment(ret_error) || !read_flags(argc, argv, ret_error) ||
        !fill_defaults(ret_error))
        return false;
    store(ret_settings);
    return true;
}

void settings_show(const char *name, const char *value)
{
    size_t index = find_setting(name, strlen(name), '_');
    if (index == SETTING_COUNT || strcmp(sources[index], "default") != 0)
        return;
    /* The text in force may be pointed to: it stays where it is. */
    values[index] = xstrdup(value);
}

void settings_print(bool json)
{
    struct buf out = {0};
    if (json)
        buf_add_char(&out, '{');
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const char *value = values[i] != NULL && table[i].secret ? "(set, not shown)" : values[i];
        if (json) {
            buf_add_json_key(&out, table[i].name);
            buf_add_char(&out, '{');
            buf_add_json_member_string(&out, "value", value);
            buf_add_json_member_string(&out, "source", values[i] == NULL ? "default" : sources[i]);
            buf_add_char(&out, '}');
        } else {
            buf_printf(&out, "%-26s = %-32s # %s\n", table[i].name, value == NULL ? "" : value,
                       values[i] == NULL ? "default" : sources[i]);
        }
    }
    if (json)
        buf_add_string(&out, "}\n");
    fwrite(out.data, 1, out.length, stdout);
    buf_free(&out);
}

void settings_print_help(void)
{
    puts("Settings (flag; or RACKRATE_NAME in the environment; or `name = value` in "
         "rackrate.conf):");
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        char flag[64];
        size_t at = 0;
        for (const char *c = table[i].name; *c != '\0'; c++)
            flag[at++] = *c == '_' ? '-' : *c;
        flag[at] = '\0';
        printf("  --%-26s %s%s%s%s\n", flag, table[i].help,
               table[i].default_text == NULL ? "" : " (default ",
               table[i].default_text == NULL ? "" : table[i].default_text,
               table[i].default_text == NULL ? "" : ")");
    }
    puts("  --config                     a configuration file (default: ./rackrate.conf, then "
         "/etc/rackrate.conf)");
}
