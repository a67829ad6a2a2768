/* cli_help.c: --help from the tables of the commands. Writes to the stream it is given and to nothing
 * else. */
#include "cli/cli.h"

#include <string.h>

#define HELP_COLUMN 26u /* where the explanations start */

cli_style cli_style_of(bool color)
{
    if (!color)
        return (cli_style){ "", "", "", "", "", "", "" };
    return (cli_style){ .title = "\033[1m",
                        .name = "\033[36m",
                        .arg = "\033[33m",
                        .dim = "\033[2m",
                        .good = "\033[32m",
                        .bad = "\033[31m",
                        .off = "\033[0m" };
}

/* --------------------------------------------------------------------------------------------- filling */

static void spaces(FILE *out, unsigned count)
{
    fprintf(out, "%*s", (int)count, "");
}

/* Columns, not bytes: continuation bytes of UTF-8 take no place. */
static unsigned columns_of(const char *s, size_t bytes)
{
    unsigned columns = 0;
    for (size_t i = 0; i < bytes; i++)
        columns += ((unsigned char)s[i] & 0xc0) != 0x80;
    return columns;
}

void cli_help_fill(FILE *out, const char *text, unsigned indent, unsigned width, bool first_indented)
{
    unsigned column = indent;
    bool at_start = true;
    if (first_indented)
        spaces(out, indent);
    while (*text) {
        if (text[0] == '\n' && text[1] == '\n') {
            while (*text == '\n')
                text++;
            fprintf(out, "\n\n");
            spaces(out, indent);
            column = indent;
            at_start = true;
            continue;
        }
        if (*text == ' ' || *text == '\n') {
            text++;
            continue;
        }
        size_t bytes = strcspn(text, " \n");
        unsigned columns = columns_of(text, bytes);
        if (!at_start && column + 1 + columns > width) {
            fputc('\n', out);
            spaces(out, indent);
            column = indent;
            at_start = true;
        }
        if (!at_start) {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, bytes, out);
        column += columns;
        at_start = false;
        text += bytes;
    }
    fputc('\n', out);
}

/* ---------------------------------------------------------------------------------------------- pieces */

typedef struct printer {
    FILE *out;
    cli_style style;
    unsigned width;
} printer;

static void title(const printer *p, const char *text)
{
    fprintf(p->out, "\n%s%s%s\n", p->style.title, text, p->style.off);
}

/* After a left part of `columns` columns: its explanation, on the next line if there is no room. */
static void explain(const printer *p, unsigned columns, const char *text)
{
    if (columns + 2 > HELP_COLUMN) {
        fputc('\n', p->out);
        columns = 0;
    }
    spaces(p->out, HELP_COLUMN - columns);
    cli_help_fill(p->out, text, HELP_COLUMN, p->width, false);
}

static void print_option(const printer *p, const cli_option *option)
{
    unsigned columns = 0;
    char text[480];
    size_t used = 0;
    fprintf(p->out, "  ");
    if (option->letter)
        fprintf(p->out, "%s-%c%s, ", p->style.name, option->letter, p->style.off);
    else
        fprintf(p->out, "    ");
    fprintf(p->out, "%s--%s%s", p->style.name, option->name, p->style.off);
    columns = 8 + (unsigned)strlen(option->name);
    if (option->arg) {
        fprintf(p->out, " %s%s%s", p->style.arg, option->arg, p->style.off);
        columns += 1 + (unsigned)strlen(option->arg);
    }
    used += (size_t)snprintf(text, sizeof text, "%s", option->help);
    for (size_t i = 0; option->choices && option->choices[i] && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : ": ", option->choices[i]);
    if (option->repeatable && used < sizeof text)
        used += (size_t)snprintf(text + used, sizeof text - used, "; may be given several times");
    if (option->default_text && used < sizeof text)
        snprintf(text + used, sizeof text - used, " (default: %s)", option->default_text);
    explain(p, columns, text);
}

static void print_options(const printer *p, const char *heading, const cli_command *command)
{
    if (!command->option_count)
        return;
    title(p, heading);
    for (size_t i = 0; i < command->option_count; i++)
        print_option(p, &command->options[i]);
}

static void print_usage(const printer *p, const cli_command *const *path, size_t depth)
{
    const cli_command *command = path[depth - 1];
    fprintf(p->out, "%sUsage:%s", p->style.title, p->style.off);
    for (size_t i = 0; i < depth; i++)
        fprintf(p->out, " %s", path[i]->name);
    if (command->command_count)
        fprintf(p->out, " %sCOMMAND%s", p->style.arg, p->style.off);
    fprintf(p->out, " %s[OPTION]...%s", p->style.arg, p->style.off);
    for (size_t i = 0; i < command->positional_count; i++) {
        const cli_positional *positional = &command->positionals[i];
        fprintf(p->out, " %s%s%s%s%s%s", p->style.arg, positional->optional ? "[" : "", positional->name,
                positional->optional ? "]" : "", positional->repeatable ? "..." : "", p->style.off);
    }
    fputc('\n', p->out);
}

static void print_positionals(const printer *p, const cli_command *command)
{
    if (!command->positional_count)
        return;
    title(p, "Arguments");
    for (size_t i = 0; i < command->positional_count; i++) {
        const cli_positional *positional = &command->positionals[i];
        char text[480];
        size_t used = (size_t)snprintf(text, sizeof text, "%s", positional->help);
        for (size_t k = 0; positional->choices && positional->choices[k] && used < sizeof text; k++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", k ? ", " : ": ",
                                     positional->choices[k]);
        fprintf(p->out, "  %s%s%s", p->style.arg, positional->name, p->style.off);
        explain(p, 2 + (unsigned)strlen(positional->name), text);
    }
}

static void print_commands(const printer *p, const cli_command *command)
{
    if (!command->command_count)
        return;
    title(p, "Commands");
    for (size_t i = 0; i < command->command_count; i++) {
        const cli_command *below = command->commands[i];
        fprintf(p->out, "  %s%s%s", p->style.name, below->name, p->style.off);
        explain(p, 2 + (unsigned)strlen(below->name), below->summary);
    }
}

static void print_examples(const printer *p, const cli_command *command)
{
    if (!command->example_count)
        return;
    title(p, "Examples");
    for (size_t i = 0; i < command->example_count; i++) {
        fprintf(p->out, "%s  ", i ? "\n" : "");
        fprintf(p->out, "%s# ", p->style.dim);
        cli_help_fill(p->out, command->examples[i].what, 4, p->width, false);
        fprintf(p->out, "%s  %s%s%s\n", p->style.off, p->style.name, command->examples[i].line, p->style.off);
    }
}

void cli_help_print(const cli_command *const *path, size_t depth, FILE *out, bool color, unsigned width)
{
    const cli_command *command = path[depth - 1];
    printer p = { .out = out, .style = cli_style_of(color), .width = width ? width : 80 };
    if (p.width < 50) /* less leaves no room beside the option names */
        p.width = 50;
    fprintf(out, "%s%s%s: ", p.style.title, command->name, p.style.off);
    cli_help_fill(out, command->summary, 2, p.width - (unsigned)strlen(command->name), false);
    fputc('\n', out);
    print_usage(&p, path, depth);
    if (command->about) {
        fputc('\n', out);
        cli_help_fill(out, command->about, 0, p.width, true);
    }
    print_commands(&p, command);
    print_positionals(&p, command);
    for (size_t d = depth; d-- > 0;)
        print_options(&p, d == 0 ? "Options of every command" : "Options", path[d]);
    print_examples(&p, command);
    if (!command->command_count)
        return;
    fprintf(out, "\nMore about one: %s", p.style.name);
    for (size_t d = 0; d < depth; d++)
        fprintf(out, "%s ", path[d]->name);
    fprintf(out, "COMMAND --help%s\n", p.style.off);
}
