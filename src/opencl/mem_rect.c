/* mem_rect.c: reading, writing and copying boxes of buffers. */
#include "opencl/transfer.h"

/* A box as the three functions describe it. */
typedef struct rect {
    size_t origin[3], row_pitch, slice_pitch;
} rect;

static rect rect_of(const size_t origin[3], const size_t region[3], size_t row_pitch, size_t slice_pitch)
{
    rect r = { .row_pitch = row_pitch ? row_pitch : region[0] };
    memcpy(r.origin, origin, sizeof r.origin);
    r.slice_pitch = slice_pitch ? slice_pitch : region[1] * r.row_pitch;
    return r;
}

static size_t rect_offset(const rect *r)
{
    return r->origin[2] * r->slice_pitch + r->origin[1] * r->row_pitch + r->origin[0];
}

static bool is_shape(const rect *r, const size_t region[3])
{
    size_t slice;
    if (region[0] == 0 || region[1] == 0 || region[2] == 0 || r->row_pitch < region[0])
        return false;
    return !__builtin_mul_overflow(region[1], r->row_pitch, &slice) && r->slice_pitch >= slice &&
           r->slice_pitch % r->row_pitch == 0;
}

/* Whether the last byte of the box lies in the buffer; nothing wraps around. */
static bool is_inside(const rect *r, const size_t region[3], size_t bytes)
{
    size_t z, y, x, end;
    if (__builtin_add_overflow(r->origin[2], region[2] - 1, &z) ||
        __builtin_add_overflow(r->origin[1], region[1] - 1, &y) ||
        __builtin_add_overflow(r->origin[0], region[0], &x))
        return false;
    return !__builtin_mul_overflow(z, r->slice_pitch, &z) && !__builtin_mul_overflow(y, r->row_pitch, &y) &&
           !__builtin_add_overflow(z, y, &end) && !__builtin_add_overflow(end, x, &end) && end <= bytes;
}

/* --------------------------------------------------------------------------------------- reads and writes */

static cl_int host_rect(cl_command_queue queue, cl_mem buffer, bool is_read, const size_t *buffer_origin,
                        const size_t *host_origin, const size_t *region, const size_t pitches[4], void *host,
                        const ocl_order *order)
{
    cl_int status = ocl_check_enqueue(queue, order->wait_count, order->wait_list);
    ocl_transfer t = { 0 };
    ocl_box device, program;
    rect b, h;
    if (status == CL_SUCCESS)
        status = ocl_check_buffer(queue, buffer);
    if (status == CL_SUCCESS && (!host || !buffer_origin || !host_origin || !region))
        status = CL_INVALID_VALUE;
    if (status != CL_SUCCESS)
        return status;
    b = rect_of(buffer_origin, region, pitches[0], pitches[1]);
    h = rect_of(host_origin, region, pitches[2], pitches[3]);
    if (!is_shape(&b, region) || !is_shape(&h, region) || !is_inside(&b, region, buffer->bytes))
        return CL_INVALID_VALUE;
    status = is_read ? ocl_check_host_read(buffer) : ocl_check_host_write(buffer);
    if (status != CL_SUCCESS)
        return status;
    device = (ocl_box){ buffer->address + rect_offset(&b), NULL, b.row_pitch, b.slice_pitch };
    program = (ocl_box){ 0, (char *)host + rect_offset(&h), h.row_pitch, h.slice_pitch };
    t.to = is_read ? program : device;
    t.from = is_read ? device : program;
    memcpy(t.region, region, sizeof t.region);
    return ocl_transfer_submit(queue, is_read ? CL_COMMAND_READ_BUFFER_RECT : CL_COMMAND_WRITE_BUFFER_RECT, &t,
                               buffer, NULL, order);
}

cl_int clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool is_blocking,
                               const size_t *buffer_origin, const size_t *host_origin, const size_t *region,
                               size_t buffer_row_pitch, size_t buffer_slice_pitch, size_t host_row_pitch,
                               size_t host_slice_pitch, void *to, cl_uint wait_count,
                               const cl_event *wait_list, cl_event *event)
{
    const ocl_order order = { is_blocking != CL_FALSE, wait_count, wait_list, event };
    const size_t pitches[4] = { buffer_row_pitch, buffer_slice_pitch, host_row_pitch, host_slice_pitch };
    return host_rect(queue, buffer, true, buffer_origin, host_origin, region, pitches, to, &order);
}

cl_int clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool is_blocking,
                                const size_t *buffer_origin, const size_t *host_origin, const size_t *region,
                                size_t buffer_row_pitch, size_t buffer_slice_pitch, size_t host_row_pitch,
                                size_t host_slice_pitch, const void *from, cl_uint wait_count,
                                const cl_event *wait_list, cl_event *event)
{
    const ocl_order order = { is_blocking != CL_FALSE, wait_count, wait_list, event };
    const size_t pitches[4] = { buffer_row_pitch, buffer_slice_pitch, host_row_pitch, host_slice_pitch };
    return host_rect(queue, buffer, false, buffer_origin, host_origin, region, pitches,
                     (void *)(uintptr_t)from, &order);
}

/* ------------------------------------------------------------------------------------------------- copies */

/* Whether two boxes of the same memory share a byte. With equal pitches they are boxes of one grid, which is
 * exact unless a row runs over the end of its pitch; with different ones the whole extents decide. */
static bool overlaps(const rect *a, uint64_t a_base, const rect *b, uint64_t b_base, const size_t region[3])
{
    uint64_t a_start = a_base + rect_offset(a), b_start = b_base + rect_offset(b);
    uint64_t a_end = a_start + (region[2] - 1) * a->slice_pitch + (region[1] - 1) * a->row_pitch + region[0];
    uint64_t b_end = b_start + (region[2] - 1) * b->slice_pitch + (region[1] - 1) * b->row_pitch + region[0];
    uint64_t distance = a_start < b_start ? b_start - a_start : a_start - b_start;
    uint64_t dz, dy, dx;
    if (a_end <= b_start || b_end <= a_start)
        return false;
    if (a->row_pitch != b->row_pitch || a->slice_pitch != b->slice_pitch)
        return true;
    dz = distance / a->slice_pitch;
    dy = distance % a->slice_pitch / a->row_pitch;
    dx = distance % a->row_pitch;
    /* The nearer box may also be reached from the next row or slice backwards. */
    for (uint64_t carry_y = 0; carry_y < 2; carry_y++)
        for (uint64_t carry_x = 0; carry_x < 2; carry_x++) {
            uint64_t x = carry_x ? a->row_pitch - dx : dx, row = dy + carry_x;
            uint64_t rows = a->slice_pitch / a->row_pitch;
            uint64_t y = carry_y ? (rows > row ? rows - row : 0) : row, z = dz + carry_y;
            if (x < region[0] && y < region[1] && z < region[2])
                return true;
        }
    return false;
}

cl_int clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin,
                               const size_t *to_origin, const size_t *region, size_t from_row_pitch,
                               size_t from_slice_pitch, size_t to_row_pitch, size_t to_slice_pitch,
                               cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    const ocl_order order = { false, wait_count, wait_list, event };
    cl_int status = ocl_check_enqueue(queue, wait_count, wait_list);
    ocl_transfer t = { 0 };
    rect a, b;
    if (status == CL_SUCCESS)
        status = ocl_check_buffer(queue, from);
    if (status == CL_SUCCESS)
        status = ocl_check_buffer(queue, to);
    if (status == CL_SUCCESS && (!from_origin || !to_origin || !region))
        status = CL_INVALID_VALUE;
    if (status != CL_SUCCESS)
        return status;
    a = rect_of(from_origin, region, from_row_pitch, from_slice_pitch);
    b = rect_of(to_origin, region, to_row_pitch, to_slice_pitch);
    if (!is_shape(&a, region) || !is_shape(&b, region) || !is_inside(&a, region, from->bytes) ||
        !is_inside(&b, region, to->bytes))
        return CL_INVALID_VALUE;
    if (from == to && (a.row_pitch != b.row_pitch || a.slice_pitch != b.slice_pitch))
        return CL_INVALID_VALUE;
    if (overlaps(&a, from->address, &b, to->address, region))
        return CL_MEM_COPY_OVERLAP;
    t.from = (ocl_box){ from->address + rect_offset(&a), NULL, a.row_pitch, a.slice_pitch };
    t.to = (ocl_box){ to->address + rect_offset(&b), NULL, b.row_pitch, b.slice_pitch };
    memcpy(t.region, region, sizeof t.region);
    return ocl_transfer_submit(queue, CL_COMMAND_COPY_BUFFER_RECT, &t, from, to, &order);
}
