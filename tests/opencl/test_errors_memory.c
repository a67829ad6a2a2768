/* Errors of functions that make and use memory objects: each code that OpenCL 1.2 names and that can be
 * provoked. */
#include "opencl/fixture.h"

#include <string.h>

static cl_context other; /* another context, for objects that do not belong together */
static cl_mem buffer, image, foreign;
static cl_event foreign_event;

static const cl_image_format rgba = { CL_RGBA, CL_UNORM_INT8 };
static const size_t zero[3], one[3] = { 1, 1, 1 };
static char host[1024];

/* ----------------------------------------------------------------------------------------------- creation */

static void test_create_buffer(void **state)
{
    const cl_mem_flags both = CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
    const cl_mem_flags hosts = CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
    cl_ulong most;
    (void)state;
    fx_ok(clGetDeviceInfo(fx_device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL));
    fx_nothing(CL_INVALID_CONTEXT, clCreateBuffer((cl_context)(void *)fx_queue, 0, 4, NULL, &error));
    fx_nothing(CL_INVALID_VALUE, clCreateBuffer(fx_context, both, 4, NULL, &error));
    fx_nothing(CL_INVALID_VALUE, clCreateBuffer(fx_context, hosts, 4, NULL, &error));
    fx_nothing(CL_INVALID_VALUE, clCreateBuffer(fx_context, (cl_mem_flags)1 << 40, 4, NULL, &error));
    fx_nothing(CL_INVALID_VALUE,
               clCreateBuffer(fx_context, CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR, 4, host, &error));
    fx_nothing(CL_INVALID_VALUE,
               clCreateBuffer(fx_context, CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, 4, host, &error));
    fx_nothing(CL_INVALID_BUFFER_SIZE, clCreateBuffer(fx_context, 0, 0, NULL, &error));
    fx_nothing(CL_INVALID_BUFFER_SIZE, clCreateBuffer(fx_context, 0, (size_t)most + 1, NULL, &error));
    fx_nothing(CL_INVALID_HOST_PTR, clCreateBuffer(fx_context, CL_MEM_COPY_HOST_PTR, 4, NULL, &error));
    fx_nothing(CL_INVALID_HOST_PTR, clCreateBuffer(fx_context, CL_MEM_USE_HOST_PTR, 4, NULL, &error));
    fx_nothing(CL_INVALID_HOST_PTR, clCreateBuffer(fx_context, 0, 4, host, &error));
    assert_null(clCreateBuffer(fx_context, 0, 0, NULL, NULL)); /* callers may pass NULL for the code */
}

static void test_create_sub_buffer(void **state)
{
    const cl_buffer_create_type type = CL_BUFFER_CREATE_TYPE_REGION;
    const cl_buffer_region good = { 128, 128 }, empty = { 0, 0 }, beyond = { 896, 256 }, crooked = { 4, 4 };
    cl_int code;
    cl_mem sub = clCreateSubBuffer(buffer, 0, type, &good, &code), read_only;
    (void)state;
    fx_ok(code);
    fx_nothing(CL_INVALID_MEM_OBJECT, clCreateSubBuffer(sub, 0, type, &good, &error));
    fx_nothing(CL_INVALID_MEM_OBJECT, clCreateSubBuffer(image, 0, type, &good, &error));
    fx_nothing(CL_INVALID_VALUE, clCreateSubBuffer(buffer, 0, 0, &good, &error));
    fx_nothing(CL_INVALID_VALUE, clCreateSubBuffer(buffer, 0, type, NULL, &error));
    fx_nothing(CL_INVALID_VALUE, clCreateSubBuffer(buffer, CL_MEM_COPY_HOST_PTR, type, &good, &error));
    fx_nothing(CL_INVALID_VALUE, clCreateSubBuffer(buffer, 0, type, &beyond, &error));
    fx_nothing(CL_INVALID_BUFFER_SIZE, clCreateSubBuffer(buffer, 0, type, &empty, &error));
    fx_nothing(CL_MISALIGNED_SUB_BUFFER_OFFSET, clCreateSubBuffer(buffer, 0, type, &crooked, &error));
    read_only = fx_buffer(CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY, 1024, NULL);
    fx_nothing(CL_INVALID_VALUE, clCreateSubBuffer(read_only, CL_MEM_WRITE_ONLY, type, &good, &error));
    fx_nothing(CL_INVALID_VALUE, clCreateSubBuffer(read_only, CL_MEM_HOST_WRITE_ONLY, type, &good, &error));
    fx_ok(clReleaseMemObject(read_only));
    fx_ok(clReleaseMemObject(sub));
}

static void test_create_image(void **state)
{
    const cl_image_format strange = { CL_RGBA, 0x1234 }, mixed = { CL_RGB, CL_FLOAT };
    const cl_image_desc flat = { .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4 };
    cl_image_desc desc = flat;
    size_t side;
    (void)state;
    fx_ok(clGetDeviceInfo(fx_device, CL_DEVICE_IMAGE2D_MAX_WIDTH, sizeof side, &side, NULL));
    fx_nothing(CL_INVALID_CONTEXT, clCreateImage((cl_context)(void *)fx_queue, 0, &rgba, &flat, NULL, &error));
    fx_nothing(CL_INVALID_VALUE,
               clCreateImage(fx_context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, &rgba, &flat, NULL, &error));
    fx_nothing(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, clCreateImage(fx_context, 0, NULL, &flat, NULL, &error));
    fx_nothing(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
               clCreateImage(fx_context, 0, &strange, &flat, NULL, &error));
    fx_nothing(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, clCreateImage(fx_context, 0, &mixed, &flat, NULL, &error));
    fx_nothing(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(fx_context, 0, &rgba, NULL, NULL, &error));
    desc.image_width = 0;
    fx_nothing(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(fx_context, 0, &rgba, &desc, NULL, &error));
    desc.image_width = side + 1;
    fx_nothing(CL_INVALID_IMAGE_SIZE, clCreateImage(fx_context, 0, &rgba, &desc, NULL, &error));
    desc = flat;
    desc.image_row_pitch = 16; /* only with the program's memory */
    fx_nothing(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(fx_context, 0, &rgba, &desc, NULL, &error));
    desc.image_row_pitch = 15;
    fx_nothing(CL_INVALID_IMAGE_DESCRIPTOR,
               clCreateImage(fx_context, CL_MEM_COPY_HOST_PTR, &rgba, &desc, host, &error));
    desc = flat;
    desc.num_mip_levels = 1;
    fx_nothing(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(fx_context, 0, &rgba, &desc, NULL, &error));
    desc = flat;
    desc.image_type = CL_MEM_OBJECT_BUFFER;
    fx_nothing(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(fx_context, 0, &rgba, &desc, NULL, &error));
    fx_nothing(CL_INVALID_HOST_PTR, clCreateImage(fx_context, 0, &rgba, &flat, host, &error));
    fx_nothing(CL_INVALID_HOST_PTR,
               clCreateImage(fx_context, CL_MEM_COPY_HOST_PTR, &rgba, &flat, NULL, &error));
}

/* The functions from before 1.2 still make images. */
static void test_create_old_images(void **state)
{
    cl_mem_object_type type;
    cl_mem made;
    cl_int code;
    (void)state;
    made = clCreateImage3D(fx_context, CL_MEM_READ_ONLY, &rgba, 4, 3, 2, 0, 0, NULL, &code);
    fx_ok(code);
    fx_ok(clGetMemObjectInfo(made, CL_MEM_TYPE, sizeof type, &type, NULL));
    assert_int_equal(type, CL_MEM_OBJECT_IMAGE3D);
    fx_ok(clReleaseMemObject(made));
    fx_nothing(CL_INVALID_IMAGE_SIZE, clCreateImage2D(fx_context, 0, &rgba, 0, 4, 0, NULL, &error));
    fx_nothing(CL_INVALID_IMAGE_SIZE, clCreateImage3D(fx_context, 0, &rgba, 4, 4, 0, 0, 0, NULL, &error));
}

static void test_formats(void **state)
{
    static const cl_image_format needed[] = { { CL_RGBA, CL_UNORM_INT8 },     { CL_RGBA, CL_UNORM_INT16 },
                                              { CL_RGBA, CL_SIGNED_INT8 },    { CL_RGBA, CL_SIGNED_INT16 },
                                              { CL_RGBA, CL_SIGNED_INT32 },   { CL_RGBA, CL_UNSIGNED_INT8 },
                                              { CL_RGBA, CL_UNSIGNED_INT16 }, { CL_RGBA, CL_UNSIGNED_INT32 },
                                              { CL_RGBA, CL_HALF_FLOAT },     { CL_RGBA, CL_FLOAT },
                                              { CL_BGRA, CL_UNORM_INT8 } }; /* OpenCL 1.2, 5.3.2.1 */
    const cl_mem_object_type type = CL_MEM_OBJECT_IMAGE2D;
    cl_image_format formats[256];
    cl_uint count;
    (void)state;
    fx_ok(clGetSupportedImageFormats(fx_context, CL_MEM_READ_WRITE, type, 256, formats, &count));
    assert_in_range(count, sizeof needed / sizeof *needed, 256);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        cl_uint found = 0;
        while (found < count && memcmp(&formats[found], &needed[i], sizeof *needed) != 0)
            found++;
        assert_true(found < count);
    }
    fx_refused(CL_INVALID_CONTEXT,
               clGetSupportedImageFormats((cl_context)(void *)fx_queue, 0, type, 0, NULL, &count));
    fx_refused(CL_INVALID_VALUE,
               clGetSupportedImageFormats(fx_context, 0, CL_MEM_OBJECT_BUFFER, 0, NULL, &count));
    fx_refused(CL_INVALID_VALUE, clGetSupportedImageFormats(fx_context, 0, type, 0, formats, &count));
    fx_refused(CL_INVALID_VALUE, clGetSupportedImageFormats(fx_context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
                                                            type, 1, formats, &count));
}

static void test_sampler(void **state)
{
    cl_uint references;
    cl_int code;
    cl_sampler sampler = clCreateSampler(fx_context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &code);
    (void)state;
    fx_ok(code);
    fx_ok(clRetainSampler(sampler));
    fx_ok(clGetSamplerInfo(sampler, CL_SAMPLER_REFERENCE_COUNT, sizeof references, &references, NULL));
    assert_int_equal(references, 2);
    fx_ok(clReleaseSampler(sampler));
    fx_ok(clReleaseSampler(sampler));
    fx_nothing(CL_INVALID_CONTEXT, clCreateSampler((cl_context)(void *)fx_queue, CL_FALSE, CL_ADDRESS_CLAMP,
                                                   CL_FILTER_NEAREST, &error));
    fx_nothing(CL_INVALID_VALUE, clCreateSampler(fx_context, CL_FALSE, 0, CL_FILTER_NEAREST, &error));
    fx_nothing(CL_INVALID_VALUE, clCreateSampler(fx_context, CL_FALSE, CL_ADDRESS_CLAMP, 0, &error));
    fx_nothing(CL_INVALID_VALUE, clCreateSampler(fx_context, 7, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &error));
    fx_nothing(CL_INVALID_VALUE,
               clCreateSampler(fx_context, CL_FALSE, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST, &error));
    fx_refused(CL_INVALID_SAMPLER, clRetainSampler((cl_sampler)(void *)fx_queue));
    fx_refused(CL_INVALID_SAMPLER, clReleaseSampler((cl_sampler)(void *)fx_queue));
}

static void CL_CALLBACK never(cl_mem mem, void *user_data)
{
    (void)mem, (void)user_data;
}

static void test_lifetime(void **state)
{
    cl_uint references;
    (void)state;
    fx_ok(clRetainMemObject(buffer));
    fx_ok(clGetMemObjectInfo(buffer, CL_MEM_REFERENCE_COUNT, sizeof references, &references, NULL));
    assert_int_equal(references, 2);
    fx_ok(clReleaseMemObject(buffer));
    fx_refused(CL_INVALID_MEM_OBJECT, clRetainMemObject((cl_mem)(void *)fx_queue));
    fx_refused(CL_INVALID_MEM_OBJECT, clReleaseMemObject((cl_mem)(void *)fx_queue));
    fx_refused(CL_INVALID_MEM_OBJECT, clSetMemObjectDestructorCallback((cl_mem)(void *)fx_queue, never, NULL));
    fx_refused(CL_INVALID_VALUE, clSetMemObjectDestructorCallback(buffer, NULL, NULL));
}

/* --------------------------------------------------------------------------------------- buffer transfers */

/* The errors that reading and writing have in common; with `mem` in place of the buffer where it matters. */
typedef cl_int (*transfer)(cl_command_queue queue, cl_mem mem, size_t offset, size_t bytes, void *at,
                           cl_uint waits, const cl_event *list);

static cl_int do_read(cl_command_queue queue, cl_mem mem, size_t offset, size_t bytes, void *at, cl_uint waits,
                      const cl_event *list)
{
    return clEnqueueReadBuffer(queue, mem, CL_TRUE, offset, bytes, at, waits, list, NULL);
}

static cl_int do_write(cl_command_queue queue, cl_mem mem, size_t offset, size_t bytes, void *at,
                       cl_uint waits, const cl_event *list)
{
    return clEnqueueWriteBuffer(queue, mem, CL_TRUE, offset, bytes, at, waits, list, NULL);
}

static void check_transfer(transfer go)
{
    cl_event no_event = (cl_event)(void *)fx_queue;
    fx_refused(CL_INVALID_COMMAND_QUEUE,
               go((cl_command_queue)(void *)fx_context, buffer, 0, 4, host, 0, NULL));
    fx_refused(CL_INVALID_MEM_OBJECT, go(fx_queue, (cl_mem)(void *)fx_context, 0, 4, host, 0, NULL));
    fx_refused(CL_INVALID_MEM_OBJECT, go(fx_queue, image, 0, 4, host, 0, NULL));
    fx_refused(CL_INVALID_CONTEXT, go(fx_queue, foreign, 0, 4, host, 0, NULL));
    fx_refused(CL_INVALID_CONTEXT, go(fx_queue, buffer, 0, 4, host, 1, &foreign_event));
    fx_refused(CL_INVALID_VALUE, go(fx_queue, buffer, 0, 4, NULL, 0, NULL));
    fx_refused(CL_INVALID_VALUE, go(fx_queue, buffer, 1021, 4, host, 0, NULL));
    fx_refused(CL_INVALID_VALUE, go(fx_queue, buffer, SIZE_MAX, 4, host, 0, NULL));
    fx_refused(CL_INVALID_EVENT_WAIT_LIST, go(fx_queue, buffer, 0, 4, host, 1, NULL));
    fx_refused(CL_INVALID_EVENT_WAIT_LIST, go(fx_queue, buffer, 0, 4, host, 0, &foreign_event));
    fx_refused(CL_INVALID_EVENT_WAIT_LIST, go(fx_queue, buffer, 0, 4, host, 1, &no_event));
    fx_ok(go(fx_queue, buffer, 1020, 4, host, 0, NULL));
}

static void test_read_write(void **state)
{
    cl_mem hidden = fx_buffer(CL_MEM_HOST_NO_ACCESS, 64, NULL);
    cl_mem read_only = fx_buffer(CL_MEM_HOST_READ_ONLY, 64, NULL);
    cl_mem write_only = fx_buffer(CL_MEM_HOST_WRITE_ONLY, 64, NULL);
    (void)state;
    check_transfer(do_read);
    check_transfer(do_write);
    fx_refused(CL_INVALID_OPERATION, do_read(fx_queue, hidden, 0, 4, host, 0, NULL));
    fx_refused(CL_INVALID_OPERATION, do_write(fx_queue, hidden, 0, 4, host, 0, NULL));
    fx_refused(CL_INVALID_OPERATION, do_read(fx_queue, write_only, 0, 4, host, 0, NULL));
    fx_refused(CL_INVALID_OPERATION, do_write(fx_queue, read_only, 0, 4, host, 0, NULL));
    fx_ok(do_read(fx_queue, read_only, 0, 4, host, 0, NULL));
    fx_ok(clReleaseMemObject(hidden));
    fx_ok(clReleaseMemObject(read_only));
    fx_ok(clReleaseMemObject(write_only));
}

static cl_int rect_read(cl_mem mem, const size_t *at, const size_t *region, size_t row, size_t slice, void *to)
{
    return clEnqueueReadBufferRect(fx_queue, mem, CL_TRUE, at, zero, region, row, slice, 0, 0, to, 0, NULL,
                                   NULL);
}

static cl_int rect_write(cl_mem mem, const size_t *at, const size_t *region, size_t row, size_t slice,
                         void *from)
{
    return clEnqueueWriteBufferRect(fx_queue, mem, CL_TRUE, at, zero, region, row, slice, 0, 0, from, 0, NULL,
                                    NULL);
}

static void test_rect(void **state)
{
    static cl_int (*const both[])(cl_mem, const size_t *, const size_t *, size_t, size_t,
                                  void *) = { rect_read, rect_write };
    const size_t box[3] = { 8, 4, 2 }, empty[3] = { 8, 0, 2 }, far[3] = { 1000, 0, 0 };
    const size_t next[3] = { 4, 0, 0 }, row[3] = { 8, 1, 1 };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fx_refused(CL_INVALID_MEM_OBJECT, both[i](image, zero, box, 0, 0, host));
        fx_refused(CL_INVALID_CONTEXT, both[i](foreign, zero, box, 0, 0, host));
        fx_refused(CL_INVALID_VALUE, both[i](buffer, zero, empty, 0, 0, host));
        fx_refused(CL_INVALID_VALUE, both[i](buffer, far, box, 0, 0, host));
        fx_refused(CL_INVALID_VALUE, both[i](buffer, zero, box, 7, 0, host));
        fx_refused(CL_INVALID_VALUE, both[i](buffer, zero, box, 8, 31, host));
        fx_refused(CL_INVALID_VALUE, both[i](buffer, zero, box, 8, 33, host));
        fx_refused(CL_INVALID_VALUE, both[i](buffer, zero, box, 0, 0, NULL));
        fx_refused(CL_INVALID_VALUE, both[i](buffer, NULL, box, 0, 0, host));
        fx_ok(both[i](buffer, zero, box, 8, 32, host));
    }
    fx_refused(CL_INVALID_COMMAND_QUEUE,
               clEnqueueReadBufferRect((cl_command_queue)(void *)fx_context, buffer, CL_TRUE, zero, zero, box,
                                       0, 0, 0, 0, host, 0, NULL, NULL));
    fx_refused(CL_MEM_COPY_OVERLAP,
               clEnqueueCopyBufferRect(fx_queue, buffer, buffer, zero, next, row, 0, 0, 0, 0, 0, NULL, NULL));
    fx_refused(CL_INVALID_VALUE,
               clEnqueueCopyBufferRect(fx_queue, buffer, buffer, zero, far, box, 0, 0, 0, 0, 0, NULL, NULL));
    fx_refused(CL_INVALID_CONTEXT,
               clEnqueueCopyBufferRect(fx_queue, buffer, foreign, zero, zero, box, 0, 0, 0, 0, 0, NULL, NULL));
    fx_refused(CL_INVALID_EVENT_WAIT_LIST,
               clEnqueueCopyBufferRect(fx_queue, buffer, buffer, zero, far, box, 0, 0, 0, 0, 1, NULL, NULL));
}

static void test_copy_fill(void **state)
{
    (void)state;
    fx_refused(CL_INVALID_COMMAND_QUEUE, clEnqueueCopyBuffer((cl_command_queue)(void *)fx_context, buffer,
                                                             buffer, 0, 64, 4, 0, NULL, NULL));
    fx_refused(CL_INVALID_MEM_OBJECT, clEnqueueCopyBuffer(fx_queue, buffer, image, 0, 64, 4, 0, NULL, NULL));
    fx_refused(CL_INVALID_CONTEXT, clEnqueueCopyBuffer(fx_queue, foreign, buffer, 0, 64, 4, 0, NULL, NULL));
    fx_refused(CL_INVALID_VALUE, clEnqueueCopyBuffer(fx_queue, buffer, buffer, 0, 1022, 4, 0, NULL, NULL));
    fx_refused(CL_MEM_COPY_OVERLAP, clEnqueueCopyBuffer(fx_queue, buffer, buffer, 0, 3, 4, 0, NULL, NULL));
    fx_refused(CL_INVALID_EVENT_WAIT_LIST,
               clEnqueueCopyBuffer(fx_queue, buffer, buffer, 0, 64, 4, 1, NULL, NULL));
    fx_refused(CL_INVALID_COMMAND_QUEUE, clEnqueueFillBuffer((cl_command_queue)(void *)fx_context, buffer,
                                                             host, 4, 0, 8, 0, NULL, NULL));
    fx_refused(CL_INVALID_MEM_OBJECT, clEnqueueFillBuffer(fx_queue, image, host, 4, 0, 8, 0, NULL, NULL));
    fx_refused(CL_INVALID_CONTEXT, clEnqueueFillBuffer(fx_queue, foreign, host, 4, 0, 8, 0, NULL, NULL));
    fx_refused(CL_INVALID_VALUE, clEnqueueFillBuffer(fx_queue, buffer, NULL, 4, 0, 8, 0, NULL, NULL));
    fx_refused(CL_INVALID_VALUE, clEnqueueFillBuffer(fx_queue, buffer, host, 0, 0, 8, 0, NULL, NULL));
    fx_refused(CL_INVALID_VALUE, clEnqueueFillBuffer(fx_queue, buffer, host, 3, 0, 9, 0, NULL, NULL));
    fx_refused(CL_INVALID_VALUE, clEnqueueFillBuffer(fx_queue, buffer, host, 256, 0, 256, 0, NULL, NULL));
    fx_refused(CL_INVALID_VALUE, clEnqueueFillBuffer(fx_queue, buffer, host, 4, 2, 8, 0, NULL, NULL));
    fx_refused(CL_INVALID_VALUE, clEnqueueFillBuffer(fx_queue, buffer, host, 4, 0, 6, 0, NULL, NULL));
    fx_refused(CL_INVALID_VALUE, clEnqueueFillBuffer(fx_queue, buffer, host, 4, 1024, 4, 0, NULL, NULL));
}

/* ------------------------------------------------------------------------------------------------- images */

static void test_image_transfers(void **state)
{
    const size_t far[3] = { 4, 0, 0 }, flat[3] = { 4, 4, 0 };
    const cl_image_format floats = { CL_RGBA, CL_FLOAT };
    cl_int code;
    cl_mem other_format = clCreateImage2D(fx_context, 0, &floats, 4, 4, 0, NULL, &code);
    cl_mem hidden = clCreateImage2D(fx_context, CL_MEM_HOST_NO_ACCESS, &rgba, 4, 4, 0, NULL, &code);
    (void)state;
    fx_ok(code);
#define read_image(mem_, at_, region_, row_, to_)                                                             \
    clEnqueueReadImage(fx_queue, mem_, CL_TRUE, at_, region_, row_, 0, to_, 0, NULL, NULL)
#define write_image(mem_, at_, region_, row_, from_)                                                          \
    clEnqueueWriteImage(fx_queue, mem_, CL_TRUE, at_, region_, row_, 0, from_, 0, NULL, NULL)
    fx_refused(CL_INVALID_MEM_OBJECT, read_image(buffer, zero, one, 0, host));
    fx_refused(CL_INVALID_VALUE, read_image(image, far, one, 0, host));
    fx_refused(CL_INVALID_VALUE, read_image(image, zero, flat, 0, host));
    fx_refused(CL_INVALID_VALUE, read_image(image, zero, one, 3, host));
    fx_refused(CL_INVALID_VALUE, read_image(image, zero, one, 0, NULL));
    fx_refused(CL_INVALID_OPERATION, read_image(hidden, zero, one, 0, host));
    fx_refused(CL_INVALID_MEM_OBJECT, write_image(buffer, zero, one, 0, host));
    fx_refused(CL_INVALID_VALUE, write_image(image, far, one, 0, host));
    fx_refused(CL_INVALID_VALUE, write_image(image, zero, one, 3, host));
    fx_refused(CL_INVALID_OPERATION, write_image(hidden, zero, one, 0, host));
    fx_refused(CL_INVALID_COMMAND_QUEUE, clEnqueueWriteImage((cl_command_queue)(void *)fx_context, image,
                                                             CL_TRUE, zero, one, 0, 0, host, 0, NULL, NULL));
    fx_ok(clEnqueueWriteImage(fx_queue, image, CL_TRUE, zero, one, 0, 0, host, 0, NULL, NULL));
    fx_refused(CL_IMAGE_FORMAT_MISMATCH,
               clEnqueueCopyImage(fx_queue, image, other_format, zero, zero, one, 0, NULL, NULL));
    fx_refused(CL_MEM_COPY_OVERLAP,
               clEnqueueCopyImage(fx_queue, image, image, zero, zero, one, 0, NULL, NULL));
    fx_refused(CL_INVALID_VALUE, clEnqueueCopyImage(fx_queue, image, hidden, far, zero, one, 0, NULL, NULL));
    fx_refused(CL_INVALID_MEM_OBJECT,
               clEnqueueCopyImage(fx_queue, image, buffer, zero, zero, one, 0, NULL, NULL));
    fx_refused(CL_INVALID_VALUE, clEnqueueFillImage(fx_queue, image, NULL, zero, one, 0, NULL, NULL));
    fx_refused(CL_INVALID_VALUE, clEnqueueFillImage(fx_queue, image, host, far, one, 0, NULL, NULL));
    fx_refused(CL_INVALID_MEM_OBJECT, clEnqueueFillImage(fx_queue, buffer, host, zero, one, 0, NULL, NULL));
    fx_refused(CL_INVALID_VALUE,
               clEnqueueCopyImageToBuffer(fx_queue, image, buffer, zero, one, 1021, 0, NULL, NULL));
    fx_refused(CL_INVALID_MEM_OBJECT,
               clEnqueueCopyImageToBuffer(fx_queue, buffer, buffer, zero, one, 0, 0, NULL, NULL));
    fx_refused(CL_INVALID_CONTEXT,
               clEnqueueCopyImageToBuffer(fx_queue, image, foreign, zero, one, 0, 0, NULL, NULL));
    fx_refused(CL_INVALID_VALUE,
               clEnqueueCopyBufferToImage(fx_queue, buffer, image, 1021, zero, one, 0, NULL, NULL));
    fx_refused(CL_INVALID_MEM_OBJECT,
               clEnqueueCopyBufferToImage(fx_queue, image, image, 0, zero, one, 0, NULL, NULL));
    fx_refused(CL_INVALID_EVENT_WAIT_LIST,
               clEnqueueCopyBufferToImage(fx_queue, buffer, image, 0, zero, one, 1, NULL, NULL));
    fx_ok(clReleaseMemObject(other_format));
    fx_ok(clReleaseMemObject(hidden));
}

/* ------------------------------------------------------------------------------------------------ mapping */

static void test_map(void **state)
{
    const cl_map_flags wrong = CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION;
    cl_mem read_only = fx_buffer(CL_MEM_HOST_READ_ONLY, 64, NULL);
    size_t pitch;
    void *at;
    cl_int code;
    (void)state;
#define map(mem_, flags_, offset_, bytes_)                                                                    \
    clEnqueueMapBuffer(fx_queue, mem_, CL_TRUE, flags_, offset_, bytes_, 0, NULL, NULL, &error)
    fx_nothing(CL_INVALID_COMMAND_QUEUE,
               clEnqueueMapBuffer((cl_command_queue)(void *)fx_context, buffer, CL_TRUE, CL_MAP_READ, 0, 4, 0,
                                  NULL, NULL, &error));
    fx_nothing(CL_INVALID_MEM_OBJECT, map(image, CL_MAP_READ, 0, 4));
    fx_nothing(CL_INVALID_CONTEXT, map(foreign, CL_MAP_READ, 0, 4));
    fx_nothing(CL_INVALID_VALUE, map(buffer, CL_MAP_READ, 1021, 4));
    fx_nothing(CL_INVALID_VALUE, map(buffer, CL_MAP_READ, 0, 0));
    fx_nothing(CL_INVALID_VALUE, map(buffer, wrong, 0, 4));
    fx_nothing(CL_INVALID_VALUE, map(buffer, (cl_map_flags)1 << 20, 0, 4));
    fx_nothing(CL_INVALID_OPERATION, map(read_only, CL_MAP_WRITE, 0, 4));
    fx_nothing(CL_INVALID_VALUE, clEnqueueMapImage(fx_queue, image, CL_TRUE, CL_MAP_READ, zero, one, NULL,
                                                   NULL, 0, NULL, NULL, &error));
    fx_nothing(CL_INVALID_MEM_OBJECT, clEnqueueMapImage(fx_queue, buffer, CL_TRUE, CL_MAP_READ, zero, one,
                                                        &pitch, NULL, 0, NULL, NULL, &error));
    fx_nothing(CL_INVALID_VALUE, clEnqueueMapImage(fx_queue, image, CL_TRUE, wrong, zero, one, &pitch, NULL, 0,
                                                   NULL, NULL, &error));
    at = clEnqueueMapBuffer(fx_queue, buffer, CL_TRUE, CL_MAP_READ, 0, 4, 0, NULL, NULL, &code);
    fx_ok(code);
    fx_refused(CL_INVALID_VALUE, clEnqueueUnmapMemObject(fx_queue, buffer, (char *)at + 1, 0, NULL, NULL));
    fx_refused(CL_INVALID_MEM_OBJECT,
               clEnqueueUnmapMemObject(fx_queue, (cl_mem)(void *)fx_context, at, 0, NULL, NULL));
    fx_refused(CL_INVALID_CONTEXT, clEnqueueUnmapMemObject(fx_queue, foreign, at, 0, NULL, NULL));
    fx_refused(CL_INVALID_COMMAND_QUEUE,
               clEnqueueUnmapMemObject((cl_command_queue)(void *)fx_context, buffer, at, 0, NULL, NULL));
    fx_refused(CL_INVALID_EVENT_WAIT_LIST, clEnqueueUnmapMemObject(fx_queue, buffer, at, 1, NULL, NULL));
    fx_ok(clEnqueueUnmapMemObject(fx_queue, buffer, at, 0, NULL, NULL));
    fx_refused(CL_INVALID_VALUE, clEnqueueUnmapMemObject(fx_queue, buffer, at, 0, NULL, NULL));
    fx_ok(clReleaseMemObject(read_only));
}

static void test_migrate(void **state)
{
    cl_mem wrong = (cl_mem)(void *)fx_queue;
    (void)state;
    fx_ok(clEnqueueMigrateMemObjects(fx_queue, 1, &buffer, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));
    fx_refused(CL_INVALID_VALUE, clEnqueueMigrateMemObjects(fx_queue, 0, NULL, 0, 0, NULL, NULL));
    fx_refused(CL_INVALID_VALUE, clEnqueueMigrateMemObjects(fx_queue, 1, &buffer, 1 << 10, 0, NULL, NULL));
    fx_refused(CL_INVALID_MEM_OBJECT, clEnqueueMigrateMemObjects(fx_queue, 1, &wrong, 0, 0, NULL, NULL));
    fx_refused(CL_INVALID_CONTEXT, clEnqueueMigrateMemObjects(fx_queue, 1, &foreign, 0, 0, NULL, NULL));
    fx_refused(CL_INVALID_COMMAND_QUEUE,
               clEnqueueMigrateMemObjects((cl_command_queue)(void *)fx_context, 1, &buffer, 0, 0, NULL, NULL));
    fx_refused(CL_INVALID_EVENT_WAIT_LIST, clEnqueueMigrateMemObjects(fx_queue, 1, &buffer, 0, 1, NULL, NULL));
}

static int setup(void **state)
{
    int result = fx_setup(state);
    cl_int code;
    if (result != 0)
        return result;
    other = clCreateContext(NULL, 1, &fx_device, NULL, NULL, &code);
    foreign = clCreateBuffer(other, 0, 1024, NULL, &code);
    foreign_event = clCreateUserEvent(other, &code);
    buffer = clCreateBuffer(fx_context, 0, 1024, NULL, &code);
    image = clCreateImage2D(fx_context, 0, &rgba, 4, 4, 0, NULL, &code);
    return code == CL_SUCCESS ? 0 : -1;
}

static int teardown(void **state)
{
    clReleaseMemObject(image);
    clReleaseMemObject(buffer);
    clReleaseMemObject(foreign);
    clReleaseEvent(foreign_event);
    clReleaseContext(other);
    return fx_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create_buffer),
        cmocka_unit_test(test_create_sub_buffer),
        cmocka_unit_test(test_create_image),
        cmocka_unit_test(test_create_old_images),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_sampler),
        cmocka_unit_test(test_lifetime),
        cmocka_unit_test(test_read_write),
        cmocka_unit_test(test_rect),
        cmocka_unit_test(test_copy_fill),
        cmocka_unit_test(test_image_transfers),
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_migrate),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
