/* cmd_report.c: `lockstep report`: one page with charts about results. */
#include "cli/cli.h"
#include "lockstep/sim.h"

#include <stdio.h>

static ls_status run(cli_context *ctx, ls_error *err)
{
    const ls_sim_page_options options = { LS_SIM_PAGE_OPTIONS, .title = cli_text(ctx, "title"),
                                          .platform_dirs = cli_texts(ctx, "platform-dir"),
                                          .platform_dir_count = cli_count(ctx, "platform-dir") };
    const char *path = cli_text(ctx, "out");
    ls_status status = ls_sim_page(ctx->positionals, ctx->positional_count, path, &options, err);
    if (status == LS_OK)
        fprintf(ctx->out, "wrote %s\n", path);
    return status;
}

/* clang-format off */
static const cli_option options[] = {
    { .name = "out", .letter = 'o', .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .default_text = "report.html", .help = "the page" },
    { .name = "title", .type = CLI_TEXT, .arg = "TEXT",
      .help = "its heading; otherwise made of the results' names" },
};

static const cli_positional positionals[] = {
    { .name = "RESULT", .complete = CLI_COMPLETE_FILE, .repeatable = true,
      .help = "results: FILE.json, FILE.csv, FILE.db or FILE.db#RUN; the database of a sweep" },
};
/* clang-format on */

static const cli_example examples[] = {
    { "lockstep report small.json", "one run" },
    { "lockstep report small.json large.json -o both.html", "two runs and their differences" },
    { "lockstep report sweep.db -o sweep.html", "a sweep: table, parallel coordinates, Pareto front" },
};

static const cli_command command = {
    .name = "report",
    .summary = "write one HTML page with charts about results",
    .about =
        "Reads files of `lockstep run --out` or the database of `lockstep sweep` and writes one HTML file that needs nothing "
        "else: overview, kernels in a table to sort and filter, and for the run and each kernel its rooflines, stalls, "
        "occupancy, instructions, the traffic of the machine, latencies, DRAM channels and links; configuration with the origin "
        "of each value; cost on the host. With several results each section has the differences to the first. Metrics over time "
        "are shown if the run had --series-every.",
    .order = 26,
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run,
};
CLI_REGISTER(command);
