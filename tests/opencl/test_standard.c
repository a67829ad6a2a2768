/* What the conformance suite found: codes of errors, the list of extensions, timers, the form of a version; then
 * fine-grained SVM, programs without optimization, and times of emulation that repeat. */
#include "opencl/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- codes ----------------------------------------------------------------------------------------------- */

static void queues(void **state)
{
    const cl_queue_properties sized[] = { CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE, 0 };
    (void)state;
    fx_nothing(CL_INVALID_VALUE,
               clCreateCommandQueue(fx_context, fx_device, (cl_command_queue_properties)-1, &error));
    fx_nothing(CL_INVALID_QUEUE_PROPERTIES,
               clCreateCommandQueueWithProperties(fx_context, fx_device, sized, &error));
    fx_refused(CL_INVALID_OPERATION, clSetDefaultDeviceCommandQueue(fx_context, fx_device, fx_queue));
    fx_refused(CL_INVALID_OPERATION, clSetDefaultDeviceCommandQueue(fx_context, fx_device, NULL));
    fx_refused(CL_INVALID_CONTEXT, clSetDefaultDeviceCommandQueue((cl_context)fx_queue, fx_device, fx_queue));
}

static void image_of_buffer(void **state)
{
    const cl_image_format format = { CL_RGBA, CL_UNORM_INT8 };
    cl_mem buffer = fx_buffer(CL_MEM_READ_WRITE, 4096, NULL);
    cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 16, .image_height = 16 };
    (void)state;
    desc.mem_object = buffer;
    fx_nothing(CL_INVALID_OPERATION, clCreateImage(fx_context, 0, &format, &desc, NULL, &error));
    desc.image_type = CL_MEM_OBJECT_IMAGE3D;
    desc.image_depth = 1;
    fx_nothing(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(fx_context, 0, &format, &desc, NULL, &error));
    fx_ok(clReleaseMemObject(buffer));
}

/* A depth image is written and read; a buffer in its place is no memory object of the kind. */
static void depth_images(void **state)
{
    static const char source[] = "kernel void twice(read_only image2d_depth_t from, global float *to) {\n"
                                 "    int x = get_global_id(0);\n"
                                 "    const sampler_t s = CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
                                 "    to[x] = 2 * read_imagef(from, s, (int2)(x, 1)); }\n";
    const cl_image_format format = { CL_DEPTH, CL_FLOAT };
    const cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8, .image_height = 2 };
    float texels[16], result[8];
    char extensions[2048];
    cl_int error;
    (void)state;
    fx_ok(clGetDeviceInfo(fx_device, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, NULL));
    assert_non_null(strstr(extensions, "cl_khr_depth_images"));
    for (int i = 0; i < 16; i++)
        texels[i] = (float)i / 16;
    cl_mem image = clCreateImage(fx_context, CL_MEM_COPY_HOST_PTR, &format, &desc, texels, &error);
    fx_ok(error);
    cl_mem out = fx_buffer(CL_MEM_READ_WRITE, sizeof result, NULL);
    cl_program program = fx_build(source, "-cl-std=CL2.0");
    cl_kernel kernel = fx_kernel(program, "twice");
    fx_refused(CL_INVALID_MEM_OBJECT, clSetKernelArg(kernel, 0, sizeof out, &out));
    fx_set(kernel, 0, image);
    fx_set(kernel, 1, out);
    fx_run(kernel, 8, 0);
    fx_read(out, result, sizeof result);
    for (int i = 0; i < 8; i++)
        assert_true(result[i] == 2 * texels[8 + i]);
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseProgram(program));
    fx_ok(clReleaseMemObject(image));
    fx_ok(clReleaseMemObject(out));
}

static void conformance_version(void **state)
{
    char text[32];
    int year, month, day, number, end = 0;
    (void)state;
    fx_ok(clGetDeviceInfo(fx_device, CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, sizeof text, text, NULL));
    assert_int_equal(sscanf(text, "v%4d-%2d-%2d-%2d%n", &year, &month, &day, &number, &end), 4);
    assert_int_equal(strlen(text), end);
    assert_true(month >= 1 && month <= 12 && day >= 1 && day <= 31);
}

static void timers(void **state)
{
    cl_ulong device[2], host[2], only[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        fx_ok(clGetDeviceAndHostTimer(fx_device, &device[i], &host[i]));
        fx_ok(clGetHostTimer(fx_device, &only[i]));
    }
    assert_true(device[1] > device[0] && host[1] > host[0]);
    assert_true(device[1] - device[0] == host[1] - host[0]);
    assert_true(host[0] <= only[0] && only[0] <= host[1] && host[1] <= only[1]);
    fx_refused(CL_INVALID_VALUE, clGetDeviceAndHostTimer(fx_device, NULL, &host[0]));
}

/* --- shared virtual memory ------------------------------------------------------------------------------- */

static void svm_codes(void **state)
{
    cl_program program = fx_build("kernel void k(global int *p) { p[0] = 1; }", "");
    cl_kernel kernel = fx_kernel(program, "k");
    void *memory = clSVMAlloc(fx_context, CL_MEM_READ_WRITE, 1024, 0);
    (void)state;
    if (!memory)
        skip();
    fx_nothing(CL_INVALID_BUFFER_SIZE, clCreateBuffer(fx_context, CL_MEM_USE_HOST_PTR, 2048, memory, &error));
    fx_ok(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, NULL));
    fx_refused(CL_INVALID_VALUE, clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 8, NULL));
    clSVMFree(fx_context, memory);
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseProgram(program));
}

/* The program and the kernel share bytes without maps; each sees what the other did before. */
static void fine_grain(void **state)
{
    static const char source[] = "kernel void count(global const uchar *from, global uint *bins, uint n) {\n"
                                 "    for (uint i = get_global_id(0); i < n; i += get_global_size(0))\n"
                                 "        atomic_inc(&bins[from[i]]); }\n";
    enum { BYTES = 10000 };
    cl_device_svm_capabilities can = 0;
    cl_uint n = BYTES, expected[256] = { 0 };
    (void)state;
    fx_ok(clGetDeviceInfo(fx_device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, NULL));
    if (!(can & CL_DEVICE_SVM_FINE_GRAIN_BUFFER))
        skip();
    cl_program program = fx_build(source, "");
    cl_kernel kernel = fx_kernel(program, "count");
    unsigned char *from = clSVMAlloc(fx_context, CL_MEM_READ_ONLY | CL_MEM_SVM_FINE_GRAIN_BUFFER, BYTES, 0);
    cl_uint *bins = clSVMAlloc(fx_context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 1040, 64);
    assert_non_null(from);
    assert_non_null(bins);
    assert_null(clSVMAlloc(fx_context, CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS, 64, 0));
    fx_ok(clSetKernelArgSVMPointer(kernel, 0, from));
    fx_ok(clSetKernelArgSVMPointer(kernel, 1, bins));
    fx_set(kernel, 2, n);
    bins[259] = 4711; /* no kernel touches it */
    for (int round = 0; round < 3; round++) {
        for (unsigned i = 0; i < BYTES; i++) {
            from[i] = (unsigned char)(i * (unsigned)(7 + round) >> 3);
            expected[from[i]]++;
        }
        bins[round] += 100; /* the program's own share */
        expected[round] += 100;
        fx_run(kernel, 256, 64);
        assert_memory_equal(bins, expected, sizeof expected);
    }
    assert_int_equal(bins[259], 4711);
    clSVMFree(fx_context, from);
    clSVMFree(fx_context, bins);
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseProgram(program));
}

/* --- programs -------------------------------------------------------------------------------------------- */

static size_t binary_bytes(cl_program program)
{
    size_t sizes[16] = { 0 };
    fx_ok(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes, NULL));
    return sizes[0];
}

/* Code without optimization keeps its variables in memory: it is longer, and computes the same. */
static void without_optimization(void **state)
{
    static const char source[] = "kernel void sum(global int *p) {\n"
                                 "    int a[4], s = 0;\n"
                                 "    for (int i = 0; i < 4; i++) a[i] = p[i] * i;\n"
                                 "    for (int i = 0; i < 4; i++) s += a[i];\n"
                                 "    p[get_global_id(0)] = s; }\n";
    size_t bytes[2];
    (void)state;
    for (int way = 0; way < 2; way++) {
        int values[4] = { 1, 2, 3, 4 };
        cl_program program = fx_build(source, way ? "-cl-opt-disable" : "");
        cl_kernel kernel = fx_kernel(program, "sum");
        cl_mem buffer = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof values, values);
        bytes[way] = binary_bytes(program);
        fx_set(kernel, 0, buffer);
        fx_run(kernel, 1, 1);
        fx_read(buffer, values, sizeof values);
        assert_int_equal(values[0], 20);
        fx_ok(clReleaseMemObject(buffer));
        fx_ok(clReleaseKernel(kernel));
        fx_ok(clReleaseProgram(program));
    }
    assert_true(bytes[1] > bytes[0]);
}

/* A group of 1,024 work-items, though the compiler assumes at most 256: barriers and local memory work. */
static void large_groups(void **state)
{
    static const char source[] =
        "kernel void turn(global int *p, local int *s) {\n"
        "    int i = get_local_id(0);\n"
        "    s[i] = p[get_global_id(0)];\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    p[get_global_id(0)] = s[get_local_size(0) - 1 - i]; }\n"
        "kernel __attribute__((reqd_work_group_size(64, 1, 1))) void small(global int *p)\n"
        "    { p[0] = 1; }\n";
    enum { ITEMS = 2048, GROUP = 1024 };
    static int values[ITEMS];
    const size_t grid = ITEMS, group = GROUP, more = 2048, of_grid[2] = { 64, 32 }, of_group[2] = { 64, 16 };
    cl_program program = fx_build(source, "");
    cl_kernel kernel = fx_kernel(program, "turn"), small = fx_kernel(program, "small");
    size_t most = 0;
    (void)state;
    for (int i = 0; i < ITEMS; i++)
        values[i] = i;
    cl_mem buffer = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof values, values);
    fx_ok(clGetDeviceInfo(fx_device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL));
    assert_int_equal(most, GROUP);
    fx_set(kernel, 0, buffer);
    fx_ok(clSetKernelArg(kernel, 1, GROUP * sizeof(int), NULL));
    fx_set(small, 0, buffer);
    fx_run(kernel, ITEMS, GROUP);
    fx_read(buffer, values, sizeof values);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(values[i], i / GROUP * GROUP + GROUP - 1 - i % GROUP);
    fx_run(kernel, ITEMS, GROUP / 2);
    fx_refused(CL_INVALID_WORK_GROUP_SIZE,
               clEnqueueNDRangeKernel(fx_queue, small, 1, NULL, &grid, &group, 0, NULL, NULL));
    fx_refused(CL_INVALID_WORK_ITEM_SIZE,
               clEnqueueNDRangeKernel(fx_queue, kernel, 1, NULL, &more, &more, 0, NULL, NULL));
    fx_ok(clEnqueueNDRangeKernel(fx_queue, kernel, 2, NULL, of_grid, of_group, 0, NULL, NULL));
    fx_ok(clFinish(fx_queue));
    fx_ok(clReleaseMemObject(buffer));
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseKernel(small));
    fx_ok(clReleaseProgram(program));
}

/* --- times ----------------------------------------------------------------------------------------------- */

enum { COMMANDS = 12 };

static void run_once(cl_kernel kernel, cl_ulong base, cl_ulong times[COMMANDS][3])
{
    cl_int error;
    cl_command_queue queues[2];
    cl_event events[COMMANDS];
    cl_mem buffer = fx_buffer(CL_MEM_READ_WRITE, 4096, NULL);
    const size_t grid = 1024, group = 64;
    const cl_int zero = 0;
    for (int i = 0; i < 2; i++) {
        queues[i] =
            clCreateCommandQueue(fx_context, fx_device,
                                 CL_QUEUE_PROFILING_ENABLE | (i ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0),
                                 &error);
        fx_ok(error);
    }
    fx_set(kernel, 0, buffer);
    for (int i = 0; i < COMMANDS; i++) {
        cl_command_queue queue = queues[i % 3 == 1];
        const cl_uint waits = i > 2 && i % 4 == 0;
        if (i % 5 == 0)
            fx_ok(clEnqueueFillBuffer(queue, buffer, &zero, sizeof zero, 0, 4096, waits,
                                      waits ? &events[i - 3] : NULL, &events[i]));
        else
            fx_ok(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &grid, &group, waits,
                                         waits ? &events[i - 3] : NULL, &events[i]));
        if (i == 6)
            fx_ok(clFinish(queues[0]));
        if (i == 8)
            fx_ok(clEnqueueBarrierWithWaitList(queues[1], 0, NULL, NULL));
    }
    fx_ok(clFinish(queues[0]));
    fx_ok(clFinish(queues[1]));
    for (int i = 0; i < COMMANDS; i++) {
        const cl_profiling_info what[] = { CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_START,
                                           CL_PROFILING_COMMAND_END };
        for (int k = 0; k < 3; k++) {
            fx_ok(clGetEventProfilingInfo(events[i], what[k], sizeof times[i][k], &times[i][k], NULL));
            times[i][k] -= base;
        }
        assert_true(times[i][0] <= times[i][1] && times[i][1] < times[i][2]);
        fx_ok(clReleaseEvent(events[i]));
    }
    for (int i = 0; i < 2; i++)
        fx_ok(clReleaseCommandQueue(queues[i]));
    fx_ok(clReleaseMemObject(buffer));
}

/* The end of a command that everything before it comes before. */
static cl_ulong now(void)
{
    cl_event event;
    cl_ulong end;
    fx_ok(clEnqueueMarkerWithWaitList(fx_queue, 0, NULL, &event));
    fx_ok(clFinish(fx_queue));
    fx_ok(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
    fx_ok(clReleaseEvent(event));
    return end;
}

static void times_repeat(void **state)
{
    cl_program program = fx_build("kernel void k(global int *p) { p[get_global_id(0)]++; }", "");
    cl_kernel kernel = fx_kernel(program, "k");
    cl_ulong first[COMMANDS][3], again[COMMANDS][3];
    (void)state;
    run_once(kernel, now(), first);
    for (int turn = 0; turn < 5; turn++) {
        run_once(kernel, now(), again);
        assert_memory_equal(first, again, sizeof first);
    }
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseProgram(program));
}

static int setup(void **state)
{
    int result = fx_setup(state);
    fx_need_compiler();
    return result;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queues),       cmocka_unit_test(image_of_buffer),
        cmocka_unit_test(depth_images), cmocka_unit_test(conformance_version),
        cmocka_unit_test(timers),       cmocka_unit_test(svm_codes),
        cmocka_unit_test(fine_grain),   cmocka_unit_test(without_optimization),
        cmocka_unit_test(large_groups), cmocka_unit_test(times_repeat),
    };
    return cmocka_run_group_tests(tests, setup, fx_teardown);
}
