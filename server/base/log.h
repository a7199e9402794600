/* Structured log: one JSON object a line on standard error, with time, level, message and named
 * fields. Any thread; a line is one write. Never log a body, a key or an Authorization header. */
#ifndef RACKRATE_BASE_LOG_H
#define RACKRATE_BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARNING, LOG_LEVEL_ERROR };

/* Lines under `level` are not written. Call before threads start. */
void log_set_level(enum log_level level);

/* Plain text for people at a terminal instead of JSON. Call before threads start. */
void log_set_plain(bool plain);

/* Reads debug, info, warning, error; false for anything else. */
bool log_level_parse(const char *text, enum log_level *ret_level);

/* Writes one line. `message` is a fixed sentence; what varies goes into `fields`, a printf format
 * that yields `name=value name="quoted value"` pairs separated by spaces, or NULL. */
void log_line(enum log_level level, const char *message, const char *fields, ...)
    __attribute__((format(printf, 3, 4)));

#define log_debug(message, ...)   log_line(LOG_LEVEL_DEBUG, message, __VA_ARGS__)
#define log_info(message, ...)    log_line(LOG_LEVEL_INFO, message, __VA_ARGS__)
#define log_warning(message, ...) log_line(LOG_LEVEL_WARNING, message, __VA_ARGS__)
#define log_error(message, ...)   log_line(LOG_LEVEL_ERROR, message, __VA_ARGS__)

#endif
