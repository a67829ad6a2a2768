/* test_log.c: levels, the sink, and whole lines from many threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/log.h"
#include "lockstep/version.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct heard {
    unsigned count;
    log_level level;
    char line[2000];
} heard;

static void hear(void *self, log_level level, const char *line)
{
    heard *h = self;
    h->count++;
    h->level = level;
    snprintf(h->line, sizeof h->line, "%s", line);
}

static void silent_without_sink(void **state)
{
    (void)state;
    log_set_sink(NULL, NULL);
    log_set_level(LS_LOG_TRACE);
    assert_false(log_on(LS_LOG_ERROR));
    log_error("nobody hears this");
    log_set_level(LS_LOG_WARN);
}

static void levels(void **state)
{
    (void)state;
    heard h = { 0 };
    log_set_sink(hear, &h);
    assert_true(log_on(LS_LOG_ERROR));
    assert_true(log_on(LS_LOG_WARN));
    assert_false(log_on(LS_LOG_INFO));
    log_warn("core %d", 3);
    assert_int_equal(h.count, 1);
    assert_int_equal(h.level, LS_LOG_WARN);
    assert_string_equal(h.line, "core 3");
    log_info("not now");
    log_debug("nor this");
    assert_int_equal(h.count, 1);
    log_set_level(LS_LOG_DEBUG);
    log_debug("now %s", "yes");
    assert_string_equal(h.line, "now yes");
    log_set_level(LS_LOG_ERROR);
    log_warn("too low");
    assert_int_equal(h.count, 2);
    log_set_level(LS_LOG_WARN);
    log_set_sink(NULL, NULL);
}

static void one_line_of_any_length(void **state)
{
    (void)state;
    heard h = { 0 };
    log_set_sink(hear, &h);
    log_error("two\nlines\r");
    assert_string_equal(h.line, "two lines ");
    log_error("%1500d", 7);
    assert_int_equal(strlen(h.line), 1500);
    log_set_sink(NULL, NULL);
}

static void names(void **state)
{
    (void)state;
    static const char *const expected[] = { "error", "warn", "info", "debug", "trace" };
    log_level level;
    for (size_t i = 0; i < LS_COUNT_OF(expected); i++) {
        assert_true(log_level_parse(expected[i], &level));
        assert_int_equal(level, i);
        assert_string_equal(log_level_name(level), expected[i]);
    }
    assert_false(log_level_parse("WARN", &level));
    assert_false(log_level_parse("", &level));
    assert_string_equal(log_level_name((log_level)42), "unknown");
}

static void file_sink(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);
    log_set_sink(log_sink_file, stream);
    log_warn("low memory");
    log_set_sink(NULL, NULL);
    fclose(stream);
    assert_string_equal(text, "lockstep: warning: low memory\n");
    free(text);
}

static void *shout(void *self)
{
    for (unsigned i = 0; i < 500; i++)
        log_warn("from %p", self);
    return NULL;
}

static void many_threads(void **state)
{
    (void)state;
    heard h = { 0 };
    pthread_t thread[4];
    log_set_sink(hear, &h);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, shout, &h), 0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    log_set_sink(NULL, NULL);
    assert_int_equal(h.count, 2000); /* the sink needs no lock of its own */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silent_without_sink),
        cmocka_unit_test(levels),
        cmocka_unit_test(one_line_of_any_length),
        cmocka_unit_test(names),
        cmocka_unit_test(file_sink),
        cmocka_unit_test(many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
