/* simulate.c: one simulation of a validation: machine, trace, numbers, hash of all results. */
#include "base/pool.h"
#include "sim/run_output.h"
#include "cli/validate/validate.h"
#include "platform/machine.h"
#include "workload/synth/synth.h"

#include <stdlib.h>
#include <string.h>

#define SECTOR_BYTES 32u

static uint64_t config_uint(const platform_config *config, const char *key)
{
    const config_value *value = config_find(config, key);
    uint64_t n = 0;
    if (value && parse_u64(value->text, strlen(value->text), &n, NULL) != LS_OK)
        n = 0;
    return n;
}

static ls_status collect(mem_arena *arena, const run_trace *t, validate_result *out, ls_error *err)
{
    out->total = run_trace_count(t, LS_METRICS_RUN);
    out->kernel_count = replay_kernel_count(t->replay);
    out->kernels = arena_array(arena, out->kernel_count + 1, sizeof *out->kernels);
    if (!out->kernels)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for kernels");
    for (size_t i = 0; i < out->kernel_count; i++) {
        const replay_kernel *kernel = replay_kernel_at(t->replay, i);
        run_trace_numbers n = run_trace_count(t, i);
        out->kernels[i] = (validate_kernel){
            .name = arena_strdup(arena, kernel->name),
            .number = kernel->number,
            .cycles = n.cycles,
            .thread_insts = run_trace_accelsim_thread_insts(&n),
        };
        if (!out->kernels[i].name)
            return ls_fail(err, LS_ERR_NOMEM, "no memory for kernels");
        out->seconds +=
            (double)(ls_clock_time(t->clock, kernel->end) - ls_clock_time(t->clock, kernel->begin)) * 1e-15;
    }
    synth_facts facts;
    if (synth_get_facts(t->trace, &facts) && facts.load_sectors != LS_SYNTH_UNKNOWN &&
        facts.store_sectors != LS_SYNTH_UNKNOWN)
        out->global_bytes = SECTOR_BYTES * (facts.load_sectors + facts.store_sectors);
    return LS_OK;
}

ls_status validate_simulate(mem_arena *arena, const validate_job *job, validate_result *out, ls_error *err)
{
    platform_config *config = NULL;
    ls_machine *machine = NULL;
    metric_store *metrics = NULL;
    run_trace t = { 0 };
    ls_run_result run = { 0 };
    *out = (validate_result){ 0 };
    ls_status status = config_load(&job->platform, &config, NULL, err);
    if (status == LS_OK)
        status = machine_create(config, 1, &machine, err);
    if (status == LS_OK)
        status = metrics_create(&metrics, err);
    if (status == LS_OK)
        status = metrics_add_engine(metrics, ls_machine_engine(machine), err);
    if (status == LS_OK)
        status = run_trace_begin(&t, &(run_trace_options){ .path = job->trace, .kernels = job->kernels },
                                 ls_machine_engine(machine), metrics, err);
    if (status == LS_OK) {
        const ls_run_options options = { .threads = job->threads,
                                         .assignment = job->assignment,
                                         .scaling = job->scaling != NULL,
                                         .watchdog_fs = LS_FS_PER_SECOND / 10 };
        uint64_t start_ns = host_clock_ns();
        status = run_trace_run(&t, &options, &run, err);
        out->host_seconds = (double)(host_clock_ns() - start_ns) * 1e-9;
    }
    if (status == LS_OK && job->scaling && !ls_scaling_report(ls_machine_engine(machine), job->scaling))
        *job->scaling = (ls_scaling){ 0 };
    if (status == LS_OK)
        status = collect(arena, &t, out, err);
    if (status == LS_OK && job->hash)
        status = run_output_hash(config, metrics, &run, &out->hash, err);
    if (status == LS_OK) {
        uint64_t way = config_uint(config, "dispatch_latency_cycles");
        uint64_t launch = config_uint(config, "dispatch.launch_latency_cycles");
        out->dispatch_extra_cycles = way > launch ? way - launch : 0;
        out->launch_cycles = launch * out->kernel_count;
    } else {
        ls_error_prefix(err, "%s on %s", job->trace, job->platform.platform);
    }
    run_trace_close(&t);
    metrics_destroy(metrics);
    machine_destroy(machine);
    config_destroy(config);
    return status;
}
