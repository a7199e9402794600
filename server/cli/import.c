/* rackrate import: a catalogue or a Rackrate file becomes a provider's inventory. */
#include "server/cli/cli.h"

#include "db/alias.h"
#include "db/provider.h"
#include "server/api/upload_answer.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/sync/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "import FORMAT [--provider SLUG] [--as-of DATE] [--dry-run] [--confirm-removals] [--json] "
    "FILE...\n"
    "FORMAT is skypilot (catalogue CSV, with --provider), gpurentalprices (a day's snapshot of "
    "many providers) or rackrate\n"
    "(JSON, NDJSON or CSV, recognized by its content; without --provider every row names its own); "
    "gzip and zstd are undone.\n"
    "Each provider in a file has its inventory replaced, others are left alone; rows that are "
    "refused are skipped and\n"
    "reported. A provider that only the file names is added. With --as-of (an RFC 3339 time or "
    "YYYY-MM-DD) rows that do not\n"
    "say when they were seen get that time. Exit 0 applied, 1 refused, 2 wrong usage.\n"
    "FORMAT latency is measured round trips (CSV with from, to, median_ms and what else is known, "
    "or "
    "the JSON of\n"
    "POST /v1/latency; src, dst and rtt_ms will do): all of a file or nothing; with --provider its "
    "region names are that\n"
    "provider's, otherwise they are everybody's or all of one cloud's.";

static enum upload_encoding encoding_of(const char *bytes, size_t length)
{
    if (length >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0)
        return ENCODING_GZIP;
    if (length >= 4 && memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0)
        return ENCODING_ZSTD;
    return ENCODING_IDENTITY;
}

static void show_progress(void *closure, size_t bytes, int64_t rows)
{
    (void)closure;
    (void)bytes;
    fprintf(stderr, "\r%lld rows read", (long long)rows);
    fflush(stderr);
}

static void print_issues(const char *what, const struct row_issues *issues)
{
    for (size_t i = 0; i < issues->count && i < 20; i++)
        fprintf(stderr, "  %s row %lld%s%s %s: %s (%s)\n", what, (long long)issues->items[i].row,
                issues->items[i].external_id == NULL ? "" : " ",
                issues->items[i].external_id == NULL ? "" : issues->items[i].external_id,
                issues->items[i].pointer, issues->items[i].message, issues->items[i].code);
    if (issues->count > 20)
        fprintf(stderr, "  … and %zu more; all of them are kept with the upload\n",
                issues->count - 20);
}

/* Everything an import needs beside its file. */
struct import {
    struct cli *cli;
    struct decode_options options;
    const char *format;
    bool dry_run, confirm_removals, adds_providers;
    struct cli_database database;
    struct node *node;
    struct buf results;  /* JSON objects of all providers, separated by commas */
    long long totals[6]; /* created, updated, unchanged, removed, skipped, rejected */
};

/* Says how a write ended; gives the exit code. */
static int report(struct import *import, enum write_outcome outcome, const struct upload *upload,
                  struct write_result *result, const char *provider)
{
    switch (outcome) {
    case WRITE_DONE:
        break;
    case WRITE_NO_PROVIDER:
        fprintf(stderr,
                "rackrate: no provider is called %s; add it first: rackrate provider add %s --name "
                "NAME\n",
                provider, provider);
        return EXIT_REFUSED;
    case WRITE_MANY_REMOVALS:
        fprintf(
            stderr,
            "rackrate: %s: this would remove %lld offers, over half of the inventory; repeat with "
            "--confirm-removals if that is meant\n",
            provider, (long long)result->change_set.removed);
        return EXIT_REFUSED;
    case WRITE_REPLAYED:
    case WRITE_KEY_REUSED:
    case WRITE_KEY_BUSY:
    case WRITE_NO_OFFER:
    case WRITE_PRECONDITION:
    case WRITE_REJECTED:
    case WRITE_MALFORMED:
    case WRITE_BUSY:
    case WRITE_UNAVAILABLE:
    case WRITE_FAILED:
        fprintf(stderr, "rackrate: %s: the database did not take the import; nothing was changed\n",
                provider);
        return EXIT_REFUSED;
    }
    const struct change_set *set = &result->change_set;
    const long long counts[6] = {set->created, set->updated,    set->unchanged,
                                 set->removed, upload->skipped, upload->rejected};
    for (size_t i = 0; i < 6; i++)
        import->totals[i] += counts[i];
    fprintf(stderr,
            "%s: %lld rows read: %lld offers created, %lld updated, %lld unchanged, %lld removed; "
            "%lld rows skipped (no "
            "GPU in them), %lld refused, %zu warnings\n",
            provider, (long long)upload->rows_read, counts[0], counts[1], counts[2], counts[3],
            counts[4], counts[5], upload->warnings.count);
    print_issues("refused", &upload->errors);
    print_issues("warning", &upload->warnings);
    if (import->results.length > 0)
        buf_add_char(&import->results, ',');
    buf_add(&import->results, result->body.data, result->body.length);
    return EXIT_DONE;
}

/* Adds a provider that only the file names, under its slug. */
static bool ensure_provider(struct import *import, const char *slug, struct arena *arena)
{
    struct provider provider;
    enum db_status status = db_provider_find(import->database.connection, slug, arena, &provider);
    if (status != DB_NONE || import->dry_run)
        return status == DB_OK || status == DB_NONE;
    provider = (struct provider){
        .slug = slug,
        .name = slug,
        .kind = PROVIDER_GPU_CLOUD,
        .freshness_hours = PROVIDER_FRESHNESS_HOURS_DEFAULT,
        .trust = {.sla_percent_milli = UNKNOWN,
                  .burn_in = UNKNOWN,
                  .monitoring = UNKNOWN,
                  .on_site = UNKNOWN},
        .confirmed_at_us = TIMESTAMP_UNKNOWN,
    };
    fprintf(stderr, "%s: added (give it a name with `rackrate provider rename %s --name NAME`)\n",
            slug, slug);
    return db_provider_add(import->database.connection, &provider, "cli") == DB_OK;
}

static int apply(struct import *import, const struct upload *upload, const char *slug,
                 struct arena *arena)
{
    struct answer_closure closure = {.upload = upload, .dry_run = import->dry_run};
    struct write_request write = {
        .provider_slug = slug,
        .mode = CHANGE_REPLACE,
        .upload = upload,
        .names = import->options.aliases,
        .dry_run = import->dry_run,
        .skip_publish = true,
        .confirm_removals = import->confirm_removals,
        .record =
            {
                .kind = "import",
                .format = import->format,
                .actor = "cli",
                .rows_read = upload->rows_read,
                .rejected = upload->rejected,
                .skipped = upload->skipped,
                .confirms_all = true,
                .confirmed_at_us = import->options.as_of_us,
                .errors = &upload->errors,
                .warnings = &upload->warnings,
            },
        .render = render_upload_answer,
        .render_closure = &closure,
    };
    struct write_result result;
    if (import->adds_providers && !ensure_provider(import, slug, arena)) {
        fprintf(stderr, "rackrate: %s can't be added\n", slug);
        return EXIT_REFUSED;
    }
    enum write_outcome outcome =
        write_inventory(import->node, import->database.connection, &write, arena, &result);
    /* A dry run of a provider that would be added has nothing to differ from. */
    bool would_be_added = outcome == WRITE_NO_PROVIDER && import->dry_run && import->adds_providers;
    int code = EXIT_DONE;
    if (would_be_added)
        fprintf(stderr, "%s: would be added with %zu offers\n", slug, upload->offer_count);
    else
        code = report(import, outcome, upload, &result, slug);
    buf_free(&result.body);
    return code;
}

/* One file: decoded for the named provider, or taken apart by provider. */
static int import_decoded(struct import *import, const char *path, const char *bytes, size_t length)
{
    struct arena arena = {0};
    struct decode_error error = {0};
    struct provider_upload one = {.slug = import->options.provider_slug}, *uploads = &one;
    size_t count = 1;
    enum decode_status status =
        import->adds_providers
            ? upload_split(&import->options, bytes, length, &arena, &uploads, &count, &error)
            : upload_decode(&import->options, bytes, length, &arena, &one.upload, &error);
    if (import->options.progress != NULL)
        fputc('\r', stderr);
    int code = EXIT_DONE;
    if (status != DECODE_OK) {
        fprintf(stderr, "rackrate: %s: %s\n", path, error.message);
        code = EXIT_REFUSED;
    }
    for (size_t i = 0; code == EXIT_DONE && i < count; i++)
        code = apply(import, &uploads[i].upload, uploads[i].slug, &arena);
    arena_free(&arena);
    return code;
}

static int import_file(struct import *import, const char *path)
{
    size_t length, decoded_length;
    char *file = cli_read_file(path, &length), *owned = NULL;
    const char *decoded;
    struct decode_error error = {0};
    if (file == NULL)
        return EXIT_REFUSED;
    enum decode_status status =
        upload_decompress(encoding_of(file, length), file, length, UPLOAD_DECODED_MAX_BYTES,
                          &decoded, &decoded_length, &owned, &error);
    int code = EXIT_REFUSED;
    if (status == DECODE_OK) {
        if (import->options.format == FORMAT_UNKNOWN)
            import->format = upload_format_name(FORMAT_UNKNOWN, decoded, decoded_length);
        code = import_decoded(import, path, decoded, decoded_length);
    } else {
        fprintf(stderr, "rackrate: %s: %s\n", path, error.message);
    }
    free(owned);
    free(file);
    return code;
}

/* The last line: the one provider's answer, or all of them with what they add up to. */
static void print_results(struct import *import, int files)
{
    struct buf line = {0};
    if (!import->adds_providers && files == 1) {
        buf_add(&line, import->results.data, import->results.length);
    } else {
        static const char *const names[6] = {"created", "updated", "unchanged",
                                             "removed", "skipped", "rejected"};
        buf_add_char(&line, '{');
        for (size_t i = 0; i < 6; i++)
            buf_add_json_member_int(&line, names[i], import->totals[i]);
        buf_add_json_key(&line, "uploads");
        buf_add_char(&line, '[');
        buf_add(&line, import->results.data, import->results.length);
        buf_add_string(&line, "]}");
    }
    cli_print_line(&line);
}

/* An RFC 3339 time, or a date meaning its noon UTC. */
static bool parse_as_of(const char *text, int64_t *ret_us)
{
    char whole[64];
    if (text == NULL) {
        *ret_us = TIMESTAMP_UNKNOWN;
        return true;
    }
    snprintf(whole, sizeof(whole), strlen(text) == 10 ? "%sT12:00:00Z" : "%s", text);
    return timestamp_parse(whole, strlen(whole), ret_us);
}

/* Says what of the arguments is wrong. */
static int refuse(const struct import *import, const char *provider, const char *as_of)
{
    int64_t ignored;
    const char *format = import->format;
    bool known = strcmp(format, "skypilot") == 0 || strcmp(format, "rackrate") == 0 ||
                 strcmp(format, "gpurentalprices") == 0;
    if (*format != '\0' && !known)
        fprintf(stderr, "rackrate: no format is called %s\n", format);
    else if (known && strcmp(format, "skypilot") == 0 && provider == NULL)
        fprintf(stderr, "rackrate: a SkyPilot catalogue names no provider: --provider SLUG does\n");
    else if (provider != NULL && !provider_slug_is_valid(provider))
        fprintf(stderr, "rackrate: \"%s\" is no provider's slug\n", provider);
    else if (!parse_as_of(as_of, &ignored))
        fprintf(stderr, "rackrate: --as-of is a date or a time such as 2026-08-22, not \"%s\"\n",
                as_of);
    return cli_usage(usage);
}

int cli_import(struct cli *cli)
{
    const char *provider = cli_take_option(cli, "--provider");
    const char *as_of = cli_take_option(cli, "--as-of");
    struct import import = {
        .cli = cli,
        .dry_run = cli_take_flag(cli, "--dry-run"),
        .confirm_removals = cli_take_flag(cli, "--confirm-removals"),
    };
    import.format = cli->argc > 0 ? cli->argv[0] : "";
    if (strcmp(import.format, "latency") == 0) {
        int64_t as_of_us;
        if (cli->argc < 2 || import.dry_run || import.confirm_removals ||
            (provider != NULL && !provider_slug_is_valid(provider)) ||
            !parse_as_of(as_of, &as_of_us))
            return cli_usage(usage);
        return cli_import_latency(cli, provider, as_of_us);
    }
    bool skypilot = strcmp(import.format, "skypilot") == 0,
         rackrate = strcmp(import.format, "rackrate") == 0;
    bool snapshot = strcmp(import.format, "gpurentalprices") == 0;
    import.adds_providers = provider == NULL;
    import.options = (struct decode_options){
        .format = skypilot   ? FORMAT_SKYPILOT
                  : snapshot ? FORMAT_GPURENTALPRICES
                             : FORMAT_UNKNOWN,
        .provider_slug = provider,
        .source_kind = SOURCE_IMPORT,
        .skip_bad_rows = true,
        .progress = isatty(STDERR_FILENO) ? show_progress : NULL,
    };
    if ((!skypilot && !rackrate && !snapshot) || cli->argc < 2 || (skypilot && provider == NULL) ||
        (provider != NULL && (cli->argc != 2 || !provider_slug_is_valid(provider))) ||
        !parse_as_of(as_of, &import.options.as_of_us))
        return refuse(&import, provider, as_of);
    if (!cli_database_open(cli->settings, &import.database))
        return EXIT_REFUSED;
    import.node = node_new(import.database.url);
    struct arena arena = {0};
    struct alias_sets names;
    int code = EXIT_DONE;
    if (db_alias_sets(import.database.connection, &arena, &names) == DB_OK) {
        import.options.aliases = &names;
    } else {
        fprintf(stderr, "rackrate: operators' names could not be read from the database\n");
        code = EXIT_REFUSED;
    }
    for (int i = 1; code == EXIT_DONE && i < cli->argc; i++)
        code = import_file(&import, cli->argv[i]);
    if (cli->json && code == EXIT_DONE)
        print_results(&import, cli->argc - 1);
    buf_free(&import.results);
    arena_free(&arena);
    node_free(import.node);
    cli_database_close(&import.database);
    return code;
}
