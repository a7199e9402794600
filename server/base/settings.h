/* The settings: one table of name, type, default and bounds feeds flags (--listen), environment
 * (RACKRATE_LISTEN), rackrate.conf (listen = …), `rackrate config` and --help. Read once in main,
 * constant afterwards. */
#ifndef RACKRATE_BASE_SETTINGS_H
#define RACKRATE_BASE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct settings {
    const char *listen;       /* RACKRATE_LISTEN, default 127.0.0.1:8080 */
    const char *ops_listen;   /* RACKRATE_OPS_LISTEN, default the public port + 1; `off` for none */
    const char *database_url; /* RACKRATE_DATABASE_URL, default NULL: the private cluster (secret in
                                 print) */
    const char
        *state_dir; /* RACKRATE_STATE_DIR, default .state beside build/, else /var/lib/rackrate */
    const char *log_level;            /* info */
    const char *log_format;           /* auto (plain on a terminal), plain, json */
    bool sample;                      /* RACKRATE_SAMPLE, default 1 */
    int64_t loops;                    /* 0: one per core */
    int64_t workers;                  /* 4 */
    int64_t queue_limit;              /* 1024 waiting requests */
    int64_t body_budget_mib;          /* 512 */
    int64_t connection_limit;         /* 4096 */
    int64_t header_timeout_ms;        /* 10000 */
    int64_t body_timeout_ms;          /* 30000 */
    int64_t idle_timeout_ms;          /* 60000 */
    int64_t drain_timeout_ms;         /* 15000 */
    int64_t query_cache_mib;          /* 32; 0 none */
    int64_t stream_limit;             /* 32 answers streamed at once */
    int64_t stream_timeout_ms;        /* 900000 */
    int64_t rate_limit_per_minute;    /* per client address, 0 off; loopback exempt */
    int64_t upload_retention_days;    /* 90 */
    int64_t tombstone_retention_days; /* 30 */
    int64_t audit_retention_days;     /* 730 */
};

/* Reads conf file (--config or RACKRATE_CONFIG, default ./rackrate.conf if there,
 * /etc/rackrate.conf), environment, then flags, the later winning; consumes its flags from
 * *argc/argv and leaves the rest. False and *ret_error (malloc'd) naming the setting and source. */
bool settings_load(struct settings *ret_settings, int *argc, char **argv, char **ret_error);

/* What settings_print prints as a setting's value where it was left to its default, since what is
 * in force depends on more than the settings. */
void settings_show(const char *name, const char *value);

/* Prints `name = value  # source` for all, secrets masked. With json, one JSON object. */
void settings_print(bool json);

/* The flags for --help. */
void settings_print_help(void);

#endif
