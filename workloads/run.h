/* run.h: one run of a workload, as workload.c starts it and helpers.c serves it. */
#ifndef WORKLOADS_RUN_H
#define WORKLOADS_RUN_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "lockstep/random.h"
#include "workloads/workload.h"

struct wl_run {
    const wl_workload *workload;
    uint64_t *values; /* of the options */
    ls_gpu_context *context;
    ls_gpu_module *module;
    mem_arena arena;
    ls_random random;
    hash_stream *downloads;
    bool check;
    uint64_t compared;
    bool is_wrong;
    ls_status status; /* the first failure stays */
    ls_error *err;    /* of the program that runs it; not NULL */
};

#endif
