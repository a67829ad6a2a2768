/* mem.c: memory objects: buffers, sub-buffers, and functions for all kinds. */
#include "opencl/ocl.h"

#include "opencl/svm.h"

#include <stdlib.h>

#define ACCESS_FLAGS (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY)
#define HOST_FLAGS (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)
#define HOST_ACCESS_FLAGS (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)
#define SUB_BUFFER_ALIGN 128u /* CL_DEVICE_MEM_BASE_ADDR_ALIGN in bytes */

typedef void(CL_CALLBACK *mem_destructor)(cl_mem mem, void *user_data);

/* ------------------------------------------------------------------------------------------------- device */

cl_int ocl_gpu_alloc(cl_context context, uint64_t bytes, ls_gpu_address *out)
{
    ls_error err;
    ls_status status;
    pthread_mutex_lock(&ocl.gpu_lock);
    status = ls_gpu_select(context->gpu, context->devices[0]->gpu, &err);
    if (status == LS_OK)
        status = ls_gpu_alloc(context->gpu, bytes, out, &err);
    pthread_mutex_unlock(&ocl.gpu_lock);
    return ocl_code_of(status, CL_MEM_OBJECT_ALLOCATION_FAILURE);
}

/* Sub-buffers and images made of a buffer move with all of it. */
cl_int ocl_mem_move(cl_mem mem, cl_device_id device, ls_error *err)
{
    ls_gpu_context *gpu = mem->context->gpu;
    while (mem->parent)
        mem = mem->parent;
    if (mem->is_pinned)
        return CL_SUCCESS;
    uint64_t page = ls_gpu_page_bytes(ocl.system), bytes = ls_gpu_reach(gpu, mem->address), at = 0;
    while (at < bytes && ls_gpu_place_of(gpu, mem->address + at) == device->gpu)
        at += page;
    if (at >= bytes)
        return CL_SUCCESS;
    ls_status status = ls_gpu_place(gpu, mem->address, (bytes + page - 1) / page * page, device->gpu, err);
    return ocl_code_of(status, CL_MEM_OBJECT_ALLOCATION_FAILURE);
}

void ocl_gpu_free(cl_context context, ls_gpu_address address)
{
    pthread_mutex_lock(&ocl.gpu_lock);
    ls_gpu_free(context->gpu, address, NULL);
    pthread_mutex_unlock(&ocl.gpu_lock);
}

/* ------------------------------------------------------------------------------------------------- common */

static bool is_at_most_one(cl_mem_flags flags)
{
    return (flags & (flags - 1)) == 0;
}

cl_int ocl_check_mem_flags(cl_mem_flags flags, const void *host_ptr)
{
    if (flags & ~(cl_mem_flags)(ACCESS_FLAGS | HOST_FLAGS | HOST_ACCESS_FLAGS | CL_MEM_KERNEL_READ_AND_WRITE))
        return CL_INVALID_VALUE;
    if (!is_at_most_one(flags & ACCESS_FLAGS) || !is_at_most_one(flags & HOST_ACCESS_FLAGS))
        return CL_INVALID_VALUE;
    if ((flags & CL_MEM_USE_HOST_PTR) && (flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)))
        return CL_INVALID_VALUE;
    if ((host_ptr != NULL) != ((flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0))
        return CL_INVALID_HOST_PTR;
    return CL_SUCCESS;
}

cl_mem ocl_mem_create(cl_context context, cl_mem_object_type type, cl_mem_flags flags)
{
    cl_mem mem = calloc(1, sizeof *mem);
    if (!mem)
        return NULL;
    ocl_object_init(&mem->base, OCL_MEM);
    ocl_retain(context);
    mem->context = context;
    mem->type = type;
    mem->flags = flags & ACCESS_FLAGS ? flags : flags | CL_MEM_READ_WRITE;
    return mem;
}

static void free_mappings(cl_mem mem)
{
    while (mem->mappings) {
        ocl_mapping *one = mem->mappings;
        mem->mappings = one->next;
        if (one->is_own)
            free(one->pointer);
        free(one);
    }
}

void ocl_mem_release(cl_mem mem)
{
    cl_context context = mem->context;
    cl_mem parent = mem->parent;
    if (!ocl_drop(mem))
        return;
    while (mem->destructors) {
        ocl_callback *one = mem->destructors;
        mem->destructors = one->next;
        ((mem_destructor)(uintptr_t)one->function)(mem, one->user_data);
        free(one);
    }
    free_mappings(mem);
    if (mem->type != CL_MEM_OBJECT_BUFFER)
        ocl_image_fini(mem);
    if (!parent && !mem->is_svm)
        ocl_gpu_free(context, mem->address);
    free(mem->properties);
    ocl_unwatch(mem);
    if (parent)
        ocl_mem_release(parent);
    ocl_context_release(context);
}

cl_int clRetainMemObject(cl_mem mem)
{
    if (!ocl_is(mem, OCL_MEM))
        return CL_INVALID_MEM_OBJECT;
    ocl_retain(mem);
    return CL_SUCCESS;
}

cl_int clReleaseMemObject(cl_mem mem)
{
    if (!ocl_is(mem, OCL_MEM))
        return CL_INVALID_MEM_OBJECT;
    ocl_mem_release(mem);
    return CL_SUCCESS;
}

cl_int clSetMemObjectDestructorCallback(cl_mem mem, mem_destructor function, void *user_data)
{
    if (!ocl_is(mem, OCL_MEM))
        return CL_INVALID_MEM_OBJECT;
    if (!function)
        return CL_INVALID_VALUE;
    return ocl_callback_add(&mem->destructors, (void *)(uintptr_t)function, user_data);
}

cl_int clGetMemObjectInfo(cl_mem mem, cl_mem_info what, size_t room, void *value, size_t *size_ret)
{
    const ocl_answer *to = OCL_ANSWER(room, value, size_ret);
    cl_uint maps;
    if (!ocl_is(mem, OCL_MEM))
        return CL_INVALID_MEM_OBJECT;
    switch (what) {
    case CL_MEM_TYPE:
        OCL_GIVE(to, cl_mem_object_type, mem->type);
    case CL_MEM_FLAGS:
        OCL_GIVE(to, cl_mem_flags, mem->flags);
    case CL_MEM_SIZE:
        OCL_GIVE(to, size_t, mem->bytes);
    case CL_MEM_HOST_PTR:
        OCL_GIVE(to, void *, mem->host_ptr);
    case CL_MEM_MAP_COUNT:
        pthread_mutex_lock(&ocl.lock);
        maps = mem->map_count;
        pthread_mutex_unlock(&ocl.lock);
        return ocl_give(to, &maps, sizeof maps);
    case CL_MEM_REFERENCE_COUNT:
        OCL_GIVE(to, cl_uint, ocl_references(mem));
    case CL_MEM_CONTEXT:
        OCL_GIVE(to, cl_context, mem->context);
    case CL_MEM_ASSOCIATED_MEMOBJECT:
        OCL_GIVE(to, cl_mem, mem->parent);
    case CL_MEM_OFFSET:
        OCL_GIVE(to, size_t, mem->origin);
    case CL_MEM_USES_SVM_POINTER:
        OCL_GIVE(to, cl_bool, mem->is_svm ? CL_TRUE : CL_FALSE);
    case CL_MEM_PROPERTIES:
        return ocl_give(to, mem->properties, mem->property_count * sizeof *mem->properties);
    default:
        return CL_INVALID_VALUE;
    }
}

/* ------------------------------------------------------------------------------------------------ buffers */

static cl_int give_storage(cl_mem buffer, void *host_ptr)
{
    ls_error err;
    cl_int status = CL_SUCCESS;
    if (buffer->flags & CL_MEM_USE_HOST_PTR) {
        buffer->host_ptr = host_ptr;
        buffer->is_svm = ocl_svm_find(buffer->context, host_ptr, buffer->bytes);
        if (!buffer->is_svm && ocl_svm_find(buffer->context, host_ptr, 0))
            return CL_INVALID_BUFFER_SIZE; /* it ends behind the allocation */
    }
    if (buffer->is_svm) {
        buffer->address = (uintptr_t)host_ptr;
        return CL_SUCCESS;
    }
    buffer->is_pinned = (buffer->flags & CL_MEM_ALLOC_HOST_PTR) != 0 && ls_gpu_system_is_timed(ocl.system) &&
                        ls_gpu_system_has_host(ocl.system);
    if (buffer->is_pinned)
        status = ocl_code_of(ls_gpu_alloc_host(buffer->context->gpu, buffer->bytes, &buffer->address, &err),
                             CL_MEM_OBJECT_ALLOCATION_FAILURE);
    else
        status = ocl_gpu_alloc(buffer->context, buffer->bytes, &buffer->address);
    if (status == CL_SUCCESS && host_ptr)
        status =
            ocl_code_of(ls_gpu_copy_in(buffer->context->gpu, buffer->address, host_ptr, buffer->bytes, &err),
                        CL_OUT_OF_RESOURCES);
    return status;
}

static cl_int create_buffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host_ptr, cl_mem *out)
{
    cl_ulong most = 0;
    cl_int status;
    cl_mem buffer;
    if (!ocl_is(context, OCL_CONTEXT))
        return CL_INVALID_CONTEXT;
    status = ocl_check_mem_flags(flags, host_ptr);
    if (status != CL_SUCCESS)
        return status;
    for (cl_uint i = 0; i < context->device_count; i++) {
        cl_ulong of_device;
        clGetDeviceInfo(context->devices[i], CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof of_device, &of_device, NULL);
        most = of_device > most ? of_device : most;
    }
    if (bytes == 0 || bytes > most)
        return CL_INVALID_BUFFER_SIZE;
    buffer = ocl_mem_create(context, CL_MEM_OBJECT_BUFFER, flags);
    if (!buffer)
        return CL_OUT_OF_HOST_MEMORY;
    buffer->bytes = bytes;
    status = give_storage(buffer, host_ptr);
    if (status == CL_SUCCESS)
        *out = buffer;
    else
        ocl_mem_release(buffer);
    return status;
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host_ptr, cl_int *error)
{
    cl_mem buffer = NULL;
    cl_int status = create_buffer(context, flags, bytes, host_ptr, &buffer);
    if (error)
        *error = status;
    return buffer;
}

/* No property is defined yet: only an empty list is valid, and is remembered. */
cl_mem clCreateBufferWithProperties(cl_context context, const cl_mem_properties *properties,
                                    cl_mem_flags flags, size_t bytes, void *host_ptr, cl_int *error)
{
    cl_mem buffer = NULL;
    cl_int status = !ocl_is(context, OCL_CONTEXT) ? CL_INVALID_CONTEXT
                    : properties && properties[0] ? CL_INVALID_PROPERTY
                                                  : create_buffer(context, flags, bytes, host_ptr, &buffer);
    if (status == CL_SUCCESS && properties) {
        buffer->properties = calloc(1, sizeof *buffer->properties);
        buffer->property_count = buffer->properties ? 1 : 0;
    }
    if (error)
        *error = status;
    return buffer;
}

/* -------------------------------------------------------------------------------------------- sub-buffers */

/* Flags that a sub-buffer inherits from its parent or must not have. */
static cl_int inherit_flags(cl_mem parent, cl_mem_flags *flags)
{
    const cl_mem_flags of = parent->flags;
    if (*flags & ~(cl_mem_flags)(ACCESS_FLAGS | HOST_ACCESS_FLAGS))
        return CL_INVALID_VALUE;
    if (!is_at_most_one(*flags & ACCESS_FLAGS) || !is_at_most_one(*flags & HOST_ACCESS_FLAGS))
        return CL_INVALID_VALUE;
    if (((of & CL_MEM_WRITE_ONLY) && (*flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY))) ||
        ((of & CL_MEM_READ_ONLY) && (*flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY))) ||
        ((of & CL_MEM_HOST_WRITE_ONLY) && (*flags & CL_MEM_HOST_READ_ONLY)) ||
        ((of & CL_MEM_HOST_READ_ONLY) && (*flags & CL_MEM_HOST_WRITE_ONLY)) ||
        ((of & CL_MEM_HOST_NO_ACCESS) && (*flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY))))
        return CL_INVALID_VALUE;
    if (!(*flags & ACCESS_FLAGS))
        *flags |= of & ACCESS_FLAGS;
    if (!(*flags & HOST_ACCESS_FLAGS))
        *flags |= of & HOST_ACCESS_FLAGS;
    *flags |= of & HOST_FLAGS;
    return CL_SUCCESS;
}

static cl_int create_sub_buffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type,
                                const void *info, cl_mem *out)
{
    const cl_buffer_region *region = info;
    cl_mem sub;
    cl_int status;
    if (!ocl_is(parent, OCL_MEM) || parent->type != CL_MEM_OBJECT_BUFFER || parent->parent)
        return CL_INVALID_MEM_OBJECT;
    status = inherit_flags(parent, &flags);
    if (status != CL_SUCCESS)
        return status;
    if (type != CL_BUFFER_CREATE_TYPE_REGION || !region)
        return CL_INVALID_VALUE;
    if (region->size == 0)
        return CL_INVALID_BUFFER_SIZE;
    if (region->origin > parent->bytes || region->size > parent->bytes - region->origin)
        return CL_INVALID_VALUE;
    if (region->origin % SUB_BUFFER_ALIGN != 0)
        return CL_MISALIGNED_SUB_BUFFER_OFFSET;
    sub = ocl_mem_create(parent->context, CL_MEM_OBJECT_BUFFER, flags);
    if (!sub)
        return CL_OUT_OF_HOST_MEMORY;
    ocl_retain(parent);
    sub->parent = parent;
    sub->origin = region->origin;
    sub->bytes = region->size;
    sub->address = parent->address + region->origin;
    sub->is_svm = parent->is_svm;
    sub->host_ptr = parent->host_ptr ? (char *)parent->host_ptr + region->origin : NULL;
    *out = sub;
    return CL_SUCCESS;
}

cl_mem clCreateSubBuffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type, const void *info,
                         cl_int *error)
{
    cl_mem sub = NULL;
    cl_int status = create_sub_buffer(parent, flags, type, info, &sub);
    if (error)
        *error = status;
    return sub;
}
