/* rackrate import: a catalogue or a Rackrate file becomes a provider's inventory. */
#include "server/cli/cli.h"

#include "server/api/upload_answer.h"
#include "server/base/timestamp.h"
#include "server/sync/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX_BYTES ((size_t)512 << 20)

static const char usage[] =
    "import FORMAT --provider SLUG [--as-of DATE] [--dry-run] [--confirm-removals] [--json] FILE\n"
    "FORMAT is skypilot (catalogue CSV) or rackrate (JSON, NDJSON or CSV, recognized by its "
    "content); gzip and zstd are undone.\n"
    "The file replaces the provider's inventory; rows that are refused are skipped and reported. "
    "With --as-of (an RFC 3339\n"
    "time or YYYY-MM-DD) rows that do not say when they were seen get that time. Exit 0 applied, 1 "
    "refused, 2 wrong usage.";

/* The whole file, malloc'd, or NULL and a message. */
static char *read_file(const char *path, size_t *ret_length)
{
    struct stat status;
    int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) {
        fprintf(stderr, "rackrate: %s: %s\n", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    struct buf content = {0};
    for (;;) {
        char *place = buf_reserve(&content, 1 << 20);
        ssize_t got = read(fd, place, 1 << 20);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || content.length > FILE_MAX_BYTES) {
            if (got < 0)
                fprintf(stderr, "rackrate: %s: %s\n", path, strerror(errno));
            else if (got > 0)
                fprintf(stderr, "rackrate: %s is larger than 512 MiB\n", path);
            close(fd);
            if (got != 0) {
                buf_free(&content);
                return NULL;
            }
            return buf_detach(&content, ret_length);
        }
        content.length += (size_t)got;
    }
}

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

/* Says how a write ended; gives the exit code. */
static int report(const struct cli *cli, enum write_outcome outcome, const struct upload *upload,
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
        fprintf(stderr,
                "rackrate: this would remove %lld offers, over half of the inventory; repeat with "
                "--confirm-removals "
                "if that is meant\n",
                (long long)result->change_set.removed);
        return EXIT_REFUSED;
    case WRITE_REPLAYED:
    case WRITE_KEY_REUSED:
    case WRITE_KEY_BUSY:
    case WRITE_NO_OFFER:
    case WRITE_PRECONDITION:
    case WRITE_REJECTED:
    case WRITE_MALFORMED:
    case WRITE_UNAVAILABLE:
    case WRITE_FAILED:
        fprintf(stderr, "rackrate: the database did not take the import; nothing was changed\n");
        return EXIT_REFUSED;
    }
    const struct change_set *set = &result->change_set;
    fprintf(stderr,
            "%lld rows read: %lld offers created, %lld updated, %lld unchanged, %lld removed; %lld "
            "rows skipped (no "
            "offer), %lld refused, %zu warnings\n",
            (long long)upload->rows_read, (long long)set->created, (long long)set->updated,
            (long long)set->unchanged, (long long)set->removed, (long long)upload->skipped,
            (long long)upload->rejected, upload->warnings.count);
    print_issues("refused", &upload->errors);
    print_issues("warning", &upload->warnings);
    if (cli->json)
        cli_print_line(&result->body);
    return EXIT_DONE;
}

static int apply(struct cli *cli, const struct decode_options *options, const struct upload *upload,
                 bool dry_run, bool confirm_removals, const char *format, struct arena *arena)
{
    struct cli_database database;
    if (!cli_database_open(cli->settings, &database))
        return EXIT_REFUSED;
    struct node *node = node_new(database.url);
    struct answer_closure closure = {.upload = upload, .dry_run = dry_run};
    struct write_request write = {
        .provider_slug = options->provider_slug,
        .mode = CHANGE_REPLACE,
        .upload = upload,
        .dry_run = dry_run,
        .skip_publish = true,
        .confirm_removals = confirm_removals,
        .record =
            {
                .kind = "import",
                .format = format,
                .actor = "cli",
                .rows_read = upload->rows_read,
                .rejected = upload->rejected,
                .skipped = upload->skipped,
                .confirms_all = true,
                .confirmed_at_us = options->as_of_us,
                .errors = &upload->errors,
                .warnings = &upload->warnings,
            },
        .render = render_upload_answer,
        .render_closure = &closure,
    };
    struct write_result result;
    enum write_outcome outcome = write_inventory(node, database.connection, &write, arena, &result);
    int code = report(cli, outcome, upload, &result, options->provider_slug);
    buf_free(&result.body);
    node_free(node);
    cli_database_close(&database);
    return code;
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

int cli_import(struct cli *cli)
{
    const char *provider = cli_take_option(cli, "--provider");
    const char *as_of = cli_take_option(cli, "--as-of");
    bool dry_run = cli_take_flag(cli, "--dry-run"),
         confirm = cli_take_flag(cli, "--confirm-removals");
    const char *format = cli->argc > 0 ? cli->argv[0] : "";
    bool skypilot = strcmp(format, "skypilot") == 0, rackrate = strcmp(format, "rackrate") == 0;
    struct decode_options options = {
        .format = skypilot ? FORMAT_SKYPILOT : FORMAT_UNKNOWN,
        .provider_slug = provider,
        .source_kind = SOURCE_IMPORT,
        .skip_bad_rows = true,
        .progress = isatty(STDERR_FILENO) ? show_progress : NULL,
    };
    if ((!skypilot && !rackrate) || cli->argc != 2 || provider == NULL ||
        !provider_slug_is_valid(provider) || !parse_as_of(as_of, &options.as_of_us))
        return cli_usage(usage);
    size_t length, decoded_length;
    char *file = read_file(cli->argv[1], &length), *owned = NULL;
    if (file == NULL)
        return EXIT_REFUSED;
    struct arena arena = {0};
    struct upload upload = {0};
    struct decode_error error = {0};
    const char *decoded;
    enum decode_status status =
        upload_decompress(encoding_of(file, length), file, length, UPLOAD_DECODED_MAX_BYTES,
                          &decoded, &decoded_length, &owned, &error);
    if (status == DECODE_OK)
        status = upload_decode(&options, decoded, decoded_length, &arena, &upload, &error);
    if (options.progress != NULL)
        fputc('\r', stderr);
    int code = EXIT_REFUSED;
    if (status == DECODE_OK)
        code = apply(cli, &options, &upload, dry_run, confirm,
                     skypilot ? "skypilot"
                              : upload_format_name(FORMAT_UNKNOWN, decoded, decoded_length),
                     &arena);
    else
        fprintf(stderr, "rackrate: %s: %s\n", cli->argv[1], error.message);
    arena_free(&arena);
    free(owned);
    free(file);
    return code;
}
