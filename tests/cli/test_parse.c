/* test_parse.c: every form of an option, and the sentence for every mistake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/tree.h"

typedef struct parsed {
    cli_args args;
    cli_context ctx;
    mem_arena arena;
    ls_error err;
    ls_status status;
} parsed;

static parsed parsed_now;

/* Parses "tree" and the words up to NULL; first frees the result of an earlier call. */
static parsed *parse(const char *first, ...)
{
    static const char *words[16];
    int count = 1;
    va_list list;
    parsed *p = &parsed_now;
    cli_args_fini(&p->args);
    arena_fini(&p->arena);
    *p = (parsed){ 0 };
    words[0] = "tree";
    va_start(list, first);
    for (const char *word = first; word; word = va_arg(list, const char *))
        words[count++] = word;
    va_end(list);
    p->status = cli_parse(&tree_root, count, words, &p->args, &p->err);
    p->ctx = (cli_context){ .args = &p->args, .arena = &p->arena };
    return p;
}

static void assert_text(const parsed *p, ls_status status, const char *expected)
{
    char text[1024];
    assert_int_equal(p->status, status);
    assert_int_equal(p->err.status, status);
    assert_string_equal(ls_error_text(&p->err, text, sizeof text), expected);
}

static int teardown(void **state)
{
    (void)state;
    cli_args_fini(&parsed_now.args);
    arena_fini(&parsed_now.arena);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ forms */

static void test_each_form_of_a_value(void **state)
{
    (void)state;
    parsed *p = parse("paint", "north", "--threads=3", NULL);
    assert_int_equal(p->status, LS_OK);
    assert_int_equal(cli_uint(&p->ctx, "threads"), 3);
    assert_int_equal(cli_uint(&parse("paint", "--threads", "4", "north", NULL)->ctx, "threads"), 4);
    assert_int_equal(cli_uint(&parse("paint", "-j", "5", "north", NULL)->ctx, "threads"), 5);
    assert_int_equal(cli_uint(&parse("paint", "north", "-j6", NULL)->ctx, "threads"), 6);
    p = parse("paint", "north", "-qaj7", NULL);
    assert_int_equal(p->status, LS_OK);
    assert_int_equal(cli_uint(&p->ctx, "threads"), 7);
    assert_true(cli_flag(&p->ctx, "quick"));
    assert_true(cli_flag(&p->ctx, "all"));
}

static void test_values_that_look_like_something_else(void **state)
{
    (void)state;
    assert_string_equal(cli_text(&parse("paint", "north", "--out", "--quick", NULL)->ctx, "out"), "--quick");
    assert_string_equal(cli_text(&parse("paint", "north", "--out=a=b", NULL)->ctx, "out"), "a=b");
    assert_string_equal(cli_text(&parse("paint", "north", "-o-", NULL)->ctx, "out"), "-");
    parsed *p = parse("paint", "-", NULL);
    assert_int_equal(p->status, LS_OK);
    assert_string_equal(p->args.positionals.at[0], "-");
}

static void test_nothing_is_an_option_after_two_dashes(void **state)
{
    (void)state;
    parsed *p = parse("paint", "--quick", "--", "--threads", NULL);
    assert_int_equal(p->status, LS_OK);
    assert_int_equal(p->args.positionals.count, 1);
    assert_string_equal(p->args.positionals.at[0], "--threads");
    p = parse("--", "paint", "north", NULL);
    assert_int_equal(p->status, LS_OK);
    assert_ptr_equal(cli_args_command(&p->args), &tree_paint);
}

static void test_global_options_stand_anywhere(void **state)
{
    (void)state;
    parsed *p = parse("--plugin", "a.so", "paint", "--plugin=b.so", "north", "--plugin", "c.so", NULL);
    assert_int_equal(p->status, LS_OK);
    assert_int_equal(cli_count(&p->ctx, "plugin"), 3);
    const char *const *list = cli_texts(&p->ctx, "plugin");
    assert_string_equal(list[0], "a.so");
    assert_string_equal(list[1], "b.so");
    assert_string_equal(list[2], "c.so");
    assert_null(list[3]);
    assert_string_equal(cli_text_at(&p->ctx, "plugin", 2), "c.so");
    assert_null(cli_text_at(&p->ctx, "plugin", 3));
}

static void test_nested_commands_inherit_options(void **state)
{
    (void)state;
    char path[64];
    parsed *p = parse("config", "--depth", "2", "check", "x", "y", "z", NULL);
    assert_int_equal(p->status, LS_OK);
    assert_string_equal(cli_args_path(&p->args, path, sizeof path), "tree config check");
    assert_int_equal(cli_uint(&p->ctx, "depth"), 2);
    assert_int_equal(p->args.positionals.count, 3);
    p = parse("config", "check", "x", "--depth=3", NULL);
    assert_int_equal(cli_uint(&p->ctx, "depth"), 3);
}

static void test_defaults(void **state)
{
    (void)state;
    parsed *p = parse("paint", "north", NULL);
    assert_int_equal(p->status, LS_OK);
    assert_int_equal(cli_uint(&p->ctx, "threads"), 1);
    assert_int_equal(cli_choice(&p->ctx, "tint"), 1);
    assert_string_equal(cli_text(&p->ctx, "tint"), "green");
    assert_null(cli_text(&p->ctx, "out"));
    assert_int_equal(cli_time(&p->ctx, "until"), 0);
    assert_false(cli_given(&p->ctx, "threads"));
    assert_false(cli_flag(&p->ctx, "quick"));
}

static void test_types(void **state)
{
    (void)state;
    parsed *p = parse("paint", "north", "--until", "1.5us", "-t", "blue", "-s", "a.b=c=d", NULL);
    assert_int_equal(p->status, LS_OK);
    assert_int_equal(cli_time(&p->ctx, "until"), UINT64_C(1500000000));
    assert_int_equal(cli_choice(&p->ctx, "tint"), 2);
    assert_string_equal(cli_text(&p->ctx, "set"), "a.b=c=d");
    assert_int_equal(cli_uint(&parse("paint", "n", "--at-least", "0xffffffffffffffff", NULL)->ctx, "at-least"),
                     UINT64_MAX);
}

static void test_help_wins_over_mistakes_that_follow(void **state)
{
    (void)state;
    parsed *p = parse("--help", "config", "check", "--no-such", NULL);
    assert_int_equal(p->status, LS_OK);
    assert_true(p->args.help);
    assert_ptr_equal(cli_args_command(&p->args), &tree_check);
    p = parse("paint", "-h", NULL);
    assert_int_equal(p->status, LS_OK);
    assert_true(p->args.help);
}

static void test_a_flag_may_be_repeated(void **state)
{
    (void)state;
    assert_int_equal(parse("paint", "north", "-q", "-q", NULL)->status, LS_OK);
}

/* --------------------------------------------------------------------------------------------- mistakes */

static void test_unknown_names(void **state)
{
    (void)state;
    assert_text(parse("paimt", NULL), LS_ERR_USAGE, "unknown command 'paimt' (nearest: paint)");
    assert_text(parse("config", "shwo", NULL), LS_ERR_USAGE, "config: unknown command 'shwo' (nearest: show)");
    assert_text(parse("paint", "--thread", "3", NULL), LS_ERR_USAGE,
                "paint: unknown option --thread (nearest: --threads)");
    assert_text(parse("paint", "--pluging=3", NULL), LS_ERR_USAGE,
                "paint: unknown option --pluging (nearest: --plugin)");
    assert_text(parse("--zzzzzzzz", NULL), LS_ERR_USAGE, "unknown option --zzzzzzzz");
    assert_text(parse("paint", "-qx", NULL), LS_ERR_USAGE, "paint: unknown option -x");
    assert_text(parse("--threads", "3", "paint", NULL), LS_ERR_USAGE,
                "option --threads belongs after the command 'paint'");
    assert_text(parse("a\nb\x01", NULL), LS_ERR_USAGE, "unknown command 'a\\x0Ab\\x01'");
}

static void test_bad_values(void **state)
{
    (void)state;
    assert_text(parse("paint", "--threads", "0", NULL), LS_ERR_USAGE,
                "--threads: 0 is out of range: 1 to 1024");
    assert_text(parse("paint", "-j1025", NULL), LS_ERR_USAGE, "--threads: 1025 is out of range: 1 to 1024");
    assert_text(parse("paint", "--at-least=2", NULL), LS_ERR_USAGE, "--at-least: 2 is too small: at least 3");
    assert_text(parse("paint", "--tint=grene", NULL), LS_ERR_USAGE,
                "--tint: 'grene' is not one of red, green or blue (nearest: green)");
    assert_text(parse("paint", "--set=ab", NULL), LS_ERR_USAGE, "--set: 'ab' is not of the form key=value");
    assert_text(parse("paint", "--set==ab", NULL), LS_ERR_USAGE, "--set: '=ab' is not of the form key=value");
    assert_text(parse("paint", "--out=", NULL), LS_ERR_USAGE, "--out: its value FILE is empty");
    assert_text(parse("paint", "--quick=1", NULL), LS_ERR_USAGE, "--quick: takes no value");
    assert_text(parse("paint", "--out", NULL), LS_ERR_USAGE, "--out: needs a value: --out FILE");
    assert_text(parse("paint", "-qo", NULL), LS_ERR_USAGE, "-o: needs a value: -o FILE");
    assert_text(parse("paint", "-j1", "-j2", NULL), LS_ERR_USAGE,
                "--threads: given twice; it takes one value");
    assert_int_equal(parse("paint", "--threads", "many", NULL)->status, LS_ERR_USAGE);
    assert_string_equal(parsed_now.err.where, "--threads");
    assert_int_equal(parse("paint", "--until", "5 parsecs", NULL)->status, LS_ERR_USAGE);
    assert_string_equal(parsed_now.err.where, "--until");
}

static void test_bad_positionals(void **state)
{
    (void)state;
    assert_text(parse("paint", NULL), LS_ERR_USAGE, "paint: the argument WALL is missing");
    assert_text(parse("config", "check", NULL), LS_ERR_USAGE, "config check: the argument FILE is missing");
    assert_text(parse("paint", "north", "red", "more", NULL), LS_ERR_USAGE,
                "paint: unexpected argument 'more'");
    assert_text(parse("plain", "north", NULL), LS_ERR_USAGE,
                "plain: unexpected argument 'north': walls come later");
    assert_text(parse("paint", "north", "rad", NULL), LS_ERR_USAGE,
                "paint: 'rad' is not one of red, green or blue (nearest: red)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_form_of_a_value),
        cmocka_unit_test(test_values_that_look_like_something_else),
        cmocka_unit_test(test_nothing_is_an_option_after_two_dashes),
        cmocka_unit_test(test_global_options_stand_anywhere),
        cmocka_unit_test(test_nested_commands_inherit_options),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_help_wins_over_mistakes_that_follow),
        cmocka_unit_test(test_a_flag_may_be_repeated),
        cmocka_unit_test(test_unknown_names),
        cmocka_unit_test(test_bad_values),
        cmocka_unit_test(test_bad_positionals),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
