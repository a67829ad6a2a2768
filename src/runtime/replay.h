/* replay.h: runs a trace on a machine of kind `gpu`, kernel by kernel. */
#ifndef RUNTIME_REPLAY_H
#define RUNTIME_REPLAY_H

#include "base/arena.h"
#include "base/bytes.h"
#include "isa/inst_counts.h"
#include "lockstep/block.h"
#include "model/gpu/device_queue.h"
#include "workload/position.h"
#include "workload/profile/profile.h"
#include "workload/sample/sample.h"
#include "workload/select.h"
#include "workload/trace.h"
#include "workload/unmodelled.h"

typedef struct trace_replay trace_replay;

/* A kernel that has been run. */
typedef struct replay_kernel {
    const char *name;
    uint64_t number;          /* among the kernels of the list, from 1: as --kernels counts */
    uint64_t stream, command; /* command: index in the list */
    ls_cycle begin, end;      /* of the core clock; the launch latency is in between */
    uint64_t ctas;
    uint32_t threads, registers; /* of a block, of a thread */
    uint64_t shared_bytes;       /* of a block */
    uint32_t slot;               /* the dispatcher's, by which cores count */
    ls_cycle next_begin; /* begin of the first other kernel that had begun and not been reported when this one
                          * was; LS_CYCLE_MAX: none */
    double sampled;      /* the share of the kernel that its hit rates come from; 0: it needed none */
    uint64_t skipped_ctas;          /* that were not simulated: the kernel was in a steady state */
    double skipped_cycles;          /* that they would take */
    struct replay_counted *counted; /* per instruction; NULL: not asked for, taken, or no memory */
} replay_kernel;

/* Static instructions of a kernel with their counts, in the order in which they were first executed. */
typedef struct replay_counted {
    mem_arena arena; /* of texts */
    inst_counted *insts;
    size_t count;
} replay_counted;

typedef struct replay_options {
    const kernel_selection *selection; /* which kernels to run; NULL: all. Outlives the replay */
    const source_position *from;       /* the first command; NULL: the beginning. For replay_create() only */
    uint32_t gpu;                      /* which one of the engine, in the order of building */
    uint64_t cta_limit;                /* thread blocks per kernel; 0: all */
    bool allow_unmodelled;             /* else a block with an unmodelled instruction fails the run */
    bool warm_l2;                      /* memory copies of the list make their range valid in L2 */
    /* For machines whose memory is a formula: hit rates, else they are found out before each kernel starts,
     * from a sample of it. Outlives the replay. NULL: none. */
    const trace_profile *profile;
    /* Only kernels that it wants run, each alone: kernel i of the selection is its kernel i. Needs a selection. Outlives
     * the replay. NULL: all run. */
    sample_plan *sample;
    bool sample_blocks;      /* with sample: kernels end early when their blocks are in a steady state */
    bool cold;               /* with sample: L2 does not get the sectors of kernels that were left out */
    bool count_instructions; /* replay_kernel.counted; LS_ERR_UNSUPPORTED for cores that cannot */
    /* In a run of several GPUs: the commands of this one; its kernels are those of the trace. The GPU has a device queue
     * then. Outlives the replay. NULL: the whole trace. */
    const device_program *program;
    /* After each kernel, while nothing runs: time to read counters. */
    ls_status (*kernel_done)(void *self, const replay_kernel *kernel, ls_error *err);
    void *kernel_done_self;
} replay_options;

/* trace and engine outlive the replay. Fails if the machine has no such GPU. */
ls_status replay_create(ls_engine *engine, sass_trace *trace, const replay_options *options,
                        trace_replay **out, ls_error *err);
void replay_destroy(trace_replay *replay);
/* Runs everything that is left; result adds up over the pieces. It is limited only if options.until left
 * kernels that have not ended. */
ls_status replay_run(trace_replay *replay, const ls_run_options *options, ls_run_result *result,
                     ls_error *err);

/* The same for traces on several GPUs of one engine, at the same time. */
ls_status replay_run_all(trace_replay *const *replays, size_t count, const ls_run_options *options,
                         ls_run_result *result, ls_error *err);

uint64_t replay_kernel_count(const trace_replay *replay);
/* Whether kernels were launched that have not ended, and when the first of them was. */
bool replay_unfinished(const trace_replay *replay, ls_cycle *begin);
const replay_kernel *replay_kernel_at(const trace_replay *replay, uint64_t index);

/* --- replay_save.c --- */

/* Between runs: everything but the machine's own state. */
void replay_save(const trace_replay *replay, bytes_out *out);
/* In place of a start, for a replay that has not run: opens the kernels that were open. Then the machine is loaded
 * (ls_engine_load), and replay_resumed() is due. in->failed: the bytes are of another replay. */
ls_status replay_resume(trace_replay *replay, bytes_in *in, uint32_t threads, ls_error *err);
void replay_resumed(trace_replay *replay);

/* --- replay_sample.c: kernels that stand for others --- */

struct open_kernel;
/* The next kernel that the plan wants, as a command of the list; false: there is none now, and *end says that none will
 * come. */
bool replay_sample_next(trace_replay *replay, bool *end);
/* A kernel that next has chosen was opened, and has ended. */
ls_status replay_sample_open(trace_replay *replay, struct open_kernel *kernel, ls_error *err);
void replay_sample_done(trace_replay *replay, struct open_kernel *kernel, replay_kernel *done);
/* A block of it is sent, while it is not known whether caches are warm. False: the host has no memory left. */
bool replay_sample_touch(trace_replay *replay, struct open_kernel *kernel, const ls_cta *cta);
/* Before a block of it is read: leaves out those that a steady state stands for. */
ls_status replay_sample_skip(struct open_kernel *kernel, ls_cta *cta, ls_error *err);
/* Between runs, before the first block of a kernel is on a core: L2 gets what kernels before it would have left. */
ls_status replay_sample_warm(trace_replay *replay, ls_error *err);

/* --- replay_counts.c --- */

/* NULL: the host has no memory left. */
replay_counted *replay_counted_make(const trace_kernel *kernel, const inst_counts *counts);
void replay_counted_free(replay_counted *counted); /* NULL is fine */

/* Static matrix instructions so far whose shape or type the platform has no rate for, and the first of them. */
uint64_t replay_guessed(const trace_replay *replay, const char **opcode, uint64_t *pc);
/* Instructions of the blocks so far whose effects no model has. */
const unmodelled_insts *replay_unmodelled(const trace_replay *replay);

#endif
