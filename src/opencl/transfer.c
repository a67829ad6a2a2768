/* transfer.c: reading, writing, copying and filling buffers. */
#include "opencl/transfer.h"

#include "opencl/ending.h"

#include <stdlib.h>

/* -------------------------------------------------------------------------------------------------- boxes */

static ls_status copy_run(ls_gpu_context *gpu, const ocl_box *to, size_t to_offset, const ocl_box *from,
                          size_t from_offset, size_t bytes, ls_error *err)
{
    if (to->host && ocl_host_is_gone((char *)to->host + to_offset, bytes))
        return LS_OK; /* the data has no reader left */
    if (from->host && ocl_host_is_gone((const char *)from->host + from_offset, bytes))
        return LS_ERR_INPUT; /* silently: no later command runs, and no thread waits for it */
    if (to->host && from->host) {
        memmove((char *)to->host + to_offset, (const char *)from->host + from_offset, bytes);
        return LS_OK;
    }
    if (to->host)
        return ls_gpu_copy_out(gpu, (char *)to->host + to_offset, from->address + from_offset, bytes, err);
    if (from->host)
        return ls_gpu_copy_in(gpu, to->address + to_offset, (const char *)from->host + from_offset, bytes,
                              err);
    return ls_gpu_copy(gpu, to->address + to_offset, from->address + from_offset, bytes, err);
}

/* Rows and slices that are contiguous on both sides become one. */
static void join(const ocl_box *to, const ocl_box *from, size_t region[3])
{
    if (region[0] == to->row_pitch && region[0] == from->row_pitch) {
        region[0] *= region[1];
        region[1] = 1;
        if (region[0] == to->slice_pitch && region[0] == from->slice_pitch) {
            region[0] *= region[2];
            region[2] = 1;
        }
    }
}

ls_status ocl_box_copy(ls_gpu_context *gpu, const ocl_box *to, const ocl_box *from, const size_t region[3],
                       ls_error *err)
{
    size_t joined[3] = { region[0], region[1], region[2] };
    join(to, from, joined);
    size_t bytes = joined[0], rows = joined[1], slices = joined[2];
    ls_status status = LS_OK;
    for (size_t z = 0; z < slices && status == LS_OK; z++)
        for (size_t y = 0; y < rows && status == LS_OK; y++)
            status = copy_run(gpu, to, z * to->slice_pitch + y * to->row_pitch, from,
                              z * from->slice_pitch + y * from->row_pitch, bytes, err);
    return status;
}

/* ----------------------------------------------------------------------------------------------- commands */

/* The program's memory is touched only while it surely is there: when the command begins and when it is over.
 * Between these the driver works with a copy. */
static cl_int begin_transfer(cl_event command, ls_gpu_queue *queue, ls_gpu_event **under_way, ls_error *err)
{
    ocl_transfer *t = ocl_payload(command);
    ls_status status;
    size_t joined[3] = { t->region[0], t->region[1], t->region[2] };
    join(&t->to, &t->from, joined);
    size_t bytes = joined[0];
    if (bytes == 0 || joined[1] != 1 || joined[2] != 1 || (t->to.host && t->from.host))
        return CL_SUCCESS;
    if (t->to.host || t->from.host) {
        t->copy = malloc(bytes);
        if (!t->copy)
            return CL_SUCCESS;
    }
    if (t->to.host) {
        status = ls_gpu_queue_copy_out(queue, t->copy, t->from.address, bytes, under_way, err);
    } else if (t->from.host) {
        memcpy(t->copy, t->from.host, bytes);
        status = ls_gpu_queue_copy_in(queue, t->to.address, t->copy, bytes, under_way, err);
    } else {
        status = ls_gpu_queue_copy(queue, t->to.address, t->from.address, bytes, under_way, err);
    }
    if (status != LS_OK)
        free(t->copy);
    return ocl_code_of(status, CL_OUT_OF_RESOURCES);
}

static ls_status end_transfer(cl_event command, const ocl_transfer *t, ls_error *err)
{
    size_t bytes = t->region[0] * t->region[1] * t->region[2];
    ls_status status = ls_gpu_event_wait(command->under_way, err);
    if (status == LS_OK && t->to.host && !ocl_host_is_gone(t->to.host, bytes))
        memcpy(t->to.host, t->copy, bytes);
    free(t->copy);
    return status;
}

static cl_int run_transfer(cl_event command, ls_error *err)
{
    ocl_transfer *t = ocl_payload(command);
    ls_status status = command->under_way
                           ? end_transfer(command, t, err)
                           : ocl_box_copy(command->context->gpu, &t->to, &t->from, t->region, err);
    command->cost_ns = ocl_copy_ns((uint64_t)t->region[0] * t->region[1] * t->region[2]);
    return ocl_code_of(status, CL_OUT_OF_RESOURCES);
}

cl_int ocl_transfer_submit(cl_command_queue queue, cl_command_type type, const ocl_transfer *transfer,
                           cl_mem a, cl_mem b, const ocl_order *order)
{
    cl_event command = ocl_command_create(queue, type, run_transfer, sizeof *transfer);
    if (!command)
        return CL_OUT_OF_HOST_MEMORY;
    memcpy(command->payload, transfer, sizeof *transfer);
    command->begin = begin_transfer;
    ocl_command_hold(command, a);
    ocl_command_hold(command, b);
    return ocl_command_submit(command, order->wait_count, order->wait_list, order->is_blocking, order->event);
}

/* ------------------------------------------------------------------------------------------------- checks */

cl_int ocl_check_buffer(cl_command_queue queue, cl_mem buffer)
{
    if (!ocl_is(buffer, OCL_MEM) || buffer->type != CL_MEM_OBJECT_BUFFER)
        return CL_INVALID_MEM_OBJECT;
    return buffer->context == queue->context ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

cl_int ocl_check_host_read(cl_mem mem)
{
    return mem->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS) ? CL_INVALID_OPERATION : CL_SUCCESS;
}

cl_int ocl_check_host_write(cl_mem mem)
{
    return mem->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS) ? CL_INVALID_OPERATION : CL_SUCCESS;
}

static bool is_inside(cl_mem buffer, size_t offset, size_t bytes)
{
    return offset <= buffer->bytes && bytes <= buffer->bytes - offset;
}

/* --------------------------------------------------------------------------------------- reads and writes */

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool is_blocking, size_t offset,
                           size_t bytes, void *to, cl_uint wait_count, const cl_event *wait_list,
                           cl_event *event)
{
    const ocl_order order = { is_blocking != CL_FALSE, wait_count, wait_list, event };
    cl_int status = ocl_check_enqueue(queue, wait_count, wait_list);
    ocl_transfer t = { .region = { bytes, 1, 1 } };
    if (status == CL_SUCCESS)
        status = ocl_check_buffer(queue, buffer);
    if (status == CL_SUCCESS && (!to || !is_inside(buffer, offset, bytes)))
        status = CL_INVALID_VALUE;
    if (status == CL_SUCCESS)
        status = ocl_check_host_read(buffer);
    if (status != CL_SUCCESS)
        return status;
    t.from.address = buffer->address + offset;
    t.to.host = to;
    return ocl_transfer_submit(queue, CL_COMMAND_READ_BUFFER, &t, buffer, NULL, &order);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool is_blocking, size_t offset,
                            size_t bytes, const void *from, cl_uint wait_count, const cl_event *wait_list,
                            cl_event *event)
{
    const ocl_order order = { is_blocking != CL_FALSE, wait_count, wait_list, event };
    cl_int status = ocl_check_enqueue(queue, wait_count, wait_list);
    ocl_transfer t = { .region = { bytes, 1, 1 } };
    if (status == CL_SUCCESS)
        status = ocl_check_buffer(queue, buffer);
    if (status == CL_SUCCESS && (!from || !is_inside(buffer, offset, bytes)))
        status = CL_INVALID_VALUE;
    if (status == CL_SUCCESS)
        status = ocl_check_host_write(buffer);
    if (status != CL_SUCCESS)
        return status;
    t.to.address = buffer->address + offset;
    t.from.host = (void *)(uintptr_t)from;
    return ocl_transfer_submit(queue, CL_COMMAND_WRITE_BUFFER, &t, buffer, NULL, &order);
}

cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                           size_t to_offset, size_t bytes, cl_uint wait_count, const cl_event *wait_list,
                           cl_event *event)
{
    const ocl_order order = { false, wait_count, wait_list, event };
    cl_int status = ocl_check_enqueue(queue, wait_count, wait_list);
    ocl_transfer t = { .region = { bytes, 1, 1 } };
    if (status == CL_SUCCESS)
        status = ocl_check_buffer(queue, from);
    if (status == CL_SUCCESS)
        status = ocl_check_buffer(queue, to);
    if (status == CL_SUCCESS && (!is_inside(from, from_offset, bytes) || !is_inside(to, to_offset, bytes)))
        status = CL_INVALID_VALUE;
    if (status != CL_SUCCESS)
        return status;
    t.from.address = from->address + from_offset;
    t.to.address = to->address + to_offset;
    if (t.from.address < t.to.address + bytes && t.to.address < t.from.address + bytes)
        return CL_MEM_COPY_OVERLAP; /* sub-buffers of one buffer too */
    return ocl_transfer_submit(queue, CL_COMMAND_COPY_BUFFER, &t, from, to, &order);
}

/* ------------------------------------------------------------------------------------------------ filling */

typedef struct fill {
    ls_gpu_address to;
    size_t bytes, pattern_bytes;
    unsigned char pattern[128];
} fill;

static cl_int begin_fill(cl_event command, ls_gpu_queue *queue, ls_gpu_event **under_way, ls_error *err)
{
    fill *f = ocl_payload(command);
    ls_status status = ls_gpu_queue_fill(queue, f->to, f->pattern, f->pattern_bytes, f->bytes, under_way, err);
    return ocl_code_of(status, CL_OUT_OF_RESOURCES);
}

static cl_int run_fill(cl_event command, ls_error *err)
{
    fill *f = ocl_payload(command);
    ls_status status = command->under_way ? ls_gpu_event_wait(command->under_way, err)
                                          : ls_gpu_fill(command->context->gpu, f->to, f->pattern,
                                                        f->pattern_bytes, f->bytes, err);
    command->cost_ns = ocl_copy_ns(f->bytes);
    return ocl_code_of(status, CL_OUT_OF_RESOURCES);
}

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_bytes,
                           size_t offset, size_t bytes, cl_uint wait_count, const cl_event *wait_list,
                           cl_event *event)
{
    cl_int status = ocl_check_enqueue(queue, wait_count, wait_list);
    cl_event command;
    fill *f;
    if (status == CL_SUCCESS)
        status = ocl_check_buffer(queue, buffer);
    if (status == CL_SUCCESS && (!is_inside(buffer, offset, bytes) || !pattern || pattern_bytes == 0 ||
                                 pattern_bytes > 128 || (pattern_bytes & (pattern_bytes - 1)) != 0 ||
                                 offset % pattern_bytes != 0 || bytes % pattern_bytes != 0))
        status = CL_INVALID_VALUE;
    if (status != CL_SUCCESS)
        return status;
    command = ocl_command_create(queue, CL_COMMAND_FILL_BUFFER, run_fill, sizeof *f);
    if (!command)
        return CL_OUT_OF_HOST_MEMORY;
    f = ocl_payload(command);
    command->begin = bytes > 0 ? begin_fill : NULL;
    f->to = buffer->address + offset;
    f->bytes = bytes;
    f->pattern_bytes = pattern_bytes;
    memcpy(f->pattern, pattern, pattern_bytes);
    ocl_command_hold(command, buffer);
    return ocl_command_submit(command, wait_count, wait_list, false, event);
}
