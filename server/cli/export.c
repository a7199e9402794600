/* rackrate export: the market, or one provider's inventory, as a file other tools read. */
#include "server/cli/cli.h"

#include "server/sync/export.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char usage[] = "export FORMAT [--provider SLUG] [--samples] [--output FILE]\n"
                            "FORMAT is skypilot (catalogue CSV for schedulers), csv (a price a "
                            "row) or ndjson (everything). Samples are left out\n"
                            "unless asked for. Writes to standard output without --output; says on "
                            "standard error what the format can't hold and whom\n"
                            "to credit.";

static int write_out(const char *path, const struct export_result *result)
{
    FILE *out = path == NULL ? stdout : fopen(path, "w");
    if (out == NULL) {
        fprintf(stderr, "rackrate: %s: %s\n", path, strerror(errno));
        return EXIT_REFUSED;
    }
    bool good = fwrite(result->text.data, 1, result->text.length, out) == result->text.length;
    good = (path == NULL ? fflush(out) : fclose(out)) == 0 && good;
    if (!good)
        fprintf(stderr, "rackrate: %s could not be written: %s\n",
                path == NULL ? "the export" : path, strerror(errno));
    return good ? EXIT_DONE : EXIT_REFUSED;
}

int cli_export(struct cli *cli)
{
    struct export_request request = {
        .provider_slug = cli_take_option(cli, "--provider"),
        .with_samples = cli_take_flag(cli, "--samples"),
    };
    const char *path = cli_take_option(cli, "--output");
    if (cli->argc != 1 || !export_format_parse(cli->argv[0], &request.format))
        return cli_usage(usage);
    struct cli_database database;
    if (!cli_database_open(cli->settings, &database))
        return EXIT_REFUSED;
    struct export_result result;
    enum db_status status = export_market(database.connection, &request, &result);
    int code = EXIT_REFUSED;
    if (status == DB_OK) {
        buf_reserve(&result.text, 0); /* an empty market is an empty file, not a missing one */
        code = write_out(path, &result);
        fprintf(stderr, "%zu offers written", result.offers);
        if (result.left_out > 0)
            fprintf(stderr, ", %zu left out because the format can't hold any of their prices",
                    result.left_out);
        if (result.offers == 0 && !request.with_samples)
            fprintf(stderr, " (sample offers are left out; --samples takes them in)");
        fprintf(stderr, "%s%s\n", result.attributions.length > 0 ? "; data from " : "",
                result.attributions.length > 0 ? result.attributions.data : "");
    } else {
        fprintf(stderr,
                status == DB_NONE ? "rackrate: no provider is called %s\n"
                                  : "rackrate: the database did not answer\n",
                request.provider_slug);
    }
    buf_free(&result.text);
    buf_free(&result.attributions);
    cli_database_close(&database);
    return code;
}
