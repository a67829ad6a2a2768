/* cmd_explain.c: `lockstep explain`: what limits the run of a result file, and what taking the limits away brings. */
#include "cli/cli.h"
#include "cli/workload_args.h"
#include "lockstep/sim.h"

#include <string.h>

/* The words of a command line as cli_command_line() writes it: plain, or between quotes. */
static ls_status split(cli_context *ctx, const char *line, const char ***words, int *count, ls_error *err)
{
    size_t room = strlen(line) + 2;
    const char **list = arena_array(ctx->arena, room, sizeof *list);
    char *text = arena_alloc(ctx->arena, room);
    if (!list || !text)
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    *count = 0;
    while (*line) {
        bool quoted = false;
        list[(*count)++] = text;
        for (; *line && (quoted || *line != ' '); line++)
            if (*line == '\'')
                quoted = !quoted;
            else if (*line == '\\' && !quoted && line[1])
                *text++ = *++line;
            else
                *text++ = *line;
        *text++ = 0;
        line += strspn(line, " ");
    }
    list[*count] = NULL;
    *words = list;
    return LS_OK;
}

/* The command line that made a result. Options of its simulation borrow from args. */
typedef struct saved_command {
    cli_context *ctx;
    cli_args args;
} saved_command;

/* The options of the simulation that a command line of `lockstep run` starts. */
static ls_status rerun(void *self, const char *line, ls_sim_options *out, ls_error *err)
{
    saved_command *saved = self;
    cli_args *args = &saved->args;
    const char **words = NULL;
    int count = 0;
    ls_status status = split(saved->ctx, line, &words, &count, err);
    if (status != LS_OK)
        return status;
    if (count < 2)
        return ls_fail(err, LS_ERR_USAGE, "'%s' is not a command line of lockstep run", line);
    cli_args_fini(args);
    status = cli_parse(cli_root(), count, words, args, err);
    if (status == LS_OK && strcmp(cli_args_command(args)->name, "run") != 0)
        status = ls_fail(err, LS_ERR_USAGE, "'%s' is not a command line of lockstep run", line);
    cli_context inner = *saved->ctx;
    inner.args = args;
    inner.positionals = args->positionals.at;
    inner.positional_count = args->positionals.count;
    if (status == LS_OK)
        status = workload_args_sim(&inner, inner.positional_count > 0 ? inner.positionals[0] : NULL, out, err);
    return status;
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    saved_command saved = { .ctx = ctx };
    const ls_sim_explain_options options = {
        LS_SIM_EXPLAIN_OPTIONS,
        .color = ctx->color_out,
        .experiments = cli_flag(ctx, "try"),
        .jobs = (uint32_t)cli_uint(ctx, "jobs"),
        .rerun = rerun,
        .rerun_self = &saved,
    };
    if (cli_given(ctx, "jobs") && !cli_flag(ctx, "try"))
        return ls_fail(err, LS_ERR_USAGE, "explain: --jobs has no effect without --try: nothing is run");
    ls_status status = ls_sim_explain(ctx->positionals[0], &options, ctx->out, err);
    cli_args_fini(&saved.args);
    return status;
}

/* clang-format off */
static const cli_option options[] = {
    { .name = "try", .letter = 't',
      .help = "run the workload again with each limit taken away, and print the gains" },
    { .name = "jobs", .letter = 'j', .type = CLI_UINT, .arg = "N", .min = 1, .max = 64, .default_text = "1",
      .help = "with --try: runs at a time; no result depends on it" },
};

static const cli_positional positionals[] = {
    { .name = "RESULT", .complete = CLI_COMPLETE_FILE,
      .help = "a file that --out has written: JSON, or SQLite, where FILE.db#3 is run 3" },
};

static const cli_example examples[] = {
    { "lockstep explain a.json", "what limits the run and its costliest kernels, with the numbers behind it" },
    { "lockstep explain a.json --try --jobs 2", "and what faster DRAM, more registers and the like would bring" },
};
/* clang-format on */

static const cli_command explain_command = {
    .name = "explain",
    .summary = "say what limits a run, and prove it",
    .about =
        "Applies rules to the numbers of a result: each that fires has a sentence, its evidence and an estimate of what "
        "removing the limit would bring, the largest first. Then the same for the three costliest kernels.\n\n"
        "With --try the workload runs again, once as it is and once with the keys of each experiment, and a table shows "
        "the measured gains. That needs the files that the command line of the run named, in the same places.",
    .order = 11,
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run,
};
CLI_REGISTER(explain_command);
