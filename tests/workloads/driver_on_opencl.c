/* driver_on_opencl.c: as much of lockstep/driver.h as the workloads use, made of OpenCL calls: their hosts
 * run unchanged through the loader and the OpenCL driver. Two ways, by WORKLOADS_THROUGH:
 *
 *     binary    the compiled code objects, with clCreateProgramWithBinary; memory is buffers (the default)
 *     source    the source texts, with clCreateProgramWithSource; memory is shared virtual memory
 *
 * Some workloads put addresses into memory, so buffers are made of shared virtual memory too. */
#include "lockstep/driver.h"

#include "base/arena.h"
#include "base/file.h"

#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <stdlib.h>
#include <string.h>

#define BUFFERS_MAX 64
#define KERNELS_MAX 256

struct ls_gpu_system {
    ls_gpu_model model; /* workloads look for its name */
    cl_device_id device;
    bool from_source;
};

struct ls_gpu_context {
    ls_gpu_system *system;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernels[KERNELS_MAX];
    cl_uint kernel_count;
    void *memory[BUFFERS_MAX];   /* SVM: the address that the host uses */
    cl_mem buffers[BUFFERS_MAX]; /* of the same bytes; NULL: from source */
    size_t buffer_count;
};

/* Handles that lead to the context; there is one module, and kernels are its own. */
struct ls_gpu_module {
    ls_gpu_context context;
};

static ls_status failed(ls_error *err, const char *call, cl_int code)
{
    return ls_fail(err, LS_ERR_CHECK, "%s returned %d", call, (int)code);
}

/* ------------------------------------------------------------------------------------------------ systems */

static bool find_device(const char *gpu, cl_device_id *out)
{
    cl_platform_id platforms[16];
    cl_uint count = 0;
    char name[128] = "";
    if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS)
        return false;
    for (cl_uint i = 0; i < count && i < 16; i++)
        if (clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL) == CL_SUCCESS &&
            strcmp(name, "Lockstep") == 0 &&
            clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_GPU, 1, out, NULL) == CL_SUCCESS &&
            clGetDeviceInfo(*out, CL_DEVICE_NAME, sizeof name, name, NULL) == CL_SUCCESS)
            return strncmp(name, gpu, strlen(gpu)) == 0;
    return false;
}

static bool has_svm(cl_device_id device)
{
    cl_device_svm_capabilities can = 0;
    clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, NULL);
    return can != 0;
}

ls_status ls_gpu_system_create(const ls_gpu_options *options, ls_gpu_system **out, ls_error *err)
{
    const char *gpu = options->gpus[0], *through = getenv("WORKLOADS_THROUGH");
    ls_gpu_system *system;
    setenv("LOCKSTEP_GPU", gpu, 1);
    system = calloc(1, sizeof *system);
    if (!system)
        return ls_fail(err, LS_ERR_NOMEM, "no memory");
    system->model = (ls_gpu_model){ .name = gpu, .target = gpu };
    system->from_source = through && strcmp(through, "source") == 0;
    if (!find_device(gpu, &system->device) || !has_svm(system->device)) {
        free(system);
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "OCL_ICD_VENDORS does not name our driver, or it has no SVM here");
    }
    *out = system;
    return LS_OK;
}

void ls_gpu_system_destroy(ls_gpu_system *system)
{
    free(system);
}

const ls_gpu_model *ls_gpu_system_gpu(const ls_gpu_system *system, size_t gpu)
{
    return gpu == 0 ? &system->model : NULL;
}

/* ----------------------------------------------------------------------------------------------- contexts */

ls_status ls_gpu_context_create(ls_gpu_system *system, ls_gpu_context **out, ls_error *err)
{
    ls_gpu_context *c = calloc(1, sizeof *c);
    cl_int code = CL_OUT_OF_HOST_MEMORY;
    if (c) {
        c->system = system;
        c->context = clCreateContext(NULL, 1, &system->device, NULL, NULL, &code);
    }
    if (code == CL_SUCCESS)
        c->queue = clCreateCommandQueue(c->context, system->device, 0, &code);
    *out = c;
    return code == CL_SUCCESS ? LS_OK : failed(err, "creating a context and its queue", code);
}

void ls_gpu_context_destroy(ls_gpu_context *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->buffer_count; i++) {
        if (c->buffers[i])
            clReleaseMemObject(c->buffers[i]);
        clSVMFree(c->context, c->memory[i]);
    }
    for (cl_uint i = 0; i < c->kernel_count; i++)
        clReleaseKernel(c->kernels[i]);
    if (c->program)
        clReleaseProgram(c->program);
    if (c->queue)
        clReleaseCommandQueue(c->queue);
    if (c->context)
        clReleaseContext(c->context);
    free(c);
}

ls_status ls_gpu_select(ls_gpu_context *context, size_t gpu, ls_error *err)
{
    (void)context;
    return gpu == 0 ? LS_OK : ls_fail(err, LS_ERR_USAGE, "there is one GPU");
}

void ls_gpu_context_counts(const ls_gpu_context *context, ls_gpu_counts *out)
{
    (void)context;
    *out = (ls_gpu_counts){ 0 };
}

/* ------------------------------------------------------------------------------------------------- memory */

ls_status ls_gpu_alloc(ls_gpu_context *c, uint64_t bytes, ls_gpu_address *out, ls_error *err)
{
    const cl_uchar zero = 0;
    const size_t at = c->buffer_count;
    cl_int code = CL_OUT_OF_RESOURCES;
    if (at == BUFFERS_MAX)
        return ls_fail(err, LS_ERR_NOMEM, "more than %d buffers", BUFFERS_MAX);
    c->memory[at] = clSVMAlloc(c->context, CL_MEM_READ_WRITE, bytes, 0);
    if (!c->memory[at])
        return failed(err, "clSVMAlloc", code);
    c->buffer_count++;
    if (c->system->from_source) {
        code = clEnqueueSVMMemFill(c->queue, c->memory[at], &zero, 1, bytes, 0, NULL, NULL);
    } else {
        c->buffers[at] = clCreateBuffer(c->context, CL_MEM_USE_HOST_PTR, bytes, c->memory[at], &code);
        if (code == CL_SUCCESS)
            code = clEnqueueFillBuffer(c->queue, c->buffers[at], &zero, 1, 0, bytes, 0, NULL, NULL);
    }
    *out = (uintptr_t)c->memory[at];
    return code == CL_SUCCESS ? LS_OK : failed(err, "filling a buffer", code);
}

ls_status ls_gpu_alloc_zeroed(ls_gpu_context *c, uint64_t bytes, ls_gpu_address *out, ls_error *err)
{
    return ls_gpu_alloc(c, bytes, out, err); /* it fills */
}

/* The number of the buffer that an address is the beginning of; that of none if there is no such. */
static size_t find_buffer(const ls_gpu_context *c, ls_gpu_address address)
{
    size_t i = 0;
    while (i < c->buffer_count && (uintptr_t)c->memory[i] != address)
        i++;
    return i;
}

/* The buffer that an address may lie in, and how far; OpenCL says whether it does. */
static size_t find_around(const ls_gpu_context *c, ls_gpu_address address, size_t *offset)
{
    size_t found = c->buffer_count;
    for (size_t i = 0; i < c->buffer_count; i++)
        if ((uintptr_t)c->memory[i] <= address &&
            (found == c->buffer_count || (uintptr_t)c->memory[i] > (uintptr_t)c->memory[found]))
            found = i;
    *offset = found < c->buffer_count ? (size_t)(address - (uintptr_t)c->memory[found]) : 0;
    return found;
}

ls_status ls_gpu_copy_in(ls_gpu_context *c, ls_gpu_address to, const void *from, size_t bytes, ls_error *err)
{
    size_t offset;
    const size_t at = find_around(c, to, &offset);
    cl_int code = CL_INVALID_VALUE;
    if (bytes == 0)
        code = CL_SUCCESS;
    else if (c->system->from_source)
        code = clEnqueueSVMMemcpy(c->queue, CL_TRUE, (void *)(uintptr_t)to, from, bytes, 0, NULL, NULL);
    else if (at < c->buffer_count)
        code = clEnqueueWriteBuffer(c->queue, c->buffers[at], CL_TRUE, offset, bytes, from, 0, NULL, NULL);
    return code == CL_SUCCESS ? LS_OK : failed(err, "writing", code);
}

ls_status ls_gpu_copy_out(ls_gpu_context *c, void *to, ls_gpu_address from, size_t bytes, ls_error *err)
{
    size_t offset;
    const size_t at = find_around(c, from, &offset);
    cl_int code = CL_INVALID_VALUE;
    if (bytes == 0)
        code = CL_SUCCESS;
    else if (c->system->from_source)
        code = clEnqueueSVMMemcpy(c->queue, CL_TRUE, to, (void *)(uintptr_t)from, bytes, 0, NULL, NULL);
    else if (at < c->buffer_count)
        code = clEnqueueReadBuffer(c->queue, c->buffers[at], CL_TRUE, offset, bytes, to, 0, NULL, NULL);
    return code == CL_SUCCESS ? LS_OK : failed(err, "reading", code);
}

ls_status ls_gpu_patch(ls_gpu_context *c, ls_gpu_address to, const void *from, size_t bytes, ls_error *err)
{
    return ls_gpu_copy_in(c, to, from, bytes, err);
}

ls_status ls_gpu_look(ls_gpu_context *c, void *to, ls_gpu_address from, size_t bytes, ls_error *err)
{
    return ls_gpu_copy_out(c, to, from, bytes, err);
}

ls_status ls_gpu_copy(ls_gpu_context *c, ls_gpu_address to, ls_gpu_address from, size_t bytes, ls_error *err)
{
    size_t to_offset, from_offset;
    const size_t to_at = find_around(c, to, &to_offset), from_at = find_around(c, from, &from_offset);
    cl_int code = CL_INVALID_VALUE;
    if (c->system->from_source)
        code = clEnqueueSVMMemcpy(c->queue, CL_TRUE, (void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes, 0,
                                  NULL, NULL);
    else if (to_at < c->buffer_count && from_at < c->buffer_count)
        code = clEnqueueCopyBuffer(c->queue, c->buffers[from_at], c->buffers[to_at], from_offset, to_offset,
                                   bytes, 0, NULL, NULL);
    if (code == CL_SUCCESS)
        code = clFinish(c->queue);
    return code == CL_SUCCESS ? LS_OK : failed(err, "copying", code);
}

/* ----------------------------------------------------------------------------------------------- programs */

/* From kernels/TARGET/NAME.co, the place of the code object, to the place of its source. */
static const char *source_path(mem_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/') + 1;
    const int length = (int)strcspn(slash, ".");
    const char *found =
        arena_printf(arena, LS_SOURCE_DIR "/workloads/%.*s/%.*s.cl", length, slash, length, slash);
    if (!file_exists(found))
        found = arena_printf(arena, LS_SOURCE_DIR "/workloads/micro/%.*s.cl", length, slash);
    return found;
}

ls_status ls_gpu_module_load_file(ls_gpu_context *c, const char *path, ls_gpu_module **out, ls_error *err)
{
    mem_arena arena = { 0 };
    char *data;
    size_t bytes;
    cl_int code;
    ls_status status;
    if (c->system->from_source)
        path = source_path(&arena, path);
    status = file_read(&arena, path, 1 << 24, &data, &bytes, err);
    if (status == LS_OK) {
        const char *text = data;
        const unsigned char *binary = (const unsigned char *)data;
        c->program = c->system->from_source ? clCreateProgramWithSource(c->context, 1, &text, &bytes, &code)
                                            : clCreateProgramWithBinary(c->context, 1, &c->system->device,
                                                                        &bytes, &binary, NULL, &code);
        if (code == CL_SUCCESS) /* as the build compiles the code objects */
            code =
                clBuildProgram(c->program, 0, NULL, c->system->from_source ? "-cl-std=CL2.0" : "", NULL, NULL);
        if (code == CL_SUCCESS)
            code = clCreateKernelsInProgram(c->program, KERNELS_MAX, c->kernels, &c->kernel_count);
        if (code != CL_SUCCESS)
            status = failed(err, path, code);
    }
    arena_fini(&arena);
    *out = (ls_gpu_module *)(void *)c;
    return status;
}

ls_status ls_gpu_module_find(ls_gpu_module *module, const char *kernel, ls_gpu_kernel **out, ls_error *err)
{
    ls_gpu_context *c = &module->context;
    for (cl_uint i = 0; i < c->kernel_count; i++) {
        char name[256] = "";
        clGetKernelInfo(c->kernels[i], CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
        if (strcmp(name, kernel) == 0) {
            *out = (ls_gpu_kernel *)(void *)c->kernels[i];
            return LS_OK;
        }
    }
    return ls_fail(err, LS_ERR_INPUT, "there is no kernel '%s'", kernel);
}

/* --------------------------------------------------------------------------------------------------- runs */

static cl_int set_arg(const ls_gpu_context *c, cl_kernel kernel, cl_uint index, const ls_gpu_arg *arg)
{
    ls_gpu_address address = 0;
    size_t at;
    if (arg->data && arg->bytes == sizeof address)
        memcpy(&address, arg->data, sizeof address);
    at = address ? find_buffer(c, address) : c->buffer_count;
    if (at == c->buffer_count)
        return clSetKernelArg(kernel, index, arg->bytes, arg->data);
    return c->system->from_source ? clSetKernelArgSVMPointer(kernel, index, c->memory[at])
                                  : clSetKernelArg(kernel, index, sizeof(cl_mem), &c->buffers[at]);
}

ls_status ls_gpu_run(ls_gpu_context *c, ls_gpu_kernel *kernel, const ls_gpu_launch *launch, ls_error *err)
{
    cl_kernel k = (cl_kernel)(void *)kernel;
    size_t grid[3], group[3];
    cl_int code = CL_SUCCESS;
    cl_uint dims = 1;
    for (cl_uint i = 0; i < 3; i++) {
        grid[i] = launch->grid[i] ? launch->grid[i] : 1;
        group[i] = launch->group[i] ? launch->group[i] : 1;
        if (grid[i] > 1 || group[i] > 1)
            dims = i + 1;
    }
    for (cl_uint i = 0; i < launch->arg_count && code == CL_SUCCESS; i++)
        code = set_arg(c, k, i, &launch->args[i]);
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(c->queue, k, dims, NULL, grid, group, 0, NULL, NULL);
    if (code == CL_SUCCESS)
        code = clFinish(c->queue);
    return code == CL_SUCCESS ? LS_OK : failed(err, "a launch", code);
}

/* ------------------------------------------------------------------------------------------- several GPUs */

/* Runs here are of one device. */

size_t ls_gpu_system_unified(const ls_gpu_system *system)
{
    (void)system;
    return SIZE_MAX;
}

bool ls_gpu_system_is_timed(const ls_gpu_system *system)
{
    (void)system;
    return false;
}

bool ls_gpu_system_reaches(const ls_gpu_system *system)
{
    (void)system;
    return true;
}

uint64_t ls_gpu_system_now(const ls_gpu_system *system)
{
    (void)system;
    return 0;
}

size_t ls_gpu_system_gpu_count(const ls_gpu_system *system)
{
    (void)system;
    return 1;
}

uint64_t ls_gpu_page_bytes(const ls_gpu_system *system)
{
    (void)system;
    return 4096;
}

static ls_status one_device(ls_error *err)
{
    return ls_fail(err, LS_ERR_UNSUPPORTED, "runs through OpenCL have one device");
}

ls_status ls_gpu_place(ls_gpu_context *c, ls_gpu_address address, uint64_t bytes, size_t gpu, ls_error *err)
{
    (void)c, (void)address, (void)bytes, (void)gpu;
    return one_device(err);
}

ls_status ls_gpu_distribute(ls_gpu_context *c, ls_gpu_address address, uint64_t *out, ls_error *err)
{
    (void)c, (void)address, (void)out;
    return one_device(err);
}

ls_status ls_gpu_sync(ls_gpu_context *c, ls_error *err)
{
    (void)c;
    return one_device(err);
}

ls_status ls_gpu_queue_create(ls_gpu_context *c, ls_gpu_queue **out, ls_error *err)
{
    (void)c, (void)out;
    return one_device(err);
}

ls_status ls_gpu_queue_copy_in(ls_gpu_queue *queue, ls_gpu_address to, const void *from, size_t bytes,
                               ls_gpu_event **event, ls_error *err)
{
    (void)queue, (void)to, (void)from, (void)bytes, (void)event;
    return one_device(err);
}

ls_status ls_gpu_queue_copy_out(ls_gpu_queue *queue, void *to, ls_gpu_address from, size_t bytes,
                                ls_gpu_event **event, ls_error *err)
{
    (void)queue, (void)to, (void)from, (void)bytes, (void)event;
    return one_device(err);
}

ls_status ls_gpu_queue_copy(ls_gpu_queue *queue, ls_gpu_address to, ls_gpu_address from, size_t bytes,
                            ls_gpu_event **event, ls_error *err)
{
    (void)queue, (void)to, (void)from, (void)bytes, (void)event;
    return one_device(err);
}

ls_status ls_gpu_queue_launch(ls_gpu_queue *queue, ls_gpu_kernel *kernel, const ls_gpu_launch *launch,
                              ls_gpu_event **event, ls_error *err)
{
    (void)queue, (void)kernel, (void)launch, (void)event;
    return one_device(err);
}

ls_status ls_gpu_queue_wait(ls_gpu_queue *queue, ls_gpu_event *event, ls_error *err)
{
    (void)queue, (void)event;
    return one_device(err);
}

void ls_gpu_event_get_times(const ls_gpu_event *event, uint64_t *queued, uint64_t *began, uint64_t *ended)
{
    (void)event;
    *queued = *began = *ended = 0;
}

void ls_gpu_event_release(ls_gpu_event *event)
{
    (void)event;
}
