/* cmd_merge.c: `lockstep merge`: databases of the shards of a sweep become one. */
#include "cli/cli.h"
#include "report/export.h"
#include "report/merge.h"
#include "report/postgres.h"

#include <string.h>

enum { NAMED_MOST = 20 }; /* points of a list */

/* The names in a list, up to its limit; the rest is counted. */
static void print_missing(const merge_report *r, FILE *to)
{
    for (size_t i = 0; i < r->missing.count && i < NAMED_MOST; i++) {
        const merge_point *p = &r->missing.at[i];
        fprintf(to, "lockstep: missing: %s%s%s\n", p->name, p->error ? ": " : "", p->error ? p->error : "");
    }
    if (r->missing.count > NAMED_MOST)
        fprintf(to, "lockstep: missing: %zu more\n", r->missing.count - NAMED_MOST);
}

static void print_twice(const merge_report *r, FILE *to)
{
    for (size_t i = 0; i < r->twice.count && i < NAMED_MOST; i++) {
        const merge_point *p = &r->twice.at[i];
        fprintf(to, "lockstep: twice, with the same result: %s, in %s and %s\n", p->name, p->first, p->second);
    }
    if (r->twice.count > NAMED_MOST)
        fprintf(to, "lockstep: twice: %zu more\n", r->twice.count - NAMED_MOST);
}

static ls_status check_paths(const cli_context *ctx, const char *output, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = 0; i <= ctx->positional_count && status == LS_OK; i++) {
        export_format format;
        const char *path = i ? ctx->positionals[i - 1] : output;
        status = export_format_of(path, &format, err);
        if (status == LS_OK && format != LS_EXPORT_SQLITE) {
            ls_fail(err, LS_ERR_USAGE, "merge takes databases of sweeps");
            status = ls_error_at(err, path, 0, 0);
        }
        if (status == LS_OK && i && strcmp(path, output) == 0) {
            ls_fail(err, LS_ERR_USAGE, "the output is one of the inputs");
            status = ls_error_at(err, postgres_public_url(ctx->arena, path), 0, 0);
        }
        for (size_t k = 1; k < i && status == LS_OK; k++)
            if (strcmp(path, ctx->positionals[k - 1]) == 0) {
                ls_fail(err, LS_ERR_USAGE, "the same database is named twice");
                status = ls_error_at(err, postgres_public_url(ctx->arena, path), 0, 0);
            }
    }
    return status;
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    const char *output = cli_text(ctx, "out");
    merge_report report = { 0 };
    if (!output)
        return ls_fail(err, LS_ERR_USAGE, "merge: the output is missing: -o all.db");
    ls_status status = check_paths(ctx, output, err);
    if (status == LS_OK)
        status = merge_databases(ctx->positionals, ctx->positional_count, output, &report, err);
    if (status == LS_OK) {
        print_twice(&report, ctx->err);
        print_missing(&report, ctx->err);
        fprintf(ctx->out, "%s: %zu points: %zu merged, %zu were there, %zu missing\n",
                postgres_public_url(ctx->arena, output), report.points, report.merged, report.there,
                report.missing.count);
        if (report.missing.count)
            status = ls_fail(err, LS_ERR_CHECK, "merge: %zu of %zu points are missing", report.missing.count,
                             report.points);
    }
    merge_report_fini(&report);
    return status;
}

/* clang-format off */
static const cli_option options[] = {
    { .name = "out", .letter = 'o', .type = CLI_TEXT, .arg = "FILE.db", .complete = CLI_COMPLETE_FILE,
      .help = "the database of the whole sweep; runs that it has are kept" },
};

static const cli_positional positionals[] = {
    { .name = "DATABASE", .repeatable = true, .complete = CLI_COMPLETE_FILE,
      .help = "databases of one sweep: files of its shards" },
};
/* clang-format on */

static const cli_example examples[] = {
    { "lockstep merge parts.1-of-2.db parts.2-of-2.db -o all.db",
      "two shards of a sweep become one database" },
    { "lockstep merge all.db -o copy.db", "copy a whole sweep; -o also takes the address of a server" },
};

static const cli_command command = {
    .name = "merge",
    .summary = "join the databases of a sweep's shards",
    .about =
        "Joins databases that `lockstep sweep --shard I/N` wrote. All must be of the same sweep: the same version, "
        "options, configurations and workloads; else one line says what differs and nothing is written. The result is "
        "that of a sweep that was not divided, with runs in the order of the grid. A point that several databases have "
        "is taken once, if its results are the same. Points without a result are named, and the exit code is then 5.",
    .order = 21,
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run,
};
CLI_REGISTER(command);
