/* run_profile.h: the hit rates of a trace's instructions on a platform, without simulating time. */
#ifndef SIM_RUN_PROFILE_H
#define SIM_RUN_PROFILE_H

#include "base/arena.h"
#include "platform/machine.h"
#include "workload/profile/profile.h"
#include "workload/select.h"
#include "workload/trace.h"
#include "workload/unmodelled.h"

typedef struct run_profile_options {
    config_request platform; /* core.memory=analytic is added to its sets */
    const char *trace;
    const char *kernels; /* as in select.h; NULL: all */
    uint64_t cta_limit;  /* 0: all */
    uint64_t sample;     /* warp instructions of each kernel; 0: all */
    profile_method method;
    uint32_t threads;
    bool unknown_opcodes_as_alu, allow_unmodelled;
    void (*warn)(void *self, const char *text); /* about keys without effect; may be NULL */
    void *warn_self;
} run_profile_options;

/* All zero is nothing. */
typedef struct run_profile {
    uint64_t cta_limit, sample;
    platform_config *config;
    ls_machine *machine;
    gpu_shape shape;
    sass_trace *trace;
    kernel_selection selection; /* kernel i of the profile is its i-th */
    thread_pool *pool;          /* NULL: one thread */
    trace_profiler *profiler;
    trace_profile profile;
    unmodelled_insts unmodelled;
} run_profile;

/* Profiles every kernel that is selected. run_profile_close() is due in every case. */
ls_status run_profile_make(run_profile *p, const run_profile_options *options, ls_error *err);
void run_profile_close(run_profile *p);
/* Where it is kept if the caller names no file: in the cache, whose folders are made. *path is NULL if there is no
 * home to keep it in. The text is in the arena. */
ls_status run_profile_cache(const run_profile *p, mem_arena *arena, const char **path, ls_error *err);

#endif
