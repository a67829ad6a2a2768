/* Reported features beyond OpenCL 1.2 work on each of the GPUs: half precision, atomics with orders and
 * scopes, sub-groups with independent progress, images that are read and written. Also the outcome of faulty
 * kernels. */
#include "opencl/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "#pragma OPENCL EXTENSION cl_khr_subgroups : enable\n"
    "kernel void halves(global half *o) {\n"
    "    half4 v = vload4(0, o);\n"
    "    o[4] = v.x + v.y; o[5] = fma(v.x, v.y, v.z); o[6] = sqrt(v.w); o[7] = (half)(convert_float(v.x) / 3.0f);\n"
    "    o[8] = convert_half_rtz(1.0f / 3.0f); o[9] = v.x > v.y ? 1.0h : -1.0h;\n"
    "}\n"
    "kernel void atomics(global atomic_int *g, local atomic_int *l) {\n"
    "    int i = get_local_id(0), expected = 0;\n"
    "    if (i == 0) atomic_init(l, 0);\n"
    "    work_group_barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    atomic_fetch_add_explicit(l, i, memory_order_relaxed, memory_scope_work_group);\n"
    "    atomic_fetch_max_explicit(g + 1, i, memory_order_acq_rel, memory_scope_device);\n"
    "    atomic_fetch_min_explicit(g + 2, -i, memory_order_seq_cst, memory_scope_device);\n"
    "    atomic_fetch_or(g + 3, 1 << (i & 31));\n"
    "    if (atomic_compare_exchange_strong(g + 4, &expected, i + 1)) atomic_fetch_add(g + 5, 1);\n"
    "    atomic_fetch_xor_explicit(g + 6, i, memory_order_release, memory_scope_device);\n"
    "    work_group_barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (i == 0) atomic_store(g, atomic_load(l));\n"
    "    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);\n"
    "}\n"
    "kernel void groups(global int *o) {\n"
    "    int lane = get_sub_group_local_id(), i = get_local_id(0) * 6;\n"
    "    o[i] = sub_group_scan_inclusive_add(1);\n"
    "    o[i + 1] = sub_group_scan_exclusive_max(lane);\n"
    "    o[i + 2] = sub_group_broadcast(lane * 7, 3);\n"
    "    o[i + 3] = sub_group_any(lane == 5) * 2 + sub_group_all(lane < 5);\n"
    "    o[i + 4] = sub_group_reduce_min(100 - lane);\n"
    "    o[i + 5] = get_sub_group_id() * 100 + get_num_sub_groups();\n"
    "}\n"
    /* The first sub-group waits for a write of the last one. */
    "kernel void progress(global int *o, local atomic_int *flag) {\n"
    "    if (get_local_id(0) == 0) atomic_init(flag, 0);\n"
    "    work_group_barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (get_sub_group_id() == 0) { while (atomic_load(flag) == 0) ; if (get_local_id(0) == 0) o[0] = 7; }\n"
    "    else if (get_sub_group_id() == get_num_sub_groups() - 1) atomic_store(flag, 1);\n"
    "}\n"
    "kernel void invert(read_write image2d_t im) {\n"
    "    int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "    uint4 v = read_imageui(im, at);\n"
    "    write_imageui(im, at, 255 - v);\n"
    "}\n"
    /* Waves that end do not keep the others at the barrier, as on hardware. */
    "kernel void some_end(global int *o, local int *l) {\n"
    "    if (get_local_id(0) >= 64) return;\n"
    "    l[get_local_id(0)] = 1;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    o[get_local_id(0)] = l[63 - get_local_id(0)];\n"
    "}\n"
    "kernel void endless(global volatile int *o) { while (o[0] == 0) o[1]++; }\n"
    "kernel void stray(global int *o) { o[1L << 38] = 1; }\n";

static cl_program program;
static cl_command_queue queues[16]; /* one per device */

static void run_on(cl_uint device, cl_kernel kernel, size_t grid, size_t group)
{
    fx_ok(clEnqueueNDRangeKernel(queues[device], kernel, 1, NULL, &grid, &group, 0, NULL, NULL));
    fx_ok(clFinish(queues[device]));
}

static void test_half(void **state)
{
    /* 1.5, 2.25, -4, 2: as sign, 5 bits of exponent, 10 of fraction */
    const cl_half in[10] = { 0x3e00, 0x4080, 0xc400, 0x4000 };
    /* 3.75; 1.5 * 2.25 - 4 = -0.625; sqrt 2; 0.5; a third rounded towards 0; -1 */
    const cl_half want[6] = { 0x4380, 0xb900, 0x3da8, 0x3800, 0x3555, 0xbc00 };
    cl_kernel kernel = fx_kernel(program, "halves");
    (void)state;
    for (cl_uint d = 0; d < fx_device_count; d++) {
        cl_half data[10];
        cl_mem mem;
        memcpy(data, in, sizeof data);
        mem = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof data, data);
        fx_set(kernel, 0, mem);
        run_on(d, kernel, 1, 1);
        fx_read(mem, data, sizeof data);
        assert_memory_equal(data + 4, want, sizeof want);
        fx_ok(clReleaseMemObject(mem));
    }
    fx_ok(clReleaseKernel(kernel));
}

static void test_atomics(void **state)
{
    cl_kernel kernel = fx_kernel(program, "atomics");
    (void)state;
    for (cl_uint d = 0; d < fx_device_count; d++) {
        cl_int data[7] = { 0 };
        cl_mem mem = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof data, data);
        fx_set(kernel, 0, mem);
        fx_ok(clSetKernelArg(kernel, 1, 4, NULL));
        run_on(d, kernel, 128, 128);
        fx_read(mem, data, sizeof data);
        assert_int_equal(data[0], 127 * 128 / 2);
        assert_int_equal(data[1], 127);
        assert_int_equal(data[2], -127);
        assert_int_equal(data[3], -1);
        assert_in_range(data[4], 1, 128);
        assert_int_equal(data[5], 1); /* one was the first */
        assert_int_equal(data[6], 0); /* of 0 to 127 */
        fx_ok(clReleaseMemObject(mem));
    }
    fx_ok(clReleaseKernel(kernel));
}

static void test_sub_groups(void **state)
{
    cl_kernel kernel = fx_kernel(program, "groups");
    (void)state;
    for (cl_uint d = 0; d < fx_device_count; d++) {
        cl_int data[128 * 6];
        cl_mem mem = fx_buffer(0, sizeof data, NULL);
        size_t wave;
        fx_ok(clGetKernelWorkGroupInfo(kernel, fx_devices[d], CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                                       sizeof wave, &wave, NULL));
        fx_set(kernel, 0, mem);
        run_on(d, kernel, 128, 128);
        fx_read(mem, data, sizeof data);
        for (int i = 0; i < 128; i++) {
            const int lane = i % (int)wave, *got = data + i * 6;
            assert_int_equal(got[0], lane + 1);
            assert_int_equal(got[1], lane == 0 ? INT32_MIN : lane - 1);
            assert_int_equal(got[2], 21);
            assert_int_equal(got[3], 2);
            assert_int_equal(got[4], 101 - (int)wave);
            assert_int_equal(got[5], i / (int)wave * 100 + 128 / (int)wave);
        }
        fx_ok(clReleaseMemObject(mem));
    }
    fx_ok(clReleaseKernel(kernel));
}

static void test_progress(void **state)
{
    cl_kernel kernel = fx_kernel(program, "progress");
    (void)state;
    for (cl_uint d = 0; d < fx_device_count; d++) {
        cl_int value = 0;
        cl_mem mem = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof value, &value);
        cl_bool promised;
        fx_ok(clGetDeviceInfo(fx_devices[d], CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, sizeof promised,
                              &promised, NULL));
        assert_int_equal(promised, CL_TRUE);
        fx_set(kernel, 0, mem);
        fx_ok(clSetKernelArg(kernel, 1, 4, NULL));
        run_on(d, kernel, 256, 256);
        fx_read(mem, &value, sizeof value);
        assert_int_equal(value, 7);
        fx_ok(clReleaseMemObject(mem));
    }
    fx_ok(clReleaseKernel(kernel));
}

static void test_read_write_image(void **state)
{
    const cl_image_format format = { CL_RGBA, CL_UNSIGNED_INT8 };
    const size_t origin[3] = { 0 }, region[3] = { 8, 4, 1 };
    cl_kernel kernel = fx_kernel(program, "invert");
    cl_kernel_arg_access_qualifier access;
    cl_uint count = 0;
    (void)state;
    fx_ok(clGetSupportedImageFormats(fx_context, CL_MEM_KERNEL_READ_AND_WRITE, CL_MEM_OBJECT_IMAGE2D, 0, NULL,
                                     &count));
    assert_true(count > 0);
    fx_ok(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL));
    assert_int_equal(access, CL_KERNEL_ARG_ACCESS_READ_WRITE);
    for (cl_uint d = 0; d < fx_device_count; d++) {
        unsigned char texels[4 * 8 * 4];
        cl_int error;
        cl_mem image;
        for (size_t i = 0; i < sizeof texels; i++)
            texels[i] = (unsigned char)i;
        image = clCreateImage2D(fx_context, CL_MEM_COPY_HOST_PTR | CL_MEM_READ_WRITE, &format, 8, 4, 0, texels,
                                &error);
        fx_ok(error);
        fx_set(kernel, 0, image);
        fx_ok(clEnqueueNDRangeKernel(queues[d], kernel, 2, NULL, region, NULL, 0, NULL, NULL));
        fx_ok(clFinish(queues[d]));
        fx_ok(clEnqueueReadImage(fx_queue, image, CL_TRUE, origin, region, 0, 0, texels, 0, NULL, NULL));
        for (size_t i = 0; i < sizeof texels; i++)
            assert_int_equal(texels[i], 255 - i);
        fx_ok(clReleaseMemObject(image));
    }
    fx_ok(clReleaseKernel(kernel));
}

static void test_ended_waves(void **state)
{
    cl_kernel kernel = fx_kernel(program, "some_end");
    (void)state;
    for (cl_uint d = 0; d < fx_device_count; d++) {
        cl_int data[64] = { 0 }, sum = 0;
        cl_mem mem = fx_buffer(0, sizeof data, NULL);
        fx_set(kernel, 0, mem);
        fx_ok(clSetKernelArg(kernel, 1, sizeof data, NULL));
        run_on(d, kernel, 256, 256);
        fx_read(mem, data, sizeof data);
        for (int i = 0; i < 64; i++)
            sum += data[i];
        assert_int_equal(sum, 64);
        fx_ok(clReleaseMemObject(mem));
    }
    fx_ok(clReleaseKernel(kernel));
}

/* ---------------------------------------------------------------------------------- kernels that go wrong */

static char told[1024];

static void CL_CALLBACK tell(const char *text, const void *info, size_t bytes, void *user_data)
{
    (void)info, (void)bytes, (void)user_data;
    snprintf(told, sizeof told, "%s", text);
}

/* The event fails, and the context's function receives the name of the kernel and the reason. */
static void check_failure(const char *name, const char *why)
{
    const size_t one = 1;
    const char *text = source;
    cl_int error, status;
    cl_context context = clCreateContext(NULL, 1, &fx_device, tell, NULL, &error);
    cl_command_queue queue = clCreateCommandQueue(context, fx_device, 0, &error);
    cl_program own = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    cl_kernel kernel;
    cl_event event;
    cl_mem mem;
    fx_ok(clBuildProgram(own, 0, NULL, "-cl-std=CL3.0 -cl-kernel-arg-info", NULL, NULL));
    kernel = fx_kernel(own, name);
    mem = clCreateBuffer(context, 0, 64, NULL, &error);
    fx_set(kernel, 0, mem);
    fx_ok(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, &event));
    fx_refused(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &event));
    fx_ok(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    assert_int_equal(status, CL_OUT_OF_RESOURCES);
    assert_non_null(strstr(told, name));
    if (!strstr(told, why))
        fail_msg("'%s' is not in: %s", why, told);
    fx_ok(clReleaseEvent(event));
    fx_ok(clReleaseMemObject(mem));
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseProgram(own));
    fx_ok(clReleaseCommandQueue(queue));
    fx_ok(clReleaseContext(context));
}

static void test_stray(void **state)
{
    (void)state;
    check_failure("stray", "is not mapped");
}

static void test_endless(void **state)
{
    (void)state;
    check_failure("endless", "more instructions than the limit allows");
}

static int setup(void **state)
{
    cl_int error = CL_SUCCESS;
    int result;
    setenv("LOCKSTEP_GPU", "gfx1010,gfx803,gfx1030", 1);
    setenv("LOCKSTEP_MAX_INSTRUCTIONS", "20000000", 1);
    result = fx_setup(state);
    fx_need_compiler();
    if (result != 0)
        return result;
    program = fx_build(source, "-cl-std=CL3.0 -cl-kernel-arg-info");
    for (cl_uint d = 0; d < fx_device_count && error == CL_SUCCESS; d++)
        queues[d] = clCreateCommandQueue(fx_context, fx_devices[d], 0, &error);
    return error == CL_SUCCESS ? 0 : -1;
}

static int teardown(void **state)
{
    for (cl_uint d = 0; d < fx_device_count; d++)
        clReleaseCommandQueue(queues[d]);
    clReleaseProgram(program);
    return fx_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_sub_groups),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_read_write_image),
        cmocka_unit_test(test_ended_waves),
        cmocka_unit_test(test_stray),
        cmocka_unit_test(test_endless),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
