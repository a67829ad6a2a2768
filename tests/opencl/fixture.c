/* fixture.c: see fixture.h. */
#include "opencl/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

cl_platform_id fx_platform;
cl_device_id fx_devices[16], fx_device;
cl_uint fx_device_count;
cl_context fx_context;
cl_command_queue fx_queue;

static void leave(const char *why)
{
    printf("skipped: %s\n", why);
    exit(77);
}

int fx_setup(void **state)
{
    cl_platform_id platforms[8];
    cl_uint count = 0;
    cl_int error;
    (void)state;
    if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS || count == 0)
        leave("the loader finds no platform");
    for (cl_uint i = 0; i < count && i < 8; i++) {
        char name[64] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strcmp(name, "Lockstep") == 0)
            fx_platform = platforms[i];
    }
    if (!fx_platform)
        leave("OCL_ICD_VENDORS does not name our driver");
    if (clGetDeviceIDs(fx_platform, CL_DEVICE_TYPE_ALL, 16, fx_devices, &fx_device_count) != CL_SUCCESS)
        return -1;
    fx_device = fx_devices[0];
    fx_context = clCreateContext(NULL, fx_device_count, fx_devices, NULL, NULL, &error);
    if (error != CL_SUCCESS)
        return -1;
    fx_queue = clCreateCommandQueue(fx_context, fx_device, CL_QUEUE_PROFILING_ENABLE, &error);
    return error == CL_SUCCESS ? 0 : -1;
}

int fx_teardown(void **state)
{
    (void)state;
    clReleaseCommandQueue(fx_queue);
    return clReleaseContext(fx_context) == CL_SUCCESS ? 0 : -1;
}

void fx_need_compiler(void)
{
    static const char *const needed[] = { "/usr/bin/clang-15", "/usr/bin/ld.lld-15",
                                          "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/opencl.bc" };
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (access(needed[i], R_OK) != 0)
            leave("kernels cannot be compiled: scripts/deps test installs clang-15, lld-15, rocm-device-libs");
}

cl_program fx_build(const char *source, const char *options)
{
    cl_int error;
    cl_program program = clCreateProgramWithSource(fx_context, 1, &source, NULL, &error);
    fx_ok(error);
    error = clBuildProgram(program, 0, NULL, options, NULL, NULL);
    if (error != CL_SUCCESS) {
        char log[4096] = "";
        clGetProgramBuildInfo(program, fx_device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fail_msg("build: %d: %s", error, log);
    }
    return program;
}

cl_kernel fx_kernel(cl_program program, const char *name)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    fx_ok(error);
    return kernel;
}

cl_mem fx_buffer(cl_mem_flags flags, size_t bytes, void *host)
{
    cl_int error;
    cl_mem buffer = clCreateBuffer(fx_context, flags, bytes, host, &error);
    fx_ok(error);
    return buffer;
}

void fx_run(cl_kernel kernel, size_t grid, size_t group)
{
    fx_ok(clEnqueueNDRangeKernel(fx_queue, kernel, 1, NULL, &grid, group ? &group : NULL, 0, NULL, NULL));
    fx_ok(clFinish(fx_queue));
}

void fx_read(cl_mem buffer, void *to, size_t bytes)
{
    fx_ok(clEnqueueReadBuffer(fx_queue, buffer, CL_TRUE, 0, bytes, to, 0, NULL, NULL));
}
