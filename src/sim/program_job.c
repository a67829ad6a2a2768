/* program_job.c: see program_job.h. */
#include "sim/program_job.h"

#include "base/spans.h"
#include "base/pool.h"
#include "sim/run_output.h"
#include "model/amd/amd_gpu.h"
#include "runtime/timing/timing.h"

#include <stdlib.h>
#include <string.h>

/* Names of the caches of a level in reports. */
static const struct {
    const char *name, *type;
} levels[PROGRAM_LEVELS] = {
    [PROGRAM_L0] = { "L0", "vector_cache/*" },
    [PROGRAM_L1] = { "L1", "l1/*" },
    [PROGRAM_L2] = { "L2", "l2/*" },
};

const char *program_level_name(program_level level)
{
    return levels[level].name;
}

typedef struct program_watch {
    span_list kernels, copies; /* those side by side count once */
    uint64_t launches, instructions;
} program_watch;

static ls_status command_over(void *self, const timing_record *record, ls_error *err)
{
    program_watch *watch = self;
    bool is_launch = record->kind == DRV_WORK_LAUNCH;
    if (is_launch) {
        watch->launches++;
        watch->instructions += record->instructions;
    }
    return spans_add(is_launch ? &watch->kernels : &watch->copies, record->begin, record->end)
               ? LS_OK
               : ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

static uint64_t count_at(metric_store *metrics, const char *type, const char *path, const char *name)
{
    metric_value value;
    return metrics_get(metrics, LS_METRICS_RUN, type, path, name, &value, NULL) == LS_OK && value.present
               ? value.value
               : 0;
}

static uint64_t count(metric_store *metrics, const char *type, const char *name)
{
    return count_at(metrics, type, NULL, name);
}

/* Without the ways from ports to their own ends, which are no links between chips. */
static uint64_t count_link_bytes(metric_store *metrics)
{
    static const char *const names[] = { "request_bytes",    "data_bytes",    "walk_bytes",
                                         "invalidate_bytes", "migrate_bytes", "copy_bytes" };
    uint64_t sum = 0;
    for (size_t i = 0; i < LS_COUNT_OF(names); i++)
        sum += count_at(metrics, "fabric.link/*", NULL, names[i]) -
               count_at(metrics, "fabric.link/*", "fabric.*.exit", names[i]);
    return sum;
}

/* A region lies between two event records, whose packets take time too. */
static wl_region between_events(const ls_gpu_system *system, const ls_clock *clock, wl_region region)
{
    const config_value *key = config_find(timing_config(system), "command.event_cycles");
    uint64_t cycles = 0;
    if (region.simulated == 0 || !key || parse_u64(key->text, strlen(key->text), &cycles, NULL) != LS_OK)
        return region;
    const double ns = 1e-6 * (double)ls_clock_time(clock, cycles);
    region.ns += ns;
    region.low_ns += ns;
    region.high_ns += ns;
    return region;
}

static ls_status run(const program_job *job, ls_gpu_system *system, metric_store *metrics, program_result *out,
                     ls_error *err)
{
    program_watch watch = { 0 };
    wl_result result = { 0 };
    wl_request request = { .system = system,
                           .devices = job->devices,
                           .settings = job->settings,
                           .setting_count = job->setting_count,
                           .check = job->verify };
    ls_engine *engine = timing_engine(system);
    ls_status status = wl_find(job->workload, &request.workload, err);
    if (status == LS_OK)
        status = metrics_add_engine(metrics, engine, err);
    if (status != LS_OK)
        return status;
    const ls_clock *clock = amd_gpu_clock(amd_gpu_of(engine, 0));
    const ls_run_options options = { .threads = job->threads, .watchdog_fs = LS_FS_PER_SECOND / 10 };
    timing_watch(system, command_over, &watch);
    timing_set_options(system, &options);
    uint64_t start_ns = host_clock_ns();
    status = wl_run_workload(&request, &result, err);
    out->host_seconds = (double)(host_clock_ns() - start_ns) * 1e-9;
    out->kernel_seconds = (double)watch.kernels.total * 1e-15;
    out->copy_seconds = (double)watch.copies.total * 1e-15;
    out->kernel_cycles = (double)ls_clock_cycle_at(clock, watch.kernels.total);
    spans_fini(&watch.kernels);
    spans_fini(&watch.copies);
    if (status != LS_OK)
        return status;
    out->assumptions = config_assumption_count(timing_config(system));
    out->transfer = result.transfer;
    out->region = between_events(system, clock, result.region);
    out->launches = watch.launches;
    out->instructions = watch.instructions;
    for (size_t i = 0; i < PROGRAM_LEVELS; i++) {
        /* Without reads that bypass on purpose: host copies, coherent reads. */
        out->reads[i] =
            count(metrics, levels[i].type, "reads") - count(metrics, levels[i].type, "passed_reads");
        out->hits[i] =
            count(metrics, levels[i].type, "read_hits") + count(metrics, levels[i].type, "read_mshr_hits");
    }
    out->remote_bytes = count(metrics, "rdma/*", "bytes_out") + count(metrics, "page-agent/*", "bytes_out");
    out->link_bytes = count_link_bytes(metrics);
    ls_run_result done = timing_result(system);
    return job->hash ? run_output_hash(timing_config(system), metrics, &done, &out->hash, err) : LS_OK;
}

ls_status program_simulate(const program_job *job, program_result *out, ls_error *err)
{
    ls_gpu_system *system = NULL;
    metric_store *metrics = NULL;
    const ls_gpu_options options = { .gpus = job->gpu ? &job->gpu : NULL,
                                     .gpu_count = 1,
                                     .threads = job->threads,
                                     .platform = job->platform.platform,
                                     .sets = job->platform.sets,
                                     .set_count = job->platform.set_count,
                                     .platform_dirs = job->platform.platform_dirs,
                                     .platform_dir_count = job->platform.platform_dir_count,
                                     .platform_gpus = job->platform.gpus,
                                     .unified = job->devices == WL_UNIFIED,
                                     .spread = job->spread,
                                     .seed = 1 };
    *out = (program_result){ 0 };
    ls_status status = ls_gpu_system_create(&options, &system, err);
    if (status == LS_OK)
        status = metrics_create(&metrics, err);
    if (status == LS_OK)
        status = run(job, system, metrics, out, err);
    if (status != LS_OK)
        ls_error_prefix(err, "%s on %s", job->workload, job->platform.platform);
    metrics_destroy(metrics);
    ls_gpu_system_destroy(system);
    return status;
}
