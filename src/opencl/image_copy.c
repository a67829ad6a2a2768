/* image_copy.c: commands that move texels: read, write, copy, fill, map; also between images and buffers. All
 * but fills are copies of one box of bytes onto another. */
#include "opencl/image_format.h"
#include "opencl/ocl.h"

#include <stdlib.h>

typedef struct box_copy {
    ocl_box to, from;
    size_t region[3]; /* bytes, rows, slices */
} box_copy;

static cl_int run_copy(cl_event command, ls_error *err)
{
    box_copy *c = (box_copy *)command->payload;
    command->cost_ns = ocl_copy_ns((uint64_t)c->region[0] * c->region[1] * c->region[2]);
    return ocl_code_of(ocl_box_copy(command->context->gpu, &c->to, &c->from, c->region, err),
                       CL_OUT_OF_RESOURCES);
}

/* ------------------------------------------------------------------------------------------------- checks */

static bool is_image(cl_mem mem)
{
    return ocl_is(mem, OCL_MEM) && mem->type != CL_MEM_OBJECT_BUFFER && mem->type != CL_MEM_OBJECT_PIPE;
}

static bool has_layers(cl_mem image)
{
    return image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
}

/* The range of origins and regions. The second axis of a 1D array is its layers. */
static void extent(cl_mem image, size_t out[3])
{
    const cl_image_desc *desc = &image->desc;
    out[0] = desc->image_width;
    out[1] = out[2] = 1;
    switch (image->type) {
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
        out[1] = desc->image_array_size;
        break;
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
        out[1] = desc->image_height;
        out[2] = desc->image_array_size;
        break;
    case CL_MEM_OBJECT_IMAGE3D:
        out[1] = desc->image_height;
        out[2] = desc->image_depth;
        break;
    case CL_MEM_OBJECT_IMAGE2D:
        out[1] = desc->image_height;
        break;
    default:
        break;
    }
}

static cl_int check_region(cl_mem image, const size_t *origin, const size_t *region)
{
    size_t size[3];
    if (!origin || !region)
        return CL_INVALID_VALUE;
    extent(image, size);
    for (unsigned i = 0; i < 3; i++)
        if (region[i] == 0 || origin[i] >= size[i] || region[i] > size[i] - origin[i])
            return CL_INVALID_VALUE;
    return CL_SUCCESS;
}

/* Checks that all commands need: the queue, the image, its context, and the region. */
static cl_int check(cl_command_queue queue, cl_mem image, const size_t *origin, const size_t *region,
                    cl_uint wait_count, const cl_event *wait_list)
{
    cl_int code = ocl_check_enqueue(queue, wait_count, wait_list);
    if (code != CL_SUCCESS)
        return code;
    if (!is_image(image))
        return CL_INVALID_MEM_OBJECT;
    return image->context != queue->context ? CL_INVALID_CONTEXT : check_region(image, origin, region);
}

static cl_int check_buffer(cl_command_queue queue, cl_mem buffer, size_t offset, size_t bytes)
{
    if (!ocl_is(buffer, OCL_MEM) || buffer->type != CL_MEM_OBJECT_BUFFER)
        return CL_INVALID_MEM_OBJECT;
    if (buffer->context != queue->context)
        return CL_INVALID_CONTEXT;
    return offset > buffer->bytes || bytes > buffer->bytes - offset ? CL_INVALID_VALUE : CL_SUCCESS;
}

/* -------------------------------------------------------------------------------------------------- boxes */

static ocl_box image_box(cl_mem image, const size_t *origin)
{
    return (ocl_box){ .address = image->address + origin[0] * image->element_bytes +
                                 origin[1] * image->row_pitch + origin[2] * image->slice_pitch,
                      .row_pitch = image->row_pitch,
                      .slice_pitch = image->slice_pitch };
}

static ocl_box tight_box(cl_mem image, const size_t *region, ls_gpu_address address)
{
    size_t row = region[0] * image->element_bytes;
    return (ocl_box){ .address = address, .row_pitch = row, .slice_pitch = row * region[1] };
}

/* Of the program's memory; pitches of 0 mean the smallest. A 1D array has its layers one slice pitch
 * apart. */
static cl_int host_box(cl_mem image, const size_t *region, size_t row_pitch, size_t slice_pitch, void *host,
                       ocl_box *out)
{
    size_t row = region[0] * image->element_bytes;
    if (!host || (row_pitch != 0 && row_pitch < row))
        return CL_INVALID_VALUE;
    *out = (ocl_box){ .host = host, .row_pitch = row_pitch ? row_pitch : row };
    if (has_layers(image)) {
        if (slice_pitch != 0 && slice_pitch < out->row_pitch)
            return CL_INVALID_VALUE;
        out->row_pitch = slice_pitch ? slice_pitch : out->row_pitch;
        out->slice_pitch = out->row_pitch * region[1];
        return CL_SUCCESS;
    }
    if (slice_pitch != 0 && slice_pitch < out->row_pitch * region[1])
        return CL_INVALID_VALUE;
    out->slice_pitch = slice_pitch ? slice_pitch : out->row_pitch * region[1];
    return CL_SUCCESS;
}

static cl_int enqueue(cl_command_queue queue, cl_command_type type, const ocl_box *to, const ocl_box *from,
                      cl_mem image, cl_mem other, const size_t *region, bool is_blocking, cl_uint wait_count,
                      const cl_event *wait_list, cl_event *event)
{
    cl_event command = ocl_command_create(queue, type, run_copy, sizeof(box_copy));
    if (!command)
        return CL_OUT_OF_HOST_MEMORY;
    box_copy *copy = (box_copy *)command->payload;
    copy->to = *to;
    copy->from = *from;
    copy->region[0] = region[0] * image->element_bytes;
    copy->region[1] = region[1];
    copy->region[2] = region[2];
    ocl_command_hold(command, image);
    ocl_command_hold(command, other);
    return ocl_command_submit(command, wait_count, wait_list, is_blocking, event);
}

/* ----------------------------------------------------------------------------------------- read and write */

cl_int clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool is_blocking, const size_t *origin,
                          const size_t *region, size_t row_pitch, size_t slice_pitch, void *ptr,
                          cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    ocl_box host, device;
    cl_int code = check(queue, image, origin, region, wait_count, wait_list);
    if (code == CL_SUCCESS && (image->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)))
        code = CL_INVALID_OPERATION;
    if (code == CL_SUCCESS)
        code = host_box(image, region, row_pitch, slice_pitch, ptr, &host);
    if (code != CL_SUCCESS)
        return code;
    device = image_box(image, origin);
    return enqueue(queue, CL_COMMAND_READ_IMAGE, &host, &device, image, NULL, region, is_blocking, wait_count,
                   wait_list, event);
}

cl_int clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool is_blocking, const size_t *origin,
                           const size_t *region, size_t row_pitch, size_t slice_pitch, const void *ptr,
                           cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    ocl_box host, device;
    cl_int code = check(queue, image, origin, region, wait_count, wait_list);
    if (code == CL_SUCCESS && (image->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)))
        code = CL_INVALID_OPERATION;
    if (code == CL_SUCCESS)
        code = host_box(image, region, row_pitch, slice_pitch, (void *)(uintptr_t)ptr, &host);
    if (code != CL_SUCCESS)
        return code;
    device = image_box(image, origin);
    return enqueue(queue, CL_COMMAND_WRITE_IMAGE, &device, &host, image, NULL, region, is_blocking, wait_count,
                   wait_list, event);
}

/* ------------------------------------------------------------------------------------------------ copies */

static bool overlaps(const size_t *a, const size_t *b, const size_t *region)
{
    for (unsigned i = 0; i < 3; i++)
        if (a[i] >= b[i] + region[i] || b[i] >= a[i] + region[i])
            return false;
    return true;
}

cl_int clEnqueueCopyImage(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin,
                          const size_t *to_origin, const size_t *region, cl_uint wait_count,
                          const cl_event *wait_list, cl_event *event)
{
    cl_int code = ocl_check_enqueue(queue, wait_count, wait_list);
    if (code != CL_SUCCESS)
        return code;
    if (!is_image(from) || !is_image(to))
        return CL_INVALID_MEM_OBJECT;
    if (from->context != queue->context || to->context != queue->context)
        return CL_INVALID_CONTEXT;
    if (from->format.image_channel_order != to->format.image_channel_order ||
        from->format.image_channel_data_type != to->format.image_channel_data_type)
        return CL_IMAGE_FORMAT_MISMATCH;
    code = check_region(from, from_origin, region);
    if (code == CL_SUCCESS)
        code = check_region(to, to_origin, region);
    if (code == CL_SUCCESS && from == to && overlaps(from_origin, to_origin, region))
        code = CL_MEM_COPY_OVERLAP;
    if (code != CL_SUCCESS)
        return code;
    ocl_box source = image_box(from, from_origin), target = image_box(to, to_origin);
    return enqueue(queue, CL_COMMAND_COPY_IMAGE, &target, &source, from, to, region, false, wait_count,
                   wait_list, event);
}

cl_int clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem image, cl_mem buffer, const size_t *origin,
                                  const size_t *region, size_t offset, cl_uint wait_count,
                                  const cl_event *wait_list, cl_event *event)
{
    cl_int code = check(queue, image, origin, region, wait_count, wait_list);
    if (code == CL_SUCCESS)
        code = check_buffer(queue, buffer, offset, region[0] * region[1] * region[2] * image->element_bytes);
    if (code != CL_SUCCESS)
        return code;
    ocl_box from = image_box(image, origin), to = tight_box(image, region, buffer->address + offset);
    return enqueue(queue, CL_COMMAND_COPY_IMAGE_TO_BUFFER, &to, &from, image, buffer, region, false,
                   wait_count, wait_list, event);
}

cl_int clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem buffer, cl_mem image, size_t offset,
                                  const size_t *origin, const size_t *region, cl_uint wait_count,
                                  const cl_event *wait_list, cl_event *event)
{
    cl_int code = check(queue, image, origin, region, wait_count, wait_list);
    if (code == CL_SUCCESS)
        code = check_buffer(queue, buffer, offset, region[0] * region[1] * region[2] * image->element_bytes);
    if (code != CL_SUCCESS)
        return code;
    ocl_box from = tight_box(image, region, buffer->address + offset), to = image_box(image, origin);
    return enqueue(queue, CL_COMMAND_COPY_BUFFER_TO_IMAGE, &to, &from, image, buffer, region, false,
                   wait_count, wait_list, event);
}

/* -------------------------------------------------------------------------------------------------- fills */

typedef struct box_fill {
    ocl_box to;
    size_t region[3];
    uint8_t texel[16];
    size_t texel_bytes;
} box_fill;

static cl_int run_fill(cl_event command, ls_error *err)
{
    box_fill *f = (box_fill *)command->payload;
    ls_gpu_context *gpu = command->context->gpu;
    ls_status status = LS_OK;
    command->cost_ns = ocl_copy_ns((uint64_t)f->region[0] * f->region[1] * f->region[2]);
    for (size_t z = 0; z < f->region[2]; z++)
        for (size_t y = 0; y < f->region[1] && status == LS_OK; y++)
            status = ls_gpu_fill(gpu, f->to.address + z * f->to.slice_pitch + y * f->to.row_pitch, f->texel,
                                 f->texel_bytes, f->region[0], err);
    return ocl_code_of(status, CL_OUT_OF_RESOURCES);
}

cl_int clEnqueueFillImage(cl_command_queue queue, cl_mem image, const void *color, const size_t *origin,
                          const size_t *region, cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    ocl_texel texel;
    uint32_t words[4] = { 0 };
    cl_int code = check(queue, image, origin, region, wait_count, wait_list);
    if (code == CL_SUCCESS && !color)
        code = CL_INVALID_VALUE;
    if (code == CL_SUCCESS)
        code = ocl_texel_find(&image->format, &texel);
    if (code != CL_SUCCESS)
        return code;
    cl_event command = ocl_command_create(queue, CL_COMMAND_FILL_IMAGE, run_fill, sizeof(box_fill));
    if (!command)
        return CL_OUT_OF_HOST_MEMORY;
    box_fill *f = (box_fill *)command->payload;
    /* The color of a depth image is one float. */
    memcpy(words, color, image->format.image_channel_order == CL_DEPTH ? sizeof words[0] : sizeof words);
    f->to = image_box(image, origin);
    f->region[0] = region[0] * image->element_bytes;
    f->region[1] = region[1];
    f->region[2] = region[2];
    f->texel_bytes = ocl_texel_pack(&texel, words, f->texel);
    ocl_command_hold(command, image);
    return ocl_command_submit(command, wait_count, wait_list, false, event);
}

/* --------------------------------------------------------------------------------------------------- maps */

/* Where a mapping is seen by the program, as a box. */
static ocl_box mapped_box(cl_mem image, const ocl_mapping *mapping)
{
    size_t rows = mapping->region[1];
    bool is_array = has_layers(image);
    size_t row = is_array ? mapping->slice_pitch : mapping->row_pitch;
    size_t slice = is_array || mapping->slice_pitch == 0 ? row * rows : mapping->slice_pitch;
    return (ocl_box){ .host = mapping->pointer, .row_pitch = row, .slice_pitch = slice };
}

/* The program's memory where the image was made with it, memory of its own otherwise. */
static cl_int place_mapping(cl_mem image, ocl_mapping *m)
{
    bool has_slices = image->host_slice_pitch != 0;
    if (image->host_ptr) {
        bool is_array = has_layers(image);
        m->row_pitch = image->host_row_pitch;
        m->slice_pitch = image->host_slice_pitch;
        m->pointer = (char *)image->host_ptr + m->origin[0] * image->element_bytes +
                     m->origin[1] * (is_array ? m->slice_pitch : m->row_pitch) + m->origin[2] * m->slice_pitch;
        return CL_SUCCESS;
    }
    m->row_pitch = m->region[0] * image->element_bytes;
    if (has_slices)
        m->slice_pitch = has_layers(image) ? m->row_pitch : m->row_pitch * m->region[1];
    m->bytes = m->row_pitch * m->region[1] * m->region[2];
    m->is_own = true;
    m->pointer = aligned_alloc(128, (m->bytes + 127) & ~(size_t)127);
    return m->pointer ? CL_SUCCESS : CL_MAP_FAILURE;
}

static cl_int check_map(cl_mem image, cl_map_flags flags)
{
    cl_map_flags known = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
    bool reads = (flags & CL_MAP_READ) != 0;
    bool writes = (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0;
    if ((flags & ~known) ||
        ((flags & CL_MAP_WRITE_INVALIDATE_REGION) && (flags & (CL_MAP_READ | CL_MAP_WRITE))))
        return CL_INVALID_VALUE;
    if ((image->flags & CL_MEM_HOST_NO_ACCESS) || (reads && (image->flags & CL_MEM_HOST_WRITE_ONLY)) ||
        (writes && (image->flags & CL_MEM_HOST_READ_ONLY)))
        return CL_INVALID_OPERATION;
    return CL_SUCCESS;
}

/* Makes the mapping and the command that fills it. */
static cl_int map(cl_command_queue queue, cl_mem image, bool is_blocking, ocl_mapping *mapping,
                  cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    ocl_mapping *added;
    cl_int code = place_mapping(image, mapping);
    if (code != CL_SUCCESS)
        return code;
    ocl_box host = mapped_box(image, mapping), device = image_box(image, mapping->origin);
    void *pointer = mapping->pointer;
    code = ocl_mapping_add(image, mapping, &added);
    if (code != CL_SUCCESS) {
        if (mapping->is_own)
            free(pointer);
        return code;
    }
    size_t nothing[3] = { 0, 0, 0 };
    bool keeps = (mapping->flags & CL_MAP_WRITE_INVALIDATE_REGION) == 0;
    code = enqueue(queue, CL_COMMAND_MAP_IMAGE, &host, &device, image, NULL, keeps ? mapping->region : nothing,
                   is_blocking, wait_count, wait_list, event);
    if (code != CL_SUCCESS) {
        added = ocl_mapping_take(image, pointer);
        if (added && added->is_own)
            free(added->pointer);
        free(added);
    }
    return code;
}

void *clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool is_blocking, cl_map_flags flags,
                        const size_t *origin, const size_t *region, size_t *row_pitch, size_t *slice_pitch,
                        cl_uint wait_count, const cl_event *wait_list, cl_event *event, cl_int *error)
{
    ocl_mapping mapping = { .flags = flags };
    cl_int code = check(queue, image, origin, region, wait_count, wait_list);
    if (code == CL_SUCCESS)
        code = check_map(image, flags);
    if (code == CL_SUCCESS && (!row_pitch || (image->host_slice_pitch != 0 && !slice_pitch)))
        code = CL_INVALID_VALUE;
    if (code == CL_SUCCESS) {
        memcpy(mapping.origin, origin, sizeof mapping.origin);
        memcpy(mapping.region, region, sizeof mapping.region);
        code = map(queue, image, is_blocking, &mapping, wait_count, wait_list, event);
    }
    if (error)
        *error = code;
    if (code != CL_SUCCESS)
        return NULL;
    *row_pitch = mapping.row_pitch;
    if (slice_pitch)
        *slice_pitch = mapping.slice_pitch;
    return mapping.pointer;
}

ls_status ocl_image_unmap(cl_mem image, const ocl_mapping *mapping, ls_error *err)
{
    ocl_box host = mapped_box(image, mapping), device = image_box(image, mapping->origin);
    size_t region[3] = { mapping->region[0] * image->element_bytes, mapping->region[1], mapping->region[2] };
    if (!(mapping->flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)))
        return LS_OK;
    return ocl_box_copy(image->context->gpu, &device, &host, region, err);
}
