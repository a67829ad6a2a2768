/* cli_man.c: the man page, from the same tables as the help. Writes roff to the stream it is given. */
#include "cli/cli.h"

#include <string.h>

/* Environment variables that the program reads. Kept here because only the man page lists them. */
static const struct {
    const char *name, *help;
} environment[] = {
    { "NO_COLOR", "If set and not empty, nothing is coloured unless --color=always is given." },
    { "LOCKSTEP_PLATFORM_PATH",
      "Directories with platform files, separated by colons, searched after those of --platform-dir." },
    { "LOCKSTEP_REFERENCE", "The directory that `lockstep validate` compares with, unless --reference is given." },
    { "TERM", "If unset or dumb, --color=auto means never." },
}, files[] = {
    { "FILE.platform.yaml",
      "Written by `lockstep run` beside each result FILE: the resolved configuration that gave it." },
    { "PREFIX/share/lockstep/platforms", "Platform files that come with Lockstep." },
    { "PREFIX/include/lockstep", "Headers for plug-ins; `pkg-config lockstep` knows the flags." },
};

/* -------------------------------------------------------------------------------------------- escaping */

/* Text in which no character means anything to roff. */
static void put(FILE *out, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        switch (text[i]) {
        case '\\':
            fputs("\\e", out);
            break;
        case '-':
            fputs("\\-", out);
            break;
        case '\'':
            fputs("\\(aq", out);
            break;
        case '`':
            fputs("\\(ga", out);
            break;
        case '.':
            fputs(i == 0 ? "\\&." : ".", out);
            break;
        default:
            fputc(text[i], out);
        }
}

static void puts_roff(FILE *out, const char *text)
{
    put(out, text, strlen(text));
}

/* Paragraphs with an empty line between them. */
static void paragraphs(FILE *out, const char *text)
{
    for (;;) {
        const char *end = strstr(text, "\n\n");
        put(out, text, end ? (size_t)(end - text) : strlen(text));
        fputc('\n', out);
        if (!end)
            return;
        fputs(".PP\n", out);
        for (text = end; *text == '\n';)
            text++;
    }
}

static void capital(FILE *out, const char *text)
{
    char first = text[0];
    fputc(first >= 'a' && first <= 'z' ? first - 'a' + 'A' : first, out);
    puts_roff(out, text + 1);
}

/* ---------------------------------------------------------------------------------------------- pieces */

static void option_item(FILE *out, const cli_option *option)
{
    fputs(".TP\n", out);
    if (option->letter) {
        fputs("\\fB\\-", out);
        put(out, &option->letter, 1);
        fputs("\\fR, ", out);
    }
    fputs("\\fB\\-\\-", out);
    puts_roff(out, option->name);
    fputs("\\fR", out);
    if (option->arg) {
        fputs("=\\fI", out);
        puts_roff(out, option->arg);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    capital(out, option->help);
    for (size_t i = 0; option->choices && option->choices[i]; i++) {
        fputs(i ? ", " : ": ", out);
        fputs("\\fB", out);
        puts_roff(out, option->choices[i]);
        fputs("\\fR", out);
    }
    fputs(".", out);
    if (option->repeatable)
        fputs(" May be given several times.", out);
    if (option->default_text) {
        fputs(" Default: \\fB", out);
        puts_roff(out, option->default_text);
        fputs("\\fR.", out);
    }
    fputc('\n', out);
}

static void synopsis(FILE *out, const cli_command *const *path, size_t depth)
{
    const cli_command *command = path[depth - 1];
    fputs("\\fB", out);
    for (size_t i = 0; i < depth; i++) {
        fputs(i ? " " : "", out);
        puts_roff(out, path[i]->name);
    }
    fputs("\\fR", out);
    if (command->command_count)
        fputs(" \\fICOMMAND\\fR", out);
    fputs(" [\\fIOPTION\\fR]...", out);
    for (size_t i = 0; i < command->positional_count; i++) {
        const cli_positional *positional = &command->positionals[i];
        fputs(positional->optional ? " [\\fI" : " \\fI", out);
        puts_roff(out, positional->name);
        fputs(positional->optional ? "\\fR]" : "\\fR", out);
        fputs(positional->repeatable ? "..." : "", out);
    }
    fputc('\n', out);
}

static void examples(FILE *out, const cli_command *command)
{
    for (size_t i = 0; i < command->example_count; i++) {
        fputs(".PP\n", out);
        capital(out, command->examples[i].what);
        fputs(":\n.PP\n.RS 4\n.nf\n", out);
        puts_roff(out, command->examples[i].line);
        fputs("\n.fi\n.RE\n", out);
    }
}

static void command_section(FILE *out, const cli_command **path, size_t depth)
{
    const cli_command *command = path[depth - 1];
    fputs(".SS \"", out);
    for (size_t i = 1; i < depth; i++) {
        fputs(i > 1 ? " " : "", out);
        puts_roff(out, path[i]->name);
    }
    fputs("\"\n", out);
    capital(out, command->summary);
    fputs(".\n.PP\n", out);
    synopsis(out, path, depth);
    if (command->about) {
        fputs(".PP\n", out);
        paragraphs(out, command->about);
    }
    for (size_t i = 0; i < command->positional_count; i++) {
        fputs(".TP\n\\fI", out);
        puts_roff(out, command->positionals[i].name);
        fputs("\\fR\n", out);
        capital(out, command->positionals[i].help);
        fputs(".\n", out);
    }
    for (size_t i = 0; i < command->option_count; i++)
        option_item(out, &command->options[i]);
    examples(out, command);
    for (size_t i = 0; i < command->command_count && depth < CLI_DEPTH; i++) {
        path[depth] = command->commands[i];
        command_section(out, path, depth + 1);
    }
}

static void exit_codes(FILE *out)
{
    fputs(".SH EXIT STATUS\n", out);
    for (int status = 0; status < LS_STATUS_COUNT; status++) {
        fprintf(out, ".TP\n\\fB%d\\fR (%s)\n", ls_status_exit_code((ls_status)status),
                ls_status_name((ls_status)status));
        capital(out, ls_status_help((ls_status)status));
        fputs(".\n", out);
    }
}

/* ------------------------------------------------------------------------------------------------ page */

void cli_man_print(const cli_command *root, FILE *out)
{
    const cli_command *path[CLI_DEPTH] = { root };
    fprintf(out, ".TH LOCKSTEP 1 \"\" \"Lockstep %s\" \"User Commands\"\n", LS_VERSION_STRING);
    fputs(".SH NAME\n", out);
    puts_roff(out, root->name);
    fputs(" \\- ", out);
    puts_roff(out, root->summary);
    fputs("\n.SH SYNOPSIS\n", out);
    synopsis(out, path, 1);
    fputs(".SH DESCRIPTION\n", out);
    paragraphs(out, root->about ? root->about : root->summary);
    examples(out, root);
    fputs(".SH OPTIONS OF EVERY COMMAND\n", out);
    for (size_t i = 0; i < root->option_count; i++)
        option_item(out, &root->options[i]);
    fputs(".SH COMMANDS\n", out);
    for (size_t i = 0; i < root->command_count; i++) {
        path[1] = root->commands[i];
        command_section(out, path, 2);
    }
    exit_codes(out);
    fputs(".SH ENVIRONMENT\n", out);
    for (size_t i = 0; i < LS_COUNT_OF(environment); i++) {
        fprintf(out, ".TP\n\\fB%s\\fR\n", environment[i].name);
        puts_roff(out, environment[i].help);
        fputc('\n', out);
    }
    fputs(".SH FILES\n", out);
    for (size_t i = 0; i < LS_COUNT_OF(files); i++) {
        fputs(".TP\n\\fI", out);
        puts_roff(out, files[i].name);
        fputs("\\fR\n", out);
        puts_roff(out, files[i].help);
        fputc('\n', out);
    }
}
