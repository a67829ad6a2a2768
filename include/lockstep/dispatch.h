/* dispatch.h: dispatchers: from kernels to thread blocks on cores.
 *
 * A model is a block of slot "dispatch" that provides the port "dispatch" of this interface. It takes kernels
 * from the workload, sends their thread blocks to cores that have room, and learns of their ends. Links join
 * it to every core. docs/add-a-block.md builds one from nothing. */
#ifndef LOCKSTEP_DISPATCH_H
#define LOCKSTEP_DISPATCH_H

#include "lockstep/core.h"

#define LS_DISPATCH_SLOT "dispatch"
#define LS_DISPATCH_PORT "dispatch"
#define LS_DISPATCH_INTERFACE "dispatch/3"

/* A kernel as the workload hands it over; valid until kernel_done. */
typedef struct ls_dispatch_kernel {
    const ls_kernel_info *info;
    const ls_inst *insts;
    uint64_t ctas;
    void *handle;                     /* the workload's */
    uint32_t slot;                    /* the dispatcher sets it: cores count by it */
    const struct rates_kernel *rates; /* goes into the launch table */
    struct inst_counts *counts;       /* likewise */
    bool continues; /* goes on with a launch that is on the GPU already: there is no latency of a launch */
} ls_dispatch_kernel;

/* The workload. The dispatcher calls it from its own domain only. */
typedef struct ls_dispatch_work {
    void *self;
    /* A kernel without info: there is none now, and the dispatcher's resume() is called when there may be one. */
    ls_status (*next_kernel)(void *self, ls_dispatch_kernel *out, bool *end, ls_error *err);
    /* Fills the dispatcher's cta, which was zeroed once and may have been used before. */
    ls_status (*next_cta)(void *self, const ls_dispatch_kernel *kernel, ls_cta *cta, bool *end, ls_error *err);
    void (*kernel_done)(void *self, const ls_dispatch_kernel *kernel, ls_cycle begin, ls_cycle end);
    /* For state tables (lockstep/state.h): the number of a kernel that has not ended, from 1; 0: it is none of them. */
    uint64_t (*number_of)(void *self, const ls_dispatch_kernel *kernel);
    /* While a state is loaded: the kernel of a number. Sets the pointers of *out and leaves its numbers. next_cta() then
     * gives its thread blocks from the first one on. False: there is none. */
    bool (*find_kernel)(void *self, uint64_t number, ls_dispatch_kernel *out);
    /* A thread block has ended, which ran so long. NULL: the workload need not know. A dispatcher that does not call it
     * works; then no kernel ends early (--sample blocks). */
    void (*block_done)(void *self, const ls_dispatch_kernel *kernel, ls_cycle begin, ls_cycle end);
} ls_dispatch_work;

/* A model's description of itself, before anything is connected. */
typedef struct ls_dispatch_shape {
    uint64_t launch_latency_cycles; /* of a kernel, at least */
    uint32_t kernel_slots;          /* kernels that may run side by side, up to LS_CORE_KERNELS */
    bool spread;                    /* small grids go over all cores: see ls_dispatch_blocks_per_core() */
} ls_dispatch_shape;

typedef struct ls_dispatch_wiring {
    ls_core_capacity capacity; /* of each core */
    ls_link *const *to_core;   /* by core; payload: ls_core_launch */
    uint32_t core_count;
    uint32_t link_latency_cycles; /* to a core, and back */
    uint32_t refill_cycles; /* cores take blocks before they have room: see ls_core_wiring; 0: they do not */
    ls_launch_table *launches; /* that launch messages name; outlives the block */
    uint32_t gpcs, tpc_cores;  /* groups of cores for clusters (ls_core_gpc); 0 gpcs: there are no clusters */
} ls_dispatch_wiring;

/* How far it is. */
typedef struct ls_dispatch_progress {
    uint64_t ended;          /* kernels */
    bool idle;               /* everything has been run */
    ls_cycle oldest;         /* launch of the first kernel that has not ended; LS_CYCLE_MAX: there is none */
    const ls_error *failure; /* of the workload, or for a kernel that fits on no core; NULL: none */
} ls_dispatch_progress;

/* Provided port. */
typedef struct ls_dispatch_ops {
    void (*describe)(const void *self, ls_dispatch_shape *out);
    /* Once, before the run. The arrays of the wiring outlive the block. */
    ls_status (*attach)(void *self, const ls_dispatch_wiring *wiring, ls_error *err);
    /* An ls_core_done from a core. */
    void (*receive)(void *self, ls_link *link, const void *payload, ls_cycle now);
    /* Before the run: sets the workload and starts it at cycle 0. Before a state is loaded the workload has no kernel yet. */
    void (*start)(void *self, const ls_dispatch_work *work);
    /* In the dispatcher's domain, by a workload that had no kernel and may have one now. */
    void (*resume)(void *self, ls_cycle now);
    /* Between runs. At the end of a kernel the dispatcher stops the run (ls_domain_stop), so that counters can be
     * read. */
    void (*progress)(const void *self, ls_dispatch_progress *out);
    /* Between runs: its counters of the kernel that has ended in this slot, in the layout of the block's
     * counters. False: it does not count per kernel. */
    bool (*take_kernel)(void *self, uint32_t slot, void *counters, size_t bytes);
} ls_dispatch_ops;

/* The kernel takes the row of its slot in the launch table, before its first block is sent. */
static inline void ls_dispatch_set_kernel(ls_launch_table *launches, const ls_dispatch_kernel *kernel)
{
    launches->kernels[kernel->slot] = (ls_launch_kernel){
        .info = kernel->info, .insts = kernel->insts, .rates = kernel->rates, .counts = kernel->counts
    };
}

/* The message that brings a block of the kernel to a core; `number` is that of the launch, from 1. */
static inline ls_core_launch ls_dispatch_launch(const ls_dispatch_kernel *kernel, uint32_t block,
                                                uint64_t number, uint32_t ctas_per_core, uint32_t cores)
{
    return (ls_core_launch){ .block = block,
                             .kernel = kernel->slot,
                             .number = (uint32_t)number,
                             .ctas_per_core = ctas_per_core,
                             .cores = cores };
}

/* Number of blocks of a kernel that a core has at once. As many as fit on an empty core, or fewer if the grid
 * is too small to fill all cores and is spread. 0: not even one fits. */
typedef struct ls_dispatch_rules {
    ls_core_capacity capacity;
    uint32_t core_count;
    bool spread;
} ls_dispatch_rules;
LS_API uint32_t ls_dispatch_blocks_per_core(const ls_dispatch_rules *rules, const ls_kernel_info *info,
                                            uint64_t ctas);

#endif
