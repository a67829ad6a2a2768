/* cli.h: the command framework. A subcommand is one file, cmd_NAME.c, that ends with CLI_REGISTER(command).
 *
 * Its const cli_command is the only source for parsing, --help, shell completion, the man page and the "did
 * you mean" of an error. Commands form a tree whose root is `lockstep` itself: an option of a command is also
 * valid for every command below it, which makes the root's options the global ones.
 *
 *     static const cli_option options[] = {
 *         { .name = "threads", .letter = 'j', .arg = "N", .type = CLI_UINT, .default_text = "1", .min = 1,
 *           .max = 1024, .help = "host threads; the result does not depend on it" },
 *     };
 *     static ls_status run_it(cli_context *ctx, ls_error *err)
 *     {
 *         fprintf(ctx->out, "%" PRIu64 "\n", cli_uint(ctx, "threads"));
 *         return LS_OK;
 *     }
 *     static const cli_command command = { .name = "it", .summary = "...", CLI_OPTIONS(options), .run =
 *     run_it }; CLI_REGISTER(command);
 *
 * A command writes its result to ctx->out and returns a status; cli_main() prints the one error line and
 * chooses the exit code. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/arena.h"
#include "base/text.h"
#include "base/vec.h"
#include "lockstep/time.h"

#include <stdio.h>

/* ---------------------------------------------------------------------------------------- declarations */

typedef enum cli_type {
    CLI_FLAG,     /* takes no value */
    CLI_TEXT,     /* any text that is not empty */
    CLI_UINT,     /* parse_u64, in [min, max]; max 0: no limit */
    CLI_TIME,     /* parse_time: 200ns, 1.5us */
    CLI_CHOICE,   /* one of choices */
    CLI_KEY_VALUE /* key=value, split at the first '='; the key is not empty */
} cli_type;

/* The shell's suggestions for a value. A CLI_CHOICE always offers its choices. */
typedef enum cli_complete {
    CLI_COMPLETE_NONE,
    CLI_COMPLETE_FILE,
    CLI_COMPLETE_DIR,
    CLI_COMPLETE_PLATFORM, /* names of the platform search path, and files */
    CLI_COMPLETE_KEY,      /* configuration keys of the platform on the command line */
    CLI_COMPLETE_BLOCK,    /* SLOT and SLOT/MODEL of the registry */
    CLI_COMPLETE_COMMAND,  /* the commands themselves */
    CLI_COMPLETE_COUNT
} cli_complete;

typedef struct cli_option {
    const char *name; /* long name, without dashes */
    char letter;      /* 0: no short form */
    cli_type type;
    const char *arg;            /* name of its value in the help: "FILE"; NULL for a flag */
    bool repeatable;            /* otherwise a second one is an error (a second flag is not) */
    const char *default_text;   /* valid for the type; NULL: none */
    const char *const *choices; /* NULL-terminated, for CLI_CHOICE */
    uint64_t min, max;          /* inclusive, for CLI_UINT */
    cli_complete complete;
    const char *help; /* one line, no full stop */
    bool one_dash;    /* -name is as good as --name: gdb's -ex */
} cli_option;

typedef struct cli_positional {
    const char *name;           /* "FILE" */
    const char *const *choices; /* NULL-terminated; NULL: anything */
    bool optional;              /* may be left out; none that is required follows */
    bool repeatable;            /* takes all that is left; the last one only */
    cli_complete complete;
    const char *help;
} cli_positional;

typedef struct cli_example {
    const char *line; /* as typed: "lockstep run --platform rtx3070" */
    const char *what; /* one line, no full stop */
} cli_example;

typedef struct cli_context cli_context;
typedef struct cli_command cli_command;

struct cli_command {
    const char *name;
    const char *summary; /* one line, no full stop */
    const char *about;   /* paragraphs with an empty line between them; printing wraps the lines */
    int order;           /* place in lists: smaller first, then by name */
    const cli_example *examples;
    size_t example_count;
    const cli_option *options;
    size_t option_count;
    const cli_positional *positionals;
    size_t positional_count;
    const cli_command *const *commands; /* nested ones; then it has no positionals and no run */
    size_t command_count;
    /* Why it takes no positional arguments, if the user would expect some; NULL: the usual sentence. */
    const char *no_positionals;
    ls_status (*run)(cli_context *ctx, ls_error *err);
};

#define CLI_OPTIONS(table_) .options = (table_), .option_count = LS_COUNT_OF(table_)
#define CLI_POSITIONALS(table_) .positionals = (table_), .positional_count = LS_COUNT_OF(table_)
#define CLI_EXAMPLES(table_) .examples = (table_), .example_count = LS_COUNT_OF(table_)
#define CLI_COMMANDS(table_) .commands = (table_), .command_count = LS_COUNT_OF(table_)

/* Adds a top-level command: data in a linker section, nothing runs before main. */
#define CLI_REGISTER(command_)                                                                                \
    __attribute__((section("ls_commands"), used)) static const cli_command *const cli_registered_##command_ = \
        &(command_)

/* `lockstep`: the global options and every registered command in order. Built once; NULL without memory. */
const cli_command *cli_root(void);

/* --------------------------------------------------------------------------------------------- parsing */

#define CLI_DEPTH 4 /* root, command, subcommand, and one more */

typedef struct cli_value {
    const cli_option *option;
    const char *text; /* as given; borrowed from argv */
    uint64_t number;  /* CLI_UINT, CLI_TIME, CLI_CHOICE (index) */
} cli_value;

typedef struct cli_args {
    const cli_command *path[CLI_DEPTH]; /* root first */
    size_t depth;                       /* at least 1 */
    LS_VEC(cli_value) values;           /* in the order given */
    LS_VEC(const char *) positionals;
    bool help; /* --help was found: nothing else was checked */
} cli_args;

/* GNU style: --name=value, --name value, -n value, -nvalue, -ab, options anywhere after the command they
 * belong to, and nothing is an option after --. args is valid (and must be finished) in every case. */
ls_status cli_parse(const cli_command *root, int argc, const char *const *argv, cli_args *args, ls_error *err);
void cli_args_fini(cli_args *args);
const cli_command *cli_args_command(const cli_args *args); /* the innermost */
/* "lockstep config show"; returns out. */
const char *cli_args_path(const cli_args *args, char *out, size_t out_bytes);

/* ------------------------------------------------------------------------------------- inside a command */

struct cli_context {
    const cli_args *args;
    int argc;
    const char *const *argv; /* the whole command line */
    const char *const *positionals;
    size_t positional_count;
    FILE *out, *err;
    bool color_out, color_err; /* whether escape sequences may be written there */
    mem_arena *arena;          /* lives until the command is over */
    bool is_silent;            /* out: another process prints the error */
    const char *report;        /* out: text for err after the error line (who waits for whom); NULL: none */
};

/* Asking for an option that the command does not have is a bug and fails an assertion. */
size_t cli_count(const cli_context *ctx, const char *option); /* how often it was given */
bool cli_given(const cli_context *ctx, const char *option);
bool cli_flag(const cli_context *ctx, const char *option);
/* The value given (the i-th for a repeatable one), else the default, else NULL. */
const char *cli_text(const cli_context *ctx, const char *option);
const char *cli_text_at(const cli_context *ctx, const char *option, size_t i);
/* The value given, else the default, else 0. */
uint64_t cli_uint(const cli_context *ctx, const char *option);
ls_time cli_time(const cli_context *ctx, const char *option);
size_t cli_choice(const cli_context *ctx, const char *option); /* index into choices */
/* All values of a repeatable option, NULL-terminated, in the arena; NULL without memory. */
const char *const *cli_texts(const cli_context *ctx, const char *option);
/* Of those options that name files to be written (the list ends with NULL): could each be? */
ls_status cli_check_outputs(const cli_context *ctx, const char *const *options, ls_error *err);
/* The command line as a shell would read it back, in the arena; NULL without memory. */
const char *cli_command_line(const cli_context *ctx);

/* ---------------------------------------------------------------------------------- what tables become */

/* Escape sequences, all "" without colour. */
typedef struct cli_style {
    const char *title, *name, *arg, *dim, *good, *bad, *off;
} cli_style;
cli_style cli_style_of(bool color);

/* The help of the innermost command of path. width: columns, 0 for 80. */
void cli_help_print(const cli_command *const *path, size_t depth, FILE *out, bool color, unsigned width);
/* Fills text to width; every line starts with indent spaces (the first only if first_indented). */
void cli_help_fill(FILE *out, const char *text, unsigned indent, unsigned width, bool first_indented);

typedef enum cli_shell { CLI_BASH, CLI_ZSH, CLI_FISH } cli_shell;
void cli_completion_print(const cli_command *root, cli_shell shell, FILE *out);

/* The option that makes `lockstep completion` print the values of a kind, for the scripts. */
#define CLI_VALUES_OPTION "values"
const char *cli_complete_name(cli_complete kind); /* "file", "platform", ... */

/* A roff page (man macros) of the whole tree. */
void cli_man_print(const cli_command *root, FILE *out);

/* ------------------------------------------------------------------------------------------ the program */

/* Parses, applies the global options, runs the command, prints the one error line. Returns the exit code. */
int cli_main(const cli_command *root, int argc, const char *const *argv, FILE *out, FILE *err);
/* Whether colour may be written to the stream; mode is "auto", "always" or "never". */
bool cli_color(const char *mode, FILE *stream);
unsigned cli_width(FILE *stream); /* columns for text, 50 to 110; 80 if it is not a terminal */

#endif
