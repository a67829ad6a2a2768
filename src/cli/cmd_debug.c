/* cmd_debug.c: `lockstep debug`: a workload or a code object, emulated or in simulated time, with a debugger (src/debug). */
#include "cli/cli.h"

#include "cli/workload_args.h"
#include "debug/debug.h"
#include "platform/config.h"
#include "runtime/timing/timing.h"
#include "workloads/workload.h"

#include <string.h>

/* The program of the command line. */
typedef struct debuggee {
    cli_context *ctx;
    const wl_workload *workload; /* NULL: a code object */
    wl_setting *settings;
    size_t setting_count;
    emulate_object_launch launch;
    const char *gpu; /* NULL: the platform's own */
} debuggee;

/* ------------------------------------------------------------------------------------------------ running */

static ls_status run_workload(debuggee *p, ls_gpu_system *system, ls_error *err)
{
    const wl_request request = { .workload = p->workload,
                                 .system = system,
                                 .settings = p->settings,
                                 .setting_count = p->setting_count,
                                 .check = cli_flag(p->ctx, "verify"),
                                 .variant = cli_text(p->ctx, "variant"),
                                 .seed = cli_uint(p->ctx, "seed") };
    wl_result result;
    return wl_run_workload(&request, &result, err);
}

static ls_status run_program(void *self, const struct ls_gpu_debugger *debugger, ls_time *end, ls_error *err)
{
    debuggee *p = self;
    const char *platform = cli_text(p->ctx, "platform");
    const ls_gpu_options options = { .gpus = p->gpu ? &p->gpu : NULL,
                                     .gpu_count = 1,
                                     .threads = 1,
                                     .platform = platform,
                                     .platform_dirs = cli_texts(p->ctx, "platform-dir"),
                                     .platform_dir_count = cli_count(p->ctx, "platform-dir"),
                                     .sets = cli_texts(p->ctx, "set"),
                                     .set_count = cli_count(p->ctx, "set"),
                                     .memory_bytes = cli_uint(p->ctx, "memory-mib") << 20,
                                     .max_instructions = cli_uint(p->ctx, "max-instructions"),
                                     .strict = cli_flag(p->ctx, "strict"),
                                     .debugger = debugger };
    const emulate_object_printer printer = { .output = EMULATE_OBJECT_BUFFERS, .to = p->ctx->out };
    ls_gpu_system *system;
    ls_status status = ls_gpu_system_create(&options, &system, err);
    if (status != LS_OK)
        return status;
    status = p->workload ? run_workload(p, system, err)
                         : emulate_object_run(p->ctx->arena, system, &p->launch, &printer, NULL, err);
    *end = platform ? timing_result(system).end_time : 0;
    ls_gpu_system_destroy(system);
    return status;
}

/* ------------------------------------------------------------------------------------------- command line */

static ls_status prepare_object(debuggee *p, const char *path, ls_error *err)
{
    ls_status status = workload_args_launch(p->ctx, path, true, &p->launch, err);
    if (status == LS_OK && !cli_given(p->ctx, "grid"))
        return ls_fail(err, LS_ERR_USAGE, "a launch of a code object needs --grid X[,Y[,Z]]");
    if (status == LS_OK && !p->gpu)
        status = emulate_object_target(p->ctx->arena, path, &p->gpu, err);
    return status;
}

static ls_status prepare_workload(debuggee *p, const char *name, ls_error *err)
{
    ls_status status = wl_find(name, &p->workload, err);
    if (status == LS_OK)
        status = workload_args_read(p->ctx, &p->settings, &p->setting_count, err);
    if (status == LS_OK)
        status = wl_name_size(p->workload, p->settings, p->setting_count, err);
    if (!p->gpu && !cli_text(p->ctx, "platform"))
        p->gpu = WORKLOAD_DEFAULT_GPU;
    return status;
}

/* -x and -ex in the order of the command line. */
static debug_script *read_scripts(const cli_context *ctx, size_t *count)
{
    debug_script *scripts = arena_array(ctx->arena, ctx->args->values.count + 1, sizeof *scripts);
    *count = 0;
    for (size_t i = 0; scripts && i < ctx->args->values.count; i++) {
        const cli_value *value = &ctx->args->values.at[i];
        bool is_file = strcmp(value->option->name, "command") == 0;
        if (is_file || strcmp(value->option->name, "ex") == 0)
            scripts[(*count)++] = (debug_script){ .is_file = is_file, .text = value->text };
    }
    return scripts;
}

/* A client brings its own commands. */
static ls_status check_gdb(const cli_context *ctx, ls_error *err)
{
    static const char *const others[] = { "command", "ex", "batch" };
    for (size_t i = 0; cli_given(ctx, "gdb") && i < LS_COUNT_OF(others); i++)
        if (cli_given(ctx, others[i]))
            return ls_fail(err, LS_ERR_USAGE, "--%s has no effect with --gdb: commands come from its client",
                           others[i]);
    return LS_OK;
}

/* Mistakes are found before the first command, not by `run`. */
static ls_status check_platform(const cli_context *ctx, ls_error *err)
{
    if (!cli_given(ctx, "platform"))
        return cli_given(ctx, "set") ? ls_fail(err, LS_ERR_USAGE, "--set needs a platform: --platform NAME")
                                     : LS_OK;
    if (cli_flag(ctx, "strict"))
        return ls_fail(err, LS_ERR_USAGE,
                       "--strict is for emulation, but time is simulated: leave one of them out");
    const config_request request = { .platform = cli_text(ctx, "platform"),
                                     .sets = cli_texts(ctx, "set"),
                                     .set_count = cli_count(ctx, "set"),
                                     .platform_dirs = cli_texts(ctx, "platform-dir"),
                                     .platform_dir_count = cli_count(ctx, "platform-dir") };
    platform_config *config = NULL;
    ls_status status = config_load(&request, &config, NULL, err);
    config_destroy(config);
    return status;
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    const char *what = ctx->positionals[0];
    bool is_object;
    debuggee program = { .ctx = ctx, .gpu = cli_text(ctx, "gpu") };
    debug_options options = { .out = ctx->out,
                              .batch = cli_flag(ctx, "batch"),
                              .run = run_program,
                              .self = &program,
                              .gdb = cli_given(ctx, "gdb"),
                              .gdb_port = (uint16_t)cli_uint(ctx, "gdb") };
    ls_status status = workload_args_emulated(ctx, what, &is_object, err);
    if (status == LS_OK)
        status = check_gdb(ctx, err);
    if (status == LS_OK)
        status = check_platform(ctx, err);
    if (status == LS_OK)
        status = is_object ? prepare_object(&program, what, err) : prepare_workload(&program, what, err);
    if (status != LS_OK)
        return status;
    options.scripts = read_scripts(ctx, &options.script_count);
    if (!options.scripts)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    return debug_main(&options, err);
}

/* clang-format off */
static const cli_option options[] = {
    { .name = "command", .letter = 'x', .type = CLI_TEXT, .arg = "FILE", .repeatable = true,
      .complete = CLI_COMPLETE_FILE, .help = "execute the commands of a file before those of standard input" },
    { .name = "ex", .type = CLI_TEXT, .arg = "COMMAND", .repeatable = true, .one_dash = true,
      .help = "execute a command before those of standard input; -ex is the same" },
    { .name = "batch", .help = "end after the files and commands; the first wrong line of them is an error" },
    { .name = "platform", .type = CLI_TEXT, .arg = "NAME", .complete = CLI_COMPLETE_PLATFORM,
      .help = "debug in simulated time on this platform; otherwise the program is emulated" },
    { .name = "set", .type = CLI_KEY_VALUE, .arg = "KEY=VALUE", .repeatable = true,
      .complete = CLI_COMPLETE_KEY, .help = "with --platform: change one key of it" },
    { .name = "gdb", .type = CLI_UINT, .arg = "PORT", .max = 65535,
      .help = "let gdb or an editor attach to this port of the loopback interface (target remote :PORT); 0: any that is free" },
    EMULATED_GPU_OPTION,
    EMULATED_LIMITS,
    EMULATED_PROGRAM_OPTIONS,
};

static const cli_positional positionals[] = {
    EMULATED_POSITIONAL,
};
/* clang-format on */

static const cli_example examples[] = {
    { "lockstep debug fir --size 128 --batch -x fir.gdb", "the commands of a file, and nothing more" },
    { "lockstep debug reverse.co --grid 64 -a buffer:256 -a buffer:256 -a f32:2 -a u32:64 -ex run",
      "start at once; commands follow from standard input" },
    { "lockstep debug reverse.co --platform w6800 --grid 64 -a buffer:256 -a buffer:256 -a f32:2 -a u32:64 -ex run",
      "the same in simulated time" },
};

static const cli_command debug_command = {
    .name = "debug",
    .summary = "debug an AMD program: break, step, inspect",
    .about =
        "Emulates a workload or a code object, or simulates its time with --platform, and stops where commands in gdb's words say: break points at kernels, "
        "instructions and source lines, watch points on memory and LDS, faults. `help` lists the commands. Source lines "
        "need kernels that were compiled with -g.\n\n"
        "Commands come from -x FILE and -ex COMMAND, then from a terminal or standard input. Output depends on the program "
        "and the commands alone. See docs/debugger.md.",
    .order = 13,
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run,
};
CLI_REGISTER(debug_command);
