/* test_config.c: `lockstep config` from the command line to the exit code, with the tiny machine of
 * tests/platform. The tests there check the output in detail. */
#include "platform/load.h"
#include "platform/tiny.h"

#include "cli/run_words.h"

/* The words after `lockstep config`. */
#define run(...) run_words((const char *const[WORDS]){ "lockstep", "config", __VA_ARGS__ })

static int set_up(void **state)
{
    int failed = test_dir_enter(state);
    if (!failed) {
        write_file("good.yaml", "title: Good\n" TINY_MINIMAL);
        write_file("bad.yaml", TINY_MINIMAL "smss: 4\nscale: 99\n");
    }
    return failed;
}

static int tear_down(void **state)
{
    free_texts();
    return test_dir_leave(state);
}

static void test_list(void **state)
{
    (void)state;
    assert_int_equal(run("list", "--platform-dir", "."), 0);
    assert_ptr_equal(strstr(out_text, "Platforms\n  bad   tiny\n  good  tiny  Good\nMachines\n"), out_text);
}

static void test_show(void **state)
{
    (void)state;
    assert_int_equal(run("show", "good.yaml", "--set", "sms=7", "--format", "yaml"), 0);
    assert_non_null(strstr(out_text, "\nsms: 7  # SMs; --set\n"));
    assert_int_equal(run("show", "good", "--platform-dir=."), 0);
    assert_ptr_equal(strstr(out_text, "platform  good (good.yaml)\n"), out_text);
    assert_int_equal(run("show", "good.yaml", "--set", "smx=7"), 2);
    assert_string_equal(out_text, "");
    assert_string_equal(err_text, "lockstep: --set: unknown key 'smx' for machine 'tiny' (nearest: sms)\n");
}

static void test_check(void **state)
{
    (void)state;
    assert_int_equal(run("check", "good.yaml", "bad.yaml"), 2);
    assert_ptr_equal(strstr(out_text, "good.yaml: ok (machine 'tiny', 13 keys, hash "), out_text);
    assert_non_null(strstr(out_text, ")\nbad.yaml:4:1: unknown key 'smss' for machine 'tiny' (nearest: sms)\n"
                                     "bad.yaml:5:8: 'scale' is 99, but must be from -10 to 10\n"));
    assert_string_equal(err_text, "lockstep: 1 of 2 platforms is wrong\n");
    assert_int_equal(run("check", "good.yaml"), 0);
    assert_string_equal(err_text, "");
}

static void test_diff(void **state)
{
    (void)state;
    write_file("other.yaml", "base: good\nsms: 5\n");
    assert_int_equal(run("diff", "good.yaml", "other.yaml"), 0);
    assert_string_equal(out_text, "KEY  good  other  UNIT\nsms  4     5      SMs\n");
    assert_int_equal(run("diff", "good.yaml", "bad.yaml"), 2);
    assert_string_equal(out_text, "");
}

static void test_explain(void **state)
{
    (void)state;
    assert_int_equal(run("explain", "sms"), 0);
    assert_ptr_equal(strstr(out_text, "sms: streaming multiprocessors\n"), out_text);
    assert_int_equal(run("explain", "sms=", "--platform", "good.yaml", "--set", "sms=8"), 0);
    assert_non_null(strstr(out_text, "  value      8  --set\n  overrides  4  good.yaml:3\n"));
    assert_int_equal(run("explain", "dram.bank"), 2);
    assert_string_equal(err_text, "lockstep: unknown key 'dram.bank' (nearest: dram.banks)\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_list), TEST(test_show), TEST(test_check), TEST(test_diff), TEST(test_explain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
