/* replay.h: runs a trace on a machine of kind `gpu`, kernel by kernel. */
#ifndef RUNTIME_REPLAY_H
#define RUNTIME_REPLAY_H

#include "lockstep/block.h"
#include "workload/profile/profile.h"
#include "workload/select.h"
#include "workload/trace.h"
#include "workload/unmodelled.h"

typedef struct ls_replay ls_replay;

/* A kernel that has been run. */
typedef struct ls_replay_kernel {
    const char *name;
    uint64_t number;          /* among the kernels of the list, from 1: as --kernels counts */
    uint64_t stream, command; /* command: index in the list */
    ls_cycle begin, end;      /* of the core clock; the launch latency is in between */
    uint64_t ctas;
    uint32_t slot;       /* the dispatcher's, by which cores count */
    ls_cycle next_begin; /* of the first of the kernels that had begun and whose end had not been told when
                          * its own was; LS_CYCLE_MAX: there was none */
    double sampled;      /* the share of the kernel that its hit rates come from; 0: it needed none */
} ls_replay_kernel;

typedef struct ls_replay_options {
    const ls_selection *selection; /* which kernels to run; NULL: all. Outlives the replay */
    uint32_t gpu;                  /* which one of the engine, in the order of building */
    uint64_t cta_limit;            /* thread blocks per kernel; 0: all */
    bool allow_unmodelled;         /* else a block with an unmodelled instruction fails the run */
    bool warm_l2;                  /* memory copies of the list make their range valid in L2 */
    /* For machines whose memory is a formula: hit rates, else they are found out before each kernel starts,
     * from a sample of it. Outlives the replay. NULL: none. */
    const ls_profile *profile;
    /* After each kernel, while nothing runs: time to read counters. */
    ls_status (*kernel_done)(void *self, const ls_replay_kernel *kernel, ls_error *err);
    void *kernel_done_self;
} ls_replay_options;

/* trace and engine outlive the replay. Fails if the machine has no such GPU. */
ls_status ls_replay_create(ls_engine *engine, ls_trace *trace, const ls_replay_options *options,
                           ls_replay **out, ls_error *err);
void ls_replay_destroy(ls_replay *replay);
/* Runs everything that is left; result adds up over the pieces. It is limited only if options.until left
 * kernels that have not ended. */
ls_status ls_replay_run(ls_replay *replay, const ls_run_options *options, ls_run_result *result,
                        ls_error *err);

/* The same for traces on several GPUs of one engine, at the same time. */
ls_status ls_replay_run_all(ls_replay *const *replays, size_t count, const ls_run_options *options,
                            ls_run_result *result, ls_error *err);

uint64_t ls_replay_kernel_count(const ls_replay *replay);
/* Whether kernels were launched that have not ended, and when the first of them was. */
bool ls_replay_unfinished(const ls_replay *replay, ls_cycle *begin);
const ls_replay_kernel *ls_replay_kernel_at(const ls_replay *replay, uint64_t index);
/* Static matrix instructions so far whose shape or type the platform has no rate for, and the first of them. */
uint64_t ls_replay_guessed(const ls_replay *replay, const char **opcode, uint64_t *pc);
/* Instructions of the blocks so far whose effects no model has. */
const ls_unmodelled *ls_replay_unmodelled(const ls_replay *replay);

#endif
