/* core_api.h: what the machine builder and the dispatcher know of a core. */
#ifndef MODEL_CORE_API_H
#define MODEL_CORE_API_H

#include "isa/stream.h"
#include "lockstep/block.h"
#include "model/cache/cache.h"
#include "model/core/rates.h"
#include "model/memory/mem.h"

/* A thread block on its way to a core: belongs to the core until core_done brings the ls_cta back. Without a
 * block (cta is NULL): so many `cores` are still at work for `kernel`. */
#define CORE_KERNELS_MAX 128 /* that run at once: core_launch.kernel is below */

typedef struct core_launch {
    ls_cta *cta;
    const ls_inst *insts;
    const ls_kernel_info *info;
    uint32_t kernel;           /* the dispatcher's slot: another kernel may have had it before */
    uint32_t number;           /* of the launch: no other has it */
    uint32_t ctas_per_core;    /* most at once, for the carve-out and for the layout of local memory */
    uint32_t cores;            /* at work for the kernel: what shared bandwidth is divided by */
    const rates_kernel *rates; /* of memory that is not simulated; else NULL */
} core_launch;

typedef struct core_done {
    ls_cta *cta;
    uint32_t kernel;
    uint16_t core;
    ls_cycle start, cycle; /* of the core's clock: its start and its end */
} core_done;

/* What limits how many thread blocks fit. */
typedef struct core_capacity {
    uint64_t warp_slots, cta_slots, registers, shared_bytes, register_unit;
} core_capacity;
/* A matrix instruction of a shape or type that the platform has no rate for: its class's time counts. */
bool core_guesses_time(const ls_block *block, const ls_inst *inst);
core_capacity core_get_capacity(const ls_block *core);

/* Whether memory is a formula (core.memory: analytic): then no request leaves the core. */
bool core_is_analytic(const ls_block *core);
/* The core gains by blocks that are sent ahead: nothing else makes it meet the rest of the machine. */
bool core_starts_blocks(const ls_block *core);
/* The core may be sent blocks before it has room: it starts one so many cycles, at least 1, after another has
 * ended. CORE_AHEAD_MAX: with those that run, at most. */
#define CORE_AHEAD_MAX 512u
ls_status core_take_ahead(ls_block *core, uint32_t delay_cycles, ls_error *err);
void core_set_machine(ls_block *core, const rates_machine *machine);
const rates_machine *core_get_machine(const ls_block *core);
uint32_t core_network_width(const ls_block *core); /* sectors per cycle */
const mem_map *core_get_map(const ls_block *core); /* after core_attach() */
/* What a profile needs to know: L1 as it is when blocks with so much shared memory are resident. */
typedef struct core_l1 {
    cache_spec cache; /* with the ways that are left */
    uint32_t banks, latency_cycles;
    bool flush; /* between kernels */
    bool accelsim_rules;
} core_l1;
core_l1 core_get_l1(const ls_block *core, uint64_t shared_bytes);

/* Before the run: so many kernels may run side by side, and what they do is counted by slot, too. */
ls_status core_set_kernels(ls_block *core, uint32_t slots, ls_error *err);
/* Between runs: the counters of the kernel that has ended in this slot, in the layout of the block's counters.
 * Those of the core's time are 0: kernels share them. False: nothing is counted by kernel. */
bool core_take_kernel(ls_block *core, uint32_t slot, void *counters, size_t bytes);

/* What a roofline needs to know: what the core has done so far, and how fast its units are. */
typedef struct core_work {
    uint64_t flops_half, flops_single, flops_double, flops_tensor;
    uint64_t tensor_cycles;         /* that units spent on matrix instructions, summed over sub-cores */
    uint64_t expected_dram_sectors; /* by the formula, if memory is not simulated */
} core_work;
typedef struct core_roofs {
    uint32_t sub_cores;
    uint64_t half_interval, single_interval,
        double_interval; /* cycles from one instruction to the next, from 1 */
} core_roofs;
core_work core_get_work(const ls_block *core);
core_roofs core_get_roofs(const ls_block *core);

/* Wiring, before the run. */
ls_status core_attach(ls_block *core, uint32_t id, uint32_t core_count, const mem_map *map,
                      ls_link *const *to_memory, uint32_t replies_max, ls_link *to_dispatch, ls_error *err);
void core_receive_launch(void *state, ls_link *link, const void *payload, ls_cycle now);
void core_receive_reply(void *state, ls_link *link, const void *payload, ls_cycle now);

#endif
