/* dispatch.h: from kernels to thread blocks on cores: where the work comes from, and the wiring. */
#ifndef MODEL_DISPATCH_H
#define MODEL_DISPATCH_H

#include "isa/stream.h"
#include "lockstep/block.h"
#include "model/core/core_api.h"

/* A kernel as the workload hands it over; valid until kernel_done. */
typedef struct dispatch_kernel {
    const ls_kernel_info *info;
    const ls_inst *insts;
    uint64_t ctas;
    void *handle;              /* the workload's */
    uint32_t slot;             /* the dispatcher's: cores count by it */
    const rates_kernel *rates; /* for cores whose memory is not simulated; else NULL */
} dispatch_kernel;

/* The workload. All calls come from the dispatcher's domain, so they are serial. */
typedef struct dispatch_work {
    void *self;
    ls_status (*next_kernel)(void *self, dispatch_kernel *out, bool *end, ls_error *err);
    ls_status (*next_cta)(void *self, const dispatch_kernel *kernel, ls_cta *cta, bool *end, ls_error *err);
    void (*kernel_done)(void *self, const dispatch_kernel *kernel, ls_cycle begin, ls_cycle end);
} dispatch_work;

/* The keys of a dispatcher. */
typedef struct dispatch_spec {
    uint64_t launch_latency_cycles, block_latency_cycles;
    uint64_t concurrent_kernels;
    ls_ratio block_interval; /* cycles from one block to the next, of the whole GPU; 0: no limit */
    bool spread;             /* small grids are spread over all cores */
} dispatch_spec;

/* How many blocks of a kernel a core gets at once. */
typedef struct dispatch_rules {
    core_capacity capacity;
    uint32_t core_count;
    bool spread; /* small grids over all cores */
} dispatch_rules;
uint32_t dispatch_blocks_per_core(const dispatch_rules *rules, const ls_kernel_info *info, uint64_t ctas);
dispatch_rules dispatch_get_rules(const ls_block *dispatch); /* after dispatch_attach() */

/* refill_cycles: cores are sent blocks before they have room, and start one so many cycles after another has
 * ended; 0: they are not. */
ls_status dispatch_attach(ls_block *dispatch, const core_capacity *capacity, ls_link *const *to_core,
                          uint32_t core_count, uint32_t link_latency_cycles, uint32_t refill_cycles,
                          ls_error *err);
uint32_t dispatch_launch_latency(const ls_block *dispatch); /* of a kernel, in cycles */
void dispatch_receive(void *state, ls_link *link, const void *payload, ls_cycle now);

/* Before the run: sets the workload and starts it at cycle 0. */
void dispatch_start(ls_block *dispatch, const dispatch_work *work);
/* Between runs: a kernel finished since the last call (the run stopped because of it). */
bool dispatch_finished_kernel(ls_block *dispatch);
/* Everything has been run. */
bool dispatch_idle(const ls_block *dispatch);
/* Whether kernels were launched that have not ended, and when the first of them was. */
bool dispatch_unfinished(const ls_block *dispatch, ls_cycle *begin);
/* How many kernels may run side by side: slots are below. */
uint32_t dispatch_slots(const ls_block *dispatch);
/* Between runs: what the dispatcher counted for the kernel that has ended in this slot, in the layout of its
 * counters. */
bool dispatch_take_kernel(ls_block *dispatch, uint32_t slot, void *counters, size_t bytes);
/* What the workload reported, if it failed. */
const ls_error *dispatch_failure(const ls_block *dispatch);

#endif
