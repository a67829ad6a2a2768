/* core_api.h: the built-in core as a formula's core sees it: short names of lockstep/core.h, and the port for
 * profiles, which walk the caches of a core without running it. */
#ifndef MODEL_CORE_API_H
#define MODEL_CORE_API_H

#include "lockstep/core.h"
#include "model/cache/sector_cache.h"
#include "model/core/rates.h"

/* A thread block at a core: the message that brought it, and the rows of the launch table that the message names. */
typedef struct core_launch {
    ls_cta *cta;
    const ls_inst *insts;
    const ls_kernel_info *info;
    uint32_t block, kernel, number, ctas_per_core, cores, cluster, depends; /* as in ls_core_launch */
    const struct rates_kernel *rates;
    struct inst_counts *counts; /* NULL: not counted */
} core_launch;

/* L1 as it is when blocks with so much shared memory are resident. */
typedef struct core_l1 {
    sector_cache_spec cache; /* with the ways that are left */
    uint32_t banks, latency_cycles;
    bool flush; /* between kernels */
    bool accelsim_rules;
} core_l1;

/* The port of a model that a profile can walk. A model without it sends its requests to memory
 * (ls_core_shape.sends_no_requests is false). */
#define CORE_PROFILE_PORT "core-profile"
#define CORE_PROFILE_INTERFACE "core-profile/1"
typedef struct core_profile_ops {
    /* False: the model of L1 cannot be described. */
    bool (*l1)(const void *self, uint64_t shared_bytes, core_l1 *out);
    uint32_t (*network_width)(const void *self); /* sectors per cycle */
    /* A matrix instruction of a shape or type that the platform has no rate for: its class's time counts. */
    bool (*guesses_time)(const void *self, const ls_inst *inst);
    /* It has the effects of an instruction with LS_INST_UNMODELLED or LS_INST_IGNORED. */
    bool (*models)(const void *self, const ls_inst *inst);
    /* It has no mbarriers, bulk copies and clusters, though its platform has: its memory is a formula. */
    bool (*drops_async)(const void *self);
    /* It counts for ls_launch_kernel.counts. */
    bool (*counts_instructions)(const void *self);
    /* For a core whose memory is a formula: the costs of memory, set before the run. */
    void (*set_machine)(void *self, const rates_machine *machine);
    void (*machine)(const void *self, rates_machine *out);
} core_profile_ops;

#endif
