/* driver_test.h: helpers of the driver's tests: a system with one GPU and the compiled test kernels. */
#ifndef TESTS_RUNTIME_DRIVER_DRIVER_TEST_H
#define TESTS_RUNTIME_DRIVER_DRIVER_TEST_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "lockstep/driver.h"

#include <stdio.h>
#include <string.h>

static ls_error err;

#define OK(call_)                                                                                             \
    do {                                                                                                      \
        ls_error_clear(&err);                                                                                 \
        if ((call_) != LS_OK)                                                                                 \
            fail_msg("%s: %s", #call_, err.what);                                                             \
    } while (0)
#define REFUSED(call_, status_, part_)                                                                        \
    do {                                                                                                      \
        assert_int_equal((call_), (status_));                                                                 \
        if (!strstr(err.what, (part_)))                                                                       \
            fail_msg("'%s' is not in: %s", (part_), err.what);                                                \
    } while (0)

typedef struct bench {
    ls_gpu_system *system;
    ls_gpu_context *context;
    ls_gpu_module *module;
} bench;

static inline const char *bench_object(const char *target, unsigned version)
{
    static char path[512];
    snprintf(path, sizeof path, LS_BINARY_DIR "/tests/kernels/%s-v%u/driver.co", target, version);
    if (!file_exists(path)) {
        print_message("no compiled kernels: clang-15, lld-15 or rocm-device-libs is missing\n");
        skip();
    }
    return path;
}

static inline bench bench_open(const char *target, unsigned version, const ls_gpu_options *more)
{
    bench b = { 0 };
    ls_gpu_options options = more ? *more : (ls_gpu_options){ 0 };
    const char *path = bench_object(target, version);
    options.gpus = &target;
    options.gpu_count = 1;
    OK(ls_gpu_system_create(&options, &b.system, &err));
    OK(ls_gpu_context_create(b.system, &b.context, &err));
    OK(ls_gpu_module_load_file(b.context, path, &b.module, &err));
    return b;
}

/* The program has no races, if its memory is checked. Reads that get wrong bytes fail the commands themselves. */
static inline void assert_no_races(const ls_gpu_system *system)
{
    ls_gpu_memory_check found;
    if (ls_gpu_system_memory_check(system, &found))
        assert_int_equal(found.races, 0);
}

static inline void bench_close(bench *b)
{
    assert_no_races(b->system);
    ls_gpu_context_destroy(b->context);
    ls_gpu_system_destroy(b->system);
}

static inline ls_gpu_kernel *bench_kernel(const bench *b, const char *name)
{
    ls_gpu_kernel *kernel;
    OK(ls_gpu_module_find(b->module, name, &kernel, &err));
    return kernel;
}

static inline ls_gpu_address bench_buffer(const bench *b, size_t bytes)
{
    ls_gpu_address address;
    OK(ls_gpu_alloc(b->context, bytes, &address, &err));
    return address;
}

#endif
