/* place.c: the extension cl_lockstep_placement (lockstep/cl_placement.h). */
#include "opencl/place.h"

typedef struct placement {
    ls_gpu_address address;
    uint64_t bytes;
} placement;

static cl_int run_place(cl_event command, ls_error *err)
{
    const placement *p = ocl_payload(command);
    ls_status status =
        ls_gpu_place(command->context->gpu, p->address, p->bytes, command->queue->device->gpu, err);
    return ocl_code_of(status, CL_MEM_OBJECT_ALLOCATION_FAILURE);
}

static bool is_whole_buffer(cl_mem buffer)
{
    return ocl_is(buffer, OCL_MEM) && buffer->type == CL_MEM_OBJECT_BUFFER && !buffer->parent &&
           !buffer->is_svm && !buffer->is_pinned;
}

cl_int clEnqueuePlaceBufferLOCKSTEP(cl_command_queue queue, cl_mem buffer, size_t offset, size_t bytes,
                                    cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    uint64_t page = ls_gpu_page_bytes(ocl.system);
    cl_int status = ocl_check_enqueue(queue, wait_count, wait_list);
    if (status != CL_SUCCESS)
        return status;
    if (!is_whole_buffer(buffer))
        return CL_INVALID_MEM_OBJECT;
    if (buffer->context != queue->context)
        return CL_INVALID_CONTEXT;
    bool at_end = bytes <= buffer->bytes && offset == buffer->bytes - bytes;
    if (bytes == 0 || offset > buffer->bytes || bytes > buffer->bytes - offset || offset % page != 0 ||
        (bytes % page != 0 && !at_end))
        return CL_INVALID_VALUE;
    cl_event command = ocl_command_create(queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, run_place, sizeof(placement));
    if (!command)
        return CL_OUT_OF_HOST_MEMORY;
    placement *p = ocl_payload(command);
    p->address = buffer->address + offset;
    p->bytes = (bytes + page - 1) / page * page;
    ocl_command_hold(command, buffer);
    return ocl_command_submit(command, wait_count, wait_list, false, event);
}

cl_int clGetBufferPlaceLOCKSTEP(cl_mem buffer, size_t offset, cl_device_id *device, size_t *page_bytes)
{
    if (!is_whole_buffer(buffer))
        return CL_INVALID_MEM_OBJECT;
    if (offset >= buffer->bytes)
        return CL_INVALID_VALUE;
    size_t gpu = ls_gpu_place_of(buffer->context->gpu, buffer->address + offset);
    for (cl_uint i = 0; device && i < ocl.device_count; i++)
        if (ocl.devices[i].gpu == gpu || ocl.devices[i].gpu == ls_gpu_system_unified(ocl.system))
            *device = &ocl.devices[i];
    if (page_bytes)
        *page_bytes = (size_t)ls_gpu_page_bytes(ocl.system);
    return CL_SUCCESS;
}
