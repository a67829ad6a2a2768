/* ocl.c: see ocl.h. The only file that calls OpenCL. */
#include "ocl.h"

#define CL_TARGET_OPENCL_VERSION 200
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct ocl_device {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
};

struct ocl_program {
    ocl_device *device;
    cl_program program;
    cl_kernel *kernels;
    cl_uint kernel_count;
};

static ls_status failed(ls_error *err, const char *call, cl_int code)
{
    return ls_fail(err, LS_ERR_INTERNAL, "OpenCL: %s failed with code %d", call, (int)code);
}

/* The platform by name: another OpenCL on the machine, our own included, must not be its own oracle. */
static ls_status find(cl_device_id *out, ls_error *err)
{
    cl_platform_id platforms[16];
    cl_uint count = 0;
    if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS)
        count = 0;
    for (cl_uint i = 0; i < count && i < 16; i++) {
        char name[128] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
        if (strcmp(name, "Portable Computing Language") == 0 &&
            clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, out, NULL) == CL_SUCCESS)
            return LS_OK;
    }
    return ls_fail(err, LS_ERR_UNSUPPORTED, "PoCL is not installed (Debian: pocl-opencl-icd)");
}

/* Without /sys, as in a bare chroot, PoCL ends the whole process when its devices are queried. A child process
 * tries it first. */
static ls_status probe(ls_error *err)
{
    cl_device_id id;
    int code = 0;
    const pid_t child = fork();
    if (child == 0)
        _exit(find(&id, NULL) == LS_OK ? 0 : 1);
    if (child < 0 || waitpid(child, &code, 0) != child)
        return ls_fail(err, LS_ERR_INTERNAL, "a process for PoCL cannot be started");
    if (WIFSIGNALED(code))
        return ls_fail(err, LS_ERR_UNSUPPORTED, "PoCL does not work here: signal %d (it needs /sys)",
                       WTERMSIG(code));
    return LS_OK;
}

ls_status ocl_open(ocl_device **out, ls_error *err)
{
    cl_device_id id;
    ls_status status = probe(err);
    if (status == LS_OK)
        status = find(&id, err);
    if (status != LS_OK)
        return status;
    ocl_device *d = calloc(1, sizeof *d);
    if (!d)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for an OpenCL device");
    cl_int code = CL_SUCCESS;
    d->id = id;
    d->context = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    if (code == CL_SUCCESS)
        d->queue = clCreateCommandQueueWithProperties(d->context, id, NULL, &code);
    if (code != CL_SUCCESS) {
        ocl_close(d);
        return failed(err, "creating a queue", code);
    }
    *out = d;
    return LS_OK;
}

void ocl_close(ocl_device *device)
{
    if (!device)
        return;
    if (device->queue)
        clReleaseCommandQueue(device->queue);
    if (device->context)
        clReleaseContext(device->context);
    free(device);
}

void *ocl_alloc(ocl_device *device, size_t bytes)
{
    if (bytes == 0)
        bytes = 1;
    void *buffer = clSVMAlloc(device->context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, bytes, 128);
    if (buffer)
        memset(buffer, 0, bytes);
    return buffer;
}

void ocl_free(ocl_device *device, void *buffer)
{
    if (buffer)
        clSVMFree(device->context, buffer);
}

ls_status ocl_build(ocl_device *device, const char *source, size_t bytes, const char *options,
                    ocl_program **out, ls_error *err)
{
    cl_int code;
    cl_program program = clCreateProgramWithSource(device->context, 1, &source, &bytes, &code);
    if (code != CL_SUCCESS)
        return failed(err, "clCreateProgramWithSource", code);
    char all[512];
    snprintf(all, sizeof all, "-cl-std=CL1.2 -cl-kernel-arg-info %s", options);
    code = clBuildProgram(program, 1, &device->id, all, NULL, NULL);
    ocl_program *p = code == CL_SUCCESS ? calloc(1, sizeof *p) : NULL;
    if (!p) {
        char log[4096] = "no log";
        clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        clReleaseProgram(program);
        return ls_fail(err, LS_ERR_INPUT, "PoCL does not build the kernels (code %d): %s", (int)code, log);
    }
    p->device = device;
    p->program = program;
    code = clCreateKernelsInProgram(program, 0, NULL, &p->kernel_count);
    p->kernels = calloc(p->kernel_count + 1, sizeof *p->kernels);
    if (code == CL_SUCCESS && p->kernels)
        code = clCreateKernelsInProgram(program, p->kernel_count, p->kernels, NULL);
    if (code != CL_SUCCESS || !p->kernels) {
        ocl_program_free(p);
        return failed(err, "clCreateKernelsInProgram", code);
    }
    *out = p;
    return LS_OK;
}

void ocl_program_free(ocl_program *program)
{
    if (!program)
        return;
    for (cl_uint i = 0; program->kernels && i < program->kernel_count; i++)
        clReleaseKernel(program->kernels[i]);
    free(program->kernels);
    clReleaseProgram(program->program);
    free(program);
}

size_t ocl_kernel_count(const ocl_program *program)
{
    return program->kernel_count;
}

static ocl_space space_of(cl_kernel_arg_address_qualifier space)
{
    return space == CL_KERNEL_ARG_ADDRESS_GLOBAL     ? OCL_GLOBAL
           : space == CL_KERNEL_ARG_ADDRESS_CONSTANT ? OCL_CONSTANT
           : space == CL_KERNEL_ARG_ADDRESS_LOCAL    ? OCL_LOCAL
                                                     : OCL_PRIVATE;
}

ls_status ocl_kernel_get_info(ocl_program *program, size_t index, ocl_kernel_info *out, ls_error *err)
{
    memset(out, 0, sizeof *out);
    cl_kernel k = program->kernels[index];
    size_t group[3] = { 0 };
    cl_uint count = 0;
    cl_int code = clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof out->name, out->name, NULL);
    code |= clGetKernelInfo(k, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL);
    code |= clGetKernelWorkGroupInfo(k, program->device->id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof group,
                                     group, NULL);
    if (count > OCL_ARGS_MAX)
        return ls_fail(err, LS_ERR_INPUT, "%s has more than %d arguments", out->name, OCL_ARGS_MAX);
    for (cl_uint i = 0; i < count; i++) {
        cl_kernel_arg_address_qualifier space = 0;
        code |=
            clGetKernelArgInfo(k, i, CL_KERNEL_ARG_NAME, sizeof out->args[i].name, out->args[i].name, NULL);
        code |= clGetKernelArgInfo(k, i, CL_KERNEL_ARG_TYPE_NAME, sizeof out->args[i].type, out->args[i].type,
                                   NULL);
        code |= clGetKernelArgInfo(k, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL);
        out->args[i].space = space_of(space);
    }
    for (int d = 0; d < 3; d++)
        out->required_group[d] = (uint32_t)group[d];
    out->arg_count = count;
    return code == CL_SUCCESS ? LS_OK : failed(err, "asking for a kernel's arguments", code);
}

static cl_int set_arg(cl_kernel kernel, cl_uint index, const ls_gpu_arg *arg)
{
    cl_kernel_arg_address_qualifier space;
    const cl_int code =
        clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL);
    if (code != CL_SUCCESS)
        return code;
    if (space != CL_KERNEL_ARG_ADDRESS_GLOBAL && space != CL_KERNEL_ARG_ADDRESS_CONSTANT)
        return clSetKernelArg(kernel, index, arg->bytes, arg->data);
    void *pointer;
    memcpy(&pointer, arg->data, sizeof pointer);
    return clSetKernelArgSVMPointer(kernel, index, pointer);
}

ls_status ocl_run(ocl_program *program, const char *kernel, const uint32_t grid[3], const uint32_t group[3],
                  const ls_gpu_arg *args, size_t arg_count, ls_error *err)
{
    cl_int code = CL_SUCCESS;
    cl_kernel k = NULL;
    for (cl_uint i = 0; i < program->kernel_count && !k; i++) {
        char name[128] = "";
        clGetKernelInfo(program->kernels[i], CL_KERNEL_FUNCTION_NAME, sizeof name - 1, name, NULL);
        k = strcmp(name, kernel) == 0 ? program->kernels[i] : NULL;
    }
    if (!k)
        return ls_fail(err, LS_ERR_INPUT, "OpenCL: there is no kernel '%s'", kernel);
    for (cl_uint i = 0; i < arg_count && code == CL_SUCCESS; i++)
        code = set_arg(k, i, &args[i]);
    const size_t global[3] = { grid[0], grid[1], grid[2] }, local[3] = { group[0], group[1], group[2] };
    const cl_uint dimensions = grid[2] > 1 ? 3 : grid[1] > 1 ? 2 : 1;
    if (code == CL_SUCCESS)
        code =
            clEnqueueNDRangeKernel(program->device->queue, k, dimensions, NULL, global, local, 0, NULL, NULL);
    if (code == CL_SUCCESS)
        code = clFinish(program->device->queue);
    return code == CL_SUCCESS ? LS_OK : failed(err, kernel, code);
}
