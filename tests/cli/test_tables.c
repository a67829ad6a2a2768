/* test_tables.c: the tables of the real commands keep the framework's rules. Defaults are valid, names do not
 * clash, and every command has examples that parse. Help, completion scripts and man page mention all of
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------- walking */

typedef void (*visit_fn)(const cli_command *const *path, size_t depth);

static void walk(const cli_command **path, size_t depth, visit_fn visit)
{
    const cli_command *command = path[depth - 1];
    visit(path, depth);
    assert_true(depth < CLI_DEPTH || command->command_count == 0);
    for (size_t i = 0; i < command->command_count && depth < CLI_DEPTH; i++) {
        path[depth] = command->commands[i];
        walk(path, depth + 1, visit);
    }
}

static void walk_all(visit_fn visit)
{
    const cli_command *path[CLI_DEPTH] = { cli_root() };
    assert_non_null(path[0]);
    walk(path, 1, visit);
}

static void check_sentence(const char *text)
{
    assert_non_null(text);
    assert_true(strlen(text) > 3);
    assert_null(strchr(text, '\n'));
    assert_true(text[strlen(text) - 1] != '.');
}

/* ---------------------------------------------------------------------------------------------- tables */

static void check_option(const cli_option *option)
{
    check_sentence(option->help);
    assert_true(strlen(option->name) > 1);
    assert_int_equal(option->arg == NULL, option->type == CLI_FLAG);
    assert_int_equal(option->choices != NULL, option->type == CLI_CHOICE);
    if (option->type == CLI_FLAG)
        assert_null(option->default_text);
}

/* A default must be what the user could have typed. */
static void check_default(const cli_command *const *path, size_t depth, const cli_option *option)
{
    const char *argv[CLI_DEPTH + 3];
    char word[160];
    int argc = 0;
    cli_args args;
    ls_error err;
    if (!option->default_text)
        return;
    for (size_t i = 0; i < depth; i++)
        argv[argc++] = path[i]->name;
    snprintf(word, sizeof word, "--%s=%s", option->name, option->default_text);
    argv[argc++] = word;
    argv[argc++] = "--help"; /* so that missing arguments do not matter */
    if (cli_parse(path[0], argc, argv, &args, &err) != LS_OK)
        fail_msg("default of --%s: %s", option->name, err.what);
    cli_args_fini(&args);
}

static void check_command(const cli_command *const *path, size_t depth)
{
    const cli_command *command = path[depth - 1];
    check_sentence(command->summary);
    assert_int_equal(command->run == NULL, command->command_count > 0);
    assert_false(command->command_count && command->positional_count);
    if (command->command_count == 0 &&
        (command->example_count < (depth > 2 ? 1 : 2) || command->example_count > 4))
        fail_msg("%s has %zu examples", command->name, command->example_count);
    for (size_t i = 0; i < command->option_count; i++) {
        check_option(&command->options[i]);
        check_default(path, depth, &command->options[i]);
        for (size_t d = 0; d < depth; d++)
            for (size_t k = 0; k < path[d]->option_count; k++) {
                const cli_option *mine = &command->options[i], *other = &path[d]->options[k];
                if (mine == other)
                    continue;
                if (strcmp(mine->name, other->name) == 0)
                    fail_msg("--%s is declared twice on the way to %s", mine->name, command->name);
                if (mine->letter && mine->letter == other->letter)
                    fail_msg("-%c is declared twice on the way to %s", mine->letter, command->name);
            }
    }
    for (size_t i = 0; i < command->positional_count; i++) {
        const cli_positional *positional = &command->positionals[i];
        check_sentence(positional->help);
        if (i) /* nothing follows an argument that takes all, nothing required follows an optional one */
            assert_false(command->positionals[i - 1].repeatable ||
                         (command->positionals[i - 1].optional && !positional->optional));
    }
    for (size_t i = 0; i < command->command_count; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(command->commands[i]->name, command->commands[k]->name);
}

static void test_tables_keep_the_rules(void **state)
{
    (void)state;
    walk_all(check_command);
}

/* The fish script identifies options with values by name alone. */
static const cli_option *seen[512];
static size_t seen_count;
static void check_same_arity(const cli_command *const *path, size_t depth)
{
    const cli_command *command = path[depth - 1];
    for (size_t i = 0; i < command->option_count; i++) {
        for (size_t k = 0; k < seen_count; k++)
            if (strcmp(seen[k]->name, command->options[i].name) == 0)
                assert_int_equal(seen[k]->type == CLI_FLAG, command->options[i].type == CLI_FLAG);
        assert_true(seen_count < LS_COUNT_OF(seen));
        seen[seen_count++] = &command->options[i];
    }
}

static void test_a_name_takes_a_value_everywhere_or_nowhere(void **state)
{
    (void)state;
    seen_count = 0;
    walk_all(check_same_arity);
}

/* -------------------------------------------------------------------------------------------- examples */

/* Splits at blanks, up to a shell operator; enough for the examples, which quote nothing. */
static int split(char *line, const char **argv, int most)
{
    int argc = 0;
    for (char *word = strtok(line, " "); word && argc < most; word = strtok(NULL, " ")) {
        if (strcmp(word, "|") == 0 || strcmp(word, ">") == 0 || strcmp(word, "&&") == 0)
            break;
        argv[argc++] = word;
    }
    return argc;
}

static void check_examples(const cli_command *const *path, size_t depth)
{
    const cli_command *command = path[depth - 1];
    for (size_t i = 0; i < command->example_count; i++) {
        char line[256];
        const char *argv[32];
        cli_args args;
        ls_error err;
        check_sentence(command->examples[i].what);
        const char *start = strstr(command->examples[i].line, "lockstep");
        assert_non_null(start);
        snprintf(line, sizeof line, "%s", start);
        line[strcspn(line, ")")] = '\0';
        int argc = split(line, argv, 32);
        if (cli_parse(path[0], argc, argv, &args, &err) != LS_OK)
            fail_msg("example of %s: %s: %s", command->name, command->examples[i].line, err.what);
        cli_args_fini(&args);
    }
}

static void test_examples_parse(void **state)
{
    (void)state;
    walk_all(check_examples);
}

/* --------------------------------------------------------------------------------------------- outputs */

static char *page, *scripts[3];

static char *capture(void (*print)(FILE *out, int which), int which)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    print(out, which);
    fclose(out);
    return text;
}

static void print_page(FILE *out, int which)
{
    (void)which;
    cli_man_print(cli_root(), out);
}

static void print_script(FILE *out, int which)
{
    cli_completion_print(cli_root(), (cli_shell)which, out);
}

/* roff writes '-' as '\-' */
static void roff_name(const char *name, char *out)
{
    for (; *name; name++) {
        if (*name == '-')
            *out++ = '\\';
        *out++ = *name;
    }
    *out = '\0';
}

static void check_mentioned(const cli_command *const *path, size_t depth)
{
    const cli_command *command = path[depth - 1];
    char *help = NULL;
    size_t bytes;
    FILE *out = open_memstream(&help, &bytes);
    assert_non_null(out);
    cli_help_print(path, depth, out, false, 80);
    fclose(out);
    for (size_t i = 0; i < command->option_count; i++) {
        char dashed[64], roff[96], fish[64];
        snprintf(dashed, sizeof dashed, "--%s", command->options[i].name);
        snprintf(fish, sizeof fish, " -l %s ", command->options[i].name);
        roff_name(dashed, roff);
        assert_non_null(strstr(help, dashed));
        assert_non_null(strstr(page, roff));
        assert_non_null(strstr(scripts[CLI_BASH], dashed));
        assert_non_null(strstr(scripts[CLI_ZSH], dashed));
        assert_non_null(strstr(scripts[CLI_FISH], fish));
    }
    for (size_t i = 0; i < command->command_count; i++) {
        char item[64];
        snprintf(item, sizeof item, "\n  %s ", command->commands[i]->name);
        assert_non_null(strstr(help, item));
    }
    for (const char *line = help; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        assert_true(strcspn(line, "\n") <= 110);
    free(help);
}

static void test_everything_is_mentioned(void **state)
{
    (void)state;
    page = capture(print_page, 0);
    for (int i = 0; i < 3; i++)
        scripts[i] = capture(print_script, i);
    walk_all(check_mentioned);
    for (int status = 0; status < LS_STATUS_COUNT; status++)
        assert_non_null(strstr(page, ls_status_name((ls_status)status)));
    assert_non_null(strstr(page, "\n.SH EXIT STATUS\n"));
    assert_non_null(strstr(page, "\n.SH ENVIRONMENT\n"));
    assert_non_null(strstr(page, "\n.SH FILES\n"));
    free(page);
    for (int i = 0; i < 3; i++)
        free(scripts[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_keep_the_rules),
        cmocka_unit_test(test_a_name_takes_a_value_everywhere_or_nowhere),
        cmocka_unit_test(test_examples_parse),
        cmocka_unit_test(test_everything_is_mentioned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
