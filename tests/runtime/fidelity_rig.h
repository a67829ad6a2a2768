/* fidelity_rig.h: a small GPU at a choice of models that replays a generated kernel, and a digest of all its
 * counters. */
#ifndef TESTS_FIDELITY_RIG_H
#define TESTS_FIDELITY_RIG_H

#include "platform/config.h"
#include "platform/machine.h"
#include "runtime/replay.h"
#include "workload/synth/synth.h"

#include <stdio.h>
#include <string.h>

static const char rig_platform[] = "machine: gpu\n"
                                   "cores: 6\n"
                                   "clock: {core_mhz: 1000, l2_mhz: 900, dram_mhz: 1500}\n"
                                   "dispatch: {launch_latency_cycles: 100}\n"
                                   "memory: {channels: 4, slice_hash: none}\n"
                                   "core:\n"
                                   "  scheduler: gto\n"
                                   "  class:\n"
                                   "    load: {unit: memory}\n"
                                   "    store: {unit: memory}\n"
                                   "    atomic: {unit: memory}\n"
                                   "    async_copy: {unit: memory}\n"
                                   "    fence: {unit: memory}\n"
                                   "    fp32: {unit: sp}\n";

#define RIG_SETS_MAX 8

typedef struct rig_outcome {
    ls_cycle cycles; /* of the kernel */
    uint64_t digest;
    uint64_t warp_instructions, l1_accesses, l2_sectors,
        dram_sectors;          /* the last two only without simulated memory */
    uint64_t slots, accounted; /* issue slots; slots that issued or have a reason */
    double sampled;
    rates_machine machine; /* likewise */
} rig_outcome;

static uint64_t rig_counter(ls_engine *engine, const char *slot, const char *name)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ls_engine_block_count(engine); i++) {
        ls_block *block = ls_engine_block(engine, i);
        const ls_block_type *type = ls_block_type_of(block);
        const char *counters = (const char *)ls_block_state(block) + type->counters_offset;
        for (size_t m = 0; m < type->metric_count; m++)
            if (strcmp(type->slot, slot) == 0 && strcmp(type->metrics[m].name, name) == 0)
                sum += *(const uint64_t *)(const void *)(counters + type->metrics[m].offset);
    }
    return sum;
}

static uint64_t rig_digest(ls_engine *engine)
{
    uint64_t hash = 14695981039346656037u;
    for (uint32_t i = 0; i < ls_engine_block_count(engine); i++) {
        ls_block *block = ls_engine_block(engine, i);
        const ls_block_type *type = ls_block_type_of(block);
        const char *counters = (const char *)ls_block_state(block) + type->counters_offset;
        for (size_t m = 0; m < type->metric_count; m++)
            if (type->metrics[m].kind == LS_METRIC_KIND_COUNTER)
                hash = (hash ^ *(const uint64_t *)(const void *)(counters + type->metrics[m].offset)) *
                       1099511628211u;
    }
    return hash;
}

/* sets: NULL at their end. */
__attribute__((unused)) static rig_outcome rig_run(const char *kernel, const char *const *sets,
                                                   const ls_run_options *options)
{
    ls_error err = { 0 };
    platform_config *config;
    ls_machine *machine = NULL;
    trace_replay *replay;
    sass_trace *trace = NULL;
    ls_run_result result;
    rig_outcome o = { 0 };
    size_t count = 0;
    while (sets[count] != NULL)
        count++;
    config_request request = { .platform = "tests/fidelity",
                               .sets = sets,
                               .set_count = count,
                               .text = rig_platform,
                               .text_bytes = strlen(rig_platform) };
    if (config_load(&request, &config, NULL, &err) != LS_OK ||
        machine_create(config, 1, &machine, &err) != LS_OK ||
        synth_open(kernel, &(trace_options){ 0 }, &trace, &err) != LS_OK)
        fail_msg("%s: %s", kernel, err.what);
    config_destroy(config);
    ls_engine *engine = ls_machine_engine(machine);
    if (replay_create(engine, trace, NULL, &replay, &err) != LS_OK ||
        replay_run(replay, options, &result, &err) != LS_OK)
        fail_msg("%s: %s", kernel, err.what);
    for (uint64_t i = 0; i < replay_kernel_count(replay); i++) {
        const replay_kernel *k = replay_kernel_at(replay, i);
        o.cycles += k->end - k->begin;
        o.sampled = k->sampled;
    }
    o.digest = rig_digest(engine);
    o.warp_instructions = rig_counter(engine, "core", "warp_instructions");
    o.l1_accesses = rig_counter(engine, "core", "l1_accesses");
    o.l2_sectors = rig_counter(engine, "core", "expected_l2_sectors") + rig_counter(engine, "l2", "accesses");
    o.dram_sectors = rig_counter(engine, "core", "expected_dram_sectors") +
                     rig_counter(engine, "dram", "reads") + rig_counter(engine, "dram", "writes");
    static const char *const stalls[] = { "stall_idle",   "stall_fetch",      "stall_barrier",
                                          "stall_fence",  "stall_async",      "stall_mbarrier",
                                          "stall_memory", "stall_dependence", "stall_unit" };
    o.slots = rig_counter(engine, "core", "issue_slots");
    o.accounted = rig_counter(engine, "core", "issued");
    for (size_t i = 0; i < sizeof stalls / sizeof stalls[0]; i++)
        o.accounted += rig_counter(engine, "core", stalls[i]);
    gpu_shape shape;
    if (gpu_get_shape(engine, &shape, &err) == LS_OK)
        o.machine = shape.machine;
    replay_destroy(replay);
    trace_close(trace);
    machine_destroy(machine);
    return o;
}

#endif
