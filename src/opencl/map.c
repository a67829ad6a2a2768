/* map.c: mapping: the program gets a host address for a part of a memory object. The bytes are copied when
 * the map command runs, and back when it is unmapped, if it was mapped for writing. */
#include "opencl/transfer.h"

#include <stdlib.h>

#define MAP_FLAGS (CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)
#define MAP_ALIGN 128u /* for every type of OpenCL C */

/* ----------------------------------------------------------------------------------------------- mappings */

cl_int ocl_mapping_add(cl_mem mem, const ocl_mapping *mapping, ocl_mapping **out)
{
    ocl_mapping *one = malloc(sizeof *one);
    if (!one)
        return CL_OUT_OF_HOST_MEMORY;
    *one = *mapping;
    pthread_mutex_lock(&ocl.lock);
    one->next = mem->mappings;
    mem->mappings = one;
    mem->map_count++;
    pthread_mutex_unlock(&ocl.lock);
    *out = one;
    return CL_SUCCESS;
}

ocl_mapping *ocl_mapping_take(cl_mem mem, void *pointer)
{
    ocl_mapping **link, *found = NULL;
    pthread_mutex_lock(&ocl.lock);
    for (link = &mem->mappings; *link; link = &(*link)->next)
        if ((*link)->pointer == pointer) {
            found = *link;
            *link = found->next;
            mem->map_count--;
            break;
        }
    pthread_mutex_unlock(&ocl.lock);
    return found;
}

static void drop_mapping(ocl_mapping *mapping)
{
    if (mapping->is_own)
        free(mapping->pointer);
    free(mapping);
}

/* ------------------------------------------------------------------------------------------------ mapping */

/* Overlapping maps of one buffer must show the same bytes at the same address if the buffer uses the program's
 * memory. Otherwise each mapping has its own memory, as the standard allows for objects without host
 * memory. */
static cl_int place_mapping(cl_mem buffer, size_t offset, size_t bytes, cl_map_flags flags, ocl_mapping **out)
{
    ocl_mapping mapping = { .flags = flags, .origin = { offset }, .region = { bytes, 1, 1 }, .bytes = bytes };
    size_t room = (bytes + MAP_ALIGN - 1) / MAP_ALIGN * MAP_ALIGN;
    cl_int status;
    mapping.is_own = !buffer->host_ptr;
    mapping.pointer = mapping.is_own ? aligned_alloc(MAP_ALIGN, room) : (char *)buffer->host_ptr + offset;
    if (!mapping.pointer)
        return CL_MAP_FAILURE;
    status = ocl_mapping_add(buffer, &mapping, out);
    if (status != CL_SUCCESS && mapping.is_own)
        free(mapping.pointer);
    return status;
}

static cl_int check_map(cl_command_queue queue, cl_mem buffer, cl_map_flags flags, size_t offset, size_t bytes)
{
    cl_int status = ocl_check_buffer(queue, buffer);
    if (status != CL_SUCCESS)
        return status;
    if (bytes == 0 || offset > buffer->bytes || bytes > buffer->bytes - offset ||
        (flags & ~(cl_map_flags)MAP_FLAGS) ||
        ((flags & CL_MAP_WRITE_INVALIDATE_REGION) && (flags & (CL_MAP_READ | CL_MAP_WRITE))))
        return CL_INVALID_VALUE;
    if (flags & CL_MAP_READ)
        status = ocl_check_host_read(buffer);
    if (status == CL_SUCCESS && (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)))
        status = ocl_check_host_write(buffer);
    return status;
}

static cl_int map_buffer(cl_command_queue queue, cl_mem buffer, cl_map_flags flags, size_t offset,
                         size_t bytes, const ocl_order *order, void **out)
{
    cl_int status = ocl_check_enqueue(queue, order->wait_count, order->wait_list);
    ocl_transfer t = { .region = { bytes, 1, 1 } };
    ocl_mapping *mapping;
    void *pointer;
    if (status == CL_SUCCESS)
        status = check_map(queue, buffer, flags, offset, bytes);
    if (status == CL_SUCCESS)
        status = place_mapping(buffer, offset, bytes, flags, &mapping);
    if (status != CL_SUCCESS)
        return status;
    pointer = mapping->pointer;
    t.from.address = buffer->address + offset;
    t.to.host = pointer;
    if (flags & CL_MAP_WRITE_INVALIDATE_REGION)
        t.region[1] = 0; /* the bytes before do not matter */
    status = ocl_transfer_submit(queue, CL_COMMAND_MAP_BUFFER, &t, buffer, NULL, order);
    if (status == CL_SUCCESS)
        *out = pointer;
    else if ((mapping = ocl_mapping_take(buffer, pointer)))
        drop_mapping(mapping);
    return status;
}

void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool is_blocking, cl_map_flags flags,
                         size_t offset, size_t bytes, cl_uint wait_count, const cl_event *wait_list,
                         cl_event *event, cl_int *error)
{
    const ocl_order order = { is_blocking != CL_FALSE, wait_count, wait_list, event };
    void *pointer = NULL;
    cl_int status = map_buffer(queue, buffer, flags, offset, bytes, &order, &pointer);
    if (error)
        *error = status;
    return pointer;
}

/* ---------------------------------------------------------------------------------------------- unmapping */

typedef struct unmap {
    cl_mem mem;
    ocl_mapping *mapping;
} unmap;

static cl_int run_unmap(cl_event command, ls_error *err)
{
    unmap *u = ocl_payload(command);
    const ocl_mapping *m = u->mapping;
    const ocl_box to = { .address = u->mem->address + m->origin[0] }, from = { .host = m->pointer };
    ls_status status = LS_OK;
    if ((m->flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) == 0)
        return CL_SUCCESS;
    if (u->mem->type == CL_MEM_OBJECT_BUFFER)
        status = ocl_box_copy(command->context->gpu, &to, &from, (const size_t[]){ m->bytes, 1, 1 }, err);
    else
        status = ocl_image_unmap(u->mem, m, err);
    command->cost_ns = ocl_copy_ns(m->bytes);
    return ocl_code_of(status, CL_OUT_OF_RESOURCES);
}

static void finish_unmap(cl_event command)
{
    drop_mapping(((unmap *)ocl_payload(command))->mapping);
}

cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem mem, void *pointer, cl_uint wait_count,
                               const cl_event *wait_list, cl_event *event)
{
    cl_int status = ocl_check_enqueue(queue, wait_count, wait_list);
    cl_event command;
    unmap *u;
    if (status != CL_SUCCESS)
        return status;
    if (!ocl_is(mem, OCL_MEM))
        return CL_INVALID_MEM_OBJECT;
    if (mem->context != queue->context)
        return CL_INVALID_CONTEXT;
    command = ocl_command_create(queue, CL_COMMAND_UNMAP_MEM_OBJECT, run_unmap, sizeof *u);
    if (!command)
        return CL_OUT_OF_HOST_MEMORY;
    u = ocl_payload(command);
    u->mem = mem;
    u->mapping = ocl_mapping_take(mem, pointer);
    if (!u->mapping) {
        ocl_command_discard(command);
        return CL_INVALID_VALUE;
    }
    command->finish = finish_unmap;
    ocl_command_hold(command, mem);
    return ocl_command_submit(command, wait_count, wait_list, false, event);
}
