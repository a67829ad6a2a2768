/* run_program.c: see run_program.h. */
#include "sim/run_program.h"

#include "base/file.h"
#include "base/text.h"
#include "model/amd/amd_gpu.h"
#include "report/source.h"
#include "sim/session_sample.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ running */

static ls_status launch_object(const run_program *p, ls_gpu_system *system, FILE *print_to,
                               ls_gpu_counts *counts, ls_error *err)
{
    const emulate_object_printer printer = { .output =
                                                 print_to ? EMULATE_OBJECT_BUFFERS : EMULATE_OBJECT_QUIET,
                                             .to = print_to };
    return emulate_object_run(p->arena, system, &p->launch, &printer, counts, err);
}

/* The same program emulated under strict checks: a finding ends the run before time passes. */
static ls_status check_strictly(run_program *p, ls_error *err)
{
    const char *gpu = ls_gpu_system_gpu(p->request.system, 0)->target;
    uint64_t used, memory_bytes;
    ls_gpu_system_memory(p->request.system, 0, &used, &memory_bytes);
    const ls_gpu_options options = { .gpus = &gpu,
                                     .gpu_count = 1,
                                     .memory_bytes = memory_bytes,
                                     .max_instructions = p->max_instructions,
                                     .strict = true };
    wl_request request = p->request;
    wl_result result;
    request.devices = WL_SINGLE; /* the same kernels on the same data */
    ls_status status = ls_gpu_system_create(&options, &request.system, err);
    if (status != LS_OK)
        return status;
    if (p->kind == RUN_OBJECT)
        status = launch_object(p, request.system, NULL, &result.counts, err);
    else
        status = wl_run_workload(&request, &result, err);
    ls_gpu_system_destroy(request.system);
    return status;
}

/* The same program emulated, for the instructions of each launch. */
static ls_status describe_launches(const run_program *p, const ls_gpu_options *options, sample_plan *plan,
                                   ls_error *err)
{
    wl_request request = p->request;
    wl_result result;
    request.check = false;
    ls_status status = ls_gpu_system_create(options, &request.system, err);
    if (status != LS_OK)
        return status;
    status = timing_describe(request.system, plan, err);
    if (status == LS_OK && p->kind == RUN_OBJECT)
        status = launch_object(p, request.system, NULL, &result.counts, err);
    else if (status == LS_OK)
        status = wl_run_workload(&request, &result, err);
    ls_gpu_system_destroy(request.system);
    return status;
}

static ls_status begin_sample(run_program *p, const ls_gpu_options *options, session_sample *sample,
                              ls_error *err)
{
    if (sample->spec.blocks && p->recording)
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "--sample blocks is for traces and programs: a recording of an AMD program is replayed with "
            "all of its work-groups");
    sample->spec.in_order = true; /* no launch comes again */
    ls_status status = sample_plan_create(&sample->spec, &sample->plan, err);
    if (status == LS_OK)
        status = p->recording ? timing_describe_recording(p->recording, &p->selection, sample->plan, err)
                              : describe_launches(p, options, sample->plan, err);
    if (status == LS_OK)
        status = sample_plan_begin(sample->plan, err);
    return status == LS_OK ? timing_sample(p->request.system, sample->plan, sample->spec.blocks, err) : status;
}

static ls_status find_program(run_program *p, const run_program_options *o, const char **gpu, ls_error *err)
{
    ls_status status = LS_OK;
    if (p->kind == RUN_WORKLOAD)
        status = wl_find(o->name, &p->workload, err);
    else if (p->kind == RUN_OBJECT && !*gpu)
        status = emulate_object_target(p->arena, o->name, gpu, err);
    else if (p->kind == RUN_RECORDING)
        status = amd_file_open(o->name, &p->recording, err);
    if (status == LS_OK && p->kind == RUN_RECORDING)
        status = amd_file_select(p->recording, o->kernels, &p->selection, err);
    if (status != LS_OK || p->kind != RUN_WORKLOAD)
        return status;
    p->settings = arena_array(p->arena, o->setting_count + 1, sizeof *p->settings);
    if (!p->settings)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    for (size_t i = 0; i < o->setting_count; i++)
        p->settings[i] = o->settings[i];
    p->request.setting_count = o->setting_count;
    return wl_name_size(p->workload, p->settings, o->setting_count, err);
}

static const char *devices_at(const void *self, size_t i)
{
    (void)self;
    return wl_devices_names[i];
}

static ls_status choose_devices(run_program *p, const run_program_options *o, ls_error *err)
{
    uint32_t devices = 0;
    while (o->devices && devices < WL_DEVICES_COUNT && strcmp(wl_devices_names[devices], o->devices) != 0)
        devices++;
    if (devices == WL_DEVICES_COUNT) {
        ls_fail(err, LS_ERR_USAGE, "devices cannot be '%s': single, discrete, unified or locality",
                o->devices);
        return ls_error_nearest(err, nearest_name(o->devices, WL_DEVICES_COUNT, devices_at, NULL));
    }
    p->request.devices = (wl_devices)devices;
    if ((o->spread || o->pages) && devices != WL_UNIFIED)
        return ls_fail(err, LS_ERR_USAGE, "'%s' is about the unified device: choose it with --devices unified",
                       o->spread ? "spread" : "pages");
    if (o->on && devices != WL_SINGLE)
        return ls_fail(err, LS_ERR_USAGE, "--on %s chooses one GPU, but --devices %s uses all of them", o->on,
                       o->devices);
    return LS_OK;
}

ls_status run_program_open(run_program *p, mem_arena *arena, run_kind kind, const run_program_options *o,
                           ls_error *err)
{
    const char *gpu = o->gpu;
    p->arena = arena;
    p->name = o->name;
    p->spread = o->spread;
    p->pages = o->pages;
    p->kind = kind;
    p->launch = o->launch;
    p->launch.path = o->name;
    p->max_instructions = o->max_instructions;
    ls_status status = choose_devices(p, o, err);
    if (status == LS_OK)
        status = find_program(p, o, &gpu, err);
    if (status != LS_OK)
        return status;
    const ls_gpu_options options = { .gpus = gpu ? &gpu : NULL,
                                     .gpu_count = 1,
                                     .memory_bytes = o->memory_bytes,
                                     .max_instructions = o->max_instructions,
                                     .record_path = o->record,
                                     .check_memory = o->check_memory,
                                     .platform = o->platform.platform,
                                     .sets = o->platform.sets,
                                     .set_count = o->platform.set_count,
                                     .platform_dirs = o->platform.platform_dirs,
                                     .platform_dir_count = o->platform.platform_dir_count,
                                     .seed = o->seed,
                                     .platform_gpus = o->platform.gpus,
                                     .on = o->on,
                                     .unified = p->request.devices == WL_UNIFIED,
                                     .spread = o->spread,
                                     .pages = o->pages };
    p->request.workload = p->workload;
    p->request.settings = p->settings;
    p->request.check = o->verify;
    p->request.variant = o->variant;
    status = ls_gpu_system_create(&options, &p->request.system, err);
    if (status != LS_OK && kind == RUN_RECORDING)
        return ls_error_prefix(err, "'%s' is a recording of an AMD program", o->name);
    if (status != LS_OK)
        return status;
    command_log_begin(&p->log, p->request.system, arena);
    if (o->sample)
        status = begin_sample(p, &options, o->sample, err);
    if (status != LS_OK)
        return status;
    return o->strict ? check_strictly(p, err) : LS_OK;
}

void run_program_close(run_program *p)
{
    command_log_fini(&p->log);
    ls_gpu_system_destroy(p->request.system);
    amd_file_close(p->recording);
    selection_fini(&p->selection);
}

ls_engine *run_program_engine(const run_program *p)
{
    return timing_engine(p->request.system);
}

const platform_config *run_program_config(const run_program *p)
{
    return timing_config(p->request.system);
}

source_book *run_program_count_instructions(run_program *p)
{
    const amd_gpu_facts *facts = amd_gpu_get_facts(timing_gpu_at(p->request.system, 0));
    p->log.source = source_create(SOURCE_AMD, facts->line_bytes);
    if (p->log.source != NULL)
        timing_count_instructions(p->request.system);
    return p->log.source;
}

void run_program_set_metrics(run_program *p, metric_store *metrics)
{
    p->log.metrics = metrics;
}

ls_status run_program_run(run_program *p, const ls_run_options *options, ls_run_result *result, ls_error *err)
{
    timing_set_options(p->request.system, options);
    if (!p->recording && timing_orders_serves(p->request.system))
        p->status = timing_orders_serve(p->request.system, err);
    else if (p->kind == RUN_OBJECT)
        p->status = launch_object(p, p->request.system, p->print_to, &p->result.counts, err);
    else if (p->recording)
        p->status =
            timing_replay(p->request.system, p->recording, &p->from, &p->selection, &p->result.counts, err);
    else
        p->status = wl_run_workload(&p->request, &p->result, err);
    timing_orders_end(p->request.system, p->status, err);
    if (p->status == LS_OK)
        p->status = timing_check_skip(p->request.system, err);
    if (p->status == LS_OK)
        p->status = timing_check_summary(p->request.system, err);
    if (p->status == LS_OK)
        p->status = ls_gpu_system_close_trace(p->request.system, err);
    *result = timing_result(p->request.system);
    result->limited = result->limited && p->status == LS_ERR_INTERRUPTED;
    if (command_log_end(&p->log, result->end_time, err) != LS_OK)
        return LS_ERR_NOMEM;
    /* An interrupted run has results, too. */
    return p->status == LS_ERR_INTERRUPTED && result->partial ? LS_OK : p->status;
}

uint64_t run_program_cycles(const run_program *p)
{
    return p->log.busy.total;
}

/* ------------------------------------------------------------------------------------------------- tables */

static bool get(const run_program *p, const char *type, const char *path, const char *name, metric_value *out)
{
    return metrics_get(p->log.metrics, LS_METRICS_RUN, type, path, name, out, NULL) == LS_OK && out->present;
}

static uint64_t count(const run_program *p, const char *type, const char *path, const char *name)
{
    metric_value value;
    return get(p, type, path, name, &value) ? value.value : 0;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
}

/* The bandwidth or latency of a workload that measures the way between GPUs. */
static void print_transfer(const run_program *p, FILE *to)
{
    const wl_transfer *t = &p->result.transfer;
    char more[120], bytes[LS_FORMAT_BYTES];
    if (t->ns == 0)
        return;
    if (t->bytes == 0) {
        fprintf(to, "  %-22s %11.1f ns  of one load after another\n", "latency", t->load_ns);
        return;
    }
    double bandwidth = (double)t->bytes / (double)t->ns;
    snprintf(more, sizeof more, "%s bytes in", format_count(t->bytes, bytes, sizeof bytes));
    fprintf(to, "  %-22s %9.2f GB/s  %s %.2f us, bus bandwidth %.2f GB/s\n", "bandwidth", bandwidth, more,
            (double)t->ns * 1e-3, bandwidth * t->factor);
}

/* What a benchmark of a suite measures, without the events around it. */
static void print_region(const run_program *p, FILE *to)
{
    const wl_region *g = &p->result.region;
    if (g->simulated > 0 && g->ns > 0)
        fprintf(to, "  %-22s %11.2f us  %s\n", "timed region", 1e-3 * g->ns,
                g->simulated < 1 ? "estimated from parts" : "its shortest call after one that warms up");
}

static void print_kernels(const run_program *p, FILE *to)
{
    enum { ROWS_MAX = 20 };
    size_t shown = 0, launches = 0;
    uint64_t gpus = command_log_gpus(&p->log);
    bool several = (gpus & (gpus - 1)) != 0; /* each row names its own */
    fprintf(to, "\n  %5s  %-28s %s%14s %12s %14s %7s  %s\n", "", "kernel", several ? "GPU    " : "", "cycles",
            "wavefronts", "instructions", "IPC", "waves per CU, limited by");
    for (size_t i = 0; i < p->log.records.count; i++) {
        const timing_record *r = &p->log.records.at[i];
        char cycles[LS_FORMAT_BYTES], waves[LS_FORMAT_BYTES], insts[LS_FORMAT_BYTES];
        if (r->kind != DRV_WORK_LAUNCH)
            continue;
        launches++;
        if (shown == ROWS_MAX)
            continue;
        shown++;
        const ls_clock *clock = timing_clock(p->request.system, r->gpu);
        uint64_t n = ls_clock_cycle_at(clock, r->end) - ls_clock_cycle_at(clock, r->begin);
        char gpu[16] = "";
        if (several)
            snprintf(gpu, sizeof gpu, "GPU %-2u ", r->gpu);
        fprintf(to, "  %5" PRIu64 "  %-28.28s %s%14s %12s %14s %7.3f  %u, %s\n", r->number + 1, r->kernel, gpu,
                format_count(n, cycles, sizeof cycles), format_count(r->waves, waves, sizeof waves),
                format_count(r->instructions, insts, sizeof insts),
                n == 0 ? 0 : (double)r->instructions / (double)n, r->waves_per_cu, r->limit);
    }
    if (launches > shown)
        fprintf(to, "         ... and %zu more; every kernel is in the files of --out\n", launches - shown);
}

static void print_classes(const run_program *p, FILE *to)
{
    const ls_gpu_counts *c = &p->result.counts;
    char text[LS_FORMAT_BYTES];
    fprintf(to, "\n  %-22s %14s\n", "instructions", format_count(c->instructions, text, sizeof text));
    for (size_t i = 0; i < LS_GPU_CLASS_MAX && ls_gpu_class_name(i); i++)
        if (c->classes[i])
            fprintf(to, "    %-20s %14s  %5.1f %%\n", ls_gpu_class_name(i),
                    format_count(c->classes[i], text, sizeof text), percent(c->classes[i], c->instructions));
}

/* One line per level. */
static void print_caches(const run_program *p, FILE *to)
{
    static const struct {
        const char *name, *type;
    } levels[] = { { "vector", "vector_cache/*" },
                   { "scalar", "scalar_cache/*" },
                   { "instruction", "instruction_cache/*" },
                   { "L1", "l1/*" },
                   { "L2", "l2/*" },
                   { "memory side", "memory_cache/*" } };
    fprintf(to, "\n  %-12s %12s %7s %7s %7s %12s %7s %7s %9s\n", "cache", "reads", "hits", "misses", "MSHR",
            "writes", "hits", "atomics", "latency");
    for (size_t i = 0; i < LS_COUNT_OF(levels); i++) {
        const char *type = levels[i].type, *path = NULL;
        uint64_t reads = count(p, type, path, "reads"), writes = count(p, type, path, "writes");
        uint64_t atomics = count(p, type, path, "atomics");
        char read_text[LS_FORMAT_BYTES], write_text[LS_FORMAT_BYTES], atomic_text[LS_FORMAT_BYTES];
        metric_value latency;
        if (reads + writes + atomics == 0)
            continue;
        fprintf(to, "  %-12s %12s %6.1f%% %6.1f%% %6.1f%% %12s %6.1f%% %7s", levels[i].name,
                format_count(reads, read_text, sizeof read_text),
                percent(count(p, type, path, "read_hits"), reads),
                percent(count(p, type, path, "read_misses"), reads),
                percent(count(p, type, path, "read_mshr_hits"), reads),
                format_count(writes, write_text, sizeof write_text),
                percent(count(p, type, path, "write_hits"), writes),
                format_count(atomics, atomic_text, sizeof atomic_text));
        if (get(p, type, path, "average_latency", &latency))
            fprintf(to, " %9.1f\n", latency.ratio);
        else
            fprintf(to, " %9s\n", "-");
    }
}

/* Where cycles of compute units went, per instruction. All reasons of one cycle are counted, so their sum can
 * exceed the cycles. */
static void print_stack(const run_program *p, FILE *to)
{
    uint64_t cycles = count(p, "cu/*", NULL, "resident_cycles"),
             insts = count(p, "cu/*", NULL, "instructions");
    if (insts == 0)
        return;
    double per = 1.0 / (double)insts;
    fprintf(to, "\n  %-22s %14.3f  cycles of a compute unit per wavefront instruction\n", "CPI",
            (double)cycles * per);
    fprintf(to, "    %-20s %14.3f\n", "issue", (double)count(p, "cu/*", NULL, "active_cycles") * per);
    for (size_t i = 0; i < metrics_type_count(p->log.metrics); i++) {
        metric_type type = metrics_type_at(p->log.metrics, i);
        if (strncmp(type.name, "cu/", 3) != 0)
            continue;
        for (size_t k = 0; k < type.metric_count; k++) {
            uint64_t stalled;
            if (strncmp(type.metrics[k].name, "stall_", 6) != 0)
                continue;
            stalled = count(p, type.name, NULL, type.metrics[k].name);
            if (stalled > 0)
                fprintf(to, "    %-20s %14.3f\n", type.metrics[k].name + 6, (double)stalled * per);
        }
    }
}

static uint64_t key(const run_program *p, const char *path)
{
    const config_value *value = config_find(timing_gpu_config(p->request.system, 0), path);
    return value ? strtoull(value->text, NULL, 10) : 0;
}

static void print_occupancy(const run_program *p, FILE *to)
{
    static const struct {
        const char *counter, *what;
    } limits[] = { { "blocked_groups", "work-group slots" }, { "blocked_barriers", "barriers" },
                   { "blocked_waves", "wave slots" },        { "blocked_vgprs", "vector registers" },
                   { "blocked_sgprs", "scalar registers" },  { "blocked_lds", "LDS" } };
    uint64_t most = key(p, "cu.simds") * key(p, "cu.waves_per_simd"), blocked = 0;
    const char *limit = "how many work-groups there are";
    metric_value waves;
    if (!get(p, "cu/*", NULL, "occupancy_waves", &waves) || most == 0)
        return;
    /* The command processor was busy sending for most of the time that kernels took. */
    if (count(p, "command/*", NULL, "dispatch_cycles") * 10 > count(p, "command/*", NULL, "busy_cycles") * 7)
        limit = "the rate at which work-groups are dispatched";
    for (size_t i = 0; i < LS_COUNT_OF(limits); i++) {
        uint64_t here = count(p, "command/*", NULL, limits[i].counter);
        if (here > blocked) {
            blocked = here;
            limit = limits[i].what;
        }
    }
    fprintf(to, "  %-22s %12.1f %%  %.1f of %llu waves of a compute unit, limited by %s\n", "occupancy",
            100 * waves.ratio / (double)most, waves.ratio, (unsigned long long)most, limit);
}

static void print_tlbs(const run_program *p, FILE *to)
{
    uint64_t accesses = count(p, "tlb/*", NULL, "accesses"), requests = count(p, "mmu/*", NULL, "requests");
    char text[LS_FORMAT_BYTES], walks[LS_FORMAT_BYTES];
    if (accesses == 0)
        return;
    fprintf(to, "\n  %-22s %14s  %.1f %% hits, %.1f %% misses, %.1f %% asked for already\n", "L1 TLB accesses",
            format_count(accesses, text, sizeof text), percent(count(p, "tlb/*", NULL, "hits"), accesses),
            percent(count(p, "tlb/*", NULL, "misses"), accesses),
            percent(count(p, "tlb/*", NULL, "mshr_hits"), accesses));
    fprintf(to, "  %-22s %14s  %.1f %% hits, %s walks", "L2 TLB accesses",
            format_count(requests, text, sizeof text), percent(count(p, "mmu/*", NULL, "hits"), requests),
            format_count(count(p, "mmu/*", NULL, "walks"), walks, sizeof walks));
}

static void print_memory(const run_program *p, FILE *to)
{
    uint64_t requests = count(p, "dram/*", NULL, "requests");
    uint64_t reads = count(p, "channel/*", NULL, "read_bytes"),
             writes = count(p, "channel/*", NULL, "write_bytes");
    char text[LS_FORMAT_BYTES], in[LS_FORMAT_BYTES], out[LS_FORMAT_BYTES];
    fprintf(to, "\n  %-22s %14s  %s read, %s written\n", "DRAM transactions",
            format_count(requests, text, sizeof text), format_si((double)reads, "B", in, sizeof in),
            format_si((double)writes, "B", out, sizeof out));
}

void run_program_head(const run_program *p, FILE *to)
{
    const wl_result *r = &p->result;
    char text[LS_FORMAT_BYTES];
    const platform_config *config = run_program_config(p);
    if (p->request.devices != WL_SINGLE)
        fprintf(to, "%s on %zu GPUs of %s, %s\n", p->name, ls_gpu_system_gpu_count(p->request.system),
                config_name(config), wl_devices_names[p->request.devices]);
    else if (config_part_count(config) > 0)
        fprintf(to, "%s on gpu%u (%s) of %s\n", p->name, timing_gpu_number(p->request.system, 0),
                config_name(timing_gpu_config(p->request.system, 0)), config_name(config));
    else
        fprintf(to, "%s on %s\n", p->name, config_name(config));
    if (p->recording)
        fprintf(to, "  %-22s %14s  %.80s\n", "recorded by", amd_file_producer(p->recording),
                "replayed without data");
    if (p->request.check && p->status == LS_OK)
        fprintf(to, "  %-22s %14s  %s values compared with the CPU\n", "verification", "correct",
                format_count(r->compared, text, sizeof text));
    else if (r->is_wrong)
        fprintf(to, "  %-22s %14s\n", "verification", "WRONG");
    command_log_print_times(&p->log, to);
    print_transfer(p, to);
    print_region(p, to);
}

void run_program_table(const run_program *p, FILE *to)
{
    run_program_head(p, to);
    print_occupancy(p, to);
    print_kernels(p, to);
    print_classes(p, to);
    print_stack(p, to);
    print_caches(p, to);
    print_tlbs(p, to);
    print_memory(p, to);
    fputc('\n', to);
}
