/* replay_impl.h: a replay's own structs, for replay.c and replay_sample.c. */
#ifndef RUNTIME_REPLAY_IMPL_H
#define RUNTIME_REPLAY_IMPL_H

#include "base/pool.h"
#include "base/vec.h"
#include "model/gpu/shape.h"
#include "runtime/replay.h"
#include "workload/sample/sample_blocks.h"
#include "workload/sample/sample_warm.h"
#include "workload/share.h"

/* An open kernel; freed when the dispatcher says that it is done. */
struct open_kernel {
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
    size_t unit;         /* of the sample */
    bool is_cold;        /* the kernel before it was not simulated */
    sample_blocks steady;
};
typedef struct open_kernel open_kernel;

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
    uint32_t threads; /* of the run */
    gpu_shape shape;
    bool continues;           /* the kernels of the present command go on with a launch */
    trace_profiler *profiler; /* of machines without simulated memory, if there is no profile */
    thread_pool *pool;        /* that makes profiles, with as many threads as the run; NULL: one */
    size_t unit, last_unit;   /* of the sample: the next to look at, the last that ran (SIZE_MAX: none) */
    sample_warm warm;
    sample_warm touched; /* by the blocks of the present kernel, if they are looked at */
};

#endif
