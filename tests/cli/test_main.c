/* test_main.c: from argv to the exit code, what goes to which stream, and the help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/tree.h"

#include <stdlib.h>

static char *out_text, *err_text;

static int teardown(void **state)
{
    (void)state;
    free(out_text);
    free(err_text);
    out_text = err_text = NULL;
    return 0;
}

static int run(const char *first, ...)
{
    const char *words[16] = { "tree" };
    int count = 1;
    size_t out_bytes, err_bytes;
    va_list list;
    teardown(NULL);
    va_start(list, first);
    for (const char *word = first; word; word = va_arg(list, const char *))
        words[count++] = word;
    va_end(list);
    FILE *out = open_memstream(&out_text, &out_bytes), *err = open_memstream(&err_text, &err_bytes);
    assert_non_null(out);
    assert_non_null(err);
    int code = cli_main(&tree_root, count, words, out, err);
    fclose(out);
    fclose(err);
    return code;
}

static void test_success(void **state)
{
    (void)state;
    assert_int_equal(run("paint", "north", NULL), 0);
    assert_string_equal(out_text, "painted north\n");
    assert_string_equal(err_text, "");
}

static void test_an_error_is_one_line_and_a_code(void **state)
{
    (void)state;
    assert_int_equal(run("piant", NULL), 2);
    assert_string_equal(out_text, "");
    assert_string_equal(err_text, "tree: unknown command 'piant' (nearest: paint)\n");
}

static void test_a_report_follows_the_line(void **state)
{
    (void)state;
    assert_int_equal(run("paint", "fail", NULL), 4);
    assert_string_equal(err_text, "tree: stuck fast\nthe report\n");
}

static void test_no_command(void **state)
{
    (void)state;
    assert_int_equal(run(NULL), 2);
    assert_non_null(strstr(out_text, "Usage: tree COMMAND"));
    assert_string_equal(err_text, "tree: a command is missing\n");
    assert_int_equal(run("config", NULL), 2);
    assert_non_null(strstr(out_text, "Usage: tree config COMMAND"));
    assert_string_equal(err_text, "tree: config: a command is missing\n");
}

static void test_plugin_that_is_not_there(void **state)
{
    (void)state;
    assert_int_not_equal(run("--plugin", "/nonexistent/x.so", "plain", NULL), 0);
    assert_string_equal(out_text, "");
    assert_non_null(strstr(err_text, "/nonexistent/x.so"));
    assert_ptr_equal(strchr(err_text, '\n'), err_text + strlen(err_text) - 1);
}

static void test_version(void **state)
{
    (void)state;
    assert_int_equal(run("-V", NULL), 0);
    assert_string_equal(out_text, "lockstep " LS_VERSION_STRING "\n");
}

static void test_help_of_a_command(void **state)
{
    (void)state;
    assert_int_equal(run("paint", "--help", NULL), 0);
    assert_string_equal(err_text, "");
    assert_string_equal(out_text, "paint: paint a wall\n"
                                  "\n"
                                  "Usage: tree paint [OPTION]... WALL [TINT]\n"
                                  "\n"
                                  "Paints one wall.\n"
                                  "\n"
                                  "The second paragraph.\n"
                                  "\n"
                                  "Arguments\n"
                                  "  WALL                    which one\n"
                                  "  TINT                    the tint: red, green, blue\n"
                                  "\n"
                                  "Options\n"
                                  "  -j, --threads N         how many (default: 1)\n"
                                  "      --until TIME        stop then\n"
                                  "  -t, --tint TINT         which 'tint': red, green, blue (default: green)\n"
                                  "  -s, --set KEY=VALUE     change; may be given several times\n"
                                  "  -o, --out FILE          write\n"
                                  "      --at-least N        no upper end\n"
                                  "  -q, --quick             a flag\n"
                                  "  -a, --all               another\n"
                                  "\n"
                                  "Options of every command\n"
                                  "      --plugin FILE       load it; may be given several times\n"
                                  "      --color WHEN        when: auto, always, never (default: auto)\n"
                                  "      --log-level LEVEL   what: error, warn (default: warn)\n"
                                  "  -h, --help              explain\n"
                                  "  -V, --version           say which\n"
                                  "\n"
                                  "Examples\n"
                                  "  # make it red\n"
                                  "  tree paint north --tint=red\n");
}

static void test_colour_only_when_asked(void **state)
{
    (void)state;
    assert_int_equal(run("paint", "--help", NULL), 0);
    assert_null(strchr(out_text, '\033')); /* not a terminal */
    assert_int_equal(run("--color=always", "paint", "--help", NULL), 0);
    assert_non_null(strstr(out_text, "\033[36m--tint\033[0m"));
    setenv("NO_COLOR", "1", 1);
    assert_int_equal(run("--color=always", "paint", "--help", NULL), 0);
    assert_non_null(strchr(out_text, '\033')); /* requested by name */
    assert_int_equal(run("paint", "--help", NULL), 0);
    assert_null(strchr(out_text, '\033'));
    unsetenv("NO_COLOR");
}

static void test_full_disk_is_an_error(void **state)
{
    (void)state;
    const char *words[] = { "tree", "paint", "north" };
    size_t bytes;
    teardown(NULL);
    FILE *full = fopen("/dev/full", "w"), *err = open_memstream(&err_text, &bytes);
    if (!full) {
        fclose(err);
        skip();
    }
    assert_int_equal(cli_main(&tree_root, 3, words, full, err), 2);
    fclose(full);
    fclose(err);
    assert_string_equal(err_text, "tree: cannot write standard output: No space left on device\n");
}

static void test_fill(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    cli_help_fill(out, "one two\nthree four-five\n\nsix \xc3\xa4\xc3\xb6\xc3\xbc", 2, 11, true);
    fclose(out);
    assert_string_equal(text, "  one two\n  three\n  four-five\n\n  six \xc3\xa4\xc3\xb6\xc3\xbc\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_success),
        cmocka_unit_test(test_an_error_is_one_line_and_a_code),
        cmocka_unit_test(test_a_report_follows_the_line),
        cmocka_unit_test(test_no_command),
        cmocka_unit_test(test_plugin_that_is_not_there),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_help_of_a_command),
        cmocka_unit_test(test_colour_only_when_asked),
        cmocka_unit_test(test_full_disk_is_an_error),
        cmocka_unit_test(test_fill),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
