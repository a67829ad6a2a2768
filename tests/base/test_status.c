/* test_status.c: statuses, exit codes, and errors that stay one bounded line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lockstep/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void exit_codes(void **state)
{
    (void)state;
    static const struct {
        ls_status status;
        const char *name;
        int code;
    } expected[] = {
        { LS_OK, "ok", 0 },
        { LS_ERR_USAGE, "usage", 2 },
        { LS_ERR_INPUT, "input", 2 },
        { LS_ERR_IO, "io", 2 },
        { LS_ERR_UNSUPPORTED, "unsupported", 3 },
        { LS_ERR_DEADLOCK, "deadlock", 4 },
        { LS_ERR_CHECK, "check", 5 },
        { LS_ERR_INTERRUPTED, "interrupted", 130 },
        { LS_ERR_NOMEM, "nomem", 1 },
        { LS_ERR_INTERNAL, "internal", 1 },
    };
    assert_int_equal(LS_COUNT_OF(expected), LS_STATUS_COUNT);
    for (size_t i = 0; i < LS_COUNT_OF(expected); i++) {
        assert_string_equal(ls_status_name(expected[i].status), expected[i].name);
        assert_int_equal(ls_status_exit_code(expected[i].status), expected[i].code);
        assert_true(strlen(ls_status_help(expected[i].status)) > 0);
    }
    assert_int_equal(ls_status_exit_code((ls_status)99), 1);
    assert_string_equal(ls_status_name((ls_status)99), "unknown");
}

static void whole_line(void **state)
{
    (void)state;
    ls_error err;
    char line[256];
    assert_int_equal(ls_fail(&err, LS_ERR_INPUT, "unknown key '%s'", "latncy"), LS_ERR_INPUT);
    assert_string_equal(ls_error_text(&err, line, sizeof line), "unknown key 'latncy'");
    assert_int_equal(ls_error_at(&err, "gpu.yaml", 12, 5), LS_ERR_INPUT);
    assert_int_equal(ls_error_nearest(&err, "latency"), LS_ERR_INPUT);
    assert_int_equal(ls_error_prefix(&err, "section %s", "core"), LS_ERR_INPUT);
    assert_string_equal(ls_error_text(&err, line, sizeof line),
                        "gpu.yaml:12:5: section core: unknown key 'latncy' (nearest: latency)");
    assert_string_equal(ls_error_text(&err, line, 10), "gpu.yaml:");
    /* A new failure forgets the place of the old one. */
    ls_fail(&err, LS_ERR_IO, "x");
    assert_string_equal(ls_error_text(&err, line, sizeof line), "x");
    ls_error_clear(&err);
    assert_int_equal(err.status, LS_OK);
    assert_string_equal(ls_error_text(&err, line, sizeof line), "success");
}

static void places(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        uint64_t line, column;
        const char *where;
    } cases[] = {
        { "a", 0, 0, "a" },
        { "a", 3, 0, "a:3" },
        { "a", 3, 4, "a:3:4" },
        { "--set", 0, 7, "--set:7" },
        { NULL, 3, 4, "line 3:4" },
        { NULL, 0, 4, "column 4" },
        { NULL, 0, 0, "" },
        { "", 2, 0, "line 2" },
        { "a\nb\x01", 1, 0, "a b?:1" },
        { "a", UINT64_MAX, UINT64_MAX, "a:18446744073709551615:18446744073709551615" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        ls_error err;
        ls_fail(&err, LS_ERR_INPUT, "x");
        ls_error_at(&err, cases[i].file, cases[i].line, cases[i].column);
        assert_string_equal(err.where, cases[i].where);
    }
}

static void nothing_overruns(void **state)
{
    (void)state;
    ls_error err;
    char longest[5000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';

    ls_fail(&err, LS_ERR_INPUT, "%s", longest);
    assert_int_equal(strlen(err.what), sizeof err.what - 1);
    assert_string_equal(err.what + sizeof err.what - 5, "x...");
    ls_error_nearest(&err, longest);
    assert_int_equal(strlen(err.nearest), sizeof err.nearest - 1);
    /* A long path keeps its end, and the line number always survives. */
    memcpy(longest + sizeof longest - 8, "/k.yaml", 8);
    ls_error_at(&err, longest, 123, 45);
    assert_int_equal(strlen(err.where), sizeof err.where - 1);
    assert_memory_equal(err.where, "...x", 4);
    assert_string_equal(err.where + strlen(err.where) - 14, "/k.yaml:123:45");
    ls_error_prefix(&err, "%s", longest);
    assert_int_equal(strlen(err.what), sizeof err.what - 1);
}

static void fits_exactly(void **state)
{
    (void)state;
    ls_error err;
    char text[sizeof err.what + 1];
    memset(text, 'y', sizeof text);
    text[sizeof err.what - 1] = '\0';
    ls_fail(&err, LS_ERR_INPUT, "%s", text);
    assert_string_equal(err.what, text);
    text[sizeof err.what - 1] = 'y';
    text[sizeof err.what] = '\0';
    ls_fail(&err, LS_ERR_INPUT, "%s", text);
    assert_string_equal(err.what + sizeof err.what - 5, "y...");
}

static void cut_between_characters(void **state)
{
    (void)state;
    for (size_t shift = 0; shift < 4; shift++) {
        ls_error err;
        char text[1000] = "abc";
        size_t used = shift;
        while (used + 4 < sizeof text) {
            memcpy(text + used, "\xF0\x9F\x98\x80", 4);
            used += 4;
        }
        text[used] = '\0';
        ls_fail(&err, LS_ERR_INPUT, "%s", text);
        size_t length = strlen(err.what);
        assert_string_equal(err.what + length - 3, "...");
        assert_int_equal((length - 3 - shift) % 4, 0);
    }
}

static void one_line(void **state)
{
    (void)state;
    ls_error err;
    ls_fail(&err, LS_ERR_INPUT, "two\nlines\tand\r\x1b[31m");
    assert_string_equal(err.what, "two lines and ?[31m");
}

static void own_text_as_argument(void **state)
{
    (void)state;
    ls_error err;
    ls_fail(&err, LS_ERR_INPUT, "inner");
    ls_fail(&err, LS_ERR_CHECK, "outer: %s", err.what);
    assert_string_equal(err.what, "outer: inner");
    assert_int_equal(err.status, LS_ERR_CHECK);
}

/* `return ls_error_at(err, ...)` must not turn into success for a caller that passes no error. */
static void without_error_object(void **state)
{
    (void)state;
    ls_error_clear(NULL);
    assert_int_equal(ls_fail(NULL, LS_ERR_UNSUPPORTED, "x"), LS_ERR_UNSUPPORTED);
    assert_int_equal(ls_error_at(NULL, "f", 1, 1), LS_ERR_UNSUPPORTED);
    assert_int_equal(ls_error_nearest(NULL, "y"), LS_ERR_UNSUPPORTED);
    assert_int_equal(ls_error_prefix(NULL, "z"), LS_ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_codes),
        cmocka_unit_test(whole_line),
        cmocka_unit_test(places),
        cmocka_unit_test(nothing_overruns),
        cmocka_unit_test(fits_exactly),
        cmocka_unit_test(cut_between_characters),
        cmocka_unit_test(one_line),
        cmocka_unit_test(own_text_as_argument),
        cmocka_unit_test(without_error_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
