/* kernel.c: kernels: a function of a program with the arguments that were set. Asking about them is in
 * kernel_info.c, launching them in enqueue.c. */
#include "opencl/ocl.h"

#include "opencl/svm.h"

#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------- creating */

static size_t packed_room(const ls_gpu_kernel_info *info)
{
    return (info->packed_bytes + OCL_ARG_ALIGN - 1) / OCL_ARG_ALIGN * OCL_ARG_ALIGN + OCL_ARG_ALIGN;
}

static cl_kernel make(cl_program program, const char *name, const ls_gpu_kernel_info *info)
{
    cl_kernel kernel = calloc(1, sizeof *kernel);
    if (!kernel)
        return NULL;
    kernel->name = strdup(name);
    kernel->args = calloc(info->arg_count + 1, sizeof *kernel->args);
    kernel->packed = calloc(1, packed_room(info));
    if (!kernel->name || !kernel->args || !kernel->packed) {
        free(kernel->name);
        free(kernel->args);
        free(kernel->packed);
        free(kernel);
        return NULL;
    }
    ocl_object_init(&kernel->base, OCL_KERNEL);
    ocl_retain(program);
    atomic_fetch_add(&program->kernel_count, 1);
    kernel->program = program;
    kernel->info = info;
    return kernel;
}

static bool is_same_interface(const ls_gpu_kernel_info *a, const ls_gpu_kernel_info *b)
{
    if (a->arg_count != b->arg_count)
        return false;
    for (size_t i = 0; i < a->arg_count; i++)
        if (a->args[i].kind != b->args[i].kind || a->args[i].bytes != b->args[i].bytes ||
            a->args[i].offset != b->args[i].offset)
            return false;
    return true;
}

/* With the program's lock held. */
static cl_int create_locked(cl_program program, const char *name, cl_kernel *out)
{
    ls_gpu_kernel *found[OCL_GPUS_MAX] = { NULL };
    const ls_gpu_kernel_info *info = NULL;
    bool is_built = false;
    for (cl_uint i = 0; i < program->device_count; i++) {
        const ocl_build *build = &program->builds[i];
        if (build->status != CL_BUILD_SUCCESS || !build->module)
            continue;
        is_built = true;
        if (ls_gpu_module_find(build->module, name, &found[i], NULL) != LS_OK)
            continue;
        if (info && !is_same_interface(info, ls_gpu_kernel_get_info(found[i])))
            return CL_INVALID_KERNEL_DEFINITION;
        if (!info)
            info = ls_gpu_kernel_get_info(found[i]);
    }
    if (!is_built)
        return CL_INVALID_PROGRAM_EXECUTABLE;
    if (!info)
        return CL_INVALID_KERNEL_NAME;
    *out = make(program, name, info);
    if (!*out)
        return CL_OUT_OF_HOST_MEMORY;
    memcpy((*out)->of_device, found, sizeof found);
    return CL_SUCCESS;
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *error)
{
    cl_kernel kernel = NULL;
    cl_int status = CL_SUCCESS;
    if (!ocl_is(program, OCL_PROGRAM)) {
        status = CL_INVALID_PROGRAM;
    } else if (!name) {
        status = CL_INVALID_VALUE;
    } else {
        pthread_mutex_lock(&program->lock);
        status = create_locked(program, name, &kernel);
        pthread_mutex_unlock(&program->lock);
    }
    if (error)
        *error = status;
    return kernel;
}

static cl_int create_all(cl_program program, cl_uint room, cl_kernel *kernels, cl_uint *count)
{
    ls_gpu_module *module = NULL;
    cl_int status = CL_SUCCESS;
    cl_uint all;
    for (cl_uint i = 0; i < program->device_count && !module; i++)
        module = program->builds[i].status == CL_BUILD_SUCCESS ? program->builds[i].module : NULL;
    if (!module)
        return CL_INVALID_PROGRAM_EXECUTABLE;
    all = (cl_uint)ls_gpu_module_kernel_count(module);
    if (kernels && room < all)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; kernels && i < all && status == CL_SUCCESS; i++) {
        status =
            create_locked(program, ls_gpu_kernel_get_info(ls_gpu_module_kernel(module, i))->name, &kernels[i]);
        for (cl_uint k = 0; status != CL_SUCCESS && k < i; k++)
            ocl_kernel_release(kernels[k]);
    }
    if (status == CL_SUCCESS && count)
        *count = all;
    return status;
}

cl_int clCreateKernelsInProgram(cl_program program, cl_uint room, cl_kernel *kernels, cl_uint *count)
{
    cl_int status;
    if (!ocl_is(program, OCL_PROGRAM))
        return CL_INVALID_PROGRAM;
    pthread_mutex_lock(&program->lock);
    status = create_all(program, room, kernels, count);
    pthread_mutex_unlock(&program->lock);
    return status;
}

cl_kernel clCloneKernel(cl_kernel kernel, cl_int *error)
{
    cl_kernel copy = NULL;
    cl_int status = CL_SUCCESS;
    if (!ocl_is(kernel, OCL_KERNEL))
        status = CL_INVALID_KERNEL;
    else if (!(copy = make(kernel->program, kernel->name, kernel->info)))
        status = CL_OUT_OF_HOST_MEMORY;
    if (copy) {
        memcpy(copy->of_device, kernel->of_device, sizeof copy->of_device);
        pthread_mutex_lock(&ocl.lock);
        memcpy(copy->args, kernel->args, kernel->info->arg_count * sizeof *copy->args);
        for (size_t i = 0; i < kernel->info->arg_count; i++)
            ocl_watch(copy->args[i].object);
        memcpy(copy->packed, kernel->packed, packed_room(kernel->info));
        pthread_mutex_unlock(&ocl.lock);
    }
    if (error)
        *error = status;
    return copy;
}

/* ----------------------------------------------------------------------------------------------- lifetime */

void ocl_kernel_release(cl_kernel kernel)
{
    cl_program program = kernel->program;
    if (!ocl_drop(kernel))
        return;
    for (size_t i = 0; i < kernel->info->arg_count; i++)
        ocl_unwatch(kernel->args[i].object);
    free(kernel->name);
    free(kernel->args);
    free(kernel->packed);
    free(kernel);
    atomic_fetch_sub(&program->kernel_count, 1);
    ocl_program_release(program);
}

cl_int clRetainKernel(cl_kernel kernel)
{
    if (!ocl_is(kernel, OCL_KERNEL))
        return CL_INVALID_KERNEL;
    ocl_retain(kernel);
    return CL_SUCCESS;
}

cl_int clReleaseKernel(cl_kernel kernel)
{
    if (!ocl_is(kernel, OCL_KERNEL))
        return CL_INVALID_KERNEL;
    ocl_kernel_release(kernel);
    return CL_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------- arguments */

static void set_bytes(cl_kernel kernel, cl_uint index, const void *data, size_t bytes, const ocl_arg *arg)
{
    pthread_mutex_lock(&ocl.lock);
    if (bytes > 0)
        memcpy(kernel->packed + kernel->info->args[index].offset, data, bytes);
    ocl_watch(arg->object);
    ocl_unwatch(kernel->args[index].object);
    kernel->args[index] = *arg;
    pthread_mutex_unlock(&ocl.lock);
}

/* A kernel that only reads an image must not get a write-only image, and the other way round. A code object
 * without access information is accepted. */
static cl_int check_access(const ls_gpu_arg_info *info, cl_mem image)
{
    const bool reads = *info->access && strcmp(info->access, "write_only") != 0;
    const bool writes = *info->access && strcmp(info->access, "read_only") != 0;
    if ((reads && (image->flags & CL_MEM_WRITE_ONLY)) || (writes && (image->flags & CL_MEM_READ_ONLY)))
        return CL_INVALID_ARG_VALUE;
    return CL_SUCCESS;
}

static cl_int check_mem(cl_kernel kernel, const ls_gpu_arg_info *info, cl_mem mem)
{
    if (!ocl_is(mem, OCL_MEM) || mem->context != kernel->program->context)
        return CL_INVALID_MEM_OBJECT;
    if (mem->type == CL_MEM_OBJECT_BUFFER && info->kind == LS_GPU_ARG_IMAGE)
        return CL_INVALID_MEM_OBJECT; /* no image at all */
    if ((mem->type == CL_MEM_OBJECT_BUFFER) != (info->kind == LS_GPU_ARG_BUFFER))
        return CL_INVALID_ARG_VALUE;
    return info->kind == LS_GPU_ARG_IMAGE ? check_access(info, mem) : CL_SUCCESS;
}

static cl_int set_object(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    const ls_gpu_arg_info *info = &kernel->info->args[index];
    ocl_arg arg = { .is_set = true };
    void *object = NULL;
    uint64_t address = 0;
    if (bytes != sizeof object)
        return CL_INVALID_ARG_SIZE;
    if (value)
        memcpy(&object, value, sizeof object);
    if (info->kind == LS_GPU_ARG_SAMPLER) {
        if (!ocl_is(object, OCL_SAMPLER) || ((cl_sampler)object)->context != kernel->program->context)
            return CL_INVALID_SAMPLER;
    } else if (object || info->kind == LS_GPU_ARG_IMAGE) {
        const cl_int status = check_mem(kernel, info, object);
        if (status != CL_SUCCESS)
            return status;
        if (info->kind == LS_GPU_ARG_BUFFER)
            address = ((cl_mem)object)->address;
    }
    arg.object = object;
    set_bytes(kernel, index, &address, sizeof address, &arg);
    return CL_SUCCESS;
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    const ls_gpu_arg_info *info;
    uint32_t local;
    if (!ocl_is(kernel, OCL_KERNEL))
        return CL_INVALID_KERNEL;
    if (index >= kernel->info->arg_count)
        return CL_INVALID_ARG_INDEX;
    info = &kernel->info->args[index];
    switch (info->kind) {
    case LS_GPU_ARG_LOCAL:
        if (value)
            return CL_INVALID_ARG_VALUE;
        if (bytes == 0 || bytes > UINT32_MAX)
            return CL_INVALID_ARG_SIZE;
        local = (uint32_t)bytes;
        set_bytes(kernel, index, &local, sizeof local, &(ocl_arg){ .is_set = true, .local_bytes = bytes });
        return CL_SUCCESS;
    case LS_GPU_ARG_VALUE:
        if (!value)
            return CL_INVALID_ARG_VALUE;
        if (bytes != info->bytes)
            return CL_INVALID_ARG_SIZE;
        set_bytes(kernel, index, value, bytes, &(ocl_arg){ .is_set = true });
        return CL_SUCCESS;
    case LS_GPU_ARG_OTHER:
        return CL_INVALID_ARG_VALUE;
    default:
        return set_object(kernel, index, bytes, value);
    }
}

cl_int clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index, const void *value)
{
    const uint64_t address = (uintptr_t)value;
    if (!ocl_is(kernel, OCL_KERNEL))
        return CL_INVALID_KERNEL;
    if (index >= kernel->info->arg_count)
        return CL_INVALID_ARG_INDEX;
    if (kernel->info->args[index].kind != LS_GPU_ARG_BUFFER ||
        (value && !ocl_svm_find(kernel->program->context, value, 0)))
        return CL_INVALID_ARG_VALUE;
    set_bytes(kernel, index, &address, sizeof address, &(ocl_arg){ .is_set = true });
    return CL_SUCCESS;
}

/* Kernels may follow pointers to any SVM allocation; there is nothing to remember. */
cl_int clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info what, size_t bytes, const void *value)
{
    cl_bool wants_fine;
    if (!ocl_is(kernel, OCL_KERNEL))
        return CL_INVALID_KERNEL;
    if (what == CL_KERNEL_EXEC_INFO_SVM_PTRS && bytes == 0 && !value)
        return CL_SUCCESS; /* an empty list */
    if (!value)
        return CL_INVALID_VALUE;
    switch (what) {
    case CL_KERNEL_EXEC_INFO_SVM_PTRS:
        return bytes > 0 && bytes % sizeof(void *) == 0 ? CL_SUCCESS : CL_INVALID_VALUE;
    case CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM:
        if (bytes != sizeof wants_fine)
            return CL_INVALID_VALUE;
        memcpy(&wants_fine, value, sizeof wants_fine);
        return wants_fine ? CL_INVALID_OPERATION : CL_SUCCESS;
    default:
        return CL_INVALID_VALUE;
    }
}
