/* replay_impl.h: the state of a trace that is replayed, for replay*.c only. */
#ifndef RUNTIME_REPLAY_IMPL_H
#define RUNTIME_REPLAY_IMPL_H

#include "base/arena.h"
#include "base/pool.h"
#include "base/vec.h"
#include "model/gpu/shape.h"
#include "runtime/replay.h"
#include "workload/sample/sample_blocks.h"
#include "workload/sample/sample_warm.h"
#include "workload/share.h"

#include <stdlib.h>

/* An open kernel; freed when the dispatcher says that it is done. */
typedef struct open_kernel {
    trace_kernel *kernel;
    shared_streams *share; /* reader of its thread blocks */
    uint64_t number, command, limit, read;
    LS_VEC(ls_cta *) kept; /* blocks that the profile has read: the run starts with them */
    size_t next_kept, next_profiled;
    rates_kernel rates;
    double sampled;
    unmodelled_scan scan;
    uint32_t timed;      /* static instructions that were checked against the platform */
    inst_counts *counts; /* NULL: instructions are not counted */
    bool is_analytic;    /* its rates go to the cores */
    size_t unit;         /* of the sample */
    bool is_cold;        /* the kernel before it was not simulated */
    sample_blocks steady;
} open_kernel;

struct trace_replay {
    ls_engine *engine;
    sass_trace *trace;
    const gpu_instance *gpu;
    const ls_dispatch_ops *dispatch;
    void *dispatch_self;
    replay_options options;
    source_position next; /* the command that is looked at next */
    uint64_t seen;        /* kernels of the list so far */
    size_t next_selected;
    LS_VEC(replay_kernel) kernels;
    LS_VEC(open_kernel *) open;
    size_t reported;
    uint64_t ended; /* kernels that had ended at the last look */
    mem_arena names;
    ls_error held; /* why the next kernel cannot be opened; returned when the earlier ones have run */
    unmodelled_insts unmodelled;
    uint64_t guessed, guessed_pc;
    uint16_t guessed_opcode;
    bool started;
    /* As they were saved, until the machine is loaded. */
    unmodelled_insts saved_unmodelled;
    uint64_t saved_guessed, saved_pc;
    uint16_t saved_opcode;
    bool is_resuming; /* the dispatcher's state is being loaded: it gets no kernels */
    uint32_t threads; /* of the run */
    gpu_shape shape;
    bool continues;           /* the kernels of the present command go on with a launch */
    trace_profiler *profiler; /* of machines without simulated memory, if there is no profile */
    thread_pool *pool;        /* that makes profiles, with as many threads as the run; NULL: one */
    bool is_away;             /* another rank runs the GPU; `told` is what it said last */
    ls_dispatch_progress told;
    ls_error told_failure;
    size_t unit, last_unit; /* of the sample: the next to look at, the last that ran (SIZE_MAX: none) */
    sample_warm warm;
    sample_warm touched; /* by the blocks of the present kernel, if they are looked at */
};

/* --- replay.c --- */

/* Opens the kernel at a position. *out is NULL, with the reason in r->held, if it cannot be read. */
ls_status replay_open_kernel(trace_replay *r, const source_position *at, uint64_t number, open_kernel **out,
                             ls_error *err);
void replay_describe(open_kernel *o, ls_dispatch_kernel *out);
/* Connects the dispatcher; once. */
ls_status replay_start(trace_replay *r, uint32_t threads, ls_error *err);

/* --- replay_save.c: for ls_dispatch_work --- */

uint64_t replay_number_of(void *self, const ls_dispatch_kernel *kernel);
bool replay_find_kernel(void *self, uint64_t number, ls_dispatch_kernel *out);

#endif
