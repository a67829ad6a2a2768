/* cmd_trace_check.c: `lockstep trace check`: reads everything and lists what is wrong. */
#include "cli/cmd_trace.h"
#include "cli/trace_amd.h"

#include "workload/accelsim/accelsim.h"
#include "workload/devices/devices.h"
#include "workload/pack/pack.h"
#include "workload/stats.h"
#include "workload/synth/synth.h"

#include <inttypes.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------- printing */

static void print_defects(const cli_context *ctx, const acc_report *report)
{
    cli_style style = cli_style_of(ctx->color_out);
    for (size_t i = 0; i < report->defects.count; i++) {
        const acc_defect *d = &report->defects.at[i];
        bool bad = d->severity == ACC_ERROR;
        char file[1024], text[1200];
        fprintf(ctx->out, "%s", quote_text(d->file, strlen(d->file), file, sizeof file));
        if (d->line)
            fprintf(ctx->out, ":%" PRIu64, d->line);
        fprintf(ctx->out, ": %s%s%s: %s: %s\n", bad ? style.bad : style.dim, acc_severity_name(d->severity),
                style.off, acc_kind_name(d->kind), quote_text(d->text, strlen(d->text), text, sizeof text));
    }
}

static void print_summary(const cli_context *ctx, const acc_report *report, const acc_totals *totals)
{
    char number[LS_FORMAT_BYTES];
    bool any = false;
    for (int severity = ACC_ERROR; severity >= ACC_NOTE; severity--) {
        for (int kind = 0; kind < ACC_KIND_COUNT; kind++) {
            if (!report->counts[kind] || acc_kind_severity((acc_kind)kind) != (acc_severity)severity)
                continue;
            fprintf(ctx->out, "%s%-8s %10s  %-16s %s\n", any || !report->defects.count ? "" : "\n",
                    acc_severity_name((acc_severity)severity),
                    format_count(report->counts[kind], number, sizeof number), acc_kind_name((acc_kind)kind),
                    acc_kind_help((acc_kind)kind));
            any = true;
        }
    }
    fprintf(ctx->out, "%s%" PRIu64 " of %" PRIu64 " kernels read", any ? "\n" : "", totals->read,
            totals->kernels);
    fprintf(ctx->out, ", %s thread blocks", format_count(totals->blocks, number, sizeof number));
    fprintf(ctx->out, ", %s warp instructions", format_count(totals->warp_insts, number, sizeof number));
    fprintf(ctx->out, ": %" PRIu64 " errors, %" PRIu64 " warnings, %" PRIu64 " notes\n",
            report->by_severity[ACC_ERROR], report->by_severity[ACC_WARNING], report->by_severity[ACC_NOTE]);
}

/* ------------------------------------------------------------------------------------------ other sources */

static void print_opcodes(const cli_context *ctx, const opcode_list *list, const char *what)
{
    char number[LS_FORMAT_BYTES];
    for (size_t i = 0; i < list->count; i++)
        fprintf(ctx->out, "%s: %s, %s times, first at pc 0x%" PRIx64 "\n", what, list->at[i].opcode,
                format_count(list->at[i].count, number, sizeof number), list->at[i].pc);
}

/* Packed traces check themselves while they are read, their hash too; the first error ends it. */
static ls_status check_strictly(const cli_context *ctx, const char *path, ls_error *err)
{
    const trace_options options = { .drop_values = true };
    sass_trace *trace;
    trace_stats total = { 0 };
    ls_cta cta = { 0 };
    ls_status status = trace_open(path, &options, &trace, err);
    for (uint64_t i = 0; status == LS_OK && i < trace_command_count(trace); i++) {
        trace_kernel *kernel;
        trace_stats stats = { 0 };
        if (trace_command_at(trace, i)->kind != LS_COMMAND_KERNEL)
            continue;
        status = trace_open_kernel(trace, i, &kernel, err);
        if (status == LS_OK)
            status = trace_stats_read(&stats, kernel, &cta, err);
        if (status == LS_OK && !trace_stats_merge(&total, &stats))
            status = ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
        trace_stats_fini(&stats);
        kernel_close(kernel);
    }
    ls_cta_fini(&cta);
    trace_close(trace);
    if (status == LS_OK && trace_source_of(path) == &pack_source)
        status = pack_file_verify(path, err);
    if (status == LS_OK) {
        print_opcodes(ctx, &total.unmodelled, "warning: unmodelled_opcode");
        print_opcodes(ctx, &total.ignored, "note: ignored_opcode");
        fprintf(ctx->out, "%" PRIu64 " kernels, %" PRIu64 " warp instructions: no errors\n", total.kernels,
                total.warp_insts);
    }
    trace_stats_fini(&total);
    return status;
}

/* ------------------------------------------------------------------------------------------------ command */

/* One trace of NVIDIA GPUs. */
static ls_status check_trace(const cli_context *ctx, const char *path, ls_error *err)
{
    acc_report report = { .limit = cli_uint(ctx, "limit") };
    acc_totals totals;
    if (trace_source_of(path) != &accelsim_source)
        return check_strictly(ctx, path, err);
    ls_status status = acc_check(path, &report, &totals, err);
    if (status == LS_OK) {
        print_defects(ctx, &report);
        print_summary(ctx, &report, &totals);
        if (report.by_severity[ACC_ERROR])
            status = ls_fail(err, LS_ERR_INPUT, "the trace has %" PRIu64 " error%s",
                             report.by_severity[ACC_ERROR], report.by_severity[ACC_ERROR] == 1 ? "" : "s");
    }
    acc_report_fini(&report);
    return status;
}

static bool is_known(const devices_list *list, uint32_t device, size_t run)
{
    const char *path = list->at[device].paths.at[run];
    for (uint32_t d = 0; d <= device; d++)
        for (size_t i = 0; i < list->at[d].paths.count && (d < device || i < run); i++)
            if (strcmp(list->at[d].paths.at[i], path) == 0)
                return true;
    return false;
}

static void print_device(const cli_context *ctx, const devices_list *list, uint32_t device)
{
    static const struct {
        uint8_t kind;
        const char *one, *more;
    } kinds[] = { { DEVICE_KERNELS, "run", "runs" },
                  { DEVICE_COPY, "copy", "copies" },
                  { DEVICE_SIGNAL, "signal sent", "signals sent" },
                  { DEVICE_WAIT, "wait", "waits" },
                  { DEVICE_DELAY, "delay", "delays" } };
    const char *before = ": ";
    fprintf(ctx->out, "device %u", device);
    for (size_t k = 0; k < LS_COUNT_OF(kinds); k++) {
        size_t count = 0;
        for (size_t i = 0; i < list->at[device].commands.count; i++)
            count += list->at[device].commands.at[i].kind == kinds[k].kind;
        if (count > 0)
            fprintf(ctx->out, "%s%zu %s", before, count, count == 1 ? kinds[k].one : kinds[k].more);
        before = count > 0 ? ", " : before;
    }
    fprintf(ctx->out, "%s\n", list->at[device].commands.count == 0 ? ": nothing" : "");
}

/* A list of several devices: its lines and waits, then each of its traces. */
static ls_status check_devices(const cli_context *ctx, const char *path, ls_error *err)
{
    const trace_options options = { .drop_values = true };
    devices_list *list;
    size_t bad = 0;
    ls_status status = devices_open(path, DEVICES_MAX, &options, &list, err);
    if (status != LS_OK)
        return status;
    status = devices_check_waits(list, err);
    for (uint32_t d = 0; d < list->count && status == LS_OK; d++)
        print_device(ctx, list, d);
    for (uint32_t d = 0; d < list->count && status == LS_OK; d++)
        for (size_t i = 0; i < list->at[d].paths.count; i++) {
            const char *trace = list->at[d].paths.at[i];
            if (is_known(list, d, i))
                continue;
            fprintf(ctx->out, "\n%s\n", trace);
            bad += check_trace(ctx, trace, err) != LS_OK;
        }
    devices_close(list);
    if (bad > 1)
        return ls_fail(err, LS_ERR_INPUT, "%zu traces of the list have errors", bad);
    return status == LS_OK && bad > 0 ? err->status : status;
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    const char *path = ctx->positionals[0];
    if (amd_file_is(path))
        return trace_amd_check(ctx, path, err);
    if (devices_is(path) && !starts_with(path, LS_SYNTH_PREFIX))
        return check_devices(ctx, path, err);
    return check_trace(ctx, path, err);
}

/* clang-format off */
static const cli_option options[] = {
    { .name = "limit", .letter = 'n', .type = CLI_UINT, .arg = "N", .default_text = "10",
      .help = "print at most N defects of a kind per file and count the others; 0: print all" },
};

static const cli_positional positionals[] = { CMD_TRACE_PATH_POSITIONAL };
/* clang-format on */

static const cli_example examples[] = {
    { "lockstep trace check traces/bfs", "every defect with file, line, kind and severity" },
    { "lockstep trace check --limit 0 traces/bfs/kernel-3.traceg.xz", "one file, all of its defects" },
    { "lockstep trace check work.list", "a device list: its lines, its waits, and each of its traces" },
};

const cli_command cmd_trace_check = {
    .name = "check",
    .summary = "list everything that is wrong with a trace",
    .about =
        "Reads the whole trace and goes on behind each defect. Errors are what stops a simulation; warnings "
        "and notes are accepted as docs/traces.md says. The exit code is 2 if there is an error.",
    .order = 2,
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run,
};
