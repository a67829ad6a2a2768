/* cmd_compare.c: `lockstep compare`: the differences of two result files, the largest first. */
#include "base/json.h"
#include "cli/cli.h"
#include "lockstep/sim.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const formats[] = { "text", "json", "csv", NULL };

/* --------------------------------------------------------------------------------------------------- text */

static const char *number_text(double value, char out[LS_FORMAT_BYTES])
{
    if (isnan(value))
        return "-";
    if (value == floor(value) && value >= 0 && value < 1e15)
        return format_count((uint64_t)value, out, LS_FORMAT_BYTES);
    snprintf(out, LS_FORMAT_BYTES, fabs(value) < 100 ? "%.4f" : "%.1f", value);
    return out;
}

static const char *change_text(double a, double b, char *out, size_t bytes)
{
    if (isnan(a) || isnan(b))
        snprintf(out, bytes, "%s", isnan(a) ? "only in B" : "only in A");
    else if (a == b)
        snprintf(out, bytes, "same");
    else if (a == 0)
        snprintf(out, bytes, "from 0");
    else
        snprintf(out, bytes, "%+.2f %%", 100 * (b - a) / fabs(a));
    return out;
}

static void print_row(FILE *out, const char *label, const ls_sim_diff_row *row)
{
    char a[LS_FORMAT_BYTES], b[LS_FORMAT_BYTES], change[32];
    fprintf(out, "  %-42.60s %16s %16s  %10s  %s\n", label, number_text(row->a, a), number_text(row->b, b),
            change_text(row->a, row->b, change, sizeof change), row->unit);
}

/* Row i of a list; it must exist. */
static ls_sim_diff_row row_at(const ls_sim_diff *diff, ls_sim_diff_list list, size_t i)
{
    ls_sim_diff_row row = { 0 };
    (void)ls_sim_get_diff(diff, list, i, &row, NULL);
    return row;
}

static void print_times(const cli_context *ctx, const ls_sim_diff *diff, size_t top)
{
    const ls_sim_diff_info info = ls_sim_diff_get(diff);
    char label[128];
    fprintf(ctx->out, "simulated time\n");
    size_t shown = 0;
    for (size_t i = 0; i < info.times; i++) {
        const ls_sim_diff_row row = row_at(diff, LS_SIM_DIFF_TIMES, i);
        if (row.kernel && (row.difference == 0 || shown >= top))
            continue;
        shown += row.kernel != 0;
        if (row.kernel)
            snprintf(label, sizeof label, "%" PRIu64 " %s", row.kernel, row.kernel_name);
        else
            snprintf(label, sizeof label, "run");
        print_row(ctx->out, label, &row);
    }
    if (info.only_a || info.only_b)
        fprintf(ctx->out, "  %zu kernels only in A, %zu only in B\n", info.only_a, info.only_b);
}

static void print_keys(const cli_context *ctx, const ls_sim_diff *diff)
{
    ls_sim_diff_key key;
    for (size_t i = 0; ls_sim_get_diff_key(diff, i, &key, NULL) == LS_OK; i++)
        fprintf(ctx->out, "%s  %-42s %16s %16s\n", i ? "" : "\nconfiguration\n", key.key, key.a ? key.a : "-",
                key.b ? key.b : "-");
}

static void print_text(const cli_context *ctx, const ls_sim_diff *diff, size_t top)
{
    FILE *out = ctx->out;
    const ls_sim_diff_info info = ls_sim_diff_get(diff);
    cli_style style = cli_style_of(ctx->color_out);
    fprintf(out, "A  %s  (%s)%s\nB  %s  (%s)%s\n\n", info.a.path, info.a.platform,
            info.a.partial ? "  partial" : "", info.b.path, info.b.platform,
            info.b.partial ? "  partial" : "");
    fprintf(out, "%s  %-42s %16s %16s  %10s%s\n", style.title, "", "A", "B", "change", style.off);
    print_times(ctx, diff, top);
    print_keys(ctx, diff);
    if (info.metrics)
        fprintf(out, "\nmetrics: %zu of %zu differ\n", info.metrics, info.compared);
    else
        fprintf(out, "\nmetrics: all %zu are the same\n", info.compared);
    for (size_t i = 0; i < info.metrics && i < top; i++) {
        const ls_sim_diff_row row = row_at(diff, LS_SIM_DIFF_METRICS, i);
        char label[160];
        int used = row.kernel ? snprintf(label, sizeof label, "%" PRIu64 ": ", row.kernel) : 0;
        if (row.block)
            snprintf(label + used, sizeof label - (size_t)used, "%s.%s", row.block, row.name);
        else
            snprintf(label + used, sizeof label - (size_t)used, "%s %s", row.type, row.name);
        print_row(out, label, &row);
    }
    if (info.metrics > top)
        fprintf(out, "  and %zu more; --top 0 shows all\n", info.metrics - top);
}

/* ------------------------------------------------------------------------------------------ for programs */

static void json_row(json_writer *j, const ls_sim_diff_row *row)
{
    json_flat(j);
    json_begin_object(j);
    json_key(j, "kernel");
    row->kernel ? json_u64(j, row->kernel) : json_null(j);
    json_put_text(j, "kernel_name", row->kernel ? row->kernel_name : NULL);
    json_put_text(j, "block", row->block);
    json_put_text(j, "type", row->type);
    json_put_text(j, "metric", row->name);
    json_put_text(j, "unit", row->unit);
    json_key(j, "a");
    json_real(j, row->a);
    json_key(j, "b");
    json_real(j, row->b);
    json_key(j, "difference");
    json_real(j, row->difference);
    json_end(j);
}

static void json_rows(json_writer *j, const char *name, const ls_sim_diff *diff, ls_sim_diff_list list,
                      size_t count)
{
    json_key(j, name);
    json_array(j);
    for (size_t i = 0; i < count; i++) {
        const ls_sim_diff_row row = row_at(diff, list, i);
        json_row(j, &row);
    }
    json_end(j);
}

static void json_keys(json_writer *j, const ls_sim_diff *diff)
{
    ls_sim_diff_key key;
    json_key(j, "configuration");
    json_array(j);
    for (size_t i = 0; ls_sim_get_diff_key(diff, i, &key, NULL) == LS_OK; i++) {
        json_flat(j);
        json_begin_object(j);
        json_put_text(j, "key", key.key);
        json_put_text(j, "a", key.a);
        json_put_text(j, "b", key.b);
        json_end(j);
    }
    json_end(j);
}

static ls_status print_json(const cli_context *ctx, const ls_sim_diff *diff, size_t top, ls_error *err)
{
    const ls_sim_diff_info info = ls_sim_diff_get(diff);
    json_writer j;
    json_to_file(&j, ctx->out, 2);
    json_begin_object(&j);
    json_key(&j, "a");
    json_string(&j, info.a.path);
    json_key(&j, "b");
    json_string(&j, info.b.path);
    json_key(&j, "compared");
    json_u64(&j, info.compared);
    json_key(&j, "different");
    json_u64(&j, info.metrics);
    json_keys(&j, diff);
    json_rows(&j, "times", diff, LS_SIM_DIFF_TIMES, info.times);
    json_rows(&j, "metrics", diff, LS_SIM_DIFF_METRICS, info.metrics < top ? info.metrics : top);
    json_end(&j);
    return json_finish(&j, err);
}

static void csv_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; text && *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputs("\",", out);
}

static void print_csv(const cli_context *ctx, const ls_sim_diff *diff, size_t top)
{
    ls_sim_diff_row row;
    fputs("kernel,kernel_name,block,type,metric,unit,a,b,difference\n", ctx->out);
    for (size_t i = 0; i < top && ls_sim_get_diff(diff, LS_SIM_DIFF_METRICS, i, &row, NULL) == LS_OK; i++) {
        char a[LS_FORMAT_BYTES], b[LS_FORMAT_BYTES], d[LS_FORMAT_BYTES];
        if (row.kernel)
            fprintf(ctx->out, "%" PRIu64, row.kernel);
        fputc(',', ctx->out);
        csv_text(ctx->out, row.kernel_name);
        csv_text(ctx->out, row.block);
        csv_text(ctx->out, row.type);
        csv_text(ctx->out, row.name);
        csv_text(ctx->out, row.unit);
        fprintf(ctx->out, "%s,%s,%s\n", isnan(row.a) ? "" : format_real(row.a, a, sizeof a),
                isnan(row.b) ? "" : format_real(row.b, b, sizeof b), format_real(row.difference, d, sizeof d));
    }
}

/* ------------------------------------------------------------------------------------------------ command */

static ls_status read_threshold(const cli_context *ctx, double *out, ls_error *err)
{
    const char *text = cli_text(ctx, "threshold");
    size_t bytes = strlen(text);
    bool percent = bytes && text[bytes - 1] == '%';
    ls_status status = parse_real(text, bytes - percent, out, err);
    if (percent)
        *out /= 100;
    if (status == LS_OK && (*out < 0 || *out > 1))
        status = ls_fail(err, LS_ERR_USAGE, "a threshold is from 0 to 1, or from 0%% to 100%%");
    if (status != LS_OK) {
        err->status = LS_ERR_USAGE;
        return ls_error_at(err, "--threshold", 0, 0);
    }
    return LS_OK;
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    ls_sim_compare_options options = { LS_SIM_COMPARE_OPTIONS, .metric = cli_text(ctx, "metric"),
                                       .kernel = cli_text(ctx, "kernel"),
                                       .per_block = cli_flag(ctx, "per-block") };
    size_t top = cli_uint(ctx, "top") ? (size_t)cli_uint(ctx, "top") : SIZE_MAX;
    ls_sim_diff *diff = NULL;
    ls_status status = read_threshold(ctx, &options.threshold, err);
    if (status == LS_OK)
        status = ls_sim_compare(ctx->positionals[0], ctx->positionals[1], &options, &diff, err);
    if (status != LS_OK)
        return status;
    if (strcmp(cli_text(ctx, "format"), "json") == 0)
        status = print_json(ctx, diff, top, err);
    else if (strcmp(cli_text(ctx, "format"), "csv") == 0)
        print_csv(ctx, diff, top);
    else
        print_text(ctx, diff, top);
    const ls_sim_diff_info info = ls_sim_diff_get(diff);
    bool differ = info.metrics || info.only_a || info.only_b;
    if (status == LS_OK && differ && cli_flag(ctx, "check"))
        status =
            ls_fail(err, LS_ERR_CHECK, "the runs differ in %zu of %zu numbers", info.metrics, info.compared);
    ls_sim_diff_close(diff);
    return status;
}

/* clang-format off */
static const cli_option options[] = {
    { .name = "metric", .letter = 'm', .type = CLI_TEXT, .arg = "PATTERN",
      .help = "only metrics of this name, as in *stall* or l2/cycle.hits" },
    { .name = "kernel", .letter = 'k', .type = CLI_TEXT, .arg = "PATTERN",
      .help = "kernels of this name or number ('*': each) instead of the run as a whole" },
    { .name = "top", .letter = 'n', .type = CLI_UINT, .arg = "N", .default_text = "20",
      .help = "show the N largest differences; 0: all" },
    { .name = "threshold", .letter = 't', .type = CLI_TEXT, .arg = "SHARE", .default_text = "0",
      .help = "differences up to this share of the larger value count as none, as in 0.01 or 1%" },
    { .name = "per-block", .help = "compare each block, not only each kind of block" },
    { .name = "format", .letter = 'f', .type = CLI_CHOICE, .arg = "FORMAT", .choices = formats,
      .default_text = "text", .help = "of the comparison" },
    { .name = "check", .help = "exit with an error if something differs" },
};

static const cli_positional positionals[] = {
    { .name = "RUN_A", .complete = CLI_COMPLETE_FILE, .help = "results: FILE.json, FILE.csv, FILE.db or FILE.db#RUN" },
    { .name = "RUN_B", .complete = CLI_COMPLETE_FILE, .help = "the other results" },
};
/* clang-format on */

static const cli_example examples[] = {
    { "lockstep compare small.json large.json", "differences that a larger cache makes" },
    { "lockstep compare sweep.db#1 sweep.db#7 --metric '*stall*'", "two runs of one database" },
    { "lockstep compare a.json b.csv --check", "fail unless both runs are the same" },
};

static const cli_command command = {
    .name = "compare",
    .summary = "show what differs between two runs, largest first",
    .about =
        "Reads two result files of `lockstep run --out` in any of their formats and puts them side by side: "
        "simulated time of the run and of each kernel, configuration, and every metric of the run (or, with --kernel, of kernels). Differences are ordered "
        "by |A - B| / max(|A|, |B|), equal ones by the size of the numbers. Models of one slot are compared with "
        "each other, so that a run with a simpler core can be held against a detailed one.",
    .order = 25,
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run,
};
CLI_REGISTER(command);
