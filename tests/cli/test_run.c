/* test_run.c: the parts of `lockstep run` that need no machine: signals become flags, outputs are checked
 * before and written together with their configuration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/file.h"
#include "sim/run_output.h"
#include "cli/run_signal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --------------------------------------------------------------------------------------------- signals */

static bool is_default(int number)
{
    struct sigaction now;
    sigaction(number, NULL, &now);
    return now.sa_handler == SIG_DFL;
}

static void test_signals_become_flags(void **state)
{
    (void)state;
    ls_run_control control = { 0 };
    run_signal_begin(&control);
    raise(SIGUSR1);
    assert_int_equal(atomic_load(&control.dump), 1);
    assert_int_equal(atomic_load(&control.stop), 0);
    atomic_store(&control.dump, 0);
    raise(SIGUSR1); /* works again and again */
    assert_int_equal(atomic_load(&control.dump), 1);
    assert_false(is_default(SIGINT));
    raise(SIGINT);
    assert_int_equal(atomic_load(&control.stop), 1);
    assert_true(is_default(SIGINT)); /* the second one would end the process */
    assert_false(is_default(SIGTERM));
    run_signal_end();
    assert_true(is_default(SIGINT));
    assert_true(is_default(SIGTERM));
    assert_true(is_default(SIGUSR1));
}

/* --------------------------------------------------------------------------------------------- outputs */

static char dir[] = P_tmpdir "/lockstep-test-XXXXXX";
static mem_arena arena;

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    arena_fini(&arena);
    return system(command);
}

static const char *in_dir(const char *name)
{
    return arena_printf(&arena, "%s/%s", dir, name);
}

static void test_outputs_are_checked_first(void **state)
{
    (void)state;
    ls_error err;
    const char *good[] = { in_dir("a.json"), in_dir("b.csv") };
    assert_int_equal(run_output_check(good, 2, NULL, &err), LS_OK);
    assert_int_equal(run_output_check(NULL, 0, NULL, &err), LS_OK);
    assert_false(file_exists(good[0]));

    const char *twice[] = { in_dir("a.json"), in_dir("a.json") };
    assert_int_equal(run_output_check(twice, 2, NULL, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "the same file is named twice");
    assert_string_equal(err.where, twice[1]);

    const char *nowhere[] = { in_dir("no/where.json") };
    assert_int_equal(run_output_check(nowhere, 1, NULL, &err), LS_ERR_IO);
    assert_string_equal(err.where, nowhere[0]);

    const char *unknown[] = { in_dir("a.docx") };
    assert_int_not_equal(run_output_check(unknown, 1, NULL, &err), LS_OK);
}

static void test_output_and_configuration_come_together(void **state)
{
    (void)state;
    ls_error err;
    char *text;
    size_t bytes;
    const run_results results = { .platform = "p", .config_text = "machine: p\n", .seed = 7 };
    assert_int_equal(run_output_write(&results, NULL, in_dir("r.json"), &err), LS_OK);
    assert_int_equal(file_read(&arena, in_dir("r.json.platform.yaml"), 1000, &text, &bytes, &err), LS_OK);
    assert_string_equal(text, "machine: p\n");
    assert_int_equal(file_read(&arena, in_dir("r.json"), 100000, &text, &bytes, &err), LS_OK);
    assert_non_null(strstr(text, "\"seed\": 7"));
}

static void test_no_configuration_without_a_result(void **state)
{
    (void)state;
    ls_error err;
    const run_results results = { .platform = "p", .config_text = "machine: p\n" };
    /* A directory stands where the result should go: the export fails after the configuration was begun. */
    const char *taken = in_dir("taken.json");
    assert_int_equal(system(arena_printf(&arena, "mkdir %s", taken)), 0);
    assert_int_not_equal(run_output_write(&results, NULL, taken, &err), LS_OK);
    assert_false(file_exists(in_dir("taken.json.platform.yaml")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signals_become_flags),
        cmocka_unit_test(test_outputs_are_checked_first),
        cmocka_unit_test(test_output_and_configuration_come_together),
        cmocka_unit_test(test_no_configuration_without_a_result),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
