/* cmd_trace_info.c: `lockstep trace info`: the contents of a trace, as text and as JSON. */
#include "cli/cmd_trace.h"

#include "base/json.h"
#include "cli/trace_amd.h"
#include "isa/sass/sass.h"
#include "workload/select.h"
#include "workload/stats.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#define NAME_BYTES 160
#define TABLE_WIDTH 78 /* of the kernels' table without their names */

typedef struct info_run {
    const cli_context *ctx;
    json_writer json; /* used if as_json */
    bool as_json, each;
    cli_style style;
    unsigned name_width; /* columns for names in the table */
} info_run;

static uint64_t file_bytes(const char *path)
{
    struct stat s;
    return path && stat(path, &s) == 0 && s.st_size > 0 ? (uint64_t)s.st_size : 0;
}

/* The name of the row that an unknown opcode is nearest to; NULL if there is none. */
static const char *nearest(const char *opcode)
{
    const sass_line line = { .opcode = opcode, .opcode_bytes = strlen(opcode) };
    static _Thread_local ls_error said;
    ls_inst inst;
    ls_error_clear(&said);
    sass_decode(80, &line, false, &inst, &said);
    return said.nearest[0] ? said.nearest : NULL;
}

/* --------------------------------------------------------------------------------------------------- JSON */

static void json_opcodes(json_writer *j, const char *key, const opcode_list *list, bool unknown)
{
    json_key(j, key);
    json_array(j);
    for (size_t i = 0; i < list->count; i++) {
        json_flat(j);
        json_begin_object(j);
        json_put_text(j, "opcode", list->at[i].opcode);
        json_put_u64(j, "pc", list->at[i].pc);
        json_put_u64(j, "count", list->at[i].count);
        if (unknown) {
            json_put_text(j, "nearest", nearest(list->at[i].opcode));
        }
        json_end(j);
    }
    json_end(j);
}

static void json_stats(json_writer *j, const trace_stats *s)
{
    json_put_u64(j, "thread_blocks", s->blocks);
    json_put_u64(j, "warps", s->warps);
    json_put_u64(j, "static_instructions", s->static_insts);
    json_put_u64(j, "warp_instructions", s->warp_insts);
    json_put_u64(j, "thread_instructions", s->thread_insts);
    json_put_u64(j, "idle_warp_instructions", s->idle_insts);
    json_key(j, "classes");
    json_begin_object(j);
    for (int i = 0; i < LS_CLASS_COUNT; i++)
        if (s->classes[i])
            json_put_u64(j, inst_class_name((ls_inst_class)i), s->classes[i]);
    json_end(j);
    json_key(j, "memory");
    json_begin_object(j);
    for (int i = 0; i < LS_SPACE_COUNT; i++) {
        if (!s->spaces[i].insts)
            continue;
        cmd_trace_json_space(j, mem_space_name((ls_mem_space)i), "warp_instructions",
                             (const uint64_t[]){ s->spaces[i].insts, s->spaces[i].lanes, s->spaces[i].bytes });
    }
    json_end(j);
    json_opcodes(j, "unknown_opcodes", &s->unknown, true);
    json_opcodes(j, "unmodelled_opcodes", &s->unmodelled, false);
    json_opcodes(j, "ignored_opcodes", &s->ignored, false);
}

static void json_kernel(info_run *run, uint64_t number, const ls_kernel_info *info, const trace_stats *s)
{
    json_writer *j = &run->json;
    json_begin_object(j);
    json_put_u64(j, "number", number);
    json_put_u64(j, "id", info->id);
    json_put_text(j, "name", info->name);
    json_put_text(j, "file", info->file);
    json_put_u64(j, "file_bytes", file_bytes(info->file));
    json_put_sizes(j, "grid", info->grid);
    json_put_sizes(j, "block", info->block);
    json_put_u64(j, "registers", info->registers);
    json_put_u64(j, "shared_bytes", info->shared_bytes);
    json_put_u64(j, "stream", info->stream);
    json_put_u64(j, "binary_version", info->binary_version);
    json_put_u64(j, "tracer_version", info->tracer_version);
    json_stats(j, s);
    json_end(j);
}

/* --------------------------------------------------------------------------------------------------- text */

static void print_opcodes(const info_run *run, const opcode_list *list, const char *what, const char *style,
                          const char *indent)
{
    char a[LS_FORMAT_BYTES];
    for (size_t i = 0; i < list->count; i++)
        fprintf(run->ctx->out, "%s%s%-14s%s %15s  %s, first at pc 0x%" PRIx64 "\n", indent, style, what,
                run->style.off, format_count(list->at[i].count, a, sizeof a), list->at[i].opcode,
                list->at[i].pc);
}

static void print_mix(const info_run *run, const trace_stats *s, const char *indent)
{
    FILE *out = run->ctx->out;
    char a[LS_FORMAT_BYTES], b[LS_FORMAT_BYTES];
    double all = s->warp_insts ? (double)s->warp_insts : 1;
    for (int i = 0; i < LS_CLASS_COUNT; i++)
        if (s->classes[i])
            fprintf(out, "%s%-14s %15s  %5.1f %%  %s\n", indent, inst_class_name((ls_inst_class)i),
                    format_count(s->classes[i], a, sizeof a), 100 * (double)s->classes[i] / all,
                    inst_class_help((ls_inst_class)i));
    for (int i = 0; i < LS_SPACE_COUNT; i++) {
        const access_stats *space = &s->spaces[i];
        if (space->insts)
            fprintf(out, "%s%-14s %15s  %5.1f lanes  %s\n", indent, mem_space_name((ls_mem_space)i),
                    format_count(space->insts, a, sizeof a), (double)space->lanes / (double)space->insts,
                    format_si((double)space->bytes, "B", b, sizeof b));
    }
    for (size_t i = 0; i < s->unknown.count; i++) {
        const opcode_tally *u = &s->unknown.at[i];
        const char *near = nearest(u->opcode);
        fprintf(out, "%s%sunknown%s        %15s  %s at pc 0x%" PRIx64 "%s%s%s\n", indent, run->style.bad,
                run->style.off, format_count(u->count, a, sizeof a), u->opcode, u->pc,
                near ? " (nearest: " : "", near ? near : "", near ? ")" : "");
    }
    print_opcodes(run, &s->unmodelled, "not modelled", run->style.bad, indent);
    print_opcodes(run, &s->ignored, "ignored", run->style.dim, indent);
}

static void print_head(const info_run *run)
{
    fprintf(run->ctx->out, "%s%4s  %-*s  %12s %10s %4s %7s %6s %12s %13s%s\n", run->style.title, "",
            run->name_width, "KERNEL", "GRID", "BLOCK", "REGS", "SHARED", "STATIC", "WARP INSTS",
            "THREAD INSTS", run->style.off);
}

static const char *triple(const uint32_t sizes[3], char *out, size_t bytes)
{
    snprintf(out, bytes, "%" PRIu32 ",%" PRIu32 ",%" PRIu32, sizes[0], sizes[1], sizes[2]);
    return out;
}

static void print_kernel(const info_run *run, uint64_t number, const ls_kernel_info *info,
                         const trace_stats *s)
{
    char name[NAME_BYTES], grid[48], block[48], shared[LS_FORMAT_BYTES], a[LS_FORMAT_BYTES],
        b[LS_FORMAT_BYTES];
    const char *shown = *info->name ? info->name : "(no name)";
    quote_text(shown, strlen(shown), name, run->name_width + 1);
    fprintf(run->ctx->out, "%4" PRIu64 "  %s%-*s%s  %12s %10s %4" PRIu32 " %7s %6" PRIu64 " %12s %13s", number,
            run->style.name, run->name_width, name, run->style.off, triple(info->grid, grid, sizeof grid),
            triple(info->block, block, sizeof block), info->registers,
            format_count(info->shared_bytes, shared, sizeof shared), s->static_insts,
            format_count(s->warp_insts, a, sizeof a), format_count(s->thread_insts, b, sizeof b));
    if (info->stream)
        fprintf(run->ctx->out, "  stream %" PRIu64, info->stream);
    fputc('\n', run->ctx->out);
    if (run->each)
        print_mix(run, s, "      ");
}

static void print_total(const info_run *run, const trace_stats *s, uint64_t bytes)
{
    FILE *out = run->ctx->out;
    char a[LS_FORMAT_BYTES];
    double lanes = s->warp_insts ? (double)s->thread_insts / (double)s->warp_insts : 0;
    fprintf(out, "\n%sTotal%s\n", run->style.title, run->style.off);
    fprintf(out, "  %-14s %15s\n", "kernels", format_count(s->kernels, a, sizeof a));
    fprintf(out, "  %-14s %15s\n", "thread blocks", format_count(s->blocks, a, sizeof a));
    fprintf(out, "  %-14s %15s\n", "warps", format_count(s->warps, a, sizeof a));
    fprintf(out, "  %-14s %15s  %5.1f lanes\n", "warp insts", format_count(s->warp_insts, a, sizeof a), lanes);
    fprintf(out, "  %-14s %15s\n", "thread insts", format_count(s->thread_insts, a, sizeof a));
    fprintf(out, "  %-14s %15s\n", "without a lane", format_count(s->idle_insts, a, sizeof a));
    fprintf(out, "  %-14s %15s\n", "files", format_si((double)bytes, "B", a, sizeof a));
    fprintf(out, "\n%sInstructions by class, accesses by space%s\n", run->style.title, run->style.off);
    print_mix(run, s, "  ");
}

/* ------------------------------------------------------------------------------------------------ command */

static ls_status show_kernel(info_run *run, sass_trace *trace, const selected_kernel *selected, ls_cta *cta,
                             trace_stats *total, uint64_t *bytes, ls_error *err)
{
    trace_kernel *kernel;
    trace_stats stats = { 0 };
    ls_status status = trace_open_kernel(trace, selected->command, &kernel, err);
    if (status != LS_OK)
        return status;
    kernel_limit(kernel, cli_uint(run->ctx, "ctas"));
    status = trace_stats_read(&stats, kernel, cta, err);
    if (status == LS_OK) {
        const ls_kernel_info *info = kernel_get_info(kernel);
        *bytes += file_bytes(info->file);
        if (run->as_json)
            json_kernel(run, selected->number, info, &stats);
        else
            print_kernel(run, selected->number, info, &stats);
        if (!trace_stats_merge(total, &stats))
            status = ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    }
    kernel_close(kernel);
    trace_stats_fini(&stats);
    return status;
}

static ls_status show_trace(info_run *run, sass_trace *trace, trace_stats *total, ls_error *err)
{
    kernel_selection selection;
    ls_cta cta = { 0 };
    uint64_t bytes = 0;
    ls_status status = select_kernels(trace, cli_text(run->ctx, "kernels"), &selection, err);
    if (status != LS_OK)
        return status;
    if (run->as_json) {
        json_to_file(&run->json, run->ctx->out, 2);
        json_begin_object(&run->json);
        json_key(&run->json, "kernels");
        json_array(&run->json);
    } else {
        print_head(run);
    }
    for (size_t i = 0; i < selection.count && status == LS_OK; i++)
        status = show_kernel(run, trace, &selection.at[i], &cta, total, &bytes, err);
    if (status == LS_OK && run->as_json) {
        json_end(&run->json);
        json_key(&run->json, "total");
        json_begin_object(&run->json);
        json_put_u64(&run->json, "kernels", total->kernels);
        json_put_u64(&run->json, "file_bytes", bytes);
        json_stats(&run->json, total);
        json_end(&run->json);
        json_end(&run->json);
        status = json_finish(&run->json, err);
    } else if (status == LS_OK) {
        print_total(run, total, bytes);
    }
    selection_fini(&selection);
    ls_cta_fini(&cta);
    return status;
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    const trace_options options = { .unknown_opcodes_as_alu = true, .drop_values = true };
    unsigned width = cli_width(ctx->out);
    info_run info = {
        .ctx = ctx,
        .as_json = cli_flag(ctx, "json"),
        .each = cli_flag(ctx, "each"),
        .style = cli_style_of(ctx->color_out),
        .name_width = width > TABLE_WIDTH + 16 ? width - TABLE_WIDTH : 16,
    };
    trace_stats total = { 0 };
    sass_trace *trace;
    if (amd_file_is(ctx->positionals[0]))
        return trace_amd_info(ctx, ctx->positionals[0], err);
    ls_status status = trace_open(ctx->positionals[0], &options, &trace, err);
    if (status == LS_OK)
        status = show_trace(&info, trace, &total, err);
    if (status == LS_OK && total.unknown.count && cli_choice(ctx, "unknown-opcodes") == 0) {
        ls_fail(err, LS_ERR_UNSUPPORTED, "the trace has %zu unknown opcode%s, the first is '%s'",
                total.unknown.count, total.unknown.count == 1 ? "" : "s", total.unknown.at[0].opcode);
        status = ls_error_nearest(err, nearest(total.unknown.at[0].opcode));
    }
    trace_close(trace);
    trace_stats_fini(&total);
    return status;
}

/* clang-format off */
static const cli_option options[] = {
    CMD_TRACE_KERNELS_OPTION,
    { .name = "ctas", .type = CLI_UINT, .arg = "N",
      .help = "look only at the first N thread blocks of each kernel; 0: at all" },
    { .name = "each", .letter = 'e', .help = "print the instruction mix of every kernel, not only of all" },
    { .name = "json", .help = "print JSON" },
    CMD_TRACE_UNKNOWN_OPTION,
};

static const cli_positional positionals[] = { CMD_TRACE_PATH_POSITIONAL };
/* clang-format on */

static const cli_example examples[] = {
    { "lockstep trace info traces/bfs", "the kernels, and what all of them consist of" },
    { "lockstep trace info traces/bfs --kernels 3-7,name:*Kernel2* --each",
      "some kernels, each with its mix" },
    { "lockstep trace info traces/bfs --json", "all of it for other programs" },
};

const cli_command cmd_trace_info = {
    .name = "info",
    .summary = "print kernels, instruction mix and memory accesses of a trace",
    .about =
        "Kernels are numbered as in the list, from 1. STATIC counts different instructions that were "
        "executed; SHARED is in bytes. Accesses to generic addresses count where they go. An opcode that no "
        "table has is listed, and the exit code is 3, unless --unknown-opcodes alu is given. Opcodes with an "
        "effect that no model has are listed too: `not modelled` ones stop a run on a platform without a unit for them (see run --unmodelled), "
        "`ignored` ones do not.",
    .order = 1,
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run,
};
