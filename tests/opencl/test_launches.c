/* A hundred thousand launches: no memory of them stays, whether the program reads their events or not. */
#include "opencl/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BATCH 100
#define GROWTH_MAX_KIB 1024 /* of caches that fill once; 100,000 leaked events would be 60 MiB */

static cl_program program;

/* Resident memory; 0 if the host does not say. */
static long resident_kib(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long all = 0, resident = 0;
    if (!file)
        return 0;
    if (fscanf(file, "%ld %ld", &all, &resident) != 2)
        resident = 0;
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static unsigned count_from_environment(void)
{
    const char *text = getenv("LAUNCHES"); /* fewer where each costs more: under valgrind */
    return text ? (unsigned)strtoul(text, NULL, 10) : 100000;
}

/* A third each: events that are waited for, events that are released at once, no events at all. */
static void launch_batch(cl_kernel kernel, unsigned way)
{
    const size_t one = 1;
    cl_event event;
    for (int i = 0; i < BATCH; i++) {
        fx_ok(clEnqueueNDRangeKernel(fx_queue, kernel, 1, NULL, &one, &one, 0, NULL, way < 2 ? &event : NULL));
        if (way == 0)
            fx_ok(clWaitForEvents(1, &event));
        if (way < 2)
            fx_ok(clReleaseEvent(event));
    }
    fx_ok(clFinish(fx_queue));
}

static void test_steady(void **state)
{
    const unsigned launches = count_from_environment();
    cl_kernel kernel = fx_kernel(program, "count");
    cl_mem mem = fx_buffer(0, sizeof(cl_uint), NULL);
    cl_uint counted = 0;
    long before = 0;
    (void)state;
    fx_set(kernel, 0, mem);
    for (unsigned i = 0; i < launches / BATCH; i++) {
        if (i == launches / BATCH / 10)
            before = resident_kib();
        launch_batch(kernel, i % 3);
    }
    if (launches >= 100000 &&
        resident_kib() - before > GROWTH_MAX_KIB) /* fewer: a tool has memory of its own */
        fail_msg("resident memory grew from %ld to %ld KiB", before, resident_kib());
    fx_read(mem, &counted, sizeof counted);
    assert_int_equal(counted, launches / BATCH * BATCH);
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseMemObject(mem));
}

static int setup(void **state)
{
    int result = fx_setup(state);
    fx_need_compiler();
    if (result == 0)
        program = fx_build("kernel void count(global uint *n) { *n += 1; }\n"
                           "kernel void empty(void) {}\n",
                           "");
    return result;
}

static int teardown(void **state)
{
    clReleaseProgram(program);
    return fx_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steady),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
