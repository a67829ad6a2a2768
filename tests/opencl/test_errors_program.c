/* Errors of programs, kernels and launches: each code that OpenCL 1.2 names and that can be provoked. */
#include "opencl/fixture.h"

#include <string.h>

static cl_context other;
static cl_program program, unbuilt;
static cl_kernel kernel;
static cl_mem buffer, foreign;

static const char source[] =
    "kernel void k(global int *o, int n, local int *l) { l[0] = n; o[0] = l[0]; }\n"
    "kernel __attribute__((reqd_work_group_size(4, 1, 1))) void four(void) {}\n"
    "kernel void big(local int *l, global int *o) { *o = l[get_local_id(0)]; }\n"
    "kernel void pictures(read_only image2d_t in, write_only image2d_t out, sampler_t s) {\n"
    "    write_imagef(out, (int2)(0), read_imagef(in, s, (int2)(0))); }\n";
static const char *const text = source;

#define AS_PROGRAM(object_) ((cl_program)(void *)(object_))
#define AS_KERNEL(object_) ((cl_kernel)(void *)(object_))

/* ----------------------------------------------------------------------------------------------- programs */

static void test_create(void **state)
{
    const char *none[] = { NULL };
    const unsigned char junk[] = "this is no code object at all";
    const unsigned char *binary = junk;
    const size_t length = sizeof junk, empty = 0;
    cl_device_id twice[] = { fx_device, fx_device }, wrong = (cl_device_id)(void *)fx_queue;
    cl_int of_device = 77;
    (void)state;
    fx_nothing(CL_INVALID_CONTEXT,
               clCreateProgramWithSource((cl_context)(void *)fx_queue, 1, (const char **)&text, NULL, &error));
    fx_nothing(CL_INVALID_VALUE, clCreateProgramWithSource(fx_context, 0, (const char **)&text, NULL, &error));
    fx_nothing(CL_INVALID_VALUE, clCreateProgramWithSource(fx_context, 1, NULL, NULL, &error));
    fx_nothing(CL_INVALID_VALUE, clCreateProgramWithSource(fx_context, 1, none, NULL, &error));
#define from_binary(count_, devices_, lengths_, binaries_)                                                    \
    clCreateProgramWithBinary(fx_context, count_, devices_, lengths_, binaries_, &of_device, &error)
    fx_nothing(CL_INVALID_CONTEXT, clCreateProgramWithBinary((cl_context)(void *)fx_queue, 1, &fx_device,
                                                             &length, &binary, NULL, &error));
    fx_nothing(CL_INVALID_VALUE, from_binary(0, &fx_device, &length, &binary));
    fx_nothing(CL_INVALID_VALUE, from_binary(1, NULL, &length, &binary));
    fx_nothing(CL_INVALID_VALUE, from_binary(1, &fx_device, NULL, &binary));
    fx_nothing(CL_INVALID_VALUE, from_binary(1, &fx_device, &empty, &binary));
    fx_nothing(CL_INVALID_DEVICE, from_binary(1, &wrong, &length, &binary));
    fx_nothing(CL_INVALID_DEVICE, from_binary(2, twice, ((size_t[]){ length, length }),
                                              ((const unsigned char *[]){ junk, junk })));
    fx_nothing(CL_INVALID_BINARY, from_binary(1, &fx_device, &length, &binary));
    assert_int_equal(of_device, CL_INVALID_BINARY);
    fx_nothing(CL_INVALID_CONTEXT,
               clCreateProgramWithBuiltInKernels((cl_context)(void *)fx_queue, 1, &fx_device, "k", &error));
    fx_nothing(CL_INVALID_VALUE, clCreateProgramWithBuiltInKernels(fx_context, 1, &fx_device, "k", &error));
    fx_nothing(CL_INVALID_VALUE, clCreateProgramWithBuiltInKernels(fx_context, 0, NULL, "k", &error));
    fx_nothing(CL_INVALID_DEVICE, clCreateProgramWithBuiltInKernels(fx_context, 1, &wrong, "k", &error));
}

static void CL_CALLBACK note(cl_program built, void *user_data)
{
    *(cl_program *)user_data = built;
}

static void test_build(void **state)
{
    cl_device_id wrong = (cl_device_id)(void *)fx_queue;
    const char *broken = "kernel void k( {";
    cl_program built = NULL, bad;
    cl_build_status status;
    cl_int code;
    (void)state;
    fx_refused(CL_INVALID_PROGRAM, clBuildProgram(AS_PROGRAM(fx_queue), 0, NULL, "", NULL, NULL));
    fx_refused(CL_INVALID_VALUE, clBuildProgram(unbuilt, 1, NULL, "", NULL, NULL));
    fx_refused(CL_INVALID_VALUE, clBuildProgram(unbuilt, 0, &fx_device, "", NULL, NULL));
    fx_refused(CL_INVALID_VALUE, clBuildProgram(unbuilt, 0, NULL, "", NULL, &status));
    fx_refused(CL_INVALID_DEVICE, clBuildProgram(unbuilt, 1, &wrong, "", NULL, NULL));
    fx_refused(CL_INVALID_BUILD_OPTIONS, clBuildProgram(unbuilt, 0, NULL, "-cl-no-such-option", NULL, NULL));
    fx_refused(CL_INVALID_OPERATION, clBuildProgram(program, 0, NULL, "", NULL, NULL)); /* it has a kernel */
    bad = clCreateProgramWithSource(fx_context, 1, &broken, NULL, &code);
    fx_ok(code);
    fx_refused(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(bad, 0, NULL, "", note, &built));
    assert_ptr_equal(built, bad); /* called for failures too */
    fx_ok(clGetProgramBuildInfo(bad, fx_device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL));
    assert_int_equal(status, CL_BUILD_ERROR);
    fx_nothing(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel(bad, "k", &error));
    fx_ok(clReleaseProgram(bad));
    fx_ok(clUnloadPlatformCompiler(fx_platform));
    fx_refused(CL_INVALID_PLATFORM, clUnloadPlatformCompiler((cl_platform_id)(void *)fx_queue));
    fx_ok(clUnloadCompiler()); /* of 1.1; there is nothing to unload */
}

static void test_compile_and_link(void **state)
{
    const char *name = "h.h", *broken = "int f( {";
    cl_program wrong = AS_PROGRAM(fx_queue), bad, empty;
    cl_device_id no_device = (cl_device_id)(void *)fx_queue;
    cl_int code;
    (void)state;
#define compile(program_, options_, count_, headers_, names_)                                                 \
    clCompileProgram(program_, 0, NULL, options_, count_, headers_, names_, NULL, NULL)
    fx_refused(CL_INVALID_PROGRAM, compile(wrong, "", 0, NULL, NULL));
    fx_refused(CL_INVALID_VALUE, compile(unbuilt, "", 1, NULL, NULL));
    fx_refused(CL_INVALID_VALUE, compile(unbuilt, "", 0, &unbuilt, NULL));
    fx_refused(CL_INVALID_VALUE, clCompileProgram(unbuilt, 0, NULL, "", 0, NULL, NULL, NULL, &code));
    fx_refused(CL_INVALID_VALUE, clCompileProgram(unbuilt, 1, NULL, "", 0, NULL, NULL, NULL, NULL));
    fx_refused(CL_INVALID_DEVICE, clCompileProgram(unbuilt, 1, &no_device, "", 0, NULL, NULL, NULL, NULL));
    fx_refused(CL_INVALID_PROGRAM, compile(unbuilt, "", 1, &wrong, &name));
    fx_refused(CL_INVALID_COMPILER_OPTIONS, compile(unbuilt, "-create-library", 0, NULL, NULL));
    fx_refused(CL_INVALID_OPERATION, compile(program, "", 0, NULL, NULL));
    bad = clCreateProgramWithSource(fx_context, 1, &broken, NULL, &code);
    fx_refused(CL_COMPILE_PROGRAM_FAILURE, compile(bad, "", 0, NULL, NULL));
#define join(options_, count_, inputs_)                                                                       \
    clLinkProgram(fx_context, 0, NULL, options_, count_, inputs_, NULL, NULL, &error)
    fx_nothing(CL_INVALID_CONTEXT,
               clLinkProgram((cl_context)(void *)fx_queue, 0, NULL, "", 1, &unbuilt, NULL, NULL, &error));
    fx_nothing(CL_INVALID_VALUE, join("", 0, NULL));
    fx_nothing(CL_INVALID_VALUE, join("", 1, NULL));
    fx_nothing(CL_INVALID_PROGRAM, join("", 1, &wrong));
    fx_nothing(CL_INVALID_VALUE, clLinkProgram(fx_context, 0, NULL, "", 1, &unbuilt, NULL, &code, &error));
    fx_nothing(CL_INVALID_DEVICE,
               clLinkProgram(fx_context, 1, &no_device, "", 1, &unbuilt, NULL, NULL, &error));
    fx_nothing(CL_INVALID_OPERATION, join("", 1, &unbuilt)); /* not compiled */
    empty =
        clCreateProgramWithSource(fx_context, 1, &(const char *){ "int f(void) { return 1; }" }, NULL, &code);
    fx_ok(compile(empty, "", 0, NULL, NULL));
    fx_nothing(CL_INVALID_LINKER_OPTIONS, join("-DX=1", 1, &empty));
    fx_ok(clReleaseProgram(empty));
    fx_ok(clReleaseProgram(bad));
}

static void test_lifetime(void **state)
{
    cl_uint references;
    (void)state;
    fx_ok(clRetainProgram(unbuilt));
    fx_ok(clGetProgramInfo(unbuilt, CL_PROGRAM_REFERENCE_COUNT, sizeof references, &references, NULL));
    assert_int_equal(references, 2);
    fx_ok(clReleaseProgram(unbuilt));
    fx_ok(clRetainKernel(kernel));
    fx_ok(clGetKernelInfo(kernel, CL_KERNEL_REFERENCE_COUNT, sizeof references, &references, NULL));
    assert_int_equal(references, 2);
    fx_ok(clReleaseKernel(kernel));
    fx_refused(CL_INVALID_PROGRAM, clRetainProgram(AS_PROGRAM(fx_queue)));
    fx_refused(CL_INVALID_PROGRAM, clReleaseProgram(AS_PROGRAM(fx_queue)));
    fx_refused(CL_INVALID_KERNEL, clRetainKernel(AS_KERNEL(fx_queue)));
    fx_refused(CL_INVALID_KERNEL, clReleaseKernel(AS_KERNEL(fx_queue)));
}

/* ------------------------------------------------------------------------------------------------ kernels */

static void test_create_kernel(void **state)
{
    cl_kernel all[8];
    cl_uint count;
    (void)state;
    fx_nothing(CL_INVALID_PROGRAM, clCreateKernel(AS_PROGRAM(fx_queue), "k", &error));
    fx_nothing(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel(unbuilt, "k", &error));
    fx_nothing(CL_INVALID_KERNEL_NAME, clCreateKernel(program, "not_there", &error));
    fx_nothing(CL_INVALID_VALUE, clCreateKernel(program, NULL, &error));
    fx_refused(CL_INVALID_PROGRAM, clCreateKernelsInProgram(AS_PROGRAM(fx_queue), 8, all, &count));
    fx_refused(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernelsInProgram(unbuilt, 8, all, &count));
    fx_refused(CL_INVALID_VALUE, clCreateKernelsInProgram(program, 1, all, &count));
    fx_ok(clCreateKernelsInProgram(program, 8, all, &count));
    assert_int_equal(count, 4);
    for (cl_uint i = 0; i < count; i++)
        fx_ok(clReleaseKernel(all[i]));
}

static void test_set_arguments(void **state)
{
    const cl_image_format rgba = { CL_RGBA, CL_UNORM_INT8 };
    cl_kernel pictures = fx_kernel(program, "pictures");
    cl_mem wrong = (cl_mem)(void *)fx_queue, none = NULL, readable, writable;
    cl_sampler no_sampler = (cl_sampler)(void *)fx_queue;
    cl_int code, n = 3;
    (void)state;
    readable = clCreateImage2D(fx_context, CL_MEM_READ_ONLY, &rgba, 4, 4, 0, NULL, &code);
    writable = clCreateImage2D(fx_context, CL_MEM_WRITE_ONLY, &rgba, 4, 4, 0, NULL, &code);
    fx_ok(code);
    fx_refused(CL_INVALID_KERNEL, clSetKernelArg(AS_KERNEL(fx_queue), 0, 8, &buffer));
    fx_refused(CL_INVALID_ARG_INDEX, clSetKernelArg(kernel, 3, 4, &n));
    fx_refused(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 0, 4, &buffer));
    fx_refused(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 1, 8, &n));
    fx_refused(CL_INVALID_ARG_VALUE, clSetKernelArg(kernel, 1, 4, NULL));
    fx_refused(CL_INVALID_ARG_VALUE, clSetKernelArg(kernel, 2, 4, &n)); /* local memory has no value */
    fx_refused(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 2, 0, NULL));
    fx_refused(CL_INVALID_MEM_OBJECT, clSetKernelArg(kernel, 0, 8, &wrong));
    fx_refused(CL_INVALID_MEM_OBJECT, clSetKernelArg(kernel, 0, 8, &foreign));
    fx_refused(CL_INVALID_ARG_VALUE, clSetKernelArg(kernel, 0, 8, &readable));
    fx_ok(clSetKernelArg(kernel, 0, 8, &none));
    fx_ok(clSetKernelArg(kernel, 0, 8, NULL));
    fx_refused(CL_INVALID_MEM_OBJECT, clSetKernelArg(pictures, 0, 8, &buffer));
    fx_refused(CL_INVALID_ARG_VALUE, clSetKernelArg(pictures, 0, 8, &writable));
    fx_refused(CL_INVALID_ARG_VALUE, clSetKernelArg(pictures, 1, 8, &readable));
    fx_refused(CL_INVALID_SAMPLER, clSetKernelArg(pictures, 2, 8, &no_sampler));
    fx_refused(CL_INVALID_SAMPLER, clSetKernelArg(pictures, 2, 8, NULL));
    fx_ok(clSetKernelArg(pictures, 0, 8, &readable));
    fx_ok(clSetKernelArg(pictures, 1, 8, &writable));
    fx_ok(clReleaseKernel(pictures));
    fx_ok(clReleaseMemObject(readable));
    fx_ok(clReleaseMemObject(writable));
}

/* ----------------------------------------------------------------------------------------------- launches */

static cl_int launch(cl_kernel what, cl_uint dims, const size_t *offset, const size_t *grid,
                     const size_t *group)
{
    return clEnqueueNDRangeKernel(fx_queue, what, dims, offset, grid, group, 0, NULL, NULL);
}

static void test_launch(void **state)
{
    const size_t grid = 12, five = 5, four = 4, none = 0, huge[3] = { 32, 32, 2 }, wide = 2048,
                 last = SIZE_MAX - 2;
    cl_kernel fixed = fx_kernel(program, "four"), big = fx_kernel(program, "big");
    cl_command_queue far;
    cl_event no_event = (cl_event)(void *)fx_queue;
    cl_int code, n = 1;
    (void)state;
    fx_refused(CL_INVALID_KERNEL_ARGS, launch(big, 1, NULL, &grid, NULL));
    fx_ok(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    fx_ok(clSetKernelArg(kernel, 1, sizeof n, &n));
    fx_ok(clSetKernelArg(kernel, 2, 64, NULL));
    far = clCreateCommandQueue(other, fx_device, 0, &code);
    fx_ok(code);
    fx_refused(CL_INVALID_COMMAND_QUEUE, clEnqueueNDRangeKernel((cl_command_queue)(void *)fx_context, kernel,
                                                                1, NULL, &grid, NULL, 0, NULL, NULL));
    fx_refused(CL_INVALID_KERNEL, launch(AS_KERNEL(fx_queue), 1, NULL, &grid, NULL));
    fx_refused(CL_INVALID_CONTEXT, clEnqueueNDRangeKernel(far, kernel, 1, NULL, &grid, NULL, 0, NULL, NULL));
    fx_refused(CL_INVALID_WORK_DIMENSION, launch(kernel, 0, NULL, &grid, NULL));
    fx_refused(CL_INVALID_WORK_DIMENSION, launch(kernel, 4, NULL, &grid, NULL));
    fx_refused(CL_INVALID_GLOBAL_OFFSET, launch(kernel, 1, &last, &grid, NULL));
    fx_refused(CL_INVALID_WORK_GROUP_SIZE, launch(kernel, 1, NULL, &grid, &five));
    fx_refused(CL_INVALID_WORK_GROUP_SIZE, launch(kernel, 1, NULL, &grid, &none));
    fx_refused(CL_INVALID_WORK_GROUP_SIZE, launch(kernel, 3, NULL, huge, huge));
    fx_refused(CL_INVALID_WORK_ITEM_SIZE, launch(kernel, 1, NULL, &wide, &wide));
    fx_refused(CL_INVALID_WORK_GROUP_SIZE, launch(fixed, 1, NULL, &grid, &(size_t){ 6 }));
    fx_ok(launch(fixed, 1, NULL, &grid, &four));
    fx_refused(CL_INVALID_EVENT_WAIT_LIST,
               clEnqueueNDRangeKernel(fx_queue, kernel, 1, NULL, &grid, NULL, 1, NULL, NULL));
    fx_refused(CL_INVALID_EVENT_WAIT_LIST,
               clEnqueueNDRangeKernel(fx_queue, kernel, 1, NULL, &grid, NULL, 1, &no_event, NULL));
    fx_refused(CL_INVALID_KERNEL, clEnqueueTask(fx_queue, AS_KERNEL(fx_queue), 0, NULL, NULL));
    fx_refused(CL_INVALID_WORK_GROUP_SIZE, clEnqueueTask(fx_queue, fixed, 0, NULL, NULL));
    fx_ok(clEnqueueTask(fx_queue, kernel, 0, NULL, NULL));
    fx_ok(clSetKernelArg(kernel, 2, 1 << 20, NULL)); /* more than any GPU has */
    fx_refused(CL_OUT_OF_RESOURCES, launch(kernel, 1, NULL, &grid, NULL));
    fx_refused(CL_INVALID_OPERATION,
               clEnqueueNativeKernel(fx_queue, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, NULL));
    fx_ok(clFinish(fx_queue));
    fx_ok(clReleaseKernel(fixed));
    fx_ok(clReleaseKernel(big));
    fx_ok(clReleaseCommandQueue(far));
}

static int setup(void **state)
{
    int result = fx_setup(state);
    cl_int code;
    fx_need_compiler();
    if (result != 0)
        return result;
    other = clCreateContext(NULL, 1, &fx_device, NULL, NULL, &code);
    foreign = clCreateBuffer(other, 0, 64, NULL, &code);
    buffer = fx_buffer(0, 64, NULL);
    program = fx_build(source, "");
    kernel = fx_kernel(program, "k");
    unbuilt = clCreateProgramWithSource(fx_context, 1, (const char **)&text, NULL, &code);
    return code == CL_SUCCESS ? 0 : -1;
}

static int teardown(void **state)
{
    clReleaseProgram(unbuilt);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseMemObject(buffer);
    clReleaseMemObject(foreign);
    clReleaseContext(other);
    return fx_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create),           cmocka_unit_test(test_build),
        cmocka_unit_test(test_compile_and_link), cmocka_unit_test(test_lifetime),
        cmocka_unit_test(test_create_kernel),    cmocka_unit_test(test_set_arguments),
        cmocka_unit_test(test_launch),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
