/* cli_main.c: the root command with the global options, and the way from argv to an exit code. The only place
 * that prints errors; it may read the environment and the terminal, and load plug-ins. */
#include "base/file.h"
#include "base/log.h"
#include "cli/cli.h"
#include "report/postgres.h"
#include "lockstep/sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------ root */

static const char *const color_modes[] = { "auto", "always", "never", NULL };
static const char *const log_levels[] = { "error", "warn", "info", NULL };

/* clang-format off */
static const cli_option global_options[] = {
    { .name = "plugin", .type = CLI_TEXT, .arg = "FILE", .repeatable = true, .complete = CLI_COMPLETE_FILE,
      .help = "load blocks and machines from a shared object" },
    { .name = "platform-dir", .type = CLI_TEXT, .arg = "DIR", .repeatable = true, .complete = CLI_COMPLETE_DIR,
      .help = "look for platform files here first" },
    { .name = "log-level", .type = CLI_CHOICE, .arg = "LEVEL", .choices = log_levels, .default_text = "warn",
      .help = "least severe messages on standard error" },
    { .name = "color", .type = CLI_CHOICE, .arg = "WHEN", .choices = color_modes, .default_text = "auto",
      .help = "colour the output" },
    { .name = "help", .letter = 'h', .help = "explain the command and stop" },
    { .name = "version", .letter = 'V', .help = "print the version and stop" },
};
/* clang-format on */

static const cli_example root_examples[] = {
    { "lockstep help run", "the description of a command, with examples" },
    { "lockstep blocks", "every machine, slot and model there is" },
    { "lockstep run traces/bfs --platform my-gpu.yaml --threads 2",
      "simulate a trace on a platform of your own" },
};

#define MAX_COMMANDS 64

extern const cli_command *const __start_ls_commands[] __attribute__((weak, visibility("hidden")));
extern const cli_command *const __stop_ls_commands[] __attribute__((weak, visibility("hidden")));

static int by_order(const void *a, const void *b)
{
    const cli_command *x = *(const cli_command *const *)a, *y = *(const cli_command *const *)b;
    return x->order != y->order ? (x->order < y->order ? -1 : 1) : strcmp(x->name, y->name);
}

const cli_command *cli_root(void)
{
    static const cli_command *commands[MAX_COMMANDS];
    static cli_command root = {
        .name = "lockstep",
        .summary = "a GPU simulator that gives the same bits on any number of threads",
        .about = "Lockstep builds a machine from a platform file and runs it. A command writes its result to "
                 "standard output and says what is wrong in one line on standard error; the exit code tells "
                 "the kind of failure (see EXIT STATUS in `lockstep man`).",
        CLI_EXAMPLES(root_examples),
        CLI_OPTIONS(global_options),
        .commands = commands,
    };
    if (root.command_count)
        return &root;
    /* cppcheck-suppress comparePointers ; the linker puts both around one array */
    size_t count = (size_t)(__stop_ls_commands - __start_ls_commands);
    if (count > MAX_COMMANDS)
        return NULL;
    if (count)
        memcpy(commands, __start_ls_commands, count * sizeof commands[0]);
    qsort(commands, count, sizeof commands[0], by_order);
    root.command_count = count;
    return &root;
}

/* -------------------------------------------------------------------------------------------- terminal */

bool cli_color(const char *mode, FILE *stream)
{
    if (strcmp(mode, "auto") != 0)
        return strcmp(mode, "always") == 0;
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if ((no_color && *no_color) || !term || strcmp(term, "dumb") == 0)
        return false;
    int fd = fileno(stream);
    return fd >= 0 && isatty(fd);
}

unsigned cli_width(FILE *stream)
{
    struct winsize size;
    int fd = fileno(stream);
    if (fd < 0 || !isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 80;
    return size.ws_col < 50 ? 50 : size.ws_col > 110 ? 110 : size.ws_col;
}

/* ----------------------------------------------------------------------------------------------- steps */

/* One line, even if a file name or a plug-in put line breaks into the text. */
static void print_error(FILE *to, const char *program, const ls_error *error)
{
    char text[1024], line[2048];
    ls_error_text(error, text, sizeof text);
    fprintf(to, "%s: %s\n", program, quote_text(text, strlen(text), line, sizeof line));
}

static ls_status load_plugins(const cli_context *ctx, ls_error *err)
{
    const char *const *paths = cli_texts(ctx, "plugin");
    return paths ? ls_sim_load_plugins(paths, cli_count(ctx, "plugin"), err)
                 : ls_fail(err, LS_ERR_NOMEM, "out of memory");
}

static ls_status run_command(cli_context *ctx, ls_error *err)
{
    const cli_args *args = ctx->args;
    const cli_command *command = cli_args_command(args);
    log_level level;
    if (log_level_parse(cli_text(ctx, "log-level"), &level))
        log_set_level(level);
    log_set_sink(log_sink_file, ctx->err);

    if (cli_flag(ctx, "version")) {
        fprintf(ctx->out, "lockstep %s\n", LS_VERSION_STRING);
        return LS_OK;
    }
    if (args->help || !command->run)
        cli_help_print(args->path, args->depth, ctx->out, ctx->color_out, cli_width(ctx->out));
    if (args->help)
        return LS_OK;
    if (!command->run) {
        ls_fail(err, LS_ERR_USAGE, "a command is missing");
        return args->depth > 1 ? ls_error_at(err, command->name, 0, 0) : LS_ERR_USAGE;
    }
    ls_status status = load_plugins(ctx, err);
    return status == LS_OK ? command->run(ctx, err) : status;
}

/* The command line goes into results: a password in the URL of a database does not. */
static const char *without_password(const cli_context *ctx, const char *word)
{
    const char *url = strstr(word, "postgres");
    if (!url || !postgres_is_url(url))
        return word;
    const char *rest = postgres_public_url(ctx->arena, url);
    return rest ? arena_printf(ctx->arena, "%.*s%s", (int)(url - word), word, rest) : NULL;
}

const char *cli_command_line(const cli_context *ctx)
{
    text_buffer text = { 0 };
    for (int i = 0; i < ctx->argc; i++) {
        const char *word = without_password(ctx, ctx->argv[i]);
        text_add(&text, i ? " " : "");
        text.failed |= word == NULL;
        if (!word)
            break;
        if (*word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-_=+./,:@%") == strlen(word)) {
            text_add(&text, word);
            continue;
        }
        text_add(&text, "'");
        for (; *word; word++)
            if (*word == '\'')
                text_add(&text, "'\\''");
            else
                text_addn(&text, word, 1);
        text_add(&text, "'");
    }
    const char *line = text.failed ? NULL : arena_strdup(ctx->arena, text_get(&text));
    text_fini(&text);
    return line;
}

/* A full disk must not look like success. */
static ls_status finish_output(FILE *out, ls_error *err)
{
    errno = 0;
    if (fflush(out) == 0 && !ferror(out))
        return LS_OK;
    return ls_fail(err, LS_ERR_IO, "cannot write standard output: %s", file_write_reason(out, errno));
}

int cli_main(const cli_command *root, int argc, const char *const *argv, FILE *out, FILE *err)
{
    ls_error error = { .status = LS_OK }, late = { .status = LS_OK };
    if (!root) {
        ls_fail(&error, LS_ERR_INTERNAL, "more than %d commands are registered", MAX_COMMANDS);
        print_error(err, "lockstep", &error);
        return ls_status_exit_code(LS_ERR_INTERNAL);
    }
    cli_args args;
    mem_arena arena = { 0 };
    cli_context ctx = { .args = &args, .argc = argc, .argv = argv, .out = out, .err = err, .arena = &arena };
    ls_status status = cli_parse(root, argc, argv, &args, &error);
    if (status == LS_OK) {
        const char *mode = cli_text(&ctx, "color");
        ctx.positionals = args.positionals.at;
        ctx.positional_count = args.positionals.count;
        ctx.color_out = cli_color(mode, out);
        ctx.color_err = cli_color(mode, err);
        status = run_command(&ctx, &error);
    }
    ls_status written = finish_output(out, &late);
    if (status == LS_OK && written != LS_OK) {
        status = written;
        error = late;
    }
    if (status != LS_OK && !ctx.is_silent) {
        error.status = status;
        print_error(err, root->name, &error);
        if (ctx.report)
            fputs(ctx.report, err);
    }
    log_set_sink(NULL, NULL);
    cli_args_fini(&args);
    arena_fini(&arena);
    return ls_status_exit_code(status);
}
