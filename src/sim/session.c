/* session.c: opens, runs and closes one simulation (lockstep/sim.h). */
#include "sim/session.h"

#include "base/file.h"
#include "base/log.h"
#include "base/pool.h"
#include "model/amd/amd_gpu.h"
#include "model/gpu/gpu.h"
#include "report/source.h"
#include "report/timeline/timeline.h"
#include "sim/fidelity.h"
#include "sim/session_checkpoint.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

uint32_t ls_sim_abi_version(void)
{
    return LS_ABI_VERSION;
}

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "out of memory");
}

ls_status session_take(void *to, size_t bytes, const void *from, const char *what, ls_error *err)
{
    size_t given;
    memcpy(&given, from, sizeof given);
    if (given < sizeof given || given > bytes)
        return ls_fail(err, LS_ERR_USAGE,
                       "%s has %zu bytes, but this library (ABI %u) knows %zu: build the program anew, or set "
                       "its first member",
                       what, given, LS_ABI_VERSION, bytes);
    memset(to, 0, bytes);
    memcpy(to, from, given);
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------ plug-ins */

/* A plug-in stays in the process: the next simulation that needs it does not load it again. */
static pthread_mutex_t plugins_lock = PTHREAD_MUTEX_INITIALIZER;
static LS_VEC(struct stat) plugins;

static ls_status load_plugin(const char *path, ls_error *err)
{
    struct stat st = { 0 };
    bool is_there = stat(path, &st) == 0;
    for (size_t i = 0; is_there && i < plugins.count; i++)
        if (plugins.at[i].st_dev == st.st_dev && plugins.at[i].st_ino == st.st_ino)
            return LS_OK;
    ls_status status = ls_plugin_load(path, err);
    if (status == LS_OK && is_there && !vec_push(&plugins, st))
        status = no_memory(err);
    return status;
}

ls_status ls_sim_load_plugins(const char *const *paths, size_t count, ls_error *err)
{
    ls_status status = LS_OK;
    pthread_mutex_lock(&plugins_lock);
    (void)ls_registry_block_count(); /* sorted once, not by two threads */
    for (size_t i = 0; i < count && status == LS_OK; i++)
        status = load_plugin(paths[i], err);
    pthread_mutex_unlock(&plugins_lock);
    return status;
}

/* ------------------------------------------------------------------------------------------------- options */

/* The size of a workload is a setting without a name. */
static bool has_setting(const ls_sim_options *o, bool named)
{
    bool found = false;
    for (size_t i = 0; i < o->setting_count; i++)
        found |= (o->settings[i].name != NULL) == named;
    return found;
}

bool session_has_option(const ls_sim_options *o, const char *name)
{
    const struct {
        const char *name;
        bool is_given;
    } options[] = {
        { "fidelity", o->fidelity },
        { "ctas", o->cta_limit },
        { "profile", o->profile },
        { "warm-l2", o->warm_l2 },
        { "unknown-opcodes", o->unknown_as_alu },
        { "unmodelled", o->skip_unmodelled },
        { "kernels", o->kernels },
        { "gpu", o->gpu },
        { "max-instructions", o->max_instructions },
        { "strict", o->strict },
        { "check-memory", o->check_memory },
        { "source", o->source },
        { "sample", o->sample },
        { "record", o->record },
        { "memory-mib", o->memory_bytes },
        { "size", has_setting(o, false) },
        { "param", has_setting(o, true) },
        { "verify", o->verify },
        { "variant", o->variant },
        { "kernel", o->kernel },
        { "grid", o->grid },
        { "group", o->group },
        { "offset", o->offset },
        { "arg", o->arg_count },
        { "print", o->print_count },
        { "dump", o->dump_count },
    };
    for (size_t i = 0; i < LS_COUNT_OF(options); i++)
        if (strcmp(options[i].name, name) == 0)
            return options[i].is_given;
    return false;
}

ls_status session_check_kind(const ls_sim_options *o, run_kind kind, ls_error *err)
{
    if (run_kind_is_missing(kind, o->workload))
        return LS_OK;
    for (size_t i = 0; i < RUN_KIND_OPTIONS; i++) {
        const run_kind_option *option = &run_kind_options[i];
        if (!run_kind_refuses(kind, i) || !session_has_option(o, option->name))
            continue;
        if (!o->workload)
            return ls_fail(err, LS_ERR_USAGE, "the option %s is for %s, but no workload is given",
                           option->name, option->called);
        return ls_fail(err, LS_ERR_USAGE, "the option %s is for %s, but '%s' is %s", option->name,
                       option->called, o->workload, run_kind_name(kind));
    }
    if (kind == RUN_OBJECT && !o->grid)
        return ls_fail(err, LS_ERR_USAGE, "a launch of the code object '%s' needs a grid", o->workload);
    return LS_OK;
}

ls_status session_request(mem_arena *arena, const ls_sim_options *o, config_request *out, ls_error *err)
{
    static const char *const none[] = { NULL };
    const fidelity_preset *preset = o->fidelity ? fidelity_find(o->fidelity, err) : NULL;
    const char *const *first = preset ? preset->sets : none;
    size_t count = 0;
    if (o->fidelity && !preset)
        return LS_ERR_USAGE;
    while (first[count])
        count++;
    const char **sets = arena_array(arena, count + o->set_count + 1, sizeof *sets);
    if (!sets)
        return no_memory(err);
    memcpy(sets, first, count * sizeof *sets);
    if (o->set_count)
        memcpy(sets + count, o->sets, o->set_count * sizeof *sets);
    *out = (config_request){ .platform = o->platform,
                             .sets = sets,
                             .set_count = count + o->set_count,
                             .general_count = count,
                             .gpus = o->gpus,
                             .platform_dirs = o->platform_dirs,
                             .platform_dir_count = o->platform_dir_count };
    return LS_OK;
}

_Static_assert((int)LS_SIM_NOTHING == RUN_NOTHING && (int)LS_SIM_TRACE == RUN_TRACE &&
                   (int)LS_SIM_WORKLOAD == RUN_WORKLOAD && (int)LS_SIM_OBJECT == RUN_OBJECT &&
                   (int)LS_SIM_RECORDING == RUN_RECORDING && (int)LS_SIM_KINDS == RUN_KINDS,
               "the public kinds of workloads are those of run_kind.h");

ls_sim_kind ls_sim_kind_of(const char *workload)
{
    return (ls_sim_kind)run_kind_of(workload);
}

const char *ls_sim_kind_name(ls_sim_kind kind)
{
    return (unsigned)kind < LS_SIM_KINDS ? run_kind_name((run_kind)kind) : "";
}

bool ls_sim_takes(const char *workload, const char *option, const char **called)
{
    size_t i = 0;
    while (i < RUN_KIND_OPTIONS && strcmp(run_kind_options[i].name, option) != 0)
        i++;
    if (i == RUN_KIND_OPTIONS) /* for all kinds */
        return true;
    run_kind kind = run_kind_of(workload);
    if (called)
        *called = run_kind_options[i].called;
    return run_kind_is_missing(kind, workload) || !run_kind_refuses(kind, i);
}

/* ------------------------------------------------------------------------------------------------- opening */

static ls_status open_program(ls_sim *s, const ls_sim_options *o, const config_request *request,
                              const source_position *from, ls_error *err)
{
    wl_setting *settings = arena_array(&s->arena, o->setting_count + 1, sizeof *settings);
    if (!settings)
        return no_memory(err);
    for (size_t i = 0; i < o->setting_count; i++)
        settings[i] = (wl_setting){ o->settings[i].name, o->settings[i].value };
    const run_program_options options = {
        .platform = *request,
        .on = o->on,
        .devices = o->devices,
        .spread = o->spread,
        .pages = o->pages,
        .seed = o->seed,
        .name = o->workload,
        .gpu = o->gpu,
        .kernels = o->kernels,
        .settings = settings,
        .setting_count = o->setting_count,
        .variant = o->variant,
        .verify = o->verify,
        .strict = o->strict,
        .check_memory = o->check_memory,
        .memory_bytes = o->memory_bytes,
        .max_instructions = o->max_instructions,
        .record = o->record,
        .sample = session_is_sampled(&s->sample) ? &s->sample : NULL,
        .launch = { .kernel = o->kernel,
                    .grid = o->grid,
                    .group = o->group,
                    .offset = o->offset,
                    .args = o->args,
                    .arg_count = o->arg_count,
                    .prints = o->prints,
                    .print_count = o->print_count,
                    .dumps = o->dumps,
                    .dump_count = o->dump_count },
    };
    ls_status status = run_program_open(&s->program, &s->arena, s->kind, &options, err);
    if (status == LS_OK && from)
        status = run_program_go_to(&s->program, from, err);
    if (status != LS_OK)
        return status;
    if (o->source) {
        s->source = run_program_count_instructions(&s->program);
        if (s->source == NULL)
            return no_memory(err);
    }
    s->engine = run_program_engine(&s->program);
    run_program_set_metrics(&s->program, s->metrics);
    status = metrics_add_engine(s->metrics, s->engine, err);
    return status == LS_OK ? session_timeline_open(s, o, err) : status;
}

/* An AMD GPU runs programs, and the workload is none. */
static ls_status refuse_on_amd(ls_sim *s, ls_error *err)
{
    const char *workload = s->workload, *target;
    const wl_workload *none;
    bool is_one = config_part_count(s->config) == 0;
    if (strncmp(workload, "synth:", 6) == 0 || file_exists(workload))
        return ls_fail(err, LS_ERR_USAGE,
                       "run: '%s' is no workload and no recording of one: platform '%s' is %s, which %s no "
                       "traces of NVIDIA GPUs",
                       workload, config_name(s->config), is_one ? "an AMD GPU" : "a system of AMD GPUs",
                       is_one ? "runs" : "run");
    /* Either fails, and names the nearest one. */
    return strpbrk(workload, "/.") ? emulate_object_target(&s->arena, workload, &target, err)
                                   : wl_find(workload, &none, err);
}

static run_trace_options trace_options_of(ls_sim *s, const ls_sim_options *o)
{
    return (run_trace_options){
        .path = o->workload,
        .kernels = o->kernels,
        .cta_limit = o->cta_limit,
        .warm_l2 = o->warm_l2,
        .unknown_opcodes_as_alu = o->unknown_as_alu,
        .allow_unmodelled = o->skip_unmodelled,
        .profile = o->profile,
        .source = s->source,
        .sample = session_is_sampled(&s->sample) ? &s->sample : NULL,
    };
}

/* Work for several GPUs at the same time. */
static ls_status open_devices(ls_sim *s, const ls_sim_options *o, const source_position *from, ls_error *err)
{
    const char *refused = o->on        ? "on"
                          : o->kernels ? "kernels"
                          : o->profile ? "profile"
                          : o->sample  ? "sample"
                                       : NULL;
    if (refused)
        return ls_fail(err, LS_ERR_USAGE, "the option %s is for a trace of one GPU, but '%s' is for several",
                       refused, o->workload);
    run_trace_options options = trace_options_of(s, o);
    options.from = from;
    s->has_devices = true;
    ls_status status =
        run_devices_begin(&s->devices, &options, config_name(s->config), s->engine, s->metrics, err);
    size_t numbers[DEVICES_MAX];
    for (uint32_t i = 0; status == LS_OK && i < s->devices.count; i++)
        numbers[i] = gpu_at(s->engine, i)->number;
    return status == LS_OK ? machine_set_busy(s->machine, numbers, s->devices.count, err) : status;
}

static ls_status open_trace(ls_sim *s, const ls_sim_options *o, const source_position *from, ls_error *err)
{
    size_t number, index;
    if (o->source && (s->source = source_create(SOURCE_NVIDIA, LS_SECTOR_BYTES)) == NULL)
        return no_memory(err);
    if (devices_is(o->workload))
        return open_devices(s, o, from, err);
    ls_status status = config_choose_part(s->config, GPU_MACHINE, "traces", o->on, &number, &index, err);
    if (status == LS_OK)
        status = machine_set_busy(s->machine, &number, 1, err);
    if (status != LS_OK)
        return status;
    run_trace_options options = trace_options_of(s, o);
    options.gpu = (uint32_t)index;
    options.from = from;
    s->has_trace = true;
    return run_trace_begin(&s->trace, &options, s->engine, s->metrics, err);
}

/* Whether none of its GPUs runs anything but programs. */
static bool is_amd(const platform_config *config)
{
    size_t count = config_part_count(config);
    for (size_t i = 0; i < count; i++)
        if (!is_amd(config_part(config, i)))
            return false;
    return count > 0 || strcmp(config_machine(config)->name, AMD_GPU_MACHINE) == 0;
}

static ls_status open_machine(ls_sim *s, const ls_sim_options *o, const config_request *request,
                              const source_position *from, ls_error *err)
{
    ls_status status = config_load(request, &s->config, NULL, err);
    if (status == LS_OK)
        status = machine_create(s->config, o->seed, &s->machine, err);
    if (status != LS_OK)
        return status;
    s->engine = ls_machine_engine(s->machine);
    status = metrics_add_engine(s->metrics, s->engine, err);
    if (status == LS_OK)
        status = session_timeline_open(s, o, err);
    if (status == LS_OK && s->workload)
        return is_amd(s->config) ? refuse_on_amd(s, err) : open_trace(s, o, from, err);
    if (status == LS_OK && o->on)
        return ls_fail(err, LS_ERR_USAGE, "run: no workload is given, so there is none for '%s'", o->on);
    if (status == LS_OK && (gpu_at(s->engine, 0) || config_part_count(s->config) > 0))
        status = ls_fail(err, LS_ERR_USAGE, "run: a %s is missing: platform '%s' %s no work of %s own",
                         config_part_count(s->config) > 0 ? "workload" : "trace", config_name(s->config),
                         config_part_count(s->config) > 0 ? "has GPUs, which make" : "is a GPU and makes",
                         config_part_count(s->config) > 0 ? "their" : "its");
    return status;
}

static ls_status open_session(ls_sim *s, const ls_sim_options *o, const source_position *from, ls_error *err)
{
    config_request request;
    if (!o->platform)
        return ls_fail(err, LS_ERR_USAGE, "a platform is missing: a name or a file");
    s->options = *o;
    s->workload = o->workload;
    s->seed = o->seed;
    s->kind = run_kind_of(o->workload);
    s->has_program = s->kind == RUN_WORKLOAD || s->kind == RUN_OBJECT || s->kind == RUN_RECORDING;
    ls_status status = session_check_kind(o, s->kind, err);
    if (status == LS_OK)
        status = ls_sim_load_plugins(o->plugins, o->plugin_count, err);
    if (status == LS_OK)
        status = session_request(&s->arena, o, &request, err);
    if (status == LS_OK)
        status = session_sample_open(&s->sample, o, from != NULL, err);
    if (status == LS_OK)
        status = metrics_create(&s->metrics, err);
    if (status == LS_OK && session_is_sampled(&s->sample))
        status = session_sample_add_metrics(&s->sample, s->metrics, err);
    if (status == LS_OK)
        status =
            s->has_program ? open_program(s, o, &request, from, err) : open_machine(s, o, &request, from, err);
    if (status == LS_OK)
        hash128_text(config_hash_of(session_config(s)), s->config_hash);
    return status;
}

ls_status ls_sim_open(const ls_sim_options *options, ls_sim **out, ls_error *err)
{
    return session_open_at(options, NULL, out, err);
}

ls_status session_open_at(const ls_sim_options *options, const source_position *from, ls_sim **out,
                          ls_error *err)
{
    ls_sim_options taken;
    *out = NULL;
    ls_status status = session_take(&taken, sizeof taken, options, "ls_sim_options", err);
    if (status != LS_OK)
        return status;
    ls_sim *s = calloc(1, sizeof *s);
    if (!s)
        return no_memory(err);
    status = open_session(s, &taken, from, err);
    if (status == LS_OK)
        *out = s;
    else
        ls_sim_close(s);
    return status;
}

void ls_sim_close(ls_sim *s)
{
    if (!s)
        return;
    session_monitor_close(s);
    session_checkpoint_close(s);
    checkpoint_close(s->resume);
    session_results_fini(s);
    series_destroy(s->series);
    session_sample_fini(&s->sample);
    source_destroy(s->source);
    timeline_destroy(s->timeline);
    run_trace_close(&s->trace);
    run_devices_close(&s->devices);
    metrics_destroy(s->metrics);
    run_program_close(&s->program);
    machine_destroy(s->machine);
    config_destroy(s->config);
    arena_fini(&s->arena);
    arena_fini(&s->resume_arena);
    free(s);
}

const platform_config *session_config(const ls_sim *s)
{
    return s->has_program ? run_program_config(&s->program) : s->config;
}

const ls_clock *session_clock(const ls_sim *s)
{
    uint32_t i = 0;
    while (i + 1 < s->devices.count && s->devices.at[i].clock == NULL)
        i++;
    return s->has_devices   ? s->devices.at[i].clock
           : s->has_trace   ? s->trace.clock
           : s->has_program ? s->program.log.clock
                            : NULL;
}

const char *ls_sim_platform(const ls_sim *s)
{
    return config_name(session_config(s));
}

const char *ls_sim_platform_file(const ls_sim *s)
{
    return config_file_path(session_config(s));
}

const char *ls_sim_machine(const ls_sim *s)
{
    return config_machine(session_config(s))->name;
}

ls_engine *ls_sim_engine(const ls_sim *s)
{
    return s->engine;
}

const char *ls_sim_config(const ls_sim *s)
{
    return config_yaml(session_config(s));
}

const char *ls_sim_config_hash(const ls_sim *s)
{
    return s->config_hash;
}

/* ------------------------------------------------------------------------------------------------- running */

static uint64_t session_counter(const ls_sim *s, const char *type, const char *name)
{
    metric_value value;
    return metrics_get(s->metrics, LS_METRICS_RUN, type, NULL, name, &value, NULL) == LS_OK ? value.value : 0;
}

/* Warnings that only the run can know. */
static void warn_after(ls_sim *s)
{
    const run_trace *first = s->has_devices ? s->devices.at : s->has_trace ? &s->trace : NULL;
    for (uint32_t i = 0; first && i < (s->has_devices ? s->devices.count : 1); i++)
        if (first[i].replay)
            run_trace_warn(&first[i], s->engine);
    uint64_t unknown = first ? session_counter(s, "core/*", "unknown_opcodes") : 0;
    if (unknown > 0) /* a host without memory for a warning has none for results either */
        (void)ls_engine_warn(s->engine, "unmodelled",
                             "%llu instructions have opcodes of no table and ran as integer ones",
                             (unsigned long long)unknown);
}

static ls_status run_engine(ls_sim *s, const ls_sim_run_options *o, ls_error *err)
{
    const ls_run_options options = {
        .threads = o->threads,
        .until = o->until,
        .window_fs = o->window_fs,
        .assignment = o->assignment,
        .shuffle_seed = s->seed,
        .watchdog_fs = o->watchdog_fs,
        .scaling = o->scaling,
        .control = &s->control,
        .dump_to = o->dump_to,
        .progress = s->checkpoint ? session_checkpoint_progress
                    : s->monitor  ? session_monitor_progress
                                  : o->progress,
        .progress_self = s->checkpoint || s->monitor ? s : o->progress_self,
        .pause = session_checkpoint_pause(s),
        .sampler = session_monitor_samplers(s, s->series ? series_sampler(s->series) : NULL),
    };
    s->program.print_to = o->print_to;
    uint64_t start_ns = host_clock_ns();
    ls_status status = s->has_program   ? run_program_run(&s->program, &options, &s->result, err)
                       : s->has_devices ? run_devices_run(&s->devices, &options, &s->result, err)
                       : s->has_trace   ? run_trace_run(&s->trace, &options, &s->result, err)
                                        : ls_run(s->engine, &options, &s->result, err);
    s->wall_seconds = (double)(host_clock_ns() - start_ns) * 1e-9;
    if (s->series)
        series_finish(s->series, s->result.end_time + 1);
    if (status == LS_OK)
        status = session_ranks_report(s, err);
    return status;
}

ls_status ls_sim_run(ls_sim *s, const ls_sim_run_options *options, ls_error *err)
{
    ls_sim_run_options o;
    char limit[LS_FORMAT_BYTES];
    ls_status status = session_take(&o, sizeof o, options, "ls_sim_run_options", err);
    if (status == LS_OK && s->has_run)
        status = ls_fail(err, LS_ERR_USAGE, "a simulation runs once: open it again");
    if (status == LS_OK && o.until != 0 && session_is_sampled(&s->sample))
        status = ls_fail(
            err, LS_ERR_USAGE,
            "--until is a time of the whole run, and --sample leaves out parts of it: leave one of them "
            "out");
    if (status == LS_OK)
        status = session_resume_options(s, &o, err);
    if (status == LS_OK)
        status = session_series_begin(s, &o, err);
    if (status == LS_OK)
        status = session_checkpoint_begin(s, &o, err);
    if (status == LS_OK)
        status = session_monitor_begin(s, &o, err);
    if (status != LS_OK)
        return status;
    s->has_run = true;
    s->threads = o.threads ? o.threads : 1;
    status = session_resume_begin(s, err);
    if (status != LS_OK)
        return status;
    status = run_engine(s, &o, err);
    session_monitor_end(s, status == LS_OK ? "done" : status == LS_ERR_INTERRUPTED ? "stopped" : "failed");
    bool is_wrong = status == LS_ERR_CHECK && s->has_program && s->program.result.is_wrong;
    if (status == LS_ERR_INTERRUPTED) /* results up to then are results */
        status = LS_OK;
    if (status != LS_OK && !is_wrong)
        return status;
    if (s->result.limited)
        snprintf(s->limit_reason, sizeof s->limit_reason, "stopped by --until at %s with work left",
                 format_time(o.until, limit, sizeof limit));
    warn_after(s);
    ls_error gathering;
    ls_status gathered = session_sample_end(&s->sample, s->engine, &gathering);
    if (gathered == LS_OK)
        gathered = session_gather(s, &gathering);
    if (status == LS_OK && gathered != LS_OK) {
        if (err)
            *err = gathering;
        return gathered;
    }
    return status;
}

void ls_sim_stop(ls_sim *s)
{
    atomic_store(&s->is_stopped, 1);
    atomic_store(&s->control.stop, 1);
}

ls_run_control *ls_sim_control(ls_sim *s)
{
    return &s->control;
}

const char *ls_sim_report(const ls_sim *s)
{
    return ls_engine_report(s->engine);
}

ls_sim_result ls_sim_get_result(const ls_sim *s)
{
    bool is_wrong = s->has_program && s->program.result.is_wrong;
    return (ls_sim_result){
        .end_time = s->result.end_time,
        .has_cycles = s->has_trace || s->has_program || s->has_devices,
        .cycles = s->has_devices   ? run_devices_cycles(&s->devices)
                  : s->has_trace   ? s->trace.busy.total
                  : s->has_program ? run_program_cycles(&s->program)
                                   : 0,
        .events = s->result.events,
        .messages = s->result.messages,
        .ticks = s->result.ticks,
        .region_cycles = s->result.region_cycles,
        .partial = s->result.partial || s->result.limited || is_wrong,
        .partial_reason = s->result.partial ? (atomic_load(&s->is_stopped) ? "stopped by its caller"
                                                                           : "interrupted by a signal")
                          : is_wrong        ? "the result is wrong"
                                            : s->limit_reason,
        .stopped = s->result.partial,
        .wrong = is_wrong,
        .wall_seconds = s->wall_seconds,
    };
}

const ls_warning *ls_sim_warnings(const ls_sim *s, size_t *count)
{
    return ls_engine_warnings(s->engine, count);
}
