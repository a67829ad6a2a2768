/* Programs for several devices, as common samples have them, in simulated time: a context of all devices, buffers that
 * more than one of them uses, events between queues, migration, memory of the host. The same with GPUs that no fabric
 * joins: what does not work there is refused. */
#include "opencl/fixture.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 2, ITEMS = 512 };

static cl_program program;
static cl_command_queue queues[DEVICES];
static bool joined; /* by a fabric with a host */

static const char source[] =
    "kernel void add(global const float *a, global const float *b, global float *c) {\n"
    "    size_t i = get_global_id(0); c[i] = a[i] + b[i]; }\n"
    "kernel void sum(global const int *in, global int *out, local int *part) {\n"
    "    size_t l = get_local_id(0); part[l] = in[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (size_t s = get_local_size(0) / 2; s > 0; s /= 2) {\n"
    "        if (l < s) part[l] += part[l + s]; barrier(CLK_LOCAL_MEM_FENCE); }\n"
    "    if (l == 0) out[get_group_id(0)] = part[0]; }\n"
    "kernel void step(global int *o, int by) { o[get_global_id(0)] = o[get_global_id(0)] * 3 + by; }\n"
    "kernel void count(global int *o) { atomic_add(o, 1); }\n"
    "kernel void say(global int *o) { if (get_global_id(0) == 0) printf(\"%d\\n\", *o); }\n"
    "kernel void look(read_only image2d_t i, global int *o) {\n"
    "    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
    "    *o = read_imagei(i, s, (int2)(1, 0)).x; }\n";

static cl_event launch(cl_command_queue queue, cl_kernel kernel, size_t grid, size_t group, cl_uint waits,
                       const cl_event *wait_list)
{
    cl_event event;
    fx_ok(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &grid, group ? &group : NULL, waits, wait_list,
                                 &event));
    return event;
}

/* Vector addition: each device has buffers of its own with its part of the vectors. */
static void test_parts(void **state)
{
    enum { PART = ITEMS / DEVICES };
    float a[ITEMS], b[ITEMS], c[ITEMS];
    cl_mem buffers[DEVICES][3];
    cl_event events[DEVICES];
    (void)state;
    for (int i = 0; i < ITEMS; i++) {
        a[i] = (float)i;
        b[i] = (float)(3 * i);
    }
    for (int d = 0; d < DEVICES; d++) {
        cl_kernel kernel = fx_kernel(program, "add");
        for (cl_uint k = 0; k < 3; k++) {
            buffers[d][k] =
                fx_buffer(k < 2 ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY, sizeof(float) * PART, NULL);
            fx_set(kernel, k, buffers[d][k]);
        }
        for (int k = 0; k < 2; k++)
            fx_ok(clEnqueueWriteBuffer(queues[d], buffers[d][k], CL_FALSE, 0, sizeof(float) * PART,
                                       (k == 0 ? a : b) + d * PART, 0, NULL, NULL));
        clReleaseEvent(launch(queues[d], kernel, PART, 64, 0, NULL));
        fx_ok(clEnqueueReadBuffer(queues[d], buffers[d][2], CL_FALSE, 0, sizeof(float) * PART, c + d * PART, 0,
                                  NULL, &events[d]));
        fx_ok(clReleaseKernel(kernel));
    }
    fx_ok(clWaitForEvents(DEVICES, events));
    for (int i = 0; i < ITEMS; i++)
        assert_true(c[i] == a[i] + b[i]);
    for (int d = 0; d < DEVICES; d++) {
        for (int k = 0; k < 3; k++)
            fx_ok(clReleaseMemObject(buffers[d][k]));
        fx_ok(clReleaseEvent(events[d]));
    }
}

/* A reduction: sub-buffers of one buffer, one for each device; the host adds the sums. */
static void test_sub_buffers(void **state)
{
    enum { PART = ITEMS / DEVICES, GROUPS = PART / 64 };
    int data[ITEMS], sums[DEVICES][GROUPS], total = 0;
    cl_mem whole, sums_of[DEVICES];
    cl_event events[DEVICES];
    (void)state;
    for (int i = 0; i < ITEMS; i++)
        data[i] = i * i % 101;
    whole = fx_buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof data, data);
    for (size_t d = 0; d < DEVICES; d++) {
        const cl_buffer_region region = { d * PART * sizeof(int), PART * sizeof(int) };
        cl_kernel kernel = fx_kernel(program, "sum");
        cl_int error;
        cl_mem part =
            clCreateSubBuffer(whole, CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
        fx_ok(error);
        sums_of[d] = fx_buffer(CL_MEM_WRITE_ONLY, sizeof sums[d], NULL);
        fx_set(kernel, 0, part);
        fx_set(kernel, 1, sums_of[d]);
        fx_ok(clSetKernelArg(kernel, 2, 64 * sizeof(int), NULL));
        events[d] = launch(queues[d], kernel, PART, 64, 0, NULL);
        fx_ok(clReleaseKernel(kernel));
        fx_ok(clReleaseMemObject(part));
    }
    for (int d = 0; d < DEVICES; d++) {
        fx_ok(clEnqueueReadBuffer(queues[0], sums_of[d], CL_TRUE, 0, sizeof sums[d], sums[d], 1, &events[d],
                                  NULL));
        for (int i = 0; i < GROUPS; i++)
            total += sums[d][i];
        fx_ok(clReleaseMemObject(sums_of[d]));
        fx_ok(clReleaseEvent(events[d]));
    }
    for (int i = 0; i < ITEMS; i++)
        total -= data[i];
    assert_int_equal(total, 0);
    fx_ok(clReleaseMemObject(whole));
}

/* A pipeline: devices work on one buffer in turn. Events of one queue hold the other one back; between the steps the
 * buffer migrates, is copied, or stays. */
static void test_pipeline(void **state)
{
    int data[ITEMS], wanted[ITEMS];
    cl_kernel kernel = fx_kernel(program, "step");
    cl_mem buffers[2];
    cl_event last = NULL, user;
    cl_int error;
    (void)state;
    for (int i = 0; i < ITEMS; i++)
        data[i] = wanted[i] = i;
    buffers[0] = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof data, data);
    buffers[1] = fx_buffer(CL_MEM_READ_WRITE, sizeof data, NULL);
    user = clCreateUserEvent(fx_context, &error); /* the first step waits for the host */
    fx_ok(error);
    fx_ok(clRetainEvent(user));
    last = user;
    for (int step = 0; step < 6; step++) {
        cl_command_queue queue = queues[step % 2];
        cl_mem now = buffers[step / 3];
        cl_event event;
        if (step == 3) {
            fx_ok(clEnqueueCopyBuffer(queue, buffers[0], buffers[1], 0, 0, sizeof data, 1, &last, &event));
        } else if (step % 2 == 1) {
            fx_ok(clEnqueueMigrateMemObjects(queue, 1, &now, 0, 1, &last, &event));
        } else {
            fx_ok(clEnqueueBarrierWithWaitList(queue, 1, &last, &event));
        }
        fx_ok(clReleaseEvent(last));
        fx_set(kernel, 0, now);
        fx_set(kernel, 1, step);
        last = launch(queue, kernel, ITEMS, 64, 1, &event);
        fx_ok(clReleaseEvent(event));
        for (int i = 0; i < ITEMS; i++)
            wanted[i] = wanted[i] * 3 + step;
    }
    fx_ok(clSetUserEventStatus(user, CL_COMPLETE));
    fx_ok(clReleaseEvent(user));
    fx_ok(clEnqueueReadBuffer(queues[0], buffers[1], CL_TRUE, 0, sizeof data, data, 1, &last, NULL));
    assert_memory_equal(data, wanted, sizeof data);
    fx_ok(clReleaseEvent(last));
    for (int i = 0; i < 2; i++)
        fx_ok(clReleaseMemObject(buffers[i]));
    fx_ok(clReleaseKernel(kernel));
}

/* A mapped buffer that the host allocates: written by the host, used by both devices, read by the host. */
static void test_mapped(void **state)
{
    cl_kernel kernel = fx_kernel(program, "step"), counter = fx_kernel(program, "count");
    cl_mem mem = fx_buffer(CL_MEM_ALLOC_HOST_PTR, ITEMS * sizeof(int), NULL);
    cl_event events[DEVICES];
    cl_int error, by = 1;
    (void)state;
    int *at = clEnqueueMapBuffer(queues[0], mem, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0,
                                 ITEMS * sizeof(int), 0, NULL, NULL, &error);
    fx_ok(error);
    for (int i = 0; i < ITEMS; i++)
        at[i] = 7 * i;
    fx_ok(clEnqueueUnmapMemObject(queues[0], mem, at, 0, NULL, &events[0]));
    fx_set(kernel, 0, mem);
    fx_set(kernel, 1, by);
    fx_set(counter, 0, mem);
    for (cl_uint d = 0; d < DEVICES; d++) {
        cl_event event = launch(queues[d], kernel, ITEMS, 64, 1, &events[0]);
        fx_ok(clReleaseEvent(events[0]));
        events[0] = event;
    }
    fx_ok(clWaitForEvents(1, events));
    fx_ok(clReleaseEvent(events[0]));
    for (int d = 0; joined && d < DEVICES; d++) /* at the same time, on one counter */
        events[d] = launch(queues[d], counter, ITEMS, 64, 0, NULL);
    if (joined)
        fx_ok(clWaitForEvents(DEVICES, events));
    for (int d = 0; joined && d < DEVICES; d++)
        fx_ok(clReleaseEvent(events[d]));
    at = clEnqueueMapBuffer(queues[1], mem, CL_TRUE, CL_MAP_READ, 0, ITEMS * sizeof(int), 0, NULL, NULL,
                            &error);
    fx_ok(error);
    assert_int_equal(at[0], 4 + (joined ? DEVICES * ITEMS : 0));
    for (int i = 1; i < ITEMS; i++)
        assert_int_equal(at[i], (7 * i * 3 + 1) * 3 + 1);
    fx_ok(clEnqueueUnmapMemObject(queues[1], mem, at, 0, NULL, NULL));
    fx_ok(clFinish(queues[1]));
    fx_ok(clReleaseMemObject(mem));
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseKernel(counter));
}

/* With a fabric it works; else the launch fails. */
static void works_if_joined(cl_event event)
{
    cl_int error = clWaitForEvents(1, &event), status;
    fx_ok(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    assert_int_equal(error, joined ? CL_SUCCESS : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_true(joined ? status == CL_COMPLETE : status < 0);
    fx_ok(clReleaseEvent(event));
}

static void test_svm(void **state)
{
    cl_kernel kernel = fx_kernel(program, "step");
    const cl_int by = 5;
    (void)state;
    int *shared = clSVMAlloc(fx_context, CL_MEM_READ_WRITE, ITEMS * sizeof(int), 0);
    if (!shared) {
        print_message("the addresses of shared memory are taken on this host\n");
        skip();
    }
    fx_ok(clEnqueueSVMMap(queues[0], CL_TRUE, CL_MAP_WRITE, shared, ITEMS * sizeof(int), 0, NULL, NULL));
    for (int i = 0; i < ITEMS; i++)
        shared[i] = i;
    fx_ok(clEnqueueSVMUnmap(queues[0], shared, 0, NULL, NULL));
    fx_ok(clFinish(queues[0]));
    fx_ok(clSetKernelArgSVMPointer(kernel, 0, shared));
    fx_set(kernel, 1, by);
    works_if_joined(launch(queues[1], kernel, ITEMS, 64, 0, NULL));
    fx_ok(clEnqueueSVMMap(queues[0], CL_TRUE, CL_MAP_READ, shared, ITEMS * sizeof(int), 0, NULL, NULL));
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(shared[i], joined ? 3 * i + 5 : i);
    fx_ok(clEnqueueSVMUnmap(queues[0], shared, 0, NULL, NULL));
    fx_ok(clFinish(queues[0]));
    clSVMFree(fx_context, shared);
    fx_ok(clReleaseKernel(kernel));
}

static void test_image(void **state)
{
    const cl_image_format format = { CL_R, CL_SIGNED_INT32 };
    const cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4 };
    int texels[16] = { 10, 20, 30 }, got = 0;
    cl_kernel kernel = fx_kernel(program, "look");
    cl_int error;
    (void)state;
    cl_mem image =
        clCreateImage(fx_context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &desc, texels, &error);
    fx_ok(error);
    cl_mem out = fx_buffer(CL_MEM_READ_WRITE, sizeof got, NULL);
    fx_set(kernel, 0, image);
    fx_set(kernel, 1, out);
    works_if_joined(launch(queues[1], kernel, 1, 1, 0, NULL));
    if (joined) {
        fx_read(out, &got, sizeof got);
        assert_int_equal(got, 20);
    }
    fx_ok(clReleaseMemObject(out));
    fx_ok(clReleaseMemObject(image));
    fx_ok(clReleaseKernel(kernel));
}

static void test_printf(void **state)
{
    int value = 42;
    cl_kernel kernel = fx_kernel(program, "say");
    cl_mem mem = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof value, &value);
    (void)state;
    fx_set(kernel, 0, mem);
    works_if_joined(launch(queues[1], kernel, 64, 64, 0, NULL));
    fx_ok(clReleaseMemObject(mem));
    fx_ok(clReleaseKernel(kernel));
}

static int setup(void **state)
{
    const char *sets = getenv("LOCKSTEP_SET");
    joined = !sets || !strstr(sets, "fabric.model=none");
    setenv("LOCKSTEP_PLATFORM", "r9nano", 1);
    setenv("LOCKSTEP_GPUS", "2", 1);
    if (joined)
        setenv("LOCKSTEP_SET", "gpus.clusters=2 fabric.model=pcie host.model=cpu", 1);
    int result = fx_setup(state);
    fx_need_compiler();
    if (result != 0)
        return result;
    assert_int_equal(fx_device_count, DEVICES);
    program = fx_build(source, "");
    for (int i = 0; i < DEVICES; i++) {
        cl_int error;
        queues[i] = clCreateCommandQueue(fx_context, fx_devices[i], 0, &error);
        fx_ok(error);
    }
    return 0;
}

static int teardown(void **state)
{
    for (int i = 0; i < DEVICES; i++)
        clReleaseCommandQueue(queues[i]);
    clReleaseProgram(program);
    return fx_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),  cmocka_unit_test(test_sub_buffers), cmocka_unit_test(test_pipeline),
        cmocka_unit_test(test_mapped), cmocka_unit_test(test_svm),         cmocka_unit_test(test_image),
        cmocka_unit_test(test_printf),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
