/* Kernels: all kinds of arguments, shapes of launches, information about kernels, and refusals. */
#include "opencl/fixture.h"

#include <stdio.h>
#include <string.h>

static cl_program program;

static const char source[] =
    "typedef struct { char c; long l; float f; } mixed;\n"
    "__kernel void ids(__global uint *o) {\n"
    "    size_t i = (get_global_id(2) - get_global_offset(2)) * get_global_size(0) * get_global_size(1) +\n"
    "               (get_global_id(1) - get_global_offset(1)) * get_global_size(0) +\n"
    "               get_global_id(0) - get_global_offset(0);\n"
    "    o[i] = get_global_id(0) + 100 * get_global_id(1) + 10000 * get_global_id(2) + 1000000 * get_work_dim();\n"
    "}\n"
    "__kernel void kinds(__global int *o, mixed m, char4 v, __local int *l, __constant int *c, __global int *none) {\n"
    "    int i = get_local_id(0);\n"
    "    l[i] = i * i;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    o[get_global_id(0)] = l[get_local_size(0) - 1 - i] + m.c + (int)m.l + (int)m.f + v.w + c[1] + (none == 0);\n"
    "}\n"
    "__kernel __attribute__((reqd_work_group_size(8, 2, 1))) void fixed(__global int *o) {\n"
    "    o[get_global_id(1) * get_global_size(0) + get_global_id(0)] = get_local_size(0) * 10 + get_local_size(1);\n"
    "}\n"
    "__kernel void names(__global const float * restrict in, volatile __global int4 *out, float2 by_value) {}\n"
    "__kernel void sum(__global int *o) { atomic_add(o, (int)get_global_id(0)); }\n";

static void test_offsets(void **state)
{
    const size_t offset[3] = { 3, 5, 7 }, grid[3] = { 4, 3, 2 }, group[3] = { 2, 3, 1 };
    uint32_t back[24];
    cl_kernel kernel = fx_kernel(program, "ids");
    cl_mem out = fx_buffer(0, sizeof back, NULL);
    (void)state;
    fx_set(kernel, 0, out);
    fx_ok(clEnqueueNDRangeKernel(fx_queue, kernel, 3, offset, grid, group, 0, NULL, NULL));
    fx_read(out, back, sizeof back);
    for (uint32_t z = 0; z < 2; z++)
        for (uint32_t y = 0; y < 3; y++)
            for (uint32_t x = 0; x < 4; x++)
                assert_int_equal(back[z * 12 + y * 4 + x], x + 3 + 100 * (y + 5) + 10000 * (z + 7) + 3000000);
    fx_ok(clEnqueueNDRangeKernel(fx_queue, kernel, 2, offset, grid, NULL, 0, NULL, NULL));
    fx_read(out, back, sizeof back);
    assert_int_equal(back[11], 6 + 100 * 7 + 2000000);
    fx_ok(clEnqueueTask(fx_queue, kernel, 0, NULL, NULL));
    fx_read(out, back, sizeof back);
    assert_int_equal(back[0], 1000000);
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseMemObject(out));
}

static void test_argument_kinds(void **state)
{
    const struct {
        cl_char c;
        cl_long l;
        cl_float f;
    } mixed = { 1, 20, 300.5f };
    const cl_char4 vector = { { 0, 0, 0, 40 } };
    int constants[2] = { 0, 5000 }, back[64];
    cl_kernel kernel = fx_kernel(program, "kinds");
    cl_mem out = fx_buffer(0, sizeof back, NULL),
           c = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof constants, constants);
    const size_t grid = 64, group = 16;
    (void)state;
    fx_set(kernel, 0, out);
    fx_set(kernel, 1, mixed);
    fx_set(kernel, 2, vector);
    fx_ok(clSetKernelArg(kernel, 3, group * sizeof(int), NULL));
    fx_set(kernel, 4, c);
    assert_int_equal(clEnqueueNDRangeKernel(fx_queue, kernel, 1, NULL, &grid, &group, 0, NULL, NULL),
                     CL_INVALID_KERNEL_ARGS);
    fx_ok(clSetKernelArg(kernel, 5, sizeof(cl_mem), NULL));
    fx_run(kernel, grid, group);
    fx_read(out, back, sizeof back);
    for (int i = 0; i < 64; i++)
        assert_int_equal(back[i], (15 - i % 16) * (15 - i % 16) + 1 + 20 + 300 + 40 + 5000 + 1);
    assert_int_equal(clSetKernelArg(kernel, 6, 4, &group), CL_INVALID_ARG_INDEX);
    assert_int_equal(clSetKernelArg(kernel, 1, 4, &mixed), CL_INVALID_ARG_SIZE);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof mixed, NULL), CL_INVALID_ARG_VALUE);
    assert_int_equal(clSetKernelArg(kernel, 3, 0, NULL), CL_INVALID_ARG_SIZE);
    assert_int_equal(clSetKernelArg(kernel, 3, 4, &group), CL_INVALID_ARG_VALUE);
    assert_int_equal(clSetKernelArg(kernel, 0, 4, &out), CL_INVALID_ARG_SIZE);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof kernel, &kernel), CL_INVALID_MEM_OBJECT);
    fx_ok(clSetKernelArg(kernel, 3, 1 << 20, NULL));
    assert_int_equal(clEnqueueNDRangeKernel(fx_queue, kernel, 1, NULL, &grid, &group, 0, NULL, NULL),
                     CL_OUT_OF_RESOURCES);
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseMemObject(out));
    fx_ok(clReleaseMemObject(c));
}

/* A launch uses the arguments that were set when it was enqueued; its objects may be released meanwhile. */
static void test_capture(void **state)
{
    const size_t grid = 24;
    uint32_t back[24];
    cl_kernel kernel = fx_kernel(program, "ids"), clone;
    cl_mem a = fx_buffer(0, sizeof back, NULL), b = fx_buffer(0, sizeof back, NULL);
    cl_event gate;
    cl_int error;
    (void)state;
    gate = clCreateUserEvent(fx_context, &error);
    fx_ok(error);
    fx_set(kernel, 0, a);
    clone = clCloneKernel(kernel, &error);
    fx_ok(error);
    fx_ok(clEnqueueNDRangeKernel(fx_queue, clone, 1, NULL, &grid, NULL, 1, &gate, NULL));
    fx_set(kernel, 0, b);
    fx_set(clone, 0, b);
    fx_ok(clRetainMemObject(a));
    fx_ok(clReleaseMemObject(a));
    fx_ok(clReleaseKernel(clone));
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clSetUserEventStatus(gate, CL_COMPLETE));
    fx_read(a, back, sizeof back);
    assert_int_equal(back[23], 1000023);
    fx_read(b, back, sizeof back);
    assert_int_equal(back[23], 0);
    fx_ok(clReleaseEvent(gate));
    fx_ok(clReleaseMemObject(a));
    fx_ok(clReleaseMemObject(b));
}

/* A kernel holds no references to its arguments: a launch detects that one is gone. */
static void test_argument_gone(void **state)
{
    const size_t grid = 24;
    cl_kernel kernel = fx_kernel(program, "ids"), clone;
    cl_mem gone = fx_buffer(0, 96, NULL), other = fx_buffer(0, 96, NULL);
    cl_int error;
    (void)state;
    fx_set(kernel, 0, gone);
    clone = clCloneKernel(kernel, &error);
    fx_ok(error);
    fx_ok(clReleaseMemObject(gone));
    fx_refused(CL_INVALID_KERNEL_ARGS,
               clEnqueueNDRangeKernel(fx_queue, kernel, 1, NULL, &grid, NULL, 0, NULL, NULL));
    fx_refused(CL_INVALID_KERNEL_ARGS,
               clEnqueueNDRangeKernel(fx_queue, clone, 1, NULL, &grid, NULL, 0, NULL, NULL));
    fx_set(kernel, 0, other);
    fx_run(kernel, grid, 0);
    fx_ok(clReleaseKernel(clone));
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseMemObject(other));
}

static void test_shapes_refused(void **state)
{
    const size_t grid[3] = { 10, 10, 10 }, large[3] = { 2048, 2, 2 }, uneven[1] = { 3 }, none[3] = { 0, 1, 1 };
    const size_t huge = (size_t)1 << 33, last = SIZE_MAX - 3;
    int back[256] = { 0 };
    cl_kernel kernel = fx_kernel(program, "sum"), fixed = fx_kernel(program, "fixed");
    cl_mem out = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof back, back);
    (void)state;
    assert_int_equal(clEnqueueNDRangeKernel(fx_queue, kernel, 1, NULL, grid, NULL, 0, NULL, NULL),
                     CL_INVALID_KERNEL_ARGS);
    fx_set(kernel, 0, out);
    fx_set(fixed, 0, out);
    assert_int_equal(clEnqueueNDRangeKernel(fx_queue, kernel, 0, NULL, grid, NULL, 0, NULL, NULL),
                     CL_INVALID_WORK_DIMENSION);
    assert_int_equal(clEnqueueNDRangeKernel(fx_queue, kernel, 4, NULL, grid, NULL, 0, NULL, NULL),
                     CL_INVALID_WORK_DIMENSION);
    assert_int_equal(clEnqueueNDRangeKernel(fx_queue, kernel, 1, NULL, grid, uneven, 0, NULL, NULL),
                     CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(clEnqueueNDRangeKernel(fx_queue, kernel, 3, NULL, large, large, 0, NULL, NULL),
                     CL_INVALID_WORK_ITEM_SIZE);
    assert_int_equal(clEnqueueNDRangeKernel(fx_queue, kernel, 1, NULL, grid, none, 0, NULL, NULL),
                     CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(clEnqueueNDRangeKernel(fx_queue, kernel, 1, NULL, &huge, NULL, 0, NULL, NULL),
                     CL_INVALID_GLOBAL_WORK_SIZE);
    assert_int_equal(clEnqueueNDRangeKernel(fx_queue, kernel, 1, &last, grid, NULL, 0, NULL, NULL),
                     CL_INVALID_GLOBAL_OFFSET);
    assert_int_equal(clEnqueueNDRangeKernel(NULL, kernel, 1, NULL, grid, NULL, 0, NULL, NULL),
                     CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clEnqueueNDRangeKernel(fx_queue, NULL, 1, NULL, grid, NULL, 0, NULL, NULL),
                     CL_INVALID_KERNEL);
    assert_int_equal(clEnqueueNDRangeKernel(fx_queue, fixed, 1, NULL, grid, uneven, 0, NULL, NULL),
                     CL_INVALID_WORK_GROUP_SIZE);
    fx_ok(clEnqueueNDRangeKernel(fx_queue, kernel, 3, NULL, none, NULL, 0, NULL, NULL)); /* nothing to do */
    fx_ok(clEnqueueNDRangeKernel(fx_queue, fixed, 2, NULL, (size_t[]){ 16, 4 }, NULL, 0, NULL, NULL));
    fx_read(out, back, sizeof back);
    assert_int_equal(back[63], 82);
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseKernel(fixed));
    fx_ok(clReleaseMemObject(out));
}

static void test_remainders(void **state)
{
    static const char text[] = "kernel void size(global int *o) { o[get_global_id(0)] = get_local_size(0); }";
    const size_t grid = 70, group = 32;
    int back[70];
    cl_program with_remainders = fx_build(text, "-cl-std=CL2.0");
    cl_kernel kernel = fx_kernel(with_remainders, "size");
    cl_mem out = fx_buffer(0, sizeof back, NULL);
    (void)state;
    fx_set(kernel, 0, out);
    fx_ok(clEnqueueNDRangeKernel(fx_queue, kernel, 1, NULL, &grid, &group, 0, NULL, NULL));
    fx_read(out, back, sizeof back);
    assert_int_equal(back[63], 32);
    assert_int_equal(back[64], 6);
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseProgram(with_remainders));
    fx_ok(clReleaseMemObject(out));
}

/* Functions of the extensions: sub-groups and 64-bit atomics. */
static void test_extensions(void **state)
{
    static const char text[] =
        "#pragma OPENCL EXTENSION cl_khr_subgroups : enable\n"
        "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
        "kernel void k(global int *o, global long *sum) {\n"
        "    o[get_global_id(0)] = sub_group_reduce_add((int)get_sub_group_local_id()) * 1000 +\n"
        "                          get_sub_group_size();\n"
        "    atom_add(sum, 0x100000000L + (long)get_global_id(0));\n"
        "}\n";
    int back[128];
    cl_long sum = 0;
    cl_program with = fx_build(text, "-cl-std=CL2.0");
    cl_kernel kernel = fx_kernel(with, "k");
    cl_mem out = fx_buffer(0, sizeof back, NULL), total = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof sum, &sum);
    (void)state;
    fx_set(kernel, 0, out);
    fx_set(kernel, 1, total);
    fx_run(kernel, 128, 64);
    fx_read(out, back, sizeof back);
    fx_read(total, &sum, sizeof sum);
    assert_int_equal(back[5] / 1000, (back[5] % 1000) * (back[5] % 1000 - 1) / 2);
    assert_true(back[5] % 1000 == 32 || back[5] % 1000 == 64);
    assert_int_equal(sum, 128 * 0x100000000L + 127 * 128 / 2);
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseProgram(with));
    fx_ok(clReleaseMemObject(out));
    fx_ok(clReleaseMemObject(total));
}

/* The optional parts of OpenCL C 3.0 that the device names. */
static void test_features(void **state)
{
    static const char text[] =
        "global int kept = 5;\n"
        "kernel void k(global int *o, local int *l) {\n"
        "    int own[2] = { 1, 2 }, *any = o[0] > 5 ? own : (int *)l;\n"
        "    *any = 3;\n"
        "    o[1] = work_group_reduce_add((int)get_local_id(0)) + own[1];\n"
        "    atomic_fetch_add_explicit((global atomic_int *)(o + 2), 1, memory_order_acq_rel,\n"
        "                              memory_scope_device);\n"
        "    if (get_global_id(0) == 0) o[3] = kept++;\n"
        "}\n";
    cl_name_version named[32];
    char check[4096];
    size_t bytes, used = 0;
    int back[4] = { 0 };
    cl_program with = fx_build(text, "-cl-std=CL3.0");
    cl_kernel kernel = fx_kernel(with, "k");
    cl_mem out = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof back, back);
    (void)state;
    fx_set(kernel, 0, out);
    fx_ok(clSetKernelArg(kernel, 1, 64, NULL));
    fx_run(kernel, 64, 64);
    fx_run(kernel, 64, 64);
    fx_read(out, back, sizeof back);
    assert_int_equal(back[1], 63 * 64 / 2 + 2);
    assert_int_equal(back[2], 128);
    assert_int_equal(back[3], 6); /* variables of the program live as long as it */
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseProgram(with));
    fx_ok(clReleaseMemObject(out));
    fx_ok(clGetDeviceInfo(fx_device, CL_DEVICE_OPENCL_C_FEATURES, sizeof named, named, &bytes));
    for (size_t i = 0; i < bytes / sizeof *named; i++)
        used += (size_t)snprintf(check + used, sizeof check - used, "#ifndef %s\n#error missing\n#endif\n",
                                 named[i].name);
    snprintf(check + used, sizeof check - used, "kernel void k() {}\n");
    fx_ok(clReleaseProgram(fx_build(check, "-cl-std=CL3.0")));
}

static void test_info(void **state)
{
    cl_kernel kernel = fx_kernel(program, "names"), fixed = fx_kernel(program, "fixed"), kinds;
    cl_kernel_arg_address_qualifier space;
    cl_kernel_arg_type_qualifier qualifier;
    char text[128];
    size_t sizes[3], wave, count;
    cl_ulong local;
    cl_uint args;
    (void)state;
    fx_ok(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof args, &args, NULL));
    assert_int_equal(args, 3);
    fx_ok(clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof text, text, NULL));
    assert_string_equal(text, "names");
    fx_ok(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_NAME, sizeof text, text, NULL));
    assert_string_equal(text, "in");
    fx_ok(clGetKernelArgInfo(kernel, 1, CL_KERNEL_ARG_TYPE_NAME, sizeof text, text, NULL));
    assert_string_equal(text, "int4*");
    fx_ok(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifier, &qualifier, NULL));
    assert_int_equal(qualifier, CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_RESTRICT);
    fx_ok(clGetKernelArgInfo(kernel, 1, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifier, &qualifier, NULL));
    assert_int_equal(qualifier, CL_KERNEL_ARG_TYPE_VOLATILE);
    fx_ok(clGetKernelArgInfo(kernel, 1, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL));
    assert_int_equal(space, CL_KERNEL_ARG_ADDRESS_GLOBAL);
    fx_ok(clGetKernelArgInfo(kernel, 2, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL));
    assert_int_equal(space, CL_KERNEL_ARG_ADDRESS_PRIVATE);
    assert_int_equal(clGetKernelArgInfo(kernel, 3, CL_KERNEL_ARG_NAME, 0, NULL, NULL), CL_INVALID_ARG_INDEX);
    fx_ok(clGetKernelInfo(fixed, CL_KERNEL_ATTRIBUTES, sizeof text, text, NULL));
    assert_string_equal(text, "reqd_work_group_size(8,2,1)");
    fx_ok(clGetKernelWorkGroupInfo(fixed, fx_device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof sizes, sizes,
                                   NULL));
    assert_int_equal(sizes[0] * 100 + sizes[1] * 10 + sizes[2], 821);
    fx_ok(clGetKernelWorkGroupInfo(fixed, fx_device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof wave,
                                   &wave, NULL));
    assert_true(wave == 32 || wave == 64);
    kinds = fx_kernel(program, "kinds");
    fx_ok(clSetKernelArg(kinds, 3, 96, NULL));
    fx_ok(clGetKernelWorkGroupInfo(kinds, fx_device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, NULL));
    assert_int_equal(local, 96);
    fx_ok(clGetKernelSubGroupInfo(kinds, fx_device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, sizeof wave,
                                  &(size_t){ wave + 1 }, sizeof count, &count, NULL));
    assert_int_equal(count, 2);
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseKernel(fixed));
    fx_ok(clReleaseKernel(kinds));
}

static int setup(void **state)
{
    int result = fx_setup(state);
    fx_need_compiler();
    if (result == 0)
        program = fx_build(source, "-cl-kernel-arg-info");
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
        cmocka_unit_test(test_offsets),       cmocka_unit_test(test_argument_kinds),
        cmocka_unit_test(test_capture),       cmocka_unit_test(test_shapes_refused),
        cmocka_unit_test(test_argument_gone), cmocka_unit_test(test_remainders),
        cmocka_unit_test(test_info),          cmocka_unit_test(test_extensions),
        cmocka_unit_test(test_features),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
