/* log.c: levels and the one sink. */
#include "base/log.h"

#include "lockstep/version.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;  /* on the command line */
    const char *label; /* in front of a line */
} levels[] = {
    [LS_LOG_ERROR] = { "error", "error" }, [LS_LOG_WARN] = { "warn", "warning" },
    [LS_LOG_INFO] = { "info", "info" },    [LS_LOG_DEBUG] = { "debug", "debug" },
    [LS_LOG_TRACE] = { "trace", "trace" },
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the sink and serialises its calls */
static log_sink sink_fn;
static void *sink_self;
/* The most detailed level that goes anywhere; -1 without a sink, so that one load decides. */
static atomic_int threshold = -1;
static log_level wanted = LS_LOG_WARN; /* guarded by the lock */

static void update_threshold(void)
{
    atomic_store_explicit(&threshold, sink_fn != NULL ? (int)wanted : -1, memory_order_relaxed);
}

void log_set_sink(log_sink sink, void *self)
{
    pthread_mutex_lock(&lock);
    sink_fn = sink;
    sink_self = self;
    update_threshold();
    pthread_mutex_unlock(&lock);
}

void log_set_level(log_level level)
{
    pthread_mutex_lock(&lock);
    wanted = level;
    update_threshold();
    pthread_mutex_unlock(&lock);
}

bool log_on(log_level level)
{
    return (int)level <= atomic_load_explicit(&threshold, memory_order_relaxed);
}

void log_write(log_level level, const char *fmt, ...)
{
    if (!log_on(level))
        return;
    char small[512];
    char *line = small, *large = NULL;
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(small, sizeof small, fmt, args);
    va_end(args);
    if (length < 0)
        return;
    if ((size_t)length >= sizeof small && (large = malloc((size_t)length + 1)) != NULL) {
        va_start(args, fmt);
        vsnprintf(large, (size_t)length + 1, fmt, args);
        va_end(args);
        line = large;
    }
    /* One message is one line. */
    for (char *c = line; (c = strpbrk(c, "\r\n")) != NULL;)
        *c = ' ';
    pthread_mutex_lock(&lock);
    if (sink_fn != NULL)
        sink_fn(sink_self, level, line);
    pthread_mutex_unlock(&lock);
    free(large);
}

bool log_level_parse(const char *name, log_level *out)
{
    for (size_t i = 0; i < LS_COUNT_OF(levels); i++)
        if (strcmp(name, levels[i].name) == 0) {
            *out = (log_level)i;
            return true;
        }
    return false;
}

const char *log_level_name(log_level level)
{
    return (size_t)level < LS_COUNT_OF(levels) ? levels[level].name : "unknown";
}

void log_sink_file(void *self, log_level level, const char *line)
{
    const char *label = (size_t)level < LS_COUNT_OF(levels) ? levels[level].label : "unknown";
    fprintf(self, "lockstep: %s: %s\n", label, line);
}
