/* Systems that the environment describes: two GPUs with little memory; and shared virtual memory. */
#include "opencl/fixture.h"

#include "lockstep/cl_placement.h"

#include <stdlib.h>
#include <string.h>

static cl_program program;

static const char source[] = "kernel void twice(global int *o) { o[get_global_id(0)] *= 2; }\n"
                             "typedef struct node { global struct node *next; int value; } node;\n"
                             "kernel void walk(global node *n, global int *o) {\n"
                             "    int s = 0; for (; n; n = n->next) s += n->value; *o = s; }\n";

static void test_devices(void **state)
{
    static const char *const names[2] = { "gfx1010", "gfx803" };
    cl_ulong bytes;
    char name[64];
    (void)state;
    assert_int_equal(fx_device_count, 2);
    for (int i = 0; i < 2; i++) {
        fx_ok(clGetDeviceInfo(fx_devices[i], CL_DEVICE_NAME, sizeof name, name, NULL));
        assert_memory_equal(name, names[i], strlen(names[i]));
        fx_ok(clGetDeviceInfo(fx_devices[i], CL_DEVICE_GLOBAL_MEM_SIZE, sizeof bytes, &bytes, NULL));
        assert_int_equal(bytes, 64u << 20);
    }
}

/* One buffer, one program, a kernel on each in turn. */
static void test_two_gpus(void **state)
{
    const size_t grid = 64;
    int data[64];
    cl_kernel kernel = fx_kernel(program, "twice");
    cl_command_queue other;
    cl_event event;
    cl_mem mem;
    cl_int error;
    (void)state;
    for (int i = 0; i < 64; i++)
        data[i] = i;
    mem = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof data, data);
    other = clCreateCommandQueue(fx_context, fx_devices[1], 0, &error);
    fx_ok(error);
    fx_set(kernel, 0, mem);
    fx_ok(clEnqueueNDRangeKernel(other, kernel, 1, NULL, &grid, NULL, 0, NULL, &event));
    fx_ok(clEnqueueNDRangeKernel(fx_queue, kernel, 1, NULL, &grid, NULL, 1, &event, NULL));
    fx_read(mem, data, sizeof data);
    for (int i = 0; i < 64; i++)
        assert_int_equal(data[i], 4 * i);
    fx_ok(clReleaseEvent(event));
    fx_ok(clReleaseCommandQueue(other));
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseMemObject(mem));
}

/* The second half of a buffer on the other device, by the extension. */
static void test_placement(void **state)
{
    enum { PAGE = 4096, WORDS = 2 * PAGE / 4 };
    static int data[WORDS];
    const size_t grid = WORDS;
    cl_platform_id platform;
    cl_device_id device = NULL;
    cl_kernel kernel = fx_kernel(program, "twice");
    cl_command_queue other;
    size_t page = 0;
    cl_int error;
    (void)state;
    fx_ok(clGetPlatformIDs(1, &platform, NULL));
    void *found[2] = { clGetExtensionFunctionAddressForPlatform(platform, "clEnqueuePlaceBufferLOCKSTEP"),
                       clGetExtensionFunctionAddressForPlatform(platform, "clGetBufferPlaceLOCKSTEP") };
    clEnqueuePlaceBufferLOCKSTEP_fn place;
    clGetBufferPlaceLOCKSTEP_fn get;
    memcpy(&place, &found[0], sizeof place);
    memcpy(&get, &found[1], sizeof get);
    for (int i = 0; i < WORDS; i++)
        data[i] = i;
    cl_mem mem = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof data, data);
    other = clCreateCommandQueue(fx_context, fx_devices[1], 0, &error);
    fx_ok(error);
    fx_ok(get(mem, PAGE, &device, &page));
    assert_ptr_equal(device, fx_devices[0]);
    assert_int_equal(page, PAGE);
    fx_ok(place(other, mem, PAGE, PAGE, 0, NULL, NULL));
    fx_ok(clFinish(other));
    fx_ok(get(mem, 2 * PAGE - 1, &device, NULL));
    assert_ptr_equal(device, fx_devices[1]);
    fx_ok(get(mem, 0, &device, NULL));
    assert_ptr_equal(device, fx_devices[0]);
    fx_set(kernel, 0, mem);
    fx_ok(clEnqueueNDRangeKernel(other, kernel, 1, NULL, &grid, NULL, 0, NULL, NULL));
    fx_ok(clFinish(other));
    fx_read(mem, data, sizeof data);
    for (int i = 0; i < WORDS; i++)
        assert_int_equal(data[i], 2 * i);
    assert_int_equal(place(other, mem, 100, PAGE, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(place(other, mem, 0, 100, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(place(other, mem, PAGE, 2 * PAGE, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(place(other, NULL, 0, PAGE, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    assert_int_equal(place(NULL, mem, 0, PAGE, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(get(mem, 2 * PAGE, &device, NULL), CL_INVALID_VALUE);
    assert_int_equal(get(NULL, 0, &device, NULL), CL_INVALID_MEM_OBJECT);
    fx_ok(clReleaseCommandQueue(other));
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseMemObject(mem));
}

/* From one GPU to the other and back, while the program waits for the last and works for the first. */
static void test_chain_over_gpus(void **state)
{
    const size_t grid = 1;
    int value = 1;
    cl_kernel kernel = fx_kernel(program, "twice");
    cl_mem mem = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof value, &value);
    cl_command_queue queues[2];
    cl_event gate, last;
    cl_int error;
    (void)state;
    for (int i = 0; i < 2; i++)
        queues[i] = clCreateCommandQueue(fx_context, fx_devices[i], 0, &error);
    fx_set(kernel, 0, mem);
    gate = clCreateUserEvent(fx_context, &error);
    last = gate;
    fx_ok(clRetainEvent(gate));
    for (int i = 0; i < 20; i++) {
        cl_event before = last;
        fx_ok(clEnqueueNDRangeKernel(queues[i % 2], kernel, 1, NULL, &grid, NULL, 1, &before, &last));
        fx_ok(clReleaseEvent(before));
    }
    fx_ok(clSetUserEventStatus(gate, CL_COMPLETE));
    fx_ok(clWaitForEvents(1, &last));
    fx_read(mem, &value, sizeof value);
    assert_int_equal(value, 1 << 20);
    fx_ok(clReleaseEvent(gate));
    fx_ok(clReleaseEvent(last));
    fx_ok(clReleaseCommandQueue(queues[0]));
    fx_ok(clReleaseCommandQueue(queues[1]));
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseMemObject(mem));
}

static void test_exhaustion(void **state)
{
    cl_mem mems[8];
    cl_int error = CL_SUCCESS;
    int count = 0;
    (void)state;
    while (count < 8) {
        mems[count] = clCreateBuffer(fx_context, 0, 15u << 20, NULL, &error);
        if (error != CL_SUCCESS)
            break;
        count++;
    }
    assert_int_equal(error, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    assert_int_equal(count, 4);
    while (count > 0)
        fx_ok(clReleaseMemObject(mems[--count]));
    for (; count < 2; count++)
        mems[count] = fx_buffer(0, 30u << 20, NULL); /* all of it came back */
    while (count > 0)
        fx_ok(clReleaseMemObject(mems[--count]));
}

typedef struct node {
    struct node *next;
    cl_int value;
} node;

static void test_svm(void **state)
{
    cl_device_svm_capabilities can;
    cl_kernel kernel = fx_kernel(program, "walk");
    const cl_int pattern = 7;
    int sum, copy[4];
    node *nodes;
    cl_mem out;
    (void)state;
    fx_ok(clGetDeviceInfo(fx_device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, NULL));
    if (!can) { /* sanitizers take the addresses */
        fx_ok(clReleaseKernel(kernel));
        skip();
    }
    assert_int_equal(can, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER);
    assert_null(clSVMAlloc(fx_context, CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS, 64, 0));
    assert_null(clSVMAlloc(fx_context, CL_MEM_READ_WRITE, 0, 0));
    nodes = clSVMAlloc(fx_context, CL_MEM_READ_WRITE, 3 * sizeof *nodes, 64);
    assert_non_null(nodes);
    fx_ok(clEnqueueSVMMap(fx_queue, CL_TRUE, CL_MAP_WRITE, nodes, 3 * sizeof *nodes, 0, NULL, NULL));
    for (int i = 0; i < 3; i++)
        nodes[i] = (node){ i < 2 ? &nodes[i + 1] : NULL, 10 * (i + 1) };
    fx_ok(clEnqueueSVMUnmap(fx_queue, nodes, 0, NULL, NULL));
    out = fx_buffer(0, sizeof sum, NULL);
    fx_ok(clSetKernelArgSVMPointer(kernel, 0, nodes));
    fx_set(kernel, 1, out);
    fx_run(kernel, 1, 1);
    fx_read(out, &sum, sizeof sum);
    assert_int_equal(sum, 60);
    fx_ok(clEnqueueSVMMemFill(fx_queue, nodes, &pattern, sizeof pattern, 16, 0, NULL, NULL));
    fx_ok(clEnqueueSVMMemcpy(fx_queue, CL_TRUE, copy, nodes, sizeof copy, 0, NULL, NULL));
    assert_int_equal(copy[0] + copy[3], 14);
    assert_int_equal(clEnqueueSVMMap(fx_queue, CL_TRUE, CL_MAP_READ, &sum, 4, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueSVMUnmap(fx_queue, nodes, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clSetKernelArgSVMPointer(kernel, 0, &sum), CL_INVALID_ARG_VALUE);
    fx_ok(clEnqueueSVMFree(fx_queue, 1, (void *[]){ nodes }, NULL, NULL, 0, NULL, NULL));
    fx_ok(clFinish(fx_queue));
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseMemObject(out));
}

static int setup(void **state)
{
    int result;
    setenv("LOCKSTEP_GPU", "gfx1010,gfx803", 1);
    setenv("LOCKSTEP_MEMORY", "64M", 1);
    result = fx_setup(state);
    fx_need_compiler();
    if (result == 0)
        program = fx_build(source, "");
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
        cmocka_unit_test(test_devices),    cmocka_unit_test(test_two_gpus),
        cmocka_unit_test(test_placement),  cmocka_unit_test(test_chain_over_gpus),
        cmocka_unit_test(test_exhaustion), cmocka_unit_test(test_svm),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
