/* increment_rig.h: a system of three small GPUs through the driver, and a kernel that adds one to the words of a buffer. */
#ifndef TESTS_RUNTIME_TIMING_INCREMENT_RIG_H
#define TESTS_RUNTIME_TIMING_INCREMENT_RIG_H

#include "runtime/driver/driver_test.h"

#define NANO LS_SOURCE_DIR "/platforms/r9nano.yaml"
#define PAGE 4096u
#define GPUS 3u

typedef struct rig {
    ls_gpu_system *system;
    ls_gpu_context *context;
    ls_gpu_kernel *increment[GPUS];
} rig;

static rig open_increment(const ls_gpu_options *options)
{
    const char *path = bench_object("gfx803", 5);
    rig r;
    OK(ls_gpu_system_create(options, &r.system, &err));
    OK(ls_gpu_context_create(r.system, &r.context, &err));
    for (uint32_t i = 0; i < GPUS; i++) {
        ls_gpu_module *module;
        OK(ls_gpu_select(r.context, i, &err));
        OK(ls_gpu_module_load_file(r.context, path, &module, &err));
        OK(ls_gpu_module_find(module, "increment", &r.increment[i], &err));
    }
    OK(ls_gpu_select(r.context, 0, &err));
    return r;
}

static void close_rig(rig *r)
{
    assert_no_races(r->system);
    ls_gpu_context_destroy(r->context);
    ls_gpu_system_destroy(r->system);
}

/* Work-groups of 64 increment the words of a buffer; these of them, on this GPU. */
static ls_status add_one(rig *r, uint32_t gpu, ls_gpu_address buffer, uint32_t words, ls_groups which)
{
    ls_gpu_arg args[] = { LS_GPU_ARG(buffer), LS_GPU_ARG(words) };
    ls_gpu_launch l = { .grid = { words }, .group = { 64 }, .args = args, .arg_count = 2, .groups = which };
    return ls_gpu_run(r->context, r->increment[gpu], &l, &err);
}

#endif
