/* rackrate fixing: what the server does by itself once a day, for days past and for corrections. */
#include "server/cli/cli.h"

#include "server/base/buf.h"
#include "server/base/day.h"
#include "server/base/timestamp.h"
#include "server/market/book.h"
#include "server/sync/fixing.h"

#include <stdio.h>
#include <string.h>

#define TRIES 20

static const char usage[] =
    "fixing publish [--json]                       every closed day that has no fixings yet\n"
    "       rackrate fixing revise FROM [TO] [--json]      a further revision of closed days, from "
    "the "
    "record as it is now\n"
    "       rackrate fixing status [--json]                the last day published, and how many "
    "revisions in all\n"
    "The server publishes each day by itself a minute after it closed. A day is a UTC date such as "
    "2026-07-05.";

/* What was done, added up. */
struct result {
    size_t days;
    size_t rows;
    int32_t first, last;
};

static void note(struct cli *cli, struct result *result, int32_t day, size_t rows)
{
    char text[DAY_TEXT_SIZE];
    day_print(day, text);
    if (result->days++ == 0)
        result->first = day;
    result->last = day;
    result->rows += rows;
    if (!cli->json)
        printf("%s  %zu figures\n", text, rows);
}

static void print(struct cli *cli, const struct result *result)
{
    struct buf line = {0};
    char first[DAY_TEXT_SIZE], last[DAY_TEXT_SIZE];
    if (!cli->json)
        return;
    day_print(result->first, first);
    day_print(result->last, last);
    buf_add_char(&line, '{');
    buf_add_json_member_int(&line, "days", (int64_t)result->days);
    buf_add_json_member_int(&line, "figures", (int64_t)result->rows);
    buf_add_json_member_string(&line, "from", result->days == 0 ? NULL : first);
    buf_add_json_member_string(&line, "to", result->days == 0 ? NULL : last);
    buf_add_char(&line, '}');
    cli_print_line(&line);
}

/* Publishes one day; where a server publishes just now, or something was written meanwhile, again.
 */
static enum fixing_outcome publish_day(struct node *node, struct db_connection *connection,
                                       int32_t day, bool revise, size_t *ret_rows)
{
    enum fixing_outcome outcome = FIXING_BUSY;
    for (int i = 0; i < TRIES && outcome == FIXING_BUSY; i++) {
        if (!node_catch_up(node, connection))
            return FIXING_FAILED;
        outcome = fixing_publish_day(node, connection, day, revise, "cli", ret_rows);
    }
    return outcome;
}

static int publish_due(struct cli *cli, struct node *node, struct db_connection *connection)
{
    struct result result = {0};
    enum fixing_outcome outcome = FIXING_PUBLISHED;
    while (outcome == FIXING_PUBLISHED) {
        int32_t day;
        size_t rows = 0;
        if (!fixing_next_due(connection, timestamp_now_us(), &day)) {
            outcome = FIXING_FAILED;
            break;
        }
        if (day == FIXING_NO_DAY) {
            outcome = FIXING_NOTHING_DUE;
            break;
        }
        outcome = publish_day(node, connection, day, false, &rows);
        if (outcome == FIXING_PUBLISHED)
            note(cli, &result, day, rows);
        else if (outcome == FIXING_NOTHING_DUE)
            outcome = FIXING_PUBLISHED; /* a server was faster */
    }
    if (outcome != FIXING_NOTHING_DUE)
        fprintf(stderr, "rackrate: not all days could be published; try again\n");
    print(cli, &result);
    return outcome == FIXING_NOTHING_DUE ? EXIT_DONE : EXIT_REFUSED;
}

static int revise(struct cli *cli, struct node *node, struct db_connection *connection,
                  int32_t from, int32_t to)
{
    struct result result = {0};
    if (to > fixing_last_closed_day(timestamp_now_us())) {
        fprintf(stderr, "rackrate: the last of these days is not closed yet\n");
        return EXIT_REFUSED;
    }
    enum fixing_outcome outcome = FIXING_PUBLISHED;
    for (int32_t day = from; day <= to && outcome == FIXING_PUBLISHED; day++) {
        size_t rows = 0;
        outcome = publish_day(node, connection, day, true, &rows);
        if (outcome == FIXING_PUBLISHED)
            note(cli, &result, day, rows);
    }
    if (outcome != FIXING_PUBLISHED)
        fprintf(stderr, "rackrate: not all days could be published; try again\n");
    print(cli, &result);
    return outcome == FIXING_PUBLISHED ? EXIT_DONE : EXIT_REFUSED;
}

static int status(struct cli *cli, struct node *node)
{
    struct book *book = node_fixings(node);
    struct buf line = {0};
    char day[DAY_TEXT_SIZE];
    bool any = book_version(book) > 0;
    if (any)
        day_print(book_last_day(book), day);
    buf_add_char(&line, '{');
    buf_add_json_member_string(&line, "last_day", any ? day : NULL);
    buf_add_json_member_int(&line, "publications", book_version(book));
    buf_add_char(&line, '}');
    if (cli->json)
        cli_print_line(&line);
    else
        printf("last day %s, %lld publications\n", any ? day : "none",
               (long long)book_version(book));
    buf_free(&line);
    book_release(book);
    return EXIT_DONE;
}

int cli_fixing(struct cli *cli)
{
    const char *verb = cli->argc > 0 ? cli->argv[0] : "";
    bool publishing = strcmp(verb, "publish") == 0, revising = strcmp(verb, "revise") == 0,
         asking = strcmp(verb, "status") == 0;
    int32_t from = 0, to = 0;
    if ((!publishing && !revising && !asking) || (!revising && cli->argc != 1) ||
        (revising && (cli->argc < 2 || cli->argc > 3 || !day_parse(cli->argv[1], &from))) ||
        (revising && !day_parse(cli->argv[cli->argc - 1], &to)) || from > to)
        return cli_usage(usage);
    struct cli_database database;
    if (!cli_database_open(cli->settings, &database))
        return EXIT_REFUSED;
    struct node *node = node_new(database.url);
    int code = EXIT_REFUSED;
    if (!node_catch_up(node, database.connection))
        fprintf(stderr, "rackrate: the offers could not be loaded\n");
    else
        code = publishing ? publish_due(cli, node, database.connection)
               : revising ? revise(cli, node, database.connection, from, to)
                          : status(cli, node);
    node_free(node);
    cli_database_close(&database);
    return code;
}
