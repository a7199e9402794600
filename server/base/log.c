/* A line is built in a buffer of its own and written in one call, so that lines of several threads
 * never mix. */
#include "server/base/log.h"

#include "server/base/buf.h"
#include "server/base/timestamp.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Atomic int minimum_level = LOG_LEVEL_INFO;
static _Atomic bool plain_text;

static const char *const level_names[] = {"debug", "info", "warning", "error"};

void log_set_level(enum log_level level)
{
    minimum_level = (int)level;
}

void log_set_plain(bool plain)
{
    plain_text = plain;
}

bool log_level_parse(const char *text, enum log_level *ret_level)
{
    for (size_t i = 0; i < sizeof(level_names) / sizeof(level_names[0]); i++) {
        if (strcmp(text, level_names[i]) == 0) {
            *ret_level = (enum log_level)i;
            return true;
        }
    }
    return false;
}

/* Replaces what is no valid UTF-8 text for JSON by `?`; log lines may carry bytes from anywhere. */
static void sanitize(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c != '\0'; c++) {
        if (*c >= 0x80 || (*c < 0x20 && *c != '\n' && *c != '\t'))
            *c = '?';
    }
}

/* Turns `a=1 b="x y"` into JSON members. */
static void add_fields(struct buf *line, char *fields)
{
    char *at = fields;
    while (*at != '\0') {
        while (*at == ' ')
            at++;
        char *equals = strchr(at, '=');
        if (equals == NULL)
            break;
        *equals = '\0';
        char *value = equals + 1;
        char *end;
        if (*value == '"') {
            value++;
            end = strchr(value, '"');
        } else {
            end = strchr(value, ' ');
        }
        char *next = end == NULL ? value + strlen(value) : end + 1;
        if (end != NULL)
            *end = '\0';
        buf_add_json_member_string(line, at, value);
        at = next;
    }
}

void log_line(enum log_level level, const char *message, const char *fields, ...)
{
    if ((int)level < minimum_level)
        return;
    char *text = NULL;
    if (fields != NULL) {
        va_list arguments;
        va_start(arguments, fields);
        if (vasprintf(&text, fields, arguments) < 0)
            text = NULL;
        va_end(arguments);
    }
    if (text != NULL)
        sanitize(text);
    char now[TIMESTAMP_TEXT_SIZE];
    timestamp_print(timestamp_now_us(), now);
    struct buf line = {0};
    if (plain_text) {
        buf_printf(&line, "%s %-7s %s%s%s\n", now, level_names[level], message,
                   text == NULL ? "" : "  ", text == NULL ? "" : text);
    } else {
        buf_add_char(&line, '{');
        buf_add_json_member_string(&line, "time", now);
        buf_add_json_member_string(&line, "level", level_names[level]);
        buf_add_json_member_string(&line, "message", message);
        if (text != NULL)
            add_fields(&line, text);
        buf_add_string(&line, "}\n");
    }
    ssize_t written = write(STDERR_FILENO, line.data, line.length);
    (void)written; /* nowhere left to report it */
    buf_free(&line);
    free(text);
}
