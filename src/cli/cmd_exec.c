/* cmd_exec.c: `lockstep exec`: runs an unmodified OpenCL or HIP program on simulated GPUs, by setting the environment in
 * which the program finds our libraries and the libraries find their settings (docs/opencl.md, docs/hip.md). */
#include "cli/cli.h"

#include "base/file.h"
#include "cli/workload_args.h"
#include "lockstep/driver.h"
#include "monitor/monitor.h"
#include "platform/config.h"
#include "platform/needs.h"
#include "report/timeline/timeline.h"
#include "report/series.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPENCL_LIBRARY "liblockstep-opencl.so"
#define HSA_FOLDER "lockstep-hsa" /* has libhsa-runtime64.so.1, which is ours */

static const char *model_name_at(const void *self, size_t i)
{
    (void)self;
    return ls_gpu_model_at(i)->name;
}

/* The driver would find a wrong name too, but the program would only say that there is no platform. */
static ls_status check_gpu(const char *name, ls_error *err)
{
    for (size_t i = 0; i < ls_gpu_model_count(); i++)
        if (strcmp(ls_gpu_model_at(i)->name, name) == 0)
            return LS_OK;
    ls_fail(err, LS_ERR_USAGE, "there is no GPU '%s'", name);
    ls_error_at(err, "--gpu", 0, 0);
    return ls_error_nearest(err, nearest_name(name, ls_gpu_model_count(), model_name_at, NULL));
}

static ls_status set(const char *name, const char *value, ls_error *err)
{
    if (value && setenv(name, value, 1) != 0)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    return LS_OK;
}

/* Beside the program in a build tree, in a library folder near it when installed. NULL: it is not there. */
static ls_status find_near(cli_context *ctx, const char *name, char **out, ls_error *err)
{
    static const char *const places[] = { ".", "../lib", "../lib64", "../lib/x86_64-linux-gnu",
                                          "../lib/aarch64-linux-gnu" };
    char *dir;
    ls_status status = path_of_executable(ctx->arena, &dir, err);
    *out = NULL;
    for (size_t i = 0; i < LS_COUNT_OF(places) && status == LS_OK; i++) {
        char *folder = path_join(ctx->arena, dir, places[i]);
        char *path = folder ? path_join(ctx->arena, folder, name) : NULL;
        if (!path)
            return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
        if (file_exists(path)) {
            *out = path;
            return LS_OK;
        }
    }
    return status;
}

/* A list with colons: our own part first. */
__attribute__((format(printf, 4, 5))) static ls_status set_joined(const char *name, const char *before,
                                                                  ls_error *err, const char *fmt, ...)
{
    char own[4096];
    text_buffer all = { 0 };
    va_list args;
    va_start(args, fmt);
    vsnprintf(own, sizeof own, fmt, args);
    va_end(args);
    text_printf(&all, "%s%s%s", own, before ? ":" : "", before ? before : "");
    ls_status status = all.failed ? ls_fail(err, LS_ERR_NOMEM, "the host has no memory left")
                                  : set(name, text_get(&all), err);
    text_fini(&all);
    return status;
}

/* OpenCL's loader takes the driver by its path. HIP takes the HSA runtime that the dynamic linker finds first. rocminfo
 * looks for AMD's kernel driver before (tools/kfd_present.c). */
static ls_status set_libraries(cli_context *ctx, ls_error *err)
{
    const char *before = getenv("LD_LIBRARY_PATH");
    char *opencl, *hsa;
    ls_status status = find_near(ctx, OPENCL_LIBRARY, &opencl, err);
    if (status == LS_OK)
        status = find_near(ctx, HSA_FOLDER "/libhsa-runtime64.so.1", &hsa, err);
    if (status == LS_OK && !opencl && !hsa)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "neither " OPENCL_LIBRARY " nor " HSA_FOLDER
                       " is near the program: OpenCL and HIP would not find us");
    if (status == LS_OK && opencl)
        status = set("OCL_ICD_VENDORS", opencl, err); /* ocl-icd */
    if (status == LS_OK && opencl)
        status = set("OCL_ICD_FILENAMES", opencl, err); /* the loader of Khronos */
    if (status != LS_OK || !hsa)
        return status;
    const int folder = (int)(strrchr(hsa, '/') - hsa);
    status = set_joined("LD_LIBRARY_PATH", before && *before ? before : NULL, err, "%.*s", folder, hsa);
    const char *program = strrchr(ctx->positionals[0], '/');
    if (status == LS_OK && strcmp(program ? program + 1 : ctx->positionals[0], "rocminfo") == 0)
        status = set_joined("LD_PRELOAD", getenv("LD_PRELOAD"), err, "%.*s/libkfd-present.so", folder, hsa);
    return status;
}

static ls_status set_gpus(cli_context *ctx, ls_error *err)
{
    text_buffer names = { 0 };
    ls_status status = LS_OK;
    for (size_t i = 0; i < cli_count(ctx, "gpu") && status == LS_OK; i++) {
        status = check_gpu(cli_text_at(ctx, "gpu", i), err);
        text_printf(&names, "%s%s", i > 0 ? "," : "", cli_text_at(ctx, "gpu", i));
    }
    if (status == LS_OK && names.failed)
        status = ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    if (status == LS_OK && names.count > 0)
        status = set("LOCKSTEP_GPU", text_get(&names), err);
    text_fini(&names);
    return status;
}

/* The driver finds platform files beside itself; other folders are passed by the environment. */
static ls_status set_platform_path(cli_context *ctx, ls_error *err)
{
    const char *before = getenv("LOCKSTEP_PLATFORM_PATH");
    text_buffer path = { 0 };
    if (cli_count(ctx, "platform-dir") == 0)
        return LS_OK;
    for (size_t i = 0; i < cli_count(ctx, "platform-dir"); i++)
        text_printf(&path, "%s%s", i > 0 ? ":" : "", cli_text_at(ctx, "platform-dir", i));
    if (before && *before)
        text_printf(&path, ":%s", before);
    ls_status status = path.failed ? ls_fail(err, LS_ERR_NOMEM, "the host has no memory left")
                                   : set("LOCKSTEP_PLATFORM_PATH", text_get(&path), err);
    text_fini(&path);
    return status;
}

/* An option, or the variable that the environment has for it. */
static const char *setting(const cli_context *ctx, const char *option, const char *name)
{
    const char *value = cli_given(ctx, option) ? cli_text(ctx, option) : getenv(name);
    return value && *value ? value : NULL;
}

static bool setting_is_on(const char *name)
{
    const char *value = getenv(name);
    return value && *value && strcmp(value, "0") != 0;
}

static bool is_timed_by(const cli_context *ctx)
{
    const char *mode = setting(ctx, "mode", "LOCKSTEP_MODE");
    return mode ? strcmp(mode, "time") == 0 : setting(ctx, "platform", "LOCKSTEP_PLATFORM") != NULL;
}

/* Metrics over time and the live page. The driver would find a wrong word too, but the program would still run. */
static ls_status check_live(const cli_context *ctx, bool is_timed, ls_error *err)
{
    const char *every = setting(ctx, "series-every", "LOCKSTEP_SERIES_EVERY"),
               *out = setting(ctx, "series-out", "LOCKSTEP_SERIES_OUT"),
               *page = setting(ctx, "monitor", "LOCKSTEP_MONITOR");
    bool has_metrics = cli_count(ctx, "series") > 0 || setting_is_on("LOCKSTEP_SERIES");
    const ls_clock any = { .period_num = 1, .period_den = 1 };
    ls_time length;
    uint16_t port;
    if (!is_timed && (every || page))
        return ls_fail(err, LS_ERR_USAGE,
                       "exec: --%s is about simulated time: add --platform PLATFORM or --mode time",
                       every ? "series-every" : "monitor");
    if (!every && (out || has_metrics))
        return ls_fail(err, LS_ERR_USAGE,
                       "exec: --%s needs the length of an interval, as in --series-every 500ns",
                       out ? "series-out" : "series");
    if (every && !out && !page)
        return ls_fail(err, LS_ERR_USAGE, "exec: --series-every needs --series-out FILE or --monitor PORT");
    if (!page && setting(ctx, "monitor-token", "LOCKSTEP_MONITOR_TOKEN"))
        return ls_fail(err, LS_ERR_USAGE, "exec: a monitor's token needs --monitor PORT");
    ls_status status = every ? series_parse_interval(every, &any, &length, err) : LS_OK;
    return status == LS_OK && page ? monitor_parse_port(page, &port, err) : status;
}

/* Combinations in which one option would silently have no effect. */
static ls_status check_options(const cli_context *ctx, ls_error *err)
{
    const char *platform = setting(ctx, "platform", "LOCKSTEP_PLATFORM");
    bool is_timed = is_timed_by(ctx);
    size_t models = cli_count(ctx, "gpu") ? cli_count(ctx, "gpu") : 1;
    if (is_timed && models > 1)
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "exec: GPUs in simulated time are those of a platform: %zu times --gpu is for emulation", models);
    if (is_timed && cli_given(ctx, "trace-instructions"))
        return ls_fail(
            err, LS_ERR_USAGE,
            "exec: --trace-instructions is for emulation, but time is simulated: leave one of them out");
    if (is_timed && (cli_flag(ctx, "strict") || setting_is_on("LOCKSTEP_STRICT")))
        return ls_fail(err, LS_ERR_USAGE,
                       "exec: --strict is for emulation, but time is simulated: leave one of them out");
    if (!is_timed && (cli_flag(ctx, "check-memory") || setting_is_on("LOCKSTEP_CHECK_MEMORY")))
        return ls_fail(err, LS_ERR_USAGE,
                       "exec: --check-memory is for simulated time: give --platform too, or --strict instead");
    if (!is_timed && platform)
        return ls_fail(
            err, LS_ERR_USAGE,
            "exec: --mode emulate simulates no time, so platform '%s' has no effect: leave one of them out",
            platform);
    if (!is_timed && cli_given(ctx, "set"))
        return ls_fail(err, LS_ERR_USAGE,
                       "exec: --set overrides a key of a platform: add --platform PLATFORM or --mode time");
    if (!is_timed && setting(ctx, "rocprof", "LOCKSTEP_ROCPROF"))
        return ls_fail(
            err, LS_ERR_USAGE,
            "exec: --rocprof has counters of simulated time: add --platform PLATFORM or --mode time");
    if (cli_flag(ctx, "summary") && cli_flag(ctx, "no-summary"))
        return ls_fail(err, LS_ERR_USAGE, "exec: --summary and --no-summary: leave one of them out");
    if (cli_given(ctx, "trace-filter") && !setting(ctx, "trace-instructions", "LOCKSTEP_TRACE"))
        return ls_fail(err, LS_ERR_USAGE, "exec: --trace-filter needs --trace-instructions FILE");
    return check_live(ctx, is_timed, err);
}

/* Before the program starts: it would only see that there is no OpenCL, and may call that success. */
static ls_status check_platform(cli_context *ctx, ls_error *err)
{
    const config_request request = { .platform = cli_text(ctx, "platform"),
                                     .sets = cli_texts(ctx, "set"),
                                     .set_count = cli_count(ctx, "set"),
                                     .platform_dirs = cli_texts(ctx, "platform-dir"),
                                     .platform_dir_count = cli_count(ctx, "platform-dir"),
                                     .gpus = cli_given(ctx, "gpus") && cli_uint(ctx, "gpus") > 1
                                                 ? (uint32_t)cli_uint(ctx, "gpus")
                                                 : 0 };
    platform_config *config = NULL;
    if (!request.platform)
        return LS_OK;
    if (!request.sets || !request.platform_dirs)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    ls_status status = config_load(&request, &config, NULL, err);
    size_t number = 0, index;
    if (status == LS_OK)
        status = config_choose_part(config, "amd", "programs", NULL, &number, &index, err);
    const platform_config *gpu =
        status == LS_OK && config_part_count(config) > 0 ? config_part(config, number) : config;
    const config_value *own = status == LS_OK ? config_find(gpu, "target") : NULL;
    const char *target = cli_count(ctx, "gpu") ? cli_text_at(ctx, "gpu", 0) : NULL;
    if (own && target && strcmp(own->text, target) != 0)
        fprintf(
            ctx->err,
            "lockstep: warning: %s code on a machine for %s: platform '%s' gives it the times of its own\n",
            target, own->text, request.platform);
    if (status == LS_OK)
        config_log_idle(config);
    config_destroy(config);
    return status;
}

/* Simulated time has a summary unless the user or the environment says otherwise. */
static ls_status set_summary(const cli_context *ctx, ls_error *err)
{
    const char *before = getenv("LOCKSTEP_SUMMARY");
    if (cli_flag(ctx, "no-summary"))
        return set("LOCKSTEP_SUMMARY", "0", err);
    bool is_default = is_timed_by(ctx) && !(before && *before);
    return cli_flag(ctx, "summary") || is_default ? set("LOCKSTEP_SUMMARY", "1", err) : LS_OK;
}

/* An option that may be given several times: its texts with blanks between them. */
static ls_status set_list(cli_context *ctx, const char *option, const char *variable, ls_error *err)
{
    text_buffer all = { 0 };
    for (size_t i = 0; i < cli_count(ctx, option); i++)
        text_printf(&all, "%s%s", i > 0 ? " " : "", cli_text_at(ctx, option, i));
    ls_status status = all.failed      ? ls_fail(err, LS_ERR_NOMEM, "the host has no memory left")
                       : all.count > 0 ? set(variable, text_get(&all), err)
                                       : LS_OK;
    text_fini(&all);
    return status;
}

/* The driver would find mistakes too, but the program would only see that there is no platform. */
static ls_status check_timeline(const cli_context *ctx, ls_error *err)
{
    const char *path = setting(ctx, "timeline", "LOCKSTEP_TIMELINE");
    if (!path)
        return cli_given(ctx, "timeline-filter") || cli_given(ctx, "timeline-format")
                   ? ls_fail(err, LS_ERR_USAGE, "exec: --timeline-%s has no effect without --timeline FILE",
                             cli_given(ctx, "timeline-filter") ? "filter" : "format")
                   : LS_OK;
    if (!is_timed_by(ctx))
        return ls_fail(err, LS_ERR_USAGE,
                       "exec: --timeline shows simulated time: add --platform PLATFORM or --mode time");
    const timeline_options options = { .path = path,
                                       .format = setting(ctx, "timeline-format", "LOCKSTEP_TIMELINE_FORMAT"),
                                       .filters = cli_texts(ctx, "timeline-filter"),
                                       .filter_count = cli_count(ctx, "timeline-filter") };
    timeline_format format;
    ls_status status = timeline_check(&options, err);
    for (size_t i = 0; i < options.filter_count && status == LS_OK; i++)
        if (strchr(options.filters[i], ' '))
            status = ls_fail(err, LS_ERR_USAGE, "exec: a filter of timelines has no blanks, but '%s' has some",
                             options.filters[i]);
    if (status == LS_OK)
        status = timeline_format_of(path, options.format, &format, err);
    if (status == LS_OK && format == TIMELINE_KANATA)
        status =
            ls_fail(err, LS_ERR_UNSUPPORTED, "exec: only cores of NVIDIA GPUs show their pipelines to Konata");
    return status;
}

/* Options that were given become variables; others are left as the environment has them. */
static ls_status set_all(cli_context *ctx, ls_error *err)
{
    static const struct {
        const char *option, *variable, *unit;
    } given[] = {
        { "gpus", "LOCKSTEP_GPUS", "" },
        { "threads", "LOCKSTEP_THREADS", "" },
        { "compute-units", "LOCKSTEP_COMPUTE_UNITS", "" },
        { "memory-mib", "LOCKSTEP_MEMORY", "M" },
        { "max-instructions", "LOCKSTEP_MAX_INSTRUCTIONS", "" },
        { "trace-instructions", "LOCKSTEP_TRACE", NULL },
        { "record", "LOCKSTEP_RECORD", NULL },
        { "metrics", "LOCKSTEP_METRICS", NULL },
        { "rocprof", "LOCKSTEP_ROCPROF", NULL },
        { "timeline", "LOCKSTEP_TIMELINE", NULL },
        { "timeline-format", "LOCKSTEP_TIMELINE_FORMAT", NULL },
        { "series-every", "LOCKSTEP_SERIES_EVERY", NULL },
        { "series-out", "LOCKSTEP_SERIES_OUT", NULL },
        { "monitor", "LOCKSTEP_MONITOR", NULL },
        { "monitor-token", "LOCKSTEP_MONITOR_TOKEN", NULL },
        { "mode", "LOCKSTEP_MODE", NULL },
        { "platform", "LOCKSTEP_PLATFORM", NULL },
        { "devices", "LOCKSTEP_DEVICES", NULL },
        { "spread", "LOCKSTEP_SPREAD", NULL },
        { "pages", "LOCKSTEP_PAGES", NULL },
    };
    static const struct {
        const char *option, *variable;
    } lists[] = {
        { "set", "LOCKSTEP_SET" },
        { "series", "LOCKSTEP_SERIES" },
        { "trace-filter", "LOCKSTEP_TRACE_FILTER" },
        { "timeline-filter", "LOCKSTEP_TIMELINE_FILTER" },
    };
    char number[32];
    ls_status status = set_gpus(ctx, err);
    for (size_t i = 0; i < LS_COUNT_OF(given) && status == LS_OK; i++) {
        if (!cli_given(ctx, given[i].option))
            continue;
        if (given[i].unit)
            snprintf(number, sizeof number, "%" PRIu64 "%s", cli_uint(ctx, given[i].option), given[i].unit);
        status = set(given[i].variable, given[i].unit ? number : cli_text(ctx, given[i].option), err);
    }
    if (status == LS_OK && cli_flag(ctx, "strict"))
        status = set("LOCKSTEP_STRICT", "1", err);
    if (status == LS_OK && cli_flag(ctx, "check-memory"))
        status = set("LOCKSTEP_CHECK_MEMORY", "1", err);
    if (status == LS_OK)
        status = set_summary(ctx, err);
    if (status == LS_OK)
        status = set_platform_path(ctx, err);
    for (size_t i = 0; i < LS_COUNT_OF(lists) && status == LS_OK; i++)
        status = set_list(ctx, lists[i].option, lists[i].variable, err);
    return status;
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    const char **args = arena_array(ctx->arena, ctx->positional_count + 1, sizeof *args);
    if (!args)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left");
    if (cli_given(ctx, "checkpoint"))
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "exec: --checkpoint is not possible: the memory and the threads of a foreign program cannot be "
            "saved; a recording of it can (docs/scale.md)");
    ls_status status = check_options(ctx, err);
    if (status == LS_OK)
        status = check_platform(ctx, err);
    if (status == LS_OK)
        status = check_timeline(ctx, err);
    if (status == LS_OK)
        status = set_all(ctx, err);
    if (status == LS_OK)
        status = set_libraries(ctx, err);
    if (status != LS_OK)
        return status;
    for (size_t i = 0; i < ctx->positional_count; i++)
        args[i] = ctx->positionals[i];
    args[ctx->positional_count] = NULL;
    fflush(ctx->out);
    fflush(ctx->err);
    execvp(ctx->positionals[0], (char *const *)(uintptr_t)args);
    return ls_fail(err, errno == ENOENT ? LS_ERR_USAGE : LS_ERR_IO, "cannot run '%s': %s", ctx->positionals[0],
                   strerror(errno));
}

static const char *const modes[] = { "emulate", "time", NULL }, *const device_modes[] = { "discrete",
                                                                                          "unified", NULL };

/* clang-format off */
static const cli_option options[] = {
    { .name = "checkpoint", .type = CLI_TEXT, .arg = "FILE",
      .help = "refused: the state of a foreign program cannot be saved; run a recording of it with checkpoints" },
    { .name = "gpu", .letter = 'g', .type = CLI_TEXT, .arg = "GPU", .repeatable = true,
      .help = "a GPU of the system: gfx803, gfx1010, gfx1030, gfx90a or gfx942; otherwise one gfx1030" },
    { .name = "gpus", .type = CLI_UINT, .arg = "N", .min = 1, .max = 16, .help = "so many of each; of a platform: a system of N GPUs" },
    { .name = "devices", .type = CLI_CHOICE, .arg = "HOW", .choices = device_modes,
      .help = "each GPU is a device (discrete, the default), or all of them are one (unified)" },
    { .name = "spread", .type = CLI_TEXT, .arg = "HOW",
      .help = "unified device: work-groups to GPUs: blocked (default), interleaved, or central: GPU 0 places them" },
    { .name = "pages", .type = CLI_TEXT, .arg = "HOW",
      .help = "unified device: memory to GPUs: interleaved (default), blocked, one (GPU 0), or first-touch (migrate.model)" },
    { .name = "threads", .letter = 'j', .type = CLI_UINT, .arg = "N", .min = 1, .max = 1024,
      .help = "host threads for the work-groups of a launch" },
    { .name = "compute-units", .type = CLI_UINT, .arg = "N", .min = 1, .max = 4096,
      .help = "compute units that each GPU says it has; many programs choose their amount of work by it" },
    { .name = "mode", .type = CLI_CHOICE, .arg = "MODE", .choices = modes,
      .help = "emulate: what programs compute (default); time: how long they take too" },
    { .name = "platform", .letter = 'p', .type = CLI_TEXT, .arg = "PLATFORM", .complete = CLI_COMPLETE_PLATFORM,
      .help = "simulate time on this platform; otherwise, with --mode time, on one with the GPU's instruction set" },
    { .name = "set", .letter = 's', .type = CLI_KEY_VALUE, .arg = "KEY=VALUE", .repeatable = true,
      .complete = CLI_COMPLETE_KEY, .help = "override a key of the platform; the last one of a key counts" },
    { .name = "memory-mib", .type = CLI_UINT, .arg = "N", .min = 1, .max = 1u << 20,
      .help = "memory of each GPU; otherwise what the real one has" },
    { .name = "max-instructions", .type = CLI_UINT, .arg = "N",
      .help = "stop a launch when a wavefront has executed so many; 0: never" },
    { .name = "strict",
      .help = "emulation: a launch fails at a byte outside of all buffers, a value that nothing wrote, a race "
              "between waves; then the exit code is 5" },
    { .name = "check-memory",
      .help = "simulated time: compare every read with the last write that happened before it; then the exit code is 5 "
              "if one is wrong, and races are lines" },
    { .name = "trace-instructions", .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "write each executed instruction and the registers it wrote as a line of JSON" },
    { .name = "trace-filter", .type = CLI_TEXT, .arg = "FILTER", .repeatable = true,
      .help = "trace only group=X,Y,Z or wave=N or pc=FROM-TO or kernel=NAME" },
    { .name = "record", .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "write what every wavefront executes, without data, as a packed recording" },
    { .name = "metrics", .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "write what all launches executed as JSON when the program ends" },
    { .name = "summary",
      .help = "print one screen on standard error when the program ends: time, limits, costliest kernels; in simulated "
              "time this is the default" },
    { .name = "no-summary", .help = "no summary when the program ends" },
    { .name = "rocprof", .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "simulated time: write a CSV row per launch, with counters under the names of rocprof" },
    TIMELINE_OPTIONS,
    { .name = "series-every", .type = CLI_TEXT, .arg = "INTERVAL",
      .help = "simulated time: keep metrics in intervals of this time (500ns, 1000cycles), for --series-out or --monitor" },
    { .name = "series", .type = CLI_TEXT, .arg = "METRIC", .repeatable = true,
      .help = "with --series-every: these metrics, as in dram/*.reads; otherwise stalls, instructions, caches, DRAM" },
    { .name = "series-out", .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "with --series-every: write them as CSV, a row per interval" },
    { .name = "monitor", .type = CLI_TEXT, .arg = "PORT",
      .help = "simulated time: show the program on a page at this port of 127.0.0.1; 0: any that is free" },
    { .name = "monitor-token", .type = CLI_TEXT, .arg = "TOKEN",
      .help = "with --monitor: the page may pause, step, continue and stop with this token (auto: a random one)" },
};

static const cli_positional positionals[] = {
    { .name = "COMMAND", .repeatable = true, .complete = CLI_COMPLETE_FILE,
      .help = "the program and its arguments; -- before it ends our options" },
};

static const cli_example examples[] = {
    { "lockstep exec --gpu gfx1010 -- clinfo", "the simulated GPU's description of itself" },
    { "lockstep exec --platform r9nano -- ./nbody -n 1024", "in simulated time, with a summary at its end" },
    { "lockstep exec -p r9nano --timeline run.html -- ./nbody -n 1024", "its kernels, waves and requests over time" },
    { "lockstep exec --gpu gfx803 --metrics counts.json -- ./nbody -n 1024", "a program, with counts" },
};
/* clang-format on */

static const cli_command exec_command = {
    .name = "exec",
    .summary = "run an OpenCL or HIP program on simulated GPUs",
    .about =
        "Starts the program with the OpenCL driver of the simulator as its only platform, and with its HSA runtime, on "
        "which HIP stands. The program is not changed; its standard output and its exit code are its own.\n\nThe "
        "options become the environment variables LOCKSTEP_GPU, LOCKSTEP_THREADS and so on, which can also be set by "
        "hand together with OCL_ICD_VENDORS for OpenCL and LD_LIBRARY_PATH for HIP.",
    .order = 13,
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run,
};
CLI_REGISTER(exec_command);
