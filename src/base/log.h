/* log.h: messages with a level, to wherever the program wants them. The library logs, it never prints: with
 * no sink set, nothing is written. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stdio.h>

typedef enum ls_log_level { LS_LOG_ERROR, LS_LOG_WARN, LS_LOG_INFO, LS_LOG_DEBUG, LS_LOG_TRACE } ls_log_level;

/* Called with a complete line, without newline. Calls are serialised. */
typedef void (*ls_log_sink)(void *self, ls_log_level level, const char *line);

void ls_log_set_sink(ls_log_sink sink, void *self); /* NULL: none */
void ls_log_set_level(ls_log_level level);          /* default LS_LOG_WARN */
bool ls_log_on(ls_log_level level);
void ls_log_write(ls_log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "error", "warn", "info", "debug", "trace"; false for anything else. */
bool ls_log_level_parse(const char *name, ls_log_level *out);
const char *ls_log_level_name(ls_log_level level);
/* A ready sink: self is a FILE *. Writes "lockstep: warning: line". */
void ls_log_sink_file(void *self, ls_log_level level, const char *line);

#define ls_log_error(...) ls_log_write(LS_LOG_ERROR, __VA_ARGS__)
#define ls_log_warn(...) ls_log_write(LS_LOG_WARN, __VA_ARGS__)
#define ls_log_info(...) ls_log_write(LS_LOG_INFO, __VA_ARGS__)
#define ls_log_debug(...) (ls_log_on(LS_LOG_DEBUG) ? ls_log_write(LS_LOG_DEBUG, __VA_ARGS__) : (void)0)

#endif
