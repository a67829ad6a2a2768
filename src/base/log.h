/* log.h: messages with a level, to wherever the program wants them. The library logs, it never prints: with
 * no sink set, nothing is written. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stdio.h>

typedef enum log_level { LS_LOG_ERROR, LS_LOG_WARN, LS_LOG_INFO, LS_LOG_DEBUG, LS_LOG_TRACE } log_level;

/* Called with a complete line, without newline. Calls are serialised. */
typedef void (*log_sink)(void *self, log_level level, const char *line);

void log_set_sink(log_sink sink, void *self); /* NULL: none */
void log_set_level(log_level level);          /* default LS_LOG_WARN */
bool log_on(log_level level);
void log_write(log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "error", "warn", "info", "debug", "trace"; false for anything else. */
bool log_level_parse(const char *name, log_level *out);
const char *log_level_name(log_level level);
/* A ready sink: self is a FILE *. Writes "lockstep: warning: line". */
void log_sink_file(void *self, log_level level, const char *line);

#define log_error(...) log_write(LS_LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_write(LS_LOG_WARN, __VA_ARGS__)
#define log_info(...) log_write(LS_LOG_INFO, __VA_ARGS__)
#define log_debug(...) (log_on(LS_LOG_DEBUG) ? log_write(LS_LOG_DEBUG, __VA_ARGS__) : (void)0)

#endif
