/* test_summary.c: kernels by their time, time side by side, names and lines of a summary. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/summary.h"

#include <stdlib.h>
#include <string.h>

static const summary_launch launches[] = {
    { .name = "a", .number = 1, .gpu = 0, .begin_fs = 0, .end_fs = 10 },
    { .name = "b", .number = 2, .gpu = 1, .begin_fs = 5, .end_fs = 25 },
    { .name = "a", .number = 3, .gpu = 0, .begin_fs = 30, .end_fs = 45 },
    { .name = "c", .number = 4, .gpu = 0, .begin_fs = 45, .end_fs = 46 },
};
enum { COUNT = sizeof launches / sizeof *launches };

static void test_busy_counts_once(void **state)
{
    (void)state;
    assert_true(summary_busy(launches, COUNT, LS_METRICS_NONE) == 41);
    assert_true(summary_busy(launches, COUNT, 0) == 26);
    assert_true(summary_busy(launches, COUNT, 1) == 20);
    assert_true(summary_busy(launches, 0, 0) == 0);
}

static void test_costliest(void **state)
{
    summary_kernel top[2];
    (void)state;
    assert_int_equal(summary_costliest(launches, COUNT, top, 2), 2);
    assert_string_equal(top[0].name, "a");
    assert_int_equal(top[0].launches, 2);
    assert_true(top[0].time_fs == 25);
    assert_int_equal(top[0].longest->number, 3);
    assert_string_equal(top[1].name, "b");
}

static void test_names(void **state)
{
    char text[64];
    (void)state;
    assert_string_equal(summary_name("_Z9vectorAddPKfS0_Pfi", 20, text, sizeof text), "vectorAdd");
    assert_string_equal(summary_name("a_name_that_is_long", 10, text, sizeof text), "a_name_...");
}

static void test_wrap(void **state)
{
    char *text, words[400] = "";
    size_t bytes, lines = 0;
    FILE *to = open_memstream(&text, &bytes);
    (void)state;
    assert_non_null(to);
    for (int i = 0; i < 40; i++)
        strcat(words, i ? " word" : "word");
    summary_wrap(words, 7, to);
    fclose(to);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        assert_true(strlen(line) <= SUMMARY_COLUMNS);
        assert_true(lines == 0 || strncmp(line, "       word", 11) == 0);
        assert_true(line[strlen(line) - 1] != ' ');
    }
    assert_int_equal(lines, 3);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_busy_counts_once),
        cmocka_unit_test(test_costliest),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
