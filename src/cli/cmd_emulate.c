/* cmd_emulate.c: `lockstep emulate`: runs a workload, or any code object, without timing. */
#include "cli/cli.h"

#include "base/file.h"
#include "cli/workload_args.h"
#include "sim/emulate_output.h"
#include "workloads/workload.h"

#include <inttypes.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------- the machine */

/* The filters of all --trace-filter options, as the driver reads them. */
static const char *join_filters(const cli_context *ctx)
{
    const char *joined = cli_count(ctx, "trace-filter") ? "" : NULL;
    for (size_t i = 0; joined && i < cli_count(ctx, "trace-filter"); i++)
        joined = arena_printf(ctx->arena, "%s %s", joined, cli_text_at(ctx, "trace-filter", i));
    return joined;
}

static ls_status make_system(const cli_context *ctx, const char *gpu, ls_gpu_system **out, ls_error *err)
{
    const ls_gpu_options options = {
        .gpus = &gpu,
        .gpu_count = 1,
        .threads = (uint32_t)cli_uint(ctx, "threads"),
        .memory_bytes = cli_uint(ctx, "memory-mib") << 20,
        .max_instructions = cli_uint(ctx, "max-instructions"),
        .trace_path = cli_text(ctx, "trace-instructions"),
        .trace_filter = join_filters(ctx),
        .record_path = cli_text(ctx, "record"),
        .strict = cli_flag(ctx, "strict"),
    };
    if (options.trace_filter && !options.trace_path)
        return ls_fail(err, LS_ERR_USAGE, "--trace-filter needs --trace-instructions FILE");
    return ls_gpu_system_create(&options, out, err);
}

/* The trace is worth most when the run failed: it is completed in any case. */
static ls_status close_system(ls_gpu_system *system, ls_status status, ls_error *err)
{
    ls_error trace_err;
    ls_status trace_status = ls_gpu_system_close_trace(system, &trace_err);
    ls_gpu_system_destroy(system);
    if (status == LS_OK && trace_status != LS_OK) {
        *err = trace_err;
        return trace_status;
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------- workload */

static const char *verification(const wl_request *request, const wl_result *result, ls_status status)
{
    if (!request->check)
        return "not asked";
    if (status == LS_OK)
        return "correct";
    return result->is_wrong ? "wrong" : "not reached";
}

static ls_status print_json(const cli_context *ctx, const wl_request *request, const char *gpu,
                            const wl_result *result, ls_status status, const ls_error *failure, ls_error *err)
{
    json_writer j;
    char hash[24];
    json_to_file(&j, ctx->out, 2);
    json_begin_object(&j);
    json_put_text(&j, "workload", request->workload->name);
    json_put_text(&j, "gpu", gpu);
    json_key(&j, "options");
    json_begin_object(&j);
    for (size_t i = 0; i < request->workload->option_count; i++) {
        const wl_option *o = &request->workload->options[i];
        uint64_t value = o->value;
        for (size_t s = 0; s < request->setting_count; s++)
            if (strcmp(request->settings[s].name, o->name) == 0)
                value = request->settings[s].value;
        json_put_u64(&j, o->name, value);
    }
    json_end(&j);
    emulate_json_counts(&j, &result->counts);
    json_put_text(&j, "verification", verification(request, result, status));
    json_put_u64(&j, "compared", result->compared);
    snprintf(hash, sizeof hash, "%016" PRIx64, result->hash);
    json_put_text(&j, "hash", hash);
    if (status != LS_OK)
        json_put_text(&j, "error", failure->what);
    json_end(&j);
    return json_finish(&j, err);
}

static void print_text(const cli_context *ctx, const wl_request *request, const char *gpu,
                       const wl_result *result, ls_status status)
{
    cli_style style = cli_style_of(ctx->color_out);
    char text[LS_FORMAT_BYTES];
    fprintf(ctx->out, "%s%s%s on %s\n", style.name, request->workload->name, style.off, gpu);
    emulate_print_counts(ctx->out, ctx->color_out, &result->counts);
    if (request->check && status == LS_OK)
        fprintf(ctx->out, "  %-16s %s%18s%s  %s values compared with the CPU\n", "verification", style.good,
                "correct", style.off, format_count(result->compared, text, sizeof text));
    else if (result->is_wrong)
        fprintf(ctx->out, "  %-16s %s%18s%s\n", "verification", style.bad, "WRONG", style.off);
}

static ls_status run_workload(cli_context *ctx, const wl_workload *w, ls_error *err)
{
    const char *gpu = cli_text(ctx, "gpu") ? cli_text(ctx, "gpu") : WORKLOAD_DEFAULT_GPU;
    wl_setting *settings;
    wl_request request = { .workload = w,
                           .check = cli_flag(ctx, "verify"),
                           .variant = cli_text(ctx, "variant"),
                           .seed = cli_uint(ctx, "seed") };
    wl_result result;
    ls_status status = workload_args_read(ctx, &settings, &request.setting_count, err), print_status = LS_OK;
    request.settings = settings;
    if (status == LS_OK)
        status = wl_name_size(w, settings, request.setting_count, err);
    if (status == LS_OK)
        status = make_system(ctx, gpu, &request.system, err);
    if (status != LS_OK)
        return status;
    status = wl_run_workload(&request, &result, err);
    /* A wrong result is a result too; other failures have only their reason. */
    if (status == LS_OK || status == LS_ERR_CHECK) {
        ls_error print_err;
        if (cli_flag(ctx, "json"))
            print_status = print_json(ctx, &request, gpu, &result, status, err, &print_err);
        else
            print_text(ctx, &request, gpu, &result, status);
        if (status == LS_OK && print_status != LS_OK) {
            *err = print_err;
            status = print_status;
        }
    }
    return close_system(request.system, status, err);
}

/* ------------------------------------------------------------------------------------------------- object */

static ls_status run_object(cli_context *ctx, const char *path, ls_error *err)
{
    const char *gpu = cli_text(ctx, "gpu");
    ls_gpu_system *system = NULL;
    emulate_object_launch launch;
    const emulate_object_printer printer = { .output = cli_flag(ctx, "json") ? EMULATE_OBJECT_JSON
                                                                             : EMULATE_OBJECT_TEXT,
                                             .to = ctx->out,
                                             .color = ctx->color_out };
    ls_status status = workload_args_launch(ctx, path, true, &launch, err);
    if (status == LS_OK && !cli_given(ctx, "grid"))
        return ls_fail(err, LS_ERR_USAGE, "a launch of a code object needs --grid X[,Y[,Z]]");
    if (status == LS_OK && !gpu)
        status = emulate_object_target(ctx->arena, path, &gpu, err);
    if (status == LS_OK)
        status = make_system(ctx, gpu, &system, err);
    if (status != LS_OK)
        return status;
    status = emulate_object_run(ctx->arena, system, &launch, &printer, NULL, err);
    return close_system(system, status, err);
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    const char *what = ctx->positionals[0];
    const wl_workload *w;
    bool is_object;
    ls_status status = workload_args_emulated(ctx, what, &is_object, err);
    if (status == LS_OK && is_object)
        return run_object(ctx, what, err);
    if (status == LS_OK)
        status = wl_find(what, &w, err);
    return status == LS_OK ? run_workload(ctx, w, err) : status;
}

/* clang-format off */
static const cli_option options[] = {
    EMULATED_GPU_OPTION,
    { .name = "threads", .letter = 'j', .type = CLI_UINT, .arg = "N", .default_text = "1", .min = 1,
      .max = 1024, .help = "host threads for the work-groups of a launch" },
    EMULATED_LIMITS,
    { .name = "trace-instructions", .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "write each executed instruction, the registers it wrote and its access as JSON; packed if it ends in .lsit" },
    { .name = "trace-filter", .type = CLI_TEXT, .arg = "FILTER", .repeatable = true,
      .help = "trace only group=X,Y,Z, wave=N, pc=FROM-TO or kernel=NAME; with=sources: also the registers it read" },
    { .name = "record", .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "write what every wavefront executes, without data, as a packed recording" },
    { .name = "json", .help = "print JSON" },
    EMULATED_PROGRAM_OPTIONS,
};

static const cli_positional positionals[] = {
    EMULATED_POSITIONAL,
};
/* clang-format on */

static const cli_example examples[] = {
    { "lockstep emulate fir --gpu gfx1010 --size 65536 --verify", "run a workload and check its result" },
    { "lockstep emulate fir --trace-instructions fir.jsonl --trace-filter group=0,0,0 --trace-filter wave=0",
      "what one wavefront does, register by register" },
    { "lockstep emulate fir --gpu gfx803 --record fir.lspk",
      "what all wavefronts execute, for lockstep run fir.lspk --platform r9nano" },
    { "lockstep emulate vector_add.co --grid 64 -a buffer:256:iota -a buffer:256 -a buffer:256 -a u32:64 --print c",
      "launch any kernel" },
};

static const cli_command emulate_command = {
    .name = "emulate",
    .summary = "run a workload or an AMD code object without timing",
    .about =
        "Executes every instruction, as fast as the host allows, and says how many there were of each kind. A "
        "name with a dot or a slash is the file of a code object; anything else is a workload.\n\n"
        "An argument of a code object is TYPE:VALUE with u8 to u64, i8 to i64, f32, f64, or hex:BYTES in the "
        "order of memory; buffer:BYTES, followed by :zero, :iota (32-bit numbers from 0), :random or :TYPE=VALUE; "
        "buffer:@FILE; or local:BYTES. After the launch each buffer's hash is printed.",
    .order = 12,
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run,
};
CLI_REGISTER(emulate_command);
